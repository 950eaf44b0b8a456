"""Which method the back-tests of a region recommend."""

import math

import numpy as np
from planted_scaling import variables

from autotune.learning.scaling.forecast_accuracy import BackTest, errors
from autotune.learning.scaling.scaling_answers import BackTests, RegionAnswer
from autotune.learning.scaling.scaling_methods import Method, Settings
from autotune.learning.scaling.scaling_runs import Runs, points


def back_test(off: float) -> BackTest:
    """Forecasts that are all longer than what was observed by the same share."""
    observed = np.array([1.0, 2.0, 3.0])
    return BackTest(
        processors=64.0,
        below=32.0,
        train=9,
        errors=errors((1 + off) * observed, observed),
        drift=math.log2(1 + off),
        drift_error=0.0,
    )


def recommended(tests: BackTests, used: Method = "complete") -> Method | None:
    """The method that is recommended where ``used`` made the forecasts."""
    runs = Runs(points=points([1, 2], [10, 20]), time=np.array([1.0, 2.0]), variables=variables())
    answer = RegionAnswer(
        label="whole",
        runs=runs,
        keep=1.0,
        level=0.9,
        settings=Settings(method=used),
        model=None,
        inverses=(),
        forecasts=(),
        back_tests=tests,
    )
    return None if answer.recommended is None else answer.recommended[0]


def test_the_method_of_the_least_median_error_is_recommended() -> None:
    tests: BackTests = (
        ("complete", back_test(0.2)), ("levels", back_test(0.05)), ("focal", back_test(0.1)),
    )  # fmt: skip
    assert recommended(tests) == "levels"
    assert recommended(tests[::-1]) == "levels"


def test_forecasts_that_are_too_short_count_like_those_that_are_too_long() -> None:
    assert recommended((("complete", back_test(-0.3)), ("levels", back_test(0.2)))) == "levels"


def test_of_equals_the_method_that_was_used_is_recommended_else_the_first() -> None:
    tests: BackTests = (
        ("complete", back_test(0.1)), ("levels", back_test(0.1)), ("focal", back_test(0.1)),
    )  # fmt: skip
    assert recommended(tests, used="focal") == "focal"
    assert recommended(tests, used="complete") == "complete"
    assert recommended(tests, used="weighted") == "complete"


def test_methods_without_a_back_test_are_passed_over() -> None:
    tests: BackTests = (("complete", "too few levels"), ("levels", back_test(0.4)))
    assert recommended(tests) == "levels"


def test_without_any_back_test_nothing_is_recommended() -> None:
    assert recommended(()) is None
    assert recommended((("complete", "too few levels"),)) is None
