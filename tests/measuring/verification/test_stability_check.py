"""The bound of the spectrum that an IVP states is compared with its Jacobian."""

from dataclasses import replace
from pathlib import Path

import pytest

from autotune.files import config
from autotune.language.expression import Num
from autotune.measuring.verification.stability_check import spectral_radius, stability_note

SHIPPED = sorted(path.stem for path in Path("kernels/ivp").glob("*.yaml"))


@pytest.mark.parametrize("name", SHIPPED)
def test_no_shipped_bound_is_below_the_spectrum(name: str) -> None:
    assert stability_note(config.ivp(name)) is None


def test_the_radius_is_that_of_the_matrix() -> None:
    """A chain of differences with fixed ends: 4 (N - 1)^2 for each dimension, nearly."""
    radius = spectral_radius(config.ivp("heat2d"), 33)
    assert radius == pytest.approx(8 * 32**2, rel=0.1)


def test_a_bound_that_is_far_too_small_is_told() -> None:
    said = stability_note(replace(config.ivp("heat2d"), stability=Num(0.01)))
    assert said is not None
    assert said.startswith("heat2d: stability 0.01 is 0.01 at N = 5, but the Jacobian")
    assert "e+04 times too long" in said
