"""Does a tuner on a busy machine choose the right winner, soon, and say what it does not know?

    python benchmarks/under_load.py [--loads 0,1,2,4,8,16,bursts,memory] [--studies 2] [--nice 10]

Three studies of a C program whose candidates do 100, 108, 117, 126, 136 and 147 units of the same
work, so that the truth is known; it is also measured in silence first. ``samples``: the program
prints its times. ``wall``: the process is timed. ``threads``: on two threads. Each study runs
beside a load of busy processes, of processes that are busy in bursts, or of processes that copy
memory, without the right to raise its priority.

Printed for every load: how many studies declared a wrong winner (slower than the best by more than
the noise floor of the truth and 2 %), how many left it undecided, the loss of the candidate that
was chosen, the wall time over that in silence, launches, how often the 90 % intervals hold the true
ratio to the baseline, and how often other statistics would have chosen wrongly from the same
samples: the smallest, the median, the lower quartile of undisturbed samples, the mean (hyperfine)
and the mean of the launches' means (pyperf). Goal: at most 5 % wrong up to eight busy processes on
two cores, in at most four times the time of silence.
"""

import argparse
import contextlib
import ctypes
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from autotune.domain.results import Measurement, Sample
from autotune.files.store import Store

HERE = Path(__file__).resolve().parent
WORK = (100, 108, 117, 126, 136, 147)
BASELINE = 126
STUDIES = {
    "samples": ("one", "{pattern: 'seconds: ([0-9.]+)', warm_ups: 1}", (6, 20)),
    "wall": ("one", "wall", (1, 200)),
    "threads": ("openmp", "{pattern: 'seconds: ([0-9.]+)', warm_ups: 1}", (24, 3)),
}
"""Threads, how the time is read, samples and repeats of a run."""
PROGRAM = """\
schema: autotune.program/1
title: Units of work
source_folder: {folder}
sources: [under_load.c]
build: ["{{compiler}}", "{{flags}}", -fopenmp, "{{source folder}}/under_load.c", -o, "{{output}}"]
run: ["{{output}}", "{{work}}", "{samples}", "{repeats}", "{{length}}"]
arguments: {{length: 2000}}
threads: {threads}
parameters:
  work: [{works}]
baseline: {{work: {baseline}}}
time: {time}
check: {{pattern: "check: (\\\\S+)", tolerance: 1e-12}}
"""
CONFIG = """\
schema: autotune.config/1
title: Units of work under load
machine: host
program: {program}
problems: [{{arguments: {{length: 2000}}}}]
builds: [{{compiler: gcc, flags: [-O2]}}]
threads: [{threads}]
measuring: {{rounds: 5, samples: 3}}
"""
CAP_SYS_NICE, PR_CAPBSET_DROP = 23, 24
SLACK = 0.02

Chooser = Callable[[Sequence[Sample]], float]


def _undisturbed(samples: Sequence[Sample]) -> float:
    times = [s.seconds for s in samples if s.undisturbed]
    return float(np.quantile(times, 0.25)) if times else float("inf")


def _pyperf(samples: Sequence[Sample]) -> float:
    launches: dict[int, list[float]] = {}
    for sample in samples:
        launches.setdefault(sample.launch, []).append(sample.seconds)
    return float(np.mean([np.mean(times) for times in launches.values()]))


OTHERS: Mapping[str, Chooser] = {
    "minimum": lambda samples: min(s.seconds for s in samples),
    "median": lambda samples: float(np.median([s.seconds for s in samples])),
    "undisturbed only": _undisturbed,
    "hyperfine": lambda samples: float(np.mean([s.seconds for s in samples])),
    "pyperf": _pyperf,
}


@dataclass(slots=True)
class Tally:
    """What the studies beside one load came to."""

    studies: int = 0
    wrong: int = 0
    undecided: int = 0
    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    launches: list[int] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)
    others: dict[str, int] = field(default_factory=dict)
    """Wrong winners by other statistics from the same samples."""


@dataclass(frozen=True, slots=True)
class StudyRun:
    """One study: its document, its measurements by work, its wall time."""

    document: Mapping[str, object]
    measurements: Mapping[int, Measurement]
    seconds: float


# --- load -----------------------------------------------------------------------------------

BUSY = "while True: pass"
BURSTS = """\
import random, time
while True:
    end = time.monotonic() + random.uniform(0.02, 1)
    while time.monotonic() < end: pass
    time.sleep(random.uniform(0.02, 1))
"""
MEMORY = """\
import numpy
a = numpy.ones(1 << 24); b = numpy.empty_like(a)
while True: b[:] = a
"""


@contextlib.contextmanager
def loaded(load: str) -> Iterator[None]:
    """Busy processes beside what runs meanwhile, in sessions of their own."""
    text, count = {"bursts": (BURSTS, 4), "memory": (MEMORY, 2)}.get(load) or (BUSY, int(load))
    processes = [subprocess.Popen([sys.executable, "-c", text]) for _ in range(count)]
    try:
        time.sleep(0.5 if count else 0)
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


# --- one study ------------------------------------------------------------------------------


