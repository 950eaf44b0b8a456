"""Constants of a calibration that a study may shift: priors, bounds, round trips, undoing."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_nodes import KIB, MIB, calibrated, documented

from autotune.domain.calibration import Calibration, Constant, Refined
from autotune.domain.machine import Machine
from autotune.models.refinement.kept_refinement import with_refinement, without_refinement
from autotune.models.refinement.measured_rows import PredictionScore
from autotune.models.refinement.refinement_posterior import (
    ConstantChange,
    CrossValidation,
    Refinement,
)
from autotune.models.refinement.shifting_constants import (
    ShiftingConstant,
    limited_shifts,
    prior,
    shiftable_constants,
    shifted,
)

Z80 = 1.2816


def constant(value: float, low: float, high: float, unit: str = "cy") -> Constant:
    return Constant(value=value, low=low, high=high, unit=unit, source="probe", samples=5)


CONSTANTS = {
    "line_crossing": constant(2.0, 1.0, 4.0),
    "stream_start.L2": constant(1.0, 0.0, 5.0),
    "set_conflict": constant(0.0, 0.0, 0.0),
    "overlap_ol.L3": constant(0.5, 0.4, 0.6, "1"),
}


def measured(**changes: object) -> Machine:
    machine = calibrated(exposed=0.5)
    assert machine.calibration is not None
    made = replace(machine.calibration, constants=CONSTANTS)
    return replace(machine, calibration=replace(made, **changes))


def calibration_of(machine: Machine) -> Calibration:
    assert machine.calibration is not None
    return machine.calibration


def by_name(machine: Machine) -> dict[str, ShiftingConstant]:
    return {item.name: item for item in shiftable_constants(machine)}


def figure(kind: str, value: float) -> ShiftingConstant:
    return ShiftingConstant(name="x", kind=kind, value=value, sigma=0.1, unit="cy")


# --- one constant ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "shift", "expected"),
    [
        ("factor", math.log(2), 1.0),
        ("factor", -math.log(2), 0.25),
        ("share", 0.25, 0.75),
        ("share", 0.9, 1.0),
        ("share", -0.9, 0.0),
        ("amount", 7.0, 7.5),
        ("amount", -7.0, 0.0),
    ],
)
def test_a_constant_of_one_half_shifts_by_its_kind_within_its_bounds(
    kind: str, shift: float, expected: float
) -> None:
    assert figure(kind, 0.5).at(shift) == pytest.approx(expected)


@settings(max_examples=25, derandomize=True)
@given(
    kind=st.sampled_from(["factor", "share", "amount"]),
    value=st.floats(0.05, 0.95),
    other=st.floats(0.05, 0.95),
)
def test_the_shift_to_a_value_leads_to_that_value(kind: str, value: float, other: float) -> None:
    made = figure(kind, value)
    assert made.at(made.shift(other)) == pytest.approx(other)
    assert made.shift(value) == pytest.approx(0)


def test_an_interval_holds_80_percent() -> None:
    low, high = figure("factor", 2.0).interval(0.0, 0.1)
    assert (low, high) == pytest.approx((2 * math.exp(-0.12816), 2 * math.exp(0.12816)))
    assert figure("share", 0.95).interval(0.0, 0.1) == pytest.approx((0.95 - 0.12816, 1.0))


# --- those of a calibration -----------------------------------------------------------------------


def test_every_measured_constant_may_shift_those_at_zero_may_not() -> None:
    names = [f"inbound.{level}@{t}" for t in (1, 2, 4) for level in ("L2", "L3", "MEM")]
    names += ["barrier@2", "barrier@4", "exposed.L2", "exposed.L3", "exposed.MEM"]
    names += ["line_crossing", "overlap_ol.L3", "stream_start.L2"]
    assert list(by_name(measured())) == names


def test_a_machine_that_was_not_measured_has_none() -> None:
    with pytest.raises(ValueError, match="documented is not calibrated"):
        shiftable_constants(documented())


def test_a_bandwidth_is_the_geometric_mean_of_the_points_of_its_level() -> None:
    """L2: 128 and 256 KiB at 32; L3: 0.5, 2 and 8 MiB at 16 for one thread."""
    constants = by_name(measured())
    for name, value in (("L2", 32), ("L3", 16), ("MEM", 4)):
        assert constants[f"inbound.{name}@1"].value == pytest.approx(value)
    assert constants["inbound.L2@1"].within == (32 * KIB, 256 * KIB)
    assert constants["inbound.MEM@4"].within == (2 * MIB, math.inf), "four share the L3"
    between = constants["inbound.MEM@4"].value
    assert between == pytest.approx((16 * 2 * 2) ** (1 / 3)), "8 MiB lie beyond their share"


@pytest.mark.parametrize(
    ("spread", "contended", "sigma"),
    [
        (0.02, False, 0.05),  # sessions differ by more than one session repeats
        (0.2, False, 0.2 / 1.349),  # from the interquartile range
        (0.2, True, 0.2 / 1.349 + 0.15),
    ],
)
def test_the_prior_of_a_bandwidth_is_the_spread_of_its_repeats(
    spread: float, contended: bool, sigma: float
) -> None:
    curves = calibration_of(measured()).curves
    wide = tuple(replace(c, spread=(spread,) * len(c.spread)) for c in curves)
    constants = by_name(measured(curves=wide, contended=contended))
    assert constants["inbound.L2@1"].sigma == pytest.approx(sigma)


def test_priors_of_constants_come_from_their_intervals() -> None:
    constants = by_name(measured())
    assert constants["line_crossing"].kind == "factor"
    assert constants["line_crossing"].sigma == pytest.approx(math.log(4) / 2 / Z80)
    assert constants["stream_start.L2"].kind == "amount", "its interval reaches 0"
    assert constants["stream_start.L2"].sigma == pytest.approx(5 / 2 / Z80)
    assert constants["overlap_ol.L3"].kind == "share"
    assert constants["overlap_ol.L3"].sigma == pytest.approx(0.2 / 2 / Z80)
    assert constants["exposed.L2"].sigma == pytest.approx(0.1), "a share without an interval"
    assert constants["barrier@2"].sigma == pytest.approx(0.1), "a factor without an interval"


def test_an_earlier_refinement_is_the_prior_of_the_next() -> None:
    earlier = {
        "line_crossing": Refined(before=2, after=2, low=1.9, high=2.1, study="a"),
        "exposed.L2": Refined(before=0.5, after=0.5, low=0.45, high=0.55, study="a"),
        "exposed.L3": Refined(before=0.5, after=0.5, low=0.5, high=0.5, study="a"),
    }
    constants = by_name(measured(refined=earlier))
    assert constants["line_crossing"].sigma == pytest.approx(math.log(2.1 / 1.9) / 2 / Z80)
    assert constants["exposed.L2"].sigma == pytest.approx(0.1 / 2 / Z80)
    assert constants["exposed.L3"].sigma == pytest.approx(0.1), "an empty interval says nothing"


def test_bounds_of_the_prior_are_those_of_the_kinds() -> None:
    made = prior([figure("factor", 0.3), figure("share", 0.3), figure("amount", 0.3)])
    assert made.lower.tolist() == [-math.inf, -0.3, -0.3]
    assert made.upper.tolist() == [math.inf, 0.7, math.inf]
    assert made.sigma.tolist() == [0.1] * 3


# --- shifted calibrations -------------------------------------------------------------------------


def shift_by_name(machine: Machine, **shifts: float) -> Calibration:
    named = {name.replace("__", "@").replace("_of_", "."): s for name, s in shifts.items()}
    every = shiftable_constants(machine)
    assert set(named) <= {item.name for item in every}
    return shifted(calibration_of(machine), every, [named.get(item.name, 0.0) for item in every])


def test_a_bandwidth_shifts_within_its_level_and_its_threads_only() -> None:
    machine = measured()
    after = shift_by_name(machine, inbound_of_L3__1=math.log(1.5))
    assert after.curve(1).bandwidth == pytest.approx((64, 32, 32, 24, 24, 24, 4, 4))
    for threads in (2, 4):
        assert after.curve(threads) == calibration_of(machine).curve(threads)


def test_no_shift_is_the_same_calibration() -> None:
    machine = measured()
    assert shift_by_name(machine) is calibration_of(machine)


def test_a_level_is_held_at_the_next_inner_one() -> None:
    """L3 at 16 may not go above L2 at 32, and falls with it; memory follows none of them up."""
    every = shiftable_constants(measured())
    shifts = {"inbound.L3@1": math.log(4)}
    limited = limited_shifts(every, [shifts.get(item.name, 0.0) for item in every])
    after = {item.name: item.at(s) for item, s in zip(every, limited, strict=True)}
    assert after["inbound.L3@1"] == pytest.approx(32)
    assert after["inbound.MEM@1"] == pytest.approx(4)
    fallen = limited_shifts(
        every, [math.log(1 / 4) if item.name == "inbound.L2@1" else 0 for item in every]
    )
    after = {item.name: item.at(s) for item, s in zip(every, fallen, strict=True)}
    assert (after["inbound.L2@1"], after["inbound.L3@1"]) == pytest.approx((8, 8))
    assert after["inbound.L3@2"] == pytest.approx(16), "other threads have curves of their own"


def test_a_share_is_held_at_its_bounds_by_the_shift_that_reaches_them() -> None:
    """What a fit would shift beyond 1 shifts by as much as is left."""
    after = shift_by_name(measured(), exposed_of_L2=3.0, exposed_of_L3=-3.0, overlap_ol_of_L3=9.0)
    assert (after.exposed["L2"], after.exposed["L3"], after.exposed["MEM"]) == (1, 0, 0.5)
    assert after.constants["overlap_ol.L3"].value == 1


def test_intervals_move_along_with_their_constants() -> None:
    after = shift_by_name(
        measured(), line_crossing=math.log(3), stream_start_of_L2=1.0, overlap_ol_of_L3=0.4
    )
    crossing, start, share = (
        after.constants[name] for name in ("line_crossing", "stream_start.L2", "overlap_ol.L3")
    )
    assert (crossing.low, crossing.value, crossing.high) == pytest.approx((3, 6, 12))
    assert (start.low, start.value, start.high) == pytest.approx((0, 2, 10))
    assert (share.low, share.value, share.high) == pytest.approx((0.72, 0.9, 1.0))
    assert after.constants["set_conflict"] == CONSTANTS["set_conflict"]


def test_an_amount_that_was_zero_has_an_interval_that_holds_the_new_one() -> None:
    machine = measured(constants={"stream_start.L2": constant(0.0, 0.0, 4.0)})
    after = shift_by_name(machine, stream_start_of_L2=9.0).constants["stream_start.L2"]
    assert (after.low, after.value, after.high) == (0, 9, 9)


def test_barriers_shift_at_their_number_of_threads() -> None:
    after = shift_by_name(measured(), barrier__4=math.log(2))
    assert after.barriers == pytest.approx({2: 5e-7, 4: 2e-6})


# --- kept and undone ------------------------------------------------------------------------------


NOTHING = PredictionScore(rows=0, problems=0, deviation=0.0, tau=None, pairs=None, losses={})


def refinement(machine: Machine, study: str = "heat", **shifts: float) -> Refinement:
    """A refinement that shifts some constants and leaves the others alone."""
    every = shiftable_constants(machine)
    named = {name.replace("__", "@").replace("_of_", "."): s for name, s in shifts.items()}
    limited = limited_shifts(every, [named.get(item.name, 0.0) for item in every])
    changes = []
    for item, shift in zip(every, limited, strict=True):
        value = item.at(shift)
        informed = not math.isclose(value, item.value)
        changes.append(
            ConstantChange(
                figure=item,
                before=(item.value, item.value * 0.8, item.value * 1.2),
                after=(value, value * 0.9, value * 1.1),
                informed=informed,
                variance=0.5 if informed else 1.0,
                moved=0,
                effect=0.0,
            )
        )
    return Refinement(
        study=study,
        calibration=shifted(calibration_of(machine), every, limited),
        changes=tuple(changes),
        error=0.05,
        inside=CrossValidation(name=study, before=NOTHING, after=NOTHING),
        outside=(),
        total=None,
        basis="",
        core=None,
        kernels={},
        verdict="unscored",
        reasons=(),
    )


def test_a_refinement_is_recorded_with_what_was_before() -> None:
    machine = measured()
    kept = with_refinement(refinement(machine, exposed_of_L2=0.25), calibration_of(machine), "now")
    assert set(kept.refined) == {"exposed.L2"}
    record = kept.refined["exposed.L2"]
    assert (record.before, record.after) == (0.5, 0.75)
    assert (record.low, record.high) == pytest.approx((0.675, 0.825))
    assert (record.before_low, record.before_high) == pytest.approx((0.4, 0.6))
    assert (record.study, record.taken) == ("heat", "now")
    assert kept.exposed["L2"] == 0.75


def test_a_second_refinement_remembers_what_was_measured_first() -> None:
    machine = measured()
    kept = with_refinement(refinement(machine, exposed_of_L2=0.25), calibration_of(machine), "one")
    again = replace(machine, calibration=kept)
    twice = with_refinement(refinement(again, "wave", exposed_of_L2=-0.5), kept, "two")
    record = twice.refined["exposed.L2"]
    assert (record.before, record.after) == (0.5, 0.25)
    assert (record.study, record.taken) == ("heat, wave", "two")
    assert without_refinement(replace(machine, calibration=twice)).exposed["L2"] == 0.5


@settings(max_examples=8, derandomize=True)
@given(shifts=st.lists(st.floats(-1, 1), min_size=17, max_size=17))
def test_undoing_gives_back_what_was_measured(shifts: list[float]) -> None:
    machine = measured()
    names = [item.name for item in shiftable_constants(machine)]
    keys = {name: name.replace("@", "__").replace(".", "_of_") for name in names}
    chosen = {keys[name]: shift for name, shift in zip(names, shifts, strict=True)}
    before = calibration_of(machine)
    kept = with_refinement(refinement(machine, **chosen), before, "now")
    back = without_refinement(replace(machine, calibration=kept))
    for old, new in zip(before.curves, back.curves, strict=True):
        assert new.bandwidth == pytest.approx(old.bandwidth)
    assert back.barriers == pytest.approx(before.barriers)
    assert back.exposed == pytest.approx(before.exposed)
    for name, item in CONSTANTS.items():
        assert back.constants[name].value == pytest.approx(item.value)
    assert not back.refined


def test_undoing_gives_back_levels_that_were_measured_out_of_order() -> None:
    """A host whose L3 was measured faster than its L2, until a study put them in order."""
    machine = measured()
    curves = calibration_of(machine).curves
    odd = replace(curves[0], bandwidth=(64, 16, 16, 17, 17, 17, 4, 4))
    machine = measured(curves=(odd, *curves[1:]))
    made = refinement(
        machine, inbound_of_L2__1=math.log(20 / 16), inbound_of_L3__1=math.log(18 / 17)
    )
    kept = with_refinement(made, calibration_of(machine), "now")
    assert kept.curve(1).bandwidth == pytest.approx((64, 20, 20, 18, 18, 18, 4, 4))
    back = without_refinement(replace(machine, calibration=kept))
    assert back.curve(1).bandwidth == pytest.approx(odd.bandwidth)


def test_a_calibration_without_a_refinement_is_as_it_was_measured() -> None:
    assert without_refinement(measured()) == calibration_of(measured())
    assert np.isfinite([item.sigma for item in shiftable_constants(measured())]).all()
