"""Marked loops: in the source, in the assembly of real compilers, and as predictions."""

import re
import shutil
from pathlib import Path

import pytest
from program_samples import MARKED, MATMUL, candidates, predicted, read, written
from sample_nodes import documented

from autotune.domain.results import Prediction
from autotune.domain.setup import Layout, Setup
from autotune.domain.variant import Build, Candidate
from autotune.files import config
from autotune.language.loop_marks import Lines, marks
from autotune.models.incore.assembly.hot_loops import NoLoop
from autotune.models.incore.assembly.x86 import X86
from autotune.models.incore.marked import marked_build
from autotune.models.incore.marked.marked_code import marked_code
from autotune.models.incore.marked.marked_loops import LoopMark, marked_loops, operations
from autotune.workloads.program.model_route import program_loops

O3 = ["gcc", "-O3", "-march=haswell"]


def assembly(folder: Path, text: str, *flags: str, compiler: str = "gcc") -> str:
    folder.joinpath("mm.c").write_text(text, encoding="utf-8")
    command = [compiler, "-O3", "-march=haswell", *flags, "-c", "mm.c", "-o", "x.o", "-lm"]
    return marked_build.assembly(command, str(folder / "mm.c"))


def code(folder: Path, text: str, *flags: str, compiler: str = "gcc") -> str:
    """The functions of the marked loop."""
    made = assembly(folder, text, *flags, compiler=compiler)
    return marked_code(made, str(folder / "mm.c"), marks(text)["inner"])


def mark(text: str, flops: float | None = None, element: int = 8) -> LoopMark:
    return LoopMark(
        name="inner",
        lines=marks(text)["inner"],
        flops=flops,
        element=element,
    )


# --- the source ---------------------------------------------------------------------------------


def test_marks_are_found_before_a_loop_and_behind_its_head() -> None:
    text = """\
// autotune: loop first
#pragma omp simd
for (int i = 0; i < n; ++i)
    if (a[i]) { b[i] = "}"[0]; } else b[i] = 1;
int x; /* for while do */
while (x) {  /* autotune: loop second */
    do { --x; } while (x > '}');
}
/* autotune: loop third */ _Pragma("omp simd") for (;;) for (;;) ++x;
"""
    assert dict(marks(text)) == {"first": Lines(3, 4), "second": Lines(6, 8), "third": Lines(9, 9)}


def test_flags_of_code_and_text_are_told_from_those_of_files() -> None:
    line = "gcc -O3 -DB=8 -I inc -std=c11 -flto -g mm.c other.o -o mm -Lx -lm -fopenmp -MF d -MMD"
    flags = marked_build.flags_of(line.split())
    assert flags.code == ("-O3", "-std=c11", "-fopenmp")
    assert flags.text == ("-DB=8", "-I", "inc")


# --- the assembly -------------------------------------------------------------------------------


def test_a_line_table_changes_nothing_of_the_code(tmp_path: Path) -> None:
    bare = MATMUL.replace("/* autotune: loop inner */", "")
    texts = [
        re.findall(r"^\t(?!\.)(?:[^#\n]*)$", assembly(tmp_path, text, "-DBLOCK=64"), re.MULTILINE)
        for text in (MATMUL, bare)
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("kind", "size"), [("double", 8), ("float", 4)])
def test_iterations_are_those_of_the_marked_loop(tmp_path: Path, kind: str, size: int) -> None:
    source = MATMUL.replace("double", kind)
    text = code(tmp_path, source, "-DBLOCK=64", "-fno-loop-unroll-and-jam")
    by_address = marked_loops(text, mark(source, element=size)).main[0]
    by_operations = marked_loops(text, mark(source, flops=2)).main[0]
    stored = sum(instruction.stores for instruction in by_address.instructions)
    assert by_address.lanes == 4
    assert by_address.iterations == by_operations.iterations == stored / size


def test_operations_count_iterations_that_the_compiler_joined(tmp_path: Path) -> None:
    text = code(tmp_path, MATMUL, "-DBLOCK=64", "-floop-unroll-and-jam")
    loop = marked_loops(text, mark(MATMUL, 2)).main[0]
    fused = sum("fmadd" in instruction.mnemonic for instruction in loop.instructions)
    assert loop.iterations == 4 * fused


def test_a_loop_that_is_written_out_is_counted_by_its_operations(tmp_path: Path) -> None:
    source = MATMUL.replace("(jj + BLOCK < n ? jj + BLOCK : n)", "jj + BLOCK")
    text = code(tmp_path, source, "-DBLOCK=8")
    assert marked_loops(text, mark(source, flops=2)).main[0].iterations % 8 == 0


