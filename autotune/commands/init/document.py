"""The document of ``autotune init``: a first description of a program and a first config."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from autotune.commands.init.source_scan import SourceScan
from autotune.commands.init.trying.observed_run import ObservedRun
from autotune.domain.variant import Value


@dataclass(frozen=True, slots=True)
class ReviewNote:
    """A place in one of the written files that the user should check."""

    file: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InitDocument:
    """``autotune init --json``: the files written, and what was found in the program."""

    schema: Literal["autotune.init/1"] = "autotune.init/1"
    program: Path
    """The file that describes the program."""
    config: Path
    """The config that tunes it."""
    seen: SourceScan
    compiler: str
    """Empty: nothing is compiled."""
    built_by: str = ""
    """``make``, ``cmake`` or ``compile_commands.json``; empty: one call of a compiler, or
    nothing."""
    parameters: Mapping[str, tuple[Value, ...]]
    options: tuple[tuple[str, ...], ...] = ()
    """The spellings of each option of the compiler that is varied as a set of flags."""
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Reason to the options of the compiler that are not varied."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """Macros, options and parameters that are not varied, each with the reason."""
    absolute_files: tuple[str, ...] = ()
    """Files of the command line whose names were made absolute."""
    observed: ObservedRun | None = None
    """What was seen when it was built and run; null: it was not."""
    remarks: tuple[str, ...] = ()
    """What is worth knowing of its build, and what may be done next."""
    combinations: int
    fill_in: tuple[ReviewNote, ...]
    """Places to fill in before the tuner can do something useful."""
    look_at: tuple[ReviewNote, ...]
    """Guesses."""
