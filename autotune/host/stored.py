"""Calibrations kept in the user's data folder, one file per host hardware."""

import contextlib
import hashlib
import json
import os
import tempfile
from pathlib import Path

from autotune import config, paths
from autotune.errors import Fault, InputError
from autotune.machine import Calibration, Machine

_REMEDY = "delete the file, or run: autotune machine calibrate"


def identity(machine: Machine) -> str:
    """Processor, cores and cache topology as 16 hexadecimal digits of SHA-256.

    The reported clock is left out: it changes from one reading to the next.
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
    """The calibration of this machine, if there is one.

    Raises InputError, naming the file and the remedy, for a file that cannot be used.
    """
    key = identity(machine)
    path = location(key)
    if not path.exists():
        return None
    try:
        calibration = config.read_calibration(path)
    except InputError as error:
        raise InputError(
            *(
                Fault(where=f.where or str(path), found=f.found, expected=f.expected, hint=_REMEDY)
                for f in error.faults
            )
        ) from error
    except OSError as error:
        raise InputError(
            Fault(where=str(path), found=f"cannot be read: {error.strerror}", hint=_REMEDY)
        ) from error
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


def save(calibration: Calibration) -> Path:
    """Keep a calibration, replacing an earlier one at once; returns its file."""
    path = location(calibration.identity)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, config.dump_calibration(calibration))
    except OSError as error:
        fault = Fault(
            where=str(path),
            found=f"cannot be written: {error.strerror}",
            expected="a folder that can be written",
            hint="AUTOTUNE_DATA names another",
        )
        raise InputError(fault) from error
    return path


def _replace(path: Path, text: str) -> None:
    """Write beside the file, then rename over it: a reader never sees half of it."""
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
