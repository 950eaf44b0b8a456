"""The model as arithmetic over arrays, against loops over streams, passes and threads by hand."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from flow_arrays import Stream, everywhere, flow_of
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_nodes import KIB, MIB, calibrated, documented

from autotune.models.engines.reuse import uncertainty
from autotune.models.engines.reuse.batch import PLACES
from autotune.models.engines.reuse.line_cost import LineCosts, line_costs
from autotune.models.engines.reuse.time_model import (
    BORDER,
    CorePassTimes,
    LineTimes,
    OverlapRules,
    StepPaths,
    StepTimes,
    TransferSums,
    added_cycles,
    over_positions,
    row_cycles,
    step_times,
    sums,
    transfers,
)
from autotune.models.traffic import POSITIONS, Floats

SERIAL = line_costs(documented(), 1)
"""64 B over 64 B/cy, 32 B/cy and 5 B/cy, one after the other: 1, 3 and 15.8 cycles per line."""
BORDERS = (32 * KIB, 256 * KIB, 8 * MIB)
PRICES = (0.0, 1.0, 3.0, 15.8)
NEAR, MIDDLE, FAR, MEMORY = 16.0 * KIB, 100.0 * KIB, 4.0 * MIB, 100.0 * MIB


def timed(*streams: Stream, costs: LineCosts = SERIAL, passes: int = 1, **more: float) -> LineTimes:
    flows = flow_of(streams, passes, **more)
    return transfers(flows, costs, costs.exposed, costs.exposed)


def level(distance: float) -> int:
    return sum(distance > border for border in BORDERS)


# --- lines ----------------------------------------------------------------------------------------


def test_lines_from_each_level_cost_the_links_of_their_way() -> None:
    """A line of eight doubles from each level, by the figures of the machine's documents."""
    times = timed(*(Stream(0, everywhere(d)) for d in (NEAR, MIDDLE, FAR, MEMORY)))
    assert times.mean[:, 0] == pytest.approx([1 / 8, 3 / 8, 15.8 / 8])
    assert times.data.mean(axis=2).tolist() == [[1 / 8] * 8, [3 / 8] * 8, [15.8 / 8] * 8]
    assert times.memory_lines.tolist() == [1 / 8]
    assert times.streams[:, 0].tolist() == [1, 1, 1, 1]
    assert (times.out == 0).all()
    assert (times.foreign == 0).all()


def by_loop(streams: Sequence[Stream], passes: int, scale: float = 1.0) -> Floats:
    """(levels, POSITIONS, passes) cycles, one stream and position after the other."""
    data = np.zeros((3, POSITIONS, passes))
    for stream in streams:
        for position, distance in enumerate(stream.distance):
            least = 256 * KIB * (1 + 1e-9) if stream.remote else 0.0
            at = level(max(distance, least) * scale)
            if at:
                data[at - 1, position, stream.owner] += stream.lines * PRICES[at]
    return data


DISTANCES = st.lists(st.floats(64, 1e9), min_size=POSITIONS, max_size=POSITIONS)
STREAMS = st.lists(
    st.tuples(
        st.integers(0, 2), DISTANCES, st.sampled_from([1 / 8, 1 / 4, 0.01]), st.booleans()
    ).map(lambda row: Stream(*row[:3], remote=row[3])),
    min_size=1,
    max_size=6,
)


@settings(max_examples=20, derandomize=True)
@given(streams=STREAMS)
def test_transfers_are_sums_over_the_streams_of_each_pass(streams: list[Stream]) -> None:
    times = timed(*streams, passes=3)
    data = by_loop(streams, 3)
    assert times.data == pytest.approx(data)
    assert times.mean == pytest.approx(data.mean(axis=1))
    remote = by_loop([stream for stream in streams if stream.remote], 3)
    assert times.foreign == pytest.approx(remote.mean(axis=1))


