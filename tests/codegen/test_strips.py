"""Pipelines that take one strip of the rows of all planes after another: the same result."""

from dataclasses import replace

import pytest
from codegen_build import Workshop, problem, reference, sources, state, variant

from autotune.codegen.tree.strips import plane_strips
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Ivp
from autotune.domain.variant import (
    Contract,
    Fuse,
    Hoist,
    InPlace,
    Interchange,
    NeighbourSync,
    Pad,
    Pipeline,
    StreamStores,
    StripPlanes,
    Transformation,
)
from autotune.language.expression import parse
from autotune.measuring.verification import verify

STEPS = 3
JLI = Interchange("lc", ("j", "l", "i"))
FUSED = (JLI, Fuse("approx", "update"))


def agrees(workshop: Workshop, ivp: str, size: int, *transformations: Transformation) -> None:
    at = problem(ivp, size)
    expected = reference(at, STEPS)
    program = workshop.build(sources(variant(*transformations), at))
    for threads in (1, 2, 3, 7):
        verdict = verify.judge(
            state(program, at, threads, STEPS), expected, verify.fields(at.ivp, at.size)
        )
        assert verdict.status == "ok", f"{ivp} {threads}: {verdict.detail}"


@pytest.mark.parametrize(("ivp", "size"), [("heat3d", 23), ("brusselator2d-mix", 71)])
@pytest.mark.parametrize("rows", [1, 4, 12, 70])
def test_strips_of_any_width_agree(ivp: str, size: int, rows: int, workshop: Workshop) -> None:
    agrees(workshop, ivp, size, Pipeline("k", 64), StripPlanes(rows), Pad(5))
    agrees(workshop, ivp, size, JLI, Pipeline("k", 1024), Contract("F"), StripPlanes(rows))


@pytest.mark.parametrize(("ivp", "size"), [("heat3d", 3), ("heat3d", 4), ("brusselator2d-mix", 3)])
def test_the_smallest_planes_agree(ivp: str, size: int, workshop: Workshop) -> None:
    agrees(workshop, ivp, size, Pipeline("k", 64), StripPlanes(1))


@pytest.mark.parametrize(
    "further",
    [
        (Contract("F"), Hoist("rhs_first", "l")),
        (Contract("F"), StreamStores("update")),
        (NeighbourSync("neighbours"),),
    ],
)
def test_strips_go_with_other_rules(
    further: tuple[Transformation, ...], workshop: Workshop
) -> None:
    agrees(workshop, "heat3d", 21, *FUSED, Pipeline("k", 64), StripPlanes(5), *further)


@pytest.mark.parametrize(("ivp", "margin"), [("heat3d", 1), ("brusselator2d-mix", 1)])
def test_a_strip_needs_the_rows_that_are_read(ivp: str, margin: int) -> None:
    assert plane_strips(problem(ivp, 11).ivp, 4).margin == margin


def reading(offset: str) -> Ivp:
    """Heat3D, of which the inner components read y at an offset."""
    ivp = problem("heat3d", 11).ivp
    body = parse(f"y[j] + y[j+{offset}]")
    regions = tuple(
        replace(region, body=body) if ivp.reads(region.body) else region for region in ivp.regions
    )
    return replace(ivp, regions=regions)


@pytest.mark.parametrize(("offset", "margin"), [("P-N", 1), ("N+1", 2), ("1", 1), ("P", 0)])
def test_offsets_are_split_into_planes_and_rows(offset: str, margin: int) -> None:
    assert plane_strips(reading(offset), 4).margin == margin


def test_what_has_no_strips_is_refused() -> None:
    chosen: list[tuple[str, tuple[Transformation, ...], str]] = [
        ("heat2d", (Pipeline("k", 64), StripPlanes(4)), "heat2d has no planes of rows"),
        ("heat3d", (StripPlanes(4),), "only a pipeline runs strip by strip"),
        ("heat3d", (Pipeline("k", 64), StripPlanes(4), InPlace("y")), "needs a second copy of y"),
        ("heat3d", (Pipeline("k", 64), InPlace("y"), StripPlanes(4)), "in its place has no strips"),
    ]
    for ivp, transformations, reason in chosen:
        with pytest.raises(IllegalTransformation, match=reason):
            sources(variant(*transformations), problem(ivp, 11))
    with pytest.raises(IllegalTransformation, match="heat3d reads beyond the rows of a plane"):
        plane_strips(reading("2*N"), 4)
    with pytest.raises(ValueError, match="at least one row"):
        StripPlanes(0)
