"""Waits for neighbours in the place of barriers: the same result, and no race without a wait."""

from dataclasses import replace

import numpy as np
import pytest
from codegen_build import (
    IVPS,
    SKELETON,
    Workshop,
    common,
    problem,
    reference,
    run,
    sources,
    state,
    variant,
)

from autotune.codegen import communication
from autotune.codegen.tree import loop_tree, variant_program
from autotune.codegen.tree.races import races
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.variant import (
    Contract,
    Fuse,
    FuseTiles,
    Hoist,
    Interchange,
    NeighbourSync,
    Pipeline,
    Tile,
    Transformation,
)
from autotune.measuring.verification import verify

STEPS = 20
FLAGS = NeighbourSync("neighbours")
JLI = Interchange("lc", ("j", "l", "i"))
LIMITED = [ivp for ivp in IVPS if problem(ivp, 101).ivp.limited]
SIZES = {"heat2d": 23, "brusselator2d-mix": 15, "heat3d": 11}


def agrees(workshop: Workshop, ivp: str, *transformations: Transformation) -> None:
    at = problem(ivp, SIZES.get(ivp, 801))
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    program = workshop.build(sources(variant(*transformations), at))
    for threads in (1, 2, 3, 7, 40):
        verdict = verify.judge(state(program, at, threads, STEPS), expected, fields)
        assert verdict.status == "ok", f"{ivp} {threads}: {verdict.detail}"


@pytest.mark.parametrize("ivp", [*LIMITED, "heat3d", "fitzhugh-nagumo", "brusselator2d-mix"])
def test_results_agree_with_the_reference(ivp: str, workshop: Workshop) -> None:
    agrees(workshop, ivp, JLI, FLAGS)
    agrees(workshop, ivp, JLI, FuseTiles("rhs", "lc", 64, "Y"), FLAGS)
    agrees(workshop, ivp, JLI, Fuse("approx", "update"), Pipeline("k", 64), FLAGS)


@pytest.mark.parametrize("order", ["ijl", "ilj", "jil", "lij", "lji"])
def test_every_order_agrees(order: str, workshop: Workshop) -> None:
    agrees(workshop, "wave1d", Interchange("lc", tuple(order)), FLAGS)
    if order[0] != "j":
        once = Hoist("rhs_first", "l")
        agrees(workshop, "wave1d", Interchange("lc", tuple(order)), Tile("lc", 64), once, FLAGS)
    agrees(workshop, "wave1d", Interchange("lc", tuple(order)), Pipeline("k", 8), FLAGS)


def test_around_the_ends_of_a_periodic_problem(workshop: Workshop) -> None:
    agrees(workshop, "advection", JLI, FLAGS)
    agrees(workshop, "advection", Interchange("lc", ("l", "i", "j")), FLAGS)


@pytest.mark.parametrize("size", [3, 4, 9])
def test_blocks_shorter_than_the_access_distance(size: int, workshop: Workshop) -> None:
    at = problem("heat2d", size)
    expected = reference(at, STEPS)
    program = workshop.build(sources(variant(JLI, FLAGS), at))
    for threads in (2, 5, 9):
        assert state(program, at, threads, STEPS) == pytest.approx(expected, rel=1e-12)


def test_a_program_without_its_waits_has_races() -> None:
    """Waits for threads that are not far enough apart are noticed as well."""
    at = problem("heat2d", 23)
    for changes in ((JLI,), (JLI, Fuse("approx", "update"), Pipeline("k", 64), Contract("F"))):
        made = variant_program.program(variant(*changes, FLAGS), SKELETON, at)
        assert not races(made)
        (lags,) = {wait.lags for wait in loop_tree.waits(made.body)}
        assert lags == loop_tree.stages(made.body)

        def less(block: loop_tree.NodeBlock, lags: int | None) -> loop_tree.NodeBlock:
            nodes: list[loop_tree.Node] = []
            for node in block.nodes:
                if isinstance(node, loop_tree.Wait):
                    nodes += [] if lags is None else [loop_tree.Wait(lags)]
                elif isinstance(node, loop_tree.LoopNode):
                    nodes.append(replace(node, body=less(node.body, lags)))
                else:
                    nodes.append(node)
            return loop_tree.NodeBlock(tuple(nodes))

        assert races(replace(made, body=less(made.body, None)))
        assert races(replace(made, body=less(made.body, lags - 1)))


def test_phases_show_the_waits(workshop: Workshop) -> None:
    at = problem("heat2d", 23)
    program = workshop.build(sources(variant(JLI, FLAGS), at), "-DAUTOTUNE_PHASES")
    done = run(program, "phases", *common(at, 2), "--samples", "3")
    assert done.returncode == 0, done.stderr
    assert '"name":"wait"' in done.stdout


@pytest.mark.parametrize(
    ("ivp", "reason"),
    [
        ("medakzo", "the access distance of medakzo is not limited"),
        ("flock", "access distance of flock is not limited|a sum of flock tells"),
    ],
)
def test_what_any_thread_may_read_is_refused(ivp: str, reason: str) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        sources(variant(FLAGS), problem(ivp, 201))


def test_other_companions_are_refused() -> None:
    with pytest.raises(ValueError, match="among neighbours, not among 'friends'"):
        NeighbourSync("friends")


def test_several_ranks_need_barriers() -> None:
    made = variant_program.program(variant(JLI, FLAGS), SKELETON, problem("heat2d", 23))
    assert "do not wait for the one that communicates" in str(communication.refusal(made))


def test_the_result_does_not_depend_on_the_threads(workshop: Workshop) -> None:
    at = problem("wave1d", 20011)
    program = workshop.build(sources(variant(JLI, Pipeline("k", 64), FLAGS), at), "-O2")
    alone = state(program, at, 1, 200)
    for threads in (2, 4, 16):
        assert np.array_equal(alone, state(program, at, threads, 200))
