"""Loops as gcc and clang make them here: components per pass, counted while they run."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from codegen_build import problem, sources, variant
from incore_samples import machine

from autotune.codegen.c.emit import SweepCode
from autotune.domain.variant import Build, Contract, Fuse, Interchange, Pipeline
from autotune.models.incore import osaca_analyser
from autotune.models.incore.assembly import hot_loops
from autotune.models.incore.assembly.loop_passes import HotLoop
from autotune.models.incore.osaca_analyser import OsacaAnalyser

COMPILERS = [
    pytest.param(
        name,
        marks=pytest.mark.skipif(not shutil.which(name), reason=f"optional: no {name} here"),
    )
    for name in ("gcc", "clang")
]

# Each takes first, last, written rows, read rows, in this order
HEAD = "void f(long first, long last, double *restrict F, double *restrict G,\n"
TAIL = "       const double *restrict y, const double *restrict z)\n"
LOOP = "    for (long j = first; j < last; j++) "
BODIES = {
    "axpy": LOOP + "F[j] = 0.5*y[j] + z[j];",
    "three_points": LOOP + "F[j] = 0.25*(y[j - 1] + 2.0*y[j] + y[j + 1]);",
    "nine_points": LOOP + "F[j] = y[j-4]+y[j-3]+y[j-2]+y[j-1]+y[j]+y[j+1]+y[j+2]+y[j+3]+y[j+4];",
    "two_rows": LOOP + "{ F[j] = y[j] + z[j]; G[j] += 0.5*y[j]; }",
    "strided": "    for (long j = first; j < last; j += 2) "
    "{ F[j] = y[j + 1]; F[j + 1] = 2.0*(y[j - 2] - y[j] + y[j + 2]); }",
    "sum": "    double s = 0.0;\n" + LOOP + "{ s = 0.5*s + y[j]; F[j] = s; }",
    "short_inner": LOOP
    + "{ double s = 0.0; for (int i = 0; i < 7; i++) s += y[j + i]*z[i]; F[j] = s; }",
    "unrolled": "    for (long j = first; j < last; j += 4) { F[j] = y[j] + y[j + 1];"
    " F[j + 1] = y[j + 1] + y[j + 2]; F[j + 2] = y[j + 2] + y[j + 3];"
    " F[j + 3] = y[j + 3] + y[j + 4]; }",
    "two_loops": LOOP + "F[j] = 0.5*y[j];\n" + LOOP.replace("long j", "long k").replace("j", "k")
    + "G[k] = z[k] + y[k];",
}  # fmt: skip
N = 2048


def made(body: str, compiler: str, level: str) -> str:
    """The assembly of a function with this body."""
    build = Build(compiler=compiler, flags=(level, "-march=x86-64-v3"))
    return osaca_analyser.assemble(f"{HEAD}{TAIL}{{\n{body}\n}}\n", build)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))


def passes(assembly: str, loop: HotLoop, folder: Path) -> int:
    """How often the loop runs for N components, by a counter at its head."""
    count = f"{loop.label}:\n\tincq\tpasses(%rip)"  # the flags are free where a loop begins
    text = re.sub(rf"^{re.escape(loop.label)}:", count, assembly, count=1, flags=re.MULTILINE)
    text = re.sub(r"^\s*\.addrsig.*$", "", text, flags=re.MULTILINE)
    text += "\n\t.local passes\n\t.comm passes,8,8\n\t.text\n\t.globl counted\n"
    text += "counted:\n\tmovq passes(%rip), %rax\n\tret\n"
    source, target = folder / f"{loop.label}.s", folder / f"{loop.label}.so"
    source.write_text(text)
    command = ["gcc", "-shared", "-o", str(target), str(source), "-lm"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    library = ctypes.CDLL(str(target))
    library.counted.restype = ctypes.c_long
    rows = [np.zeros(N + 64) for _ in range(4)]
    pointers = [ctypes.c_void_p(row.ctypes.data + 8 * 32) for row in rows]
    library.f(ctypes.c_long(0), ctypes.c_long(N), *pointers)
    counted = library.counted()
    assert isinstance(counted, int)
    return counted


CASES = [
    ("axpy", "-O2"), ("axpy", "-O3"), ("three_points", "-O2"), ("three_points", "-Ofast"),
    ("nine_points", "-O3"), ("two_rows", "-O3"), ("strided", "-O2"), ("strided", "-O3"),
    ("sum", "-O3"), ("short_inner", "-O2"), ("short_inner", "-O3"), ("unrolled", "-O2"),
    ("unrolled", "-O3"), ("two_loops", "-O3"),
]  # fmt: skip


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(("name", "level"), CASES)
def test_components_per_pass_as_counted_while_the_code_runs(compiler, name, level, tmp_path):
    if not _host_runs_it():
        pytest.skip("optional: this host does not run x86-64-v3 code")
    assembly = made(BODIES[name], compiler, level)
    found = hot_loops.hot_loops(assembly, "f")
    for loop in found.main:
        counted = passes(assembly, loop, tmp_path)
        # a predictive loop computes a few components before, a remainder a few behind
        assert N - 2 * loop.iterations - 8 <= counted * loop.iterations <= N
    assert len(found.main) == (2 if name == "two_loops" else 1)


def _host_runs_it() -> bool:
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False
    return "avx2" in flags and "fma" in flags and "bmi2" in flags


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_grid_sweep_counts_points_and_has_a_remainder(compiler):
    body = """
    long plane = last*2, line = last;
    for (long k = 0; k < 3; k++)
        for (long j = 1; j < first; j++) {
            const long at = k*plane + j*line;
            for (long i = 0; i < last; i++)
                F[at + i] = y[at + i] + y[at + i - 1] + y[at + i + 1] + y[at + i - line];
        }
    """
    found = hot_loops.hot_loops(made(body, compiler, "-O3"), "f")
    (main,) = found.main
    assert main.depth >= 2
    stored = sum(i.stores for i, s in zip(main.instructions, main.strides, strict=True) if s)
    assert main.iterations == stored / 8
    assert found.entry > 0
    assert found.straight is not None or found.rest[-1].iterations == 1


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_vector_loop_that_would_read_beyond_its_rows_leaves_components(compiler):
    gaps = "for (long j = first; j < last; j += 2) { F[j] = y[j - 2] + y[j]; F[j + 1] = y[j + 1]; }"
    plain = "for (long j = first; j < last; j++) F[j] = y[j - 1] + y[j];"
    assert not hot_loops.hot_loops(made(plain, compiler, "-O3"), "f").leaves
    found = hot_loops.hot_loops(made(gaps, compiler, "-O3"), "f")
    if "gcc" in compiler and found.main[0].lanes > 1:
        assert found.leaves


@pytest.mark.parametrize("compiler", COMPILERS)
def test_single_components_are_those_of_the_row_whatever_other_rows_do(compiler):
    """A loop of its own before the aligned loop; loops of other rows do not make it cheaper."""
    body = """
    for (long k = 0; k < 3; k++) {
        const long start = k*last, aligned = (start + 7) / 8*8;
        for (long j = start; j < aligned; j++) {
            __asm__ volatile ("");
            F[j] = y[j]*z[j] + y[j + 1]*z[j + 1] + y[j + 2]*z[j + 2];
        }
        for (long j = aligned; j < start + last; j++)
            F[j] = y[j]*z[j] + y[j + 1]*z[j + 1] + y[j + 2]*z[j + 2];
    }
    """
    others = "    for (long j = 4*last; j < 5*last; j++)\n        F[j] = 0.0;\n"
    alone, both = (
        hot_loops.hot_loops(made(text, compiler, "-O3"), "f") for text in (body, body + others)
    )
    for found in (alone, both):
        assert found.head is not None
        assert found.head.iterations == 1
        # at least the two new values of each component; a compiler may keep the other four
        assert sum(i.loads for i in found.head.instructions if i.loads) >= 2 * 8
    if alone.straight is not None and both.straight is not None:
        of_each = [len(s.instructions) / s.iterations for s in (alone.straight, both.straight)]
        assert of_each[0] == pytest.approx(of_each[1])


@pytest.mark.parametrize("compiler", COMPILERS)
def test_rows_of_a_boundary_that_compute_little_are_not_the_hot_loop(compiler, tmp_path):
    """A sweep of three dimensions has a nest of zeros at each face, in which clang takes more
    components per pass than inside: without F, which is zero there, little is left to compute.
    """
    steps = (Interchange("lc", ("j", "l", "i")), Fuse("approx", "update"), Pipeline("k", 64))
    texts = sources(variant(*steps, Contract("F")), problem("heat3d", 17))
    text = texts["sweep_rhs_lc_heat3d_1.c"]
    (tmp_path / "sweep.c").write_text(text)
    command = [compiler, "-O3", "-march=x86-64-v3", "-S", "sweep.c", "-o", "sweep.s"]
    subprocess.run(command, cwd=tmp_path, check=True)
    found = hot_loops.hot_loop((tmp_path / "sweep.s").read_text(), "sweep_rhs_lc_heat3d_1")
    assert len(found.instructions) / found.iterations > 15


@pytest.mark.parametrize("compiler", COMPILERS)
def test_other_components_of_a_row_that_compute_little_are_not_the_hot_loop(compiler):
    body = """
    for (long k = 0; k < 3; k++) {
        const long start = k*last, inside = start + first;
        for (long j = start; j < inside; j++)
            F[j] = 0.5*z[j];
        for (long j = inside; j < start + last; j++)
            F[j] = y[j]/(1.0 + z[j]*z[j]) + y[j - 1]*y[j + 1] - 4.0*y[j] + z[j - 1]*z[j + 1];
    }
    """
    found = hot_loops.hot_loop(made(body, compiler, "-O3"), "f")
    assert any(instruction.work == "divide" for instruction in found.instructions)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_calls_of_the_library_are_counted_priced_and_said(compiler):
    body = "    extern double sin(double), exp(double);\n" + LOOP + "F[j] = sin(y[j])*exp(z[j]);"
    text = f"{HEAD}{TAIL}{{\n{body}\n}}\n"
    with OsacaAnalyser(machine("ZEN3")) as analyser:
        build = Build(compiler=compiler, flags=("-O2", "-march=x86-64-v3"))
        (found,) = analyser.analyse([SweepCode(name="f", function="f", text=text)], build)
    assert found.calls == 2
    assert found.T_OL > 40
    assert found.width > 0.5
    assert any("exp, sin" in note for note in found.notes)
    assert " k " in found.annotated
