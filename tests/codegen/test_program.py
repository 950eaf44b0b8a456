"""Programs as trees and as C: canonical form, distinct texts, shared units, golden samples."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from codegen_build import IVPS, problem, setup, sources, variant

from autotune.codegen.c import emit
from autotune.codegen.tree import loop_tree, regions, variant_program
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Region
from autotune.domain.variant import Fuse, FuseTiles, Interchange, Pad, Tile
from autotune.files import config
from autotune.language.expression import Num, Sym, parse, symbols
from autotune.workloads.shipped import workload_of

SKELETON = config.skeleton("pirk")
ORDERS = ("ijl", "ilj", "jil", "jli", "lij", "lji")


def made(*transformations: object, ivp: str = "heat2d") -> loop_tree.StepProgram:
    return variant_program.program(variant(*transformations), SKELETON, problem(ivp, 20))  # type: ignore[arg-type]


def test_programs_do_not_depend_on_the_size() -> None:
    chosen = variant(Interchange("lc", ("l", "i", "j")), Tile("lc", 256))
    assert sources(chosen, problem(size=20)) == sources(chosen, problem(size=300))


@pytest.mark.parametrize("ivp", IVPS)
def test_at_least_24_distinct_sources_per_problem(ivp: str) -> None:
    at = problem(ivp, 20011 if ivp != "heat2d" else 151)
    unpadded = [
        c for c in workload_of(setup(at)).candidates(1).legal if c.variant.parameters["pad"] == 5
    ]
    texts = {sha256(repr(sorted(sources(c, at).items())).encode()).digest() for c in unpadded}
    assert len(texts) == len(unpadded) >= 24


def test_sweeps_are_shared_between_programs() -> None:
    """Tiles, padding and buffers leave the functions as they are."""
    plain = sources(variant(Interchange("lc", ("i", "l", "j"))), problem())
    tiled = sources(variant(Interchange("lc", ("i", "l", "j")), Tile("lc", 64)), problem())
    fused = sources(
        variant(Interchange("lc", ("i", "l", "j")), FuseTiles("rhs", "lc", 64, "Y"), Pad(5)),
        problem(),
    )
    for name in set(plain) - {"step.c"}:
        assert plain[name] == tiled[name] == fused[name]


def test_orders_with_the_same_inner_loops_share_them() -> None:
    names = {
        order: {s.name for s in loop_tree.sweeps(made(Interchange("lc", tuple(order))).body)}
        for order in ORDERS
    }
    lc = {order: {n for n in found if n.startswith("lc")} for order, found in names.items()}
    assert lc == {
        "ijl": {"lc_jl_set", "lc_jl_add", "lc_jl_finish"},
        "ilj": {"lc_j_set", "lc_j_add", "lc_jl_finish"},
        "jil": {"lc_jil"},
        "jli": {"lc_jli"},
        "lij": {"lc_j_set", "lc_j_add", "lc_j_finish"},
        "lji": {"lc_ji"},
    }


def test_equal_names_mean_equal_functions_within_a_program() -> None:
    for order in ORDERS:
        program = made(Interchange("lc", tuple(order)), FuseTiles("rhs", "lc", 64, "Y"))
        texts: dict[str, str] = {}
        for sweep in loop_tree.sweeps(program.body):
            code = emit.sweep_code(sweep)
            assert texts.setdefault(code.name, code.text) == code.text


def test_canonical_form() -> None:
    """Rows are accessed by parameters at offsets of j; calls pass loop variables and numbers."""
    for ivp in IVPS:
        for order in ORDERS:
            for sweep in loop_tree.sweeps(made(Interchange("lc", tuple(order)), ivp=ivp).body):
                rows = {name for name, _ in sweep.rows}
                known = rows | {name for name, _ in (*sweep.scalars, *sweep.constants)}
                for _, row in sweep.rows:
                    assert row.index is None or isinstance(row.index, Num | Sym)
                for stretch in sweep.stretches:
                    local = {s.name for s in stretch.statements if isinstance(s, loop_tree.Local)}
                    for statement in stretch.statements:
                        names = symbols(statement.value)
                        assert names <= known | local | {"j", "N", "n", "t"}


def test_fusion_drops_the_vector_between() -> None:
    assert dict(made().arrays) == {"y": 1, "dy": 1, "Y": 4, "F": 4}
    assert dict(made(Fuse("approx", "update")).arrays) == {"y": 1, "Y": 4, "F": 4}
    assert dict(made(FuseTiles("rhs", "lc", 64, "Y")).arrays)["Y_next"] == 4


def test_bands_of_heat2d() -> None:
    """First row, interior rows with three stretches, last row."""
    sweeps = [s for s in loop_tree.sweeps(made().body) if s.kernel == "rhs"]
    assert [len(s.stretches) for s in sweeps] == [1, 3, 1]
    assert [dict(s.rows).keys() for s in sweeps] == [{"F"}, {"F", "y"}, {"F"}]


def test_short_rows_are_written_out() -> None:
    at = problem("string-mix", 20)
    assert regions.granule(at.ivp) == 8
    text = sources(variant(), at)["sweep_f_string_mix_1.c"]
    assert "j += 2" in text
    assert "F[j + 1] = " in text


def test_granule_is_a_multiple_of_short_rows() -> None:
    third = Region(lower=parse("0"), upper=parse("n"), body=parse("1.0"))
    ivp = replace(problem("string-mix", 20).ivp, row=Num(3), regions=(third,), initial=(third,))
    assert regions.granule(ivp) == 24


def test_regions_that_cut_short_rows_are_refused() -> None:
    ivp = problem("string-mix", 20).ivp
    first, second, *rest = ivp.regions
    one, two = (
        replace(region, lower=parse("2"), upper=parse("n - 2"), columns=region.columns)
        for region in rest[:2]
    )
    cut = replace(
        ivp,
        regions=(
            replace(first, upper=parse("1"), columns=None, body=parse("0.0")),
            replace(second, lower=parse("1"), upper=parse("3"), columns=None, body=parse("0.0")),
            replace(one, lower=parse("3")),
            replace(two, lower=parse("3")),
            *rest[2:],
        ),
    )
    with pytest.raises(IllegalTransformation, match="multiples of the row length 2"):
        variant_program.program(variant(), SKELETON, replace(problem("string-mix", 20), ivp=cut))


@pytest.mark.parametrize(("size", "whole"), [(4, 8), (100, 104)])
def test_tiles_are_rounded_up_to_whole_lines(size: int, whole: int) -> None:
    order = Interchange("lc", ("i", "l", "j"))
    assert made(order, Tile("lc", size)) == made(order, Tile("lc", whole))
    assert made(order, Tile("lc", size)) != made(order, Tile("lc", whole + 8))


def test_unknown_arrays_of_the_method_are_refused() -> None:
    arrays = {"e" if name == "b" else name: extents for name, extents in SKELETON.arrays.items()}
    approx = replace(SKELETON.kernels["approx"], value=parse("e[i]*F[i][j]"))
    other = replace(SKELETON, arrays=arrays, kernels={**SKELETON.kernels, "approx": approx})
    with pytest.raises(IllegalTransformation, match="e is no array of the method"):
        variant_program.program(variant(), other, problem())


GOLDEN = {
    "step_jli.c": ((Interchange("lc", ("j", "l", "i")),), "heat2d", "step.c"),
    "step_lij_fused.c": (
        (
            Interchange("lc", ("l", "i", "j")),
            Fuse("approx", "update"),
            FuseTiles("rhs", "lc", 256, "Y"),
            Pad(5),
        ),
        "heat2d",
        "step.c",
    ),
    "lc_jli.c": ((Interchange("lc", ("j", "l", "i")),), "heat2d", "sweep_lc_jli.c"),
    "lc_jil.c": ((Interchange("lc", ("j", "i", "l")),), "heat2d", "sweep_lc_jil.c"),
    "lc_jl_add.c": ((Interchange("lc", ("i", "j", "l")),), "heat2d", "sweep_lc_jl_add.c"),
    "lc_j_finish.c": ((Interchange("lc", ("l", "i", "j")),), "heat2d", "sweep_lc_j_finish.c"),
    "lc_ji.c": ((Interchange("lc", ("l", "j", "i")),), "heat2d", "sweep_lc_ji.c"),
    "approx_update.c": ((Fuse("approx", "update"),), "heat2d", "sweep_approx_update_ji.c"),
    "f_heat2d.c": ((), "heat2d", "sweep_f_heat2d_1.c"),
    "f_string_mix.c": ((), "string-mix", "sweep_f_string_mix_1.c"),
    "f_medakzo.c": ((), "medakzo", "sweep_f_medakzo_1.c"),
    "f_inverterchain.c": ((), "inverterchain", "sweep_f_inverterchain_0.c"),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_generated_c_is_what_it_was(name: str, samples: Path, golden: bool) -> None:
    """Set AUTOTUNE_GOLDEN=1 to accept a wanted change; the difference is then read as a patch."""
    transformations, ivp, unit = GOLDEN[name]
    text = sources(variant(*transformations), problem(ivp, 20))[unit]
    if golden:
        (samples / name).write_text(text, encoding="utf-8")
    assert text == (samples / name).read_text(encoding="utf-8")


def test_only_sweeps_with_rows_in_a_tile_are_called() -> None:
    """A call of a sweep over no rows costs more than the question whether there are any."""
    plain, tiled = (
        sources(variant(*GOLDEN["step_lij_fused.c"][0][:k]), problem("heat2d", 20))["step.c"]
        for k in (0, None)
    )
    question = "if (from < constants.N && to > 0)"
    assert question in tiled
    assert "if (first <" not in plain + tiled, "a thread has most of the rows"


def test_a_sum_is_a_loop_of_its_own_whose_terms_are_added_in_any_order() -> None:
    at = problem("flock", 101)
    text = sources(variant(Interchange("lc", ("j", "i", "l"))), at)["sweep_f_flock_1.c"]
    assert (
        """\
    for (long j = first; j < last; j++) {
        double pull = 0.0;
        SUM(pull)
        for (long k = 0; k < N; k++)
            pull += (y[k + N] - y[j])/(1.0 + power2(y[k] - y[j - N]));
        F[j] = W*pull;
    }
"""
        in text
    )
    assert "#define SUM(name) PRAGMA(omp simd reduction(+ : name))" in text