def study(kind: str, folder: Path, nice: int, rounds: Sequence[str] = ()) -> StudyRun:
    """Tune once, with a store of its own."""
    threads, reading, (samples, repeats) = STUDIES[kind]
    folder.mkdir(parents=True)
    (folder / "program.yaml").write_text(
        PROGRAM.format(
            folder=HERE, samples=samples, repeats=repeats, threads=threads, time=reading,
            works=", ".join(map(str, WORK)), baseline=BASELINE,
        )
    )  # fmt: skip
    config = folder / "config.yaml"
    count = 2 if threads == "openmp" else 1
    config.write_text(CONFIG.format(program="program.yaml", threads=count))
    store = folder / "results.sqlite"
    begun = time.monotonic()
    command = [sys.executable, "-m", "autotune", "tune", str(config), "--json", "--store"]
    done = subprocess.run(
        [*command, str(store), "--exhaustive", *rounds],
        check=True,
        stdout=subprocess.PIPE,
        preexec_fn=lambda: _humble(nice),
    )
    seconds = time.monotonic() - begun
    with contextlib.closing(Store.open(store, create=False)) as opened:
        record = opened.load_study(str(opened.latest_study()))
    works = {c.identity: int(str(c.parameters["work"])) for c in record.candidates}
    measured = {works[m.candidate]: m for m in record.runs[-1].measurements}
    return StudyRun(json.loads(done.stdout), measured, seconds)


def _humble(nice: int) -> None:
    """Give up the right to raise a priority, as a user has none."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0)
    os.nice(nice)


# --- judging ----------------------------------------------------------------------------------


def judge(tally: Tally, run: StudyRun, truth: Mapping[int, float], floor: float) -> None:
    """Enter one study beside a load."""
    (problem,) = run.document["problems"]  # type: ignore[misc]
    rows = {_work(row): row for row in problem["evaluated"]}
    chosen = _work_of(problem["best"])
    best = min(truth.values())
    limit = best * (1 + floor + SLACK)
    decided = len(problem["contenders"]) == 1
    tally.studies += 1
    tally.wrong += decided and truth[chosen] > limit
    tally.undecided += not decided
    tally.losses.append(truth[chosen] / best - 1)
    tally.seconds.append(run.seconds)
    tally.launches.append(
        sum(len({s.launch for s in m.samples}) for m in run.measurements.values())
    )
    base = rows[BASELINE]
    for work, row in rows.items():
        if work != BASELINE and row["interval_s"] and base["measured_s"]:
            low, high = (end / base["measured_s"] for end in row["interval_s"])
            tally.held.append(low <= truth[work] / truth[BASELINE] <= high)
    for name, choose in OTHERS.items():
        times = {work: choose(m.timed) for work, m in run.measurements.items() if m.timed}
        wrong = truth[min(times, key=times.__getitem__)] > limit
        tally.others[name] = tally.others.get(name, 0) + wrong


def _work(row: Mapping[str, object]) -> int:
    return _work_of(str(row["candidate"]))


def _work_of(identity: str) -> int:
    """The work in the id of a candidate."""
    return int(identity.split("work")[1].split("@")[0].split("-")[0])


def main() -> None:
    arguments = _arguments()
    kinds = arguments.kinds.split(",")
    with tempfile.TemporaryDirectory() as root:
        truths = {}
        for kind in kinds:
            quiet = study(kind, Path(root, kind, "truth"), 0)
            truth = {work: float(work) for work in WORK}
            (problem,) = quiet.document["problems"]  # type: ignore[misc]
            floor = (problem["noise_floor"] or {}).get("maximum", 0.0)
            truths[kind] = truth, floor, quiet.seconds
            times = {_work(row): row["measured_s"] for row in problem["evaluated"]}
            print(
                f"{kind}: in silence {quiet.seconds:.0f} s, noise floor {100 * floor:.1f} %, times"
            )
            print("   ", ", ".join(f"{w}: {1e3 * times[w]:.3f} ms" for w in WORK if w in times))
        for load in arguments.loads.split(","):
            for kind in kinds:
                tally, (truth, floor, silence) = Tally(), truths[kind]
                for number in range(arguments.studies):
                    with loaded(load):
                        folder = Path(root, kind, f"{load}-{number}")
                        judge(tally, study(kind, folder, arguments.nice), truth, floor)
                _show(load, kind, tally, silence)


def _show(load: str, kind: str, tally: Tally, silence: float) -> None:
    n = tally.studies
    others = ", ".join(f"{name} {count}" for name, count in tally.others.items())
    print(
        f"load {load}, {kind}: wrong {tally.wrong} of {n}, undecided {tally.undecided},"
        f" loss {100 * np.mean(tally.losses):.1f} %, time x{np.mean(tally.seconds) / silence:.1f}"
        f" ({np.mean(tally.seconds):.0f} s), launches {np.mean(tally.launches):.0f}, intervals hold"
        f" {100 * np.mean(tally.held):.0f} % of {len(tally.held)}; wrong by {others}",
        flush=True,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--loads", default="0,1,2,4,8,16,bursts,memory")
    parser.add_argument("--kinds", default="samples,wall,threads")
    parser.add_argument("--studies", type=int, default=2, help="studies beside each load")
    parser.add_argument("--nice", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    random.seed(1)
    main()
