"""What every search keeps to, whatever its algorithm; each implementation inherits the suite."""

import itertools
import math

import numpy as np
import pytest

from autotune.tuning.search.base import Searcher, SearchResult
from autotune.tuning.search.points import Points, points

ROWS = tuple(
    row
    for row in itertools.product((1, 2, 4, 8), ("a", "b", "c"), (False, True), ("none", 8))
    if not (row[0] == 8 and row[2])
)
NAMES = ("tile", "order", "fuse", "pad")


def seconds(row: int) -> float:
    """A time for each row, with interactions."""
    tile, order, fuse, pad = ROWS[row % len(ROWS)]
    slow = {"a": 0.0, "b": 0.3, "c": 0.1}[order] + 0.2 * abs(math.log2(tile) - 1.5)
    return math.exp(slow - 0.2 * fuse * (order == "a") + 0.1 * (pad == "none"))


def space(groups: int = 1, predicted: bool = False) -> Points:
    """A small space of so many problems with the same rows."""
    rows = tuple((*row, 100 * (g + 1)) for g in range(groups) for row in ROWS)
    times = np.array([seconds(row) for row in range(len(rows))])
    wrong = np.exp(0.2 * np.sin(np.arange(len(rows))))
    return points(
        (*NAMES, "size"),
        rows,
        predicted=times * wrong if predicted else None,
        group=np.repeat(np.arange(groups), len(ROWS)),
    )


class SearcherConformance:
    """Inherit, and say how a search is made."""

    def search(self, candidates: Points, seed: int = 1) -> Searcher:
        raise NotImplementedError

    def drive(self, search: Searcher, steps: int, group: int = 0, fails: int = 0) -> list[int]:
        """Ask and tell; every ``fails``-th row fails."""
        asked = []
        for _ in range(steps):
            for suggestion in search.ask(group):
                row = suggestion.index
                asked.append(row)
                failed = fails and row % fails == 0
                search.tell(SearchResult(index=row, seconds=None if failed else seconds(row)))
        return asked

    @pytest.mark.parametrize("fails", [0, 3])
    @pytest.mark.parametrize("predicted", [False, True])
    def test_all_candidates_come_once_and_then_none(self, predicted: bool, fails: int) -> None:
        search = self.search(space(predicted=predicted))
        asked = self.drive(search, len(ROWS) + 2, fails=fails)
        assert sorted(asked) == list(range(len(ROWS)))
        assert search.finished(0) == "every candidate was measured"

    def test_nothing_that_runs_or_failed_or_was_told_is_asked_for(self) -> None:
        search = self.search(space())
        search.tell(SearchResult(index=3, seconds=1.0))
        search.tell(SearchResult(index=4, seconds=None))
        search.claim(5)
        running = search.ask(0, 4)
        rest = search.ask(0, len(ROWS))
        asked = [suggestion.index for suggestion in (*running, *rest)]
        assert sorted(asked) == [row for row in range(len(ROWS)) if row not in (3, 4, 5)]
        assert search.ask(0, 1) == []

    def test_a_candidate_that_is_released_is_not_asked_for_again_but_may_be_told(self) -> None:
        search = self.search(space())
        released = search.ask(0)[0].index
        search.release(released)
        asked = self.drive(search, 10)
        assert released not in asked
        search.tell(SearchResult(index=released, seconds=0.5))
        assert released not in self.drive(search, 10)

    def test_problems_are_asked_for_apart(self) -> None:
        candidates = space(groups=2)
        search = self.search(candidates)
        for group in (0, 1, 0, 1):
            asked = self.drive(search, 8, group)
            assert (candidates.group[asked] == group).all()

    def test_equal_seeds_ask_for_the_same(self) -> None:
        first = self.drive(self.search(space(), seed=5), 12, fails=4)
        assert first == self.drive(self.search(space(), seed=5), 12, fails=4)
        assert first != self.drive(self.search(space(), seed=6), 12, fails=4)

    def test_a_candidate_may_be_told_of_twice(self) -> None:
        search = self.search(space())
        for row in self.drive(search, 8):
            search.tell(SearchResult(index=row, seconds=2 * seconds(row), sigma=0.05))
        assert len(self.drive(search, 8)) == 8

    def test_the_forecast_has_every_candidate_of_its_problem(self) -> None:
        candidates = space(groups=2)
        search = self.search(candidates)
        self.drive(search, 8, 1)
        forecast = search.forecast(1)
        assert forecast.index.tolist() == candidates.members(1).tolist()
        assert forecast.mean.shape == forecast.sd.shape == forecast.index.shape
