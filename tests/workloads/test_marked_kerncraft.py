"""Marked loops through kerncraft: conditions of streams by hand, cycles by kerncraft itself."""

from pathlib import Path

import numpy as np
import pytest
from kerncraft_kernels import DAXPY

from autotune.commands.rank import ranked_space
from autotune.domain.results import Prediction
from autotune.files import config
from autotune.models.kerncraft.kerncraft_record import LineTransfers
from autotune.models.kerncraft.kernel_routes import KernelRoutes, RoutedModel
from autotune.workloads.program.engine.marked_kerncraft import conditions
from autotune.workloads.program.engine.stated_flows import LoopWork, StatedStream
from autotune.workloads.program.program_workload import ProgramWorkload
from autotune.workloads.shipped import workload_of

SOURCE = """\
int main(void)
{
    static double x[4096], y[4096];
    for (long i = 0; i < 4096; i++) /* autotune: loop add */
        y[i] += 2.0 * x[i];
    return (int)y[7];
}
"""
PROGRAM = """\
schema: autotune.program/1
title: adds
sources: [adds.c]
build: [["{compiler}", "{flags}", adds.c, -o, "{output}"]]
run: ["{output}", "{unroll}"]
threads: one
parameters: {unroll: [1]}
time: wall
model:
MODEL
"""
MARKED = """\
  marked: adds.c
  loops:
    - name: add
      iterations: 1e6
      streams:
        - {array: x, bytes: 8, reuse: never}
        - {array: y, bytes: 8, reuse: 100000, access: update}
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))


def work(*streams: StatedStream) -> LoopWork:
    return LoopWork(name="add", iterations=1e6, run=1e6, alike=1, streams=streams)


X = StatedStream(name="x", bytes=8, distance=np.inf, access="read")
Y = StatedStream(name="y", bytes=8, distance=1e5, access="update")
Z = StatedStream(name="z", bytes=4, distance=500, access="write")


def test_a_distance_that_is_no_whole_number_holds_its_own_condition() -> None:
    stream = StatedStream(name="y", bytes=8, distance=100000.5, access="read")
    rules = conditions(work(X, stream))
    assert rules.distances == (100001, 0)
    assert rules.lines == ((1, 0), (2, 0), (2, 0))


def test_a_stream_misses_what_is_smaller_than_its_distance() -> None:
    rules = conditions(work(X, Y, Z))
    assert rules.distances == (100_000, 500, 0)
    assert rules.lines == ((1, 0), (2, 1), (2.5, 1.5), (2.5, 1.5))


def test_cycles_of_lines_are_those_of_a_kernel_that_moves_them() -> None:
    with KernelRoutes(config.machine("power4-1.3")) as routes:
        (daxpy,) = routes.analyse([DAXPY])
        transfers = routes.transfers([(0, 0), (2, 1)])
    assert isinstance(daxpy, RoutedModel)
    assert isinstance(transfers, LineTransfers)
    record = daxpy.alone.record
    assert transfers.options[0, 0] == record.options[0]
    assert transfers.options[2, 1] == record.options[1]
    assert (transfers.caches, transfers.levels) == (record.caches, record.levels)


def predicted(folder: Path, model: str) -> Prediction:
    (folder / "adds.c").write_text(SOURCE, encoding="utf-8")
    (folder / "adds.yaml").write_text(PROGRAM.replace("MODEL\n", model), encoding="utf-8")
    (folder / "config.yaml").write_text(
        "schema: autotune.config/1\ntitle: adds\nmachine: haswell-e5-2630v3\nprogram: adds.yaml\n"
        "problems: [{arguments: {}}]\nbuilds: [{compiler: gcc, flags: [-O2, -march=haswell]}]\n",
        encoding="utf-8",
    )
    workload = workload_of(config.load(folder / "config.yaml"))
    assert isinstance(workload, ProgramWorkload)
    ranked = ranked_space.rank_space(workload, lambda *_: None, ("kerncraft",))
    (entry,) = ranked.rankings[0].entries
    assert entry.prediction.engine == "kerncraft"
    return entry.prediction


def test_a_marked_loop_has_its_code_and_kerncrafts_traffic(tmp_path: Path) -> None:
    """x from memory, y from L2: 1 line from memory, 2 and 1 through L2, 64 and 32 B/cy."""
    made = predicted(tmp_path, MARKED)
    assert made.seconds is not None
    parts = {part.kind: part.seconds * 2.3e9 / 125_000 for part in made.parts}
    assert parts["L2"] == pytest.approx(3 * 64 / 64)
    assert parts["L3"] == pytest.approx(64 / 32)
    assert parts["MEM"] == pytest.approx(64 * 2.3 / 51, rel=1e-6)
    assert parts["sweep"] == pytest.approx(sum(parts[k] for k in ("T_nOL", "L2", "L3", "MEM")))
    assert any(note == "in-core by osaca:HSW" for note in made.notes)


def test_a_formula_names_no_loop(tmp_path: Path) -> None:
    made = predicted(tmp_path, '  formula: "1 / clock"\n')
    assert made.seconds is None
    assert "the model names no loop" in made.reason
