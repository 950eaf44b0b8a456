"""Many cases at once: the same as one by one, equal things once, arrays as predictions say."""

import numpy as np
import pytest
from made_programs import STEP, Broken, MadeUp, candidate, code, engine, program, sweep
from sample_nodes import calibrated, documented

from autotune.codegen.tree.loop_tree import NodeBlock, Repeat, Sync, Tiles
from autotune.models.engines.reuse import flatten
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.traffic import analyse

TILED = program(Tiles(256, NodeBlock((sweep("lc", "0", "1"), sweep("up", "2", "0")))), Sync())
CROWDED = program(sweep("lc", "0", *(str(k) for k in range(1, 9))), pad_lines=0)
PROGRAMS = {"a": program(*STEP), "b": TILED, "c": CROWDED}


def space():
    return [
        candidate(n, threads, name)
        for name in PROGRAMS
        for n in (1000, 65536, 400_000)
        for threads in (1, 2, 3)
    ]


def fresh(machine=None) -> ReuseEngine:
    return ReuseEngine(
        machine or calibrated(),
        lambda c: PROGRAMS[str(c.variant.parameters["name"])],
        MadeUp(),
        code,
    )


@pytest.mark.parametrize("machine", [calibrated(), documented()])
def test_arrays_say_what_predictions_say(machine) -> None:
    asked = space()
    made = fresh(machine)
    arrays, told = made.predict_arrays(asked), made.predict(asked)
    assert arrays.seconds.tolist() == pytest.approx([p.seconds for p in told])
    assert arrays.low.tolist() == pytest.approx([p.interval[0] for p in told])
    assert arrays.high.tolist() == pytest.approx([p.interval[1] for p in told])
    sigma = [p.uncertainty.sigma for p in told]
    assert arrays.doubts.sigma == pytest.approx(sigma)
    assert not arrays.reasons
    assert np.isfinite(arrays.doubts.terms).all()


def test_asked_again_and_in_other_company_the_arrays_are_the_same() -> None:
    asked = space()
    made = fresh()
    made.predict(asked[::3])
    first = made.predict_arrays(asked)
    assert made.predict_arrays(asked).seconds.tolist() == first.seconds.tolist()
    turned = made.predict_arrays(asked[::-1])
    assert turned.high.tolist() == pytest.approx(first.high[::-1].tolist(), rel=1e-12)
    assert fresh().predict_arrays(asked).low.tolist() == pytest.approx(first.low.tolist())


def test_other_figures_of_a_machine_share_the_analysis() -> None:
    asked = space()
    analyser = MadeUp()
    first = ReuseEngine(calibrated(), lambda _: PROGRAMS["a"], analyser, code)
    first.predict(asked)
    seen = len(analyser.seen)
    other = first.on(calibrated(exposed=1))
    assert other.predict(asked) == engine(calibrated(exposed=1), PROGRAMS["a"]).predict(asked)
    assert len(analyser.seen) == seen
    with pytest.raises(ValueError, match="other caches"):
        first.on(
            type(first.machine)(
                **{
                    name: getattr(first.machine, name)
                    for name in first.machine.__dataclass_fields__
                    if name != "caches"
                },
                caches=first.machine.caches[:2],
            )
        )


def test_where_it_cannot_say_the_arrays_have_a_reason() -> None:
    made = engine(calibrated(), program(*STEP), Broken())
    arrays = made.predict_arrays([candidate()])
    assert np.isnan([arrays.seconds[0], arrays.low[0], arrays.high[0]]).all()
    assert "not installed" in arrays.reasons[0]


def test_passes_that_repeat_are_one() -> None:
    """Ten corrector steps on two buffers: from the third on they are as those before."""
    step = (sweep("lc", "0", "1", "2"), Sync(), sweep("rh", "1", "0"), Sync())

    def passes(count: int) -> tuple[int, float]:
        made = program(Repeat("k", 0, count, NodeBlock(step)), sweep("up", "2", "1"), Sync())
        flows = flatten.flows([analyse(made, candidate(50_000).problem, 1, calibrated())], 8)
        done = flows.executions
        moved = done.count * done.times[done.cell_region[done.entry_cell]]
        return len(flows.sweep), float(moved.sum())

    few, many = passes(4), passes(10)
    assert few[0] == many[0]
    assert many[1] - few[1] == 6 * 2 * 50_000


def test_streams_that_only_add_up_to_the_same_are_not_equal() -> None:
    """Two rows at distances a and b, and two at c and d with a + b = c + d."""
    values = np.array([[1e4, 3e4], [2e4, 2e4]])
    sums = flatten._scattered(values.ravel()).reshape(2, 2).sum(axis=1)
    assert values.sum(axis=1)[0] == values.sum(axis=1)[1]
    assert sums[0] != sums[1]


def test_joined_flows_stay_apart() -> None:
    made, problem = program(sweep("lc", "0", "1"), Sync()), candidate(5000).problem
    flows = flatten.flows([analyse(made, problem, t, calibrated()) for t in (1, 2)], 8)
    both = flows.joined(flows)
    assert len(both.team) == 2 * len(flows.team)
    assert both.passes[-1] == len(both.sweep)
    assert both.executions.entry.max() == len(both.sweep) - 1
    assert both.executions.cell_region.max() == len(both.executions.times) - 1


def test_passes_of_equal_cost_are_computed_once() -> None:
    """Sizes beyond all caches differ in their distances, not in the cycles of their tiles."""
    asked = [candidate(1 << k, 1, "b") for k in (21, 22, 23)]
    made, alone = fresh(documented()), fresh(documented())
    made.predict_arrays(asked)
    alone.predict_arrays(asked[:1])
    (spread,) = made._analysed.teams
    node, single = (
        e._evaluator.node(spread, e._analysed.teams[spread].parts) for e in (made, alone)
    )
    assert len(node.flows.work) == 3 * len(single.flows.work)
    assert len(node.flows.run) == len(single.flows.run)


def test_works_are_equal_to_the_last_bit() -> None:
    """A distance may lie on the border of a cache."""
    near = np.full((2, 8), 32768.0)
    near[1, 3] = np.nextafter(near[1, 3], np.inf)
    kinds, lines = np.zeros((2, 4)), np.full(2, 0.125)
    for signature in flatten._stream_signatures(flatten._scattered(near), near, kinds, lines):
        assert signature[0] != signature[1]
