"""Each kind of model is ranked and explained; what is compiled for one; one is tuned and stored."""

from collections.abc import Sequence
from pathlib import Path

import own_programs as own
import pytest
from program_samples import DAXPY, candidates, read, written

from autotune.commands.rank.explain_ranking import explain
from autotune.commands.rank.ranked_space import load, rank_space
from autotune.commands.tune import flow as tune_flow
from autotune.domain.program_model import MarkedModel
from autotune.domain.variant import Build, Candidate
from autotune.files.config import machine
from autotune.models.incore.base import InCoreResult
from autotune.models.incore.marked.marked_build import assembly
from autotune.models.incore.osaca_analyser import AssemblyRegion, OsacaAnalyser
from autotune.workloads.program.engine.compiled_loops import Command, CompiledLoops, LoopRequest

SWEEP = """\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static void step(long m, const double *restrict x, double *restrict y)
{
    for (long i = 0; i < m; i++) /* autotune: loop step */
        y[i] = y[i] + 0.5 * x[i];
}
int main(int argc, char **argv)
{
    const long n = atol(argv[1]), tile = atol(argv[2]);
    double *x = calloc(2 * n, sizeof *x), *y = x + n;
    struct timespec a, b;
    for (long i = 0; i < n; i++)
        x[i] = i % 7;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (long f = 0; f < n; f += tile)
        for (int again = 0; again < 8; again++)
            step(f + tile < n ? tile : n - f, x + f, y + f);
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("time %.9f s\\n", (b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec));
    for (long i = 1; i < n; i++)
        y[0] += y[i];
    printf("sum %.17g\\n", y[0]);
    return argc < 3;
}
"""
PROGRAM = """\
schema: autotune.program/1
title: Eight sweeps over each tile
sources: [sweep.c]
build: ["{compiler}", "{flags}", "{source folder}/sweep.c", -o, "{output}"]
run: ["{output}", "{n}", "{tile}"]
arguments: {n: 1000000}
size: n
threads: one
parameters: {tile: [1000, 1000000]}
baseline: {tile: 1000000}
time: {pattern: "time (\\\\S+) s"}
check: {pattern: "sum (\\\\S+)"}
"""
CONFIG = """\
schema: autotune.config/1
machine: haswell-e5-2630v3
program: tiny.yaml
problems: [{arguments: {n: 1000000}}]
builds: [{compiler: gcc, flags: [-O3]}]
measuring: {rounds: 2, samples: 1, busy: 0}
limits: {compile: 20 s, run: 10 s}
"""
MODELS = {
    "formula": """\
model:
  formula:
    first: 24 * n / bandwidth_MEM
    again: 7 * 24 * n / (bandwidth_L2 if 16 * tile <= cache_L2 else bandwidth_MEM)
""",
    "kerncraft": "model: {kerncraft: k.c, constants: {N: tile}, iterations: 8 * n}\n",
    "kernel": """\
model:
  kernel: {stencil: star3d-7pt, size: ceil(n ** 0.333), space: stencil-blocks}
  times: 8
  extra: tile * 1e-12
""",
    "marked": """\
model:
  marked: sweep.c
  loops:
    - name: step
      iterations: 8 * n
      entries: 8 * n / tile
      streams:
        - {array: x, bytes: 1, reuse: never}
        - {array: x, bytes: 7, reuse: 16 * tile}
        - {array: y, bytes: 1, reuse: never, access: update}
        - {array: y, bytes: 7, reuse: 16 * tile, access: update}
  extra: 1e-3
""",
}


def put(folder: Path, model: str) -> Path:
    return own.put(folder, PROGRAM + model, CONFIG, {"sweep.c": SWEEP, "k.c": DAXPY})


@pytest.mark.parametrize("kind", MODELS)
def test_each_kind_ranks_and_tells_why(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path, MODELS[kind])
    found = rank_space(load(path), own.quiet)
    (ranking,) = found.rankings
    small, _ = ranking.entries
    assert small.candidate.variant.parameters["tile"] == 1000
    for entry in ranking.entries:
        prediction = entry.prediction
        low, high = prediction.interval or (0, 0)
        assert prediction.seconds is not None
        assert low < prediction.seconds < high
        assert prediction.uncertainty is not None
        assert prediction.reason
        whole = sum(part.seconds for part in prediction.parts if part.kind == "sweep")
        assert whole == pytest.approx(prediction.seconds)
    (told,) = explain(found, "tile1000", "tile1000000", own.quiet)
    assert any("faster" in line or "same time" in line for line in told.words), told.words
    (alone,) = explain(found, "tile1000", None, own.quiet)
    assert alone.words
    assert bool(alone.explained.loops) == (kind == "marked")


