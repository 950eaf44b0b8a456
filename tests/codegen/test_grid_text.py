"""Sweeps over grids as C text: parameters, loops and addresses, against indices by hand."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.codegen.grid import grid_program, grid_source
from autotune.codegen.grid.grid_text import (
    around,
    body,
    box,
    extents,
    own_names,
    parameters,
    placed,
    strides,
    symbol_kinds,
)
from autotune.codegen.tree.loop_tree import (
    GridStorage,
    GridSweep,
    Repeat,
    StepProgram,
    StoredRow,
    Swap,
    Sync,
    Tiles,
)
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.kernel import Application, Kernel
from autotune.domain.problem import StencilProblem
from autotune.domain.skeleton import CallStep, LoopStep, Skeleton, Step, SwapStep, SyncStep
from autotune.domain.stencil import Stencil
from autotune.domain.stencil import strides as stored_strides
from autotune.domain.variant import Block, Pad, Transformation, Unroll, Variant
from autotune.language.expression import Bin, Expr, Num, Ref, Sym, number, parse, references

KJI, JI = ("k", "j", "i"), ("j", "i")


def sweep(
    text: str = "c*u[k][j][i+1] + u[k-1][j][i]",
    dimensions: tuple[str, ...] = KJI,
    unroll: int = 1,
    **constants: str,
) -> GridSweep:
    value = parse(text)
    arrays = sorted({ref.array for ref in references(value)})
    return GridSweep(
        name="made",
        kernel="sweep",
        rows=(("v", StoredRow("v")), *((array, StoredRow(array)) for array in arrays)),
        scalars=(("c", Num(2.0)),) if "c*" in text else (),
        constants=tuple((name, parse(value)) for name, value in constants.items()),
        dimensions=dimensions,
        value=value,
        target="v",
        radius=1,
        unroll=((dimensions[-1], unroll),) if unroll > 1 else (),
    )


# --- parameters -----------------------------------------------------------------------------------


def test_parameters_are_the_box_the_arrays_the_strides_and_what_the_value_needs() -> None:
    made = sweep("c*u[k][j][i+1]*w[k][j][i] + a*I*J", a="0.5/I")
    assert parameters(made) == [
        "long first_k",
        "long last_k",
        "long first_j",
        "long last_j",
        "long first_i",
        "long last_i",
        "double *restrict v",
        "const double *restrict u",
        "const double *restrict w",
        "long plane",
        "long line",
        "long J",
        "long I",
        "double a",
        "double c",
    ]


def test_two_dimensions_have_the_stride_of_a_row_alone() -> None:
    made = sweep("u[j-1][i]", JI)
    assert strides(made) == ("line",)
    assert "long plane" not in parameters(made)
    assert extents(made) == []


def test_whole_numbers_are_long_where_the_value_needs_them() -> None:
    """``m % 2`` is of whole numbers; a constant that only scales is a double."""
    made = sweep("u[k][j][i]*(m % 2) + s*u[k][j][i]", m="I", s="2")
    kinds = symbol_kinds(made)
    assert (kinds["m"], kinds["s"], kinds["i"], kinds["I"], kinds["line"]) == (
        "long",
        "double",
        "long",
        "long",
        "long",
    )
    assert "long m" in parameters(made)
    assert "double s" in parameters(made)


def test_a_call_states_the_box_in_the_order_of_the_dimensions() -> None:
    bounds = {"i": ("0", "I"), "j": ("from_j", "to_j"), "k": ("a", "b")}
    assert box(sweep(), bounds) == ["a", "b", "from_j", "to_j", "0", "I"]


def test_names_of_the_function_are_those_that_it_uses() -> None:
    names = own_names(JI)
    assert {"at", "plane", "line", "first_j", "last_i", "whole_i", "from_j", "to_i"} <= names
    assert "first_k" not in names
    text = " ".join(parameters(sweep(unroll=4))) + " ".join(body(sweep(unroll=4)))
    used = set(re.findall(r"[a-z]\w*", text)) & (own_names(KJI) - own_names(()))
    assert {"first_k", "last_i", "whole_i"} <= used


# --- addresses ------------------------------------------------------------------------------------


@settings(max_examples=40, derandomize=True)
@given(
    offset=st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.integers(-4, 4)),
    point=st.tuples(st.integers(0, 5), st.integers(0, 7), st.integers(0, 11)),
)
def test_elements_are_addressed_by_their_distance_in_memory(
    offset: tuple[int, int, int], point: tuple[int, int, int]
) -> None:
    """``at`` is the row of the point: its distance from the row of (0, 0, 0)."""
    indices: tuple[Expr, ...] = tuple(
        Bin("+", Sym(d), Num(o)) for d, o in zip(KJI, offset, strict=True)
    )
    made = sweep()
    placed_ref = placed(Ref("u", indices), made)
    assert isinstance(placed_ref, Ref)
    plane, line, _ = stored_strides((6, 8, 12), 4)
    k, j, i = point
    values = {"at": k * plane + j * line, "plane": plane, "line": line, "i": i}
    expected = sum((p + o) * s for p, o, s in zip(point, offset, (plane, line, 1), strict=True))
    assert number(placed_ref.indices[0], values) == expected


def test_nothing_else_of_an_expression_changes() -> None:
    made = sweep()
    value = parse("2*c - I + u[k][j][i]")
    assert placed(value, made) == parse("2*c - I + u[at + i]")


# --- loops ----------------------------------------------------------------------------------------


def body_line(text: str, depth: int = 12) -> str:
    """A statement with indices that no line is broken at."""
    glued = re.sub(r"\[[^]]*\]", lambda index: index[0].replace(" ", "\xa0"), text)
    return " " * depth + glued


def test_loops_over_rows_stand_around_the_innermost_one() -> None:
    assert list(body(sweep("u[k-2][j][i] + u[k][j+1][i-1]"))) == [
        "for (long k = first_k; k < last_k; k++) {",
        "    for (long j = first_j; j < last_j; j++) {",
        "        const long at = k*plane + j*line;",
        "        INDEPENDENT",
        "        for (long i = first_i; i < last_i; i++) {",
        body_line("v[at + i] = u[at - 2*plane + i] + u[at + line + i - 1];"),
        "        }",
        "    }",
        "}",
    ]


def test_any_lines_are_put_into_the_loops_over_rows() -> None:
    lines = list(around(sweep("u[j][i]", JI), ["one;", "two;"]))
    assert lines == [
        "for (long j = first_j; j < last_j; j++) {",
        "    const long at = j*line;",
        "    one;",
        "    two;",
        "}",
    ]


def run(made: GridSweep, shape: tuple[int, int], u: np.ndarray) -> np.ndarray:
    """Runs the C text of a sweep over two dimensions, translated word by word into Python."""
    v = np.zeros_like(u)
    names = {"first_j": 0, "last_j": shape[0], "first_i": 0, "last_i": shape[1], "line": 100}
    lines = []
    for line in body(made):
        text = line.replace("\xa0", " ")
        indent = " " * (len(text) - len(text.lstrip()))
        head = re.fullmatch(r"for \(long (\w) = (\w+); \w < (\w+); (?:\w \+= (\d+)|\w\+\+)\) \{",
                            text.strip())  # fmt: skip
        if head:
            lines.append(f"{indent}for {head[1]} in range({head[2]}, {head[3]}, {head[4] or 1}):")
        elif text.strip() not in ("}", "INDEPENDENT", '__asm__("");'):
            lines.append(indent + text.strip().removeprefix("const long ").removesuffix(";"))
    exec("\n".join(lines), {**names, "u": u, "v": v})
    return v


@pytest.mark.parametrize("factor", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("width", [1, 7, 8, 17])
def test_unrolled_loops_do_every_point_once(factor: int, width: int) -> None:
    """The loop behind takes what the groups leave over: 0 to factor - 1 points."""
    made = sweep("u[j][i+1] - 2*u[j+1][i]", JI, unroll=factor)
    u = np.arange(1000.0)
    v = run(made, (3, width), u)
    expected = np.zeros_like(u)
    for j, i in product(range(3), range(width)):
        expected[100 * j + i] = u[100 * j + i + 1] - 2 * u[100 * (j + 1) + i]
    assert v.tolist() == expected.tolist()


def test_an_unrolled_loop_writes_its_body_out_and_ends_at_whole_groups() -> None:
    lines = [line.replace("\xa0", " ").strip() for line in body(sweep("u[j][i]", JI, unroll=2))]
    assert lines[0] == "const long whole_i = last_i - (last_i - first_i) % 2;"
    assert lines.count("v[at + i] = u[at + i];") == 2, "in the group, and behind it"
    assert lines.count("v[at + i + 1] = u[at + i + 1];") == 1
    assert '__asm__("");' in lines


# --- programs -------------------------------------------------------------------------------------


APPLICATION = Application(argument="u")


def stencil(body_text: str = "a*u[j][i-1] + C[j][i]*u[j+1][i]", **more: object) -> Stencil:
    fields: dict[str, object] = {
        "name": "made-2d",
        "title": "",
        "source": "",
        "dimensions": JI,
        "constants": {"h": parse("1.0/I"), "a": parse("h*h"), "m": parse("J - 1")},
        "coefficients": {"C": parse("1.0 + a*j")},
        "body": parse(body_text),
        "initial": parse("h*i + j"),
    }
    return Stencil(**(fields | more))  # type: ignore[arg-type]


def skeleton(*steps: Step) -> Skeleton:
    """One sweep, a barrier and the exchange of u and v, unless other steps are stated."""
    target = Ref("v", (Sym("x"),))
    kernel = Kernel(name="sweep", loops=("x",), target=target, evaluation=APPLICATION)
    return Skeleton(
        name="made",
        title="",
        source="",
        dimensions={"x": "grid"},
        arrays={"u": ("grid",), "v": ("grid",)},
        kernels={"sweep": kernel},
        steps=steps or (CallStep("sweep"), SyncStep(), SwapStep("u", "v")),
    )


def program(
    *transformations: Transformation, of: Stencil | None = None, on: Skeleton | None = None
) -> StepProgram:
    variant = Variant(skeleton="made", transformations=transformations, parameters={})
    problem = StencilProblem(stencil=of or stencil(), extents=(8, 16))
    return grid_program.program(variant, on or skeleton(), problem)


def test_a_program_is_the_step_of_its_skeleton_on_the_grid() -> None:
    made = program()
    (call, *rest) = made.body.nodes
    assert isinstance(call, GridSweep)
    assert rest == [Sync(), Swap("u", "v")]
    assert made.arrays == (("u", 1), ("v", 1), ("C", 1))
    assert made.grid == GridStorage(JI, 1)
    assert (made.pad_lines, made.stages, made.granule) == (0, 1, 1)
    assert call.rows == (("v", StoredRow("v")), ("u", StoredRow("u")), ("C", StoredRow("C")))
    assert [name for name, _ in call.constants] == ["a"], "those that the body reads"
    assert (call.name, call.kernel, call.target, call.radius) == ("made_2d", "sweep", "v", 1)


def test_blocks_and_unrolling_stand_around_and_in_the_sweep() -> None:
    made = program(Pad(3), Unroll("sweep", "i", 4), Block("sweep", "i", 8), Block("sweep", "j", 2))
    outer = made.body.nodes[0]
    assert isinstance(outer, Tiles)
    inner = outer.body.nodes[0]
    assert isinstance(inner, Tiles)
    assert [(t.dimension, t.size) for t in (outer, inner)] == [("j", 2), ("i", 8)]
    node = inner.body.nodes[0]
    assert isinstance(node, GridSweep)
    assert (node.name, node.unroll) == ("made_2d_u4", (("i", 4),))
    assert made.pad_lines == 0, "padding is storage, set apart from the program"
    plain = program(Unroll("sweep", "i", 1)).body.nodes[0]
    assert plain == program().body.nodes[0]


def test_loops_of_a_skeleton_are_counted_without_the_grid() -> None:
    times = LoopStep("s", parse("3"), (CallStep("sweep"), SyncStep(), SwapStep("u", "v")))
    made = program(on=skeleton(times))
    (loop,) = made.body.nodes
    assert isinstance(loop, Repeat)
    assert (loop.variable, loop.first, loop.end) == ("s", 0, 3)
    with pytest.raises(IllegalTransformation, match=r"^loop s of a grid program: .*m"):
        program(on=skeleton(LoopStep("s", parse("m"), (CallStep("sweep"),))))


@pytest.mark.parametrize(
    ("transformation", "reason"),
    [
        (Block("other", "j", 4), "there is no kernel other"),
        (Unroll("other", "i", 4), "there is no kernel other"),
        (Block("sweep", "k", 4), "the grid has the dimensions j, i, not k"),
        (Unroll("sweep", "j", 2), "only the innermost loop, i, is unrolled, not j"),
        (Unroll("sweep", "i", 9), "a loop is unrolled 8 times at most, not 9 times"),
    ],
)
def test_impossible_transformations_are_refused_in_words(
    transformation: Transformation, reason: str
) -> None:
    with pytest.raises(IllegalTransformation, match=f"^{reason}$"):
        program(transformation)


def test_a_missing_barrier_before_the_exchange_is_a_race() -> None:
    with pytest.raises(IllegalTransformation, match="without a synchronisation between"):
        program(on=skeleton(CallStep("sweep"), SwapStep("u", "v")))


def test_names_of_a_stencil_give_way_to_those_of_the_code() -> None:
    of = stencil(
        "line*u[j][i-1] + at*u[j+1][i]",
        constants={"line": parse("2"), "at": parse("3*line"), "at_": parse("4")},
        coefficients={},
        initial=parse("at_"),
    )
    assert grid_program.renamed(of, "line") == "line_"
    assert grid_program.renamed(of, "at") == "at__", "at_ is taken by the stencil"
    assert grid_program.renamed(of, "at_") == "at_"
    assert grid_program.renamed(of, "u") == "u"
    assert grid_program.constants(of, {"at"}) == (("at__", parse("3*line_")),)


def test_coefficients_have_arrays_beside_those_of_the_skeleton() -> None:
    of = stencil()
    assert grid_program.coefficient_arrays(of, {"u": 0, "v": 0}) == {"C": "C"}
    assert grid_program.coefficient_arrays(of, {"C": 0, "C_": 0}) == {"C": "C__"}
    unused = stencil("u[j][i+1]")
    assert grid_program.coefficient_arrays(unused, {}) == {}


@pytest.mark.parametrize(("name", "text"), [("a-b 2.5", "a_b_2_5"), ("star3d", "star3d")])
def test_the_name_of_a_stencil_is_part_of_an_identifier(name: str, text: str) -> None:
    assert grid_program.identifier(stencil(name=name)) == text


# --- the generated part of the measuring program --------------------------------------------------


def test_every_sweep_and_every_first_value_is_a_function() -> None:
    made = program()
    names = [item.name for item in grid_source.functions(made, stencil())]
    assert names == ["made_2d", "initial_made_2d", "initial_C_made_2d"]
    first = {item.name: item.value for item in grid_source.functions(made, stencil())}
    assert first["initial_made_2d"] == parse("h*i + j")
    assert first["initial_C_made_2d"] == parse("1.0 + a*j")


def test_fields_of_the_template_say_what_the_program_has() -> None:
    fields = grid_source.fields(program(Block("sweep", "j", 2)), stencil())
    assert fields["title"] == "made-2d"
    assert fields["dimensions"] == JI
    assert (fields["radius"], fields["pad_lines"], fields["granule"]) == (1, 0, 1)
    assert fields["phases"] == ["sweep"]
    assert fields["extents"] == ["J", "I"]
    assert fields["constants"] == [
        ("double", "h", "1.0/(double)I"),
        ("double", "a", "h*h"),
        ("long", "m", "J - 1"),
    ]
    assert fields["support"] == []
    signatures = fields["signatures"]
    assert isinstance(signatures, list)
    assert len(signatures) == 3
