"""Each method shows its order on a problem whose solution is known."""

import math
from dataclasses import replace

import numpy as np
import pytest

from autotune import paths
from autotune.domain.problem import Ivp, Problem, Region
from autotune.files import config
from autotune.language.expression import parse
from autotune.measuring.verification import ivp_reference

SLOWEST = 2.0
"""The stability bound of the test problem: h = step_fraction / SLOWEST."""


def region(lower, upper, body):
    return Region(lower=parse(lower), upper=parse(upper), body=parse(body))


# Nonlinear, coupled and dependent on t: u' = u^2 cos t, w' = 2 u w cos t from u = 1/2, w = 1/4 at
# t = 0; the solution is u = 1/(2 - sin t), w = u^2.
SMOOTH = Ivp(
    name="smooth",
    title="",
    source="",
    dimension=parse("2"),
    constants={},
    access_distance=parse("1"),
    limited=False,
    regions=(
        region("0", "1", "y[j]**2*cos(t)"),
        region("1", "2", "2*y[j-1]*y[j]*cos(t)"),
    ),
    initial=(region("0", "1", "0.5"), region("1", "2", "0.25")),
    stability=parse(str(SLOWEST)),
)


def error(problem, steps):
    """Largest error at t = 2 with that many steps."""
    end = 2.0
    problem = replace(problem, step_fraction=SLOWEST * end / steps)
    u = 1 / (2 - math.sin(end))
    return float(np.abs(ivp_reference.integrate(problem, steps) - [u, u * u]).max())


def observed(problem, steps):
    """Slope of log(error) over log(h), fitted."""
    errors = [error(problem, count) for count in steps]
    return -np.polyfit(np.log(steps), np.log(errors), 1)[0]


def smooth(method, correctors):
    return Problem(ivp=SMOOTH, method=method, correctors=correctors, size=2)


def steps(order, explicit=False):
    """Numbers of steps whose errors lie between the first terms of the series and rounding."""
    if order <= 3:
        return [48, 64, 96, 128]
    if explicit and order == 5:  # with fewer the next term is larger, and of the other sign
        return [96, 112, 128, 160]
    return [12, 16, 24, 32, 48] if order <= 7 else [6, 8, 10, 12]


# Errors of order 11 and above are below rounding before the order shows; the order conditions
# prove these (test_methods).
SHOWING = [n for n in paths.names("kernels/method") if config.method(n).order <= 9]
ITERATED = [n for n in paths.names("kernels/method") if not config.method(n).explicit]


@pytest.mark.parametrize("name", SHOWING)
def test_the_usual_correctors_reach_the_order_of_the_method(name):
    method = config.method(name)
    problem = smooth(method, method.usual_correctors)
    counts = steps(method.order, method.explicit)
    assert observed(problem, counts) == pytest.approx(method.order, abs=0.3)


@pytest.mark.parametrize("name", ITERATED)
@pytest.mark.parametrize("correctors", [1, 2, 3])
def test_each_corrector_adds_one_order(name, correctors):
    method = config.method(name)
    problem = smooth(method, correctors)
    expected = min(correctors + 1, method.order)
    assert observed(problem, [24, 32, 48, 64]) == pytest.approx(expected, abs=0.3)


def test_more_correctors_than_needed_add_no_order():
    method = config.method("radau-iia-5")
    problem = smooth(method, method.order + 2)
    assert observed(problem, [8, 12, 16, 24, 32]) == pytest.approx(method.order, abs=0.3)
