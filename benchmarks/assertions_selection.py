"""Is the order of candidates by the assertions of their program the measured one, on 1 to 4 ranks?

    python benchmarks/assertions_selection.py [--programs cg,laplace] [--ranks 1,2,4] [--rounds 5]
                                              [--letters S,W] [--points 12] [--network FILE]

The process grids of conjugate gradients, and solvers of hypre with the axes along which their grid
is cut, are predicted by the models in ``examples/assertions/models``: messages by ping-pongs that
are measured here first (``--network``: by the curves of a file), work by the machine. Then all are
run in turn. Printed per problem and number of ranks, and of all together: every candidate with both
times, its place by prediction and by measurement, and the noise (how far the fastest runs of odd
and even rounds lie apart); Kendall's tau-b, the loss of the first by prediction, pairs in order
among those that the noise tells apart, and median deviation. More ranks than cores are marked: they
take turns. A run that ends late is a failed one.
"""

import argparse
import dataclasses
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.commands.rank.host_machine import host
from autotune.domain.machine import Machine
from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.files import config
from autotune.measuring.candidates.base import Measurer
from autotune.progress import silent
from autotune.results.report.number_words import seconds
from autotune.results.report.text_table import columns
from autotune.statistics.rank_correlation import kendall, top_loss
from autotune.workloads.shipped import workload_of

_HEAD = ("candidate", "predicted", "place", "measured", "place", "noise", "because")
_CONFIG = """\
schema: autotune.config/1
title: predicted by assertions
machine: host
program: {program}
problems: [{{arguments: {{{arguments}}}}}]
measuring: {{samples: 1, attempts: 1}}
limits: {{compile: 60 s, run: 60 s}}
"""


@dataclass(frozen=True, slots=True)
class TimedCandidate:
    """A candidate with its predicted time and its runs."""

    candidate: Candidate
    prediction: Prediction
    samples: tuple[float, ...]
    """Seconds, one a round."""

    @property
    def ranks(self) -> int:
        """Processes of a run."""
        return int(str(self.candidate.variant.parameters["ranks"]))

    @property
    def measured(self) -> float:
        """Seconds of the fastest run."""
        return min(self.samples)

    @property
    def predicted(self) -> float:
        """Predicted seconds."""
        return float(self.prediction.seconds or float("nan"))

    @property
    def noise(self) -> float:
        """How far the fastest runs of odd and of even rounds lie apart, as a share."""
        if len(self.samples) < 2:
            return 0.0
        return abs(min(self.samples[::2]) - min(self.samples[1::2])) / self.measured


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--programs", default="cg,laplace")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--letters", default="S,W", help="classes of conjugate gradients")
    parser.add_argument("--points", default="12", help="points of the grid along an axis, laplace")
    parser.add_argument("--network", default="", help="curves to use; measured if left out")
    arguments = parser.parse_args()
    ranks = [int(r) for r in arguments.ranks.split(",")]
    if os.geteuid() == 0:  # Open MPI refuses root otherwise
        os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    path = arguments.network or _measured_network(ranks)
    machine = dataclasses.replace(host(silent), network=config.read_network(path))
    load = os.getloadavg()[0]
    print(f"{machine.name}: {machine.cores} cores, load {load:.1f}; curves of {path}")
    sizes = {
        "cg": [f"letter: {letter}" for letter in arguments.letters.split(",")],
        "laplace": [f"points: {points}" for points in arguments.points.split(",")],
    }
    for program in arguments.programs.split(","):
        for size in sizes[program]:
            text = _CONFIG.format(program=program, arguments=size)
            rows = _problem(text, machine, arguments.rounds, ranks)
            for count in ranks:
                turns = f", oversubscribed on {machine.cores} cores" * (count > machine.cores)
                some = [row for row in rows if row.ranks == count]
                _show(f"{program}, {size}, ranks {count}{turns}", some)
            if len(ranks) > 1:
                print(f"{program}, {size}, all ranks: {_scores(rows)}")


def _measured_network(ranks: Sequence[int]) -> str:
    """The file of curves of ping-pongs of two ranks, and of as many as a problem has."""
    folder = Path(tempfile.mkdtemp())
    samples, network = folder / "samples.jsonl", folder / "network.yaml"
    for count in sorted({2, *(r for r in ranks if r > 1)}):
        _autotune(
            "bench", "--ranks", str(count), "--operations", "pingpong", "--sizes", "8 B:128 KiB",
            "--repeats", "3", "--budget-seconds", "15", "-o", str(samples),
        )  # fmt: skip
    _autotune("fit", str(samples), "--contended", "-o", str(network))
    return str(network)


