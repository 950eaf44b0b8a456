"""The traffic of a pipeline against a brute-force LRU stack of every line it touches."""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from autotune.codegen.tree import variant_program
from autotune.codegen.tree.loop_tree import Assign, PipelineLoop, Repeat, StepProgram, Sweep
from autotune.domain.machine import CacheLevel, InCore, Machine, Memory
from autotune.domain.problem import Problem
from autotune.domain.variant import (
    Fuse,
    Interchange,
    Pipeline,
    StripPlanes,
    Transformation,
    Variant,
)
from autotune.files import config
from autotune.language.expression import number, references
from autotune.models.traffic import StepTraffic, analyse
from autotune.models.traffic.passes import blocks
from autotune.models.traffic.reuse_distance import ThreadStreams

PER_LINE = 8
PAGE = 512
MACHINE = Machine(
    name="tiny",
    architecture="x86_64",
    clock=1e9,
    cores=4,
    caches=(CacheLevel(name="L1", size=4096, line=64, ways=8, cores=1),),
    memory=Memory(),
    in_core=InCore(),
)
SKELETON = config.skeleton("pirk")
JLI = (Interchange("lc", ("j", "l", "i")), Fuse("approx", "update"))

Line = tuple[str, int, int]
"""Array, row and number of a line."""


def made(at: Problem, block: int, *further: Transformation) -> StepProgram:
    transformations = (*JLI, Pipeline("k", block), *further)
    chosen = Variant(skeleton="pirk", transformations=transformations, parameters={})
    return variant_program.program(chosen, SKELETON, at)


