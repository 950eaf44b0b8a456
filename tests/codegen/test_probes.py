"""Probes of a sweep: the programs that have it alone, and the loops that do a part of its work."""

import contextlib
import re
import subprocess
from dataclasses import replace

import pytest
from codegen_build import COMPILER, problem, variant

from autotune.codegen.c import harness
from autotune.codegen.probes import probe_programs, probe_text
from autotune.codegen.probes.probe_parts import LoopShape, ProbeImpossible
from autotune.codegen.tree import loop_tree, variant_program
from autotune.domain.problem import StencilProblem
from autotune.domain.variant import Align, Block, Interchange, Unroll, Variant
from autotune.files import config
from autotune.language.expression import Num, parse

WIDE = LoopShape(vector=32)


def program(order: str = "jil", ivp: str = "heat2d") -> loop_tree.StepProgram:
    chosen = variant(Interchange("lc", tuple(order)))
    return variant_program.program(chosen, config.skeleton("pirk"), problem(ivp, 64))


def on_grid(name: str, unrolled: int = 1) -> loop_tree.StepProgram:
    """A stencil blocked in j, as a probe of its own that is repeated."""
    stencil = config.stencil(name)
    at = StencilProblem(stencil=stencil, extents=(6, 7, 37)[-len(stencil.dimensions) :])
    changes = (Block("sweep", "j", 4), Unroll("sweep", "i", unrolled))
    chosen = Variant(skeleton="jacobi", transformations=changes, parameters={})
    made = variant_program.program(chosen, config.skeleton("jacobi"), at)
    (one,) = probe_programs.probed_sweeps(made)
    return probe_programs.repeated(probe_programs.single_sweep_program(made, one, 0), None, 3)


def sweep(statements: tuple[loop_tree.Statement, ...], **more: object) -> loop_tree.Sweep:
    stretch = loop_tree.SweepStretch(Num(0), parse("n"), statements)
    made = loop_tree.Sweep(
        name="one",
        kernel="one",
        rows=(("a", loop_tree.StoredRow("a")), ("b", loop_tree.StoredRow("b"))),
        scalars=(("h", parse("h")),),
        stretches=(stretch,),
    )
    return replace(made, **more)


ADD = sweep((loop_tree.Assign("a", parse("h*b[j]"), add=True),))


def test_each_function_is_taken_once_with_all_its_calls():
    made = program("jil")
    taken = {one.sweep.name: one for one in probe_programs.probed_sweeps(made)}
    assert taken["lc_jil"].calls == 6
    assert taken["f_heat2d_1"].calls == 4 + 6 * 4
    assert len(taken) == len({s.name for s in loop_tree.sweeps(made.body)})


def test_alone_it_has_rows_of_its_own_and_the_state():
    made = program("lij")
    for one in probe_programs.probed_sweeps(made):
        single = probe_programs.single_sweep_program(made, one, 5)
        (only,) = loop_tree.sweeps(single.body)
        assert only.stretches == one.sweep.stretches
        assert len(single.arrays) == len({row for _, row in only.rows})
        assert single.arrays[0] == ("y", 1)
        assert not any(isinstance(v, loop_tree.StoredRow) and v.index for _, v in only.rows)


def test_a_tile_is_gone_through_many_times():
    made = program()
    single = probe_programs.single_sweep_program(made, probe_programs.probed_sweeps(made)[-1], 1)
    (tiles,) = probe_programs.repeated(single, 64, 7).body.nodes
    assert isinstance(tiles, loop_tree.Tiles)
    assert tiles.size == 64
    (again,) = tiles.body.nodes
    assert isinstance(again, loop_tree.Repeat)
    assert again.end - again.first == 7


def test_vectors_of_a_sweep_alone_move_the_lines_of_this_sweep():
    at = problem("heat2d", 64)
    chosen = variant(Interchange("lc", ("j", "l", "i")), Align(8))
    made = variant_program.program(chosen, config.skeleton("pirk"), at)
    assert made.plain is not None
    for probed in probe_programs.probed_sweeps(made):
        single = probe_programs.single_sweep_program(made, probed, 1)
        assert single.plain is None
        assert probe_programs.repeated(single, None, 3).plain is None


def test_loads_only_stores_nothing_and_moves_computes_nothing():
    loads = probe_text.code(ADD, "loads", WIDE).text
    assert "STORE(lane," not in loads
    assert "USE(LOAD(lane, a[j]))" in loads
    assert "USE(LOAD(lane, b[j]))" in loads
    moves = probe_text.code(ADD, "moves", WIDE).text
    assert "STORE(lane, a[j]) = stored" in moves
    assert "h*" not in moves
    arithmetic = probe_text.code(ADD, "arithmetic", WIDE).text
    assert "[j]" not in arithmetic
    assert "h*" in arithmetic


def test_it_loads_as_often_as_the_compiled_loop():
    text = probe_text.code(ADD, "loads", LoopShape(vector=32, loads=5 / 4)).text
    first = text[text.index("const long j = from_j + 0") : text.index("const long j = from_j + 4")]
    assert first.count("USE(LOAD(lane,") == 5


