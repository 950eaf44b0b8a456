"""Floating-point operations of source lines are those that the source states, for real programs."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from autotune.assertions.counters import lackey, line_counts, record_counts, source_operators
from autotune.assertions.counters.source_operators import FLAGS, OperationCounts
from autotune.domain.assertion_record import AssertionRecord, PathRecord
from autotune.errors import InputError, WorkFailed

C = """\
#include <complex.h>
#include <math.h>
#include <stdio.h>
typedef double real;
typedef float four __attribute__((vector_size(16)));
struct pair { real a; float b; };
static real table[10];
static real sums(const struct pair *pair, const real *x, double complex c, int k)
{
    real t = 0;
    for (int i = 0; i < 10; i++) t += x[i] * table[i];     /* 2 x 10 on one line */
    for (int i = 0; i < 10; i++)
        if (i % 2) t -= pair->b;                           /* 5 */
    c = c * c + 2.0 / c;                                   /* 6 + 2 + 11 */
    four w = {1, 2, 3, 4};
    w = w * w;                                             /* 4 */
    switch (k) {
    case 1:
        t *= 2;                                            /* 1 where k is 1 */
        break;
    default:
        t = t * t * pair->a;                               /* 2 elsewhere */
    }
    if (k < 0)
        t /= 3;                                            /* never */
    t = k > 1 ? t + 1 : t - sqrt(fabs(t)) * 2;             /* 1 or 3 */
    t = fma(t, t, -t) + k * 3 + k / 2;                     /* 2 + 2 */
    return t + creal(c) + w[0];                            /* 2 */
}
int main(void)
{
    struct pair pair = {1, 2};
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += sums(&pair, table, 1 + I, i);
    return !(sum < 1e9);
}
"""
C_LINES = {
    11: 80, 13: 20, 14: 76, 16: 16, 19: 1, 22: 6, 25: 0, 26: 2 + 2 * 3, 27: 16, 28: 8, 35: 4
}  # fmt: skip

FORTRAN = """\
program sums
  implicit none
  integer, parameter :: dp = kind(1d0)
  real(dp) :: a(50), b(50), s
  complex(dp) :: c
  integer :: i, j
  a = 1.5_dp
  b = a*2 - 1
  s = 0
  do j = 1, 3
    do i = 1, 2
      s = s + a(i)*b(i)
    end do
    do i = 2, 1
      s = s*2
    end do
  end do
  s = s + dot_product(a, b)
  c = cmplx(s, 1, dp)
  c = c*c
  if (s < 0 .or. abs(c) < 0) stop 3
  call add(s, b)
contains
  subroutine add(total, terms)
    real(dp), intent(inout) :: total
    real(dp), intent(in) :: terms(:)
    real(dp) :: term
    do i = 1, size(terms)
      term = terms(i)
      total = total + term*term
    end do
  end subroutine add
end program sums
"""
FORTRAN_LINES = {8: 100, 12: 12, 15: 0, 18: 101, 20: 6, 30: 100}


def build(folder: Path, name: str, text: str, *flags: str) -> Path:
    """A program of one source file, compiled so that its lines are counted."""
    folder.mkdir(exist_ok=True)
    compiler = shutil.which("gfortran" if name.endswith(".f90") else "gcc")
    if compiler is None:
        pytest.skip(f"optional: no compiler of {name}")
    (folder / name).write_text(text)
    program = folder / "program"
    command = [compiler, "-Wall", *(flags or FLAGS), name, "-o", str(program), "-lm"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return program


def counted(program: Path, **variables: str) -> None:
    subprocess.run([program], check=True, env=os.environ | variables)


def only(counts: OperationCounts) -> dict[int, int]:
    (lines,) = counts.lines.values()
    return dict(lines)


@pytest.mark.parametrize(
    ("name", "text", "lines"), [("a.c", C, C_LINES), ("a.f90", FORTRAN, FORTRAN_LINES)]
)
def test_operations_are_those_of_the_source(name: str, text: str, lines, tmp_path: Path):
    program = build(tmp_path / "build", name, text)
    counted(program)
    counts = source_operators.count_operations(tmp_path / "build")
    assert only(counts) == lines
    assert counts.runs == 1
    assert counts.between(name, 1, 12) == sum(n for line, n in lines.items() if line <= 12)
    assert counts.between(str(tmp_path / "build" / name), 1, 99) == sum(lines.values())
    assert counts.between("other.c", 1, 99) is None


def test_a_line_to_which_calls_on_further_lines_return_counts_once(tmp_path: Path):
    text = """\
