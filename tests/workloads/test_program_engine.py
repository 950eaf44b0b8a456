"""Engine program, route by route: what a stated model gives, how sure, and why it gives none."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from program_samples import MARKED, candidates, read, written
from sample_nodes import KIB, MIB, calibrated, documented

from autotune.domain.calibration import Z80
from autotune.domain.problem import ProgramProblem
from autotune.domain.program_model import FormulaModel, KerncraftModel, KernelModel
from autotune.domain.results import Part, Prediction, Uncertainty
from autotune.domain.variant import Candidate
from autotune.files import config
from autotune.language.constraint import Condition
from autotune.models.engines.reuse.evaluation_pieces import ThreadPlacement
from autotune.models.incore.base import InCoreResult
from autotune.workloads.program.engine.formula_facts import FormulaValues
from autotune.workloads.program.engine.formula_model import FormulaRoute
from autotune.workloads.program.engine.kerncraft_kernel import KerncraftRoute
from autotune.workloads.program.engine.kernel_model import KernelRoute, ModelSubject
from autotune.workloads.program.engine.marked_model import MarkedRoute
from autotune.workloads.program.engine.program_engine import (
    NO_MODEL,
    STATED,
    ProgramEngine,
    finished,
    scaled,
    unknown,
)
from autotune.workloads.program.engine.stated_flows import LoopWork, StatedStream, flows
from autotune.workloads.program.engine.stated_node import StatedCase, evaluated


def result():
    """A loop of half a cycle an iteration."""
    return InCoreResult(
        T_OL=0.5, T_nOL=0.25, chain=0.5, bottleneck="port 0", iterations=4, route="osaca:HSW",
        approximate=False, vector=32, loads=1.0, stores=0.0,
    )  # fmt: skip


def prediction(seconds=2.0, interval=(1.0, 4.0), **more):
    values = {"parts": (Part(sweep="a", kind="sweep", seconds=seconds),), "engine": "x"}
    return Prediction(seconds=seconds, interval=interval, reason="r", **{**values, **more})


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program without a model: arguments n = 512, blocks of 8, 64 and 512, two modes."""
    return read(written(tmp_path_factory.mktemp("program"), ""))


def formulas(**terms):
    return {name: Condition(str(text)) for name, text in terms.items()}


# --- what is stated, and how sure it is -------------------------------------------------------


def test_a_prediction_without_a_time_says_why():
    made = unknown("no loop")
    assert (made.seconds, made.reason, made.engine) == (None, "no loop", "program")
    assert finished(made, 0.3) is made
    assert scaled(made, 5.0) is made


def test_half_of_the_variance_of_a_stated_model_is_common_to_its_candidates():
    made = finished(prediction(interval=None), 0.3)
    assert made.uncertainty is not None
    sigma = math.log(1.3) / Z80
    assert made.uncertainty.shared == {STATED: pytest.approx(sigma / math.sqrt(2))}
    assert made.uncertainty.independent == pytest.approx(sigma / math.sqrt(2))
    assert made.interval == (pytest.approx(2.0 / 1.3), pytest.approx(2.0 * 1.3))


def test_what_no_loop_holds_is_added_as_a_part_and_dilutes_the_doubt():
    doubt = Uncertainty(shared={"memory": 0.4}, independent=0.3)
    made = finished(prediction(uncertainty=doubt), 0.0, extra=2.0)
    assert made.seconds == 4.0
    assert made.parts[-1] == Part(sweep="extra", kind="sweep", seconds=2.0, kernel="extra")
    assert made.uncertainty is not None
    assert made.uncertainty.shared["memory"] == pytest.approx(0.2)
    assert made.uncertainty.independent == pytest.approx(0.15)


@given(st.floats(0.0, 2.0), st.floats(0.0, 10.0))
def test_the_interval_holds_the_time_and_widens_with_the_stated_accuracy(accuracy, extra):
    made, wider = (finished(prediction(), a, extra) for a in (accuracy, accuracy + 0.1))
    assert made.interval is not None
    assert wider.interval is not None
    low, high = made.interval
    assert low <= 2.0 + extra <= high
    assert wider.interval[0] <= low
    assert high <= wider.interval[1]


def test_several_runs_take_so_many_times_as_long():
    made = scaled(prediction(), 3.0)
    assert (made.seconds, made.interval) == (6.0, (3.0, 12.0))
    assert made.parts[0].seconds == 6.0
    assert scaled(prediction(interval=None), 3.0).interval is None


# --- the engine -------------------------------------------------------------------------------


