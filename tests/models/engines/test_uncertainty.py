"""Intervals and what they are made of: figures, known weak regimes, what candidates share."""

from dataclasses import replace

import numpy as np
import pytest
from made_programs import STEP, MadeUp, candidate, engine, predict, program, sweep
from sample_nodes import calibrated, documented

from autotune.codegen.tree.loop_tree import NodeBlock, Sync, Tiles
from autotune.domain.machine import UNVERIFIED, Machine, Memory
from autotune.domain.ranking import odds
from autotune.domain.results import Prediction
from autotune.models.engines.reuse import uncertainty
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.incore.base import InCoreResult

LOOP = InCoreResult(
    T_OL=0.5, T_nOL=0.3, chain=0.0, bottleneck="port 0", iterations=8, route="made up",
    approximate=False, width=0.1,
)  # fmt: skip


def made_of(machine: Machine, n: int, threads: int = 1, **changes: object) -> Prediction:
    loop = replace(LOOP, **changes)
    return engine(machine, program(*STEP), MadeUp(changed=loop)).predict([candidate(n, threads)])[0]


def width(prediction: Prediction) -> float:
    low, high = prediction.interval
    return float(np.log(high / low))


def test_the_interval_is_80_percent_of_what_is_unsure() -> None:
    found = made_of(calibrated(), 100_000)
    sigma = found.uncertainty.sigma
    assert found.interval[1] == pytest.approx(found.seconds * np.exp(1.2816 * sigma))
    assert width(found) == pytest.approx(2 * 1.2816 * sigma)
    assert sigma**2 == pytest.approx(
        sum(v**2 for v in found.uncertainty.shared.values()) + found.uncertainty.independent**2
    )


def test_in_the_core_only_the_width_of_its_time_counts() -> None:
    exact, rough = (made_of(calibrated(), 1000, width=w) for w in (0.1, 0.4))
    assert exact.uncertainty.shared["core"] == pytest.approx(0.1 / uncertainty.Z80)
    assert rough.uncertainty.shared["core"] == pytest.approx(0.4 / uncertainty.Z80)
    assert "MEM" not in exact.uncertainty.shared
    assert width(rough) > width(exact)


def test_from_memory_the_bandwidth_counts() -> None:
    found = made_of(documented(exposed=0), 4_000_000)
    assert found.uncertainty.shared["MEM"] == pytest.approx(uncertainty.LEVEL_FILE)
    doubtful = replace(documented(exposed=0), sources={"memory.single": f"a guess {UNVERIFIED}"})
    told = made_of(doubtful, 4_000_000).uncertainty.shared["MEM"]
    assert told == pytest.approx(uncertainty.LEVEL_UNVERIFIED)


def test_a_disturbed_calibration_widens() -> None:
    machine = calibrated()
    contended = replace(machine, calibration=replace(machine.calibration, contended=True))
    assert width(made_of(contended, 400_000)) > width(made_of(machine, 400_000))


@pytest.mark.parametrize(
    ("changes", "regime"),
    [({"gathers": 1.0}, "irregular"), ({"calls": 1.0}, "calls"), ({"approximate": True}, "approx")],
)
def test_weak_loops_have_wide_intervals(changes: dict[str, object], regime: str) -> None:
    plain, weak = made_of(calibrated(), 100_000), made_of(calibrated(), 100_000, **changes)
    assert weak.seconds == plain.seconds
    assert width(weak) > width(plain)
    assert any(name.startswith(regime) for name in weak.uncertainty.shared)


def test_irregular_access_has_the_widest_and_says_so() -> None:
    found = made_of(calibrated(), 100_000, gathers=1.0)
    assert found.interval[1] > 2 * found.seconds
    assert any("gathers" in note for note in found.notes)


def test_short_parallel_steps_and_several_threads_are_less_sure() -> None:
    alone, short, long = (
        made_of(calibrated(), n, t) for n, t in ((2000, 1), (2000, 4), (200_000, 4))
    )
    assert "short" not in alone.uncertainty.shared
    assert short.uncertainty.shared["short"] > 2 * long.uncertainty.shared["short"]
    assert any("step this short" in note for note in short.notes)
    assert long.uncertainty.shared["threads"] > 0


def test_short_parallel_steps_are_half_as_unsure_at_100_us_as_at_none() -> None:
    """Common to all: the root of 0.7 of a variance of 0.3^2, and of 0.6 of 0.1^2 of threads."""
    for n in (2000, 20_000, 200_000):
        found = made_of(calibrated(), n, 4)
        share = 1 / (1 + (found.seconds / 100e-6) ** 2)
        shared = found.uncertainty.shared
        assert shared["short"] == pytest.approx(0.3 * 0.7**0.5 * share)
        assert shared["threads"] == pytest.approx(0.1 * 0.6**0.5)


