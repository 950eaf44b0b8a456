"""The contents of an explanation: the candidate's prediction, its compiled loops, the reasons."""

from dataclasses import dataclass
from typing import Literal

from autotune.domain.ranking import Ranked
from autotune.domain.results import Prediction
from autotune.models.engines.base import CompiledSweep

Agreement = Literal["agrees", "contradicts", "open"]
"""Whether a measurement has the same one of two candidates faster as the prediction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedCandidate:
    """A candidate as an explanation shows it: name, prediction and compiled loops."""

    name: str
    """Short: the variant, and what else differs from the other candidate."""
    prediction: Prediction
    loops: tuple[CompiledSweep, ...] = ()
    """Its sweeps as they were compiled; empty where they are not at hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPair:
    """The times of two candidates in the latest run that compared them."""

    study: str
    started: str
    """When the run began: ISO 8601, UTC."""
    seconds: float
    """Of a time step, of the candidate that is explained."""
    seconds_against: float
    """The same of the other."""
    interval: tuple[float, float] | None
    """90 % interval of ``seconds`` over ``seconds_against`` within this run; null for fewer than
    three common rounds."""
    noise: float
    """Relative standard deviation of launches within a round."""
    prediction: Agreement
    """Whether the prediction has the same one faster; ``open`` where the measurement does not tell
    them apart, or the prediction has no two different times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingExplanation:
    """A candidate, optionally compared with another, with the reasons in words."""

    chosen: Ranked
    other: Ranked | None
    explained: ExplainedCandidate
    explained_other: ExplainedCandidate | None
    words: tuple[str, ...]
    """A sentence each."""
    measured: MeasuredPair | None = None
    """What was measured of the two; None without another, or where no run compared them."""