def test_predictions_go_with_what_is_measured(tmp_path: Path) -> None:
    path = put(tmp_path, MODELS["marked"])
    (ranking,) = rank_space(load(path), own.quiet).rankings
    store = tmp_path / "store.sqlite"
    made = tune_flow.tune(
        load(path), tune_flow.StudyOptions(exhaustive=True), str(store), own.quiet
    )
    (problem,) = made.evaluation.problems
    assert {row.status for row in problem.evaluated} == {"ok"}
    assert {row.candidate.parameters["tile"]: row.predicted for row in problem.evaluated} == {
        entry.candidate.variant.parameters["tile"]: pytest.approx(entry.prediction.seconds)
        for entry in ranking.entries
    }


def test_reasons_count_what_no_loop_holds(tmp_path: Path) -> None:
    model = MODELS["marked"].replace("extra: 1e-3", "extra: 1")
    (ranking,) = rank_space(load(put(tmp_path, model)), own.quiet).rankings
    assert ranking.entries[0].prediction.reason.endswith("extra: 100 %")


# --- what is compiled and analysed -------------------------------------------------------------

UNRELATED = """\
int other(int x) { return x * BLOCK + BLOCK; }
void f(long n, const double *restrict x, double *restrict y) {
    for (long i = 0; i < n; ++i) /* autotune: loop inner */
        y[i] += 0.5 * x[i];
}
"""
MARKED = "model: {marked: mm.c, loops: [{name: inner, iterations: n}]}\n"


class Counting:
    """An analyser that counts what it is asked."""

    def __init__(self, analyser: OsacaAnalyser) -> None:
        self.analyser = analyser
        self.regions = 0

    def analyse_regions(self, regions: Sequence[AssemblyRegion]) -> list[InCoreResult | str]:
        self.regions += len(regions)
        return self.analyser.analyse_regions(regions)


class Counted:
    """Compilers that count what they are asked."""

    def __init__(self) -> None:
        self.asked: list[Command] = []
        self.ended = 0

    def assemble(self, command: Command, source: str, build: Build) -> str:
        self.asked.append(command)
        return assembly(command, source)

    def interrupt(self) -> None:
        self.ended += 1


def command(candidate: Candidate) -> Command:
    return ("gcc", "-O2", f"-DBLOCK={candidate.variant.parameters['block']}", "mm.c")


def test_each_command_is_compiled_once_and_each_loop_analysed_once(tmp_path: Path) -> None:
    program = read(written(tmp_path, MARKED, {"mm.c": UNRELATED}))
    assert isinstance(program.model, MarkedModel)
    asked = [LoopRequest(candidate, ((0, None),)) for candidate in candidates(program)]
    compilers = Counted()
    with OsacaAnalyser(machine("haswell-e5-2630v3")) as own_analyser:
        analyser = Counting(own_analyser)
        loops = CompiledLoops(program.model, analyser, command, compilers)
        first, second = loops.of(asked), loops.of(asked)
    assert first == second
    assert len(set(map(repr, first))) == 1
    assert isinstance(first[0], tuple)
    assert len(asked) == 6
    assert len(compilers.asked) == len(set(compilers.asked)) == 3
    assert analyser.regions == 1


def test_an_interrupt_ends_the_compilers(tmp_path: Path) -> None:
    program = read(written(tmp_path, MARKED, {"mm.c": UNRELATED}))
    assert isinstance(program.model, MarkedModel)
    compilers = Counted()

    def interrupted(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with OsacaAnalyser(machine("haswell-e5-2630v3")) as analyser:
        loops = CompiledLoops(program.model, analyser, command, compilers, interrupted)
        with pytest.raises(KeyboardInterrupt):
            loops.of([LoopRequest(candidate, ((0, None),)) for candidate in candidates(program)])


def test_a_loop_of_a_header_is_compiled_with_what_includes_it(tmp_path: Path) -> None:
    tmp_path.joinpath("mm.cpp").write_text('#include "mm.hpp"\ntemplate void f(double *);\n')
    header = tmp_path / "mm.hpp"
    header.write_text("template <class T> void f(T *y) { for (int i = 0; i < 9; ++i) y[i] = i; }\n")
    made = assembly(["gcc", "-O1", "mm.cpp", "-c"], str(header))
    assert ".loc" in made
    assert str(header) in made
