"""Costs of lines with measured constants: which constant goes where, for which threads."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from sample_nodes import KIB, MIB, calibrated, documented

from autotune.domain.calibration import BandwidthCurve, Constant
from autotune.domain.machine import Machine
from autotune.models.engines.reuse.line_constants import calibrated_costs
from autotune.models.engines.reuse.line_cost import line_costs

Z80 = 1.2816
LEVELS = ("L2", "L3", "MEM")
Figures = Mapping[str, float | tuple[float, float, float]]
"""Constant to its value, alone or with its interval."""


def constant(figure: float | tuple[float, float, float]) -> Constant:
    value, low, high = figure if isinstance(figure, tuple) else (figure, figure, figure)
    return Constant(value=value, low=low, high=high, unit="cy", source="probe", samples=5)


def measured(figures: Figures, **changes: object) -> Machine:
    machine = calibrated()
    assert machine.calibration is not None
    constants = {name: constant(figure) for name, figure in figures.items()}
    return replace(
        machine, calibration=replace(machine.calibration, constants=constants, **changes)
    )


def by_level(name: str, *values: float) -> dict[str, float]:
    return {f"{name}.{level}": value for level, value in zip(LEVELS, values, strict=False)}


def same_costs(first: Machine, second: Machine, threads: int) -> bool:
    distances = np.geomspace(1024, 1e9, 40)
    a, b = calibrated_costs(first, threads), line_costs(second, threads)
    level = a.level(distances)
    return a.inbound(distances, level).tolist() == b.inbound(distances, level).tolist()


def test_a_machine_without_measurements_has_the_costs_of_its_file() -> None:
    bare = calibrated_costs(documented(), 2)
    assert same_costs(documented(), documented(), 2)
    assert (bare.handed, bare.reclaim, bare.crossing, bare.fastest) == (0, 0, 0, 0)
    assert bare.stored is None
    assert bare.stream_start is None
    assert bare.arithmetic is None


def test_a_calibration_without_constants_changes_no_price() -> None:
    machine = measured({})
    for threads in (1, 2, 4):
        assert same_costs(machine, machine, threads)
    costs = calibrated_costs(machine, 1)
    assert costs.outlinks.tolist() == [0, 0, 0]
    assert (costs.handed, costs.reclaim, costs.crossing, costs.loop_entry) == (0, 0, 0, 0)
    assert costs.conflict is None
    assert costs.crowding is None
    assert costs.between == pytest.approx(0.3), "never below what transfers between cores vary"


def test_single_figures_are_taken_as_they_are() -> None:
    costs = calibrated_costs(
        measured(
            {
                "line_crossing": 1.5, "loop_entry": 30.0, "predicted_exit": 12.0,
                "set_conflict": 9.0, "load_again": 4.0, "again_loop": 16.0, "vector_load.32": 0.5,
                "vector_mixed.16": 0.2,
            }
        ),
        1,
    )  # fmt: skip
    assert (costs.load_again, costs.again_loop, costs.vector) == (4, 16, 32)
    assert (costs.crossing, costs.loop_entry, costs.exit, costs.conflict) == (1.5, 30, 12, 9)


def test_a_measured_price_of_nothing_is_a_price() -> None:
    assert calibrated_costs(measured({"set_conflict": 0.0}), 1).conflict == 0.0


@pytest.mark.parametrize(("threads", "value"), [(1, 10), (2, 20), (3, 40), (4, 40), (9, 40)])
def test_constants_are_those_of_the_nearest_number_of_threads(threads: int, value: float) -> None:
    machine = measured({"loop_entry": 10.0, "loop_entry@2": 20.0, "loop_entry@4": 40.0})
    assert calibrated_costs(machine, threads).loop_entry == value


# --- by level -----------------------------------------------------------------------------------


def test_outbound_lines_cost_their_links_one_after_the_other() -> None:
    """Measured as wholes, 2 to L2, 5 to L3, 9 to memory: links of 2, 3 and 4."""
    costs = calibrated_costs(measured(by_level("outbound", 2.0, 5.0, 9.0)), 1)
    assert costs.outlinks.tolist() == [2, 3, 4]
    assert costs.outbound(np.array([0, 1, 2, 3])).tolist() == [0, 2, 5, 9]


def test_figures_of_some_levels_only_are_not_used() -> None:
    machine = measured(
        by_level("outbound", 2.0, 5.0)
        | by_level("overlap_ol", 0.5)
        | by_level("stream_start", 1.0, 2.0)
    )
    costs = calibrated_costs(machine, 1)
    assert costs.outlinks.tolist() == [0, 0, 0]
    assert costs.arithmetic is None
    assert costs.stream_start is None


def test_shares_and_starts_begin_behind_the_innermost_cache() -> None:
    machine = measured(
        by_level("overlap_ol", 0.1, 0.2, 0.3) | by_level("stream_start", 5.0, 15.0, 40.0)
    )
    costs = calibrated_costs(machine, 1)
    assert costs.arithmetic is not None
    assert costs.stream_start is not None
    assert costs.arithmetic.tolist() == [0, 0.1, 0.2, 0.3]
    assert costs.stream_start.tolist() == [0, 5, 15, 40]


def test_stored_lines_cost_a_multiple_of_lines_that_are_read_there() -> None:
    """Lines read in the middle of a level: 4 cycles in L3 (16 B/cy), 16 in memory (4 B/cy).

    The middle of L2, between 32 and 256 KiB, lies 2.5 / 3 of the way from 64 B/cy at 16 KiB to half
    of it at 128 KiB.
    """
    costs = calibrated_costs(measured(by_level("allocate", 3.0, 8.0, 40.0)), 1)
    assert costs.stored is not None
    assert costs.stored.tolist() == pytest.approx([1, 3 / 2 ** (2.5 / 3), 8 / 4, 40 / 16])


# --- transfers between cores ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("figure", "middle"),
    [
        ((100.0, 100.0, 100.0), 100.0),
        ((100.0, 64.0, 144.0), 96.0),  # sqrt(64 * 144)
        ((100.0, 1.0, 400.0), 100.0),  # no mode lies below a quarter of the value
        ((100.0, 0.0, 400.0), 100.0),
    ],
)
def test_lines_of_other_cores_take_the_geometric_middle_of_their_modes(
    figure: tuple[float, float, float], middle: float
) -> None:
    machine = measured({"core_to_core": figure, "ownership": (50.0, 25.0, 100.0)})
    costs = calibrated_costs(machine, 2)
    assert costs.handed == pytest.approx(middle)
    assert costs.reclaim == pytest.approx(50)


@pytest.mark.parametrize(
    ("figures", "sigma"),
    [
        ({"core_to_core": (100.0, 90.0, 110.0)}, 0.3),  # the least
        ({"core_to_core": (100.0, 50.0, 400.0)}, math.log(8) / 2 / Z80),
        ({"core_to_core": (100.0, 1.0, 400.0)}, math.log(16) / 2 / Z80),
        (
            {"core_to_core": (100.0, 90.0, 110.0), "ownership": (10.0, 5.0, 40.0)},
            math.log(8) / 2 / Z80,
        ),
        ({"ownership": (0.0, 0.0, 40.0)}, 0.3),  # no factor around nothing
    ],
)
def test_their_uncertainty_is_that_of_the_wider_interval(figures: Figures, sigma: float) -> None:
    assert calibrated_costs(measured(figures), 2).between == pytest.approx(sigma)


# --- several streams ------------------------------------------------------------------------------


def several(threads: int, streams: int, factor: float) -> BandwidthCurve:
    """A curve of several streams, whose bandwidth is that of one times a factor."""
    machine = calibrated()
    assert machine.calibration is not None
    alone = machine.calibration.curve(threads)
    return replace(
        alone, streams=streams, bandwidth=tuple(factor * float(b) for b in alone.bandwidth)
    )


def crowded() -> Machine:
    machine = calibrated()
    assert machine.calibration is not None
    curves = (*machine.calibration.curves, several(1, 4, 0.5), several(1, 16, 0.25))
    return measured({}, curves=curves)


@pytest.mark.parametrize(
    ("streams", "factor"),
    [(1, 1.0), (2, 0.5**0.5), (4, 0.5), (8, 0.5 * 0.5**0.5), (16, 0.25), (64, 0.25)],
)
def test_streams_side_by_side_share_less_than_one_has(streams: int, factor: float) -> None:
    """Measured for 4 and 16 streams; between, along the logarithm of their number."""
    costs = calibrated_costs(crowded(), 1)
    assert costs.crowding is not None
    distance = np.array([[100.0 * KIB, 4.0 * MIB, 100.0 * MIB]])
    alone = costs.measured(distance)
    together = costs.measured(distance, np.array([float(streams)]))
    assert together == pytest.approx(alone * factor)


def test_streams_are_counted_at_their_number_of_threads_only() -> None:
    assert calibrated_costs(crowded(), 2).crowding is None
    assert calibrated_costs(crowded(), 1).crowding is not None


def test_the_fastest_bandwidth_of_memory_is_that_of_any_number_of_streams() -> None:
    machine = calibrated()
    assert machine.calibration is not None
    faster = measured({}, curves=(*machine.calibration.curves, several(1, 8, 1.5)))
    assert calibrated_costs(faster, 1).fastest == pytest.approx(6.0)
    assert calibrated_costs(crowded(), 1).fastest == pytest.approx(4.0)
    assert calibrated_costs(crowded(), 4).fastest == pytest.approx(2.0)


# --- placements ---------------------------------------------------------------------------------


def test_scattered_threads_have_the_constants_of_those_in_their_domain() -> None:
    """Eight cores in two domains of four: four threads scattered are two and two."""
    machine = replace(
        measured({"loop_entry": 10.0, "loop_entry@2": 20.0, "loop_entry@4": 40.0}), cores=8
    )
    assert calibrated_costs(machine, 4).loop_entry == 40
    assert calibrated_costs(machine, 4, "scatter").loop_entry == 20


@pytest.mark.parametrize(("share", "shared"), [(16 * MIB, False), (3 * MIB, True)])
def test_the_last_cache_ends_where_the_bandwidth_falls_whatever_its_size(
    share: int, shared: bool
) -> None:
    """Two threads that each find 16 MiB share no cache of 8 MiB; two that find 3 MiB do."""
    sizes = (32 * KIB, 512 * KIB, 2 * MIB, share // 2, share, 2 * share, 8 * share)
    sizes = tuple(sorted(set(sizes)))
    rates = tuple(16.0 if size < share else 8.0 if size == share else 4.0 for size in sizes)
    curve = BandwidthCurve(
        threads=2, working_set=sizes, bandwidth=rates, spread=(0.0,) * len(sizes)
    )
    machine = measured({}, curves=(curve,))
    found, stated = calibrated_costs(machine, 2).borders, line_costs(machine, 2).borders
    assert found[:-1].tolist() == stated[:-1].tolist()
    assert found[-1] == pytest.approx(share)
    assert (found[-1] < stated[-1]) == shared


def test_a_curve_without_a_fall_leaves_the_border_of_the_file() -> None:
    sizes = (32 * KIB, 512 * KIB, 64 * MIB)
    flat = BandwidthCurve(threads=1, working_set=sizes, bandwidth=(8.0,) * 3, spread=(0.0,) * 3)
    machine = measured({}, curves=(flat,))
    assert calibrated_costs(machine, 1).borders.tolist() == line_costs(machine, 1).borders.tolist()


def test_cycles_of_the_core_and_late_threads_are_those_of_the_number_of_threads() -> None:
    both: Figures = {"core_cycle@2": 1.0, **by_level("waiting", 0.01, 0.02, 0.04)}
    both = {name if "@" in name else f"{name}@2": value for name, value in both.items()}
    both |= {f"{name}@2": value for name, value in by_level("exposed", 0.3, 0.4, 0.5).items()}
    figures: Figures = {"core_cycle": 0.75, **by_level("exposed", 0.0, 0.1, 0.2), **both}
    one, two = (calibrated_costs(measured(figures), threads) for threads in (1, 2))
    assert (one.core_cycle, two.core_cycle) == (0.75, 1.0)
    assert two.waiting is not None
    assert two.waiting.tolist() == [0.0, 0.01, 0.02, 0.04]
    assert two.exposed.tolist() == [0.0, 0.3, 0.4, 0.5]
    assert one.exposed.tolist() == line_costs(measured(figures), 1).exposed.tolist()
