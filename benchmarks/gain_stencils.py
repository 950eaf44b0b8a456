"""What several sweeps in one pass over a grid gain over the best blocks in space, on this host.

    python benchmarks/gain_stencils.py [--only star3d-7pt] [--size 288] [--rounds 3] [--most 8]

For each stencil, in one thread and in all, candidates of the space `stencil-time` are measured in
one run, launch by launch in turn: the baseline, the best by prediction of one sweep, the best by
prediction of several with either scheme (plane by plane: `wavefront`; tile by tile: `overlap`), and
of each scheme the best predicted one of each number of sweeps and of each block in j. The grids lie
in memory. It prints

    space    ns per point and sweep of the best of one sweep
    planes   the same of the best wavefront
    tiles    the same of the best overlapped tiles
    gain     space / the lesser of the two
    crossed  the same chosen in one half of the rounds and scored in the other
    chosen   the measured time of the first by prediction over the best of all measured
    rank     rank correlation of predicted and measured times
    noise    median over candidates of the slowest over the fastest round

and the geometric means. With --list every candidate comes first, with predicted and measured ns.
Not all candidates are measured: the best of all can be better still.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.commands.rank import ranked_space
from autotune.domain.ranking import Ranked
from autotune.domain.results import Measurement
from autotune.domain.variant import Candidate, OverlappedTiles, SeveralSweeps
from autotune.measuring.conditions.host_lock import HostLock
from autotune.statistics.launch_times import by_round, time_of
from autotune.statistics.rank_correlation import kendall
from autotune.tuning import Bench, Chosen, TuningPlan, tune_problem
from autotune.tuning.base import NoJournal

STENCILS = ("star3d-7pt", "box3d-27pt", "star3d-r4", "star2d-5pt")
SCHEMES = ("space", "planes", "tiles")
"""One sweep in a pass with blocks in space, and the two ways to make several."""
CONFIG = """\
schema: autotune.config/1
title: {name} in memory
machine: host
skeleton: jacobi
space: stencil-time
problems:
  - {{stencil: {name}, size: {size}}}
builds:
  - {{compiler: gcc, flags: [-O3, -march=native]}}
threads: [{threads}]
measuring: {{rounds: {rounds}, samples: 3, min_sample: 60 ms}}
"""


@dataclass(frozen=True, slots=True)
class Gain:
    """What was measured of one stencil on a number of threads."""

    times: tuple[float, ...]
    """ns per point and sweep of the best of each scheme."""
    gain: float
    crossed: float
    chosen: float
    rank: float
    noise: float
    words: str


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="stencils whose name contains this text")
    parser.add_argument("--size", type=int, default=288, help="points of the grid on a side")
    parser.add_argument("--rounds", type=int, default=3, help="launches of each candidate")
    parser.add_argument("--most", type=int, default=8, help="best predicted ones of each kind")
    parser.add_argument("--list", action="store_true", help="every candidate with its times")
    arguments = parser.parse_args()
    print(
        f"{'stencil':12} {'threads':>7} {' '.join(f'{name:>7}' for name in SCHEMES)} {'gain':>6}"
        f" {'crossed':>7} {'chosen':>6} {'rank':>5} {'noise':>6}"
    )
    for threads in ("1", "all"):
        gains = []
        for name in STENCILS:
            if arguments.only in name:
                gains.append(_gain(name, threads, arguments))
                _show(name, threads, gains[-1])
        means = [
            statistics.geometric_mean([getattr(gain, key) for gain in gains])
            for key in ("gain", "crossed", "chosen")
        ]
        gain, crossed, chosen = means
        print(
            f"{'mean':12} {threads:>7} {'':23} {gain:6.2f} {crossed:7.2f} {chosen:6.3f}", flush=True
        )


def _show(name: str, threads: str, gain: Gain) -> None:
    print(
        f"{name:12} {threads:>7} {' '.join(f'{time:7.3f}' for time in gain.times)} {gain.gain:6.2f}"
        f" {gain.crossed:7.2f} {gain.chosen:6.3f} {gain.rank:5.2f} {gain.noise:6.1%}  {gain.words}",
        flush=True,
    )


def _gain(name: str, threads: str, arguments: argparse.Namespace) -> Gain:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "gain.yaml"
        text = CONFIG.format(
            name=name, size=_size(name, arguments.size), threads=threads, rounds=arguments.rounds
        )
        config.write_text(text, encoding="utf-8")
        workload = ranked_space.load(config)
        space = ranked_space.rank_space(workload, _silent)
        entries = _selected(space.rankings[0].entries, arguments.most)
        chosen = [Chosen.of(entry, "asked for") for entry in entries]
        bench = Bench(
            measurer=workload.measurer(space.machine),
            journal=NoJournal(),
            progress=_silent,
            lock=HostLock(_silent),
        )
        plan = TuningPlan(measuring=workload.setup.measuring)
        measured = tune_problem(chosen, bench, plan)
    by_candidate = {m.candidate: m for m in measured}
    if arguments.list:
        _print_each(entries, by_candidate)
    return _scored(entries, by_candidate)


def _print_each(entries: Sequence[Ranked], measured: Mapping[str, Measurement]) -> None:
    """The label, and predicted and measured ns per point, of every candidate."""
    for entry in sorted(entries, key=lambda e: e.prediction.seconds or float("inf")):
        result = measured[entry.candidate.identity]
        scale = 1e9 / entry.candidate.problem.n
        time = time_of(result.samples) * scale if result.status == "ok" else float("nan")
        predicted = (entry.prediction.seconds or float("nan")) * scale
        print(f"  {entry.candidate.variant.label:24} {predicted:7.3f} {time:7.3f}", flush=True)


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is shown while it runs."""


