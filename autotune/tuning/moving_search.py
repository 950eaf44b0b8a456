"""A search over candidates that cannot all be listed: those it looks at move with what it finds.

The search of a study (``study_search.py``) looks at a pool of candidates. After some proposals, and
whenever a better candidate was found, the pool is made anew: what was measured, candidates that
differ from the best few (and, with predictions, from those expected to be the best) in one or two
parameters, those of the old pool that were expected to be fastest, and some drawn from all legal
ones, with a few for each value that is hardly ever drawn. Everything measured is then told to the
search again.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

import numpy as np

from autotune.domain.results import Measurement, Prediction
from autotune.domain.variant import Candidate
from autotune.statistics.launch_times import time_of
from autotune.tuning.base import Proposal, Search
from autotune.tuning.search.base import SearchForecast
from autotune.workloads.base import CandidateSource

_EVERY = 4
"""Proposals for which a pool serves."""
_CENTRES = 3
"""So many of the fastest have their neighbours in the pool."""
_NEAR = 300
"""Neighbours of each at most."""
_FARTHER = 300
"""Candidates at most that are neighbours of neighbours."""
_CARRIED = 400
"""Candidates of the old pool that were expected to be the fastest."""
_FRESH = 400
"""Candidates drawn from all."""
_RARE = 200
"""Candidates at most with values that are hardly ever drawn from all."""
_TURN = 5
"""Each of so many proposals may go to a value that no candidate so far had."""
_FEW_VALUES = 16
"""Values of a parameter that are tried each, if they are rare."""
_BETTER = 0.99
"""A candidate is better if it takes at most this share of the time of the best before it."""


class PooledSearch(Search, Protocol):
    """What a pool is searched by."""

    def claim(self, candidate: Candidate) -> None:
        """Note that a candidate is being measured, so that it is not proposed."""

    def follow(self, other: Self) -> None:
        """Go on where a search over another pool has ended."""

    def forecast(self, problem: int) -> SearchForecast:
        """The expected times of the pool's candidates of a problem, in their order."""


