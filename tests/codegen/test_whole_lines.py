"""Loops that run whole cache lines at a time, and fields side by side: the same result."""

import re
import shutil
from dataclasses import replace

import pytest
from codegen_build import SKELETON, Workshop, problem, reference, sources, state, variant

from autotune.codegen.tree import loop_tree, variant_program
from autotune.codegen.tree.whole_lines import COLUMN, groups, in_lines, side_by_side
from autotune.domain.problem import Ivp, Problem, Region
from autotune.domain.variant import (
    Align,
    Build,
    Contract,
    Fuse,
    Hoist,
    Interchange,
    Pad,
    Pipeline,
    Prefetch,
    StreamStores,
    Transformation,
    WholeLines,
)
from autotune.language.expression import parse, show
from autotune.measuring.verification import verify
from autotune.models.incore import osaca_analyser

STEPS = 3
JLI = Interchange("lc", ("j", "l", "i"))
SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FUSED = (JLI, Fuse("approx", "update"), Pipeline("k", 64), Contract("F"))


def systems(fields: int, reach: int = 1, size: int = 45, **changes: object) -> Problem:
    """A chain of points with so many fields each, which differ in their formulas. Each
    reads another field, the first within the chain that ``reach`` places on.
    """

    def bodies(left: str, right: str, reach: int = 1) -> list[str]:
        return [
            f"{left} - 2.0*y[j] + {right} + {k}.5*sin(y[j{reach if k == 0 else -k:+d}])/(1.0 + {k})"
            for k in range(fields)
        ]

    f = fields
    parts = [
        ("0", f"{f}", bodies("0.1", f"y[j+{f}]")),
        (f"{f}", f"n - {f}", bodies(f"y[j-{f}]", f"y[j+{f}]", reach)),
        (f"n - {f}", "n", bodies(f"y[j-{f}]", "0.2")),
    ]
    ivp = Ivp(
        name=f"chain{fields}",
        title="a chain of points",
        source="made up",
        dimension=parse(f"{f}*N"),
        row=parse(f"{f}"),
        access_distance=parse(f"{2 * f}"),
        limited=True,
        regions=tuple(
            Region(
                lower=parse(lower),
                upper=parse(upper),
                columns=(parse(f"{k}"), parse(f"{k + 1}")),
                body=parse(body),
            )
            for lower, upper, texts in parts
            for k, body in enumerate(texts)
        ),
        initial=(Region(lower=parse("0"), upper=parse("n"), body=parse("1.0 + 0.1*(j % 7)")),),
        stability=parse("8.0"),
    )
    return replace(problem("heat2d"), ivp=replace(ivp, **changes), size=size)


def agrees(
    workshop: Workshop,
    at: Problem,
    *transformations: Transformation,
    extra: tuple[str, ...] = ("-O3", "-march=native"),
) -> None:
    """``extra``: flags of the loops and of main; the calls between them are as in other tests."""
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    loops = replace(workshop, flags=(*workshop.flags, *extra))
    program = loops.build(sources(variant(*transformations), at))
    for threads in (1, 3):
        verdict = verify.judge(state(program, at, threads, STEPS), expected, fields)
        assert verdict.status == "ok", f"{at.ivp.name} {threads}: {verdict.detail}"


def texts(at: Problem, *transformations: Transformation) -> str:
    return "\n".join(sources(variant(*transformations), at).values())


@pytest.mark.parametrize(
    ("ivp", "size"),
    [
        ("heat2d", 61),
        ("heat3d", 13),
        ("wave1d", 501),
        ("brusselator2d-mix", 3),
        ("brusselator2d-mix", 21),
        ("fitzhugh-nagumo", 203),
        ("string-mix", 129),
        ("medakzo", 101),
    ],
)
@pytest.mark.parametrize("lines", [1, 2])
def test_loops_over_whole_lines_agree_with_the_reference(
    ivp: str, size: int, lines: int, workshop: Workshop
) -> None:
    at = problem(ivp, size)
    agrees(workshop, at, WholeLines(lines), Pad(1))
    if at.ivp.limited:
        agrees(workshop, at, *FUSED, Hoist("rhs_first", "l"), WholeLines(lines))
        agrees(workshop, at, *FUSED, Align(8), WholeLines(lines), Prefetch(8))


