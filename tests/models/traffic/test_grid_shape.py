"""Shapes of sweeps over grids: rows around a point, blocks, the same in memory."""

from dataclasses import replace

import pytest

from autotune.codegen.tree.loop_tree import GridSweep, StoredRow
from autotune.language.expression import Num, parse
from autotune.models.traffic.grid.grid_shape import GridAccess, accesses, as_sweep, shape


def sweep(dimensions: tuple[str, ...] = ("k", "j", "i")) -> GridSweep:
    """Reads u at the point and one step along the slowest dimension, and C at the point."""
    here = "".join(f"[{name}]" for name in dimensions)
    ahead = here.replace(f"[{dimensions[0]}]", f"[{dimensions[0]}+1]")
    before = here.replace(f"[{dimensions[-1]}]", f"[{dimensions[-1]}-2]")
    return GridSweep(
        name="made",
        kernel="made",
        rows=(("v", StoredRow("v")), ("u", StoredRow("u")), ("C", StoredRow("C"))),
        dimensions=dimensions,
        value=parse(f"C{here}*u{here} + u{ahead} + u{before}"),
        target="v",
        radius=2,
    )


def test_rows_around_a_point_are_in_descending_order_with_their_spans() -> None:
    """Of a five-point star the row through the point has three elements."""
    star = ((0, 0, 0), (0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0))
    read, written = accesses({"u": star}, "v")
    assert (read.parameter, read.read, read.written) == ("u", True, False)
    assert read.rows == ((0, 1), (0, 0), (0, -1))
    assert read.spans == ((0, 0), (-1, 1), (0, 0))
    assert read.points == ((0, 1, 0), (0, 0, 1), (0, 0, 0), (0, 0, -1), (0, -1, 0))
    assert read.widest == (-1, 1)
    assert written == GridAccess("v", ((0, 0),), ((0, 0),), ((0, 0, 0),), False, True)


def test_an_array_that_is_read_and_written_is_one_access() -> None:
    (only,) = accesses({"u": ((0, 0, 3),)}, "u")
    assert (only.read, only.written) == (True, True)
    assert only.spans == ((0, 3),)
    assert only.points == ((0, 0, 3), (0, 0, 0))


def test_offsets_of_two_dimensions_have_no_middle_one() -> None:
    (read, _) = accesses({"u": ((1, 0), (0, -1))}, "v")
    assert read.rows == ((1, 0), (0, 0))
    assert read.points == ((1, 0, 0), (0, 0, -1))


@pytest.mark.parametrize(
    ("tiles", "blocks"),
    [
        ({}, (5, 20, 30)),
        ({"j": 4}, (5, 4, 30)),
        ({"i": 8, "k": 2}, (2, 20, 8)),
        ({"i": 99}, (5, 20, 30)),
        ({"k": 2}, (5, 20, 30)),  # without blocks inside it a block of planes is ignored
        ({"k": 2, "j": 20, "i": 30}, (5, 20, 30)),
    ],
)
def test_blocks_are_as_told_within_the_part_of_the_thread(
    tiles: dict[str, int], blocks: tuple[int, int, int]
) -> None:
    made = shape(sweep(), tiles, (10, 20, 30), 5)
    assert made.extents == (5, 20, 30)
    assert made.blocks == blocks
    assert (made.radius, made.planar, made.points) == (2, False, 3000)
    assert [access.parameter for access in made.accesses] == ["C", "u", "v"]


@pytest.mark.parametrize(
    ("tiles", "blocks", "run"),
    [({}, (5, 1, 30), 150.0), ({"i": 8}, (5, 1, 8), 8.0), ({"j": 2, "i": 8}, (2, 1, 8), 8.0)],
)
def test_two_dimensions_are_three_with_one_row_in_the_middle(
    tiles: dict[str, int], blocks: tuple[int, int, int], run: float
) -> None:
    made = shape(sweep(("j", "i")), tiles, (10, 30), 5)
    assert made.planar
    assert (made.extents, made.blocks, made.points) == ((5, 1, 30), blocks, 150)
    assert made.run == run


@pytest.mark.parametrize(
    ("blocks", "run"), [((5, 20, 30), 3000.0), ((5, 4, 30), 120.0), ((5, 4, 8), 8.0)]
)
def test_a_run_ends_where_the_block_does(blocks: tuple[int, int, int], run: float) -> None:
    assert replace(shape(sweep(), {}, (10, 20, 30), 5), blocks=blocks).run == run


@pytest.mark.parametrize("dimensions", [("i",), ("l", "k", "j", "i")])
def test_grids_have_two_or_three_dimensions(dimensions: tuple[str, ...]) -> None:
    one = replace(sweep(), dimensions=dimensions, value=Num(0))
    with pytest.raises(ValueError, match=f"a grid of {len(dimensions)} dimensions: two and three"):
        shape(one, {}, (10,) * len(dimensions), 5)


def test_in_memory_planes_and_rows_are_strides_apart() -> None:
    """Rows of 30 points and ghosts take 40 elements, planes 24 such rows."""
    whole = shape(sweep(), {"i": 8}, (10, 20, 30), 5)
    made = as_sweep(whole, (10, 20, 30))
    plane = 24 * 40
    assert (made.lower, made.upper, made.share, made.run) == (0, 3000, 1.0, 8.0)
    offsets = {access.parameter: access.offsets for access in made.accesses}
    assert offsets == {"C": (0,), "u": (plane, 0, -2), "v": (0,)}
    assert made.streams == (("C", 0), ("u", plane), ("u", 0), ("v", 0))
    assert made.starts == (2, 10, 18, 26)
    flags = {access.parameter: (access.read, access.written) for access in made.accesses}
    assert flags == {"C": (True, False), "u": (True, False), "v": (False, True)}


def test_starts_repeat_after_a_line_of_blocks() -> None:
    """Blocks of 2 points: eight of them begin differently in the lines."""
    made = as_sweep(shape(sweep(), {"i": 2}, (10, 20, 30), 5), (10, 20, 30))
    assert made.starts == (2, 4, 6, 8, 10, 12, 14, 16)


def test_in_a_plane_the_slowest_dimension_is_a_row_apart() -> None:
    made = as_sweep(shape(sweep(("j", "i")), {}, (10, 30), 5), (10, 30))
    offsets = {access.parameter: access.offsets for access in made.accesses}
    assert offsets["u"] == (40, 0, -2)


def test_points_of_the_first_row_read_a_line_on_its_way() -> None:
    """A box has three points in it, a star one."""
    box = GridAccess("u", ((1, 0), (0, 0)), ((-1, 1), (-1, 1)), (), True, False)
    assert box.again
    assert not box._replace(spans=((0, 0), (-1, 1))).again
    assert not box._replace(read=False).again
