"""The search of autotune: predictions first, then a process that learns what they are worth.

The best few by prediction and the baseline are measured first, then a few drawn at random. With a
prior, every other one of the first is the prior's choice, so that a wrong prior costs few
measurements. After these, each step takes the candidate with the greatest expected improvement over
the incumbent; the incumbent's time is its posterior mean, not its luckiest sample. Every third step
takes the neighbour of the incumbent with the greatest expected improvement, and every third step
trusts the surface less (``Policy.explore_doubt``), so that optima far from all measurements are
found. Predictions are one more input of the process, which learns how far to follow them
(``residual_basis``). Improvement is weighted with the probability that a candidate runs at all.
Without predictions the same code runs without that input. Problems are searched one by one, and all
share what is learned.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from autotune.tuning.search.base import SearchForecast, SearchResult, Suggestion
from autotune.tuning.search.failures import Failures
from autotune.tuning.search.looked_at import columns
from autotune.tuning.search.objectives import Objectives
from autotune.tuning.search.parameter_levels import levels
from autotune.tuning.search.points import Floats, Indices, Points
from autotune.tuning.search.policy import Policy
from autotune.tuning.search.residual_basis import USUAL
from autotune.tuning.search.surface import Observation, Posterior, Surface
from autotune.units import rough_percent

_ENOUGH_ELSEWHERE = 5
"""So many observations elsewhere order the first candidates of a problem."""
_LAST = 700.0
"""A log time beyond all others."""
_NOTHING = 1e-12
"""An expected improvement that is none: candidates are then ordered by how far they are behind."""


@dataclass(slots=True, kw_only=True)
class _Progress:
    """The state of the search of one problem."""

    places: Indices
    """Its columns."""
    first: list[int]
    """Rows that come first whatever is predicted."""
    tried: int = 0
    steps: int = 0
    reported: int = 0
    """Candidates with a result that this search did not propose; turns go on after them."""
    expected: list[float] = field(default_factory=list)
    """The greatest expected improvement at each step, with doubt."""
    start: int = 0
    """How many are tried before anything is learned; 0: not yet decided."""


class ModelSearch:
    """The default search: predictions first, then expected improvement of a learned surface.

    It is deterministic for a seed and a sequence of results.
    """

    def __init__(
        self,
        points: Points,
        policy: Policy | None = None,
        *,
        first: Sequence[int] = (),
        seed: int = 1,
    ) -> None:
        """Set up the search; ``first``: rows measured before all others of their problems, in
        order.
        """
        self.points = points
        self.policy = policy = policy or Policy()
        unknown = np.full(len(points), np.nan)
        self._prior = unknown if points.prior is None else points.prior
        self._chance = np.random.default_rng([seed, 0])
        self._columns = columns(points, policy, first, seed)
        self._levels = levels(points.rows)
        self._time = surface = Surface(
            levels=self._levels,
            group=points.group,
            columns=self._columns,
            predicted=np.log(points.predicted),
            sigma=points.sigma,
            prior=None if points.prior is None else np.log(points.prior),
            seed=seed,
            learner=points if policy.residual == "pool" else None,
        )
        self._objectives = Objectives(policy.objectives[1:], surface, seed)
        self._failures = Failures(self._levels, points.group, self._columns, seed)
        self._place = {row: place for place, row in enumerate(self._columns.tolist())}
        self._free = np.ones(len(self._columns), dtype=bool)
        self._running: list[int] = []
        self._tried: set[int] = set()
        group = points.group[self._columns]
        self._progress = [
            _Progress(
                places=np.flatnonzero(group == number),
                first=[row for row in dict.fromkeys(first) if points.group[row] == number],
            )
            for number in range(points.groups)
        ]

    # --- asking -----------------------------------------------------------------------------

    def ask(self, group: int, count: int = 1) -> list[Suggestion]:
        """At most ``count`` candidates of a problem that were neither proposed nor reported
        before.
        """
        suggestions: list[Suggestion] = []
        while len(suggestions) < count and (suggestion := self._next(group)) is not None:
            self._try(suggestion.index)
            self._running.append(suggestion.index)
            suggestions.append(suggestion)
        return suggestions

    def _next(self, group: int) -> Suggestion | None:
        progress = self._progress[group]
        while progress.first:
            row = progress.first.pop(0)
            if row not in self._tried:
                return Suggestion(index=row, why="the baseline")
        if not self._free[progress.places].any():
            return None
        if progress.tried < self._start(group) or not self._measured(group):
            return self._early(group)
        return self._improving(group)

    def _start(self, group: int) -> int:
        """How many candidates of a problem are tried before expected improvement says which."""
        progress = self._progress[group]
        if progress.start == 0:
            predicted = self.points.predicted[self._columns[progress.places]]
            by_prediction = 0 if np.isnan(predicted).all() else self.policy.first
            start = max(by_prediction, self.policy.start)
            progress.start = 1 if self._informed(group) else start
        return progress.start

    def _has_prior(self, group: int) -> bool:
        """Whether a prior has expectations for candidates of this problem."""
        return bool((~np.isnan(self._prior[self.points.group == group])).any())

    def _informed(self, group: int) -> bool:
        """Whether other problems have enough measurements to inform this one."""
        observed_here = sum(int(self.points.group[seen.row]) == group for seen in self._time.seen)
        return self._time.count - observed_here >= _ENOUGH_ELSEWHERE

    def _early(self, group: int) -> Suggestion:
        """The next candidate before expected improvement says which."""
        places, tried = self._progress[group].places, self._progress[group].tried
        rows = self._columns[places]
        predicted = self.points.predicted[rows]
        drawn = self.policy.first <= tried < self._start(group)
        if self._informed(group):
            score = self._time.posterior(self._running_rows()).mean[places]
            why = "expected to be fast from what was measured elsewhere"
        elif self._has_prior(group) and tried < self.policy.with_prior and tried % 2 == 0:
            score = _log_times(self._prior[rows])
            why = "expected to be fast by the prior"
        elif drawn or np.isnan(predicted).all():
            score, why = self._chance.random(len(places)), "drawn at random"
        else:
            score, why = _log_times(predicted), ""
        success = np.broadcast_to(self._failures.success(), len(self._free))[places]
        score = score - np.log(np.maximum(success, _NOTHING))
        score[~self._free[places]] = np.inf
        chosen = int(np.argmin(score))
        if not why:
            place = int(np.sum(predicted < predicted[chosen])) + 1
            why = f"predicted place {place} of {len(rows)}"
        seconds = float(predicted[chosen])
        return Suggestion(
            index=int(rows[chosen]),
            why=why,
            predicted=None if math.isnan(seconds) else seconds,
        )

    def _improving(self, group: int) -> Suggestion:
        progress = self._progress[group]
        places = progress.places
        rows, free = self._columns[places], self._free[places]
        posterior = self._time.posterior(self._running_rows())
        measured = np.array([self._place[row] for row in self._measured(group)], dtype=np.intp)
        incumbent = int(measured[np.argmin(posterior.mean[measured])])
        best = float(posterior.mean[incumbent])
        mean, sd = posterior.mean[places], posterior.sd[places]
        success = np.broadcast_to(self._failures.success(), len(self._free))[places]
        others = self._objectives.improvement(posterior, places, measured, self._chance)

        def improvement(doubt: float) -> Floats:
            gain = posterior.improvement(places, incumbent, doubt) if others is None else others
            result: Floats = gain * success
            return result

        doubt = self.policy.doubt_of(len(places))
        progress.expected.append(float(improvement(doubt)[free].max()))
        progress.steps += 1
        gains = improvement(1.0)
        score, eligible, why = gains, free, "expected improvement"
        turn = progress.steps + progress.reported
        if turn % self.policy.neighbour_every == 0:
            near = free & (self._levels.changes(int(self._columns[incumbent]), rows) == 1)
            if near.any():
                eligible, why = near, "neighbour of the best so far, expected improvement"
        elif (turn - 1) % self.policy.explore_every == 0:
            score = improvement(self.policy.explore_doubt)
            why = "doubted surface, expected improvement"
        chosen = self._greatest(score, (best - mean) / sd, eligible)
        row, gain = int(rows[chosen]), float(gains[chosen])
        return Suggestion(
            index=row,
            why=f"{why} {rough_percent(gain)}",
            expected_improvement=gain,
            predicted=float(np.exp(_unbent(posterior, group, mean[[chosen]])[0])),
            promise=float(gains[free].max()),
        )

    def _greatest(self, score: Floats, ahead: Floats, eligible: np.ndarray) -> int:
        """The index of the greatest score; ties are broken at random.

        If all scores are zero, ``ahead`` decides.
        """
        if score[eligible].max() < _NOTHING:
            score = np.exp(np.clip(ahead, -700.0, 0.0))
        shaken = score * (1 + 1e-9 * self._chance.random(len(score)))
        return int(np.argmax(np.where(eligible, shaken, -1.0)))

    def _measured(self, group: int) -> list[int]:
        return [
            seen.row
            for seen in self._time.seen
            if self.points.group[seen.row] == group and seen.row in self._place
        ]

    def _running_rows(self) -> Indices:
        return np.array([row for row in self._running if row in self._place], dtype=np.intp)

    # --- results ------------------------------------------------------------------------------

    def tell(self, result: SearchResult) -> None:
        """Add a result; a later result of the same candidate replaces it."""
        row = result.index
        if not 0 <= row < len(self.points):
            raise ValueError(f"there are {len(self.points)} candidates, none with number {row}")
        if result.prior:
            if result.seconds is not None:
                self._learn(result)
            return
        if row not in self._tried:
            self._progress[int(self.points.group[row])].reported += 1
        self._try(row)
        if row in self._running:
            self._running.remove(row)
        self._failures.learn(row, result.seconds is None)
        if result.seconds is None:
            self._time.forget(row)
        else:
            self._learn(result)

    def _learn(self, result: SearchResult) -> None:
        seconds = result.seconds or math.nan
        noise = result.sigma**2
        self._time.learn(
            Observation(
                row=result.index, value=math.log(seconds), noise=noise, foreign=result.prior
            )
        )
        if not result.prior:
            self._objectives.learn(result.index, result.objectives, noise)

    def claim(self, index: int) -> None:
        """Note that another tuner is measuring a candidate, so that it is not proposed."""
        if index not in self._tried:
            self._try(index)
            self._running.append(index)

    def release(self, index: int) -> None:
        """Note that a running candidate got no result; it is not proposed again."""
        if index in self._running:
            self._running.remove(index)

    def _try(self, row: int) -> None:
        if row not in self._tried:
            self._tried.add(row)
            self._progress[int(self.points.group[row])].tried += 1
            if row in self._place:
                self._free[self._place[row]] = False

    def follow(self, other: "ModelSearch") -> None:
        """Remember what a search over other candidates of the same problems expected to gain."""
        for progress, before in zip(self._progress, other._progress, strict=True):
            progress.expected = [*before.expected]

    # --- looking ----------------------------------------------------------------------------

    def finished(self, group: int) -> str | None:
        """Why the search of a problem has ended; None while it is worth continuing."""
        progress, policy = self._progress[group], self.policy
        if not self._free[progress.places].any():
            return "every candidate was measured"
        last = progress.expected[-policy.patience :]
        if len(last) == policy.patience and max(last) < policy.stop_below:
            return (
                f"expected improvement stayed below {100 * policy.stop_below:g} %"
                f" for {policy.patience} steps"
            )
        return None

    def forecast(self, group: int) -> SearchForecast:
        """Posterior of the log seconds of all candidates of a problem.

        Before any measurement it is the prediction, nan without one. The same holds for candidates
        that the search does not consider because there are too many.
        """
        members = self.points.members(group)
        mean = np.log(self.points.predicted[members])
        sd = np.where(np.isnan(mean), np.nan, self.points.sigma[members])
        sd[np.isnan(sd) & ~np.isnan(mean)] = USUAL
        if self._time.count:
            posterior = self._time.posterior(np.empty(0, dtype=np.intp))
            places = self._progress[group].places
            within = np.searchsorted(members, self._columns[places])
            mean[within] = _unbent(posterior, group, posterior.mean[places])
            steep = posterior.bends[group].steepness(posterior.mean[places])
            sd[within] = posterior.sd[places] * steep
        return SearchForecast(index=members, mean=mean, sd=sd)


def _log_times(seconds: Floats) -> Floats:
    """Logarithms of times; those that are not known come last."""
    result: Floats = np.nan_to_num(np.log(seconds), nan=_LAST)
    return result


def _unbent(posterior: Posterior, group: int, values: Floats) -> Floats:
    return posterior.bends[group].up(values)
