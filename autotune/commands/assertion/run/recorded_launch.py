"""How the recording library reaches a program: environment, and options of launchers of ranks.

The library is preloaded (ld.so(8), LD_PRELOAD). In a process that asserts nothing and starts no
MPI it writes nothing, so it may also be loaded into shells and interpreters on the way.
"""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.assertions.library import library_build
from autotune.assertions.library.mpi import mpi_library
from autotune.errors import Fault, InputError
from autotune.toolchain import child_process, mpi

LAUNCHERS = frozenset(
    {"mpiexec", "mpirun", "mpiexec.hydra", "orterun", "prterun", "srun", "jsrun", "aprun", "flux"}
)
"""Programs that start the ranks of MPI."""
_FOREIGN = frozenset({"srun", "jsrun", "aprun", "flux"})
"""Those that are no part of an MPI; their ranks inherit the environment."""
_OPTION: Mapping[mpi.Flavour, str] = {"openmpi": "-x", "mpich": "-genv", "intel": "-genv"}
_WITHOUT_VALUE = frozenset(
    {
        "--oversubscribe",
        "-oversubscribe",
        "--allow-run-as-root",
        "--use-hwthread-cpus",
        "-l",
        "--report-bindings",
        "--tag-output",
        "-q",
        "-v",
        "--quiet",
        "--verbose",
        "--label",
    }
)
"""Options of launchers that the program itself may follow."""
_LIMIT = 10.0
_SCRIPT = 1 << 20
"""Bytes of a script that are searched for mpi4py."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecording:
    """What the library is told: where records go, and the name of the run."""

    library: Path
    folder: Path
    run: str
    events: bool = False

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment variables that the library reads."""
        variables = {"AUTOTUNE_ASSERT": str(self.folder), "AUTOTUNE_ASSERT_RUN": self.run}
        return variables | ({"AUTOTUNE_ASSERT_EVENTS": "1"} if self.events else {})

    @property
    def preloaded(self) -> str:
        """The value of LD_PRELOAD: the library before what is preloaded already."""
        return " ".join(part for part in (str(self.library), os.environ.get("LD_PRELOAD")) if part)


def library(command: Sequence[str], *, ranks: bool) -> Path:
    """The library to preload; with ``ranks``, that for the MPI of the launcher.

    It is built where it is not in the build cache. Raises MissingTool without a compiler or MPI.
    """
    if not ranks:
        return library_build.shared_library()
    path = shutil.which(command[0])
    library_of = mpi.find("--mpi") if path is None else mpi.of_launcher(path, "--mpi")
    return mpi_library.mpi_library(library_of)


def starts_ranks(command: Sequence[str]) -> bool:
    """Whether a command starts ranks of MPI, or a program that is linked to MPI or imports mpi4py.

    A program that loads MPI in another way is not recognised.
    """
    if any(Path(word).name in LAUNCHERS for word in command[:4]):
        return True
    program = shutil.which(command[0])
    if program is None:
        return False
    if any(_imports_mpi4py(Path(word)) for word in command if word.endswith(".py")):
        return True
    outcome = child_process.run(["ldd", program], timeout=_LIMIT)
    return re.search(r"\blibmpi(ch)?\b", outcome.out) is not None


def program_places(command: Sequence[str]) -> tuple[int, ...]:
    """The words of a command that are programs: the first, or those that a launcher starts.

    A launcher's program is its first word that can be run and is no value of an option. Raises
    InputError where a launcher has none.
    """
    launchers = [k for k, word in enumerate(command[:4]) if Path(word).name in LAUNCHERS]
    if not launchers:
        return (0,)
    starts = [launchers[0], *(k for k, word in enumerate(command) if word == ":")]
    ends = [*starts[1:], len(command)]
    return tuple(
        _program_between(command, start + 1, end) for start, end in zip(starts, ends, strict=True)
    )


def _program_between(command: Sequence[str], start: int, end: int) -> int:
    places = [
        place
        for place in range(start, end)
        if not command[place].startswith("-") and shutil.which(command[place])
    ]
    for place in places:
        before = command[place - 1]
        if "/" in command[place] or not before.startswith("-") or before in _WITHOUT_VALUE:
            return place
    if places:
        return places[0]
    raise InputError(
        Fault(
            where="COMMAND",
            found=f"no program that can be run in {' '.join(command[start:end])!r}",
            expected="a launcher with its options, then a program, such as mpiexec -n 2 ./program",
        )
    )


def _imports_mpi4py(script: Path) -> bool:
    try:
        with script.open("rb") as file:
            return b"mpi4py" in file.read(_SCRIPT)
    except OSError:
        return False


def recorded(
    command: Sequence[str], recording: RunRecording
) -> tuple[Sequence[str], Mapping[str, str]]:
    """The command and the whole environment with which a program or its ranks are recorded.

    A launcher of Open MPI, MPICH or Intel MPI gets options that pass the variables to the ranks, on
    other nodes too, and is not preloaded itself. Every other command gets them in its environment,
    which srun and the like pass on.
    """
    environment = {**os.environ, **recording.variables}
    option = _OPTION.get(_flavour(command[0]), "")
    if not option:
        return command, {**environment, "LD_PRELOAD": recording.preloaded}
    variables = {**recording.variables, "LD_PRELOAD": recording.preloaded}
    if option == "-x":
        words = [word for item in variables.items() for word in (option, "=".join(item))]
    else:
        words = [word for item in variables.items() for word in (option, *item)]
    return _with_options(command, words, everywhere=option == "-x"), environment


def _with_options(
    command: Sequence[str], words: Sequence[str], *, everywhere: bool
) -> Sequence[str]:
    """The command of a launcher with options first; ``everywhere``: for each of its programs.

    Programs of a launcher are separated by a colon.
    """
    result = [command[0], *words]
    for word in command[1:]:
        result += [word, *words] if word == ":" and everywhere else [word]
    return result


def _flavour(program: str) -> mpi.Flavour:
    """The MPI that a launcher is a part of; ``unknown`` for all other programs."""
    path = shutil.which(program)
    if path is None or Path(program).name not in LAUNCHERS - _FOREIGN:
        return "unknown"
    return mpi.of_launcher(path).flavour
