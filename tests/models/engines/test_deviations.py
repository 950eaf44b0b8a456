"""Standard deviations of figures, assumptions about transfers, contradictions: by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sample_nodes import KIB, MIB, calibrated, documented

from autotune.domain.calibration import Calibration, Constant
from autotune.domain.machine import UNVERIFIED, Machine
from autotune.models.engines.reuse.line_cost import line_costs
from autotune.models.engines.reuse.time_model import (
    CorePassTimes,
    OverlapRules,
    TransferSums,
    row_cycles,
)
from autotune.models.engines.reuse.uncertainty import (
    ParameterDeviations,
    assumptions,
    changes,
    contradictions,
    crowding,
    parameter_deviations,
    reaching,
    width,
    with_conflicts,
)
from autotune.models.traffic import POSITIONS
from autotune.units import BytesPerCycle

RULES = OverlapRules(exposed=np.array([0.5, 1.0, 0.2]))
Z80 = 1.2816


def deviations(
    machine: Machine, threads: int = 1, rules: OverlapRules = RULES
) -> ParameterDeviations:
    return parameter_deviations(machine, line_costs(machine, threads), rules, threads)


def calibration() -> Calibration:
    found = calibrated().calibration
    assert found is not None
    return found


def measured(changed: Calibration) -> Machine:
    return replace(calibrated(), calibration=changed)


def test_figures_of_a_file_are_unsure_by_three_tenths_and_more_where_unverified() -> None:
    plain = deviations(documented())
    assert plain.levels.tolist() == [0.30, 0.30, 0.30]
    assert (plain.measured, plain.spans) == (False, True)
    assert (plain.outbound, plain.foreign) == (False, False)
    assert (plain.clock, plain.barrier) == (0.0, 0.7)
    for source, doubted in (("caches.L3", 1), ("caches.L3.inbound", 1), ("memory.saturated", 2)):
        doubtful = replace(documented(), sources={source: f"a guess {UNVERIFIED}"})
        expected = [0.45 if k == doubted else 0.30 for k in range(3)]
        assert deviations(doubtful).levels.tolist() == expected


def test_without_measurements_overlap_may_be_anything() -> None:
    made = deviations(documented())
    assert made.low.exposed.tolist() == [0.0, 0.0, 0.0]
    assert made.high.exposed.tolist() == [1.0, 1.0, 1.0]
    assert (made.low.serial_stores, made.high.serial_stores) == (False, True)


def test_a_measured_bandwidth_is_as_sure_as_its_samples_and_loops_allow() -> None:
    """0.02 between the quartiles, beside the 4 % by which loops differ."""
    made = deviations(calibrated(), 2)
    assert made.levels == pytest.approx([math.hypot(0.04, 0.02 / 1.349)] * 3)
    assert (made.measured, made.spans, made.foreign) == (True, False, True)
    assert made.clock == pytest.approx(0.01 / 1.349)
    assert made.barrier == 0.3
    other = deviations(calibrated(), 3)
    assert other.levels == pytest.approx(made.levels + 0.15)


def test_the_widest_sample_within_a_level_counts() -> None:
    """256 KiB and less are of L2, 8 MiB and less of L3, the rest of memory."""
    spread = (0.0, 0.1, 0.3, 0.2, 0.4, 0.5, 0.6, 2.0)
    curves = tuple(replace(curve, spread=spread) for curve in calibration().curves)
    made = deviations(measured(replace(calibration(), curves=curves)))
    expected = [math.hypot(0.04, s / 1.349) for s in (0.3, 0.5)]
    assert made.levels == pytest.approx([*expected, 0.9])


def test_what_was_measured_among_others_is_less_sure() -> None:
    quiet, busy = (
        deviations(calibrated()),
        deviations(measured(replace(calibration(), contended=True))),
    )
    assert busy.levels == pytest.approx(quiet.levels + 0.15)
    assert busy.barrier == pytest.approx(0.45)
    assert busy.clock == pytest.approx(quiet.clock + 0.05)
    assert deviations(measured(replace(calibration(), barriers={}))).barrier == 0.7


def test_exposed_shares_reach_a_quarter_or_as_far_as_their_interval() -> None:
    made = deviations(calibrated())
    assert made.low.exposed == pytest.approx([0.25, 0.75, 0.0])
    assert made.high.exposed == pytest.approx([0.75, 1.0, 0.45])
    assert (made.low.serial_stores, made.high.serial_stores) == (False, False)
    spans = {"exposed.L2": (0.3, 0.7), "exposed.L3": (0.9, 0.91)}
    constants = {
        name: Constant(value=low, low=low, high=high, unit="", source="probe", samples=5)
        for name, (low, high) in spans.items()
    }
    known = deviations(measured(replace(calibration(), constants=constants, exposed={})))
    assert known.high.exposed[0] == pytest.approx(0.5 + 0.4 / (2 * Z80), abs=1e-4)
    assert known.low.exposed[1] == pytest.approx(1.0 - 0.1)  # at least a tenth


def test_figures_that_contradict_others_are_named() -> None:
    assert contradictions(documented(), line_costs(documented(), 1)) == {}
    above = documented(saturated=40e9, peak=30e9)
    assert contradictions(above, line_costs(above, 1)) == {
        "MEM": "memory bandwidth of the machine file lies above its peak"
    }
    alone = documented(saturated=10e9, single=20e9)
    assert contradictions(alone, line_costs(alone, 1)) == {
        "MEM": "memory bandwidth of one core lies above that of all"
    }
    assert deviations(alone).contradicted.tolist() == [0.0, 0.0, 1.0]
    equal = documented(saturated=20e9, single=20e9, peak=20e9)
    assert contradictions(equal, line_costs(equal, 1)) == {}


def test_a_level_that_costs_less_than_the_one_before_is_named() -> None:
    """L3 at 100 B/cy beside L2 at 64: 5 % less is still allowed."""
    machine = documented(exposed=0.0)
    l1, l2, l3 = machine.caches
    faster = replace(
        machine,
        caches=(
            l1,
            replace(l2, inbound=BytesPerCycle(20.0)),
            replace(l3, inbound=BytesPerCycle(100.0)),
        ),
    )
    assert contradictions(faster, line_costs(faster, 1)) == {}  # all links of the path add up
    curves = tuple(
        replace(curve, bandwidth=(64, 32, 32, 64, 64, 64, 4, 4))  # type: ignore[arg-type]
        for curve in calibration().curves
    )
    wrong = measured(replace(calibration(), curves=curves))
    assert list(contradictions(wrong, line_costs(wrong, 1))) == ["L3"]


@pytest.mark.parametrize(
    ("approximate", "stated", "half"),
    [(False, None, 0.1), (True, None, 0.3), (True, 0.25, 0.25), (False, 0.5, 0.5)],
)
def test_an_in_core_time_is_as_sure_as_stated(
    approximate: bool, stated: float | None, half: float
) -> None:
    assert width(approximate, stated) == pytest.approx(half / Z80, rel=1e-4)


def test_an_interval_reaches_to_the_farther_of_two_changes() -> None:
    less, more = np.array([-0.5, -0.1, 0.0, -1.0]), np.array([0.2, 0.5, 0.0, 0.0])
    expected = [math.log(2), math.log(1.5), 0.0, math.log(100)]
    assert reaching(less, more) * Z80 == pytest.approx(expected, rel=1e-4)


def test_every_figure_is_assumed_off_once() -> None:
    made = deviations(documented())
    assumed = assumptions(RULES, made)
    assert [assumption.name for assumption in assumed] == [
        "stated", "L2", "L3", "MEM", "smaller", "larger", "more overlap", "less overlap",
    ]  # fmt: skip
    assert assumed[0].levels.tolist() == [1.0, 1.0, 1.0]
    assert assumed[2].levels.tolist() == [1.0, 1.3, 1.0]
    assert assumed[-2].rules is made.low
    assert assumed[-1].rules is made.high
    outlinks = replace(made, outbound=True, foreign=True)
    assert [a.name for a in assumptions(RULES, outlinks)][4:6] == ["outbound", "foreign"]


def transfers(rows: int, passes: int, beside: bool) -> TransferSums:
    cells = np.arange(1.0, rows * passes + 1).reshape(rows, passes)
    return TransferSums(
        total=cells, waited=cells / 8, exposed=cells / 2, beside=cells / 4 if beside else None
    )


@pytest.mark.parametrize("arithmetic", [None, np.array([0.1, 0.2, 0.3])])
def test_conflicts_add_their_lines_to_every_row(arithmetic: np.ndarray | None) -> None:
    rules = replace(RULES, arithmetic=arithmetic)
    made = deviations(documented(), rules=rules)
    every = assumptions(rules, made)
    rows = POSITIONS + len(every)
    data = transfers(rows, 2, beside=arithmetic is not None)
    conflicts = np.array([[1.0, 0.0], [2.0, 5.0], [0.0, 7.0]])
    added = with_conflicts(data, conflicts, rules, made)
    for row in range(rows):
        assumption = every[max(0, row - POSITIONS)]
        scaled = assumption.levels[:, None] * conflicts
        exposed = (assumption.rules.exposed[:, None] * scaled).sum(axis=0)
        assert added.total[row] == pytest.approx(data.total[row] + scaled.sum(axis=0))
        assert added.exposed[row] == pytest.approx(data.exposed[row] + exposed)
        if arithmetic is None:
            assert added.beside is None
        else:
            assert added.beside is not None
            assert data.beside is not None
            more = (arithmetic[:, None] * scaled).sum(axis=0)
            assert added.beside[row] == pytest.approx(data.beside[row] + more)


def core() -> CorePassTimes:
    return CorePassTimes(
        T_OL=np.array([4.0, 1.0]), T_nOL=np.array([2.0, 3.0]),
        stored=np.zeros(2), entry=np.array([0.1, 0.3]),
        across=np.array([99.0, 99.0]), waiting=np.array([0.1, 0.1]), again=np.zeros(2),
    )  # fmt: skip


def test_changes_are_those_of_the_assumptions_then_of_the_core_and_of_events() -> None:
    data = transfers(POSITIONS + 3, 2, beside=False)
    rows = np.arange(2.0 * (POSITIONS + 3)).reshape(-1, 2) ** 2
    rows[POSITIONS] = row_cycles(core(), data.row(POSITIONS))[0]
    changed = changes(core(), np.array([0.5, 0.25]), data, rows)
    assert changed.shape == (4, 2)
    assert changed[:2] == pytest.approx(rows[POSITIONS + 1 :] - rows[POSITIONS])
    slower = replace(core(), T_OL=np.array([6.0, 1.25]), T_nOL=np.array([3.0, 3.75]))
    off = row_cycles(slower, data.row(POSITIONS))[0] - rows[POSITIONS]
    assert changed[2] == pytest.approx(off)
    none = replace(core(), across=np.zeros(2))
    late = rows[POSITIONS] - row_cycles(none, data.row(POSITIONS))[0]
    assert changed[3] == pytest.approx(0.5 * (core().entry + late))
    assert late.min() > 0


@pytest.mark.parametrize("arithmetic", [None, np.array([0.1, 0.2, 0.3])])
def test_a_crowded_pass_takes_between_nothing_more_and_all_its_lines_again(
    arithmetic: np.ndarray | None,
) -> None:
    rules = replace(RULES, arithmetic=arithmetic)
    data = transfers(POSITIONS + 1, 2, beside=arithmetic is not None)
    conflicts = np.array([[1.0, 0.0], [2.0, 5.0], [0.0, 7.0]])
    without, crowded = crowding(core(), data, conflicts, rules)
    row = data.row(POSITIONS)
    assert without == pytest.approx(row_cycles(core(), row)[0])
    beside = None
    if arithmetic is not None:
        assert row.beside is not None
        beside = row.beside + (arithmetic[:, None] * conflicts).sum(axis=0)
    more = TransferSums(
        total=row.total + conflicts.sum(axis=0),
        waited=row.waited,
        exposed=row.exposed + (RULES.exposed[:, None] * conflicts).sum(axis=0),
        beside=beside,
    )
    assert crowded == pytest.approx(row_cycles(core(), more)[0])


def test_sizes_of_the_sample_machine() -> None:
    """What the tests above count on."""
    assert line_costs(calibrated(), 1).borders.tolist() == [32 * KIB, 256 * KIB, 8 * MIB]