def test_what_was_stored_is_not_loaded_again():
    both = sweep((loop_tree.Assign("a", parse("b[j]")), loop_tree.Assign("b", parse("a[j]*h"))))
    assert "LOAD(lane, a[j])" not in probe_text.code(both, "moves", WIDE).text


@pytest.mark.parametrize(
    ("statement", "part", "reason"),
    [
        (loop_tree.Assign("a", parse("0.0")), "loads", "loads no row"),
        (loop_tree.Assign("a", parse("b[j]")), "arithmetic", "computes nothing"),
        (loop_tree.Assign("a", parse("sin(b[j])")), "arithmetic", "calls sin"),
        (loop_tree.Assign("a", parse("b[j] if h < 1 else h")), "arithmetic", "condition"),
        (loop_tree.Assign("a", parse("b[j]*j")), "arithmetic", "loop variable"),
    ],
)
def test_where_there_is_no_probe_it_says_why(statement, part, reason):
    with pytest.raises(ProbeImpossible, match=reason):
        probe_text.code(sweep((statement,)), part, WIDE)


def test_rows_written_out_have_no_parts():
    made = program(ivp="string-mix")
    mixed = next(s for s in loop_tree.sweeps(made.body) if s.name == "f_string_mix_1")
    with pytest.raises(ProbeImpossible, match="fixed length"):
        probe_text.code(mixed, "moves", WIDE)


def test_a_sweep_over_a_grid_keeps_its_blocks_and_has_arrays_of_its_own():
    made = on_grid("star3d-7pt-variable")
    (again,) = made.body.nodes
    assert isinstance(again, loop_tree.Repeat)
    (blocks,) = again.body.nodes
    assert isinstance(blocks, loop_tree.Tiles)
    assert (blocks.dimension, blocks.size) == ("j", 4)
    assert [array for array, _ in made.arrays] == ["v", "u", *"CWESNBT"]


def test_parts_on_a_grid_load_each_point_of_the_stencil():
    (star,) = loop_tree.grid_sweeps(on_grid("star3d-7pt").body)
    first = probe_text.code(star, "moves", WIDE).text
    first = first[first.index("const long i = from_i + 0") : first.index("from_i + 4;")]
    assert first.count("USE(LOAD(lane, u[at") == 7
    assert "LOAD(lane, u[at - plane + i])" in first
    assert "STORE(lane, v[at + i])" in first
    arithmetic = probe_text.code(star, "arithmetic", WIDE).text
    assert "[at" not in arithmetic
    assert "c1*" in arithmetic
    (unrolled,) = loop_tree.grid_sweeps(on_grid("star3d-7pt", unrolled=4).body)
    assert "LOAD(lane" in probe_text.code(unrolled, "loads", WIDE).text
    with pytest.raises(ProbeImpossible, match="permutations"):
        probe_text.code(unrolled, "arithmetic", WIDE)


@pytest.mark.skipif(COMPILER is None, reason="optional: no C compiler")
def test_every_part_of_every_sweep_compiles(tmp_path):
    """Vectors and scalar code; one run of the compiler for all texts that differ."""
    texts: dict[str, None] = {}
    for ivp in ("heat2d", "medakzo", "inverterchain"):
        for one in probe_programs.probed_sweeps(program("lij", ivp)):
            for part, vector in (("loads", 16), ("moves", 8), ("arithmetic", 16)):
                with contextlib.suppress(ProbeImpossible):
                    shape = LoopShape(vector=vector, loads=9)
                    texts[probe_text.code(one.sweep, part, shape).text] = None
    for stencil in ("star3d-7pt-variable", "star2d-5pt", "star3d-r4"):
        (over,) = loop_tree.grid_sweeps(on_grid(stencil).body)
        for part, vector in (("loads", 16), ("moves", 8), ("arithmetic", 16)):
            texts[probe_text.code(over, part, LoopShape(vector=vector, loads=9)).text] = None
    files = [tmp_path / f"u{number}.c" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    assert len(files) > 15
    command = [COMPILER, "-O1", "-Wall", "-Werror", "-fsyntax-only", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_row_can_start_with_the_initial_values():
    made = program()
    single = probe_programs.single_sweep_program(made, probe_programs.probed_sweeps(made)[-1], 1)
    (body,) = re.findall(
        r"void initial\(struct thread \*me\)\n\{(.*?)\n\}",
        harness.units(single, problem(), filled=True)["step.c"],
        re.DOTALL,
    )
    for array, _ in single.arrays:
        assert f"ARRAY_{array}" in body


@pytest.mark.parametrize("part", ["loads", "moves", "arithmetic"])
def test_a_sum_over_an_index_has_no_probe_of_a_part(part: probe_text.Part):
    total = loop_tree.SumLoop("s", "k", Num(0), parse("n"), parse("b[k]"))
    with pytest.raises(ProbeImpossible, match="a sum over an index, which is a loop of its own"):
        probe_text.code(sweep((total, loop_tree.Assign("a", parse("s")))), part, WIDE)
