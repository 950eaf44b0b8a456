"""Measured data of hosts in the user's data folder: one file per hardware and kind of data."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from autotune import paths
from autotune.domain.calibration import Calibration
from autotune.domain.machine import Machine
from autotune.domain.network import Network
from autotune.errors import Fault, InputError
from autotune.files import config
from autotune.measuring.host import host_probe

T = TypeVar("T")

_REMEDY = "delete the file, or run: autotune machine calibrate"
_NETWORK_REMEDY = "delete the file, or fit it anew: autotune comm fit FILE --machine host"


def identity(machine: Machine) -> str:
    """The identity of a machine: 16 hexadecimal digits of SHA-256 of processor, cores and cache
    topology.

    The reported clock is left out, since it changes from one reading to the next.
    """
    value = {
        "architecture": machine.architecture,
        "processor": machine.title,
        "cores": [machine.cores, machine.threads_per_core, machine.sockets, machine.memory.cores],
        "caches": [[c.name, c.size, c.line, c.ways, c.cores] for c in machine.caches],
    }
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def location(key: str) -> Path:
    """The file of the calibration with this identity."""
    return paths.user_data_dir() / "calibrations" / f"{key}.yaml"


def stored(machine: Machine) -> Calibration | None:
    """The stored calibration of this machine; None where there is none.

    Raises InputError, naming the file and how to repair it, for a file that cannot be used.
    """
    key = identity(machine)
    path = location(key)
    if not path.exists():
        return None
    calibration = _read(path, config.read_calibration, _REMEDY)
    if not calibration.curves:
        raise InputError(Fault(where=str(path), found="has no bandwidth curve", hint=_REMEDY))
    if calibration.identity != key:
        fault = Fault(
            where=str(path),
            found=f"holds the calibration of another machine, {calibration.identity}",
            expected=key,
            hint=_REMEDY,
        )
        raise InputError(fault)
    return calibration


def outdated(calibration: Calibration) -> bool:
    """Whether another version of the program measured it: figures may lack or mean other things."""
    return calibration.probe != host_probe.identity()


def undisturbed(calibration: Calibration) -> bool:
    """Whether the installed version measured it, and no other process disturbed what counts."""
    return not (calibration.contended or outdated(calibration))


def kept_location(key: str) -> Path:
    """The file of the last undisturbed calibration in whose place a contended one was stored."""
    return location(key).with_suffix(".undisturbed.yaml")


def keep(calibration: Calibration) -> Path:
    """Store a calibration beside the one that takes its place; returns its file."""
    return _write(kept_location(calibration.identity), config.dump_calibration(calibration))


def save(calibration: Calibration) -> Path:
    """Store a calibration in place of an earlier one, in one atomic step; returns its file."""
    return _write(location(calibration.identity), config.dump_calibration(calibration))


def check_writable(machine: Machine) -> None:
    """InputError, naming the file, where a calibration of this machine cannot be stored."""
    path = location(identity(machine))
    if path.is_dir():
        raise InputError(
            Fault(where=str(path), found="is a folder", expected="a file", hint="remove the folder")
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise _unwritable(path, error) from error


def network_location(key: str) -> Path:
    """The file of the network curves of a machine with this identity."""
    return paths.user_data_dir() / "networks" / f"{key}.yaml"


def stored_network(machine: Machine) -> Network | None:
    """The stored network curves of this machine; None where there are none.

    Raises InputError, naming the file and how to repair it, for a file that cannot be used.
    """
    path = network_location(identity(machine))
    return _read(path, config.read_network, _NETWORK_REMEDY) if path.exists() else None


def save_network(machine: Machine, network: Network) -> Path:
    """Store the network curves of this machine, replacing earlier ones; returns their file."""
    return _write(network_location(identity(machine)), config.dump_network(network))


def _read(path: Path, reader: Callable[[Path], T], remedy: str) -> T:
    try:
        return reader(path)
    except InputError as error:
        raise InputError(
            *(
                replace(f, where=f.where or str(path), hint=_either(f.hint, remedy))
                for f in error.faults
            )
        ) from error
    except OSError as error:
        raise InputError(
            Fault(where=str(path), found=f"cannot be read: {error.strerror}", hint=remedy)
        ) from error


def _either(hint: str, remedy: str) -> str:
    """What may be meant, if anything, and what helps in any case."""
    return f"{hint}{' ' if hint.endswith('?') else ', '}else {remedy}" if hint else remedy


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text)
    except OSError as error:
        raise _unwritable(path, error) from error
    return path


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(
        Fault(
            where=str(path),
            found=f"cannot be written: {error.strerror}",
            expected="a folder that can be written",
            hint="AUTOTUNE_DATA names another",
        )
    )


def replace_file(path: Path, text: str) -> None:
    """Write a new file and rename it to ``path``, so that no reader sees an incomplete file."""
    handle, name = tempfile.mkstemp(prefix=".", suffix=".yaml", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
