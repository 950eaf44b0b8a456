"""Unroll-and-jam of short loops: the same result, and the sweeps of several iterations in one."""

import re

import pytest
from codegen_build import Workshop, problem, reference, sources, state, variant

from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.variant import (
    FuseTiles,
    Interchange,
    Jam,
    Pipeline,
    Tile,
    Transformation,
    Vectorize,
)
from autotune.measuring.verification import verify

STEPS = 3
OUTER = {"ijl": "i", "ilj": "i", "lij": "l", "lji": "l"}


def order(loops: str) -> Interchange:
    return Interchange("lc", tuple(loops))


def agrees(
    workshop: Workshop,
    ivp: str,
    size: int,
    *transformations: Transformation,
    method: str = "radau-iia-7",
) -> None:
    at = problem(ivp, size, method)
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    program = workshop.build(sources(variant(*transformations), at))
    for threads in (1, 3):
        verdict = verify.judge(state(program, at, threads, STEPS), expected, fields)
        assert verdict.status == "ok", f"{ivp} {threads}: {verdict.detail}"


@pytest.mark.parametrize("loops", OUTER)
@pytest.mark.parametrize("factor", [2, 3, 4, 7])
def test_jammed_loops_agree_with_the_reference(loops: str, factor: int, workshop: Workshop) -> None:
    agrees(workshop, "medakzo", 201, order(loops), Jam("lc", OUTER[loops], factor))


@pytest.mark.parametrize("loops", ["ilj", "lij"])
@pytest.mark.parametrize("method", ["radau-iia-5", "radau-iia-11"])
def test_iterations_left_over_agree(loops: str, method: str, workshop: Workshop) -> None:
    agrees(workshop, "heat2d", 23, order(loops), Jam("lc", OUTER[loops], 2), method=method)
    inner = "l" if loops == "ilj" else "i"
    agrees(workshop, "heat2d", 23, order(loops), Jam("lc", inner, 2), method=method)


def test_both_loops_the_right_hand_side_and_tiles_agree(workshop: Workshop) -> None:
    both = (Jam("lc", "l", 2), Jam("lc", "i", 2))
    agrees(workshop, "medakzo", 201, order("lij"), *both)
    agrees(workshop, "string-mix", 301, order("lij"), Jam("rhs", "l", 2), Vectorize(4))
    agrees(workshop, "heat2d", 23, order("lij"), Tile("lc", 64), Jam("lc", "l", 4))
    fused = FuseTiles("rhs", "lc", 64, "Y")
    agrees(workshop, "heat2d", 23, order("ilj"), fused, Jam("lc", "i", 2))
    agrees(workshop, "flock", 101, order("lij"), Jam("rhs", "l", 3), Vectorize(4))
    agrees(workshop, "wave1d", 501, order("lji"), Pipeline("k", 64), Jam("lc", "l", 2))


def test_shared_rows_are_parameters_once() -> None:
    texts = sources(variant(order("lij"), Jam("lc", "l", 2)), problem("heat2d", 23))
    text = next(t for name, t in texts.items() if re.search(r"lc_.*add_jam2", name))
    declared = re.search(r"void \w+\((.*?)\)", text, re.DOTALL)
    assert declared is not None
    names = re.findall(r"\*restrict (\w+)", declared[1])
    assert sorted(names) == ["F_i", "Y_l", "Y_l_1"]
    step = texts["step.c"]
    assert "for (int l = 0; l < 2; l++)" in step
    assert re.search(r"row\(me, ARRAY_Y, 2\*l \+ 1\)", step)


@pytest.mark.parametrize(
    ("transformations", "reason"),
    [
        ((order("jil"), Jam("lc", "l", 2)), "no loop over l is around the sweeps of lc"),
        ((order("ijl"), Jam("lc", "l", 2)), "no loop over l is around the sweeps of lc"),
        ((order("lij"), Jam("lc", "m", 2)), "no loop over m"),
        ((order("lij"), Jam("axpy", "l", 2)), "no loop over l is around the sweeps of axpy"),
        ((order("lij"), Jam("lc", "k", 2)), "no loop over k is around the sweeps of lc"),
    ],
)
def test_what_cannot_be_jammed_is_refused(
    transformations: tuple[Transformation, ...], reason: str
) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        sources(variant(*transformations), problem("heat2d", 23))


def test_one_iteration_is_no_jam() -> None:
    with pytest.raises(ValueError, match="at least two iterations are jammed, not 1"):
        Jam("lc", "l", 1)
