"""Generated programs state what their sweeps compute: it is what lines count, and what is derived.

Exact: nothing is tolerated.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from codegen_build import SKELETON, common, launch, problem, variant

from autotune.assertions.checking import check_run
from autotune.assertions.counters import source_operators
from autotune.assertions.library import library_build
from autotune.assertions.library.mpi import mpi_library
from autotune.assertions.records import run_records
from autotune.codegen import communication
from autotune.codegen.c import harness, sweep_operations
from autotune.codegen.tree import variant_program
from autotune.domain.problem import Problem
from autotune.domain.variant import Fuse, Interchange, Pipeline, Tile, Variant
from autotune.toolchain import mpi

STEPS = 2
HEADER = library_build.header_folder() / sweep_operations.HEADER
VARIANTS = {
    "plain": variant(Interchange("lc", ("l", "i", "j"))),
    "fused": variant(Interchange("lc", ("j", "i", "l")), Fuse("approx", "update")),
    "tiled": variant(Interchange("lc", ("i", "l", "j")), Tile("lc", 32)),
}
SIZES = {"heat2d": 29, "inverterchain": 301}
"""Rows of a plane, and helper functions in the right-hand side; no multiples of a cache line."""


def gcc(folder: Path, *arguments: str) -> None:
    compiler = shutil.which("gcc")
    assert compiler
    done = subprocess.run(
        [compiler, "-std=gnu11", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def build(units: dict[str, str], folder: Path) -> Path:
    """The program, in a folder of its own; the lines of its sweeps are counted."""
    folder.mkdir()
    for name, text in units.items():
        (folder / name).write_text(text)
    compiling, linking = mpi.compile_flags(mpi.find())
    sources = {name for name in units if name.endswith(".c")}
    sweeps = {name for name in sources if name.startswith("sweep_")}
    gcc(folder, *source_operators.FLAGS, "-c", *sorted(sweeps))
    gcc(folder, "-fopenmp", *compiling, "-c", *sorted(sources - sweeps))
    objects = [name.removesuffix(".c") + ".o" for name in sorted(sources)]
    gcc(folder, "-fopenmp", "--coverage", *objects, "-o", "program", "-lm", *linking)
    return folder / "program"


def words(at: Problem, ranks: int, out: Path) -> Sequence[str]:
    return [
        "verify", *common(at, 1), "--ranks", str(ranks), "--communication", "allgather",
        "--steps", str(STEPS), "--out", str(out),
    ]  # fmt: skip


@pytest.mark.parametrize("ivp", SIZES)
@pytest.mark.parametrize("chosen", VARIANTS.values(), ids=VARIANTS)
def test_sweeps_compute_what_they_state_and_what_is_derived(
    ivp: str, chosen: Variant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = problem(ivp, SIZES[ivp])
    step = variant_program.program(chosen, SKELETON, at)
    units = harness.units(step, at, distributed=True, asserted=True)
    program = build({**units, HEADER.name: HEADER.read_text()}, tmp_path / "build")
    monkeypatch.setenv("LD_PRELOAD", str(mpi_library.mpi_library(mpi.find())))
    for ranks in (1, 2):
        records = tmp_path / f"of-{ranks}"
        monkeypatch.setenv("AUTOTUNE_ASSERT", str(records))
        done = launch(program, ranks, 1, [*words(at, ranks, tmp_path / "out")])
        assert done.returncode == 0, done.stderr
        run = run_records.read([records])
        check = check_run.check(run, partial=True)
        assert not [v for v in check.verdicts if v.outcome == "fail"]
        stated = {v.id: v for v in check.verdicts if v.counter == source_operators.COUNTER}
        blocks = communication.blocks(at.n, step.granule, ranks)
        for record, block in zip(run.records, blocks, strict=True):
            (folder,) = records.glob(f"*.{record.rank}.gcov")
            counts = source_operators.count_operations(folder)
            derived = sweep_operations.operations_of_step(step, at, block)
            counted = {name: counts.between(f"{name}.c", 1, 10**6) or 0 for name in derived}
            assert counted == {name: STEPS * number for name, number in derived.items()}
            assert {name for name, number in derived.items() if number} <= stated.keys()


def test_operations_that_no_formula_tells_are_not_stated() -> None:
    at = problem("heat2d", 29)
    step = variant_program.program(variant(Pipeline("k", 48)), SKELETON, at)
    with pytest.raises(sweep_operations.NoFormula, match="pipeline"):
        sweep_operations.operations_of_step(step, at, (0, at.n))


def test_usual_programs_state_nothing() -> None:
    at = problem("heat2d", 29)
    step = variant_program.program(VARIANTS["plain"], SKELETON, at)
    usual, asserted = harness.units(step, at), harness.units(step, at, asserted=True)
    assert usual.keys() == asserted.keys()
    assert "ma_" not in "".join(text for name, text in usual.items() if name.startswith("sweep"))
    assert {name for name in usual if usual[name] != asserted[name]} == {
        name for name in usual if name.startswith("sweep")
    }