def test_candidates_without_a_program_or_a_model_have_a_reason(program):
    def route(_):
        raise AssertionError("no route is needed")

    asked = candidates(program)[:1]
    assert ProgramEngine(route).predict(asked)[0].reason == NO_MODEL
    stencil = config.load("configs/stencil7.yaml").problems[0]
    other = replace(asked[0], problem=stencil)
    made = ProgramEngine(route).predict([other, asked[0]])
    assert [m.reason for m in made] == ["this is no external program", NO_MODEL]


def test_each_program_has_one_route_and_predictions_keep_their_order(program):
    modelled = replace(program, model=FormulaModel(terms=formulas(a="n")))
    asked, routes = candidates(modelled), []

    class Route:
        name = "program"

        def predict(self, candidates):
            return [prediction(float(c.variant.parameters["block"]), None) for c in candidates]

    def route(given):
        routes.append(given.name)
        return Route()

    engine = ProgramEngine(route)
    for _ in range(2):
        made = engine.predict(list(reversed(asked)))
        blocks = [float(c.variant.parameters["block"]) for c in reversed(asked)]
        assert [m.seconds for m in made] == blocks
        assert {m.engine for m in made} == {"program"}
    assert len(routes) == 1


# --- formulas ---------------------------------------------------------------------------------


def by_formula(program, **terms):
    model = FormulaModel(terms=formulas(**terms), accuracy=0.2)
    return FormulaRoute(model, FormulaValues(documented())).predict(candidates(program)[:1])[0]


def test_a_formula_is_the_sum_of_its_terms_with_a_part_each(program):
    made = by_formula(program, read="n / 1000", idle="0", write="3 * n / 1000")
    assert made.seconds == pytest.approx(2.048)
    assert [(p.sweep, p.seconds) for p in made.parts] == [
        ("read", pytest.approx(0.512)), ("write", pytest.approx(1.536)),
    ]  # fmt: skip
    assert made.reason == "by formulas: write 75 %; read 25 %; idle 0 %"
    assert made.notes == ("by a formula, stated to 20 %",)
    assert by_formula(program, formula="n").reason == "by its formula"


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        ({"a": "0"}, "the formula gives 0 s, which is no time"),
        ({"a": "-1"}, "the formula gives no time: a = -1 is -1, below 0"),
        ({"a": "mode"}, "the formula gives no time: 'mode' is 'fast', not a number"),
        ({"a": "bandwidth_L4"},
         "the formula gives no time: the machine documented has no figure for bandwidth_L4"),
    ],
)  # fmt: skip
def test_a_formula_that_gives_no_time_says_why(program, terms, reason):
    made = by_formula(program, **terms)
    assert (made.seconds, made.reason) == (None, reason)


@given(st.integers(1, 64))
def test_a_formula_grows_with_its_terms(factor):
    values = {"n": 512, "threads": 1}
    facts = FormulaValues(documented())
    once = facts.amount(Condition("n / 8"), values)
    assert facts.amount(Condition(f"{factor} * n / 8"), values) == factor * once


# --- kernels in kerncraft's C -----------------------------------------------------------------


class Refusing:
    """An analyser that has a reason in place of each model."""

    def __init__(self):
        self.texts = []

    def analyse(self, texts):
        self.texts += texts
        return [f"cannot read {text!r}" for text in texts]


def kerncraft(**change):
    values = {
        "file": "k-{block}.c", "names": ("block",), "texts": {(8,): "eight", (64,): "sixty-four"},
        "iterations": Condition("n"),
    } | change  # fmt: skip
    return KerncraftModel(**values)


@pytest.mark.parametrize(
    ("change", "reasons"),
    [
        ({}, ["k-{block}.c: cannot read 'eight'", "k-{block}.c: cannot read 'sixty-four'",
              "there is no kernel k-{block}.c for these parameters"]),
        ({"iterations": Condition("0")}, ["the model gives no iterations"] * 2
         + ["there is no kernel k-{block}.c for these parameters"]),
        ({"workers": Condition("0")}, ["workers = 0 is 0, below 1"] * 2
         + ["there is no kernel k-{block}.c for these parameters"]),
        ({"constants": formulas(N="0")}, ["N = 0 is 0, below 1"] * 2
         + ["there is no kernel k-{block}.c for these parameters"]),
    ],
    ids=range(4),
)  # fmt: skip
def test_a_kernel_that_cannot_be_analysed_has_its_reason(program, change, reasons):
    analyser = Refusing()
    route = KerncraftRoute(kerncraft(**change), documented(), analyser, FormulaValues(documented()))
    fast = [c for c in candidates(program) if c.variant.parameters["mode"] == "fast"]
    assert [made.reason for made in route.predict(fast)] == reasons
    assert len(set(analyser.texts)) == len(analyser.texts)