@settings(max_examples=20, derandomize=True)
@given(streams=STREAMS)
def test_smaller_and_larger_caches_move_the_borders(streams: list[Stream]) -> None:
    """A cache smaller by a factor holds what is nearer by it; memory lies behind every cache.

    Lines of other threads stay behind the private caches, whatever their size is.
    """
    own = [stream._replace(remote=False) for stream in streams]
    times = timed(*own, passes=3)
    assert times.small == pytest.approx(by_loop(own, 3, BORDER).mean(axis=1))
    assert times.large == pytest.approx(by_loop(own, 3, 1 / BORDER).mean(axis=1))


def test_other_overlap_takes_the_slowest_link_or_all_of_them() -> None:
    """Nothing exposed: the way of a line takes as long as its slowest link."""
    streams = [Stream(0, everywhere(d)) for d in (MIDDLE, FAR, MEMORY)]
    costs = line_costs(documented(exposed=0.5), 1)
    hidden, serial = np.zeros(4), np.ones(4)
    times = transfers(flow_of(streams), costs, hidden, serial)
    assert times.hidden[:, 0] * 8 == pytest.approx([1, 2, 12.8])
    assert times.serial[:, 0] * 8 == pytest.approx([1, 3, 15.8])
    assert times.mean[:, 0] * 8 == pytest.approx([1, 2.5, 14.05])


def test_measured_costs_are_read_from_the_curve() -> None:
    """64, 32, 16 and 4 bytes per cycle: 2, 4 and 16 cycles, hidden behind the loads."""
    costs = line_costs(calibrated(exposed=0), 1)
    times = timed(*(Stream(0, everywhere(d)) for d in (128 * KIB, FAR, MEMORY)), costs=costs)
    assert times.mean[:, 0] * 8 == pytest.approx([2, 4, 16])
    assert times.memory_lines[0] == pytest.approx(1 / 8)


def test_a_line_of_another_thread_costs_at_least_its_way_between_the_cores() -> None:
    costs = replace(SERIAL, handed=40.0)
    near = Stream(0, everywhere(NEAR), remote=True)
    assert timed(near, costs=costs).mean[:, 0] * 8 == pytest.approx([0, 40, 0])
    assert timed(near._replace(remote=False), costs=costs).mean[:, 0].tolist() == [0, 0, 0]
    cheap = replace(SERIAL, handed=2.0)
    assert timed(near, costs=cheap).mean[:, 0] * 8 == pytest.approx([0, 3, 0])


def test_a_line_that_others_have_read_is_claimed_back_before_it_is_written() -> None:
    costs = replace(SERIAL, reclaim=60.0)
    claimed = Stream(0, everywhere(NEAR), outward=everywhere(NEAR), reclaimed=1.0)
    other = claimed._replace(owner=1, reclaimed=0.0)
    times = timed(claimed, other, costs=costs, passes=2)
    for cycles in (times.mean, times.foreign):
        assert (cycles.T * 8).tolist() == [[0, 60, 0], [0, 0, 0]]
    assert times.mean.tolist() == times.small.tolist(), "the price is the same for other caches"


# --- stores ---------------------------------------------------------------------------------------


def test_dirty_lines_leave_as_far_as_they_drift() -> None:
    """2 and 4 cycles per line out of L1 and L2: a line that drifts to L3 takes both."""
    costs = replace(SERIAL, outlinks=np.array([2.0, 4.0, 0.0]))
    update = Stream(0, everywhere(NEAR), outward=everywhere(FAR))
    load = Stream(0, everywhere(NEAR))
    times = timed(update, load, costs=costs)
    assert times.out[:, 0] * 8 == pytest.approx([0, 6, 0])
    assert times.mean[:, 0] * 8 == pytest.approx([0, 6, 0])


def test_a_measured_price_of_stored_lines_holds_their_way_out() -> None:
    costs = replace(
        SERIAL, outlinks=np.array([2.0, 4.0, 0.0]), stored=np.array([1.0, 1.0, 2.5, 2.0])
    )
    store = Stream(0, everywhere(FAR), outward=everywhere(FAR), stores=True)
    times = timed(store, costs=costs)
    assert times.out[:, 0].tolist() == [0, 0, 0]
    assert times.mean[:, 0] * 8 == pytest.approx([0, 3 * 2.5, 0])
    update = timed(store._replace(stores=False), costs=costs)
    assert update.mean[:, 0] * 8 == pytest.approx([0, 3 + 6, 0])


