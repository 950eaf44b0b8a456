"""BoomerAMG: levels by hand, the two index versions, the penalties."""

from dataclasses import replace

import numpy as np
import pytest

from autotune.errors import InputError
from autotune.learning.formulas.base import combined
from autotune.learning.formulas.boomeramg import Bandwidth, BoomerAmg, Distance, Multicore
from autotune.learning.formulas.term_polynomial import Polynomial

MODEL = BoomerAmg(levels=3, alpha=1e-6, beta=1e-9)


def values(model: BoomerAmg) -> dict[str, np.ndarray]:
    """Two rows of values, all different."""
    rng = np.random.default_rng(3)
    found = {name: rng.integers(2, 50, size=2).astype(float) for name in model.parameters}
    return found | {n: found[n] * 1e-9 for n in found if n.startswith("t_")}


def by_hand(v: dict[str, np.ndarray], version: str) -> np.ndarray:
    """The model as section 3.2.2 prints it, level by level."""
    time = np.zeros(2)
    for i in range(3):
        time += 6 * v[f"C_{i}"] / v["P"] * v[f"s_{i}"] * v[f"t_{i}"]
        time += 3 * (v[f"p_{i}"] * 1e-6 + v[f"n_{i}"] * 1e-9)
        if i < 2:
            time += 2 * v[f"C_{i + 1}"] / v["P"] * v[f"shat_{i}"] * v[f"t_{i}"]
            time += v[f"phat_{i}"] * 1e-6 + v[f"nhat_{i}"] * 1e-9
        if i > 0:
            h = i if version == "section-3.2.2" else i - 1
            time += 2 * v[f"C_{i - 1}"] / v["P"] * v[f"shat_{h}"] * v[f"t_{i}"]
            time += v[f"phat_{h}"] * 1e-6 + v[f"nhat_{h}"] * 1e-9
    return time


@pytest.mark.parametrize("version", ["section-3.2.2", "section-5.4.2"])
def test_both_versions_by_hand(version: str) -> None:
    model = replace(MODEL, version=version)
    given = values(model)
    assert model.evaluate(given) == pytest.approx(by_hand(given, version))
    assert version in model.name
    assert version in str(model)
    assert "nhat_i beta but for the last i" in str(model)
    assert "nhat_h beta but for i = 0" in str(model)


def test_the_versions_ask_for_different_operators() -> None:
    first = replace(MODEL, version="section-3.2.2")
    assert set(first.parameters) - set(MODEL.parameters) == {"shat_2", "phat_2", "nhat_2"}


def test_one_level_only_smooths() -> None:
    model = BoomerAmg(levels=1, alpha=1e-6, beta=1e-9)
    assert model.parameters == ("P", "C_0", "s_0", "t_0", "p_0", "n_0")
    given = {n: np.array([2.0]) for n in model.parameters} | {"t_0": np.array([1e-9])}
    assert model.evaluate(given) == pytest.approx(6 * 2 * 1e-9 + 3 * (2e-6 + 2e-9))


def test_distance_adds_to_every_message() -> None:
    far = replace(MODEL, distance=Distance(gamma=2e-7, fewest=2))
    given = values(far) | {f"h_{i}": np.array([2.0, 5.0]) for i in range(3)}
    more = far.evaluate(given) - MODEL.evaluate(given)
    messages = sum(3 * given[f"p_{i}"] for i in range(3))
    messages = messages + 2 * given["phat_0"] + 2 * given["phat_1"]
    assert more == pytest.approx(messages * 2e-7 * np.array([0, 3]), abs=1e-15)


def test_bandwidth_multiplies_beta() -> None:
    slow = replace(MODEL, bandwidth=Bandwidth(peak=4e9, measured=1e9))
    given = values(slow)
    assert slow.evaluate(given) == pytest.approx(replace(MODEL, beta=4e-9).evaluate(given))
    shared = replace(MODEL, bandwidth=Bandwidth(peak=4e9, measured=1e9, links=10))
    crowded = given | {f"m_{i}": np.full(2, 20.0) for i in range(3)}
    assert shared.evaluate(crowded) == pytest.approx(replace(MODEL, beta=6e-9).evaluate(given))


def test_cores_multiply_latency_by_the_active_ones() -> None:
    many = replace(MODEL, multicore=Multicore(cores=4))
    given = values(many) | {"P": np.array([8.0, 8.0])}
    active = given | {f"P_{i}": np.array([8.0, 3.0]) for i in range(3)}
    expected = [replace(MODEL, alpha=k * 1e-6).evaluate(given)[row] for row, k in ((0, 4), (1, 2))]
    assert many.evaluate(active) == pytest.approx(expected)


def test_no_level_sends_for_nothing() -> None:
    """A level with fewer active processes than nodes still sends each message once."""
    many = replace(MODEL, multicore=Multicore(cores=4))
    given = values(many) | {"P": np.full(2, 100.0)}
    few = given | {f"P_{i}": np.zeros(2) for i in range(3)}
    assert many.evaluate(few) == pytest.approx(MODEL.evaluate(given))


def test_gamma_is_multiplied_only_if_asked_for() -> None:
    distance = Distance(gamma=1e-7)
    once = replace(MODEL, distance=distance, multicore=Multicore(cores=4))
    twice = replace(once, multicore=Multicore(cores=4, distance=True))
    given = values(once) | {"P": np.full(2, 8.0)} | {f"P_{i}": np.full(2, 8.0) for i in range(3)}
    assert (twice.evaluate(given) > once.evaluate(given)).all()
    assert once.name == "boomeramg-section-5.4.2-distance-multicore"


def test_terms_add_up_to_the_time() -> None:
    whole = Polynomial(combined(MODEL.terms()))
    given = values(MODEL)
    assert whole.evaluate(given) == pytest.approx(MODEL.evaluate(given))


def test_what_is_missing_is_named() -> None:
    given = values(MODEL)
    del given["shat_1"]
    with pytest.raises(InputError, match="no values of shat_1"):
        MODEL.evaluate(given)


def test_penalties_are_checked() -> None:
    with pytest.raises(ValueError, match="gamma"):
        Distance(gamma=-1)
    with pytest.raises(ValueError, match="links"):
        Bandwidth(peak=1, measured=1, links=0)
    with pytest.raises(ValueError, match="version"):
        BoomerAmg(levels=2, alpha=0, beta=0, version="other")