def test_each_text_is_analysed_once(program):
    analyser = Refusing()
    route = KerncraftRoute(kerncraft(), documented(), analyser, FormulaValues(documented()))
    for _ in range(2):
        route.predict(candidates(program))
    assert sorted(analyser.texts) == ["eight", "sixty-four"]


# --- kernels of the kernel files --------------------------------------------------------------


class Recording:
    """An engine that predicts a microsecond for each point, and keeps what it was asked."""

    name = "recording"

    def __init__(self):
        self.asked: list[Candidate] = []

    def predict(self, candidates):
        self.asked += candidates
        return [prediction(1e-6 * c.problem.n, None) for c in candidates]


def stencil_route(engine, **change):
    values = {
        "stencil": "star3d-7pt.yaml", "size": (Condition("n / 8"),), "space": "s",
        "times": Condition("10"), "extra": Condition("0.5"),
    } | change  # fmt: skip
    stencil = config.stencil("star3d-7pt")
    subject = ModelSubject(generated=config.generated("stencil-blocks"), stencil=stencil)
    return KernelRoute(KernelModel(**values), subject, engine, FormulaValues(documented()))


def test_a_stencil_takes_so_many_sweeps_over_its_grid(program):
    engine = Recording()
    (made,) = stencil_route(engine).predict(candidates(program)[:1])
    (asked,) = engine.asked
    assert asked.problem.extents == (64, 64, 64)
    assert dict(asked.variant.parameters) == dict(config.generated("stencil-blocks").space.baseline)
    assert made.seconds == pytest.approx(10 * 1e-6 * 64**3 + 0.5)
    assert made.parts[-1].sweep == "extra"


def test_a_grid_may_have_a_size_in_each_dimension(program):
    engine = Recording()
    size = tuple(Condition(text) for text in ("16", "n / 16", "n"))
    stencil_route(engine, size=size).predict(candidates(program)[:1])
    assert engine.asked[0].problem.extents == (16, 32, 512)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"times": Condition("0")}, "the model gives no time steps"),
        ({"size": (Condition("0"),)}, "size = 0 is 0, below 1"),
        ({"extra": Condition("-1")}, "extra = -1 is -1, below 0"),
    ],
)
def test_a_kernel_without_steps_or_points_says_so(program, change, reason):
    engine = Recording()
    made = stencil_route(engine, **change).predict(candidates(program)[:2])
    assert [m.reason for m in made] == [reason] * 2
    assert engine.asked == []


def test_a_value_that_the_space_does_not_have_is_named(program):
    name = next(iter(config.generated("stencil-blocks").space.parameters))
    engine = Recording()
    route = stencil_route(engine, parameters=formulas(**{name: "12345"}))
    (made,) = route.predict(candidates(program)[:1])
    assert made.reason == f"{name} = 12345 is no value of the space stencil-blocks"


# --- stated loops -----------------------------------------------------------------------------


def work(name="inner", iterations=1e6, run=None, bytes_=8.0, distance=math.inf, access="read"):
    stream = StatedStream(name="x", bytes=bytes_, distance=distance, access=access)
    return LoopWork(
        name=name, iterations=iterations, run=run or iterations, alike=1.0, streams=(stream,)
    )


def test_loops_become_passes_of_a_flow_each_in_its_own_region():
    made = flows([[work("a"), work("b")], [work("c")]], [0.0, 3.0], 2, 64)
    assert made.sweep.tolist() == [0, 1, 0]
    assert made.executions.region_flow.tolist() == [0, 0, 1]
    assert made.passes.tolist() == [0, 2, 3]
    assert made.barriers.tolist() == [0.0, 3.0]
    assert made.team.tolist() == [2.0, 2.0]
    assert made.lines.tolist() == [8 / 64] * 3
    assert made.owner.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("access", "stores", "written"),
    [("read", False, False), ("write", True, True), ("update", False, True)],
)
def test_a_stream_that_is_written_leaves_again(access, stores, written):
    made = flows([[work(access=access, distance=100.0)]], [0.0], 1, 64)
    assert made.history.stores.tolist() == [stores]
    assert np.isnan(made.outward).all() == (not written)
    assert (made.history.distance == 100.0).all()


def test_a_loop_that_is_entered_again_jumps_after_each_run():
    made = flows([[work(run=100.0), work()]], [0.0], 1, 64)
    assert made.shared.tolist() == [True, False]
    assert made.jump.tolist() == [100.0, np.inf]
    assert made.run.tolist() == [100.0, 1e6]


