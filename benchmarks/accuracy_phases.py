"""The phases of some candidates of measured cells: seconds per step of every kernel and barrier."""

import json
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from accuracy_score import Predicted, Times

from autotune.commands.rank import ranked_space
from autotune.domain.machine import Machine
from autotune.domain.variant import Candidate
from autotune.measuring.candidates.host_measurer import HostMeasurer
from autotune.measuring.conditions.host_lock import HostLock
from autotune.progress import Progress

_LAUNCHES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Phases:
    """The measured phases of one candidate of a cell."""

    cell: str
    candidate: str
    """Identity."""
    seconds: Mapping[str, float]
    """Per step: of every kernel and of the barriers, the median of the launches; of several
    threads the most."""


def chosen(times: Times, said: Predicted, count: int) -> list[Candidate]:
    """The predicted first, the measured best and the plain program, then down the prediction.

    Plain is the candidate with the fewest transformations: of PIRK methods the loop order jli.
    """
    known = np.where(np.isnan(said.seconds), np.inf, said.seconds)
    order = np.argsort(known, kind="stable").tolist()
    changes = [len(candidate.variant.transformations) for candidate in times.candidates]
    wanted = [order[0], int(np.argmin(times.seconds)), int(np.argmin(changes)), *order[1:]]
    return [times.candidates[k] for k in list(dict.fromkeys(wanted))[:count]]


def kept(store: str) -> dict[tuple[str, str], Phases]:
    """The phases measured for a store, by cell and identity of the candidate."""
    path = _beside(store)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    phases = [Phases(**json.loads(line)) for line in lines]
    return {(each.cell, each.candidate): each for each in phases}


def measure(
    found: Sequence[Times],
    said: Sequence[Predicted],
    machine: Machine,
    store: str,
    count: int,
    progress: Progress,
) -> None:
    """Measure the phases of ``count`` candidates of every cell that a store lacks.

    They are kept in a file beside the store, a line as soon as a candidate is done.
    """
    done = kept(store)
    for number, (times, predicted) in enumerate(zip(found, said, strict=True), start=1):
        wanted = [
            candidate
            for candidate in chosen(times, predicted, count)
            if (times.cell.name, candidate.identity) not in done
        ]
        if not wanted:
            continue
        measurer = _measurer(times, machine)
        for candidate in wanted:
            seconds = _phases(measurer, candidate, times, progress)
            if seconds:
                phases = Phases(cell=times.cell.name, candidate=candidate.identity, seconds=seconds)
                with _beside(store).open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(phases)) + "\n")
        print(f"{number}/{len(found)} {times.cell.name}: {len(wanted)} candidates", flush=True)


def _measurer(times: Times, machine: Machine) -> HostMeasurer:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{times.cell.name}.yaml"
        path.write_text(times.cell.config(5), encoding="utf-8")
        measurer = ranked_space.load(path).measurer(machine)
    if not isinstance(measurer, HostMeasurer):
        raise TypeError(f"{times.cell.name}: programs without phases")
    return measurer


def _phases(
    measurer: HostMeasurer, candidate: Candidate, times: Times, progress: Progress
) -> dict[str, float]:
    """The median phases of some launches; empty where a launch failed."""
    step = float(times.seconds[times.candidates.index(candidate)])
    launches = []
    for _ in range(_LAUNCHES):
        with HostLock(progress).timing():
            run = measurer.phases(candidate, step)
        if run.status != "ok":
            print(f"{times.cell.name}: {candidate.variant.label}: {run.status}: {run.detail}")
            return {}
        launches.append(run.seconds)
    return {
        name: statistics.median(launch.get(name, 0.0) for launch in launches)
        for name in launches[0]
    }


def _beside(store: str) -> Path:
    return Path(store).with_suffix(".phases.jsonl")