def test_operations_of_an_instruction() -> None:
    for text, count in {
        "vfmadd231pd %ymm1, %ymm2, %ymm3": 8,
        "vfmadd213ss 4(%rax), %xmm0, %xmm1": 2,
        "vaddps %zmm1, %zmm2, %zmm3": 16,
        "mulsd %xmm1, %xmm0": 1,
        "vmovupd (%rax), %ymm0": 0,
        "addq $32, %rax": 0,
    }.items():
        assert operations(X86().parse(text), X86()) == count, text


def test_a_loop_without_a_trace_says_so(tmp_path: Path) -> None:
    empty = "/* autotune: loop inner */\nfor (int i = 0; i < 4; ++i) ;\n"
    source = f"void f(double *a) {{\n{empty}a[0] = 1;\n}}\n"
    with pytest.raises(NoLoop, match="the compiler made no instruction of the loop inner"):
        marked_loops(code(tmp_path, source), mark(source))


@pytest.mark.skipif(shutil.which("clang") is None, reason="optional: clang is not installed")
def test_clang_tells_the_lines_too(tmp_path: Path) -> None:
    text = code(tmp_path, MATMUL, "-DBLOCK=64", compiler="clang")
    assert marked_loops(text, mark(MATMUL, 2)).main[0].iterations >= 4


# --- predictions --------------------------------------------------------------------------------


def both(
    folder: Path, model: str = MARKED, build: Build | None = None, text: str = MATMUL, **n: int
) -> dict[object, Prediction]:
    """By the size of a block."""
    program = read(written(folder, model, {"mm.c": text}))
    asked = candidates(program, build=build or Build(flags=("-O3", "-march=haswell")), **n)
    found = predicted(asked, documented())
    return {c.variant.parameters["block"]: p for c, p in zip(asked, found, strict=True)}


def test_blocks_that_fit_a_cache_take_less_time(tmp_path: Path) -> None:
    found = both(tmp_path, n=4096)
    seconds = [found[block].seconds or 0 for block in (8, 64, 512)]
    assert seconds[1] < seconds[0]
    assert seconds[1] < seconds[2]
    assert "entries into the loop take" in found[8].reason or "L3" in found[8].reason
    assert found[512].reason.startswith("inner, 100 % of the run: B from MEM takes")
    assert any("in-core by osaca:HSW" in note for note in found[64].notes)
    kinds = {part.kind for part in found[512].parts}
    assert {"T_OL", "T_nOL", "MEM", "sweep"} <= kinds
    low, high = found[64].interval or (0, 0)
    assert low < seconds[1] < high


def test_flags_count_through_the_compiled_loop(tmp_path: Path) -> None:
    fast = both(tmp_path)[64].seconds or 0
    slow = both(tmp_path, build=Build(flags=("-O1",)))[64].seconds or 0
    assert slow > 1.8 * fast


def test_time_grows_with_iterations_and_falls_with_workers(tmp_path: Path) -> None:
    once = both(tmp_path)[64].seconds or 0
    twice = MARKED.replace("iterations: n**3", "iterations: 2 * n**3")
    twice = twice.replace("entries: n**3", "entries: 2 * n**3") + "  extra: 1\n"
    assert (both(tmp_path, twice)[64].seconds or 0) == pytest.approx(2 * once + 1)
    program = read(written(tmp_path, MARKED))
    build = Build(flags=("-O3", "-march=haswell"))
    four = predicted(candidates(program, 4, build), documented())[2].seconds or 0
    assert once / 4.5 < four < once / 2


def test_what_fails_is_told_as_the_reason(tmp_path: Path) -> None:
    wrong = "#if BLOCK == 8\n#error no such block\n#endif\n" + MATMUL
    found = both(tmp_path, text=wrong)
    assert found[8].seconds is None
    assert "no such block" in found[8].reason
    assert found[64].seconds is not None
    missing = both(tmp_path, build=Build(compiler="no-such-compiler", flags=()))
    assert "no-such-compiler" in missing[64].reason
    gone = both(tmp_path, MARKED.replace("flops: 2", "workers: n - 512"))
    assert gone[64].reason == "workers of inner = n - 512 is 0, below 1"


def test_the_loops_of_a_candidate_can_be_told(tmp_path: Path) -> None:
    program = read(written(tmp_path, MARKED))
    build = Build(flags=("-O3", "-march=haswell"))
    asked: Candidate = candidates(program, build=build)[0]
    setup = Setup(
        name="x",
        source="x.yaml",
        machine=None,
        problems=(asked.problem,),
        subject=program,
        builds=(build,),
        layouts=(Layout(),),
        engine="program",
    )
    (loop,) = program_loops(setup, config.machine("haswell-e5-2630v3"), asked, lambda *_: None)
    assert (loop.sweep, loop.result.vector) == ("inner", 32)