def _size(name: str, side: int) -> int:
    """The points on a side: a plane has as many points as a grid of three dimensions."""
    return round(side**1.5) if "2d" in name else side


def _scheme(candidate: Candidate) -> str:
    """How many sweeps are made in a pass: one, or several plane by plane or tile by tile."""
    for change in candidate.variant.transformations:
        if isinstance(change, SeveralSweeps) and change.sweeps > 1:
            return "tiles" if isinstance(change, OverlappedTiles) else "planes"
    return "space"


def _selected(entries: Sequence[Ranked], most: int) -> list[Ranked]:
    """The candidates to measure; of those that differ in padding and unrolling only, the first."""
    distinct: dict[object, Ranked] = {}
    for entry in entries:
        values = entry.candidate.variant.parameters
        key = tuple(values[key] for key in ("t", "tiles", "bk", "bj", "bi") if key in values)
        distinct.setdefault(key, entry)
    kinds: dict[str, list[Ranked]] = {scheme: [] for scheme in SCHEMES}
    for entry in distinct.values():
        kinds[_scheme(entry.candidate)].append(entry)
    plain = [e for e in kinds["space"] if e.candidate.variant.label.startswith("t1-u")]
    picked = [*kinds["space"][:most], *plain]
    for scheme in ("planes", "tiles"):
        of = kinds[scheme]
        picked += [*of[:most], *_firsts(of, "t"), *_firsts(of, "bj")]
    return list({entry.candidate.identity: entry for entry in picked}.values())


def _firsts(entries: Iterable[Ranked], key: str) -> list[Ranked]:
    """The first entry of each value of a parameter."""
    firsts: dict[object, Ranked] = {}
    for entry in entries:
        firsts.setdefault(entry.candidate.variant.parameters[key], entry)
    return list(firsts.values())


def _scored(entries: Sequence[Ranked], measured: Mapping[str, Measurement]) -> Gain:
    ok = [e for e in entries if measured[e.candidate.identity].status == "ok"]
    for entry in entries:
        result = measured[entry.candidate.identity]
        if result.status != "ok":
            print(f"{entry.candidate.label}: {result.status} {result.detail}")
    samples = {e.candidate.identity: measured[e.candidate.identity].samples for e in ok}
    times = {identity: time_of(values) for identity, values in samples.items()}
    rounds = {
        identity: {number: launch.seconds for number, launch in by_round(values).items()}
        for identity, values in samples.items()
    }
    kinds: dict[str, list[str]] = {scheme: [] for scheme in SCHEMES}
    for entry in ok:
        kinds[_scheme(entry.candidate)].append(entry.candidate.identity)
    points = ok[0].candidate.problem.n
    best = [min((times[i] for i in kinds[scheme]), default=float("nan")) for scheme in SCHEMES]
    groups = kinds["space"], [*kinds["planes"], *kinds["tiles"]]
    crossed = []
    for parity in (0, 1):
        choosing, scoring = (
            {i: statistics.mean(s for r, s in rounds[i].items() if r % 2 == half) for i in rounds}
            for half in (parity, 1 - parity)
        )
        space, several = (scoring[min(group, key=choosing.__getitem__)] for group in groups)
        crossed.append(space / several)
    first = min(ok, key=lambda e: e.prediction.seconds or float("inf")).candidate
    winner = min(ok, key=lambda e: times[e.candidate.identity]).candidate
    predicted = [float(e.prediction.seconds or 0) for e in ok]
    return Gain(
        times=tuple(time / points * 1e9 for time in best),
        gain=best[0] / min(times[i] for i in groups[1]),
        crossed=statistics.geometric_mean(crossed),
        chosen=times[first.identity] / min(times.values()),
        rank=kendall(predicted, [times[e.candidate.identity] for e in ok]) or 0.0,
        noise=statistics.median(max(r.values()) / min(r.values()) - 1 for r in rounds.values()),
        words=f"best {winner.variant.label}, first by prediction {first.variant.label}, {len(ok)}",
    )


if __name__ == "__main__":
    main()
