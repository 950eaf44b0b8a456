"""The document of ``autotune assert run --json``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autotune.assertions.checking.verdicts import AssertionCheck
from autotune.assertions.counters.program_totals import ProgramTotal
from autotune.commands.assertion.run.flow import RecordedEnd


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionRunDocument:
    """``autotune assert run --json``: how a program ended, and verdicts on its assertions."""

    schema: Literal["autotune.assert.run/1"] = "autotune.assert.run/1"
    command: tuple[str, ...]
    folder: Path
    """The folder of the records."""
    program: RecordedEnd
    checks: tuple[AssertionCheck, ...]
    """That of the command first; more where it started several programs that assert."""
    totals: tuple[ProgramTotal, ...] = ()
    """With ``--lackey``: what each counter says of the whole program."""
    fails: bool
    """Whether the command ends with exit code 1."""
