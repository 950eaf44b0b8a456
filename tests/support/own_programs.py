"""Programs of a user's: written to a folder with a config, read, and measured on this host."""

from collections.abc import Mapping
from pathlib import Path

from autotune.commands.rank.host_machine import uncalibrated_machine
from autotune.commands.rank.ranked_space import load
from autotune.domain.setup import Setup
from autotune.domain.variant import Candidate
from autotune.errors import InputError
from autotune.files import config
from autotune.workloads.program.measuring.program_measurer import ProgramMeasurer
from autotune.workloads.shipped import workload_of

TINY = """\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifndef BLOCK
#define BLOCK 8
#endif
int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 1000;
    double sum = 0;
    for (int i = 0; i < n; i += BLOCK)
        for (int j = i; j < n && j < i + BLOCK; j++)
            sum += j;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("time %.17g s\\n", 1e-5 * BLOCK * (1 + 1e-16 * now.tv_nsec));
    printf("sum %.17g\\n", sum);
    return 0;
}
"""

PROGRAM = """\
schema: autotune.program/1
title: A sum in blocks
sources: [tiny.c]
build: ["{compiler}", "{flags}", "-DBLOCK={block}", "{source folder}/tiny.c", -o, "{output}"]
run: ["{output}", "{n}"]
arguments: {n: 1000}
size: n
threads: one
parameters: {block: [1, 2, 4, 8]}
constraints:
  - require: block < n
    reason: a block is larger than all
baseline: {block: 8}
time: {pattern: "time (\\\\S+) s"}
check: {pattern: "sum (\\\\S+)"}
"""

CONFIG = """\
schema: autotune.config/1
machine: generic-x86-64
program: tiny.yaml
problems: [{arguments: {n: 500}}]
builds: [{compiler: gcc, flags: [-O1]}]
measuring: {rounds: 2, samples: 1, busy: 0}
limits: {compile: 60 s, run: 20 s}
"""


def put(
    folder: Path,
    program: str = PROGRAM,
    settings: str = CONFIG,
    sources: Mapping[str, str] | None = None,
) -> Path:
    """Write ``tiny.yaml``, its sources and ``study.yaml``; the path of the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (sources or {"tiny.c": TINY}).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "tiny.yaml").write_text(program, encoding="utf-8")
    path = folder / "study.yaml"
    path.write_text(settings, encoding="utf-8")
    return path


def faults(path: Path) -> list[str]:
    """What is wrong with a config, each as one text; enumerating its candidates counts too."""
    try:
        setup = config.load(path)
        workload_of(setup).candidates(uncalibrated_machine(setup).cores)
    except InputError as error:
        return [str(fault) for fault in error.faults]
    return []


def candidates(setup: Setup) -> list[Candidate]:
    """The legal candidates of a setup."""
    return list(workload_of(setup).candidates(uncalibrated_machine(setup).cores).legal)


def opened(path: Path) -> tuple[Setup, ProgramMeasurer, dict[str, Candidate]]:
    """A study, its measurer, and its candidates by the text of their parameter values."""
    workload = load(path)
    setup = workload.setup
    measurer = workload.measurer(uncalibrated_machine(setup))
    assert isinstance(measurer, ProgramMeasurer)
    named = {
        " ".join(str(value) for value in each.variant.parameters.values()): each
        for each in candidates(setup)
    }
    return setup, measurer, named


def baseline(setup: Setup) -> Candidate:
    """The candidate whose answer is the reference."""
    return workload_of(setup).baseline(setup.problems[0], 2, setup.builds[0])


def quiet(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is shown."""
