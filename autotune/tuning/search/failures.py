"""The probability that a candidate runs without failing, judged by similar candidates.

A process over the outcomes, 1 for failed, 0 for measured (least-squares classification, Rasmussen
and Williams 2006, section 6.5). A failure lowers the score of its neighbours, most of all of those
that share the values which failures have in common.
"""

import numpy as np

from autotune.tuning.search.candidate_covariance import Inputs, TermSizes
from autotune.tuning.search.gaussian_process import Observations, Process, SearchPrior
from autotune.tuning.search.parameter_levels import ParameterLevels
from autotune.tuning.search.points import Floats, Indices

_OUTCOMES = SearchPrior(amplitude=0.4, terms=TermSizes(1.0, 1.0, 0.7), length=0.5, noise=0.1)
_ITERATIONS = 8
_MOST = 300
_NEVER = 0.98
"""Nothing is held to fail for certain that was not tried."""


class Failures:
    """The probability that each column runs without failing; costs no time before the first
    failure.
    """

    def __init__(
        self, levels: ParameterLevels, group: Indices, columns: Indices, seed: int
    ) -> None:
        count = len(levels.index)
        inputs = Inputs(
            levels=levels,
            scale=np.ones(count),
            hints=np.empty((0, count)),
            group=group,
            constant=0.1,
            weight=0.0,
        )
        self._inputs, self._columns = inputs, columns
        self._process: Process | None = None
        self._seed = seed
        self._outcomes: dict[int, bool] = {}
        self._due = 0
        self._current: Floats | None = None

    def learn(self, row: int, failed: bool) -> None:
        """Add an outcome; a later outcome of the same candidate replaces it."""
        if self._outcomes.get(row) != failed:
            self._outcomes[row] = failed
            self._current = None

    def success(self) -> Floats | float:
        """The probability that each column runs, (m,); 1 before the first failure."""
        failed = sum(self._outcomes.values())
        if not failed:
            return 1.0
        if self._current is None:
            self._current = self._compute(failed / (len(self._outcomes) + 2))
        return self._current

    def _compute(self, share: float) -> Floats:
        rows = self.kept()
        outcomes = np.array([float(self._outcomes[row]) for row in rows])
        observed = Observations(
            rows=np.array(rows, dtype=np.intp),
            noise=np.zeros(len(rows)),
            foreign=np.zeros(len(rows)),
            values=outcomes - share,
        )
        if self._process is None:
            self._process = Process(self._inputs, self._columns, _OUTCOMES, 0.0)
        if len(self._outcomes) >= self._due:
            self._process.fit(observed, _ITERATIONS)
            self._due = max(len(self._outcomes) + 3, int(1.1 * len(self._outcomes)))
        elif not self._process.follows(observed):
            self._process.rebuild(observed)
        chance = share + self._process.mean(observed.values)
        result: Floats = 1.0 - np.clip(chance, 0.0, _NEVER)
        return result

    def kept(self) -> list[int]:
        """The rows to learn from: all, or of very many a part with the failures first.

        They are in the order in which they were learned.
        """
        rows = list(self._outcomes)
        if len(rows) <= _MOST:
            return rows
        chance = np.random.default_rng([self._seed, len(rows) // 30])
        order = sorted(rows, key=lambda row: (not self._outcomes[row], chance.random()))
        kept = set(order[: _MOST // 2]) | set(chance.permutation(order[_MOST // 2 :])[: _MOST // 2])
        return [row for row in rows if row in kept]
