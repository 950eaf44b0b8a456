"""The Python surface: ``import autotune as at``; typed results that become pandas frames.

setup = at.load("configs/quickstart.yaml")
ranking = at.rank(setup)
ranking.frame().head()
study = at.tune(setup, store="results.sqlite")
study.frame().sort_values("measured_s")
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.commands.rank import document as rank_document
from autotune.commands.rank import ranked_space
from autotune.commands.rank.ranked_space import RankedSpace
from autotune.commands.tune import flow as tune_flow
from autotune.commands.tune.flow import StudyOptions, TunedStudy
from autotune.domain.setup import Setup
from autotune.files import codec
from autotune.progress import Progress, silent
from autotune.results.documents import study_document
from autotune.workloads.base import Workload
from autotune.workloads.shipped import workload_of

if TYPE_CHECKING:
    import pandas

__all__ = ["PredictionResult", "RankResult", "StudyResult", "load", "predict", "rank", "tune"]


@dataclass(frozen=True, slots=True)
class PredictionResult:
    """Predictions of every candidate of a setup."""

    ranked: RankedSpace

    def frame(self) -> "pandas.DataFrame":
        """One row per candidate in the order of the space: parameters, seconds, interval."""
        p = self.ranked
        document = rank_document.predict(p.workload, p.machine, p.enumerated.legal, p.rankings)
        return _frame([codec.fields(row) for row in document.predictions])


@dataclass(frozen=True, slots=True)
class RankResult:
    """The candidates of each problem, fastest prediction first."""

    ranked: RankedSpace

    def frame(self) -> "pandas.DataFrame":
        """One row per candidate, problem by problem, best first."""
        p = self.ranked
        ranking = rank_document.rank(p.workload, p.machine, p.rankings).ranking
        return _frame([codec.fields(row) for row in ranking])


@dataclass(frozen=True, slots=True)
class StudyResult:
    """A study after tuning: predicted and measured times, status."""

    result: TunedStudy

    def frame(self) -> "pandas.DataFrame":
        """One row per measured candidate."""
        rows: list[dict[str, object]] = []
        for problem in self.result.evaluation.problems:
            evaluated = study_document.problem_row(problem).evaluated
            rows += [{"problem": problem.label, **codec.fields(row)} for row in evaluated]
        return _frame(rows)


def load(path: str | Path) -> Setup:
    """The setup of a config file; ConfigError with all mistakes of the file at once."""
    return ranked_space.load(Path(path)).setup


def predict(
    setup: Workload | Setup | str | Path, *, engines: Sequence[str] | None = None
) -> PredictionResult:
    """Predict every candidate, in seconds per time step.

    ``engines``: those to use; by default the engine of the setup.
    """
    return PredictionResult(ranked_space.rank_space(_workload(setup), silent, engines))


def rank(
    setup: Workload | Setup | str | Path, *, engines: Sequence[str] | None = None
) -> RankResult:
    """Rank the candidates of each problem by predicted time."""
    return RankResult(ranked_space.rank_space(_workload(setup), silent, engines))


def tune(
    setup: Workload | Setup | str | Path,
    *,
    store: str = "autotune-results.sqlite",
    options: StudyOptions | None = None,
    progress: Progress | None = None,
) -> StudyResult:
    """Measure the most promising candidates; every sample goes to the store when it is taken.

    ``setup``: a config file, a setup, or a workload of your own.
    """
    chosen = options or StudyOptions()
    return StudyResult(tune_flow.tune(_workload(setup), chosen, store, progress or silent))


def _workload(setup: Workload | Setup | str | Path) -> Workload:
    if isinstance(setup, str | Path):
        return ranked_space.load(Path(setup))
    return workload_of(setup) if isinstance(setup, Setup) else setup


def _frame(rows: list[dict[str, object]]) -> "pandas.DataFrame":
    import pandas  # heavy

    return pandas.json_normalize(rows, max_level=1)
