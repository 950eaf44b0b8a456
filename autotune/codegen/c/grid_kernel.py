"""A sweep over a grid as kerncraft C: one nest of loops over all points, the native input of it.

Arrays have ghosts on all sides. A grid that is cut into blocks stands as a grid with rows and
planes of a block's size, and as many of them as hold all points: the blocks one behind the other,
as a sweep goes through them. So layer conditions are those of a block, and what a cache must hold
for nothing to come from below it is the whole grid. Lines that neighbouring blocks share are not
counted twice.

A sweep over every other point has no expression, since layer conditions need steps of one.
"""

from collections.abc import Mapping

from autotune.codegen.c.kernel_values import (
    KernelNames,
    KernelText,
    Unfit,
    index,
    nest,
    value_text,
)
from autotune.codegen.tree import loop_tree
from autotune.domain.stencil import offsets
from autotune.language.expression import Num, Ref, Sym, references, show

SIZES = ("M", "N", "P")
"""Extents of the arrays of a text with ghosts, as many as dimensions, the slowest first."""
UNROLLED = "unrolling does not enter: kerncraft compiles the plain loop"
BLOCKS = (
    "blocks stand as a grid with rows and planes of a block's size: lines that two blocks share are"
    " counted once"
)


def grid_text(sweep: loop_tree.GridSweep) -> KernelText | str:
    """The sweep as kerncraft C, or the reason why kerncraft cannot express it.

    The constants of the text are the extents ``SIZES`` themselves.
    """
    try:
        return _text(sweep)
    except Unfit as reason:
        return f"kerncraft cannot express {sweep.name}: {reason}"


def _text(sweep: loop_tree.GridSweep) -> KernelText:
    if sweep.colour is not None:
        raise Unfit("it updates every other point, and layer conditions need steps of 1")
    if sweep.streamed:
        raise Unfit("it stores past the caches")
    dimensions, sizes = sweep.dimensions, SIZES[: len(sweep.dimensions)]
    names = KernelNames({*dimensions, *sizes, "kernel"})
    refs = [*references(sweep.value), Ref(sweep.target, tuple(map(Sym, dimensions)))]
    arrays = {ref.array: "" for ref in refs}
    arrays = {name: names.fresh(name) for name in arrays}

    def element(ref: Ref) -> str:
        steps = zip(dimensions, offsets(ref, dimensions), strict=True)
        return arrays[ref.array] + "".join(f"[{index(name, step)}]" for name, step in steps)

    value = show(value_text(sweep.value, names, element, Num(0)))
    r = sweep.radius
    extents = "".join(f"[{size}]" for size in sizes)
    return KernelText(
        text=nest(
            names.declarations([name + extents for name in arrays.values()]),
            [
                f"for (long {name} = {r}; {name} < {size} - {r}; ++{name})"
                for name, size in zip(dimensions, sizes, strict=True)
            ],
            [f"{element(refs[-1])} = {value};"],
        ),
        constants=tuple((size, Sym(size)) for size in sizes),
        notes=(*names.notes, *((UNROLLED,) if sweep.unroll else ())),
    )


def grid_sizes(part: tuple[int, ...], blocks: tuple[int, ...], radius: int) -> Mapping[str, int]:
    """The extents of a text for the part of a grid of one core, cut into blocks; points without
    ghosts, the slowest dimension first.

    >>> dict(grid_sizes((10, 30, 60), (10, 30, 60), 1))
    {'M': 12, 'N': 32, 'P': 62}
    >>> dict(grid_sizes((10, 30, 60), (10, 8, 60), 1))
    {'M': 38, 'N': 10, 'P': 62}
    """
    whole = [extent + 2 * radius for extent in part]
    inner = [min(b, e) + 2 * radius for b, e in zip(blocks[1:], part[1:], strict=True)]
    total, below = 1, 1
    for extent in whole:
        total *= extent
    for extent in inner:
        below *= extent
    sizes = [max(total // below, 2 * radius + 1), *inner]
    return dict(zip(SIZES, sizes, strict=False))