def test_tiles_of_data_in_memory_are_less_sure_than_tiles_in_cache() -> None:
    tiled = program(Tiles(256, NodeBlock((sweep("lc", "0", "1"), sweep("up", "2", "0")))), Sync())
    near, far = (predict(calibrated(), tiled, n) for n in (20_000, 8_000_000))
    assert near.uncertainty.shared.get("tiles of memory", 0.0) < 0.01
    assert far.uncertainty.shared["tiles of memory"] > 0.1


def test_working_sets_at_a_border_are_less_sure() -> None:
    """Two rows of 128 KiB each fill L2 of 256 KiB."""
    made = engine(documented(exposed=0), program(sweep("lc", "0", "1")), MadeUp(0.1, 0.1))
    border, inside = made.predict([candidate(16384), candidate(9000)])
    assert border.uncertainty.shared["capacity"] > 0.05
    assert abs(inside.uncertainty.shared.get("capacity", 0.0)) < 1e-9


def test_crowded_sets_may_cost_nothing() -> None:
    made = sweep("lc", "0", *(str(k) for k in range(1, 9)))
    slow = predict(calibrated(), program(made, pad_lines=0), 65536)
    fast = predict(calibrated(), program(made, pad_lines=5), 65536)
    assert slow.interval[0] <= fast.seconds
    assert slow.uncertainty.shared["conflicts"] > 0.2


def test_no_interval_reaches_below_what_the_fastest_memory_takes() -> None:
    n = 40_000_000
    found = engine(documented(), program(sweep("lc", "0", "1")), MadeUp(0.0, 0.0)).predict(
        [candidate(n)]
    )[0]
    floor = 2 * n * 8 / 10e9
    assert found.interval[0] >= floor / np.exp(1.2816 * uncertainty.LEVEL_FILE) * (1 - 1e-9)


def test_a_common_figure_does_not_blur_the_order() -> None:
    """Two and three rows from memory: the bandwidth is a guess, but more rows take longer."""
    machine = documented(exposed=0)
    two, three = (
        predict(machine, program(sweep("lc", "0", *rows)), 8_000_000)
        for rows in (("1", "2", "3"), ("1", "2", "3", "4", "5"))
    )
    apart = odds(two, three)
    alone = np.log(three.seconds / two.seconds) / np.hypot(
        two.uncertainty.sigma, three.uncertainty.sigma
    )
    assert apart > 0.85
    assert apart > 0.5 * (1 + alone / 2), "far more than independent errors would leave"
    assert odds(three, two) == pytest.approx(1 - apart)
    assert odds(two, two) == 0.5


# --- figures that cannot be right -----------------------------------------------------------


def test_figures_that_contradict_are_told_and_widen() -> None:
    odd = documented(single=60e9)
    found = made_of(odd, 4_000_000)
    assert "memory bandwidth of one core lies above that of all" in found.notes
    assert found.interval[1] / found.seconds > 1.8
    machine = calibrated()
    curves = tuple(
        replace(curve, bandwidth=(*curve.bandwidth[:-2], 64, 64))
        for curve in machine.calibration.curves
    )
    wrong = replace(machine, calibration=replace(machine.calibration, curves=curves))
    told = made_of(wrong, 8_000_000)
    assert any("a figure must be wrong" in note for note in told.notes)
    assert width(told) > width(made_of(machine, 8_000_000))


def test_a_level_without_figures_nearby_widens() -> None:
    bare = replace(documented(exposed=0), memory=Memory())
    made = program(sweep("lc", "0", "1"))
    near = predict(bare, made, 500_000)  # two rows of 4 MB: all of L3
    assert near.seconds is not None
    assert near.uncertainty.shared["capacity"] == 0.5


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_times_that_are_no_numbers_are_null_with_the_reason(value: float) -> None:
    found = made_of(calibrated(), 1000, T_OL=value)
    assert (found.seconds, found.interval) == (None, None)
    assert "in-core time of sweep lc is not a number" in found.reason
    machine = calibrated()
    shares = dict.fromkeys(("L2", "L3", "MEM"), float("nan"))
    wrong = replace(machine, calibration=replace(machine.calibration, exposed=shares))
    assert "exposed share" in made_of(wrong, 400_000).reason
    stuck = replace(machine, calibration=replace(machine.calibration, barriers={2: value}))
    assert "barrier is not a number" in made_of(stuck, 400_000, 2).reason


def test_nothing_to_do_is_no_prediction() -> None:
    found = engine(calibrated(), program(sweep("lc", "0")), MadeUp(0.0, 0.0)).predict(
        [candidate(1000)]
    )[0]
    assert found.seconds is None
    assert "not a number above zero" in found.reason


def test_every_regime_has_a_meaning() -> None:
    for name, regime in uncertainty.REGIMES.items():
        assert 0 < regime.sigma <= 1, name
        assert 0 <= regime.common <= 1, name
        assert regime.meaning
    assert set(uncertainty.WEAK) <= set(uncertainty.REGIMES)
    assert ReuseEngine.name == "reuse"
