"""Does a tuner on a busy machine choose the right winner, soon, and say what it does not know?

    python benchmarks/under_load.py [--quick] [--loads 0,1,2,4,8,16,bursts,memory] [--studies 2]
        [--nice 0,10] [--kinds samples,wall,threads,array,gzip] [--keep FOLDER] [--exhaustive]

Five kinds of studies. The candidates of a C program do 100, 108, 117, 126, 136 and 147 units of the
same work: ``samples``, the program prints its times; ``wall``, the process is timed; ``threads``,
on two threads. ``array``: it reads an array of 16 MiB 20, 21, 23, 26, 30 or 33 times, and prints
its times. ``gzip``: levels 1 to 6 of the system's gzip on text, and the process is timed.

The truth is the smallest time of each candidate in many interleaved runs without any tuner, before
a load is started; how busy the host was meanwhile, how far two halves of these runs differ and how
far the times are from the work is printed. Where the halves still differ by more than 2 % after
five times as many runs, the host was not silent, and the work itself is the truth; there is none
for ``gzip``, which is left out then.

Each study then runs beside a load of busy processes, of processes that are busy in bursts, or of
processes that copy memory; the tuner is niced or not, and has not the right to raise a priority.

Printed for every load: how many studies declared a wrong winner (slower than the best by more than
the noise floor of the truth and 2 %), how many left it undecided, the loss of the candidate that
was chosen, the wall time over that without a load, launches and samples, how often the 90 %
intervals hold the true ratio to the baseline. Then what other statistics say of the same samples:
the smallest time of all ("minimum"), the median, the lower quartile of undisturbed samples alone
("undisturbed", nothing where there are none), the mean of the samples (hyperfine), and the means of
launches with a t test at 95 % (pyperf). The last lines sum up, and apart from them the kinds
``samples`` and ``threads``, on whose samples the settings of the estimator were chosen. Goal: at
most 5 % wrong up to eight busy processes on two cores, in at most four times the time without a
load.
"""

import argparse
import contextlib
import ctypes
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import scipy.stats

from autotune.domain.results import Sample
from autotune.files.store import RunRecord, Store
from autotune.measuring.conditions import host_load
from autotune.results.evaluate.comparable import comparable_run

HERE = Path(__file__).resolve().parent
UNITS = (100, 108, 117, 126, 136, 147)
PRINTED = "{pattern: 'seconds: ([0-9.]+)', warm_ups: 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of study: a program whose candidates differ in ``work``."""

    works: Sequence[int]
    baseline: int
    time: str
    """How the program's file says that it is timed."""
    run: str
    """The command line of a candidate, for a shell, with {output}, {work} and {input}."""
    input: int | str = 2000
    """A length, or the name of a file."""
    threads: int = 1
    built: bool = True
    """It is the C program."""
    settled: bool = False
    """Settings of the estimator were chosen on its samples."""


def _units(samples: int, repeats: int) -> str:
    return f"exec {{output}} {{work}} {samples} {repeats} {{input}}"


KINDS = {
    "samples": Kind(
        works=UNITS, baseline=126, time=PRINTED, run=_units(6, 20), settled=True
    ),
    "wall": Kind(works=UNITS, baseline=126, time="wall", run=_units(1, 200)),
    "threads": Kind(
        works=UNITS, baseline=126, time=PRINTED, run=_units(24, 3), threads=2, settled=True
    ),
    "array": Kind(
        works=(20, 21, 23, 26, 30, 33), baseline=30, time=PRINTED, run=_units(4, 1),
        input=1 << 21,
    ),
    "gzip": Kind(
        works=(1, 2, 3, 4, 5, 6), baseline=4, time="wall", built=False,
        run="exec gzip -{work} -c {input} > /dev/null", input="text",
    ),
}  # fmt: skip
PROGRAM = """\
schema: autotune.program/1
title: Units of work
source_folder: {folder}
sources: [under_load.c]
run: [sh, -c, "{run}"]
arguments: {{input: {input}}}
parameters:
  work: [{works}]
baseline: {{work: {baseline}}}
time: {time}
{more}"""
BUILD = """\
build: ["{compiler}", "{flags}", -fopenmp, "{source folder}/under_load.c", -o, "{output}"]
threads: openmp
check: {pattern: "check: (\\\\S+)", tolerance: 1e-12}
"""
CONFIG = """\
schema: autotune.config/1
title: Units of work under load
machine: host
program: program.yaml
problems: [{arguments: {}}]
measuring: {rounds: 5, samples: 3}
"""
BUILDS = """\
builds: [{{compiler: gcc, flags: [-O2]}}]
threads: [{threads}]
"""
CAP_SYS_NICE, PR_CAPBSET_DROP = 23, 24
SLACK = 0.02
"""A winner is wrong that is slower than the best by more than this and the floor of the truth."""
SILENT = 0.02
"""Halves of the silent runs that differ by more say that the host was not silent."""
MOST_BATCHES = 5
"""The silent runs are repeated so often at most while their halves differ."""
SIGNIFICANT = 0.05