def test_arrays_of_one_name_are_one_stream():
    twice = replace(work(), streams=work().streams * 2)
    assert (twice.crowd, work().crowd, replace(work(), streams=()).crowd) == (1, 1, 1)


def on_node(machine, *cases):
    spread = ThreadPlacement(1, "compact")
    return evaluated(machine, spread, [StatedCase(*case) for case in cases])


def test_a_loop_whose_lines_come_from_memory_takes_longer_than_one_from_a_cache():
    core = result()
    made = on_node(
        calibrated(exposed=1.0),
        *(((work(distance=d),), (core,), 0.0) for d in (1 * KIB, 128 * KIB, 2 * MIB, math.inf)),
    )
    seconds = [m.seconds for m in made]
    assert seconds == sorted(seconds)
    assert seconds[0] < seconds[-1]
    assert "inner, 100 % of the run: x from MEM takes" in made[-1].reason
    assert ": work in core" in made[0].reason
    assert "volumes and reuse distances are as the model states them" in made[0].notes


def test_twice_the_iterations_take_twice_as_long():
    once, twice = on_node(
        calibrated(),
        ((work(iterations=1e6),), (result(),), 0.0),
        ((work(iterations=2e6),), (result(),), 0.0),
    )
    assert twice.seconds == pytest.approx(2 * once.seconds, rel=1e-3)


def test_seconds_outside_of_all_loops_count_in_the_shares_only():
    (made,) = on_node(calibrated(), ((work(),), (result(),), 0.0, 1.0))
    assert "extra: " in made.reason
    (bare,) = on_node(calibrated(), ((work(),), (result(),), 0.0))
    assert made.seconds == bare.seconds


def test_a_machine_without_the_figure_gives_no_time_and_names_it():
    machine = documented()
    caches = (machine.caches[0], replace(machine.caches[1], inbound=None), machine.caches[2])
    (made,) = on_node(
        replace(machine, caches=caches), ((work(distance=128 * KIB),), (result(),), 0.0)
    )
    assert made.seconds is None
    assert "L2" in made.reason


# --- marked loops -----------------------------------------------------------------------------


class Compiled:
    """Gives the same result for every loop, or a reason."""

    def __init__(self, reason=""):
        self.reason = reason

    def of(self, requests):
        return [self.reason or tuple(result() for _ in r.loops) for r in requests]


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    return read(written(tmp_path_factory.mktemp("marked"), MARKED))


def marked_route(program, compiled, machine=None, **change):
    machine = machine or calibrated()
    model = replace(program.model, **change)
    return MarkedRoute(model, machine, compiled, FormulaValues(machine))


def test_marked_loops_are_predicted_by_what_is_compiled_and_what_is_stated(marked):
    made = marked_route(marked, Compiled()).predict(candidates(marked))
    assert all(m.seconds is not None for m in made)
    assert all(m.engine == "program" for m in made)
    assert {part.sweep for part in made[0].parts} >= {"inner"}


def test_loops_that_are_not_compiled_have_their_reason(marked):
    made = marked_route(marked, Compiled("gcc is missing")).predict(candidates(marked)[:2])
    assert [m.reason for m in made] == ["gcc is missing"] * 2
    assert marked_route(marked, Compiled("no")).loops(candidates(marked)[0]) == ()


def test_a_loop_without_iterations_does_not_run(marked):
    loop = replace(marked.model.loops[0], iterations=Condition("0"))
    (made,) = marked_route(marked, Compiled(), loops=(loop,)).predict(candidates(marked)[:1])
    assert made.reason == "no loop of the model has iterations"
    wrong = replace(loop, iterations=Condition("-n"))
    (made,) = marked_route(marked, Compiled(), loops=(wrong,)).predict(candidates(marked)[:1])
    assert made.reason == "iterations of inner = -n is -512, below 0"


def test_the_compiled_loops_of_a_candidate_are_told_by_name(marked):
    (loop,) = marked_route(marked, Compiled()).loops(candidates(marked)[0])
    assert (loop.sweep, loop.kernel, loop.result) == ("inner", "inner", result())


def test_the_arguments_of_a_problem_go_into_the_formulas(marked):
    route = marked_route(marked, Compiled())
    small, large = (route.predict(candidates(marked, n=n)[:1])[0] for n in (256, 512))
    assert isinstance(candidates(marked)[0].problem, ProgramProblem)
    assert large.seconds / small.seconds == pytest.approx(8, rel=0.2)
