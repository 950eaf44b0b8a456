"""How soon does the tuner find on this host what measuring everything finds?

    python benchmarks/host_search.py record [--store FILE] [--only TEXT]
    python benchmarks/host_search.py score  [--store FILE] [--only TEXT] [--budget 24] [--repeats 3]

`record` runs an exhaustive study of each space (three IVPs, two stencils, more than 1,000
candidates each; minutes each) into a store; a space that is already there is left out. `score`
tunes each space anew, with an empty store, and prints

    runs      candidates measured until one was among them whose recorded time is within the noise
              floor of the recorded best; the median and the worst of the repeats (seeds)
    seconds   of the tuning run until the first samples of that candidate were there, predictions
              and builds included, as far as the build cache does not hold them from the record;
              AUTOTUNE_CACHE names an empty one for the seconds of a first run
    share     of the seconds that the exhaustive run took
    chosen    loss of the tuner's final choice, by the recorded times
    floor     noise floor of the record: chosen in one round, scored in the other, the mean of both
    spread    median spread of a candidate's recorded samples: how noisy the record is

The recorded times of a space are those of one run; what the tuner measures anew only decides what
it measures next.
"""

import argparse
import statistics
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autotune.commands.rank import ranked_space
from autotune.commands.tune import flow as tune_flow
from autotune.domain.results import Measurement
from autotune.files.store import Store, StudyRecord
from autotune.statistics.launch_times import by_round, candidate_time, time_of

GRID = "{{stencil: {}, grid: {}}}"
IVP = "{{ivp: {}, method: radau-iia-7, correctors: 6, size: {}}}"
SPACES = {
    "heat2d": ("pirk-large", IVP.format("heat2d", 128), "[1, 2]"),
    "wave1d": ("pirk-large", IVP.format("wave1d", 8_000), "[1]"),
    "inverterchain": ("pirk-large", IVP.format("inverterchain", 60_000), "[1]"),
    "star3d-7pt": (
        "stencil-blocks",
        GRID.format("star3d-7pt", "{i: 260, j: 80, k: 40}"),
        "[1, 2]",
    ),
    "box3d-27pt": (
        "stencil-blocks",
        GRID.format("box3d-27pt", "{i: 200, j: 80, k: 40}"),
        "[1, 2]",
    ),
}
CONFIG = """\
schema: autotune.config/1
title: {name}, a space of more than 1,000 candidates
name: search-{name}
machine: host
space: {space}
problems:
  - {problem}
builds:
  - {{compiler: gcc, flags: [-O3, -march=native]}}
  - {{compiler: gcc, flags: [-O2, -march=native]}}
threads: {threads}
selection: {{top: 5, random: 0, seed: {seed}}}
measuring: {{rounds: 2, samples: 3, min_sample: 5 ms}}
"""
GOAL_RUNS, GOAL_SHARE = 6, 0.02


def main() -> None:
    arguments = _arguments()
    names = [name for name in SPACES if arguments.only in name]
    if arguments.task == "record":
        for name in names:
            _record(name, arguments.store)
    else:
        _score(names, arguments)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("task", choices=("record", "score"))
    parser.add_argument("--store", default="search.sqlite", help="where the exhaustive runs are")
    parser.add_argument("--only", default="", help="spaces whose name contains this text")
    parser.add_argument("--budget", type=int, default=24, help="candidates per tuning run")
    parser.add_argument("--repeats", type=int, default=3, help="tuning runs per space")
    return parser.parse_args()


