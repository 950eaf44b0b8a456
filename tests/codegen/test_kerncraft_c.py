"""Stretches of sweeps as kerncraft C: what is written, that it is right, what is refused."""

import ctypes
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from codegen_build import COMPILER, IVPS, problem

from autotune.codegen.c.kerncraft_c import FIELDS, PAIRS, SHARE, kernel_text
from autotune.codegen.c.kernel_values import STAND_IN, KernelText
from autotune.codegen.tree import loop_tree, variant_program
from autotune.domain.problem import Ivp, Region
from autotune.domain.variant import Fuse, Interchange, Variant
from autotune.files import config
from autotune.language.expression import Num, Sym, parse

ORDERS = ("ijl", "ilj", "jil", "jli", "lij", "lji")


def sweeps(ivp: str, order: str = "jli", fused: bool = False) -> dict[str, loop_tree.Sweep]:
    transformations = (Interchange("lc", tuple(order)), *([Fuse("approx", "update")] * fused))
    variant = Variant(skeleton="pirk", transformations=transformations, parameters={})
    program = variant_program.program(variant, config.skeleton("pirk"), problem(ivp))
    return {sweep.name: sweep for sweep in loop_tree.sweeps(program.body)}


def text(ivp: str, sweep: str, stretch: int = 0) -> KernelText:
    found = sweeps(ivp)[sweep]
    made = kernel_text(found, found.stretches[stretch], config.ivp(ivp))
    assert isinstance(made, KernelText), made
    return made


def sweep(*statements: loop_tree.Statement, rows: tuple[str, ...] = ("F", "y")) -> loop_tree.Sweep:
    return loop_tree.Sweep(
        name="f",
        kernel="rhs",
        rows=tuple((row, loop_tree.StoredRow(row)) for row in rows),
        scalars=(),
        stretches=(loop_tree.SweepStretch(Num(0), Sym("n"), statements),),
    )


def ivp(body: str, dimension: str = "N") -> Ivp:
    return Ivp(
        name="made",
        title="",
        source="",
        dimension=parse(dimension),
        constants={},
        access_distance=Num(0),
        limited=True,
        regions=(Region(lower=Num(0), upper=Sym("n"), body=parse(body)),),
        initial=(Region(lower=Num(0), upper=Sym("n"), body=Num(1)),),
        stability=Num(1),
    )


def made_of(body: str, dimension: str = "N") -> KernelText | str:
    """The text of a sweep; its body may be one that no IVP can have."""
    one = sweep(loop_tree.Assign("F", parse(body)))
    return kernel_text(one, one.stretches[0], ivp("y[j]", dimension))


# --- what is written ------------------------------------------------------------------------


def test_elements_whole_rows_away_make_two_dimensions() -> None:
    made = text("heat2d", "f_heat2d_1", 1)
    assert made.text.split("\n\n")[1] == (
        "for (long r = 1; r < M - 1; ++r)\n"
        "    for (long c = 1; c < N - 1; ++c) {\n"
        "        F[r][c] = N12 * (y[r-1][c] + y[r][c-1] - 4.0 * y[r][c] + y[r][c+1] + y[r+1][c]);\n"
        "    }\n"
    )
    assert "double y[M][N];" in made.text
    assert made.sizes({"N": 100, "n": 10_000, SHARE: 1234}) == {"M": 14, "N": 100}
    assert made.components == 1
    assert made.notes == ()


def test_elements_a_field_away_are_an_array_of_their_own() -> None:
    made = text("string-row", "f_string_row_2")
    assert "F[j] = K2 * (y_m1[j-1] - 2.0 * y_m1[j] + y_m1[j+1]) / dx2;" in made.text
    assert "double y[N];" not in made.text
    assert made.notes == (FIELDS,)
    both = text("medakzo", "f_medakzo_1")
    assert {"double y[N];", "double y_1[N];"} <= set(both.text.splitlines())


def test_short_rows_are_taken_apart_into_columns() -> None:
    """Per row of two components four lines come and two go per line of the loop: as stored."""
    made = text("string-mix", "f_string_mix_1")
    assert (
        "    F[j] = y_1[j];\n    F_1[j] = K2 * (y[j-1] - 2.0 * y[j] + y[j+1]) / dx2;" in made.text
    )
    assert made.text.count("[N];") == 4
    assert made.components == 2
    assert made.notes == (PAIRS,)
    assert made.sizes({"N": 100, "n": 200, SHARE: 50}) == {"N": 25}


