"""Formulas by name: what is asked for, what is refused."""

import pytest

from autotune.errors import InputError
from autotune.formulas.named import FORMULAS, make


@pytest.mark.parametrize("name", sorted(FORMULAS))
def test_each_is_made_of_its_constants(name: str) -> None:
    constants = dict.fromkeys(FORMULAS[name].required, 2.0)
    made = make(name, constants | {"scale": 3.0})
    assert made.name == name
    assert made.parameters
    assert "T = 3" in str(made)
    assert made.terms()


def test_an_unknown_name_brings_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean smg2000-3d"):
        make("smg2000-3", {})


def test_every_wrong_constant_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        make("smg2000-1d", {"alpha": 1e-6, "betta": 1e-9})
    text = str(caught.value)
    assert "did you mean beta" in text
    assert "no beta" in text
    assert "no f" in text


def test_a_value_outside_its_range_is_an_input_error() -> None:
    with pytest.raises(InputError, match="f must be above zero"):
        make("smg2000-1d", {"alpha": 0.0, "beta": 0.0, "f": 0.0})


def test_half_a_level_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"whole number, not 3\.5"):
        make("boomeramg-section-5.4.2", {"levels": 3.5, "alpha": 1e-6, "beta": 1e-9})
