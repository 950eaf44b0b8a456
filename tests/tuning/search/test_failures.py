"""How likely a candidate runs, judged by those that are like it."""

import numpy as np
import pytest

from autotune.tuning.search.failures import Failures
from autotune.tuning.search.parameter_levels import levels


def failures(rows: list[tuple[int | str, ...]], columns: list[int] | None = None) -> Failures:
    count = len(rows)
    looked_at = np.arange(count) if columns is None else np.array(columns)
    return Failures(levels(rows), np.zeros(count, dtype=np.intp), looked_at, seed=1)


def test_while_nothing_failed_all_run_for_certain() -> None:
    judged = failures([(n,) for n in range(5)])
    assert judged.success() == 1.0
    judged.learn(1, failed=False)
    assert judged.success() == 1.0


def test_what_is_unlike_all_that_was_tried_fails_as_often_as_the_others() -> None:
    """A share of 1 / (1 + 2) where the only one failed; near it more."""
    judged = failures([(0, "a"), (0, "b"), (1, "c"), (1, "d")])
    judged.learn(0, failed=True)
    success = np.asarray(judged.success())
    assert success[0] < success[1] < success[3] < 1 - 1 / 3 + 1e-9
    assert success[3] > 0.5


def test_nothing_is_held_to_fail_for_certain() -> None:
    judged = failures([(n,) for n in range(8)])
    for row in range(7):
        judged.learn(row, failed=True)
    success = np.asarray(judged.success())
    assert success == pytest.approx(np.full(8, 0.02), abs=0.1)
    assert success.min() >= 0.02 - 1e-12


def test_only_the_candidates_that_are_looked_at_are_judged() -> None:
    judged = failures([(n,) for n in range(8)], columns=[2, 5])
    judged.learn(5, failed=True)
    judged.learn(0, failed=False)
    near, failed = np.asarray(judged.success())
    assert failed < near


def test_a_later_outcome_replaces_an_earlier_one() -> None:
    judged = failures([(n,) for n in range(6)])
    judged.learn(2, failed=True)
    before = np.asarray(judged.success())
    judged.learn(2, failed=True)
    assert np.asarray(judged.success()).tolist() == before.tolist()
    judged.learn(3, failed=True)
    assert np.asarray(judged.success())[3] < before[3]
    for row in (2, 3):
        judged.learn(row, failed=False)
    assert judged.success() == 1.0


def test_outcomes_one_by_one_are_judged_as_all_at_once() -> None:
    rows: list[tuple[int | str, ...]] = [(a, b) for a in range(4) for b in "abc"]
    grown, whole = failures(rows), failures(rows)
    grown.learn(0, failed=True)
    grown.success()
    for row in (5, 7):
        grown.learn(row, failed=row == 5)
        assert np.isfinite(np.asarray(grown.success())).all()
    for row in (0, 5, 7):
        whole.learn(row, failed=row != 7)
    assert np.asarray(grown.success()) == pytest.approx(np.asarray(whole.success()), abs=0.2)


def test_what_shares_the_value_of_failures_is_likely_to_fail() -> None:
    """Of a third of the candidates all with b failed: so will the others with b."""
    rows: list[tuple[int | str, ...]] = [
        (n, text, f) for n in range(4) for text in "abc" for f in (0, 1)
    ]
    bad = np.array([row[1] == "b" for row in rows])
    tried = [*range(0, len(rows), 2), 1, 3, 5]
    judged = failures(rows)
    for row in tried:
        judged.learn(row, failed=bool(bad[row]))
    success = np.asarray(judged.success())
    untried = np.setdiff1d(np.arange(len(rows)), tried)
    assert success[untried][bad[untried]].max() < success[untried][~bad[untried]].min()
    assert success[tried][bad[tried]].max() < 0.5 < success[tried][~bad[tried]].min()


def test_of_very_many_outcomes_the_failures_are_kept() -> None:
    """100 of them: the failures, then others, in the order in which they were learned."""
    judged = failures([(n % 20, n // 20) for n in range(400)])
    for row in range(100):
        judged.learn(row, failed=row % 10 == 0)
    assert judged.kept() == list(range(100))
    for row in range(100, 400):
        judged.learn(row, failed=row % 10 == 0)
    kept = judged.kept()
    assert len(kept) == len(set(kept)) == 100
    assert kept == sorted(kept)
    assert set(range(0, 400, 10)) <= set(kept)


def test_what_is_said_happens_as_often() -> None:
    """Where a random tenth to nine tenths fail whatever their values, as many are said to run."""
    chance = np.random.default_rng(5)
    rows: list[tuple[int | str, ...]] = [
        (a, b, c) for a in range(5) for b in range(5) for c in "xy"
    ]
    for share in (0.1, 0.5, 0.9):
        judged = failures(rows)
        failed = chance.random(len(rows)) < share
        for row in range(0, len(rows), 2):
            judged.learn(row, failed=bool(failed[row]))
        said = np.asarray(judged.success())[1::2]
        assert said.mean() == pytest.approx(1 - share, abs=0.15)
        assert said.std() < 0.3
