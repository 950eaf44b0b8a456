"""Several sweeps over a grid as one pass, by planes or by tiles, and where this is legal."""

from collections.abc import Mapping
from dataclasses import replace

from autotune.codegen.grid.grid_text import own_names
from autotune.codegen.tree import loop_tree
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.stencil import SOURCE, offsets
from autotune.language.expression import Expr, Ref, rebuild, references


def plane_front(sweep: loop_tree.GridSweep, sweeps: int) -> loop_tree.PlaneFront:
    """So many repetitions of a sweep in one pass over the grid."""
    plane, planes = _plane(sweep)
    source = dict(sweep.rows)[SOURCE].array
    return loop_tree.PlaneFront(
        sweep=sweep, plane=plane, planes=planes, source=source, sweeps=sweeps
    )


def overlapped_tile(sweep: loop_tree.GridSweep, sweeps: int) -> loop_tree.OverlappedTile:
    """So many repetitions of a sweep on every block of the grid."""
    source = dict(sweep.rows)[SOURCE].array
    return loop_tree.OverlappedTile(sweep=sweep, source=source, sweeps=sweeps)


def _plane(sweep: loop_tree.GridSweep) -> tuple[loop_tree.GridSweep, tuple[tuple[str, int], ...]]:
    """The sweep of one plane, with a row parameter for each plane of an array that it reads."""
    slowest, *inner = sweep.dimensions
    stored = dict(sweep.rows)
    taken = {*stored, *(n for n, _ in sweep.constants), *own_names(sweep.dimensions)}
    names: dict[tuple[str, int], str] = {}
    for ref in references(sweep.value):
        offset = offsets(ref, sweep.dimensions)[0]
        if (ref.array, offset) not in names:
            name = f"{ref.array}_{'m' if offset < 0 else 'p' if offset else ''}{abs(offset)}"
            while name in taken:
                name += "_"
            taken.add(name)
            names[ref.array, offset] = name

    def change(part: Expr) -> Expr:
        if not isinstance(part, Ref):
            return part
        return Ref(names[part.array, offsets(part, sweep.dimensions)[0]], part.indices[1:])

    order = list(stored)
    read = sorted(names, key=lambda key: (order.index(key[0]), key[1]))
    plane = replace(
        sweep,
        name=f"{sweep.name}_plane",
        rows=(
            (sweep.target, stored[sweep.target]),
            *((names[key], stored[key[0]]) for key in read),
        ),
        dimensions=tuple(inner),
        value=rebuild(sweep.value, change),
        across=(slowest,),
    )
    return plane, tuple((names[key], key[1]) for key in read)


def check_blocks(
    sweep: loop_tree.GridSweep, blocks: Mapping[str, int], sweeps: int, *, tiles: bool
) -> None:
    """Raise ``IllegalTransformation`` for blocks that a pass of several sweeps cannot have.

    ``tiles``: the blocks are the tiles of the pass; else it goes from plane to plane.
    """
    slowest = sweep.dimensions[0]
    if tiles and not blocks:
        raise IllegalTransformation(
            f"{sweep.kernel} has no blocks, which are the tiles of several sweeps"
        )
    if slowest in blocks and not tiles:
        raise IllegalTransformation(
            f"the sweeps follow one another along {slowest}, which has no blocks then"
        )
    around = sweep.radius * (sweeps - 1)
    for dimension, size in blocks.items():
        if size < around:
            raise IllegalTransformation(
                f"a block of {size} points in {dimension} is smaller than the {around} points on"
                f" each side that {sweeps} sweeps of radius {sweep.radius} need"
            )


def check(body: loop_tree.NodeBlock) -> None:
    """Raise ``IllegalTransformation`` where the next time step is not the same sweep on its result.

    Several sweeps in one pass need a time step of one sweep, a barrier, and the exchange of the two
    arrays.
    """
    placed = loop_tree.several_sweeps(body)
    if placed is None:
        return
    several = placed[0]
    arrays = {several.source, dict(several.sweep.rows)[several.sweep.target].array}
    nodes = tuple(node for node in body.nodes if not isinstance(node, loop_tree.Comm))
    match nodes:
        case (_, loop_tree.Sync(), loop_tree.Swap(first=first, second=second)) if {
            first,
            second,
        } == arrays and not _repeated(nodes[0]):
            return
    raise IllegalTransformation(
        f"several sweeps of {several.sweep.kernel} in one pass need a time step of this sweep, a"
        f" barrier, and the exchange of {' and '.join(sorted(arrays))}"
    )


def _repeated(node: loop_tree.Node) -> bool:
    if isinstance(node, loop_tree.Tiles):
        return any(_repeated(inner) for inner in node.body.nodes)
    return isinstance(node, loop_tree.Repeat)


def too_thin(
    program: loop_tree.StepProgram, parts: Mapping[str | None, int], threads: int
) -> str | None:
    """Why a pass of several sweeps is not for threads with such parts of the grid; None if it is.

    ``parts``: dimension to the most points of a thread. A thread computes planes of its neighbours
    too; with more of these than of its own the sweeps gain nothing.
    """
    placed = loop_tree.several_sweeps(program.body)
    if placed is None or threads == 1:
        return None
    several = placed[0]
    slowest, radius = several.sweep.dimensions[0], several.sweep.radius
    around = radius * (several.sweeps - 1)
    if parts[slowest] >= around:
        return None
    return (
        f"a thread has {parts[slowest]} points in {slowest}, fewer than the {around} on each side"
        f" that {several.sweeps} sweeps of radius {radius} need"
    )