@pytest.mark.skipif(not shutil.which("clang"), reason="optional: no clang here")
@pytest.mark.parametrize("ivp", ["fitzhugh-nagumo", "string-mix"])
def test_clang_makes_vectors_along_a_line_not_across_lines(ivp: str) -> None:
    codes = sources(variant(*FUSED, Hoist("rhs_first", "l"), WholeLines(1)), problem(ivp, 129))
    (code,) = (text for name, text in codes.items() if "rhs_first_lc" in name and "_1_" in name)
    build = Build(compiler="clang", flags=("-O3", "-march=x86-64-v4"))
    assembly = osaca_analyser.assemble(code, build)
    assert "vmovupd" in assembly
    assert not re.search(r"gather|scatter", assembly)


@pytest.mark.parametrize("fields", [2, 4, 8])
@pytest.mark.parametrize("size", [3, 4, 45])
def test_fields_side_by_side_agree(fields: int, size: int, workshop: Workshop) -> None:
    at = systems(fields, size=size)
    assert f"{COLUMN}_ = of_line % {fields}" in texts(at, *FUSED, WholeLines(1))
    for doubles in (2, 8):
        agrees(workshop, at, WholeLines(1), Align(doubles))
        agrees(workshop, at, *FUSED, WholeLines(2), Align(doubles))


def test_a_lane_takes_its_own_field_and_none_is_shuffled() -> None:
    text = sources(variant(WholeLines(1)), systems(2))["sweep_f_chain2_1_lines1.c"]
    assert "const double F_field0 = y[j - 2] - 2.0*y[j]" in text
    assert re.search(r"F\[j\] = \(_column_ < 1 \? F_field0 : F_field1\);", text)
    loops = re.findall(r"SHORT\n +for \((.*?)\)", text)
    assert loops == ["long of_line = 0; of_line < 8; of_line++"]


@pytest.mark.parametrize(
    "at",
    [systems(2, 3, size=3), systems(2, 3), problem("string-mix", 3), problem("string-mix", 45)],
)
def test_rows_at_the_ends_are_written_out_where_other_fields_would_read_beyond(
    at: Problem, workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chain reads three places on in u; string-mix, three places back in v."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    agrees(workshop, at, WholeLines(1), extra=SANITIZED)
    agrees(workshop, at, *FUSED, WholeLines(1), Align(8), extra=SANITIZED)


def test_fields_that_do_not_fill_a_line_stay_written_out() -> None:
    program = variant_program.program(variant(), SKELETON, systems(3))
    sweep = next(s for s in loop_tree.every_sweep(program.body) if s.name == "f_chain3_1")
    assert isinstance(sweep, loop_tree.Sweep)
    assert not any(side_by_side(group, sweep.constants) for group in groups(sweep.stretches))
    assert in_lines(sweep, 1) is sweep


def test_fields_with_locals_of_their_own_stay_written_out(workshop: Workshop) -> None:
    """Statements of fields are merged one by one: the same number of them is needed."""
    at = systems(2)
    first, *others = at.ivp.regions
    assert first.columns is not None
    unlike = replace(at, ivp=replace(at.ivp, regions=(replace(first, body=parse("1.0")), *others)))
    agrees(workshop, unlike, *FUSED, WholeLines(1))


def test_fields_with_equal_formulas_need_no_choice(workshop: Workshop) -> None:
    at = systems(2)
    regions = tuple(replace(region, body=parse("-0.5*y[j]")) for region in at.ivp.regions)
    alike = replace(at, ivp=replace(at.ivp, regions=regions))
    assert COLUMN not in texts(alike, WholeLines(1))
    agrees(workshop, alike, WholeLines(1))


def test_a_constant_with_the_name_of_a_place_is_renamed(workshop: Workshop) -> None:
    constants = {name: parse("1.0") for name in ("of_line", "strip", "rest", "F_field0")}
    at = systems(2)
    regions = tuple(
        replace(r, body=parse(f"of_line*strip*rest*F_field0*({show(r.body)})"))
        for r in at.ivp.regions
    )
    named = replace(at, ivp=replace(at.ivp, constants=constants, regions=regions))
    agrees(workshop, named, WholeLines(1))
    agrees(workshop, named, *FUSED, WholeLines(1))


def test_sums_and_streamed_stores_stay_as_they_are(workshop: Workshop) -> None:
    agrees(workshop, problem("flock", 33), WholeLines(1))
    streamed = (JLI, Fuse("approx", "update"), Pipeline("k", 64), StreamStores("update"))
    agrees(workshop, problem("heat2d", 61), *streamed, WholeLines(1))


@pytest.mark.parametrize("lines", [0, 3, 8])
def test_a_loop_runs_one_two_or_four_lines_at_a_time(lines: int) -> None:
    with pytest.raises(ValueError, match=f"1, 2 or 4 cache lines at a time, not {lines}"):
        WholeLines(lines)
