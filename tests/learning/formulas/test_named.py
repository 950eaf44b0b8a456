"""Formulas by name: what is asked for, what is refused."""

import pytest

from autotune.errors import InputError
from autotune.learning.formulas.named_formulas import FORMULAS, make
from autotune.learning.formulas.planes_formula import Planes


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


AMG = {"levels": 3.0, "alpha": 1e-6, "beta": 1e-9}


def test_penalties_are_constants_too() -> None:
    more = {"gamma": 1e-7, "peak_bandwidth": 2e9, "bandwidth": 1e9, "links": 2.0, "cores": 4.0}
    made = make("boomeramg-section-5.4.2", AMG | more)
    assert made.name == "boomeramg-section-5.4.2-distance-bandwidth-multicore"
    assert {"h_0", "m_0", "P_0"} <= set(made.parameters)
    for lone, needed in (("fewest_hops", "gamma"), ("links", "bandwidth")):
        with pytest.raises(InputError, match=f"{lone} without .*{needed}"):
            make("boomeramg-section-5.4.2", AMG | {lone: 1.0})


def test_planes_of_several_caches() -> None:
    one = {"order": 1.0, "elements_per_line": 8.0, "cache_1": 4096.0, "cost_1": 1e-9}
    two = {"cache_2": 65536.0, "cost_2": 4e-9, "cost_memory": 2e-8}
    made = make("planes", one | two | {"write_allocate": 0.0})
    assert made == Planes(
        order=1, elements_per_line=8, caches=(4096.0, 65536.0), write_allocate=(False, False),
        costs=(1e-9, 4e-9, 2e-8),
    )  # fmt: skip
    with pytest.raises(InputError, match="no cost_2: each level has both"):
        make("planes", one | {"cost_memory": 1e-8, "cache_2": 1e5})
