"""Stencils against Devito and pystencils, on the same grid and threads, in one run on this host.

    python benchmarks/stencil_peers.py [--quick] [--size 288] [--only star3d-7pt] [--rounds 5]
                                       [--threads 1,2] [--peers PYTHON]

For each stencil and number of threads autotune ranks its space ``stencil-time``, measures the best
by prediction of one sweep a pass and of several (``--most`` of each), and keeps the fastest of both
kinds. Then these two, Devito (its own blocks, and those of its autotuner in two modes) and
pystencils (loops that the compiler vectorises, its own vectors, and these with streaming stores)
take turns: every one is launched once a round, in another order each time. All compute in double
precision on the same first values, ghosts included and kept; the state after some sweeps is
compared with NumPy before anything is timed. Compilation and the peers' tuning are not timed. The
time of a launch is its least sample, since other processes only add to it.

It prints ns per point and sweep (median of the rounds, the least and the largest), the versions,
and by how much autotune is ahead of the best of the peers: the ratio of medians, and the least and
the largest ratio within a round. ``--peers``: the Python of an environment with both peers; else
one is made in a temporary folder by pip.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from autotune.commands.rank import ranked_space
from autotune.domain.problem import StencilProblem
from autotune.domain.ranking import Ranked
from autotune.domain.results import Prepared
from autotune.domain.setup import Measuring
from autotune.domain.variant import Candidate, Wavefront
from autotune.errors import WorkFailed
from autotune.files import config
from autotune.language.expression import show
from autotune.measuring.candidates.base import Measurer
from autotune.measuring.conditions.host_lock import HostLock
from autotune.measuring.verification import grid_reference
from autotune.statistics.launch_times import time_of
from autotune.tuning import Bench, Chosen, TuningPlan, tune_problem
from autotune.tuning.base import NoJournal

STENCILS = ("star3d-7pt", "box3d-27pt", "star3d-r4")
PEERS: Mapping[str, tuple[str, ...]] = {
    "devito": ("default", "basic", "aggressive"),
    "pystencils": ("loops", "vectors", "vectors, streaming"),
}
"""Each peer with the ways in which it is run."""
CHECK = 3
"""Sweeps after which states are compared."""
TOLERANCE = 1e-12
"""Largest difference of two states; values lie between 1 and 2."""
CONFIG = """\
schema: autotune.config/1
title: {name} beside its peers
machine: host
skeleton: jacobi
space: stencil-time
problems:
  - {{stencil: {name}, size: {size}}}
builds:
  - {{compiler: gcc, flags: [-O3, -march=native]}}
