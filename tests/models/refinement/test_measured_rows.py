"""Measured candidates as data and scores, and what a refinement says of a model made by hand."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from made_programs import candidate
from sample_nodes import calibrated

from autotune.domain.calibration import Calibration
from autotune.domain.machine import Machine
from autotune.domain.problem import Problem
from autotune.domain.variant import Candidate
from autotune.models.refinement.measured_rows import MeasuredCandidate, data, score
from autotune.models.refinement.posterior_fit import Floats
from autotune.models.refinement.refinement_posterior import (
    LEAST_ROWS,
    Predict,
    Refinement,
    refine,
)

MACHINE = calibrated(exposed=0.5)


def row(seconds: float, size: int = 1000, noise: float = 0.01) -> MeasuredCandidate:
    return MeasuredCandidate(candidate=candidate(size), seconds=seconds, noise=noise)


def problem_of(made: Candidate) -> Problem:
    assert isinstance(made.problem, Problem)
    return made.problem


# --- rows -----------------------------------------------------------------------------------------


def test_rows_are_logarithms_with_their_noise_by_kernel() -> None:
    made = data([row(1.0, noise=0.1), row(math.e, size=2000, noise=0.2)])
    assert made.logs.tolist() == pytest.approx([0, 1])
    assert made.noise.tolist() == [0.1, 0.2]
    assert made.groups == ("decay", "decay"), "one kernel, whatever the size"
    assert row(1.0).problem == problem_of(candidate(1000)).label
    assert row(1.0).problem != row(1.0, size=2000).problem


# --- scores ---------------------------------------------------------------------------------------


def test_scores_of_one_problem_by_hand() -> None:
    """Measured 1, 2, 4; predicted 2, 1, 4: of three pairs, the first two are in the wrong order."""
    rows = [row(1.0), row(2.0), row(4.0)]
    made = score(rows, np.array([2.0, 1.0, 4.0]))
    assert (made.rows, made.problems) == (3, 1)
    assert made.deviation == 0.5, "deviations 1, -1/2 and 0"
    assert made.tau == pytest.approx(1 / 3)
    assert made.pairs == pytest.approx(2 / 3)
    assert made.losses == {1: pytest.approx(1.0), 3: pytest.approx(0.0)}


def test_every_problem_counts_once_and_every_row_in_the_deviation() -> None:
    """A problem of four rows in order, and one of two the other way round."""
    rows = [*(row(float(t)) for t in (1, 2, 3, 4)), row(1.0, 2000), row(2.0, 2000)]
    made = score(rows, np.array([1.0, 2, 3, 4, 4, 2]))
    assert (made.rows, made.problems) == (6, 2)
    assert made.tau == pytest.approx((1 - 1) / 2)
    assert made.pairs == pytest.approx((1 + 0) / 2)
    assert made.losses[1] == pytest.approx((0 + 1.0) / 2)
    assert made.deviation == 0.0, "the median over six rows of which one is off"


def test_problems_of_one_row_have_no_order() -> None:
    made = score([row(1.0), row(2.0, 2000)], np.array([1.5, 3.0]))
    assert (made.tau, made.pairs) == (None, None)
    assert made.losses == {1: 0.0, 3: 0.0}
    assert made.deviation == pytest.approx(0.5)


def test_pairs_that_are_measured_within_5_percent_are_no_pairs() -> None:
    made = score([row(1.0), row(1.04), row(2.0)], np.array([1.1, 1.0, 3.0]))
    assert made.pairs == 1.0
    assert made.tau == pytest.approx(1 / 3)


def test_nothing_has_no_score() -> None:
    with pytest.raises(ValueError, match="nothing to score on"):
        score([], np.zeros(0))


def test_a_scale_of_all_predictions_changes_the_deviation_only() -> None:
    rows = [row(float(t)) for t in (1, 5, 2, 8)]
    predicted = np.array([2.0, 3, 4, 9])
    one, three = score(rows, predicted), score(rows, 3 * predicted)
    assert (one.tau, one.pairs, one.losses) == (three.tau, three.pairs, three.losses)
    assert one.deviation != three.deviation


# --- a refinement of a model that is known --------------------------------------------------------


KERNELS = ("one", "two")
"""Kernels of a study; each has problems of two sizes."""


def planted(
    weights: Sequence[float], factor: float, kernels: Sequence[str] = KERNELS
) -> tuple[list[MeasuredCandidate], Predict]:
    """Rows that spend shares of their time in L2, the rest elsewhere, in a model that says so.

    The bandwidth of L2 of this machine is ``factor`` times the calibrated one.
    """
    every = [(k, size, w) for k in kernels for size in (1000, 2000) for w in weights]
    shares = np.array([w for _, _, w in every])

    def predict(calibration: Calibration, core: float) -> Floats:
        bandwidth = calibration.curve(1).bandwidth[1] / 32
        return shares / bandwidth + (1 - shares) * core

    times = shares / factor + (1 - shares)
    rows = [
        MeasuredCandidate(candidate=named(kernel, size), seconds=float(t), noise=0.01)
        for (kernel, size, _), t in zip(every, times, strict=True)
    ]
    return rows, predict


def named(kernel: str, size: int) -> Candidate:
    made = candidate(size)
    problem = problem_of(made)
    return replace(made, problem=replace(problem, ivp=replace(problem.ivp, name=kernel)))


def refined(factor: float, machine: Machine = MACHINE) -> Refinement:
    rows, predict = planted((0.1, 0.4, 0.7, 0.9), factor)
    return refine("study", machine, rows, [], predict)


def test_a_planted_bandwidth_is_found_within_its_prior() -> None:
    """The prior is 5 % wide; many exact rows move it nearly all of 4 %."""
    made = refined(1.04)
    change = next(c for c in made.changes if c.figure.name == "inbound.L2@1")
    assert change.informed
    assert change.after[0] == pytest.approx(32 * 1.04, rel=0.01)
    assert change.after[1] < 32 * 1.04 < change.after[2]
    assert change.before[0] == pytest.approx(32)
    assert 0 < change.variance < 1
    assert change.effect < 0, "a faster level takes less time"
    assert change.moved == 12, "the four rows that hardly use it move by less than half a per cent"


def test_what_no_row_depends_on_stays_as_it_was() -> None:
    for change in refined(1.04).changes:
        if change.figure.name != "inbound.L2@1":
            assert not change.informed
            assert change.after == change.before
            assert (change.variance, change.moved, change.effect) == (1.0, 0, 0.0)


def test_each_kernel_is_left_out_in_turn_and_all_fits_are_announced() -> None:
    rows, predict = planted((0.1, 0.4, 0.7, 0.9), 1.04)
    seen: list[tuple[int, int, str]] = []
    made = refine("s", MACHINE, rows, [], predict, lambda *step: seen.append(step))
    assert seen == [
        (0, 3, "all kernels"),
        (1, 3, "without one"),
        (2, 3, "without two"),
        (3, 3, "done"),
    ]
    assert made.basis == "each kernel left out in turn"
    assert [part.name for part in made.outside] == ["one", "two"]
    assert made.total is not None
    assert made.total.after.deviation < made.total.before.deviation
    assert made.total.before.rows == 16


def test_problems_are_left_out_where_there_is_one_kernel() -> None:
    rows, predict = planted((0.1, 0.4, 0.7, 0.9), 1.04, kernels=("one",))
    made = refine("s", MACHINE, rows, [], predict)
    assert made.basis == "each problem left out in turn: the study has one kernel only"
    assert len(made.outside) == 2


def test_rows_of_another_study_are_scored_and_never_fitted() -> None:
    """The other study was measured on a machine whose L2 is slower: the refinement is worse."""
    rows, predict = planted((0.1, 0.4, 0.7, 0.9), 1.04, kernels=("one", "two"))
    others, _ = planted((0.1, 0.4, 0.7, 0.9), 0.9, kernels=("two",))

    def both(calibration: Calibration, core: float) -> Floats:
        every = predict(calibration, core)
        return np.concatenate([every, every[: len(others)]])

    made = refine("s", MACHINE, rows, others, both)
    assert made.basis == "another study, kernel by kernel"
    assert [part.name for part in made.outside] == ["two"]
    change = next(c for c in made.changes if c.figure.name == "inbound.L2@1")
    assert change.after[0] == pytest.approx(32 * 1.04, rel=0.01)
    assert made.verdict == "worse"
    assert made.reasons[0].startswith("median deviation worse by ")


def test_the_factor_on_in_core_times_is_told_and_not_applied() -> None:
    """Rows that take 20 % longer outside of L2 than the model says."""
    rows, predict = planted((0.0, 0.01, 0.02, 0.03), 1.0)
    slower = [
        MeasuredCandidate(candidate=r.candidate, seconds=r.seconds * 1.2, noise=0.01) for r in rows
    ]
    made = refine("s", MACHINE, slower, [], predict)
    assert made.core is not None
    assert made.core.factor == pytest.approx(1.2, rel=0.02)
    assert made.core.low < made.core.factor < made.core.high
    assert made.kernels == pytest.approx({"one": 1.2, "two": 1.2}, rel=0.02)


def test_a_right_calibration_stays_and_no_score_changes() -> None:
    made = refined(1.0)
    assert made.verdict == "same"
    assert made.reasons == ("no score differs by more than it should",)
    assert made.kernels == pytest.approx({"one": 1.0, "two": 1.0}, rel=1e-3)


def test_few_rows_are_refused_with_their_number() -> None:
    rows, predict = planted((0.1,), 1.0)
    with pytest.raises(ValueError, match=rf"^4 measured candidates, at least {LEAST_ROWS} are"):
        refine("s", MACHINE, rows, [], predict)