Table = Mapping[int, Sequence[Sample]]
"""Work to the samples of its candidate, without warm-ups."""


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
    """Busy processes beside what runs meanwhile."""
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


# --- the truth ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Truth:
    """Seconds of each candidate without any load."""

    times: Mapping[int, float]
    floor: float
    """How far the times of two halves of the runs differ at most, after their common factor."""
    silent: bool
    """False: the times are in units of the work, because the host was not silent."""


def truth_of(kind: str, folder: Path, rounds: int) -> Truth | None:
    """The smallest times of interleaved runs without a tuner, and what they are worth.

    None where the host was not silent and the work does not say which candidate is the fastest.
    """
    of, program = KINDS[kind], folder / "program"
    if of.built:
        source = str(HERE / "under_load.c")
        subprocess.run(["gcc", "-O2", "-fopenmp", source, "-o", str(program)], check=True)
    environment = {**os.environ, "OMP_NUM_THREADS": str(of.threads), "OMP_PROC_BIND": "close"}
    seen: dict[int, list[float]] = {work: [] for work in of.works}
    before = host_load.observe()
    for _ in range(MOST_BATCHES):
        for _ in range(rounds):
            for work in random.sample(of.works, len(of.works)):
                line = of.run.format(output=program, work=work, input=_input(of, folder))
                begun = time.monotonic()
                done = subprocess.run(
                    ["sh", "-c", line], check=True, env=environment,
                    stdout=subprocess.PIPE, text=True,
                )  # fmt: skip
                wall = time.monotonic() - begun
                printed = [float(x.split()[1]) for x in done.stdout.splitlines() if "seconds" in x]
                seen[work].append(wall if of.time == "wall" else min(printed))
        halves = [np.log([min(values[half::2]) for values in seen.values()]) for half in range(2)]
        apart = halves[0] - halves[1]
        floor = float(np.exp(np.abs(apart - np.median(apart)).max()) - 1)
        if floor <= SILENT:
            break
    after = host_load.observe()
    times = {work: min(values) for work, values in seen.items()}
    per_work = {work: seconds / work for work, seconds in times.items()}
    usual = statistics.median(per_work.values())
    off = max(abs(value / usual - 1) for value in per_work.values())
    silent = floor <= SILENT
    print(f"truth of {kind}, {len(seen[of.baseline])} runs each. Before: {before}. After: {after}.")
    print("   ", ", ".join(f"{work}: {1e3 * times[work]:.3f} ms" for work in of.works))
    print(
        f"    halves differ by {100 * floor:.1f} % at most"
        + (f", from the work the times are {100 * off:.1f} % off at most" if of.built else "")
        + ("" if silent else "; NOT SILENT: the work is taken for the truth, if it says it"),
        flush=True,
    )
    if silent:
        return Truth(times, floor, silent)
    return Truth({work: float(work) for work in of.works}, 0.0, silent) if of.built else None


# --- one study ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StudyRun:
    """One study: its problem in its document, its run in the store, its wall time."""

    kind: Kind
    problem: Mapping[str, object]
    run: RunRecord
    works: Mapping[str, int]
    """Identity of a candidate to its work."""
    seconds: float

    @property
    def contenders(self) -> Sequence[str]:
        """Ids of the candidates that may be the fastest."""
        names = self.problem["contenders"]
        assert isinstance(names, list)
        return names

    def samples(self) -> Table:
        """The samples that statistics compare: of the finals, or of all where there are none."""
        taken = {self.works[m.candidate]: m.timed for m in self.run.measurements if m.timed}
        finals = {
            work: tuple(s for s in samples if s.stage == "final") for work, samples in taken.items()
        }
        again = {work: samples for work, samples in finals.items() if samples}
        return again if len(again) > 1 else taken