def _autotune(*words: str) -> None:
    command = [sys.executable, "-m", "autotune", "comm", *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _problem(
    text: str, machine: Machine, rounds: int, ranks: Sequence[int]
) -> list[TimedCandidate]:
    """The candidates of a config with so many ranks, predicted and run."""
    path = Path(tempfile.mkdtemp()) / "selection.yaml"
    path.write_text(text, encoding="utf-8")
    workload = workload_of(config.load(path))
    candidates = [
        candidate
        for candidate in workload.candidates(machine.cores).legal
        if candidate.variant.parameters["ranks"] in ranks
    ]
    with workload.predictor("program", machine, silent) as predictor:
        predictions = predictor.predict(candidates)
    samples, failures = _runs(workload.measurer(machine), candidates, rounds)
    for candidate, prediction in zip(candidates, predictions, strict=True):
        if prediction.seconds is None:
            failures.append(_failure(candidate, "not predicted", prediction.reason))
    print("".join(f"{failure}\n" for failure in failures), end="")
    return [
        TimedCandidate(candidate, prediction, tuple(times))
        for candidate, prediction, times in zip(candidates, predictions, samples, strict=True)
        if prediction.seconds is not None and times
    ]


def _show(title: str, rows: Sequence[TimedCandidate]) -> None:
    print(f"\n{title}")
    if rows:
        print(columns(_table(rows), right=range(1, 6)))
        print(_scores(rows))


def _runs(
    measurer: Measurer, candidates: Sequence[Candidate], rounds: int
) -> tuple[list[list[float]], list[str]]:
    """Seconds of every run, candidate by candidate, and what failed."""
    prepared = [measurer.prepare(candidate) for candidate in candidates]
    failures = [_failure(p.candidate, p.status, p.detail) for p in prepared if p.status != "ok"]
    samples: list[list[float]] = [[] for _ in candidates]
    for number in range(rounds):
        for place, ready in enumerate(prepared):
            if ready.status != "ok":
                continue
            launch = measurer.launch(
                ready, round_number=number, launch=number, expected=None,
                on_sample=lambda _: None,
            )  # fmt: skip
            samples[place] += [float(s.seconds) for s in launch.samples if not s.warm_up]
            if launch.status != "ok":
                failures.append(_failure(ready.candidate, launch.status, launch.detail))
    return samples, failures


def _failure(candidate: Candidate, status: str, detail: str) -> str:
    return f"{candidate.variant.label}: {status}: {detail[:200]}"


def _table(rows: Sequence[TimedCandidate]) -> Iterator[Sequence[str]]:
    predicted = sorted(row.predicted for row in rows)
    measured = sorted(row.measured for row in rows)
    yield _HEAD
    for row in sorted(rows, key=lambda row: row.predicted):
        yield (
            row.candidate.variant.label,
            seconds(row.predicted),
            str(1 + predicted.index(row.predicted)),
            seconds(row.measured),
            str(1 + measured.index(row.measured)),
            f"{100 * row.noise:.0f} %",
            row.prediction.reason.partition(": ")[2],
        )


def _scores(rows: Sequence[TimedCandidate]) -> str:
    if not rows:
        return "nothing ran"
    predicted, measured = [r.predicted for r in rows], [r.measured for r in rows]
    noise = statistics.median(row.noise for row in rows)
    deviation = statistics.median(abs(r.predicted / r.measured - 1) for r in rows)
    apart = right = 0
    for a, b in itertools.combinations(rows, 2):
        if abs(a.measured - b.measured) > max(a.noise, b.noise) * min(a.measured, b.measured):
            apart += 1
            right += (a.predicted < b.predicted) == (a.measured < b.measured)
    tau, loss = kendall(predicted, measured), top_loss(predicted, measured, 1)
    return (
        f"tau-b {'-' if tau is None else f'{tau:.2f}'}; the first by prediction loses"
        f" {100 * (loss or 0.0):.0f} %; {right} of {apart} pairs that the noise tells apart are in"
        f" order; median deviation {100 * deviation:.0f} %, noise {100 * noise:.0f} %"
    )


if __name__ == "__main__":
    main()
