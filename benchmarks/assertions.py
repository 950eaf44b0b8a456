"""What modeling assertions cost: nanoseconds a statement in C, Fortran, Python, and a call of MPI.

    python benchmarks/assertions.py [--parts c,fortran,python,mpi] [--repeats 31] [--turns 4000]

Every process times the bare loop and the loop with the statement in turn, in CPU time; the cost is
the median of the differences, printed with their 10 % and 90 % quantiles and with what two bare
loops differ by (noise). States: the library is not loaded; it is loaded but off (AUTOTUNE_ASSERT is
not set); on. The part ``mpi`` is `assertions_mpi.py`.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import assertions_mpi

from autotune.assertions.library import library_build

C_STATEMENTS = {
    "region": 'ma_region_begin("r"); WORK; ma_region_end("r");',
    "two regions, one in the other": (
        'ma_region_begin("o"); ma_region_begin("i"); WORK; ma_region_end("i"); ma_region_end("o");'
    ),
    "loop": 'ma_loop_begin("l", "2*n + 1"); WORK; ma_loop_end("l", 15);',
    "flop": 'ma_flop_begin("f", "2*n"); WORK; ma_flop_end("f");',
    "flop, counted": 'WORK; ma_flop_count("c", "2*n", 14);',
    "var, unchanged": 'WORK; ma_var("n", 7);',
    "var, changing": 'WORK; ma_var("i", i);',
    "derive, unchanged": 'WORK; ma_derive("d", "2**ceil(log2(p)/2)");',
    "var and derive, changing": 'WORK; ma_var("j", i); ma_derive("e", "j*j + 1");',
    "send, foretold": 'WORK; ma_send("s", "8*n");',
}
"""Statements by name; ``WORK`` is what the bare loop does too."""

FORTRAN_STATEMENTS = {
    "region": "call ma_region_begin('r')\n call work(i)\n call ma_region_end('r')",
    "loop": "call ma_loop_begin('l', '2*n + 1')\n call work(i)\n call ma_loop_end('l', 15)",
}

PYTHON_STATEMENTS = {
    "region": 'with ma.region("r"): pass',
    "sub, decorated": "function()",
    "loop of one turn": 'for _ in ma.loop("l", "1", single): pass',
    "flop, counted": 'with ma.flop("f", "2*n") as block: block.count(14)',
    "var, unchanged": 'ma.var("n", 7)',
    "derive, unchanged": 'ma.derive("d", "n*2")',
    "send, foretold": 'ma.send("s", "8*n")',
}
PYTHON_BARE = {"loop of one turn": "for _ in single: pass", "sub, decorated": "plain()"}

GOALS = {("c", "region"): 50.0, ("python", "region"): 2000.0}
"""Nanoseconds where the library is on."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Nanoseconds of one statement in one state: quantiles over the repeats."""

    low: float
    median: float
    high: float
    noise: float
    """By how much two bare loops differ, as the 90 % quantile."""


def main() -> None:
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in arguments.parts.split(","):
            if part == "mpi":
                assertions_mpi.measure(("calls", "cg"))
                continue
            command = _PARTS[part](folder, arguments.turns, arguments.repeats)
            if command is None:
                print(f"{part}: no compiler")
                continue
            _show(part, {state: _costs(command, folder, state) for state in _STATES})


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--parts", default="c,fortran,python,mpi")
    parser.add_argument("--repeats", type=int, default=31)
    parser.add_argument("--turns", type=int, default=4_000)
    return parser.parse_args()


# --- programs that print: statement, bare, bare again, asserted (ns a turn) ------------------


def _c(folder: Path, turns: int, repeats: int) -> list[str]:
    work = '__asm__ volatile("" : "+r"(work))'
    cases = "\n".join(
        f"""for (long i = 0; i < {turns}; i++) {{ {work}; }}
            double bare{n} = now(); for (long i = 0; i < {turns}; i++) {{ {work}; }}
            double again{n} = now(); for (long i = 0; i < {turns}; i++) {{ {work}; }}
            double asserted{n} = now();
            for (long i = 0; i < {turns}; i++) {{ {text.replace("WORK", work)} }}
            double end{n} = now();
            printf("{name}|%g|%g|%g\\n", (again{n} - bare{n}) / {turns},
                   (asserted{n} - again{n}) / {turns}, (end{n} - asserted{n}) / {turns});"""
        for n, (name, text) in enumerate(C_STATEMENTS.items())
    )
    source = folder / "cost.c"
    source.write_text(
        f"""#include "modeling_assertions.h"
            #include <stdio.h>
            #include <time.h>
            static double now(void) {{
                struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
                return 1e9 * (double)t.tv_sec + (double)t.tv_nsec; }}
            int main(void) {{
                long work = 1;
                ma_var("n", 7); ma_var("p", 8);
                for (int k = 0; k <= {repeats}; k++) {{ {cases} }}
                return (int)(work == 0); }}"""
    )
    target = folder / "cost_c"
    command = ["gcc", "-O2", f"-I{library_build.header_folder()}", str(source), "-o", str(target)]
    subprocess.run(command, check=True)
    return [str(target)]


