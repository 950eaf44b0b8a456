"""The document of ``autotune check``."""

from dataclasses import dataclass
from typing import Literal

from autotune.results.gate.gate_verdict import GateCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDocument:
    """``autotune check --json``: whether the chosen candidates are slower than they were."""

    schema: Literal["autotune.check/1"] = "autotune.check/1"
    passes: bool
    """No regression is proven and nothing failed: the exit code is 0."""
    check: GateCheck

    @classmethod
    def of(cls, check: GateCheck) -> "CheckDocument":
        """The document of a check."""
        return cls(passes=check.passes, check=check)
