"""Stencils and problems on grids: checked at construction, named, identified."""

from dataclasses import replace

import pytest

from autotune.domain.problem import StencilProblem
from autotune.domain.stencil import Stencil, strides
from autotune.domain.variant import Block, Candidate, Unroll, Variant
from autotune.language.expression import parse

STAR = Stencil(
    name="star",
    title="a star",
    source="a book",
    dimensions=("k", "j", "i"),
    constants={"c": parse("1/I")},
    body=parse("c*(u[k][j][i-1] + u[k][j][i+1] + u[k-2][j][i] + u[k][j][i-1])"),
    initial=parse("1.0 + i"),
)


def test_reads_are_each_once_and_in_descending_order():
    assert STAR.reads == {"u": ((0, 0, 1), (0, 0, -1), (-2, 0, 0))}
    assert (STAR.radius, STAR.minimum) == (2, 2)
    assert STAR.extent_names == ("K", "J", "I")
    assert STAR.values((3, 4, 5))["c"] == 0.2


def test_the_definition_is_what_is_computed():
    assert replace(STAR, name="other", title="x").definition == STAR.definition
    assert replace(STAR, initial=parse("2.0 + i")).definition != STAR.definition
    assert replace(STAR, constants={"c": parse("2/I")}).definition != STAR.definition


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dimensions": ("i",)}, "two or three dimensions"),
        ({"dimensions": ("k", "v", "i")}, "the name of an array"),
        ({"body": parse("v[k][j][i-1] + u[k][j][i]")}, "the target of the sweep"),
        ({"body": parse("c*u[k][j][i]")}, "reads no neighbour"),
        ({"body": parse("e*u[k][j][i-1]")}, "unknown name 'e'"),
        ({"constants": {"k": parse("1")}}, "the name 'k' is taken by the index of dimension k"),
        ({"constants": {"v": parse("1")}}, "the name 'v' is taken by the array that a sweep write"),
        ({"coefficients": {"u": parse("1")}}, "the name 'u' is taken by the array that a sweep r"),
        ({"coefficients": {"K": parse("1")}}, "the name 'K' is taken by the extent of dimension k"),
        ({"coefficients": {"c": parse("1")}}, "the name 'c' is taken by a constant"),
        ({"initial": parse("u[k][j][i]")}, "is an array element"),
    ],
)
def test_what_is_no_stencil_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        replace(STAR, **change)


def test_a_problem_is_named_by_its_extents():
    cube = StencilProblem(stencil=STAR, extents=(8, 8, 8))
    flat = cube.at((2, 8, 9))
    assert (cube.label, flat.label) == ("star-N8", "star-K2-J8-I9")
    assert (flat.n, flat.size_text, flat.size_name) == (144, "2x8x9", "K x J x I = 2 x 8 x 9")
    assert cube.key != flat.key
    assert cube.family == "stencil"


@pytest.mark.parametrize("extents", [(1, 8, 8), (8, 8), (8, 8, 8, 8)])
def test_extents_fit_the_stencil(extents):
    with pytest.raises(ValueError, match=r"fewer than the radius|an extent for each"):
        StencilProblem(stencil=STAR, extents=extents)


def test_rows_are_whole_lines_and_padding():
    assert strides((2, 8, 9), 2) == (192, 16, 1)
    assert strides((2, 8, 9), 2, lines=1) == (288, 24, 1)
    assert strides((8, 4), 2) == (8, 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Block("sweep", "j", 0),
        lambda: Block("sweep", "jj", 8),
        lambda: Unroll("sweep", "i", 0),
        lambda: Unroll("sweep", "I", 2),
    ],
)
def test_blocks_and_unrolling_are_checked(make):
    with pytest.raises(ValueError, match=r"at least one point|one small letter|at least once"):
        make()


def test_a_candidate_is_one_problem_and_one_variant():
    def candidate(extents, *changes):
        variant = Variant(skeleton="jacobi", transformations=changes, parameters={"bj": 8, "u": 1})
        problem = StencilProblem(stencil=STAR, extents=extents)
        return Candidate(variant=variant, problem=problem)

    one = candidate((2, 8, 8), Block("sweep", "j", 8))
    assert one.label == "bj8-u1@star-K2-J8-I8-T1"
    assert one.identity == candidate((2, 8, 8), Block("sweep", "j", 8)).identity
    others = [
        candidate((8, 2, 8), Block("sweep", "j", 8)),
        candidate((2, 8, 8), Block("sweep", "i", 8)),
        candidate((2, 8, 8), Block("sweep", "j", 4)),
    ]
    assert one.identity not in {other.identity for other in others}
    assert one.canonical()["extents"] == [2, 8, 8]
