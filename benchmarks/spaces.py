"""Spaces of any size: how long listing and counting take, and what a search finds in them.

    python benchmarks/spaces.py [--parts listing,search,launch] [--seeds 6] [--evaluations 60]

listing: CPU seconds until the legal combinations of a program are listed or counted, with 1,000 of
them drawn, in a child of its own, with its peak memory.
search: the search of ``tune`` without a model on costs that are computed, not run, in spaces of 1e9
combinations and more. What the best of N evaluations costs over the least cost there is, beside the
best of N drawn at random: medians over seeds, and the quartiles. The sizes of the pool were
set on the spaces "real, order, mode" and "100 flags" with seeds 1 to 5: the others judge.
launch: CPU seconds and peak memory of ``autotune tune`` until its first launches, by candidates,
and what a budget of 20 s of wall time brings.
"""

import argparse
import itertools
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Program
from autotune.domain.results import Measurement, Prediction, Sample
from autotune.domain.setup import Searching
from autotune.domain.variant import Candidate, Value, Variant
from autotune.files import config
from autotune.results.report.text_table import columns
from autotune.tuning.moving_search import MovingSearch
from autotune.tuning.study_search import StudySearch, study_search
from autotune.units import Seconds
from autotune.workloads.program.program_source import BuiltWay, ProgramSource
from autotune.workloads.program.program_space import sift

