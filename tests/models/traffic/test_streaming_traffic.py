"""Lines stored past the caches: written once, never read for it, and in no cache afterwards."""

from dataclasses import replace

import numpy as np
import pytest

from autotune.codegen.tree import variant_program
from autotune.domain.problem import Problem, StencilProblem
from autotune.domain.variant import (
    Block,
    Contract,
    Fuse,
    Interchange,
    Pipeline,
    StreamStores,
    Transformation,
    Variant,
)
from autotune.files import config
from autotune.models.traffic.stream_records import StepTraffic
from autotune.models.traffic.traffic_analyser import analyse

MACHINE = config.machine("generic-x86-64")
SKELETON = config.skeleton("jacobi")
STREAM = StreamStores("sweep")


def traffic(
    extents: tuple[int, ...], *changes: Transformation, architecture: str = "x86_64"
) -> StepTraffic:
    at = StencilProblem(stencil=config.stencil("star3d-7pt"), extents=extents)
    variant = Variant(skeleton="jacobi", transformations=changes, parameters={})
    program = variant_program.program(variant, SKELETON, at)
    return analyse(program, at, 1, replace(MACHINE, architecture=architecture))


def stored(made: StepTraffic) -> tuple[float, float]:
    """Lines of v that a sweep reads only to write them, and lines of v that go out."""
    (record,) = made.records()
    streams = [s for s in record.streams if s.kind == "store"]
    points = record.iterations
    return points * sum(s.lines for s in streams), points * sum(s.outbound for s in streams)


def test_whole_lines_go_out_and_none_comes_in() -> None:
    """64 x 64 rows of 126 points behind a ghost: 16 lines, of which the first and last are cut."""
    extents = (64, 64, 126)
    assert stored(traffic(extents)) == pytest.approx((64 * 64 * 16, 64 * 64 * 16))
    assert stored(traffic(extents, STREAM)) == pytest.approx((64 * 64 * 2, 64 * 64 * 16))


def test_lines_that_two_blocks_share_are_stored_as_usual() -> None:
    """Blocks of 63 points end at element 64: no line is shared. Blocks of 60 share two."""
    extents = (8, 8, 126)
    assert stored(traffic(extents, Block("sweep", "i", 63), STREAM))[0] == pytest.approx(64 * 2)
    shared = traffic(extents, Block("sweep", "i", 60), STREAM)
    # lines 0, 7 and 15 are cut, and a second block touches the last two of them again
    assert stored(shared)[0] == pytest.approx(64 * (3 + 2))


def test_what_is_stored_past_the_caches_is_read_from_memory() -> None:
    """A grid that fits into the second cache is read from there, unless it was streamed."""
    plain, streamed = (traffic((8, 8, 62), *changes) for changes in ((), (STREAM,)))
    for made, finite in ((plain, True), (streamed, False)):
        (thread,) = made.threads
        source = thread.row == made.schedule.rows.index("u")
        assert bool(np.isfinite(thread.history.distance[source]).all()) is finite
    assert thread.history.streamed.any()


def test_architectures_without_such_stores_have_plain_ones() -> None:
    made = traffic((8, 8, 62), STREAM, architecture="aarch64")
    assert not made.threads[0].history.streamed.any()
    assert stored(made) == stored(traffic((8, 8, 62), architecture="aarch64"))


def pirk(size: int, *changes: Transformation, architecture: str = "x86_64") -> StepTraffic:
    method = config.method("radau-iia-7")
    at = Problem(ivp=config.ivp("heat2d"), method=method, correctors=6, size=size)
    fused = (Interchange("lc", ("j", "l", "i")), Fuse("approx", "update"), Pipeline("k", 256))
    variant = Variant(
        skeleton="pirk", transformations=(*fused, Contract("F"), *changes), parameters={}
    )
    program = variant_program.program(variant, config.skeleton("pirk"), at)
    return analyse(program, at, 1, replace(MACHINE, architecture=architecture))


def test_the_next_state_of_a_pipeline_goes_out_and_does_not_come_in() -> None:
    """All of its lines but those at the ends of the inner part of a row of 510 components."""
    made = pirk(512, StreamStores("update"))
    (thread,) = made.threads
    target = thread.row == made.schedule.rows.index("y_next")
    past = thread.history.streamed
    assert past.sum() == (target & ~past).sum()
    assert not (past & ~target).any()
    both = thread.lines[past] + thread.lines[target & ~past]
    assert both == pytest.approx(1 / 8)
    assert (thread.lines[past] * 8).min() == pytest.approx(1 - 7 / 510)
    assert not np.isfinite(thread.history.distance[past]).any()
    assert np.isinf(thread.outward[past]).all()


def test_a_state_past_the_caches_is_read_from_memory() -> None:
    """A state of 4,096 components stays in the second cache, unless it was streamed."""
    for made, far in ((pirk(64), False), (pirk(64, StreamStores("update")), True)):
        (thread,) = made.threads
        state = thread.row == made.schedule.rows.index("y")
        assert bool(np.isinf(thread.history.distance[state]).any()) is far


def test_other_architectures_keep_the_next_state() -> None:
    made = pirk(64, StreamStores("update"), architecture="aarch64")
    assert not made.threads[0].history.streamed.any()