def study(kind: str, folder: Path, nice: int, *, exhaustive: bool) -> StudyRun:
    """Tune once, with a store of its own."""
    of = KINDS[kind]
    folder.mkdir(parents=True)
    (folder / "program.yaml").write_text(
        PROGRAM.format(
            folder=HERE, run=of.run, works=", ".join(map(str, of.works)), baseline=of.baseline,
            time=of.time, input=_input(of, folder.parent), more=BUILD if of.built else "",
        )
    )  # fmt: skip
    config = folder / "config.yaml"
    config.write_text(CONFIG + (BUILDS.format(threads=of.threads) if of.built else ""))
    store = folder / "results.sqlite"
    begun = time.monotonic()
    command = [sys.executable, "-m", "autotune", "tune", str(config), "--json", "--store"]
    done = subprocess.run(
        [*command, str(store), *(["--exhaustive"] if exhaustive else [])],
        capture_output=True,
        text=True,
        preexec_fn=lambda: _humble(nice),
    )
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"tune ended with {done.returncode}:\n{done.stderr}")
    seconds = time.monotonic() - begun
    with contextlib.closing(Store.open(store, create=False)) as opened:
        record = opened.load_study(str(opened.latest_study()))
    works = {c.identity: int(str(c.parameters["work"])) for c in record.candidates}
    (problem,) = json.loads(done.stdout)["problems"]
    return StudyRun(of, problem, record.runs[-1], works, seconds)


