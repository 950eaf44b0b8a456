"""Prints several sweeps over a grid that follow one another plane by plane, as C.

The code is a loop over fronts with a loop over sweeps inside, which calls a function for one plane.
``wavefront.h`` has what does not depend on the stencil: where planes lie, and the ghosts in rings.
"""

from collections.abc import Iterator, Sequence

from autotune.codegen.c.c_expressions import name
from autotune.codegen.c.c_lines import GLUE
from autotune.codegen.grid import grid_text
from autotune.codegen.grid.grid_text import Bounds
from autotune.codegen.tree import loop_tree

HEADER = "wavefront.h"


def storage(front: loop_tree.PlaneFront, blocks: Sequence[tuple[str, int]]) -> list[str]:
    """The body of the C function that claims the rings of a thread; ``blocks``: dimension and size
    of those around.
    """
    planes = _depth(front) * (front.sweeps - 1)
    size = "me->ld"
    if len(front.plane.dimensions) == 2:
        around, rows = 2 * _reach(front), "me->extent[1]"
        block = dict(blocks).get(front.plane.dimensions[0])
        if block is not None:
            rows = f"least({rows}, {block})"
        size = f"({rows} + {around})*me->stride[1]"
    return [
        f"    me->at_once = {front.sweeps};",
        f"    return claim_rings(me, {planes}, {size});",
    ]


def lines(
    front: loop_tree.PlaneFront, bounds: Bounds, function: str, last_arguments: Sequence[str]
) -> Iterator[str]:
    """The loops of a plane front; ``last_arguments``: those of its function after the planes."""
    slowest, *inner = front.sweep.dimensions
    first, last = bounds[slowest]
    radius = front.sweep.radius
    yield f"const long corner = {_corner(front, bounds)};"
    yield f"const long ahead = {radius}*(me->sweeps - 1);"
    start, end = f"{first} - ahead", f"{first} < {last} && front < {last} + ahead"
    yield f"for (long front = {start}; {end}; front++) {{"
    yield "    for (long sweep = 1; sweep <= me->sweeps; sweep++) {"
    body = [
        f"const long {slowest} = front - {radius}*(sweep - 1);",
        f"const long beyond = {radius}*(me->sweeps - sweep);",
        f"if ({slowest} < most(0, {first} - beyond) || {slowest} >= me->extent[0])",
        "    continue;",
    ]
    for place, d in enumerate(inner, start=1):
        begin, stop = bounds[d]
        body.append(f"const long begin_{d} = most(0, {begin} - beyond);")
        body.append(f"const long end_{d} = least(me->extent[{place}], {stop} + beyond);")
    body.append(f"double *const result = {_plane(front, 'sweep', 0)};")
    box = [f"{end}_{d}" for d in inner for end in ("begin", "end")]
    arguments = [*box, *_planes(front), *last_arguments]
    body.append(f"{function}({', '.join(arguments)});")
    body += ["if (sweep < me->sweeps)", f"    {_kept(front)}"]
    yield from (f"        {line}" for line in body)
    yield "    }"
    yield "}"


def _depth(front: loop_tree.PlaneFront) -> int:
    return 2 * front.sweep.radius + 1


def _reach(front: loop_tree.PlaneFront) -> int:
    """Points on a side of a block that a plane of a ring has room for: those that the first sweep
    computes for the later ones, and ghosts.
    """
    return front.sweep.radius * front.sweeps


def _corner(front: loop_tree.PlaneFront, bounds: Bounds) -> str:
    """The first element of a plane of a ring, counted from the interior point 0 of the plane."""
    radius = front.sweep.radius
    if len(front.plane.dimensions) == 1:
        return f"-{radius}"
    rows, _ = bounds[front.plane.dimensions[0]]
    return f"({rows} - {_reach(front)})*me->stride[1] - {radius}"


def _plane(front: loop_tree.PlaneFront, sweep: str, offset: int) -> str:
    """C text of the place of the plane ``offset`` after the current one, after a sweep."""
    slowest = front.sweep.dimensions[0]
    place = slowest if not offset else f"{slowest} {'+' if offset > 0 else '-'} {abs(offset)}"
    target = dict(front.sweep.rows)[front.sweep.target].array
    arrays = [f"ARRAY_{front.source}", f"ARRAY_{target}"]
    arguments = ["me", *arrays, sweep, place, str(_depth(front)), "corner"]
    return f"plane_of({', '.join(arguments)})".replace(" ", GLUE)


def _planes(front: loop_tree.PlaneFront) -> Iterator[str]:
    """The arguments for the planes that the function of a plane writes and reads."""
    offsets = dict(front.planes)
    for parameter, row in front.plane.rows:
        if parameter == front.plane.target:
            yield "result"
        elif row.array == front.source:
            yield _plane(front, "sweep - 1", offsets[parameter])
        else:
            slowest, offset = front.sweep.dimensions[0], offsets[parameter]
            place = f"({slowest}{GLUE}{'-' if offset < 0 else '+'}{GLUE}{abs(offset)})"
            place = place if offset else slowest
            yield f"me->array[ARRAY_{row.array}]{GLUE}+{GLUE}{place}*me->stride[0]"


def _kept(front: loop_tree.PlaneFront) -> str:
    """The call that copies ghosts into a plane of a ring."""
    *rows, d = front.plane.dimensions
    source = _plane(front, "0", 0)
    places = {name_: place for place, name_ in enumerate(front.sweep.dimensions)}
    ends = [f"begin_{d}", f"end_{d}", f"me->extent[{places[d]}]", str(front.sweep.radius)]
    if not rows:
        return f"keep_ends(result, {source}, {', '.join(ends)});"
    (j,) = rows
    frame = [f"begin_{j}", f"end_{j}", f"me->extent[{places[j]}]", "me->stride[1]"]
    return f"keep_frame(result, {source}, {', '.join([*frame, *ends])});"


def arguments(front: loop_tree.PlaneFront) -> list[str]:
    """The arguments of the function of a plane after the planes, without constants."""
    return [
        *(f"me->stride[{place}]" for place, _ in enumerate(grid_text.strides(front.plane), 1)),
        *(f"constants.{name(extent)}" for extent in grid_text.extents(front.plane)),
    ]
