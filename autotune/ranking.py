"""Candidates of a problem in the order of their predicted times, without running any."""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.problem import Problem
from autotune.results import Part, Prediction
from autotune.variant import Candidate


@dataclass(frozen=True, slots=True)
class Ranked:
    """A candidate with its prediction and its place; ``rank`` is None without a predicted time."""

    rank: int | None
    candidate: Candidate
    prediction: Prediction


@dataclass(frozen=True, slots=True)
class Ranking:
    """All candidates of one problem, fastest prediction first, those without one at the end."""

    problem: Problem
    entries: tuple[Ranked, ...]
    engine: str

    def matching(self, name: str) -> list[Ranked]:
        """The entries whose id or identity is ``name``, else whose label is, else that begin so."""
        for fits in (
            lambda c: name in (c.id, c.identity),
            lambda c: c.label == name,
            lambda c: c.id.startswith(name),
        ):
            found = [entry for entry in self.entries if fits(entry.candidate)]
            if found:
                return found
        return []


def rank(candidates: Sequence[Candidate], predictions: Sequence[Prediction]) -> list[Ranking]:
    """One ranking per problem, in the order in which the problems first occur, by one engine.

    Equal predictions are ordered by the identity of the candidate, so that the ranking does not
    depend on the order of the input.
    """
    groups: dict[str, tuple[Problem, list[tuple[Candidate, Prediction]]]] = {}
    for candidate, prediction in zip(candidates, predictions, strict=True):
        group = groups.setdefault(candidate.problem.key, (candidate.problem, []))
        group[1].append((candidate, prediction))
    engine = predictions[0].engine if predictions else ""
    return [Ranking(problem, _ordered(pairs), engine) for problem, pairs in groups.values()]


def _ordered(pairs: Sequence[tuple[Candidate, Prediction]]) -> tuple[Ranked, ...]:
    def key(pair: tuple[Candidate, Prediction]) -> tuple[bool, float, str]:
        candidate, prediction = pair
        seconds = prediction.seconds
        return seconds is None, seconds or 0.0, candidate.identity

    entries = []
    for place, (candidate, prediction) in enumerate(sorted(pairs, key=key), start=1):
        known = prediction.seconds is not None
        entries.append(Ranked(place if known else None, candidate, prediction))
    return tuple(entries)


@dataclass(frozen=True, slots=True)
class Difference:
    """How one kind of part differs between two candidates, in seconds per time step."""

    sweep: str
    kind: str
    first: float
    second: float


def differences(first: Prediction, second: Prediction) -> list[Difference]:
    """The parts of two predictions side by side, the largest difference first."""

    def table(parts: Sequence[Part]) -> dict[tuple[str, str], float]:
        sums: dict[tuple[str, str], float] = {}
        for part in parts:
            key = (part.sweep, part.kind)
            sums[key] = sums.get(key, 0.0) + part.seconds
        return sums

    left, right = table(first.parts), table(second.parts)
    rows = [
        Difference(sweep, kind, left.get((sweep, kind), 0.0), right.get((sweep, kind), 0.0))
        for sweep, kind in sorted(left.keys() | right.keys())
    ]
    return sorted(rows, key=lambda row: (-abs(row.first - row.second), row.sweep, row.kind))
