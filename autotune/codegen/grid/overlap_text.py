"""Prints several sweeps over a tile of a grid, each over fewer points around it, as C.

The code is a loop over sweeps, which calls the function of the sweep for its box. ``overlap.h`` has
what does not depend on the stencil: where buffers lie, and the ghosts in them.
"""

from collections.abc import Iterator, Sequence

from autotune.codegen.c.c_lines import GLUE
from autotune.codegen.grid import grid_text
from autotune.codegen.grid.grid_text import Bounds
from autotune.codegen.tree import loop_tree

HEADER = "overlap.h"
Blocks = Sequence[tuple[str, int]]
"""Dimension and size of the blocks around a tile, outermost first."""


def storage(tile: loop_tree.OverlappedTile, blocks: Blocks) -> list[str]:
    """The body of the C function that claims the buffers of a thread."""
    sizes = dict(blocks)
    points = ", ".join(str(sizes.get(d, 0)) for d in tile.sweep.dimensions)
    return [
        f"    me->at_once = {tile.sweeps};",
        f"    return claim_buffers(me, (long[]){{{points}}}, {tile.sweep.radius * tile.sweeps});",
    ]


def lines(
    tile: loop_tree.OverlappedTile, bounds: Bounds, function: str, constants: Sequence[str]
) -> Iterator[str]:
    """The loop over the sweeps of a tile; ``constants``: the last arguments of its function."""
    sweep = tile.sweep
    ends = [", ".join(bounds[d][end] for d in sweep.dimensions) for end in (0, 1)]
    source, target = tile.source, dict(sweep.rows)[sweep.target].array
    yield f"const struct box tile = {{{{{ends[0]}}}, {{{ends[1]}}}}};"
    yield f"keep_ghosts(me, ARRAY_{source}, &tile);"
    yield "for (long sweep = 1; sweep <= me->sweeps; sweep++) {"
    yield "    const struct box box = computed(me, &tile, sweep);"
    for row, number in ((source, "sweep - 1"), (target, "sweep")):
        arrays = f"me, ARRAY_{source}, ARRAY_{target}, {number}, &tile"
        yield f"    double *const {row}_ = points_of({arrays});"
    stored = [
        f"{row.array}_" if row.array in (source, target) else f"me->array[ARRAY_{row.array}]"
        for _, row in sweep.rows
    ]
    box = [
        f"box.{end}[{place}]" for place in range(len(sweep.dimensions)) for end in ("begin", "end")
    ]
    strides = [f"me->stride[{place}]" for place, _ in enumerate(grid_text.strides(sweep))]
    sizes = [f"constants.{extent}" for extent in grid_text.extents(sweep)]
    arguments = [*box, *stored, *strides, *sizes, *constants]
    yield f"    {function}({', '.join(a.replace(' ', GLUE) for a in arguments)});"
    yield "}"
