"""The contents of an explanation: the candidate's prediction, its compiled loops, the reasons."""

from dataclasses import dataclass

from autotune.domain.ranking import Ranked
from autotune.domain.results import Prediction
from autotune.models.engines.base import CompiledSweep


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCandidate:
    """A candidate as an explanation shows it: name, prediction and compiled loops."""

    name: str
    """Short: the variant, and what else differs from the other candidate."""
    prediction: Prediction
    loops: tuple[CompiledSweep, ...] = ()
    """Its sweeps as they were compiled; empty where they are not at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingExplanation:
    """A candidate, optionally compared with another, with the reasons in words."""

    chosen: Ranked
    other: Ranked | None
    explained: ExplainedCandidate
    explained_other: ExplainedCandidate | None
    words: tuple[str, ...]
    """A sentence each."""
