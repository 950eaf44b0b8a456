"""The interface of engines, and the compiled sweeps that some of them report."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.models.incore.base import InCoreResult


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledSweep:
    """A sweep of a candidate with the analysis of its compiled loop."""

    sweep: str
    kernel: str
    """Fused kernels joined by ``+``."""
    result: InCoreResult


class CandidatePredictor(Protocol):
    """Predicts candidates without running them."""

    name: str

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; where the engine cannot predict one, ``seconds``
        is None and a reason is stated.
        """
