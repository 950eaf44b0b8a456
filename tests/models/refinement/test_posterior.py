"""Constants planted in the engine itself are found again; what is not observed stays."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_nodes import calibrated

from autotune.codegen.c.emit import SweepCode
from autotune.codegen.tree.loop_tree import (
    Assign,
    NodeBlock,
    Repeat,
    StepProgram,
    StoredRow,
    Sweep,
    SweepStretch,
    Sync,
)
from autotune.domain.calibration import Calibration, Constant
from autotune.domain.machine import Machine
from autotune.domain.problem import ButcherTableau, Ivp, Problem, Region
from autotune.domain.variant import Build, Candidate, ExecutionLayout, Variant
from autotune.language.expression import Num, Sym, parse
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.incore.base import InCoreResult
from autotune.models.refinement import (
    MeasuredCandidate,
    Predict,
    Refinement,
    refine,
    shiftable_constants,
    shifted,
    with_refinement,
    without_refinement,
)
from autotune.models.refinement.posterior_fit import RefinementData, ShiftPrior, fit

EULER = ButcherTableau(name="e", title="", order=1, A=((1,),), b=(1,), c=(1,), source="")


def ivp(name: str) -> Ivp:
    return Ivp(
        name=name,
        title="",
        source="",
        dimension=Sym("N"),
        constants={},
        access_distance=Num(0),
        limited=True,
        regions=(Region(lower=Num(0), upper=Sym("n"), body=parse("-y[j]")),),
        initial=(Region(lower=Num(0), upper=Sym("n"), body=Num(1)),),
        stability=Num(1),
    )


def sweep(name: str, target: int, *reads: int) -> Sweep:
    rows = [("out", StoredRow("R", Num(target)))]
    rows += [(f"p{k}", StoredRow("R", Num(read))) for k, read in enumerate(reads)]
    value = parse(" + ".join(f"p{k}[j]" for k in range(len(reads))))
    stretch = SweepStretch(Num(0), Sym("n"), (Assign("out", value),))
    return Sweep(name=name, kernel=name[:2], rows=tuple(rows), scalars=(), stretches=(stretch,))


def program(rows: int, repeats: int) -> StepProgram:
    """Many rows in one sweep, or few rows often: what counts differs."""
    first = sweep("lc", 0, *range(1, rows + 1))
    body = (Repeat("k", 0, repeats, NodeBlock((first, Sync(), sweep("rh", 1, 0), Sync()))),)
    return StepProgram(body=NodeBlock(body), arrays=(("R", rows + 1),), pad_lines=5, stages=1)


PROGRAMS = {
    f"r{rows}x{repeats}": program(rows, repeats) for rows in (2, 4, 7) for repeats in (1, 3)
}


class Cores:
    """Light loops, and heavier ones for the second of the kernels."""

    def analyse(self, codes: Sequence[SweepCode], build: Build) -> list[InCoreResult]:
        return [
            InCoreResult(
                T_OL=0.3,
                T_nOL=0.4,
                chain=0.0,
                bottleneck="port 0",
                iterations=8,
                route="made up",
                approximate=False,
            )
            for _ in codes
        ]


def candidates(kernels: Sequence[str], sizes: Sequence[int]) -> list[Candidate]:
    return [
        Candidate(
            variant=Variant(skeleton="s", transformations=(), parameters={"shape": shape}),
            problem=Problem(ivp=ivp(kernel), method=EULER, correctors=1, size=size),
            layout=ExecutionLayout(threads=1),
        )
        for kernel in kernels
        for size in sizes
        for shape in PROGRAMS
    ]


def predictor(machine: Machine, wanted: Sequence[Candidate]) -> Predict:
    engine = ReuseEngine(
        machine,
        lambda c: PROGRAMS[str(c.variant.parameters["shape"])],
        Cores(),
        lambda s: SweepCode(name=s.name, function=s.name, text=f"{s.name}{len(s.rows)}"),
    )

    def predict(calibration: Calibration, core: float) -> np.ndarray:
        found = engine.on(replace(machine, calibration=calibration)).predict_arrays(wanted)
        return found.seconds * core**0.5

    return predict


@pytest.fixture(scope="module")
def machine() -> Machine:
    found = calibrated(exposed=0.5)
    rough = [replace(c, spread=(0.2,) * len(c.spread)) for c in found.calibration.curves]
    return replace(found, calibration=replace(found.calibration, curves=tuple(rough)))


def rows_of(wanted: Sequence[Candidate], times: Sequence[float]) -> list[MeasuredCandidate]:
    return [
        MeasuredCandidate(candidate=c, seconds=float(t), noise=0.01)
        for c, t in zip(wanted, times, strict=True)
    ]


def planted(machine: Machine, **shifts: float) -> Calibration:
    known = shiftable_constants(machine)
    named = {name.replace("__", "."): shift for name, shift in shifts.items()}
    return shifted(machine.calibration, known, [named.get(f.name, 0.0) for f in known])


@pytest.fixture(scope="module")
def found(machine: Machine) -> Refinement:
    """What a study says whose machine has a faster L2 and an L3 that overlaps less."""
    wanted = candidates(("one", "two"), (12_000, 40_000))
    predict = predictor(machine, wanted)
    true = planted(machine, **{"inbound.L2@1": np.log(1.3), "exposed.L3": 0.1})
    noise = np.random.default_rng(1).normal(0, 0.01, len(wanted))
    return refine(
        "planted", machine, rows_of(wanted, predict(true, 1.0) * np.exp(noise)), [], predict
    )


def test_planted_constants_lie_within_their_posterior_intervals(found: Refinement) -> None:
    changes = {change.figure.name: change for change in found.changes}
    for name, true in (("inbound.L2@1", 32 * 1.3), ("exposed.L3", 0.6), ("inbound.L3@1", 16)):
        value, low, high = changes[name].after
        assert abs(value - true) <= 0.8 * (high - low), (name, changes[name].after)
        assert changes[name].informed
        before = changes[name].before
        assert high - low < before[2] - before[1]


def test_constants_that_nothing_was_measured_of_keep_their_prior(found: Refinement) -> None:
    changes = {change.figure.name: change for change in found.changes}
    for name in ("inbound.MEM@1", "inbound.L2@2", "barrier@2", "exposed.MEM"):
        assert not changes[name].informed
        assert changes[name].after == changes[name].before
        assert changes[name].variance == 1


def test_it_is_scored_on_the_kernel_that_was_left_out(found: Refinement) -> None:
    assert [each.name for each in found.outside] == ["one", "two"]
    assert found.total.after.deviation < found.total.before.deviation / 2
    assert found.verdict == "better"
    assert found.core.low < 1 < found.core.high


def test_a_study_that_misleads_is_worse_outside_and_says_so(machine: Machine) -> None:
    """Another kernel asks for the opposite: what one teaches makes the other worse."""
    wanted = candidates(("one",), (12_000, 40_000)) + candidates(("two",), (12_000, 40_000))
    half = len(wanted) // 2
    predict = predictor(machine, wanted)
    slow = predict(planted(machine, **{"inbound.L2@1": -0.3, "inbound.L3@1": -0.3}), 1.0)
    fast = predict(planted(machine, **{"inbound.L2@1": 0.3, "inbound.L3@1": 0.3}), 1.0)
    times = np.concatenate([slow[:half], fast[half:]])
    rows = rows_of(wanted, times)
    found = refine("torn", machine, rows, [], predict)
    assert found.verdict == "worse"
    assert any("median deviation worse" in reason for reason in found.reasons)
    alone = refine(
        "torn", machine, rows_of(wanted, times)[:half], rows_of(wanted, times)[half:], predict
    )
    assert alone.verdict == "worse"
    assert alone.basis.startswith("another study")


def test_one_problem_cannot_be_scored_and_few_rows_are_refused(machine: Machine) -> None:
    wanted = candidates(("one",), (12_000,))
    more = [*wanted, *wanted]
    predict = predictor(machine, more)
    times = predict(machine.calibration, 1.0)
    assert refine("small", machine, rows_of(more, times), [], predict).verdict == "unscored"
    with pytest.raises(ValueError, match="at least 8"):
        refine("tiny", machine, rows_of(wanted, times[: len(wanted)]), [], predict)


def test_what_is_noted_can_be_undone(machine: Machine, found: Refinement) -> None:
    kept = with_refinement(found, machine.calibration, "2026-01-01T00:00:00+00:00")
    assert set(kept.refined) == {c.figure.name for c in found.changes if c.informed}
    refined = replace(machine, calibration=kept)
    again = {figure.name: figure for figure in shiftable_constants(refined)}
    for change in found.changes:
        assert again[change.figure.name].value == pytest.approx(change.after[0])
        if change.informed:
            assert again[change.figure.name].sigma < change.figure.sigma
    back = without_refinement(refined)
    assert not back.refined
    for old, new in zip(machine.calibration.curves, back.curves, strict=True):
        assert new.bandwidth == pytest.approx(old.bandwidth)
    assert back.exposed == pytest.approx(machine.calibration.exposed)


def test_a_level_that_is_held_at_a_slower_inner_one_is_noted_and_undone(machine: Machine) -> None:
    wanted = candidates(("one", "two"), (12_000,))
    predict = predictor(machine, wanted)
    true = planted(machine, **{"inbound.L2@1": -1.2})
    slow = refine("slow", machine, rows_of(wanted, predict(true, 1.0)), [], predict)
    kept = with_refinement(slow, machine.calibration, "2026-01-01T00:00:00+00:00")
    old, new = machine.calibration.curve(1).bandwidth, kept.curve(1).bandwidth
    assert new[3] < old[3]  # L3, of which the study says nothing, is no faster than L2
    assert "inbound.L3@1" in kept.refined
    back = without_refinement(replace(machine, calibration=kept))
    assert back.curve(1).bandwidth == pytest.approx(old)


@given(st.lists(st.floats(-3, 3), min_size=14, max_size=14))
@settings(max_examples=30, deadline=None)
def test_figures_never_leave_their_physical_bounds(shifts: list[float]) -> None:
    machine = calibrated(exposed=0.5)
    known = shiftable_constants(machine)
    calibration = shifted(machine.calibration, known, shifts[: len(known)])
    after = {
        figure.name: figure
        for figure in shiftable_constants(replace(machine, calibration=calibration))
    }
    assert all(0 <= share <= 1 for share in calibration.exposed.values())
    assert all(seconds > 0 for seconds in calibration.barriers.values())
    for threads in (1, 2, 4):
        levels = [after[f"inbound.{level}@{threads}"].value for level in ("L2", "L3", "MEM")]
        assert levels[0] * (1 + 1e-9) >= levels[1]
        assert levels[1] * (1 + 1e-9) >= levels[2]


def test_constants_with_intervals_shift_by_factor_or_amount() -> None:
    machine = calibrated(exposed=0.5)
    made = {
        "line_crossing": Constant(
            value=1.0, low=0.8, high=1.25, unit="cy", source="probe", samples=5
        ),
        "stream_start.L2": Constant(
            value=0.0, low=0.0, high=4.0, unit="cy", source="probe", samples=5
        ),
        "exposed.L2": Constant(value=0.5, low=0.3, high=0.7, unit="1", source="probe", samples=5),
    }
    machine = replace(machine, calibration=replace(machine.calibration, constants=made))
    known = {figure.name: figure for figure in shiftable_constants(machine)}
    assert known["line_crossing"].kind == "factor"
    assert known["stream_start.L2"].kind == "amount"
    assert known["exposed.L2"].sigma == pytest.approx(0.2 / 1.2816)
    moved = {"line_crossing": np.log(2), "stream_start.L2": 3.0, "exposed.L2": -0.4}
    found = shifted(machine.calibration, tuple(known.values()), [moved.get(n, 0.0) for n in known])
    assert found.constants["line_crossing"].value == pytest.approx(2)
    span = found.constants["line_crossing"]
    assert (span.low, span.high) == pytest.approx((1.6, 2.5)), "the interval moves along"
    assert found.constants["stream_start.L2"].value == pytest.approx(3)
    assert found.exposed["L2"] == pytest.approx(0.1)
    assert found.constants["exposed.L2"].value == pytest.approx(0.1)


def test_an_outlier_moves_the_fit_less_than_a_quarter_of_its_pull() -> None:
    slopes = np.ones((20, 1))
    data = RefinementData(
        logs=np.zeros(20), noise=np.full(20, 0.01), groups=("a",) * 10 + ("b",) * 10
    )
    prior = ShiftPrior(sigma=np.array([1.0]), lower=np.array([-9.0]), upper=np.array([9.0]))
    spoiled = replace(data, logs=np.concatenate([[2.0], np.zeros(19)]))
    found = fit(lambda x: slopes @ x, spoiled, prior)
    assert abs(found.shift[0]) < 2.0 / 20 / 4
    assert found.weight[0] < 0.1
