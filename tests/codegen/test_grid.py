"""Programs on grids: they give what a plain NumPy evaluation of the stencil gives."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from codegen_build import Workshop, run

from autotune.codegen.c import emit, harness
from autotune.codegen.tree import loop_tree, variant_program
from autotune.codegen.tree.races import races
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Problem, StencilProblem
from autotune.domain.stencil import Stencil, offsets
from autotune.domain.variant import (
    Block,
    Candidate,
    ExecutionLayout,
    Fuse,
    Interchange,
    Pad,
    Tile,
    Transformation,
    Unroll,
    Variant,
)
from autotune.files import config
from autotune.language.expression import Bin, Call, Expr, Neg, Num, Ref, Sym, parse
from autotune.workloads.stencil.stencil_kind import modelling_vector as features

STENCILS = ("box3d-27pt", "star2d-5pt", "star3d-7pt", "star3d-7pt-variable", "star3d-r4")
SKELETON = config.skeleton("jacobi")
EXTENTS = ((11, 13, 37), (7, 9, 17))
STEPS = 3


@cache
def stencil(name: str) -> Stencil:
    return config.stencil(name)


def problem(name: str, extents: tuple[int, ...]) -> StencilProblem:
    of = stencil(name)
    return StencilProblem(stencil=of, extents=extents[-len(of.dimensions) :])


def variant(*transformations: Transformation) -> Variant:
    return Variant(skeleton="jacobi", transformations=transformations, parameters={})


def program(name: str, *transformations: Transformation) -> loop_tree.StepProgram:
    return variant_program.program(variant(*transformations), SKELETON, problem(name, EXTENTS[0]))


def sources(name: str, *transformations: Transformation) -> dict[str, str]:
    return harness.units(program(name, *transformations), problem(name, EXTENTS[0]))


# --- a plain evaluation ---------------------------------------------------------------------


def evaluate(expr: Expr, values: dict[str, object], fetch: object = None) -> object:
    match expr:
        case Num(value=value):
            return value
        case Sym(name=name):
            return values[name]
        case Neg(operand=operand):
            return -evaluate(operand, values, fetch)  # type: ignore[operator]
        case Ref():
            return fetch(expr)  # type: ignore[operator]
        case Call(function=function, arguments=arguments):
            return getattr(np, function)(*(evaluate(a, values, fetch) for a in arguments))
        case Bin(op=op, left=left, right=right):
            a, b = evaluate(left, values, fetch), evaluate(right, values, fetch)
            return {
                "+": np.add, "-": np.subtract, "*": np.multiply,
                "/": np.true_divide, "%": np.mod, "//": np.floor_divide,
            }[op](a, b)  # fmt: skip
    raise AssertionError(expr)


def sweeps(at: StencilProblem, steps: int) -> np.ndarray:
    of, r = at.stencil, at.stencil.radius
    values = dict(of.values(at.extents))
    ranges = [np.arange(-r, extent + r) for extent in at.extents]
    points = dict(zip(of.dimensions, np.meshgrid(*ranges, indexing="ij"), strict=True))
    whole = tuple(extent + 2 * r for extent in at.extents)
    arrays = {
        name: np.broadcast_to(evaluate(e, {**values, **points}), whole).astype(float)
        for name, e in {"u": of.initial, **of.coefficients}.items()
    }
    interior = tuple(slice(r, r + extent) for extent in at.extents)

    def fetch(ref: Ref) -> np.ndarray:
        steps_ = offsets(ref, of.dimensions)
        return arrays[ref.array][
            tuple(slice(r + s, r + s + e) for s, e in zip(steps_, at.extents, strict=True))
        ]

    inside = {**values, **{d: p[interior] for d, p in points.items()}}
    for _ in range(steps):
        new = evaluate(of.body, inside, fetch)
        arrays["u"] = arrays["u"].copy()
        arrays["u"][interior] = new
    return arrays["u"][interior].ravel()


def common(at: StencilProblem, threads: int) -> list[str]:
    return ["--size", at.size_text, "--n", str(at.n), "--threads", str(threads)]


def state(built: Path, at: StencilProblem, threads: int, steps: int = STEPS) -> np.ndarray:
    out = built.with_suffix(f".{threads}.bin")
    done = run(built, "verify", *common(at, threads), "--steps", str(steps), "--out", str(out))
    assert done.returncode == 0, done.stderr
    found = np.fromfile(out, dtype="<f8")
    out.unlink()
    return found


def check(built: Path, at: StencilProblem, *teams: int) -> None:
    expected = sweeps(at, STEPS)
    for threads in teams:
        found = state(built, at, threads)
        assert found.shape == expected.shape
        assert np.max(np.abs(found - expected)) <= 1e-13 * np.max(np.abs(expected)), at.label


# --- agreement ------------------------------------------------------------------------------


def combinations(name: str) -> list[tuple[Transformation, ...]]:
    inner = (Block("sweep", "j", 4), Block("sweep", "i", 8))
    deep = (Block("sweep", "k", 3),) if len(stencil(name).dimensions) == 3 else ()
    return [
        (),
        (Unroll("sweep", "i", 2), Pad(1)),
        (*inner, *deep, Unroll("sweep", "i", 8)),
        (Block("sweep", "j", 5), Unroll("sweep", "i", 3), Pad(2)),
    ]


@pytest.mark.parametrize("name", STENCILS)
def test_blocks_unrolling_and_padding_agree_with_numpy(name: str, workshop: Workshop) -> None:
    with ThreadPoolExecutor(2) as workers:
        for built in workers.map(lambda t: workshop.build(sources(name, *t)), combinations(name)):
            for extents in EXTENTS:
                check(built, problem(name, extents), 1, 2, 3)


@pytest.mark.parametrize("name", ["star3d-7pt", "star2d-5pt"])
def test_optimised_builds_agree(name: str, workshop: Workshop) -> None:
    for factor in (1, 4):
        built = workshop.build(sources(name, Unroll("sweep", "i", factor)), "-O3")
        check(built, problem(name, EXTENTS[0]), 2)


@pytest.mark.parametrize("name", STENCILS)
def test_tiny_grids_and_more_threads_than_planes(name: str, workshop: Workshop) -> None:
    r = stencil(name).radius
    built = workshop.build(sources(name, Unroll("sweep", "i", 4), Block("sweep", "j", 2)))
    for extents in ((r, r, r), (r, r + 1, 2 * r + 6)):
        check(built, problem(name, extents), 1, r + 2)


def test_a_wrong_offset_is_noticed(workshop: Workshop) -> None:
    texts = sources("star3d-7pt")
    unit = "sweep_star3d_7pt.c"
    assert "u[at - plane + i]" in texts[unit]
    broken = texts | {unit: texts[unit].replace("u[at - plane + i]", "u[at - line + i]")}
    at = problem("star3d-7pt", EXTENTS[0])
    with pytest.raises(AssertionError):
        check(workshop.build(broken), at, 1)


# --- the program ----------------------------------------------------------------------------


def test_time_reports_samples_and_soundness(workshop: Workshop) -> None:
    at = problem("star3d-7pt", EXTENTS[0])
    built = workshop.build(sources("star3d-7pt", Pad(1)))
    done = run(built, "time", *common(at, 2), "--check", "2", "--samples", "2")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line]
    assert '"ld":48' in lines[0]  # 37 + 2 points in whole lines, and one more
    assert [line.split('"')[3] for line in lines] == [
        "start", "check", "sample", "sample", "final", "end",
    ]  # fmt: skip
    expected = sweeps(at, 2)
    weights = 1 + np.arange(at.n) % 7 / 8
    found = float(lines[1].split('"sum":')[1].split(",")[0])
    assert found == pytest.approx(float(np.sum(weights * expected)), rel=1e-12)
    assert '"finite":true,"denormal":false' in lines[-2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--size", "3x4", "--n", "12"], "3 whole numbers from 1 to 2147483647 joined by x"),
        (["--size", "3x4x5x6", "--n", "360"], "joined by x, not '3x4x5x6'"),
        (["--size", "3x0x5", "--n", "1"], "not '3x0x5'"),
        (["--size", "3x4x5", "--n", "61"], "size 3x4x5 has 60 components"),
        (["--size", "2000000000x2000000000x2000000000", "--n", "1"], "than can be addressed"),
        (["--size", "200000x200000x200", "--n", "8000000000000"], "more than this machine has"),
        (["--size", "3x4x5", "--n", "60", "--h", "0.1"], "unknown option '--h'"),
    ],
)
def test_wrong_arguments(arguments: list[str], message: str, workshop: Workshop) -> None:
    built = workshop.build(sources("star3d-7pt"))
    done = run(built, "verify", *arguments, "--threads", "1", "--steps", "1", "--out", "/dev/null")
    assert done.returncode == 2
    assert message in done.stderr


def test_functions_are_shared_by_all_blocks_and_paddings() -> None:
    plain = sources("star3d-7pt")
    blocked = sources("star3d-7pt", Block("sweep", "j", 16), Block("sweep", "k", 4), Pad(1))
    assert set(plain) == set(blocked)
    assert [name for name in plain if plain[name] != blocked[name]] == ["step.c"]
    unrolled = sources("star3d-7pt", Unroll("sweep", "i", 4))
    assert set(unrolled) ^ set(plain) == {"sweep_star3d_7pt.c", "sweep_star3d_7pt_u4.c"}
    at = problem("star3d-7pt", (4, 5, 6))
    assert harness.units(variant_program.program(variant(), SKELETON, at), at) == plain


def test_blocks_are_nested_in_the_order_of_the_dimensions() -> None:
    made = program("star3d-7pt", Block("sweep", "i", 8), Block("sweep", "k", 2))
    outer = made.body.nodes[1]
    assert isinstance(outer, loop_tree.Tiles)
    inner = outer.body.nodes[0]
    assert isinstance(inner, loop_tree.Tiles)
    assert (outer.dimension, inner.dimension) == ("k", "i")
    (sweep,) = loop_tree.grid_sweeps(made.body)
    assert sweep.radius == 1
    assert made.grid == loop_tree.GridStorage(("k", "j", "i"), 1)
    assert made.arrays == (("u", 1), ("v", 1))
    assert emit.sweep_code(sweep).text == sources("star3d-7pt")["sweep_star3d_7pt.c"]


@pytest.mark.parametrize(
    ("name", "transformations", "reason"),
    [
        ("star2d-5pt", (Block("sweep", "k", 4),), "the grid has the dimensions j, i, not k"),
        ("star3d-7pt", (Block("lc", "k", 4),), "there is no kernel lc"),
        ("star3d-7pt", (Block("sweep", "j", 4), Block("sweep", "j", 2)), "blocked in j twice"),
        ("star3d-7pt", (Unroll("sweep", "j", 2),), "only the innermost loop, i, is unrolled"),
        ("star3d-7pt", (Unroll("sweep", "i", 9),), "8 times at most"),
        ("star3d-7pt", (Unroll("sweep", "i", 2), Unroll("sweep", "i", 2)), "unrolled in i twice"),
        ("star3d-7pt", (Tile("sweep", 8),), "Tile is for kernels on components"),
        ("star3d-7pt", (Fuse("sweep", "sweep"),), "Fuse is for kernels on components"),
    ],
)
def test_refused(name: str, transformations: tuple[Transformation, ...], reason: str) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        program(name, *transformations)


def test_blocks_are_refused_for_components() -> None:
    at = Problem(
        ivp=config.ivp("heat2d"), method=config.method("radau-iia-7"), correctors=6, size=20
    )
    for transformation in (Block("lc", "j", 8), Unroll("lc", "j", 2)):
        with pytest.raises(
            IllegalTransformation, match="is for sweeps over a grid, not for kernel lc"
        ):
            variant_program.program(variant(transformation), config.skeleton("pirk"), at)
    with pytest.raises(IllegalTransformation, match="applies a stencil"):
        variant_program.program(variant(), SKELETON, at)


def test_names_of_the_generated_code_are_free_for_stencils(workshop: Workshop) -> None:
    of = Stencil(
        name="names",
        title="",
        source="",
        dimensions=("y", "x"),
        constants={"line": parse("3"), "at": parse("0.5*X/line"), "at_": parse("0.25/X")},
        coefficients={"first_x": parse("0.1*at"), "begin": parse("1.0 + x - y")},
        body=parse("at*u[y][x-1] + at_*u[y+1][x] + first_x[y][x]*X - (0.1*Y)*begin[y-1][x]/line"),
        initial=parse("1.0 + 0.1*x - abs(at*y)"),
    )
    at = StencilProblem(stencil=of, extents=(3, 10))
    units = harness.units(
        variant_program.program(variant(Unroll("sweep", "x", 4)), SKELETON, at), at
    )
    check(workshop.build(units), at, 1, 2)


# --- races ----------------------------------------------------------------------------------


def test_reads_of_u_and_writes_of_v_are_legal_and_in_place_is_not() -> None:
    made = program("star3d-7pt", Block("sweep", "k", 4), Block("sweep", "j", 4))
    assert races(made) == []
    (sweep,) = loop_tree.grid_sweeps(made.body)
    in_place = loop_tree.GridSweep(
        name=sweep.name,
        kernel="sweep",
        rows=(("v", loop_tree.StoredRow("u")), ("u", loop_tree.StoredRow("u"))),
        dimensions=sweep.dimensions,
        value=sweep.value,
        target="v",
        radius=1,
    )
    body = loop_tree.NodeBlock((in_place, loop_tree.Sync()))
    found = races(loop_tree.StepProgram(body=body, arrays=(("u", 1),), pad_lines=0, stages=1))
    assert "sweep reads neighbouring components of u" in str(found[0])
    tiled = loop_tree.NodeBlock(
        (loop_tree.Tiles(4, loop_tree.NodeBlock((loop_tree.Tiles(4, body, "j"),)), "k"),)
    )
    found = races(loop_tree.StepProgram(body=tiled, arrays=(("u", 1),), pad_lines=0, stages=1))
    assert any("another tile" in str(race) for race in found)


def test_a_missing_barrier_is_a_race() -> None:
    made = program("star3d-7pt")
    open_ = loop_tree.NodeBlock(
        tuple(node for node in made.body.nodes if not isinstance(node, loop_tree.Sync))
    )
    found = races(loop_tree.StepProgram(body=open_, arrays=made.arrays, pad_lines=0, stages=1))
    assert "without a synchronisation between" in str(found[0])


# --- features, golden samples ---------------------------------------------------------------


def test_the_modelling_vector() -> None:
    def vector(name: str, *transformations: Transformation) -> dict[str, int]:
        at = problem(name, (24, 160, 1600))
        return features(
            Candidate(
                variant=variant(*transformations), problem=at, layout=ExecutionLayout(threads=2)
            )
        )

    assert vector("star3d-7pt", Block("sweep", "j", 16), Unroll("sweep", "i", 4)) == {
        "I": 1600, "J": 160, "K": 24, "bi": 1600, "bj": 16, "bk": 24, "u": 4, "t": 2,
    }  # fmt: skip
    assert list(vector("star3d-7pt")) == ["I", "J", "K", "bi", "bj", "bk", "u", "t"]
    assert vector("star2d-5pt", Block("sweep", "i", 2000))["bi"] == 1600
    ivp = Problem(
        ivp=config.ivp("heat2d"), method=config.method("radau-iia-7"), correctors=6, size=20
    )
    with pytest.raises(ValueError, match="is no stencil"):
        features(Candidate(variant=variant(Interchange("lc", ("j", "l", "i"))), problem=ivp))


GOLDEN = {
    "step_star3d_7pt.c": ("star3d-7pt", (Block("sweep", "j", 16), Pad(1)), "step.c"),
    "star3d_7pt_u4.c": ("star3d-7pt", (Unroll("sweep", "i", 4),), "sweep_star3d_7pt_u4.c"),
    "star3d_r4.c": ("star3d-r4", (), "sweep_star3d_r4.c"),
}


@pytest.mark.parametrize("file", GOLDEN)
def test_generated_c_is_what_it_was(file: str, samples: Path, golden: bool) -> None:
    """Set AUTOTUNE_GOLDEN=1 to accept a wanted change; the difference is then read as a patch."""
    name, transformations, unit = GOLDEN[file]
    text = sources(name, *transformations)[unit]
    if golden:
        (samples / file).write_text(text, encoding="utf-8")
    assert text == (samples / file).read_text(encoding="utf-8")