Predict = Callable[[Sequence[Candidate]], Sequence[Prediction]]
MakeSearch = Callable[[Sequence[Candidate], Sequence[Prediction]], PooledSearch]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A result as it was reported to the search."""

    candidate: Candidate
    measurement: Measurement | None
    sigma: float
    seconds: float | None
    """The time; None for a candidate that has none."""


def _seconds(measurement: Measurement | None) -> float | None:
    if measurement is None or measurement.status != "ok":
        return None
    return time_of(measurement.samples)


@dataclass(slots=True)
class _PoolState:
    """One problem: its candidates, and what has happened since they were chosen."""

    source: CandidateSource | None
    pool: list[Candidate]
    rare: list[Candidate] = field(default_factory=list)
    """Of the pool, those with values that are hardly ever drawn."""
    turns: int = 0
    """Proposals so far."""
    proposals: int = 0
    """Proposals from the pool."""
    best: float = float("inf")
    moved: bool = True
    """The pool was made after the last result that was better than all before it."""
    outcomes: dict[str, _Outcome] = field(default_factory=dict)
    running: dict[str, Candidate] = field(default_factory=dict)

    @property
    def due(self) -> bool:
        """Whether the pool should be made anew."""
        return self.source is not None and (self.proposals >= _EVERY or not self.moved)

    def unseen(self) -> Candidate | None:
        """A rare candidate with a value, of a parameter of few, that none tried had."""
        if self.source is None or not self.rare:
            return None
        few = [
            name for name, values in self.source.parameters.items() if len(values) <= _FEW_VALUES
        ]
        tried = [*(outcome.candidate for outcome in self.outcomes.values()), *self.running.values()]
        seen = {(name, str(c.variant.parameters[name])) for c in tried for name in few}
        return next(
            (
                c
                for c in self.rare
                if any((name, str(c.variant.parameters[name])) not in seen for name in few)
            ),
            None,
        )

    def fastest(self) -> list[Candidate]:
        """The fastest so far."""
        timed = [
            (outcome.seconds, i)
            for i, outcome in self.outcomes.items()
            if outcome.seconds is not None
        ]
        return [self.outcomes[identity].candidate for _, identity in sorted(timed)[:_CENTRES]]


class MovingSearch:
    """A search of a study (``tuning.Search``) whose pools of candidates move."""

    def __init__(
        self,
        make: MakeSearch,
        candidates: Sequence[Candidate],
        predictions: Sequence[Prediction],
        *,
        sources: Mapping[str, CandidateSource],
        predict: Predict,
        hinted: Callable[[], Iterable[Candidate]] = tuple,
        seed: int = 1,
    ) -> None:
        """``candidates``: those to begin with, of all problems; ``sources``: where others come
        from, by key of a problem that has more. ``make`` makes the search over a pool, ``predict``
        predicts candidates that enter it. ``hinted``: candidates of which something is known from
        elsewhere, which are in every pool.
        """
        self._make = make
        self._predict = predict
        self._hinted = hinted
        self._chance = random.Random(seed)
        self._states: dict[str, _PoolState] = {}
        for candidate in candidates:
            key = candidate.problem.key
            state = self._states.setdefault(key, _PoolState(sources.get(key), []))
            state.pool.append(candidate)
        self._predictions = {c.identity: p for c, p in zip(candidates, predictions, strict=True)}
        self._search = make(candidates, predictions)

    @property
    def fault(self) -> str:
        """Empty: pools that move are not mirrored."""
        return ""

    # --- as a search ------------------------------------------------------------------------

    def ask(self, problem: int, count: int = 1) -> list[Proposal]:
        """At most ``count`` candidates of a problem that were not proposed before."""
        state = self._state(problem)
        if state.due:
            self._move(problem, state)
        proposals = []
        for proposal in self._proposed(problem, state, count):
            identity = proposal.candidate.identity
            state.running[identity] = proposal.candidate
            state.proposals += 1
            state.turns += 1
            proposals.append(replace(proposal, prediction=self._predictions[identity]))
        return proposals

    def _proposed(self, problem: int, state: _PoolState, count: int) -> Sequence[Proposal]:
        """Proposals of the search; in some turns a candidate with a value that none had."""
        turn = state.turns // _TURN < (state.turns + count) // _TURN
        candidate = state.unseen() if turn and not self._predicted(state) else None
        if candidate is None:
            return self._search.ask(problem, count)
        self._search.claim(candidate)
        first = Proposal(candidate=candidate, why="a value that no candidate had")
        return [first, *(self._search.ask(problem, count - 1) if count > 1 else ())]

    def tell(self, candidate: Candidate, measurement: Measurement | None, sigma: float) -> None:
        """Report the result of a candidate, proposed or not; None: it was not measured."""
        state = self._states[candidate.problem.key]
        outcome = _Outcome(candidate, measurement, sigma, _seconds(measurement))
        identity = candidate.identity
        state.running.pop(identity, None)
        state.outcomes[identity] = outcome
        if outcome.seconds is not None and outcome.seconds < _BETTER * state.best:
            state.best, state.moved = outcome.seconds, False
        if identity not in self._predictions:  # measured elsewhere, and in no pool so far
            self._predictions[identity] = self._predict([candidate])[0]
            state.pool.append(candidate)
            self._renew()
            return
        self._search.tell(candidate, measurement, sigma)

    def finished(self, problem: int) -> str | None:
        """Why the search of a problem has ended; never before a pool around its best was tried."""
        reason = self._search.finished(problem)
        state = self._state(problem)
        if reason is None or state.source is None or (state.moved and state.proposals):
            return reason
        self._move(problem, state)
        return self._search.finished(problem)

    # --- moving -----------------------------------------------------------------------------

    def _state(self, problem: int) -> _PoolState:
        return list(self._states.values())[problem]

    def _move(self, problem: int, state: _PoolState) -> None:
        """Make the pool of a problem anew."""
        assert state.source is not None, "other pools stay"
        kept = [
            *(outcome.candidate for outcome in state.outcomes.values()),
            *state.running.values(),
            *(other for other in self._hinted() if other.problem.key == state.pool[0].problem.key),
        ]
        carried = self._expected_fastest(problem, state)
        expected = carried[:_CENTRES] if self._predicted(state) else []
        fastest = state.fastest()
        centres = list(_distinct([*fastest, *expected])) or carried[:_CENTRES]
        near = [
            other
            for centre in centres
            for other in state.source.neighbours(centre, _NEAR, self._chance)
        ]
        starts = self._chance.sample(near, min(len(near), _FARTHER // 6))
        farther = [
            other for start in starts for other in state.source.neighbours(start, 6, self._chance)
        ]
        fresh = state.source.draw(_FRESH, self._chance)
        state.rare = state.source.draw_rare(_RARE, self._chance)
        state.pool = list(_distinct([*kept, *near, *farther, *carried, *fresh, *state.rare]))
        state.proposals, state.moved = 0, True
        self._renew()

    def _predicted(self, state: _PoolState) -> bool:
        """Whether a model predicts candidates of the pool, so that those expected to be fast have
        neighbours worth a look before they are measured.
        """
        return any(self._predictions[c.identity].seconds is not None for c in state.pool)

    def _expected_fastest(self, problem: int, state: _PoolState) -> list[Candidate]:
        """Candidates of the pool, those expected to be fastest first."""
        forecast = self._search.forecast(problem)
        mean = np.where(np.isnan(forecast.mean), np.inf, forecast.mean)
        order = np.argsort(mean, kind="stable")[:_CARRIED]
        return [state.pool[place] for place in order.tolist()]

    def _listed(self) -> list[Candidate]:
        return [candidate for state in self._states.values() for candidate in state.pool]

    def _renew(self) -> None:
        """A new search over the present pools that knows all results."""
        pool = self._listed()
        new = [candidate for candidate in pool if candidate.identity not in self._predictions]
        if new:
            predictions = self._predict(new)
            self._predictions |= {c.identity: p for c, p in zip(new, predictions, strict=True)}
        before = self._search
        self._search = self._make(pool, [self._predictions[c.identity] for c in pool])
        self._search.follow(before)
        for state in self._states.values():
            for outcome in state.outcomes.values():
                self._search.tell(outcome.candidate, outcome.measurement, outcome.sigma)
            for running in state.running.values():
                self._search.claim(running)


def _distinct(candidates: Iterable[Candidate]) -> Iterable[Candidate]:
    return {candidate.identity: candidate for candidate in candidates}.values()