def test_short_rows_of_which_a_column_is_not_used_are_refused() -> None:
    """Their lines are moved whole; an array for each used column would count a part of them."""
    columns = [(Num(0), Num(1)), (Num(1), Num(2))]
    stretches = tuple(
        loop_tree.SweepStretch(
            Num(0), Sym("n"), (loop_tree.Assign("F", parse(body)),), columns=part, row=Num(2)
        )
        for part, body in zip(columns, ("y[j]", "y[j-1]"), strict=True)
    )
    one = replace(sweep(), stretches=stretches)
    made = kernel_text(one, stretches[0], ivp("1", "2*N"))
    assert isinstance(made, str)
    assert "only 1 of the 2 columns of y count, but all are moved" in made


def test_values_that_depend_on_j_are_written_out() -> None:
    made = text("medakzo", "f_medakzo_1")
    assert "(j + 1.0) * dz - 1.0" in made.text
    assert "for (int j = 1; j < N - 1; ++j)" in made.text


def test_values_that_do_not_are_named() -> None:
    found = sweeps("inverterchain")["f_inverterchain_0"]
    made = kernel_text(found, found.stretches[0], config.ivp("inverterchain"))
    assert isinstance(made, KernelText)
    assert "double Uin;" in made.text


def test_a_maximum_stands_as_an_addition_and_says_so() -> None:
    made = text("inverterchain", "f_inverterchain_1")
    assert "y[j-1] - Uthr + bound" in made.text
    assert made.notes == (STAND_IN,)


@pytest.mark.parametrize("name", IVPS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("fused", [False, True])
def test_everything_that_the_problems_need_can_be_written(
    name: str, order: str, fused: bool
) -> None:
    for found in sweeps(name, order, fused).values():
        for stretch in found.stretches:
            made = kernel_text(found, stretch, config.ivp(name))
            assert isinstance(made, KernelText), made
            assert not re.search(r"\b(if|max|min|double\)|\w+\()", _loop(made.text)), made.text
            if found.kernel not in ("rhs", "rhs_first"):
                assert made.text.count("[N];") == len(found.rows)


def test_rows_of_planes_have_no_expression() -> None:
    found = sweeps("heat3d")["f_heat3d_1"]
    reason = kernel_text(found, found.stretches[2], config.ivp("heat3d"))
    assert reason == ("kerncraft cannot express f_heat3d_1: its loops run over rows within planes")


def _loop(text_: str) -> str:
    """The body of the innermost loop, brackets of arithmetic left out."""
    return re.sub(r"(?<!\w)\(", "", text_[text_.index("{") :])


def test_one_iteration_is_left_of_the_smallest_share() -> None:
    made = text("wave1d", "f_wave1d_4")
    assert made.sizes({"N": 9, "n": 9, SHARE: 1}) == {"N": 9}


def test_names_of_sizes_and_of_kerncraft_are_left_to_them() -> None:
    one = sweep(loop_tree.Assign("M", parse("N*kernel*M[j] + int_")), rows=("M",))
    made = kernel_text(one, one.stretches[0], ivp("1"))
    assert isinstance(made, KernelText)
    assert set(re.findall(r"double (\w+)", made.text)) == {"Mx", "Nx", "kernelx", "intx"}


def test_squares_are_products() -> None:
    made = made_of("(y[j] - 1)**2 + y[j]**3")
    assert isinstance(made, KernelText)
    assert "(y[j] - 1.0) * (y[j] - 1.0) + y[j] * y[j] * y[j]" in made.text


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("sin(y[j])", "no function calls: sin"),
        ("abs(y[j])", "no function calls: abs"),
        ("y[j] if t < 1 else 2*y[j]", "no conditions"),
        ("(j % 2)*y[j]", "% of whole numbers"),
        ("y[2*j]", "not y[j + offset]"),
    ],
)
def test_what_kerncraft_cannot_express_is_said_in_words(body: str, why: str) -> None:
    made = made_of(body)
    assert isinstance(made, str)
    assert "kerncraft cannot express f" in made
    assert why in made


