"""The document of ``autotune assert check --json``."""

from dataclasses import dataclass
from typing import Literal

from autotune.assertions.checking.verdicts import AssertionCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionCheckDocument:
    """``autotune assert check --json``: verdicts on the assertions of a run."""

    schema: Literal["autotune.assert.check/1"] = "autotune.assert.check/1"
    check: AssertionCheck
    fails: bool
    """Whether the command ends with exit code 1."""
