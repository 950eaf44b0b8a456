"""Whether a scaling model can be trusted: back-tests, range of times, collinear variables."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from autotune.errors import InputError
from autotune.learning.scaling import scaling_methods
from autotune.learning.scaling.base import Inverse
from autotune.learning.scaling.discrepancy import Discrepancy
from autotune.learning.scaling.forecast_accuracy import BackTest, back_test
from autotune.learning.scaling.scaling_answers import BackTests
from autotune.learning.scaling.scaling_runs import Runs
from autotune.learning.scaling.separable import SEVERE, check_separable
from autotune.units import counted

ENOUGH = 5
"""Runs that a back-test should rest on."""
_REACH = 10.0
"""A time to keep this factor outside the measured ones is warned of."""


def back_tests(runs: Runs, settings: scaling_methods.Settings, level: float) -> BackTests:
    """The forecasts of every method for the runs with the most processors.

    If enough of these runs have times near T0, only those are scored. With one or two of them,
    chance would choose the method.
    """
    near = scaling_methods.near(runs, settings)
    top = runs.at_level(runs.levels[-1])
    scored = near if near is not None and int((near & top).sum()) >= ENOUGH else None
    results: list[tuple[scaling_methods.Method, BackTest | str]] = []
    for method in scaling_methods.METHODS:
        apart = "never" if method == "levels" and settings.method != "levels" else settings.apart
        variant = replace(settings, method=method, apart=apart)
        try:
            tested = back_test(runs, partial(scaling_methods.fit, settings=variant), scored, level)
            results.append((method, tested))
        except InputError as error:
            results.append((method, error.faults[0].found))
    return tuple(results)


def discrepancy(tests: BackTests, method: scaling_methods.Method) -> Discrepancy | None:
    """The discrepancy that the back-test of a method shows; None without such a test."""
    tested = dict(tests).get(method)
    return Discrepancy.of(tested) if isinstance(tested, BackTest) else None


def refuse_inseparable(runs: Runs, inverses: Sequence[Inverse]) -> None:
    """InputError if sizes and processors grow together, so that the model excludes no size."""
    if any(size.low == 0 or math.isinf(size.high) for size in map(_fitted, inverses)):
        check_separable(runs, SEVERE)


def warnings(runs: Runs, keep: float, tests: BackTests) -> tuple[str, ...]:
    """Warnings about the answer: a time to keep far outside the runs, or a small back-test."""
    doubts = []
    least, most, unit = float(runs.time.min()), float(runs.time.max()), runs.variables.time.unit
    if not least / _REACH <= keep <= most * _REACH:
        doubts.append(
            f"the time to keep, {keep:.6g}{unit and f' {unit}'}, lies more than a factor of"
            f" {_REACH:g} outside the measured times, {least:.4g} to {most:.4g}: is its unit right?"
        )
    counts = [test.errors.count for _, test in tests if isinstance(test, BackTest)]
    if counts and counts[0] < ENOUGH:
        doubts.append(
            f"the back-test is from n = {counted(counts[0], 'run')} on"
            f" {runs.levels[-1]:g} processors: chance may choose the method; {ENOUGH} would tell"
        )
    return tuple(doubts)


def _fitted(inverse: Inverse) -> Inverse:
    """A size with the interval of the regression alone, not widened by the back-test.

    A large error in the back-test does not mean that the regressors are collinear.
    """
    if inverse.regression is None:
        return inverse
    return replace(inverse, low=inverse.regression[0], high=inverse.regression[1])
