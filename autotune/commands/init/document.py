"""The document of ``init``: a first description of a program and a first config."""

from typing import TypedDict

from autotune.results.documents import Plain


class MarkRow(TypedDict):
    """A place in one of the files that its author should see."""

    file: str
    line: int
    text: str


class InitDocument(TypedDict):
    """What was written, and what was seen of the program."""

    schema: str
    """autotune.init/1"""
    program: str
    """The file that describes the program."""
    config: str
    """The config that tunes it."""
    language: str
    """C, C++, Fortran, Python, script or executable."""
    compiler: str | None
    """Null: nothing is compiled."""
    openmp: bool
    mpi: bool
    parameters: dict[str, list[Plain]]
    combinations: int
    time: str | None
    """Pattern of the time that it prints; null: the time of the process is taken."""
    check: str | None
    """Pattern of the value that must not change; null: none was found."""
    fill_in: list[MarkRow]
    """Places to fill in before the tuner can do something useful."""
    look_at: list[MarkRow]
    """Guesses."""
