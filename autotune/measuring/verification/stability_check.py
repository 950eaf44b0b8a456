"""Checks the bound of the spectrum that an IVP states, from which the length of steps follows."""

import numpy as np

from autotune.domain.problem import Ivp
from autotune.language.expression import number, show
from autotune.measuring.verification.ivp_reference import initial, rhs

_STEPS = 40
"""Products with the Jacobian; each is a difference of two right-hand sides."""
_DIFFERENCE = 1e-7
"""Length of the difference, relative to the largest initial value."""
_ABOVE = 2.0
"""So far above the bound it is wrong: of a Jacobian that is not normal the iteration may say a
little more than its spectrum."""
_SMALLEST = 5


def spectral_radius(ivp: Ivp, size: int) -> float | None:
    """About the largest |lambda| of the Jacobian at the initial values, by power iteration; None
    where it is not finite or the right-hand side does not depend on y.
    """
    f, y = rhs(ivp, size), initial(ivp, size)
    length = _DIFFERENCE * max(1.0, float(np.max(np.abs(y))))
    direction = np.random.default_rng(1).standard_normal(y.size)
    direction /= np.linalg.norm(direction)
    radius: float | None = None
    with np.errstate(all="ignore"):
        at_start = f(ivp.start, y)
        for _ in range(_STEPS):
            product = (f(ivp.start, y + length * direction) - at_start) / length
            growth = float(np.linalg.norm(product))
            if not 0 < growth < np.inf:
                return None
            radius, direction = growth, product / growth
    return radius


def stability_note(ivp: Ivp) -> str | None:
    """What is wrong with a bound that is far below the spectrum at a small size; None where it is
    not. At larger sizes, and at later times, nothing is checked.
    """
    size = max(ivp.minimum, _SMALLEST)
    bound = float(number(ivp.stability, ivp.values(size)))
    radius = spectral_radius(ivp, size)
    if radius is None or radius <= _ABOVE * bound:
        return None
    return (
        f"{ivp.name}: stability {show(ivp.stability)} is {bound:.3g} at N = {size}, but the"
        f" Jacobian at the initial values has an eigenvalue of about {radius:.3g}: steps are"
        f" {radius / bound:.2g} times too long, and results may grow without bound"
    )
