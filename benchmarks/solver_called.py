"""What steps cost whose right-hand side is a function of the caller, for benchmarks/solver.py."""

import ctypes
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path
from types import ModuleType

from solver_peers import Task

from autotune.files import config
from autotune.language.expression import number

SOURCE = """\
#include <stddef.h>
#include "stepper.h"
extern const struct stepper {code};
static struct constants *constants;
int f(long first, long last, double t, const double *y, double *dy, void *data)
{{
    const struct thread block = {{.first = first, .last = last, .constants = constants}};
    (void)data;
    {code}.derivative(&block, t, y, dy);
    return 0;
}}
__attribute__((constructor)) static void begin(void)
{{
    constants = {code}.setup({size}, {code}.dimension({size}), NULL);
}}
"""
"""The generated right-hand side of a library as a function of a caller."""
STEPS = 50


def report(method: str, library: ModuleType, solver: object, task: Task, rounds: int) -> None:
    """Print what a step costs whose right-hand side, the generated one, is called as a function;
    with its access distance stated, and without.
    """
    ivp = config.ivp(task.ivp)
    choice = solver.choice  # type: ignore[attr-defined]
    h = 0.1 / number(ivp.stability, ivp.values(task.size))
    with tempfile.TemporaryDirectory() as folder:
        f = function(library, task, choice.flags, Path(folder))
    near = ivp.distance(task.size) if ivp.limited and not ivp.periodic else 0
    for distance in sorted({near, 0}, reverse=True):
        other = library.Solver(
            task.y0.size, choice.team, rhs=f, distance=distance, autonomous=ivp.autonomous
        )
        shares = []
        for _ in range(2 * rounds + 1):
            seconds = []
            for made in (solver, other):
                begun = task.now()
                made.step(task.t0, h, task.y0, STEPS)  # type: ignore[attr-defined]
                seconds.append(task.now() - begun)
            shares.append(seconds[1] / seconds[0] - 1)
        spread = (max(shares) - min(shares)) / 2
        print(
            f"{method}: a right-hand side of the caller, distance {distance}, costs"
            f" {statistics.median(shares):.1%} of a step (half of the range {spread:.1%});"
            f" {other.choice.form}"
        )


def function(library: ModuleType, task: Task, flags: str, folder: Path) -> object:
    """The generated right-hand side, compiled with these flags, as a function of ctypes."""
    sources = Path(str(library.__file__)).parents[2] / "src"
    code = f"{task.ivp.replace('-', '_')}_1"
    source, shared = folder / "called.c", folder / "called.so"
    source.write_text(SOURCE.format(code=code, size=task.size))
    build = ["gcc", "-std=gnu11", *shlex.split(flags), "-fopenmp", "-shared", "-fPIC"]
    parts = [f"-I{sources}", source, *(sources / code).glob("*.c")]
    subprocess.run([*build, *parts, "-o", shared, "-lm"], check=True)
    return ctypes.CDLL(str(shared)).f
