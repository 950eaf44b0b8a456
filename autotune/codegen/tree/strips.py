"""The planes of a pipeline cut into strips of rows, each of which passes all stages by itself."""

from dataclasses import replace
from math import ceil

from autotune.codegen.tree.loop_nests import Node, Nodes, PipelineNest, rebuild
from autotune.codegen.tree.loop_tree import PlaneStrips
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Ivp, Region
from autotune.language.expression import Bin, Expr, Sym, number

_SIZES = (11, 101, 1009)
"""Problem sizes at which offsets are split into planes and rows, beside the smallest one."""


def strip(tree: Nodes, rows: int) -> Nodes:
    """A pipeline that takes one strip of the rows of all planes after another.

        pipeline { stages }                         before
        strips { pipeline { stages of a strip } }   after

    Stage k of S computes the rows of its strip and, on both sides, those that the S - 1 - k later
    stages read: what lies in the windows is of the same strip. Nothing that the step reads is
    written in it, and every strip writes rows of its own. So this is legal where the pipeline
    writes into second copies and ``plane_strips`` finds how many rows a right-hand side reads.
    """
    if not any(isinstance(node, PipelineNest) for node in tree):
        raise IllegalTransformation("only a pipeline runs strip by strip")

    def change(node: Node) -> Nodes:
        if not isinstance(node, PipelineNest):
            return (node,)
        if node.in_place is not None:
            raise IllegalTransformation(
                f"a pipeline that writes {node.in_place[0]} in its place has no strips: the next"
                " strip reads the old values beside it"
            )
        return (replace(node, strip=rows),)

    return rebuild(tree, change)


def plane_strips(ivp: Ivp, rows: int) -> PlaneStrips:
    """The strips of at most ``rows`` rows of the planes of an IVP.

    Raises ``IllegalTransformation`` for an IVP without planes, or whose right-hand side reads what
    lies beyond the first or last component of a plane.
    """
    if ivp.plane is None or ivp.row is None:
        raise IllegalTransformation(f"{ivp.name} has no planes of rows, so there are no strips")
    if ivp.periodic or ivp.reads_anywhere:
        raise IllegalTransformation(
            f"a right-hand side of {ivp.name} reads components of y beyond the strips around it"
        )
    sizes = (ivp.minimum, *(size for size in _SIZES if size > ivp.minimum))
    margins = [
        _margin(ivp, region, offset, sizes)
        for region in ivp.regions
        for offset in _offsets(ivp, region)
    ]
    return PlaneStrips(rows, max(margins, default=0), ivp.row, ivp.plane)


def _offsets(ivp: Ivp, region: Region) -> list[Expr]:
    """What a region adds to j where it reads y."""
    return [Bin("-", ref.indices[0], Sym("j")) for ref in ivp.reads(region.body)]


def _margin(ivp: Ivp, region: Region, offset: Expr, sizes: tuple[int, ...]) -> int:
    """The rows that an offset goes beyond those of the component, apart from whole planes."""
    most = 0
    planes: int | None = None
    for size in reversed(sizes):
        values = {**ivp.values(size), "j": 0}
        row, plane = ivp.row_length(size), ivp.plane_length(size)
        assert row is not None
        assert plane is not None
        shift = int(number(offset, values))
        planes = round(shift / plane) if planes is None else planes
        within = shift - planes * plane
        first, last = 0, plane - 1
        if region.rows is not None:
            first = int(number(region.rows[0], values)) * row
            last = int(number(region.rows[1], values)) * row - 1
        if region.columns is not None:
            begin, end = (int(number(column, values)) for column in region.columns)
            first, last = first + begin, last - (row - end)
        if first <= last and not (first + within >= 0 and last + within < plane):
            raise IllegalTransformation(
                f"{ivp.name} reads beyond the rows of a plane, so its strips are not apart"
            )
        most = max(most, ceil(abs(within) / row))
    return most
