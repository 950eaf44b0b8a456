"""What keeps the order of the points in sweeps that update a grid in place.

A point reads neighbours: those before it in the order of the loops have been updated, those after
it have not. A read at offset d is a dependence over the distance -d if the point there comes first,
and over d otherwise; the first number of a distance that is not 0 is positive. Blocks of some
dimensions run after one another whole, so no distance may go back in one of them:

    u[j-1][i+1]     distance (1, -1): rows in order are fine, blocks along i are not
"""

from collections.abc import Iterator, Mapping

from autotune.codegen.tree import loop_tree
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.stencil import offsets
from autotune.language.expression import references


def distances(sweep: loop_tree.GridSweep) -> Iterator[tuple[int, ...]]:
    """The distances between points of which the later one must come later, slowest first."""
    for ref in references(sweep.value):
        steps = offsets(ref, sweep.dimensions)
        if ref.array == sweep.target and any(steps):
            yield max(steps, tuple(-step for step in steps))


def check(sweep: loop_tree.GridSweep, blocks: Mapping[str, int], sweeps: int) -> None:
    """Raise ``IllegalTransformation`` for a sweep in place whose blocks change the order of points,
    and for several sweeps in one pass.
    """
    if not sweep.in_place:
        return
    if sweeps > 1:
        raise IllegalTransformation(
            f"{sweep.kernel} updates its array in place: there are no values of one time step for"
            " several sweeps in one pass"
        )
    if not sweep.ordered:
        return
    for distance in distances(sweep):
        for dimension, step in zip(sweep.dimensions, distance, strict=True):
            if step < 0 and dimension in blocks:
                text = ", ".join(map(str, distance))
                raise IllegalTransformation(
                    f"{sweep.kernel} in blocks of {dimension} updates points before those that they"
                    f" read: it carries a dependence over the distance ({text})"
                )