def test_a_line_stored_past_the_caches_passes_the_memory_once() -> None:
    """Half of the measured price of a stored line; else its way out, or that of a line read."""
    stream = Stream(0, everywhere(math.inf), outward=everywhere(math.inf), stores=True)
    past = stream._replace(streamed=True)
    bandwidth = SERIAL.line / SERIAL.memory
    measured = replace(SERIAL, stored=np.array([1.0, 1.0, 2.5, 2.0]))
    out = replace(SERIAL, outlinks=np.array([2.0, 4.0, 5.0]))
    for costs, cycles in ((measured, bandwidth), (out, 5), (SERIAL, SERIAL.links[-1])):
        times = timed(past, costs=costs)
        assert times.mean[:, 0] * 8 == pytest.approx([0, 0, cycles])
        assert times.memory_lines.tolist() == [0]


def test_a_store_that_allocates_nothing_loads_nothing() -> None:
    """Within a cache without write-allocate the line of a store need not come in."""
    costs = replace(SERIAL, allocating=256.0 * KIB)
    store = Stream(0, everywhere(MIDDLE), outward=everywhere(MIDDLE), stores=True)
    assert timed(store, costs=costs).mean[:, 0].tolist() == [0, 0, 0]
    assert timed(store._replace(stores=False), costs=costs).mean[0, 0] * 8 == pytest.approx(1)
    further = store._replace(distance=everywhere(FAR))
    assert timed(further, costs=costs).mean[1, 0] * 8 == pytest.approx(3)
    nowhere = replace(SERIAL, allocating=math.inf)
    largest = store._replace(distance=everywhere(MEMORY))
    assert timed(largest, costs=nowhere).memory_lines.tolist() == [0]
    assert timed(largest, costs=costs).memory_lines.tolist() == [1 / 8]


def test_bytes_stored_through_a_cache_are_counted_apart() -> None:
    costs = replace(SERIAL, store=0.25)
    store = Stream(0, everywhere(NEAR), outward=everywhere(NEAR), stores=True)
    times = timed(store, store, Stream(0, everywhere(NEAR)), costs=costs)
    assert times.stored[0] == pytest.approx(2 * 8 * 0.25), "eight bytes per iteration and row"


def test_starts_of_streams_are_spread_over_the_points_between_jumps() -> None:
    """10 cycles per start from L2 and 30 from memory, every 50 points."""
    costs = replace(SERIAL, stream_start=np.array([0.0, 10.0, 20.0, 30.0]))
    streams = (Stream(0, everywhere(MIDDLE)), Stream(0, everywhere(MEMORY)))
    assert timed(*streams, costs=costs, jump=50.0).starts[0] == pytest.approx(40 / 50)
    assert timed(*streams, costs=costs).starts[0] == 0, "a sweep without jumps starts once"
    wide = [stream._replace(lines=1 / 4) for stream in streams]
    assert timed(*wide, costs=costs, jump=50.0).starts[0] == pytest.approx(40 / 50)
    rare = [stream._replace(lines=1 / 80) for stream in streams]
    assert timed(*rare, costs=costs, jump=50.0).starts[0] == pytest.approx(4 / 50)


def test_first_loads_from_memory_wait_at_the_same_time_those_from_caches_in_turn() -> None:
    costs = replace(SERIAL, stream_start=np.array([0.0, 1.0, 2.0, 30.0]))
    near, far = Stream(0, everywhere(MIDDLE)), Stream(0, everywhere(MEMORY))

    def started(*streams: Stream) -> float:
        return float(timed(*streams, costs=costs, jump=50.0).starts[0]) * 50

    assert started(*[far] * 3) == pytest.approx(30)
    assert started(*[near] * 3) == pytest.approx(3)
    assert started(*[far] * 3, near) == pytest.approx(31)
    assert started(far._replace(lines=1 / 80), far) == pytest.approx(30)
    outermost = Stream(0, everywhere(FAR))
    assert started(*[outermost] * 40) == pytest.approx(80)
    assert started(*[far] * 40) == pytest.approx(80), "no less than from the outermost cache"