Cost = Callable[[Mapping[str, Value]], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A space, and a cost with its least value."""

    name: str
    parameters: str
    """YAML."""
    constraints: Sequence[str] = ()
    cost: Cost | None = None
    """At least 1, and 1 somewhere."""


def _flags(count: int) -> str:
    return "\n".join(f"  f{k}: [0, 1]" for k in range(count))


def _set_of(count: int) -> str:
    return f"  opts: {{flags: [{', '.join(f'-ffalse-{k}' for k in range(count))}]}}"


def _bowl(values: Mapping[str, Value]) -> float:
    """Nine parameters on logarithmic scales, two by two not independent."""
    at = [math.log2(float(values[name] or 1)) for name in "abcdefghi"]
    off = [x - (k * 1.7) % 8 - 1 for k, x in enumerate(at)]
    return (
        1
        + sum(0.02 * x * x for x in off)
        + sum(0.02 * (x - y) ** 2 for x, y in itertools.pairwise(off))
    )


def _reals(values: Mapping[str, Value]) -> float:
    """Two real parameters on logarithmic scales, two on linear ones, a mode and an order."""
    a, b = (math.log10(float(values[name] or 1)) for name in "ab")
    c, d = (float(values[name] or 0) for name in "cd")
    mode = {"fast": 0.0, "safe": 0.4, "odd": 0.2}[str(values["mode"])]
    order = str(values["order"]).split(",")
    swaps = sum(order.index(x) > order.index(y) for x, y in itertools.combinations("ijkl", 2))
    return (
        1
        + 0.2 * (a - 0.7) ** 2
        + 0.1 * (b + 1) ** 2
        + (c - 0.3) ** 2
        + 0.5 * (d - c - 0.2) ** 2
        + mode
        + 0.08 * swaps
    )


def _few_flags(values: Mapping[str, Value]) -> float:
    """A hundred flags, of which five help, five harm much, and two only together."""
    on = [value is not None for value in values.values()]
    gain = sum(0.06 * on[k] for k in (3, 17, 42, 61, 88)) - sum(
        0.2 * on[k] for k in (5, 23, 50, 77, 91)
    )
    both = 0.15 * (on[10] and on[11]) - 0.03 * (on[10] != on[11])
    return 1.45 - gain - both


_NINE = "\n".join(f"  {name}: {{from: 1, to: 512, times: 2}}" for name in "abcdefghi")
_REALS = """\
  a: {from: 0.001, to: 1000.0, log: true}
  b: {from: 0.001, to: 1000.0, log: true}
  c: {from: 0.0, to: 1.0}
  d: {from: 0.0, to: 1.0}
  mode: [fast, safe, odd]
  order: {permutation: [l, k, j, i]}"""
_OPTIONS = "\n".join(f"  p{k}: [{', '.join(map(str, range(4)))}]" for k in range(18))
LISTED = (
    Case(
        name="20 flags, at most two on",
        parameters=_flags(20),
        constraints=[f"{' + '.join(f'f{k}' for k in range(20))} <= 2"],
    ),
    Case(
        name="18 options, few fit together",
        parameters=_OPTIONS,
        constraints=[
            *(f"p{k} + p{k + 1} <= 3" for k in range(0, 18, 2)),
            *(f"p{k} >= p{k + 2}" for k in range(16)),
            " + ".join(f"p{k}" for k in range(18)) + " <= 9",
        ],
    ),
    Case(name="200 flags, at most 10 on", parameters=_set_of(200), constraints=["opts <= 10"]),
    Case(
        name="1,000,000 legal",
        parameters="\n".join(f"  {n}: {{from: 1, to: 100, step: 1}}" for n in "abc"),
    ),
    Case(
        name="joined sums",
        parameters="\n".join(f"  {n}: {{from: 1, to: 100, step: 1}}" for n in "abc"),
        constraints=["a + b + c <= 150"],
    ),
)
SEARCHED = (
    Case(name="1e9, nine tile sizes", parameters=_NINE, cost=_bowl),
    Case(name="7.5e9, real, order, mode", parameters=_REALS, cost=_reals),
    Case(name="1.3e30, 100 flags", parameters=_set_of(100), cost=_few_flags),
    Case(
        name="tile sizes in a cache",
        parameters=_NINE,
        constraints=["a * b * c <= 4096", "d * e <= 2048", "f <= g"],
        cost=_bowl,
    ),
)


def main() -> None:
    arguments = _arguments()
    if arguments.child:
        print(json.dumps(_listed(next(c for c in LISTED if c.name == arguments.child))))
        return
    parts = arguments.parts.split(",")
    if "listing" in parts:
        _print_listing()
    if "search" in parts:
        first = arguments.first_seed
        _print_search(range(first, first + arguments.seeds), arguments.evaluations)
    if "launch" in parts:
        _print_launches()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--parts", default="listing,search,launch")
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first-seed", type=int, default=21)
    parser.add_argument("--evaluations", type=int, default=60)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


# --- listing ----------------------------------------------------------------------------------


def _print_listing() -> None:
    rows = [("space", "combinations", "legal", "CPU s", "peak MB")]
    for case in LISTED:
        command = [sys.executable, __file__, "--child", case.name]
        said = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        rows.append((case.name, said["product"], said["legal"], said["seconds"], said["megabytes"]))
    print("legal combinations listed, or counted and 1,000 drawn")
    print(columns(rows, right=range(1, 5)))


def _listed(case: Case) -> Mapping[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        problem = _problem(case, Path(folder))
        before = time.process_time()
        found = sift(problem, 1)
        seconds = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "product": f"{float(found.space.product):.3g}",
        "legal": str(found.space.count),
        "seconds": f"{seconds:.2f}",
        "megabytes": f"{peak:.0f}",
    }


def _problem(case: Case, folder: Path) -> ProgramProblem:
    program = _program(case, folder)
    return ProgramProblem(program=program, arguments={})


def _program(case: Case, folder: Path) -> Program:
    return config.program(_written(case, folder))


SOURCE = """\
#include <stdio.h>
#include <time.h>
int main(void) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    volatile double sum = 0;
    for (int i = 0; i < 200000; ++i) sum += i;
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("time %.9f\\n", end.tv_sec - begin.tv_sec + 1e-9 * (end.tv_nsec - begin.tv_nsec));
}
"""


def _written(case: Case, folder: Path) -> Path:
    names = [line.split(":")[0].strip() for line in case.parameters.splitlines()]
    words = ", ".join(f'"{{{name}}}"' for name in names)
    rules = f"constraints: {json.dumps(list(case.constraints))}\n" if case.constraints else ""
    folder.joinpath("cost.c").write_text(SOURCE, encoding="utf-8")
    path = folder / "cost.yaml"
    path.write_text(
        "schema: autotune.program/1\ntitle: A space\nsources: [cost.c]\n"
        'build: ["{compiler}", "-O2", "{source folder}/cost.c", "-o", "{output}"]\n'
        f'run: ["{{output}}", {words}]\ntime: {{pattern: "time (.*)"}}\nthreads: one\n'
        f"parameters:\n{case.parameters}\n{rules}",
        encoding="utf-8",
    )
    return path


# --- searching --------------------------------------------------------------------------------


def _print_search(seeds: Sequence[int], evaluations: int) -> None:
    rows = [("space", "legal", "found", "quartiles", "at random", "quartiles", "CPU s a step")]
    for case in SEARCHED:
        with tempfile.TemporaryDirectory() as folder:
            problem = _problem(case, Path(folder))
        found, drawn, steps = [], [], []
        for seed in seeds:
            before = time.process_time()
            found.append(_searched(case, problem, evaluations, seed))
            steps.append((time.process_time() - before) / evaluations)
            chance = random.Random(seed)
            space = sift(problem, 1).space
            draws = [_cost(case, space.draw(chance)) for _ in range(evaluations)]
            drawn.append(min(draws))
        count = str(sift(problem, 1).space.count)
        rows.append((case.name, count, *_over(found), *_over(drawn), f"{np.median(steps):.3f}"))
    print(f"cost over the least, best of {evaluations} evaluations, {len(seeds)} seeds, noise 1 %")
    print(columns(rows, right=range(1, 7)))


def _over(costs: Sequence[float]) -> tuple[str, str]:
    low, middle, high = (100 * (np.quantile(costs, q) - 1) for q in (0.25, 0.5, 0.75))
    return f"+{middle:.1f} %", f"{low:.1f} .. {high:.1f}"


def _cost(case: Case, values: Mapping[str, Value]) -> float:
    assert case.cost is not None, "a case that is searched"
    return case.cost(values)


def _searched(case: Case, problem: ProgramProblem, evaluations: int, seed: int) -> float:
    """The least cost that the search of ``tune`` finds without a model."""
    program = problem.program

    def variant(values: Mapping[str, Value]) -> Variant:
        return Variant(
            skeleton=program.name,
            definition=program.definition,
            transformations=(),
            parameters=dict(values),
            coordinates=program.coordinates(values),
        )

    drawn = sift(problem, 1)
    example = Candidate(variant=variant(program.baseline), problem=problem)
    way = BuiltWay(example, variant, drawn.space)
    candidates = [way.candidate(values) for values in drawn.legal]

    def make(pool: Sequence[Candidate], predictions: Sequence[Prediction]) -> StudySearch:
        first = [candidates[0].identity]
        return study_search(pool, predictions, settings=Searching(), first=first, seed=seed)

    def unknown(pool: Sequence[Candidate]) -> list[Prediction]:
        return [Prediction(seconds=None, interval=None, parts=(), engine="none", reason="")] * len(
            pool
        )

    sources = {} if drawn.space.listed else {problem.key: ProgramSource([way])}
    search = MovingSearch(
        make, candidates, unknown(candidates), sources=sources, predict=unknown, seed=seed
    )
    chance, best = random.Random(seed), math.inf
    for _ in range(evaluations):
        for proposal in search.ask(0):
            cost = _cost(case, proposal.candidate.variant.parameters)
            best = min(best, cost)
            search.tell(proposal.candidate, _measured(proposal.candidate, cost, chance), 0.01)
    return best


def _measured(candidate: Candidate, cost: float, chance: random.Random) -> Measurement:
    samples = tuple(
        Sample(
            seconds=Seconds(cost * 1e-3 * chance.lognormvariate(0, 0.01)),
            steps=1,
            busy=1.0,
            undisturbed=True,
            launch=launch,
            round=launch,
            taken="",
        )
        for launch in range(3)
    )
    return Measurement(candidate=candidate.identity, run="", status="ok", samples=samples)


# --- launching --------------------------------------------------------------------------------


def _print_launches() -> None:
    rows = [("legal candidates", "budget", "CPU s", "wall s", "peak MB", "measured")]
    for count, options in (
        (5_400, ["--budget-seconds", "20"]),
        (1_000_000, ["--budget-evaluations", "4"]),
        (10**12, ["--budget-evaluations", "4"]),
    ):
        rows.append(_launched(count, options))
    print("autotune tune with a calibrated host: until it ends")
    print(columns(rows, right=range(0, 6)))


def _launched(count: int, options: Sequence[str]) -> tuple[str, ...]:
    """The use of a whole ``autotune tune`` with very short runs."""
    sizes = {5_400: (54, 100), 1_000_000: (100, 100, 100), 10**12: (100,) * 6}[count]
    parameters = "\n".join(
        f"  {name}: {{from: 1, to: {size}, step: 1}}"
        for name, size in zip("abcdef", sizes, strict=False)
    )
    with tempfile.TemporaryDirectory() as folder:
        _written(Case(name="", parameters=parameters), Path(folder))
        Path(folder, "tune.yaml").write_text(
            "schema: autotune.config/1\ntitle: A space\nmachine: host\nprogram: cost.yaml\n"
            "problems: [{}]\nmeasuring: {rounds: 2, samples: 1}\n",
            encoding="utf-8",
        )
        store = str(Path(folder, "s.sqlite"))
        command = [str(Path(sys.executable).with_name("autotune")), "tune", "tune.yaml"]
        began = time.monotonic()
        with subprocess.Popen(
            [*command, "--store", store, "--json", *options],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as child:  # fmt: skip
            assert child.stdout is not None
            child.stdout.read()
            _, _, use = os.wait4(child.pid, 0)
        wall = time.monotonic() - began
        from autotune.files.store import Store

        with Store.open(store) as results:
            name = results.latest_study()
            runs = results.load_study(name).runs if name else ()
    measured = sum(len(run.measurements) for run in runs)
    cpu, peak = use.ru_utime + use.ru_stime, use.ru_maxrss / 1024
    return (
        f"{count:,}", " ".join(options), f"{cpu:.1f}", f"{wall:.1f}", f"{peak:.0f}", str(measured)
    )  # fmt: skip


if __name__ == "__main__":
    main()