def _humble(nice: int) -> None:
    """Give up the right to raise a priority, as a user has none."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_NICE, 0, 0, 0)
    os.nice(nice)


# --- other statistics -------------------------------------------------------------------------

Verdict = tuple[int | None, bool]
"""The work of the candidate that is chosen, and whether it is declared the winner."""


def least(table: Table, value: Callable[[Sequence[Sample]], float | None]) -> Verdict:
    """The candidate with the least value; it is declared the winner whatever the others have."""
    values = {work: v for work, samples in table.items() if (v := value(samples)) is not None}
    return (min(values, key=values.__getitem__), True) if values else (None, False)


def _undisturbed(samples: Sequence[Sample]) -> float | None:
    times = [s.seconds for s in samples if s.undisturbed]
    return float(np.quantile(times, 0.25)) if times else None


def pyperf(table: Table) -> Verdict:
    """The least mean of launches; declared where a t test tells it from each of the others."""
    means: dict[int, list[float]] = {}
    for work, samples in table.items():
        launches: dict[int, list[float]] = {}
        for sample in samples:
            launches.setdefault(sample.launch, []).append(sample.seconds)
        means[work] = [float(np.mean(times)) for times in launches.values()]
    chosen = min(means, key=lambda work: float(np.mean(means[work])))
    others = [means[work] for work in means if work != chosen]
    if any(len(values) < 2 for values in means.values()):
        return chosen, False
    sure = all(scipy.stats.ttest_ind(means[chosen], x).pvalue < SIGNIFICANT for x in others)
    return chosen, sure


OTHERS: Mapping[str, Callable[[Table], Verdict]] = {
    "minimum": lambda table: least(table, lambda samples: min(s.seconds for s in samples)),
    "median": lambda table: least(
        table, lambda samples: float(np.median([s.seconds for s in samples]))
    ),
    "undisturbed": lambda table: least(table, _undisturbed),
    "hyperfine": lambda table: least(
        table, lambda samples: float(np.mean([s.seconds for s in samples]))
    ),
    "pyperf": pyperf,
}


# --- judging ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Score:
    """What one statistic came to over some studies."""

    studies: int = 0
    wrong: int = 0
    undecided: int = 0
    losses: list[float] = field(default_factory=list)

    def enter(self, verdict: Verdict, truth: Truth) -> None:
        """Count the verdict of one study."""
        chosen, declared = verdict
        best = min(truth.times.values())
        self.studies += 1
        self.undecided += not declared
        if chosen is not None:
            self.losses.append(truth.times[chosen] / best - 1)
            self.wrong += declared and truth.times[chosen] > best * (1 + truth.floor + SLACK)

    def __str__(self) -> str:
        loss = f"{100 * np.mean(self.losses):.1f} %" if self.losses else "-"
        return f"wrong {self.wrong} of {self.studies}, undecided {self.undecided}, loss {loss}"


@dataclass(slots=True)
class Tally:
    """What the studies beside one load came to."""

    score: Score = field(default_factory=Score)
    others: dict[str, Score] = field(default_factory=lambda: {name: Score() for name in OTHERS})
    seconds: list[float] = field(default_factory=list)
    launches: list[int] = field(default_factory=list)
    samples: list[int] = field(default_factory=list)
    disturbed: list[float] = field(default_factory=list)
    held: list[bool] = field(default_factory=list)

    def enter(self, of: StudyRun, truth: Truth) -> None:
        """Count one study."""
        best = of.problem["best"]
        chosen = None if best is None else _work_of(str(best))
        self.score.enter((chosen, len(of.contenders) == 1), truth)
        table = of.samples()
        for name, statistic in OTHERS.items():
            self.others[name].enter(statistic(table) if table else (None, False), truth)
        timed = [s for m in of.run.measurements for s in m.timed]
        self.seconds.append(of.seconds)
        self.launches.append(sum(len({s.launch for s in m.timed}) for m in of.run.measurements))
        self.samples.append(len(timed))
        self.disturbed.append(float(np.mean([not s.undisturbed for s in timed] or [False])))
        self.held += _held(of, truth)


def _held(of: StudyRun, truth: Truth) -> list[bool]:
    """Whether the 90 % intervals of the ratios to the baseline hold the true ratios."""
    compared = comparable_run(of.run, of.works.keys())
    baseline = of.kind.baseline
    base = next(identity for identity, work in of.works.items() if work == baseline)
    if compared is None or base not in compared.rounds:
        return []
    held = []
    for identity in compared.rounds.keys() - {base}:
        interval = compared.ratio(identity, base)
        if interval is not None:
            true = truth.times[of.works[identity]] / truth.times[baseline]
            held.append(interval[0] <= true <= interval[1])
    return held


def _work_of(identity: str) -> int:
    """The work in the id of a candidate."""
    return int(identity.split("work")[1].split("@")[0].split("-")[0])


def main() -> None:
    """Record the truth, then tune beside each load."""
    arguments = _arguments()
    loads, kinds = arguments.loads.split(","), arguments.kinds.split(",")
    nices = [int(nice) for nice in arguments.nice.split(",")]
    sums, usual = {settled: Tally() for settled in (False, True)}, dict[tuple[str, int], float]()
    with contextlib.ExitStack() as stack:
        root = arguments.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        truths: dict[str, Truth] = {}
        for kind in kinds:
            (root / kind).mkdir(parents=True)
            (root / kind / "text").write_text(_text())
            truth = truth_of(kind, root / kind, arguments.silent_rounds)
            truths |= {} if truth is None else {kind: truth}
        for load, kind, nice in itertools.product(loads, truths, nices):
            tally, settled = Tally(), KINDS[kind].settled
            for number in range(arguments.studies):
                folder = root / kind / f"{load}-nice{nice}-{number}"
                with loaded(load):
                    of = study(kind, folder, nice, exhaustive=arguments.exhaustive)
                tally.enter(of, truths[kind])
                if not load.isdigit() or int(load) <= 8:
                    sums[settled].enter(of, truths[kind])
            quiet = usual.setdefault((kind, nice), float(np.mean(tally.seconds)))
            _show(f"load {load}, {kind}, nice {nice}", tally, quiet)
    for settled, tally in sums.items():
        if tally.seconds:
            kinds = [kind for kind in truths if KINDS[kind].settled == settled]
            why = ", on which settings of the estimator were chosen" if settled else ""
            _show(f"all of {', '.join(kinds)} up to 8 busy processes{why}", tally, None)
            for name, score in tally.others.items():
                print(f"    {name}: {score}")


def _input(of: Kind, folder: Path) -> int | Path:
    return folder / of.input if isinstance(of.input, str) else of.input


def _text() -> str:
    """8 MB of text that every host has: modules of Python's standard library."""
    files = sorted(Path(os.__file__).parent.glob("*.py"))
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    return (text * (1 + 8_000_000 // len(text)))[:8_000_000]


def _show(name: str, tally: Tally, quiet: float | None) -> None:
    took = float(np.mean(tally.seconds))
    times = f", x{took / quiet:.1f} of the first load" if quiet else ""
    held = f"{100 * np.mean(tally.held):.0f} % of {len(tally.held)}" if tally.held else "-"
    print(
        f"{name}: {tally.score}; {took:.0f} s{times}, {np.mean(tally.launches):.0f} launches,"
        f" {np.mean(tally.samples):.0f} samples ({100 * np.mean(tally.disturbed):.0f} %"
        f" disturbed), intervals hold {held};"
        f" wrong by {', '.join(f'{k} {v.wrong}' for k, v in tally.others.items())}"
        f" (pyperf undecided {tally.others['pyperf'].undecided})",
        flush=True,
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a few minutes: few loads, one kind")
    parser.add_argument("--loads")
    parser.add_argument("--kinds")
    parser.add_argument("--studies", type=int, help="studies beside each load")
    parser.add_argument("--nice", help="niceness of the tuner, several by commas")
    parser.add_argument("--silent-rounds", type=int, default=20, help="runs for the truth")
    parser.add_argument("--keep", type=Path, help="a new folder for the stores")
    parser.add_argument("--exhaustive", action="store_true", help="tune --exhaustive: no races")
    arguments = parser.parse_args()
    defaults = {
        "loads": ("0,4,8", "0,1,2,4,8,16,bursts,memory"), "kinds": ("array", ",".join(KINDS)),
        "studies": (1, 2), "nice": ("0", "0,10"),
    }  # fmt: skip
    for name, (quick, full) in defaults.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, quick if arguments.quick else full)
    return arguments


if __name__ == "__main__":
    random.seed(1)
    main()