def touched(
    program: StepProgram, at: Problem, block: tuple[int, int] | None = None
) -> Iterator[Line]:
    """The lines that one thread touches in a time step, in order; ``block``: of the thread."""
    (loop,) = [n for n in program.body.nodes if isinstance(n, PipelineLoop)]
    n, distance = at.n, at.ivp.distance(at.size)
    lag = -(-distance // program.granule) * program.granule
    far = -(-(loop.block + distance + lag) // PAGE) * PAGE
    late = {
        w.array: -(-(loop.block + w.lags * lag) // PAGE) * PAGE for w in program.windows if w.lags
    }
    lengths = late | {w.array: far for w in program.windows if w.neighbours}
    stages, (lower, upper) = len(loop.body.nodes), block or (0, n)
    begins = range(max(0, lower - (stages - 1) * lag), upper + 2 * stages * lag, loop.block)
    for start, end in strips(loop, at):
        for begin in begins:
            for number_, stage in enumerate(loop.body.nodes):
                margin = (stages - 1 - number_) * lag
                first = max(0, lower - margin, begin - number_ * lag)
                last = min(n, upper + margin, begin + loop.block - number_ * lag)
                for part in parts(loop, at, (first, last), (start, end), stages - 1 - number_):
                    for sweep, index in calls(stage.body.nodes):
                        yield from lines(sweep, index, part, lengths, at)


def strips(loop: PipelineLoop, at: Problem) -> Iterator[tuple[int, int]]:
    """The strips of a plane, from and to which row."""
    if loop.strips is None:
        yield 0, at.n
        return
    values = at.ivp.values(at.size)
    rows = int(number(loop.strips.plane, values) // number(loop.strips.row, values))
    width = -(-rows // -(-rows // loop.strips.rows))
    yield from ((start, min(start + width, rows)) for start in range(0, rows, width))


def parts(
    loop: PipelineLoop, at: Problem, block: tuple[int, int], strip: tuple[int, int], later: int
) -> Iterator[tuple[int, int]]:
    """What a stage computes of a block: the rows of a strip, and those that later stages need."""
    if loop.strips is None:
        yield block
        return
    values = at.ivp.values(at.size)
    row, plane = (int(number(e, values)) for e in (loop.strips.row, loop.strips.plane))
    low = max(0, (strip[0] - later * loop.strips.margin) * row)
    high = min(plane, (strip[1] + later * loop.strips.margin) * row)
    for corner in range(block[0] // plane * plane, block[1], plane):
        first, last = max(block[0], corner + low), min(block[1], corner + high)
        if first < last:
            yield first, last


def calls(nodes: tuple[object, ...], index: int = 0) -> Iterator[tuple[Sweep, int]]:
    for node in nodes:
        if isinstance(node, Repeat):
            for i in range(node.first, node.end):
                yield from calls(node.body.nodes, i)
        elif isinstance(node, Sweep):
            yield node, index


def lines(
    sweep: Sweep, index: int, block: tuple[int, int], lengths: dict[str, int], at: Problem
) -> Iterator[Line]:
    values = at.ivp.values(at.size)
    stretch = sweep.stretches[len(sweep.stretches) // 2]
    first = max(block[0], int(number(stretch.lower, values)))
    last = min(block[1], int(number(stretch.upper, values)))
    rows = dict(sweep.rows)
    for j in range(first, last, PER_LINE):
        for statement in stretch.statements:
            refs = [(r.array, r.indices[0]) for r in references(statement.value)]
            places = [(a, int(number(e, {**values, "j": j}))) for a, e in refs if a in rows]
            if isinstance(statement, Assign):
                places.append((statement.target, j))
            for name, place in places:
                row = rows[name]
                l_ = 0 if row.index is None else int(number(row.index, {"l": index}))
                if length := lengths.get(row.array):
                    place %= length
                elif row.window:
                    place -= block[0]
                yield row.array, l_, place // PER_LINE


def missed(trace: list[Line], begin: int, capacities: list[int]) -> list[int]:
    """The touches from ``begin`` on whose line is not among so many lines touched last."""
    misses = [0] * len(capacities)
    for k, capacity in enumerate(capacities):
        cached: OrderedDict[Line, None] = OrderedDict()
        for number_, line in enumerate(trace):
            if line in cached:
                cached.move_to_end(line)
                continue
            cached[line] = None
            if len(cached) > capacity:
                cached.popitem(last=False)
            misses[k] += number_ >= begin
    return misses


def predicted(traffic: StepTraffic, capacity: int) -> float:
    (thread,) = traffic.threads
    return lines_beyond(thread, capacity)


def lines_beyond(thread: ThreadStreams, capacity: int) -> float:
    """The lines of a time step that so many lines do not hold."""
    iterations = np.array([item.iterations for item in thread.passes])[thread.owner]
    beyond = (thread.history.distance > 64 * capacity).mean(axis=1)
    return float((thread.lines * iterations * beyond).sum())


@pytest.mark.parametrize(
    ("ivp", "size", "block"),
    [("heat2d", 96, 96), ("heat2d", 80, 160), ("heat2d", 80, 320), ("wave1d", 6000, 512)],
)
def test_lines_that_miss_are_those_of_an_lru_stack(ivp: str, size: int, block: int) -> None:
    at = Problem(ivp=config.ivp(ivp), method=config.method("radau-iia-3"), correctors=3, size=size)
    program = made(at, block)
    step = list(touched(program, at))
    capacities = [64, 256, 1024]
    counted = missed(step + step, len(step), capacities)
    traffic = analyse(program, at, 1, MACHINE)
    largest = predicted(traffic, 0)
    for capacity, count in zip(capacities, counted, strict=True):
        assert predicted(traffic, capacity) == pytest.approx(count, abs=0.05 * largest)
    assert predicted(traffic, 1024) < 0.3 * largest


@pytest.mark.parametrize("method", ["bogacki-shampine-3", "dormand-prince-5"])
@pytest.mark.parametrize(
    ("ivp", "size", "block"),
    [("heat2d", 96, 96), ("heat2d", 80, 160), ("heat2d", 80, 320), ("wave1d", 6000, 512)],
)
def test_rows_that_later_stages_read_are_touched_by_each(
    method: str, ivp: str, size: int, block: int
) -> None:
    at = Problem(ivp=config.ivp(ivp), method=config.method(method), correctors=0, size=size)
    transformations = (Fuse("approx", "update"), Pipeline("l", block))
    chosen = Variant(skeleton="erk", transformations=transformations, parameters={})
    program = variant_program.program(chosen, config.skeleton("erk"), at)
    step = list(touched(program, at))
    capacities = [128, 256, 768, 2048]  # at others a window just fits, or does not
    counted = missed(step + step, len(step), capacities)
    traffic = analyse(program, at, 1, MACHINE)
    largest = predicted(traffic, 0)
    for capacity, count in zip(capacities, counted, strict=True):
        assert predicted(traffic, capacity) == pytest.approx(count, abs=0.06 * largest)


@pytest.mark.parametrize(("ivp", "size", "rows"), [("heat3d", 32, 8), ("heat3d", 32, 16)])
def test_strips_touch_the_lines_of_their_rows(ivp: str, size: int, rows: int) -> None:
    at = Problem(ivp=config.ivp(ivp), method=config.method("radau-iia-3"), correctors=2, size=size)
    program = made(at, 128, StripPlanes(rows))
    step = list(touched(program, at))
    capacities = [128, 1024, 4096]
    counted = missed(step + step, len(step), capacities)
    traffic = analyse(program, at, 1, MACHINE)
    largest = predicted(traffic, 0)
    for capacity, count in zip(capacities, counted, strict=True):
        assert predicted(traffic, capacity) == pytest.approx(count, abs=0.1 * largest)


@pytest.mark.parametrize(("ivp", "size", "block"), [("heat2d", 60, 256), ("wave1d", 6000, 256)])
@pytest.mark.parametrize(("capacity", "off"), [(40, 0.03), (512, 0.1)])
def test_lines_of_two_blocks_are_touched_in_both(
    ivp: str, size: int, block: int, capacity: int, off: float
) -> None:
    """Rows near a border, 1/60 of all, do not stand for what the blocks between them touch."""
    at = Problem(ivp=config.ivp(ivp), method=config.method("radau-iia-7"), correctors=6, size=size)
    program = made(at, block)
    step = list(touched(program, at))
    (counted,) = missed(step + step, len(step), [capacity])
    lines = predicted(analyse(program, at, 1, MACHINE), capacity)
    assert lines == pytest.approx(counted, rel=off)


@pytest.mark.parametrize(
    ("ivp", "size", "block", "capacity"),
    [("wave1d", 12000, 1024, 1600), ("wave1d", 6000, 640, 1100)],
)
def test_blocks_that_do_not_divide_a_window_come_round_unevenly(
    ivp: str, size: int, block: int, capacity: int
) -> None:
    """Of a window of 1536 components, a block of 1024 finds half as it left it a block ago, and
    half as two blocks ago; the cache holds what is touched in one, but not in two.
    """
    at = Problem(ivp=config.ivp(ivp), method=config.method("radau-iia-3"), correctors=3, size=size)
    program = made(at, block)
    step = list(touched(program, at))
    (counted,) = missed(step + step, len(step), [capacity])
    lines = predicted(analyse(program, at, 1, MACHINE), capacity)
    assert lines == pytest.approx(counted, rel=0.06)


@pytest.mark.parametrize(("ivp", "size"), [("wave1d", 900), ("heat2d", 30)])
def test_a_single_block_touches_no_more_of_a_window_than_there_is(ivp: str, size: int) -> None:
    at = Problem(ivp=config.ivp(ivp), method=config.method("radau-iia-3"), correctors=3, size=size)
    program = made(at, 2048)
    step = list(touched(program, at))
    assert missed(step + step, len(step), [1400]) == [0]
    assert predicted(analyse(program, at, 1, MACHINE), 1400) == 0


@pytest.mark.parametrize(
    ("ivp", "size", "block", "capacity"),
    [("heat2d", 56, 2048, 700), ("heat2d", 56, 2048, 1000), ("wave1d", 3000, 1024, 1400)],
)
def test_threads_at_the_ends_compute_the_border_of_one_side_only(
    ivp: str, size: int, block: int, capacity: int
) -> None:
    """They may have a single block where those between have two."""
    at = Problem(ivp=config.ivp(ivp), method=config.method("radau-iia-3"), correctors=3, size=size)
    program = made(at, block)
    first, *_ = blocks(at.n, program.granule, 3)
    step = list(touched(program, at, first))
    (counted,) = missed(step + step, len(step), [capacity])
    (thread, *_) = analyse(program, at, 3, MACHINE).threads
    assert lines_beyond(thread, capacity) == pytest.approx(counted, rel=0.15)


def test_windows_that_begin_in_the_same_set_crowd_it_unless_padded() -> None:
    """28 windows of a page each, of which a block touches half: twice the bytes fall in a set."""
    at = Problem(
        ivp=config.ivp("heat2d"), method=config.method("radau-iia-7"), correctors=6, size=60
    )
    half = replace(MACHINE, caches=(CacheLevel(name="L1", size=32768, line=64, ways=8, cores=1),))
    traffic = analyse(made(at, 256), at, 1, half)
    calls = range(len(traffic.schedule.steps[-1].calls))
    lost = {
        pad: sum(c.lines for call in calls for c in traffic.conflicts(call, pad, half, 8.0))
        for pad in (0, 5)
    }
    assert lost[0] > 0.1
    assert lost[5] < lost[0]


def test_the_state_passes_through_the_memory_once() -> None:
    at = Problem(
        ivp=config.ivp("heat2d"), method=config.method("radau-iia-7"), correctors=6, size=1024
    )
    traffic = analyse(made(at, 1024), at, 1, MACHINE)
    far = predicted(traffic, 1 << 17)  # 8 MiB: more than all windows
    assert far == pytest.approx(2 * at.n / PER_LINE, rel=0.05)


def test_threads_compute_their_borders_themselves() -> None:
    at = Problem(
        ivp=config.ivp("heat2d"), method=config.method("radau-iia-7"), correctors=6, size=256
    )
    traffic = analyse(made(at, 256), at, 2, MACHINE)
    (thread,) = traffic.threads
    assert thread.alike == 2
    first, last = thread.passes[0], thread.passes[-1]
    assert last.iterations == pytest.approx(at.n / 2, rel=0.02)
    assert first.iterations == pytest.approx(at.n / 2 + 6 * 256, rel=0.02)
    assert traffic.schedule.steps[-1].barriers == 1
