"""The candidates of a program that has more legal combinations than can be listed."""

import random
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate, islice

from autotune.domain.variant import Build, Candidate, ExecutionLayout, Value, Variant
from autotune.workloads.base import Count
from autotune.workloads.program.counted_tree import NothingLegalError
from autotune.workloads.program.legal_combinations import LegalCombinations
from autotune.workloads.program.partial_combination import UndecidedError

_OF_EACH = 3
"""Candidates that are drawn for each rare value."""


@dataclass(frozen=True, slots=True)
class BuiltWay:
    """A build and a layout of a problem, with the combinations that are legal there."""

    example: Candidate
    """Any candidate that is built and run in this way."""
    variant_of: Callable[[Mapping[str, Value]], Variant]
    space: LegalCombinations

    def candidate(self, values: Mapping[str, Value]) -> Candidate:
        """The candidate with these parameter values."""
        return replace(self.example, variant=self.variant_of(values))


class ProgramSource:
    """The legal candidates of a problem, drawn at random or near another one."""

    def __init__(self, ways: Sequence[BuiltWay]) -> None:
        self._ways = tuple(ways)
        self._rare: list[tuple[BuiltWay, str, int]] | None = None

    @property
    def count(self) -> Count:
        """How many there are, over all builds and layouts."""
        return sum((way.space.count for way in self._ways), start=Count(0))

    @property
    def parameters(self) -> Mapping[str, tuple[Value, ...]]:
        """All values of each parameter."""
        return self._ways[0].space.program.domains

    def draw(self, count: int, chance: random.Random) -> list[Candidate]:
        """At most so many legal candidates at random, (nearly) all equally likely; some may be
        drawn twice. A way down to values that a constraint says nothing about ends without one.
        """
        upto = list(accumulate(way.space.count.value for way in self._ways))
        drawn: list[Candidate] = []
        for _ in range(count):
            way = self._ways[bisect(upto, chance.randrange(upto[-1]))]
            with suppress(UndecidedError, NothingLegalError):
                drawn.append(way.candidate(way.space.draw(chance)))
        return drawn

    def draw_rare(self, count: int, chance: random.Random) -> list[Candidate]:
        """At most so many legal candidates with values that ``draw`` hardly ever has, of parameters
        of few values, each about equally often.
        """
        if self._rare is None:
            self._rare = list(self._rare_values(chance))
        drawn: list[Candidate] = []
        for way, name, place in chance.sample(self._rare, len(self._rare)) * _OF_EACH:
            if len(drawn) == count:
                break
            with suppress(UndecidedError, NothingLegalError):
                values = way.space.draw_with(name, place, chance)
                if values is not None:
                    drawn.append(way.candidate(values))
        return drawn

    def _rare_values(self, chance: random.Random) -> Iterator[tuple[BuiltWay, str, int]]:
        for way in self._ways:
            with suppress(UndecidedError, NothingLegalError):
                for name, place in way.space.rare(chance):
                    if way.space.draw_with(name, place, chance) is not None:
                        yield way, name, place

    def recalled(
        self, parameters: Mapping[str, Value], build: Build, layout: ExecutionLayout
    ) -> Candidate | None:
        """The candidate with these values, build and layout; None where it is not legal."""
        for way in self._ways:
            fits = (way.example.build, way.example.layout) == (build, layout)
            if fits and way.space.has(parameters):
                return way.candidate(parameters)
        return None

    def neighbours(self, candidate: Candidate, most: int, chance: random.Random) -> list[Candidate]:
        """At most so many legal candidates that differ from one in a single parameter, the build or
        the layout.
        """
        values = candidate.variant.parameters
        near: list[Candidate] = []
        for way in self._ways:
            if (way.example.build, way.example.layout) == (candidate.build, candidate.layout):
                near += map(way.candidate, islice(way.space.neighbours(values, chance), most))
            elif way.space.legal(values):
                near.append(way.candidate(values))
        return near[:most] if len(near) <= most else chance.sample(near, most)
