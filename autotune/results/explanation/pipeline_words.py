"""What blocking in time saves, and at which sizes it pays, in words."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import mean

from autotune.codegen.tree import loop_tree
from autotune.domain.machine import CacheLevel, Machine
from autotune.domain.problem import Problem
from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate, ExecutionLayout, Pipeline, SeveralSweeps
from autotune.results.explanation.reasons import time
from autotune.units import show

_DOUBLE = 8
_PAGE = 512
"""Components of a page; windows are whole pages."""
_LARGEST = 1 << 40
"""Sizes beyond this are not looked at."""


def blocked(candidate: Candidate) -> bool:
    """Whether a candidate is blocked in time."""
    return any(
        isinstance(t, Pipeline) or (isinstance(t, SeveralSweeps) and t.sweeps > 1)
        for t in candidate.variant.transformations
    )


def saved(ranking: Ranking, entry: Ranked, machine: Machine) -> list[str]:
    """What a candidate that is blocked in time saves against the fastest one that is not.

    The sentence names the level farthest from the core that the other one loads from. Empty where
    there is no such candidate or level.
    """
    other = next(
        (
            e
            for e in ranking.entries
            if not blocked(e.candidate) and e.prediction.seconds is not None
        ),
        None,
    )
    if other is None or not blocked(entry.candidate):
        return []
    for level in ("MEM", *(cache.name for cache in reversed(machine.caches))):
        before, after = _transfers(other.prediction, level), _transfers(entry.prediction, level)
        if before > 0:
            much = (
                f"transfers from {level} take {time(after)}" if after else f"nothing from {level}"
            )
            return [
                f"Blocked in time: {much} a step, against {time(before)} of"
                f" {other.candidate.variant.label}, the fastest that is not."
            ]
    return []


def _transfers(prediction: Prediction, level: str) -> float:
    return sum(part.seconds for part in prediction.parts if part.kind == level)


@dataclass(frozen=True, slots=True)
class PipelineSizes:
    """A program with a pipeline at any problem size."""

    program: loop_tree.StepProgram
    problem: Problem
    layout: ExecutionLayout

    def window_bytes(self, size: int) -> int:
        """The bytes of the windows of one thread at a problem size; with strips, of the parts that
        a strip uses.
        """
        (pipeline,) = loop_tree.pipelines(self.program.body)
        distance = self.problem.ivp.distance(size)
        block = pipeline.block
        far = _up(block + distance + max(distance, self._lag(size)), _PAGE)
        part = mean(share for shares in self._shares(size) for share in shares)
        far -= int((1 - part) * (distance + max(distance, self._lag(size))))
        lengths = (
            far
            if w.neighbours
            else int(part * _up(block + w.lags * self._lag(size), _PAGE))
            if w.lags
            else _up(block, _PAGE)
            for w in self.program.windows
        )
        rows = (window.rows for window in self.program.windows)
        return _DOUBLE * sum(n * r for n, r in zip(lengths, rows, strict=True))

    def _shares(self, size: int) -> list[list[float]]:
        """What each stage computes of a plane, strip by strip."""
        (pipeline,) = loop_tree.pipelines(self.program.body)
        if pipeline.strips is None:
            return [[1.0]]
        values = self.problem.ivp.values(size)
        return [pipeline.strips.shares(values, k) for k in range(len(pipeline.body.nodes))]

    def redundant(self, size: int) -> float:
        """The components that a thread computes more than once or for its neighbours, as a share of
        its block.

        It is the mean over all stages, of a thread with as many neighbours as any has.
        """
        threads = self.layout.ranks * self.layout.threads
        sides = min(2, threads - 1)
        (pipeline,) = loop_tree.pipelines(self.program.body)
        later = len(pipeline.body.nodes) - 1
        border = sides * later * self._lag(size) / 2
        beside = border * threads / self.problem.ivp.values(size)["n"]
        return (1 + beside) * mean(sum(shares) for shares in self._shares(size)) - 1

    def _lag(self, size: int) -> int:
        return _up(self.problem.ivp.distance(size), self.program.granule)

    def in_words(self, machine: Machine) -> Iterator[str]:
        """The size of the windows and of the redundant work, and up to which size they pay."""
        size = self.problem.size
        windows = self.window_bytes(size)
        work = self.redundant(size)
        part = "block" if self._shares(size) == [[1.0]] else "block and its strips"
        borders = f", and {100 * work:.2g} % more work at the borders of its {part}" if work else ""
        yield f"A thread keeps {show(windows, 'size')} of windows{borders}."
        threads = self.layout.ranks // self.layout.nodes * self.layout.threads
        cache = holding(machine, threads, windows)
        if cache is None:
            yield "No cache holds its windows, so that they are no faster than memory."
        else:
            yield self._end(cache.name, cache.size // min(cache.cores, threads))

    def _end(self, cache: str, share: int) -> str:
        """Up to which size a cache holds the windows."""
        ivp, size = self.problem.ivp, self.problem.size
        inside = f"{cache} holds its windows"
        end = last_size(lambda n: self.window_bytes(n) <= share, size)
        if end is None:
            return f"{inside} at every size, since the access distance stays the same."
        return (
            f"{inside} up to N = {end}, an access distance of {ivp.distance(end)}; beyond, blocking"
            " in time saves less."
        )


def holding(machine: Machine, threads: int, size: float) -> CacheLevel | None:
    """The innermost cache whose share of one of so many threads is as large; None if none is."""
    return next(
        (c for c in machine.caches if size <= c.size // min(c.cores, threads)),
        None,
    )


def last_size(holds: Callable[[int], bool], first: int) -> int | None:
    """The last size from ``first`` on at which a condition holds that ends once; None without end.

    >>> last_size(lambda n: n * n < 1000, 10)
    31
    """
    end = first
    while holds(end):
        if end > _LARGEST:
            return None
        end *= 2
    low = max(first, end // 2)
    while end - low > 1:
        middle = (low + end) // 2
        low, end = (middle, end) if holds(middle) else (low, middle)
    return low


def _up(count: int, unit: int) -> int:
    return -(-count // unit) * unit