static double twice(double x) { return x + x; }
int main(void)
{
    double a[9] = {1.0}, b[9] = {2.0};
    for (int i = 1; i < 9; i++) {
        a[i] = 3.0 * (twice(twice(b[i] - a[i])) - twice(twice(b[i - 1] -
                b[i] - a[i])));
    }
    return a[8] > 1e9;
}
"""
    counted(build(tmp_path, "b.c", text))
    assert only(source_operators.count_operations(tmp_path)) == {1: 32, 6: 8 * 5}


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_optimization_changes_only_lines_of_several_blocks_or_none(level: str, tmp_path: Path):
    build(tmp_path, "a.c", C, *FLAGS, level)
    counted(tmp_path / "program")
    lines = only(source_operators.count_operations(tmp_path))
    differing = {line for line in lines if lines[line] != C_LINES[line]}
    assert differing <= {11, 13, 16, 26}, lines  # 16 is computed by the compiler


def test_processes_count_apart_or_together(tmp_path: Path):
    program = build(tmp_path / "build", "a.c", C)
    for rank in "01":
        counted(program, GCOV_PREFIX=str(tmp_path / rank))
        assert only(source_operators.count_operations(tmp_path / rank)) == C_LINES
    for _ in range(2):
        counted(program)
    together = source_operators.count_operations(tmp_path / "build")
    assert together.runs == 2
    assert only(together) == {line: 2 * n for line, n in C_LINES.items()}


def test_what_is_out_of_date_or_absent_is_refused(tmp_path: Path):
    def refusal() -> str:
        with pytest.raises(InputError) as caught:
            source_operators.count_operations(tmp_path)
        return str(caught.value)

    program = build(tmp_path, "a.c", C)
    assert "no .gcda file: the program did not count its lines" in refusal()
    counted(program)
    stat = (tmp_path / "a.c").stat()
    os.utime(tmp_path / "a.c", (stat.st_atime, stat.st_mtime + 3600))
    assert "has changed since" in refusal()
    (data,) = line_counts.data_files(tmp_path)
    kept = data.read_bytes()
    build(tmp_path, "a.c", C.replace("i < 4", "i < 5"))
    data.write_bytes(kept)
    assert "mismatch" in refusal()
    data.unlink()
    counted(program)
    (dump,) = tmp_path.glob("*.ssa")
    dump.write_text(dump.read_text().replace("sums", "other"))
    assert "not of the compilation" in refusal()
    dump.unlink()
    assert "beside it: none" in refusal()
    data.with_suffix(".gcno").unlink()
    assert "no such file" in refusal()


def test_a_notes_file_of_another_compiler_names_its_gcov(tmp_path: Path):
    build(tmp_path, "a.c", C)
    counted(tmp_path / "program")
    (notes,) = tmp_path.glob("*.gcno")
    notes.write_bytes(notes.read_bytes()[:4] + b"*09I" + notes.read_bytes()[8:])
    with pytest.raises(InputError, match="written by gcc 89, and there is no gcov 89"):
        source_operators.count_operations(tmp_path)


# --- into records ---------------------------------------------------------------------------


def block(path: int, asserted: float, visits: int, first: int = 11, **more) -> PathRecord:
    values = {
        "id": path, "parent": -1, "kind": "flop", "name": f"block{path}", "file": "a.c",
        "first_line": first, "last_line": first + 2, "visits": visits, "asserted": asserted,
        "measured": None, "passes": 0, "failures": 0,
    }  # fmt: skip
    return PathRecord(**values | more)


def record(*paths: PathRecord, rank: int = 0, ranks: int = 1) -> AssertionRecord:
    return AssertionRecord(
        run="run", rank=rank, ranks=ranks, program="p", host="h", started=0.0, seconds=1.0,
        complete=True, variables=(), paths=paths, calls=(), losses=(),
    )  # fmt: skip


def counts(**lines: int) -> OperationCounts:
    by_line = {int(name[1:]): n for name, n in lines.items()}
    return OperationCounts(
        runs=1, lines={Path("/x/a.c"): by_line}, names={"a.c": frozenset({Path("/x/a.c")})}
    )


def test_blocks_get_the_operations_of_their_lines():
    right, wrong, other, elsewhere = (
        block(0, 120, 4), block(1, 10, 2, 20), block(2, 5, 1, measured=4, counter="papi"),
        block(3, 5, 1, file="b.c"),
    )  # fmt: skip
    (merged,) = record_counts.with_counts(
        [record(right, wrong, other, elsewhere)], counts(l11=100, l13=20, l20=8, l9=1)
    )
    assert [path.measured for path in merged.paths] == [120, 8, 4, None]
    assert [path.counter for path in merged.paths] == ["source-operators"] * 2 + ["papi", ""]
    assert all(path.passes == path.failures == 0 for path in merged.paths)  # of single visits


def test_call_paths_of_the_same_lines_and_ranks_share_a_sum():
    ranks = [record(block(0, 10, 1), block(1, 30, 3), rank=r, ranks=2) for r in (0, 1)]
    merged = record_counts.with_counts(ranks, counts(l11=85))
    assert [[p.measured for p in r.paths] for r in merged] == [[11, 32], [11, 31]]
    merged = record_counts.with_counts(ranks, counts(l11=80))
    assert [[p.measured for p in r.paths] for r in merged] == [[10, 30], [10, 30]]


def test_counts_of_a_rank_lie_beside_its_record(tmp_path: Path):
    program = build(tmp_path / "build", "a.c", C)
    path = tmp_path / "run.0.json"
    asserted = record(block(0, 80 + 20, 4))
    assert record_counts.with_own_counts(path, asserted) == asserted
    counted(program, GCOV_PREFIX=str(tmp_path / "run.0.gcov"))
    assert record_counts.with_own_counts(path, asserted).paths[0].measured == 100
    counted(program, GCOV_PREFIX=str(tmp_path / "run.0.gcov"))
    with pytest.raises(InputError, match="2 runs together; expected those of rank 0: of 1 run"):
        record_counts.with_own_counts(path, asserted)


def test_merged_counts_are_of_as_many_processes_as_ranks(tmp_path: Path):
    program = build(tmp_path, "a.c", C)
    ranks = [record(block(0, 100, 4), rank=r, ranks=2) for r in (0, 1)]
    counted(program)
    with pytest.raises(InputError, match="1 run together; expected those of run run: of 2 runs"):
        record_counts.with_merged_counts(ranks, tmp_path)
    counted(program)
    merged = record_counts.with_merged_counts(ranks, tmp_path)
    assert [r.paths[0].measured for r in merged] == [100, 100]
    assert merged[0].paths[0].counter == "source-operators:all-ranks"


# --- executed instructions ------------------------------------------------------------------


def test_lackey_counts_loads_and_refuses_a_program_that_died(tmp_path: Path):
    if shutil.which("valgrind") is None:
        pytest.skip("optional: valgrind is not installed")
    program = build(tmp_path / "good", "a.c", C, "-O0")
    executed = lackey.count_executed([str(program)], 60)
    assert executed.counter == "lackey"
    assert executed.loads["F64"] + executed.loads["I64"] > 80
    assert executed.bytes_loaded > executed.bytes_stored > 1000
    program = build(tmp_path / "bad", "a.c", "int main(void) { __builtin_trap(); }", "-O0")
    with pytest.raises(WorkFailed, match="SIGILL"):
        lackey.count_executed([str(program)], 60)