def _tuned(name: str, seed: int, options: tune_flow.StudyOptions, store: str) -> StudyRecord:
    space, problem, threads = SPACES[name]
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / f"search-{name}.yaml"
        text = CONFIG.format(name=name, space=space, problem=problem, threads=threads, seed=seed)
        config.write_text(text, encoding="utf-8")
        return tune_flow.tune(ranked_space.load(config), options, store, _silent).record


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is shown while it runs."""


def _record(name: str, store: str) -> None:
    with Store.open(store) as results:
        latest = results.latest_study(f"search-{name}")
    if latest is not None:
        print(f"{name}: recorded already ({latest})")
        return
    record = _tuned(name, 1, tune_flow.StudyOptions(exhaustive=True), store)
    print(f"{name}: {len(record.candidates)} candidates, {_wall(record):.0f} s", flush=True)


def _wall(record: StudyRecord) -> float:
    return sum(run.timings.get("wall", 0.0) for run in record.runs)


# --- what was recorded ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recorded:
    """The exhaustive run of a space."""

    times: dict[str, float]
    floor: float
    spread: float
    wall: float

    @property
    def best(self) -> float:
        return min(self.times.values())

    def loss(self, candidate: str) -> float:
        return self.times.get(candidate, float("inf")) / self.best - 1


def _recorded(name: str, store: str) -> Recorded | None:
    with Store.open(store, create=False) as results:
        latest = results.latest_study(f"search-{name}")
        record = results.load_study(latest) if latest else None
    if record is None:
        return None
    times: dict[str, float] = {}
    halves: tuple[dict[str, float], dict[str, float]] = ({}, {})
    spreads = []
    for each in _measured(record):
        launches = by_round(each.samples)
        rounds = [[x for r, x in launches.items() if r % 2 == k] for k in (0, 1)]
        if all(rounds):
            times[each.candidate] = candidate_time(list(launches.values()))
            for half, part in zip(halves, rounds, strict=True):
                half[each.candidate] = candidate_time(part)
            seconds = [launch.seconds for launch in launches.values()]
            spreads.append(max(seconds) / min(seconds) - 1)
    floors = []
    for chosen, scored in (halves, halves[::-1]):
        floors.append(scored[min(chosen, key=chosen.__getitem__)] / min(scored.values()) - 1)
    return Recorded(times, statistics.mean(floors), statistics.median(spreads), _wall(record))


def _measured(record: StudyRecord) -> list[Measurement]:
    return [m for run in record.runs for m in run.measurements if m.status == "ok" and m.timed]


# --- tuning anew ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    runs: int | None
    seconds: float | None
    chosen: float


def _outcome(record: StudyRecord, recorded: Recorded) -> Outcome:
    """The candidates in the order in which they were taken up, against the recorded times."""
    run = record.runs[-1]
    measured = {m.candidate: m for m in _measured(record)}
    order = [choice.candidate for choice in sorted(run.choices, key=lambda c: c.place)]
    found = [(k, c) for k, c in enumerate(order, 1) if recorded.loss(c) <= recorded.floor]
    best = min(measured, key=lambda c: time_of(measured[c].samples))
    if not found or found[0][1] not in measured:
        return Outcome(None, None, recorded.loss(best))
    first = measured[found[0][1]].timed[0].taken
    elapsed = datetime.fromisoformat(first) - datetime.fromisoformat(run.started)
    before = sum(run.timings.get(stage, 0.0) for stage in ("calibrate", "predict"))
    return Outcome(found[0][0], before + elapsed.total_seconds(), recorded.loss(best))


def _score(names: list[str], arguments: argparse.Namespace) -> None:
    print(
        f"{'space':15} {'n':>5} {'runs':>10} {'seconds':>8} {'share':>7} {'chosen':>13}"
        f" {'floor':>6} {'spread':>6}"
    )
    for name in names:
        recorded = _recorded(name, arguments.store)
        if recorded is None:
            print(f"{name:15} not recorded")
            continue
        outcomes = []
        for seed in range(1, arguments.repeats + 1):
            with tempfile.TemporaryDirectory() as folder:
                options = tune_flow.StudyOptions(budget_evaluations=arguments.budget)
                record = _tuned(name, seed, options, f"{folder}/tuned.sqlite")
                outcomes.append(_outcome(record, recorded))
        _line(name, recorded, outcomes, arguments.budget)
    print(f"goal: <= {GOAL_RUNS} runs, <= {GOAL_SHARE:.0%} of the exhaustive seconds")


def _line(name: str, recorded: Recorded, outcomes: list[Outcome], budget: int) -> None:
    runs = sorted(o.runs if o.runs is not None else budget + 1 for o in outcomes)
    times = sorted(o.seconds for o in outcomes if o.seconds is not None)
    seconds = statistics.median(times) if times else float("nan")
    losses = sorted(o.chosen for o in outcomes)

    def shown(count: float) -> str:
        return f">{budget}" if count > budget else f"{count:g}"

    counts = f"{shown(statistics.median(runs)):>4}/{shown(runs[-1]):>5}"
    print(
        f"{name:15} {len(recorded.times):5} {counts}"
        f" {seconds:8.1f} {seconds / recorded.wall:7.1%}"
        f" {statistics.median(losses):6.1%}/{losses[-1]:6.1%}"
        f" {recorded.floor:6.1%} {recorded.spread:6.1%}",
        flush=True,
    )


if __name__ == "__main__":
    main()
