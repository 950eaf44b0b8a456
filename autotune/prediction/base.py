"""What a predictor does, for everything above it."""

from collections.abc import Sequence
from typing import Protocol

from autotune.results import Prediction
from autotune.variant import Candidate


class Predictor(Protocol):
    """Predicts candidates without running them."""

    name: str

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; ``seconds`` None and a reason where it cannot."""