def test_stores_across_lines_wait_longer_the_more_lines_are_loaded() -> None:
    store, load = np.array([0.0, 8.0, 6.0, 2.0]), np.array([0.0, 1.0, 3.0, 9.0])
    costs = replace(SERIAL, crossing_stores=store, crossing_loads=load)
    line = 1 / PLACES
    near = Stream(0, everywhere(MIDDLE), stores=True, lines=line)
    far, past = near._replace(distance=everywhere(FAR)), near._replace(streamed=True)
    inner = near._replace(distance=everywhere(0.0))
    read = Stream(0, everywhere(MEMORY), lines=line)
    lean = Stream(0, everywhere(MIDDLE), lines=line)

    def least(*streams: Stream) -> list[float]:
        """The cycles for a line of components, and the share that waits."""
        across = timed(*streams, costs=costs).across
        return [float(across[0, 0]) * PLACES, float(across[1, 0])]

    assert least(near) == [8, 1]
    assert least(near, far) == [14, 1]
    assert least(near, far, lean, read) == pytest.approx([14 + 2 * (1 + 9), 1])
    assert least(near, past, lean) == pytest.approx([8 + 1, 1]), "nor lines past the caches"
    assert least(near, *[lean] * 12) == pytest.approx([8 + 6, 1]), "as many as were measured"
    assert least(near, *[read] * 6, *[lean] * 6) == least(near, *[read] * 6), "the longest waits"
    assert least(near, inner) == pytest.approx([8, 0.5]), "nothing waits for the innermost cache"
    assert least(read) == [0, 0]
    wide = replace(flow_of([s._replace(lines=line / 2) for s in (near, read)]), line=128)
    across = transfers(wide, costs, costs.exposed, costs.exposed).across
    assert across[0, 0] * 2 * PLACES == pytest.approx(8 + 9), "of lines twice as long"
    assert not timed(near).across.any(), "not measured"


