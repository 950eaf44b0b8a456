"""Programs of several MPI ranks: their build flags, start commands and environment variables."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.variant import Candidate
from autotune.measuring.conditions import quiet
from autotune.toolchain import build_cache, launcher, mpi

_SLOTS = ("not enough slots", "More processors requested than", "exceeds the available")
"""Messages of launchers (Open MPI, Slurm, MPICH) that have fewer slots than ranks."""

_SETTINGS = (
    "OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_WAIT_POLICY", "OMP_DYNAMIC", "AUTOTUNE_PIN",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class BuildLibraries:
    """Flags for OpenMP and MPI that a build needs in addition to the compiler's flags."""

    compile: tuple[str, ...] = build_cache.OPENMP
    link: tuple[str, ...] = build_cache.LINK
    title: str = ""
    """The MPI and its version; empty for programs of one rank."""


def libraries(candidate: Candidate) -> BuildLibraries:
    """The build flags for OpenMP and, for several ranks, for the installed MPI.

    Raises MissingTool with the install command where no MPI is installed.
    """
    if candidate.ranks == 1:
        return BuildLibraries()
    library = mpi.find()
    compiling, linking = mpi.compile_flags(library)
    return BuildLibraries(
        (*build_cache.OPENMP, *compiling), (*build_cache.LINK, *linking), library.title
    )


def command(template: str, candidate: Candidate, threads: int, words: Sequence[str]) -> list[str]:
    """The command line that starts all ranks of a candidate.

    ``template``: the user's launcher template; empty for the installed mpiexec.
    """
    if not template:
        template = mpi.launch_template(
            mpi.find(), candidate.ranks, candidate.nodes, threads, _SETTINGS
        )
    numbers = {"nodes": candidate.nodes, "ranks": candidate.ranks, "threads": threads}
    return launcher.expand(template, words, "mpi_launcher", numbers)


def environment(
    template: str, candidate: Candidate, threads: int, *, timed: bool
) -> Mapping[str, str]:
    """Environment variables of OpenMP and MPI for one run.

    OpenMP cannot divide the cores of a node among ranks, so the program binds its threads itself.
    Each thread gets a core where there are enough of them for all ranks on the node.
    """
    active = timed and (bool(template) or fits(candidate))
    values = (str(threads), "false", "active" if active else "passive", "false", str(int(active)))
    settings = dict(zip(_SETTINGS, values, strict=True))
    variables = mpi.environment(mpi.find(), candidate.ranks, candidate.nodes, threads, alone=timed)
    return settings | variables


@contextlib.contextmanager
def scratch(candidate: Candidate) -> Iterator[Mapping[str, str]]:
    """Environment variables that put the temporary files of a launch into a folder, which is
    removed at the end.
    """
    if candidate.ranks == 1:
        yield {}
        return
    with mpi.scratch(mpi.find(), candidate.nodes) as variables:
        yield variables


def fits(candidate: Candidate) -> bool:
    """Whether there is one CPU for every thread of every rank."""
    return candidate.ranks * candidate.threads <= quiet.cpus()


def remark(text: str, candidate: Candidate) -> str:
    """An explanation of a failed launch if its text holds a known message of the
    launcher; else "".
    """
    if any(words in text for words in _SLOTS):
        return (
            f"the launcher has fewer slots than {candidate.ranks} ranks: ask the batch system for"
            " more, or let mpi_launcher say that it may oversubscribe\n"
        )
    return ""