def _fortran(folder: Path, turns: int, repeats: int) -> list[str] | None:
    if not shutil.which("gfortran"):
        return None
    bare = f"do i = 1, {turns}\n call work(i)\n end do"
    cases = "\n".join(
        f"{bare}\n t(0) = now()\n {bare}\n t(1) = now()\n {bare}\n t(2) = now()\n"
        f" do i = 1, {turns}\n {text}\n end do\n t(3) = now()\n"
        f" print '(a,3(\"|\",g0))', '{name}', (t(1:3) - t(0:2)) / {turns}"
        for name, text in FORTRAN_STATEMENTS.items()
    )
    source = folder / "cost.f90"
    source.write_text(
        f"""program cost
 use modeling_assertions
 implicit none
 integer :: i, k, total = 0
 real(8) :: t(0:3)
 call ma_var('n', 7)
 do k = 0, {repeats}
 {cases}
 end do
 contains
 real(8) function now()
 call cpu_time(now)
 now = 1d9 * now
 end function
 subroutine work(i)
 integer, intent(in) :: i
 integer, volatile :: kept
 kept = i
 total = total + kept
 end subroutine
end program
"""
    )
    target = folder / "cost_fortran"
    module = str(library_build.fortran_source())
    command = ["gfortran", "-O2", f"-J{folder}", module, str(source), "-o", str(target)]
    subprocess.run(command, check=True)
    return [str(target)]


def _python(folder: Path, turns: int, repeats: int) -> list[str]:
    source = folder / "cost.py"
    source.write_text(
        f"""
import time, timeit
import autotune.assertions as ma
single = (0,)
def plain(): pass
function = ma.sub(plain)
ma.var("n", 7)
names = dict(ma=ma, single=single, plain=plain, function=function)
statements, bare = {PYTHON_STATEMENTS!r}, {PYTHON_BARE!r}
def timers(name, text):
    plain = bare.get(name, "pass")
    return [timeit.Timer(t, timer=time.process_time, globals=names) for t in (plain, plain, text)]
every = {{name: timers(name, text) for name, text in statements.items()}}
for _ in range({repeats} + 1):
    for name, three in every.items():
        times = [1e9 * timer.timeit({turns}) / {turns} for timer in three]
        print(name, *times, sep="|")
"""
    )
    return [sys.executable, str(source)]


_PARTS = {"c": _c, "fortran": _fortran, "python": _python}


# --- costs -----------------------------------------------------------------------------------

_STATES = ("not loaded", "loaded, off", "on")


def _costs(command: Sequence[str], folder: Path, state: str) -> dict[str, Cost]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AUTOTUNE_ASSERT")}
    if state != "not loaded":
        environment["LD_PRELOAD"] = str(library_build.shared_library())
    if state == "on":
        environment |= {"AUTOTUNE_ASSERT": str(folder / "records"), "AUTOTUNE_ASSERT_PAPI": "0"}
    environment["PYTHONPATH"] = str(Path(library_build.__file__).parents[3])
    lines = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    rows: dict[str, list[tuple[float, ...]]] = {}
    for line in lines:
        name, *figures = line.split("|")
        rows.setdefault(name, []).append(tuple(map(float, figures)))
    return {name: _cost(times[1:]) for name, times in rows.items()}  # the first repeat warms up


def _cost(times: Sequence[tuple[float, ...]]) -> Cost:
    extra = sorted(asserted - min(bare, again) for bare, again, asserted in times)
    noise = sorted(abs(bare - again) for bare, again, _ in times)
    tenth = len(extra) // 10
    return Cost(extra[tenth], statistics.median(extra), extra[-1 - tenth], noise[-1 - tenth])


def _show(part: str, states: dict[str, dict[str, Cost]]) -> None:
    print(f"{part}: ns a statement, median (10 %, 90 % of the repeats; noise of the bare loop)")
    for name in states["on"]:
        print(f"  {name}")
        for state, costs in states.items():
            cost = costs[name]
            goal = GOALS.get((part, name)) if state == "on" else None
            text = f"; goal {goal:g}" if goal else ""
            print(
                f"    {state:<12} {cost.median:8.1f} ({cost.low:.1f}, {cost.high:.1f};"
                f" noise {cost.noise:.1f}){text}"
            )


if __name__ == "__main__":
    main()