def test_lines_whose_loads_may_be_issued_again_come_from_the_nearest_cache() -> None:
    """Of those that neighbouring components read, and of the others; not of those stored only."""
    costs = replace(SERIAL, load_again=4.0, again_loop=16.0)
    near = Stream(0, everywhere(MIDDLE), again=True)
    once, stored = near._replace(again=False), near._replace(again=False, stores=True)
    assert timed(near, once, once, stored, costs=costs).again[:, 0] == pytest.approx([1 / 8, 2 / 8])
    halves = [MIDDLE] * (POSITIONS // 2) + [FAR] * (POSITIONS - POSITIONS // 2)
    assert timed(Stream(0, halves, again=True), costs=costs).again[0, 0] == pytest.approx(1 / 16)
    for distance in (NEAR, FAR, MEMORY):
        assert not timed(Stream(0, everywhere(distance), again=True), costs=costs).again.any()
    assert not timed(near).again.any(), "not measured"
    assert not timed(near, costs=replace(costs, again_loop=0.0)).again.any(), "half of it"


def test_what_loads_issued_again_add_is_a_part_of_the_time() -> None:
    times, data = core(6, 2, again=1), transfer_sums(5, 5)
    assert added_cycles(times, data, "again")[0, 0] == pytest.approx(1)
    assert added_cycles(core(7.5, 2, again=1), data, "again")[0, 0] == pytest.approx(0.5)
    assert not added_cycles(core(6, 2), data, "again").any()


def test_streams_of_tiles_go_on_where_they_ended() -> None:
    starts, resumed = np.array([0.0, 10.0, 20.0, 30.0]), np.array([0.0, 1.0, 2.0, 3.0])
    costs = replace(SERIAL, stream_start=starts, stream_resume=resumed)
    stream = Stream(0, everywhere(MEMORY))
    assert timed(stream, costs=costs, jump=50.0).starts[0] == pytest.approx(30 / 50)
    assert timed(stream, costs=costs, jump=50.0, shared=True).starts[0] == pytest.approx(3 / 50)


def test_near_a_bend_of_the_curve_the_last_cache_has_a_part() -> None:
    """Between 8 and 64 MiB the bandwidth falls from 16 to 4: from memory comes 4 over it."""
    costs = line_costs(calibrated(), 1)
    distance = np.sqrt(8 * 64) * MIB
    times = timed(Stream(0, everywhere(distance)), costs=costs)
    assert times.memory_lines[0] * 8 == pytest.approx(4 / 8)


# --- passes ---------------------------------------------------------------------------------------


def transfer_sums(total: float, exposed: float, beside: float | None = None) -> TransferSums:
    return TransferSums(
        total=np.array([[total]]),
        waited=np.zeros((1, 1)),
        exposed=np.array([[exposed]]),
        beside=None if beside is None else np.array([[beside]]),
    )


def core(
    T_OL: float, T_nOL: float, stored: float = 0.0, entry: float = 0.0,
    across: float = 0.0, waiting: float = 1.0, again: float = 0.0,
) -> CorePassTimes:  # fmt: skip
    names = ("T_OL", "T_nOL", "stored", "entry", "across", "waiting", "again")
    values = (np.array([value]) for value in (T_OL, T_nOL, stored, entry, across, waiting, again))
    return CorePassTimes(**dict(zip(names, values, strict=True)))


@pytest.mark.parametrize(
    ("times", "data", "expected"),
    [
        (core(4, 2), transfer_sums(5, 5), 7),  # Eq. 7: max(T_OL, T_nOL + T_data)
        (core(9, 2), transfer_sums(5, 5), 9),
        (core(4, 2), transfer_sums(5, 0), 5),  # all overlap: the largest
        (core(4, 2), transfer_sums(5, 2.5), 6),  # half of what could hide: 5 + 1/2 * 2
        (core(4, 6), transfer_sums(5, 2.5), 8.5),  # 6 + 1/2 * 5
        (core(4, 2), transfer_sums(0, 0), 4),  # Eq. 6
        (core(4, 2, stored=6), transfer_sums(3, 3), 6),  # stores beside the arithmetic
        (core(4, 2, entry=1.5), transfer_sums(5, 5), 8.5),
        (core(4, 2, across=8), transfer_sums(5, 5), 8),  # as long as the stores
        (core(4, 2, across=8, waiting=0.5), transfer_sums(5, 5), 7.5),  # where half of them wait
        (core(4, 2, across=6), transfer_sums(5, 5), 7),
        (core(4, 2, again=1), transfer_sums(5, 5), 8),  # beside loads
        (core(9, 2, again=1), transfer_sums(5, 5), 9),  # arithmetic hides them
        (core(4, 2), transfer_sums(5, 0, beside=5), 9),  # arithmetic waits for the lines
        (core(4, 2), transfer_sums(5, 5, beside=0), 7),
    ],
)
def test_cycles_of_a_pass_by_hand(
    times: CorePassTimes, data: TransferSums, expected: float
) -> None:
    assert row_cycles(times, data)[0, 0] == pytest.approx(expected)


CYCLES = st.floats(0, 1e4)


@settings(max_examples=40, derandomize=True)
@given(
    parts=st.tuples(CYCLES, CYCLES, CYCLES, CYCLES, CYCLES),
    across=CYCLES,
    waiting=st.floats(0, 1),
    share=st.floats(0, 1),
    arithmetic=st.floats(0, 1) | st.none(),
    more=CYCLES,
    which=st.integers(0, 5),
)
def test_cycles_lie_between_the_largest_part_and_the_sum_and_grow_with_each(
    parts: tuple[float, ...],
    across: float,
    waiting: float,
    share: float,
    arithmetic: float | None,
    more: float,
    which: int,
) -> None:
    """The time that stores across lines need is no part: they add what of it nothing hides."""

    def cycles(values: Sequence[float]) -> float:
        T_OL, T_nOL, stored, entry, moved, across = values
        beside = None if arithmetic is None else arithmetic * moved
        data = transfer_sums(moved, share * moved, beside)
        return float(row_cycles(core(T_OL, T_nOL, stored, entry, across, waiting), data)[0, 0])

    slack = 1e-9 * (1 + sum(parts) + across)
    total = cycles((*parts, across))
    assert max(*parts, waiting * across) - slack <= total <= sum(parts) + across + slack
    assert total >= cycles((*parts, 0)) - slack
    grown = [value + more * (k == which) for k, value in enumerate((*parts, across))]
    assert cycles(grown) >= total - slack


def test_all_levels_of_a_pass_add_up_with_their_shares() -> None:
    data, none = np.arange(12.0).reshape(3, 2, 2), np.zeros((3, 2))
    shares, stored = np.array([1.0, 0.5, 0.25]), np.array([10.0, 20.0])
    bare = sums(data, OverlapRules(exposed=shares), stored, none)
    assert bare.total.tolist() == data.sum(axis=0).tolist()
    expected = sum(share * part for share, part in zip(shares, data, strict=True))
    assert bare.exposed == pytest.approx(expected)
    assert bare.beside is None
    rules = OverlapRules(exposed=shares, arithmetic=shares[::-1], serial_stores=True)
    through = sums(data, rules, stored, none)
    assert through.total.tolist() == (data.sum(axis=0) + stored).tolist()
    assert through.exposed == pytest.approx(expected + stored)
    assert through.beside == pytest.approx(np.einsum("l,lrp->rp", shares[::-1], data))


@pytest.mark.parametrize("arithmetic", [None, np.zeros(1)])
@pytest.mark.parametrize(
    ("T_OL", "T_nOL", "cycles"),
    [(2, 20, 6 + 20.5), (20, 2, 6 + 20), (1, 1, 6 + 2 + 0.25), (10, 10, 6 + 10.5)],
)
def test_lines_that_another_core_hands_over_overlap_with_nothing(
    T_OL: float, T_nOL: float, cycles: float, arithmetic: np.ndarray | None
) -> None:
    """Of 8 cycles 6 are for such lines; a quarter of the others is exposed."""
    data, handed = np.full((1, 1, 1), 8.0), np.full((1, 1), 6.0)
    rules = OverlapRules(exposed=np.array([0.25]), arithmetic=arithmetic)
    found = sums(data, rules, np.zeros(1), handed)
    assert (found.total.item(), found.waited.item()) == (8.0, 6.0)
    assert row_cycles(core(T_OL, T_nOL), found).item() == pytest.approx(cycles)


def test_the_time_of_lines_handed_over_is_doubtful_in_every_sum() -> None:
    """A quarter more of them under the assumption ``foreign``."""
    machine, costs = documented(exposed=0.5), replace(SERIAL, handed=40.0, between=0.25)
    rules = OverlapRules(exposed=costs.exposed[1:])
    doubts = uncertainty.parameter_deviations(machine, costs, rules, 2)
    lines = timed(Stream(0, everywhere(NEAR), remote=True), costs=costs)
    data = uncertainty.assumed(lines, rules, doubts)
    names = [assumption.name for assumption in uncertainty.assumptions(rules, doubts)]
    waited = data.waited[:, 0] * 8
    assert waited[: POSITIONS + 1] == pytest.approx(np.full(POSITIONS + 1, 40.0))
    assert waited[POSITIONS + names.index("foreign")] == pytest.approx(50.0)
    assert data.exposed[POSITIONS].item() == pytest.approx(0.0)


def test_only_lines_within_the_private_caches_of_another_core_are_waited_for() -> None:
    costs = replace(SERIAL, handed=40.0)
    near, memory = (Stream(0, everywhere(d), remote=True) for d in (NEAR, MEMORY))
    assert timed(near, costs=costs).waited[:, 0] * 8 == pytest.approx([0, 40, 0])
    for apart in (timed(memory, costs=costs), timed(near), timed(near._replace(remote=False))):
        assert not apart.waited.any(), "far, or not measured, or own"
    assert timed(memory, costs=costs).foreign.any()


def test_sums_are_joined_selected_and_taken_apart() -> None:
    def made(offset: float, beside: bool) -> TransferSums:
        values = np.arange(6.0).reshape(2, 3) + offset
        return TransferSums(
            total=values, waited=values / 4, exposed=-values, beside=values / 2 if beside else None
        )

    rows = made(0, True).joined(made(10, True), axis=0)
    assert rows.total[:, 0].tolist() == [0, 3, 10, 13]
    assert rows.row(2).total.tolist() == [[10, 11, 12]]
    beside = rows.row(2).beside
    assert beside is not None
    assert beside.tolist() == [[5, 5.5, 6]]
    passes = made(0, False).joined(made(10, False), axis=1)
    assert passes.at(np.array([5, 0])).exposed.tolist() == [[-12, 0], [-15, -3]]
    assert passes.at(np.array([1])).beside is None
    assert passes.row(1).beside is None


def test_the_mean_over_positions_leaves_assumptions_out() -> None:
    rows = np.concatenate([np.arange(POSITIONS, dtype=float), [1e9, -1e9]])[:, None]
    assert over_positions(rows).tolist() == [(POSITIONS - 1) / 2]


# --- steps ----------------------------------------------------------------------------------------


def paths(
    regions: Sequence[Sequence[Sequence[tuple[int, float]]]],
    times: Sequence[float],
    floor: Sequence[float],
    steps: Sequence[int] = (0,),
    barriers: Sequence[float] = (0.0,),
    late: float = 0.0,
) -> StepPaths:
    """Regions of cells of (pass, iterations), with executions and least seconds each."""
    cells = [cell for region in regions for cell in region]
    entries = [entry for cell in cells for entry in cell]

    def begins(parts: Sequence[Sequence[object]]) -> list[int]:
        return np.cumsum([0, *(len(part) for part in parts[:-1])]).tolist()

    return StepPaths(
        entry=np.array([number for number, _ in entries]),
        count=np.array([count for _, count in entries]),
        cells=np.array(begins(cells)),
        regions=np.array(begins(regions)),
        times=np.array(times, dtype=float),
        floor=np.array(floor, dtype=float),
        steps=np.array(steps),
        barriers=np.array(barriers, dtype=float),
        late=np.full(1 + max(number for number, _ in entries), late),
    )


def test_threads_that_are_late_in_turn_make_the_step_longer_by_their_share() -> None:
    """Two threads of 200 and 300 cycles at 1 GHz, twice; whoever is last is 5 % late."""
    made = paths([[[(0, 100.0)], [(1, 50.0)]]], [2], [0], barriers=[1e-6], late=0.05)
    step = step_times(np.array([2.0, 6.0]), made, 1e9)
    assert step.barriers.tolist() == pytest.approx([1e-6 + 2 * 15e-9])
    assert step.seconds.tolist() == pytest.approx([2 * 315e-9 + 1e-6])


def test_between_barriers_the_slowest_thread_counts() -> None:
    """Threads of 100 * 2 and 50 * 6 cycles at 1 GHz, twice, and a barrier of 1 us."""
    made = paths([[[(0, 100.0)], [(1, 50.0)]]], [2], [0], barriers=[1e-6])
    step = step_times(np.array([2.0, 6.0]), made, 1e9)
    assert step.seconds.tolist() == pytest.approx([2 * 300e-9 + 1e-6])
    assert step.weight.tolist() == [0, 100]
    assert step.free.tolist() == [0, 100]
    assert (step.bound.tolist(), step.stretch.tolist()) == ([0], [1])
    assert step.floor.tolist() == [1e-6]


def test_no_region_is_faster_than_its_bytes_over_the_bandwidth() -> None:
    """300 cycles at 1 GHz against half a microsecond of memory: the second region is as it was."""
    made = paths([[[(0, 100.0)]], [[(1, 50.0)]]], [2, 1], [500e-9, 0], barriers=[1e-6])
    step = step_times(np.array([3.0, 4.0]), made, 1e9)
    assert step.seconds[0] == pytest.approx(2 * 500e-9 + 200e-9 + 1e-6)
    assert step.bound[0] == pytest.approx(1000e-9)
    assert step.floor[0] == pytest.approx(1000e-9 + 1e-6)
    assert step.stretch[0] == pytest.approx(1200 / 800)
    assert step.weight.tolist() == [200, 50]
    assert step.free.tolist() == [0, 50], "what memory decides does not depend on cycles"


def test_of_equal_threads_the_first_is_the_critical_one() -> None:
    made = paths([[[(0, 10.0)], [(1, 10.0)], [(2, 5.0)]]], [1], [0])
    step = step_times(np.array([1.0, 1.0 + 1e-15, 2.0]), made, 1e9)
    assert step.weight.tolist() == [10, 0, 0]


def test_a_missing_figure_makes_its_step_unknown_and_no_other() -> None:
    made = paths([[[(0, 10.0)]], [[(1, 10.0)]]], [1, 1], [0, 0], steps=(0, 1), barriers=(0, 0))
    step = step_times(np.array([np.nan, 2.0]), made, 1e9)
    assert np.isnan(step.seconds[0])
    assert step.seconds[1] == pytest.approx(20e-9)


@st.composite
def schedules(draw: st.DrawFn) -> tuple[list[float], list[list[list[list[tuple[int, float]]]]]]:
    """Cycles of passes; steps of regions of cells of (pass, iterations)."""
    cycles = draw(st.lists(st.floats(0.1, 100), min_size=1, max_size=4))
    entry = st.tuples(st.integers(0, len(cycles) - 1), st.floats(1, 1000))
    cell = st.lists(entry, min_size=1, max_size=3)
    region = st.lists(cell, min_size=1, max_size=3)
    return cycles, draw(st.lists(st.lists(region, min_size=1, max_size=3), min_size=1, max_size=3))


@settings(max_examples=20, derandomize=True)
@given(made=schedules(), seed=st.integers(0, 9))
def test_steps_agree_with_a_loop_over_regions_and_threads(
    made: tuple[list[float], list[list[list[list[tuple[int, float]]]]]], seed: int
) -> None:
    cycles, steps = made
    chance = np.random.default_rng(seed)
    regions = [region for step in steps for region in step]
    times = chance.integers(1, 4, len(regions)).astype(float)
    floor = chance.choice([0.0, 1e-6], len(regions))
    begins = np.cumsum([0, *(len(step) for step in steps[:-1])]).tolist()
    barriers = chance.uniform(0, 1e-6, len(steps))
    step = step_times(np.array(cycles), paths(regions, times, floor, begins, barriers), 1e9)
    number = 0
    for index, parts in enumerate(steps):
        expected = barriers[index]
        for region in parts:
            slowest = max(sum(cycles[p] * count for p, count in cell) for cell in region)
            expected += times[number] * max(slowest / 1e9, floor[number])
            number += 1
        assert step.seconds[index] == pytest.approx(expected)
        assert step.floor[index] <= step.seconds[index] * (1 + 1e-12)


def test_free_cycles_are_the_derivative_of_the_time() -> None:
    """A cycle more per iteration of a pass costs its iterations on the free critical path."""
    made = paths(
        [[[(0, 100.0), (1, 30.0)], [(2, 40.0)]], [[(2, 70.0)]]], [3, 1], [0, 200e-9]
    )  # fmt: skip
    cycles = np.array([2.0, 3.0, 1.0])

    def seconds(change: Callable[[Floats], StepTimes] | None, at: int = 0) -> float:
        moved = cycles + 1e-3 * (np.arange(3) == at) * (change is not None)
        return float(step_times(moved, made, 1e9).seconds[0])

    step = step_times(cycles, made, 1e9)
    for at in range(3):
        slope = (seconds(lambda _: step, at) - seconds(None)) / 1e-3 * 1e9
        assert slope == pytest.approx(step.free[at], abs=1e-6)
