"""Where vector loops begin, and the length of their vectors: the same result in any case."""

import re
from dataclasses import replace

import pytest
from codegen_build import Workshop, problem, reference, sources, state, variant

from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.variant import (
    Align,
    Contract,
    Fuse,
    Interchange,
    Pad,
    Pipeline,
    Prefetch,
    StreamStores,
    Transformation,
    Vectorize,
)
from autotune.language.expression import Bin, Sym, parse
from autotune.measuring.verification import verify

STEPS = 3
JLI = Interchange("lc", ("j", "l", "i"))


def agrees(workshop: Workshop, ivp: str, size: int, *transformations: Transformation) -> None:
    at = problem(ivp, size)
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    program = workshop.build(sources(variant(*transformations), at))
    for threads in (1, 3):
        verdict = verify.judge(state(program, at, threads, STEPS), expected, fields)
        assert verdict.status == "ok", f"{ivp} {threads}: {verdict.detail}"


@pytest.mark.parametrize(
    ("ivp", "size"),
    [("heat2d", 61), ("heat2d", 64), ("heat2d", 5), ("heat3d", 13), ("wave1d", 501)],
)
@pytest.mark.parametrize("doubles", [2, 8])
def test_aligned_loops_agree_with_the_reference(
    ivp: str, size: int, doubles: int, workshop: Workshop
) -> None:
    agrees(workshop, ivp, size, Align(doubles), Pad(1))


@pytest.mark.parametrize(("ivp", "size"), [("heat2d", 61), ("inverterchain", 701), ("heat3d", 13)])
def test_aligned_stages_of_a_pipeline_agree(ivp: str, size: int, workshop: Workshop) -> None:
    agrees(workshop, ivp, size, JLI, Pipeline("k", 64), Contract("F"), Align(8), Pad(5))


def test_only_loops_that_may_begin_elsewhere_change() -> None:
    at = problem("heat2d", 61)
    plain, aligned = sources(variant(), at), sources(variant(Align(4)), at)
    changed = {name for name in aligned if name not in plain}
    assert changed == {f"sweep_f_heat2d_{band}_align4.c" for band in (1, 2)}
    text = aligned["sweep_f_heat2d_1_align4.c"]
    assert "const long multiple = (from + 3) / 4*4;" in text
    assert len(re.findall(r"INDEPENDENT\n +for \(long j = aligned; j < to; j\+\+\)", text)) == 1
    assert {n for n in plain if n not in aligned} == {f"sweep_f_heat2d_{b}.c" for b in (1, 2)}


def test_loops_that_begin_there_anyway_are_left() -> None:
    with pytest.raises(IllegalTransformation, match="begins at a multiple of 8 components already"):
        sources(variant(Align(8)), problem("string-mix", 32))


@pytest.mark.parametrize("doubles", [0, 1, 3, 16])
def test_only_parts_of_a_line_and_the_line_are_places(doubles: int) -> None:
    with pytest.raises(ValueError, match=f"multiples of 2, 4, 8 doubles, not {doubles}"):
        Align(doubles)


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize(("ivp", "size"), [("heat2d", 61), ("brusselator2d-mix", 23)])
def test_vectors_of_any_length_agree(ivp: str, size: int, lanes: int, workshop: Workshop) -> None:
    agrees(workshop, ivp, size, JLI, Pipeline("k", 64), Contract("F"), Vectorize(lanes))
    agrees(workshop, ivp, size, Vectorize(lanes), Pad(1))


def test_aligned_loops_have_the_vectors_too(workshop: Workshop) -> None:
    at = problem("heat2d", 61)
    texts = sources(variant(Align(8), Vectorize(4)), at)
    text = texts["sweep_f_heat2d_1_align8_simd4.c"]
    assert '#define INDEPENDENT _Pragma("omp simd simdlen(4)")' in text
    assert "multiple" in text
    assert all("simdlen(4)" in t for name, t in texts.items() if name.endswith("_simd4.c"))
    agrees(workshop, "heat2d", 61, Align(8), Vectorize(4))


@pytest.mark.parametrize("lanes", [0, 1, 3, 16])
def test_vectors_have_two_to_eight_doubles(lanes: int) -> None:
    with pytest.raises(ValueError, match=f"vectors have 2, 4, 8 doubles, not {lanes}"):
        Vectorize(lanes)


def test_a_name_of_the_loops_is_renamed_in_a_problem(workshop: Workshop) -> None:
    at = problem("heat2d", 61)
    constants = {**at.ivp.constants, "aligned": parse("1.0"), "multiple": parse("0.0")}
    regions = tuple(
        replace(r, body=Bin("+", Bin("*", Sym("aligned"), r.body), Sym("multiple")))
        for r in at.ivp.regions
    )
    named = replace(at, ivp=replace(at.ivp, constants=constants, regions=regions))
    program = workshop.build(sources(variant(Align(8)), named))
    plain = workshop.build(sources(variant(), at))
    assert (state(program, named, 1, STEPS) == state(plain, at, 1, STEPS)).all()


@pytest.mark.parametrize(
    ("ivp", "size"), [("heat2d", 61), ("inverterchain", 701), ("heat3d", 13), ("medakzo", 301)]
)
@pytest.mark.parametrize("lines", [1, 64])
def test_rows_fetched_ahead_change_no_result(
    ivp: str, size: int, lines: int, workshop: Workshop
) -> None:
    agrees(workshop, ivp, size, Prefetch(lines), Align(8), Pad(1))
    if problem(ivp, size).ivp.distance is not None:
        agrees(workshop, ivp, size, JLI, Pipeline("k", 64), Contract("F"), Prefetch(lines))


def test_rows_fetched_ahead_of_streamed_stores_agree(workshop: Workshop) -> None:
    pipeline = (JLI, Fuse("approx", "update"), Pipeline("k", 64), StreamStores("update"))
    agrees(workshop, "heat2d", 61, *pipeline, Prefetch(8))


def test_only_the_foremost_elements_in_memory_are_fetched() -> None:
    texts = sources(
        variant(JLI, Pipeline("k", 64), Contract("F"), Prefetch(8)), problem("heat2d", 61)
    )
    fetches = {
        name: re.findall(r"^ +PREFETCH\((.*)\);", text, re.MULTILINE)
        for name, text in texts.items()
    }
    assert fetches["sweep_rhs_first_lc_heat2d_1_lines1_ahead8.c"] == ["y, j + N"]
    elements = {element for row in fetches.values() for element in row}
    assert elements == {"y, j", "y, j + N", "y_next, j"}


def test_rows_are_fetched_at_least_a_line_ahead() -> None:
    with pytest.raises(ValueError, match="1 to 4096 cache lines ahead, not 0"):
        Prefetch(0)