def test_an_offset_of_no_fixed_number_of_rows_is_refused() -> None:
    made = made_of("y[j + N*N]", "2*N*N")
    assert isinstance(made, str)
    assert "neither near by nor whole rows" in made


# --- that it computes the same --------------------------------------------------------------

Arrays = Mapping[str, npt.NDArray[np.float64]]


def run(made: KernelText, folder: Path, sizes: Mapping[str, int], **given: float) -> Arrays:
    """The arrays after the loop, compiled with the declarations as parameters of a function."""
    declared, body = made.text.split("\n\n")
    arrays = re.findall(r"double (\w+)((?:\[\w\])+);", declared)
    scalars = re.findall(r"double (\w+);", declared)
    parameters = [f"int {name}" for name in sizes] + [f"double {n}{e}" for n, e in arrays]
    parameters += [f"double {name}" for name in scalars]
    source, library = folder / "k.c", folder / "k.so"
    source.write_text(f"void run({', '.join(parameters)})\n{{\n{body}}}\n")
    assert COMPILER is not None
    subprocess.run(
        [COMPILER, "-std=c99", "-O1", "-shared", "-fPIC", "-o", str(library), str(source)],
        check=True,
    )
    random = np.random.default_rng(1)
    stored = {
        name: random.uniform(1, 2, [sizes[size] for size in extents[1:-1].split("][")])
        for name, extents in arrays
    }
    before = {name: values.copy() for name, values in stored.items()}
    ctypes.CDLL(str(library)).run(
        *[ctypes.c_int(size) for size in sizes.values()],
        *[ctypes.c_void_p(values.ctypes.data) for values in stored.values()],
        *[ctypes.c_double(given[name]) for name in scalars],
    )
    return {f"{name}_before": values for name, values in before.items()} | stored


def test_the_heat_equation_computes_what_it_should(tmp_path: Path) -> None:
    found = run(text("heat2d", "f_heat2d_1", 1), tmp_path, {"M": 7, "N": 9}, N12=3.0)
    y = found["y"]
    around = y[:-2, 1:-1] + y[2:, 1:-1] + y[1:-1, :-2] + y[1:-1, 2:]
    assert found["F"][1:-1, 1:-1] == pytest.approx(3 * (around - 4 * y[1:-1, 1:-1]))
    assert (found["F"][0] == found["F_before"][0]).all()


def test_the_pairs_of_a_string_compute_what_they_should(tmp_path: Path) -> None:
    found = run(text("string-mix", "f_string_mix_1"), tmp_path, {"N": 20}, K2=2.0, dx2=0.5)
    u, v = found["y"], found["y_1"]
    assert (found["F"][1:-1] == v[1:-1]).all()
    assert found["F_1"][1:-1] == pytest.approx(4 * (u[:-2] - 2 * u[1:-1] + u[2:]))


def test_the_medical_problem_computes_what_it_should(tmp_path: Path) -> None:
    values = {"dz": 0.05, "dz2": 0.0025, "Cx": 4.0, "K": 100.0}
    found = run(text("medakzo", "f_medakzo_1"), tmp_path, {"N": 20}, **values)
    u, v = found["y"][1:-1], found["y_1"][1:-1]
    left, right = found["y"][:-2], found["y"][2:]
    z = (np.arange(1, 19) + 1) * 0.05
    a, b = 2 * (z - 1) ** 3 / 16, (z - 1) ** 4 / 16
    expected = a * (right - left) / 0.1 + b * (left - 2 * u + right) / 0.0025 - 100 * u * v
    assert found["F"][1:-1] == pytest.approx(expected)


def test_a_linear_combination_computes_what_it_should(tmp_path: Path) -> None:
    found = run(text("wave1d", "lc_jli"), tmp_path, {"N": 10}, h=0.5)
    A = np.array(config.method("radau-iia-7").A)
    F = np.array([found[f"F_{i}"] for i in range(4)])
    for stage in range(4):
        assert found[f"Y_{stage}"] == pytest.approx(0.5 * A[stage] @ F + found["y"])


def test_a_sum_over_an_index_is_refused() -> None:
    found = sweeps("flock")["f_flock_1"]
    reason = kernel_text(found, found.stretches[0], config.ivp("flock"))
    assert "the sum pull over k is a loop of its own" in str(reason)
