"""Predictions and rankings as Python objects."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.api.setups import workload_in
from autotune.api.study_result import frame_of
from autotune.commands.rank import document as rank_document
from autotune.commands.rank import ranked_space
from autotune.commands.rank.ranked_space import RankedSpace
from autotune.domain.setup import Setup
from autotune.files import codec
from autotune.progress import silent
from autotune.workloads.base import Workload

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class PredictionResult:
    """Predictions of every candidate of a setup."""

    ranked: RankedSpace

    def frame(self) -> "pandas.DataFrame":
        """One row per candidate in the order of the space: parameters, seconds, interval."""
        p = self.ranked
        document = rank_document.predict(p.workload, p.machine, p.enumerated.legal, p.rankings)
        return frame_of([codec.fields(row) for row in document.predictions])


@dataclass(frozen=True, slots=True)
class RankResult:
    """The candidates of each problem, fastest prediction first."""

    ranked: RankedSpace

    def frame(self) -> "pandas.DataFrame":
        """One row per candidate, problem by problem, best first."""
        p = self.ranked
        ranking = rank_document.rank(p.workload, p.machine, p.rankings).ranking
        return frame_of([codec.fields(row) for row in ranking])


def predict(
    setup: Workload | Setup | str | Path, *, engines: Sequence[str] | None = None
) -> PredictionResult:
    """Predict every candidate, in seconds per time step.

    ``engines``: those to use; by default the engine of the setup.
    """
    return PredictionResult(ranked_space.rank_space(workload_in(setup), silent, engines))


def rank(
    setup: Workload | Setup | str | Path, *, engines: Sequence[str] | None = None
) -> RankResult:
    """Rank the candidates of each problem by predicted time."""
    return RankResult(ranked_space.rank_space(workload_in(setup), silent, engines))
