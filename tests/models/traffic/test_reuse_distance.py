"""Reuse distances of passes made by hand, against a walk over pieces of their objects."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.models.traffic.passes import Pass, PassGroup, ThreadPasses, Touch, Trail
from autotune.models.traffic.reuse_distance import POSITIONS, ThreadStreams, streams

PIECES = 512
"""Pieces of an object in the walk: enough that each position of a tile is the middle of some."""
LINE = 64
Last = npt.NDArray[np.int64]
"""(objects, pieces): time of the last touch, 0 if there was none."""
MACRO = (np.arange(POSITIONS) + 0.5) / POSITIONS
MICRO = ((5 * np.arange(POSITIONS)) % POSITIONS + 0.5) / POSITIONS


def touch(
    at: int, *, read: bool = True, written: bool = False, remote: bool = False, gap: int = 0
) -> Touch:
    trails = (Trail(gap, 1000.0),) if gap else ()
    return Touch(at, at, read, written, remote, trails)


def sweep(call: int, *touches: Touch, whole: bool = True) -> Pass:
    return Pass(call, 100.0, touches, whole)


def alone(item: Pass) -> PassGroup:
    return PassGroup((item,), 1.0, 100.0)


def thread(step: tuple[PassGroup, ...], *sizes: float) -> ThreadPasses:
    return ThreadPasses((step, step), sizes, 1)


def positions(tile: float) -> list[int]:
    """The pieces at which distances are given: within each tile in an order of their own."""
    start = np.floor(MACRO / tile) * tile
    inside = start + MICRO * (np.minimum(1.0, start + tile) - start) if tile < 1 else MACRO
    return [int(x * PIECES) for x in inside]


@dataclass
class Walk:
    """A walk over all passes piece by piece, each with the time of its last touch."""

    passes: ThreadPasses
    time: int = 0

    def distances(self) -> dict[tuple[int, int, int], float]:
        """(pass, object, piece) to bytes of the pieces touched since, inf if there was no touch."""
        last = np.zeros((len(self.passes.sizes), PIECES), dtype=np.int64)
        sizes = np.array(self.passes.sizes) / PIECES
        distances = {}
        before = 0
        for group in (group for step in self.passes.steps for group in step):
            size, pieces = round(group.tile * PIECES), positions(group.tile)
            for begin in range(0, PIECES, size):
                for number, item in enumerate(group.passes, before):
                    touched = [part.object for part in item.touches]
                    done = begin
                    for piece in sorted(p for p in pieces if begin <= p < begin + size):
                        self.touch(last, touched, range(done, piece), item.whole)
                        done = piece
                        for at in touched:
                            since = float(sizes @ (last > last[at, piece]).sum(axis=1))
                            seen = last[at, piece] > 0
                            distances[number, at, piece] = since if seen else np.inf
                    self.touch(last, touched, range(done, begin + size), item.whole)
            before += len(group.passes)
        return distances

    def touch(self, last: Last, touched: list[int], pieces: range, whole: bool) -> None:
        if whole:
            for place, at in enumerate(touched, self.time + 1):
                times = np.arange(len(pieces)) * len(touched)
                last[at, pieces.start : pieces.stop] = place + times
            self.time += len(pieces) * len(touched)


def compare(passes: ThreadPasses) -> ThreadStreams:
    """Distances agree at every position up to the pieces that lie beside it."""
    result = streams(passes, LINE)
    events = Walk(passes).distances()
    begin = sum(len(group.passes) for group in passes.steps[0])
    groups = [group for group in passes.steps[-1] for _ in group.passes]
    slack = 4 * sum(passes.sizes) / PIECES
    leading = [
        (number, part.object) for number, item in enumerate(result.passes) for part in item.touches
    ]
    for stream, (number, at) in enumerate(leading):
        pieces = positions(groups[number].tile)
        expected = [events[begin + number, at, piece] for piece in pieces]
        assert result.history.distance[stream] == pytest.approx(expected, abs=slack), (number, at)
    return result


def test_a_pass_that_repeats_itself_touches_all_of_its_objects_in_between() -> None:
    passes = thread((alone(sweep(0, touch(0), touch(1, written=True))),), 4096.0, 1024.0)
    result = compare(passes)
    assert result.history.distance.tolist() == [[5120.0] * POSITIONS] * 2
    assert result.lines.tolist() == [8 / 64] * 2
    assert result.owner.tolist() == [0, 0]


def test_distances_are_linear_in_the_position_between_two_passes() -> None:
    """A reads a, B reads a and b: behind A lies the right of a, and the left of a and b."""
    step = (alone(sweep(0, touch(0))), alone(sweep(1, touch(0), touch(1))))
    result = compare(thread(step, 4096.0, 1024.0))
    again = 4096 + MACRO * 1024
    assert result.history.distance[1] == pytest.approx(again)
    first = 4096 + (1 - MACRO) * 1024
    assert result.history.distance[0] == pytest.approx(first)


def test_an_object_never_touched_before_is_infinitely_far() -> None:
    once = (alone(sweep(0, touch(0))),)
    later = (alone(sweep(0, touch(0))), alone(sweep(1, touch(1))))
    result = streams(ThreadPasses((once, later), (512.0, 512.0), 1), LINE)
    assert np.isinf(result.history.distance[1]).all()
    assert np.isfinite(result.history.distance[0]).all()


def test_within_a_tile_only_the_tile_lies_between() -> None:
    """A then B over one object of 8 KiB in tiles of an eighth: one KiB, in place of eight."""
    pair = (sweep(0, touch(0)), sweep(1, touch(0)))
    tiled = compare(thread((PassGroup(pair, 0.125, 12.5),), 8192.0))
    assert tiled.history.distance[1].tolist() == [1024.0] * POSITIONS
    whole = compare(thread(tuple(alone(item) for item in pair), 8192.0))
    assert whole.history.distance[1].tolist() == [8192.0] * POSITIONS


def test_a_pass_of_few_components_leaves_the_caches_as_they_were() -> None:
    short = alone(sweep(1, touch(1), whole=False))
    with_it = streams(thread((alone(sweep(0, touch(0))), short), 4096.0, 64.0), LINE)
    without = streams(thread((alone(sweep(0, touch(0))),), 4096.0, 64.0), LINE)
    assert with_it.history.distance[0].tolist() == without.history.distance[0].tolist()
    assert np.isinf(with_it.history.distance[1]).all(), (
        "nobody else touched what the short pass touches"
    )


@st.composite
def made(draw: st.DrawFn) -> ThreadPasses:
    """Two equal steps of up to four groups over up to four objects."""
    sizes = draw(st.lists(st.sampled_from([512.0, 2048.0, 8192.0]), min_size=2, max_size=4))
    chosen = st.sets(st.integers(0, len(sizes) - 1), min_size=1, max_size=3)
    groups, call = [], 0
    for count in draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)):
        items = []
        for _ in range(count):
            items.append(sweep(call, *(touch(at) for at in sorted(draw(chosen)))))
            call += 1
        tile = draw(st.sampled_from([0.125, 0.25, 0.5])) if count > 1 else 1.0
        groups.append(PassGroup(tuple(items), tile, 100 * tile))
    return thread(tuple(groups), *sizes)


@settings(max_examples=20, derandomize=True)
@given(passes=made())
def test_any_passes_and_tiles_agree_with_the_walk(passes: ThreadPasses) -> None:
    compare(passes)


# --- what is written --------------------------------------------------------------------------


def test_a_written_line_drifts_out_as_far_as_it_is_away_until_it_is_written_again() -> None:
    """Written by A, read by C: the farther of the ways A to C and C to the next A."""
    step = (
        alone(sweep(0, touch(0, written=True))),
        alone(sweep(1, touch(1))),
        alone(sweep(2, touch(0))),
    )
    result = compare(thread(step, 1024.0, 16384.0))
    farther = np.maximum(result.history.distance[0], result.history.distance[2])
    assert result.outward[0] == pytest.approx(farther)
    assert np.isnan(result.outward[1:]).all()


def test_two_writes_of_a_line_share_its_way() -> None:
    step = (
        alone(sweep(0, touch(0, written=True))),
        alone(sweep(1, touch(1))),
        alone(sweep(2, touch(0, written=True))),
    )
    result = compare(thread(step, 1024.0, 16384.0))
    assert result.outward[0] == pytest.approx(result.history.distance[2])
    assert result.outward[2] == pytest.approx(result.history.distance[0])


@pytest.mark.parametrize(
    ("read", "written", "stores"),
    [(True, False, False), (True, True, False), (False, True, True)],
)
def test_a_store_is_written_without_being_read(read: bool, written: bool, stores: bool) -> None:
    result = streams(thread((alone(sweep(0, touch(0, read=read, written=written))),), 512.0), LINE)
    assert result.history.stores.tolist() == [stores]
    assert np.isnan(result.outward).any() != written


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("wr", [True, False]),  # the step repeats: what is written was read by others before
        ("rw", [False, True]),
        ("wwr", [True, False, False]),  # only the first write meets the copies of others
        ("wrw", [False, False, True]),
        ("ww", [False, False]),  # nobody else reads
        ("rr", [False, False]),
    ],
)
def test_the_first_write_after_others_have_read_reclaims_the_line(
    order: str, expected: list[bool]
) -> None:
    step = tuple(
        alone(sweep(k, touch(0, read=letter == "r", written=letter == "w", remote=letter == "r")))
        for k, letter in enumerate(order)
    )
    result = streams(thread(step, 512.0), LINE)
    assert result.history.reclaimed.tolist() == expected
    assert result.history.remote.tolist() == [letter == "r" for letter in order]


def test_only_as_many_lines_are_reclaimed_as_others_have_read() -> None:
    """Others read a tenth of the row; a sweep writes a twentieth of it, then one writes all."""
    halo = touch(0, remote=True)._replace(beyond=0.1 - 1)
    border = Pass(1, 5.0, (touch(0, read=False, written=True),), whole=False)
    step = (alone(sweep(0, halo)), alone(border), alone(sweep(2, touch(0, written=True))))
    result = streams(thread(step, 8000.0), LINE)
    assert result.history.reclaimed == pytest.approx([0.0, 1.0, 0.05])


# --- trailing offsets -------------------------------------------------------------------------


def test_trailing_offsets_are_further_loads_of_the_row() -> None:
    result = streams(thread((alone(sweep(0, touch(0, written=True, gap=16))),), 8192.0), LINE)
    assert result.row.tolist() == [0, 0]
    assert result.history.distance[1].tolist() == [1000.0] * POSITIONS
    assert np.isnan(result.outward[1]).all()
    assert not result.history.stores[1]


def test_a_gap_over_the_border_of_a_tile_reaches_behind_the_other_passes() -> None:
    """Tiles of 64 components, a gap of 16: a quarter of each tile begins in the one before.

    The other pass reads a row of its own, 64 components of eight bytes, in between.
    """
    pair = (sweep(0, touch(0, gap=16)), sweep(1, touch(1)))
    result = streams(thread((PassGroup(pair, 0.125, 64.0),), 4096.0, 4096.0), LINE)
    over = MICRO * 64 < 16
    assert over.sum() == POSITIONS / 4
    assert result.history.distance[2] == pytest.approx(1000 + over * 8 * 64)


def test_what_comes_after_a_tile_loop_does_not_lie_within_its_gaps() -> None:
    pair = (sweep(0, touch(0, gap=16)), sweep(1, touch(1)))
    step = (PassGroup(pair, 0.125, 64.0), alone(sweep(2, touch(2))))
    result = streams(thread(step, 4096.0, 4096.0, 4096.0), LINE)
    over = MICRO * 64 < 16
    assert result.history.distance[3] == pytest.approx(1000 + over * 8 * 64)


@pytest.mark.parametrize("gap", [16, 64, 100])
def test_a_row_of_both_passes_counts_from_the_begin_of_the_earlier_tile(gap: int) -> None:
    """Another pass reads the same row: what of the earlier tile lies before the gap is new.

    A gap longer than a tile has nothing before it but what this tile has touched.
    """
    pair = (sweep(0, touch(0, gap=gap)), sweep(1, touch(0)))
    result = streams(thread((PassGroup(pair, 0.125, 64.0),), 4096.0), LINE)
    inside = MICRO * 64
    expected = np.where(inside < gap, 8 * (max(64 - gap, 0) + inside), 0.0)
    assert result.history.distance[2] == pytest.approx(1000 + expected)


def test_threads_that_do_the_same_are_one_with_a_number() -> None:
    step = (alone(sweep(0, touch(0))),)
    result = streams(ThreadPasses((step, step), (512.0,), 7), LINE)
    assert (result.alike, len(result.passes)) == (7, 1)