threads: [{threads}]
measuring: {{rounds: 2, samples: 3, min_sample: 200 ms}}
"""


@dataclass(slots=True)
class Contestant:
    """One way to compute the sweeps, with its time per point and sweep in each round."""

    label: str
    of_peer: bool
    detail: str = ""
    times: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        """ns per point and sweep."""
        return statistics.median(self.times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="96^3 points and three rounds")
    parser.add_argument("--only", default="", help="stencils whose name contains this text")
    parser.add_argument("--size", type=int, default=288, help="points of the grid on a side")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--most", type=int, default=4, help="best predicted ones of each kind")
    parser.add_argument("--threads", default=f"1,{len(os.sched_getaffinity(0))}")
    parser.add_argument("--peers", default="", help="Python of an environment with both peers")
    given = parser.parse_args()
    if given.quick:
        given.size, given.rounds = 96, 3
    with tempfile.TemporaryDirectory() as folder:
        python = given.peers or _installed(Path(folder))
        ahead: dict[str, list[float]] = {}
        for threads in dict.fromkeys(given.threads.split(",")):
            for name in STENCILS:
                if given.only in name:
                    contest = _contest(name, int(threads), given, python, Path(folder))
                    ahead.setdefault(threads, []).append(_show(name, threads, contest))
        for threads, ratios in ahead.items():
            mean = statistics.geometric_mean(ratios)
            print(f"{threads} threads: ahead of the best peer by {mean:.2f} (geometric mean)")


def _installed(folder: Path) -> str:
    """The Python of a new environment with both peers."""
    print("installing devito and pystencils", file=sys.stderr, flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "peers")], check=True)
    python = str(folder / "peers" / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", *PEERS, "numpy"], check=True)
    return python


def _contest(
    name: str, threads: int, given: argparse.Namespace, python: str, folder: Path
) -> list[Contestant]:
    """All contestants, each launched once a round."""
    path = folder / f"{name}.yaml"
    text = CONFIG.format(name=name, size=given.size, threads=threads)
    path.write_text(text, encoding="utf-8")
    workload = ranked_space.load(path)
    space = ranked_space.rank_space(workload, _silent)
    measurer = workload.measurer(space.machine)
    turns: list[tuple[Contestant, Callable[[int], float]]] = []
    for kind, candidate in _fastest(space.rankings[0].entries, measurer, given.most).items():
        contestant = Contestant(f"autotune, {kind}", False, candidate.variant.label)
        turns.append((contestant, partial(_launched, measurer, measurer.prepare(candidate))))
    task = _task(name, given.size, threads, folder)
    for tool, way in [(tool, way) for tool, ways in PEERS.items() for way in ways]:
        contestant = Contestant(f"{tool}, {way}", True)
        turns.append(
            (contestant, partial(_peer, contestant, [python, tool], {**task, "variant": way}))
        )
    points = given.size**3
    for number in range(given.rounds):
        for contestant, launch in random.Random(number).sample(turns, len(turns)):
            contestant.times.append(launch(number) / points * 1e9)
        print(f"{name}, {threads} threads: round {number + 1}", file=sys.stderr, flush=True)
    return [contestant for contestant, _ in turns]


def _fastest(entries: Sequence[Ranked], measurer: Measurer, most: int) -> Mapping[str, Candidate]:
    """The fastest program of one sweep a pass and that of several, of the best by prediction."""
    kinds = {"one sweep a pass": False, "several": True}
    chosen = [
        Chosen.of(entry, "asked for")
        for several in kinds.values()
        for entry in [e for e in entries if _blocked_in_time(e.candidate) == several][:most]
    ]
    bench = Bench(measurer=measurer, journal=NoJournal(), progress=_silent, lock=HostLock(_silent))
    measured = tune_problem(chosen, bench, TuningPlan(measuring=Measuring(rounds=2)))
    times = {m.candidate: time_of(m.samples) for m in measured if m.status == "ok"}
    fastest = {}
    for kind, several in kinds.items():
        ok = [
            c.candidate for c in chosen
            if c.candidate.identity in times and _blocked_in_time(c.candidate) == several
        ]  # fmt: skip
        fastest[kind] = min(ok, key=lambda candidate: times[candidate.identity])
    return fastest


def _blocked_in_time(candidate: Candidate) -> bool:
    return any(isinstance(t, Wavefront) and t.sweeps > 1 for t in candidate.variant.transformations)


def _launched(measurer: Measurer, prepared: Prepared, number: int) -> float:
    """Seconds of a sweep in one launch of a program of autotune."""
    launch = measurer.launch(
        prepared, round_number=number, launch=number, expected=None, on_sample=lambda _: None
    )
    if launch.status != "ok":
        raise WorkFailed(f"{prepared.candidate.label}: {launch.status} {launch.detail}")
    return min(float(sample.seconds) for sample in launch.samples)


# --- peers ------------------------------------------------------------------------------------


def _task(name: str, size: int, threads: int, folder: Path) -> Mapping[str, object]:
    """What a peer computes, with the first values and the expected state in files."""
    stencil = config.stencil(name)
    problem = StencilProblem(stencil=stencil, extents=(size, size, size))
    first = grid_reference.initial(problem)
    np.save(folder / "first.npy", first)
    expected = grid_reference.sweeps(problem, CHECK).reshape(problem.extents)
    np.save(folder / "expected.npy", expected)
    return {
        "body": show(stencil.body),
        "constants": dict(stencil.values(problem.extents)),
        "radius": stencil.radius,
        "initial": str(folder / "first.npy"),
        "expected": str(folder / "expected.npy"),
        "check": CHECK,
        "threads": threads,
        "samples": 8,
        "seconds": 0.1,
    }


def _peer(
    contestant: Contestant, command: Sequence[str], task: Mapping[str, object], number: int
) -> float:
    """Seconds of a sweep in one launch of a peer; inf where it fails, with the reason in words."""
    del number
    python, tool = command
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "task.json")
        result = Path(folder, "result.npy")
        path.write_text(json.dumps({**task, "result": str(result)}), encoding="utf-8")
        done = subprocess.run(
            [python, str(Path(__file__).with_name("stencil_peer.py")), tool, str(path)],
            capture_output=True,
            text=True,
            check=False,
            env={
                **os.environ,
                "OMP_NUM_THREADS": str(task["threads"]),
                "OMP_PROC_BIND": "true",
                "OMP_WAIT_POLICY": "active",
            },
        )
        if done.returncode:
            contestant.detail = done.stderr.strip().splitlines()[-1]
            return math.inf
        difference = np.abs(np.load(result) - np.load(str(task["expected"]))).max()
    if difference > TOLERANCE:
        contestant.detail = f"wrong by {difference:.1e}"
        return math.inf
    said = json.loads(done.stdout.splitlines()[-1])
    contestant.detail = f"{said['version']}, {said['words']}"
    return float(min(said["seconds"]))


# --- words ------------------------------------------------------------------------------------


def _show(name: str, threads: str, contest: Sequence[Contestant]) -> float:
    """Print a table; the return value is by how much autotune is ahead of the best peer."""
    print(f"{name}, {threads} threads: ns per point and sweep, median [least, largest round]")
    for c in sorted(contest, key=lambda c: c.median):
        print(
            f"  {c.label:32} {c.median:8.3f} [{min(c.times):.3f}, {max(c.times):.3f}]  {c.detail}"
        )
    mine = min((c for c in contest if not c.of_peer), key=lambda c: c.median)
    peer = min((c for c in contest if c.of_peer), key=lambda c: c.median)
    ratios = [theirs / ours for theirs, ours in zip(peer.times, mine.times, strict=True)]
    ratio = peer.median / mine.median
    print(
        f"  ahead of the best peer: {ratio:.2f} [{min(ratios):.2f}, {max(ratios):.2f}]", flush=True
    )
    return ratio


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is shown while it runs."""


if __name__ == "__main__":
    main()
