"""Scores of benchmarks/accuracy.py: predictions of today against the times in a store."""

import math
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from accuracy_cells import Cell
from accuracy_folds import LEAST_ROUNDS

from autotune.codegen.c.emit import sweep_code
from autotune.codegen.tree.loop_tree import StepProgram
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.commands.rank import ranked_space
from autotune.domain.machine import Machine
from autotune.domain.variant import Candidate
from autotune.files import config
from autotune.files.store import RunRecord, Store
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.incore.osaca_analyser import OsacaAnalyser, assemble
from autotune.models.refinement import MeasuredCandidate, ShiftingConstant, shifted
from autotune.models.refinement.measured_rows import data
from autotune.models.refinement.posterior_fit import fit
from autotune.models.refinement.shifting_constants import (
    limited_shifts,
    prior,
    shiftable_constants,
)
from autotune.statistics.launch_times import LaunchTime, by_round, candidate_time
from autotune.workloads.base import Workload

Floats = npt.NDArray[np.float64]
KS = (1, 3, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The measured candidates of one cell."""

    cell: Cell
    candidates: tuple[Candidate, ...]
    seconds: Floats
    noise: Floats
    rounds: tuple[Mapping[int, LaunchTime], ...]
    """Of every candidate, its time in each round; all have the same number."""
    bytes: float
    """Working set of one thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """What the engine says of the candidates of a cell: seconds, and the 80 % interval."""

    seconds: Floats
    low: Floats
    high: Floats


# --- measured ---------------------------------------------------------------------------------


def times_of(store: str, wanted: Sequence[Cell], machine: Machine) -> Iterator[Times]:
    """Of the wanted cells those that a store holds, in the order in which they were measured."""
    known = {cell.name: cell for cell in wanted}
    with Store.open(store) as results, tempfile.TemporaryDirectory() as folder:
        for summary in results.studies():
            cell = known.get(summary.name)
            if cell is None:
                continue
            path = Path(folder) / f"{cell.name}.yaml"
            path.write_text(cell.config(5), encoding="utf-8")
            workload = ranked_space.load(path)
            run = results.load_study(cell.name).runs[-1]
            if run.state != "done":
                print(f"{cell.name}: left out: the study is {run.state}")
                continue
            made = _joined(cell, workload, machine, run)
            if made is not None:
                yield made


def _joined(cell: Cell, workload: Workload, machine: Machine, run: RunRecord) -> Times | None:
    rounds: dict[str, dict[int, LaunchTime]] = {}
    chosen: dict[str, Candidate] = {}
    dropped: list[str] = []
    for candidate in workload.candidates(machine.cores).legal:
        measured = run.measurement(candidate.identity)
        if measured is not None and measured.status == "ok":
            rounds[candidate.identity] = by_round(measured.samples)
            chosen[candidate.identity] = candidate
        else:
            status = measured.status if measured else "not measured"
            dropped.append(f"{candidate.variant.label} ({status})")
    whole = _common(rounds.values())
    kept = [identity for identity, each in rounds.items() if whole <= each.keys()]
    for identity in rounds.keys() - set(kept):
        missing = len(whole - rounds[identity].keys())
        dropped.append(f"{chosen[identity].variant.label} (lacks {missing} rounds)")
    rounds = {name: {k: rounds[name][k] for k in whole} for name in kept}
    if dropped:
        print(f"{cell.name}: left out {len(dropped)} of {len(dropped) + len(kept)} candidates:")
        print(f"  {', '.join(sorted(dropped))}")
    if len(kept) < 2 or len(whole) < LEAST_ROUNDS:
        print(f"{cell.name}: left out: {len(kept)} candidates, {len(whole)} rounds")
        return None
    candidates = tuple(chosen[name] for name in kept)
    return Times(
        cell=cell,
        candidates=candidates,
        seconds=np.array([candidate_time(list(rounds[name].values())) for name in kept]),
        noise=np.array([_noise(rounds[name]) for name in kept]),
        rounds=tuple(rounds[name] for name in kept),
        bytes=_working_set(candidates[0]),
    )


def _common(rounds: Iterable[Mapping[int, LaunchTime]]) -> frozenset[int]:
    """The rounds that most candidates have; a few may have more, as the baseline has."""
    counts = Counter(frozenset(each) for each in rounds)
    return max(counts, key=lambda numbers: (counts[numbers], len(numbers)), default=frozenset())


def _noise(rounds: Mapping[int, LaunchTime]) -> float:
    """Relative standard deviation of the mean time, from round to round."""
    places = [launch.seconds for launch in rounds.values()]
    return max(0.005, statistics.stdev(places) / statistics.fmean(places) / math.sqrt(len(places)))


def _working_set(candidate: Candidate) -> float:
    problem = candidate.problem
    rows = 2 if problem.family == "stencil" else 2 * _stages(candidate) + 2
    return 8.0 * rows * problem.n / candidate.threads


def _stages(candidate: Candidate) -> int:
    problem = candidate.problem
    return problem.method.stages if problem.family == "ivp" else 0


# --- predicted --------------------------------------------------------------------------------

Predict = Callable[[Machine, Sequence[Times]], list[Predicted]]


@contextmanager
def engine(machine: Machine) -> Iterator[ReuseEngine]:
    """Engine reuse for the programs of all cells."""
    with OsacaAnalyser(machine, assemble=assemble) as analyser:
        made = {name: SkeletonPrograms(config.skeleton(name)) for name in ("pirk", "jacobi")}

        def programs(candidate: Candidate) -> StepProgram:
            return made[candidate.variant.skeleton](candidate)

        yield ReuseEngine(machine, programs, analyser, sweep_code)


def predictor(engine: ReuseEngine) -> Predict:
    """Predictions of all cells at once, with any calibration of the machine."""

    def predict(calibrated: Machine, wanted: Sequence[Times]) -> list[Predicted]:
        everything = [c for times in wanted for c in times.candidates]
        found = engine.on(calibrated).predict_arrays(everything)
        ends = np.cumsum([len(times.candidates) for times in wanted])[:-1]
        pieces = zip(
            np.split(found.seconds, ends),
            np.split(found.low, ends),
            np.split(found.high, ends),
            strict=True,
        )
        return [Predicted(seconds=s, low=low, high=high) for s, low, high in pieces]

    return predict


def left_out(machine: Machine, found: Sequence[Times], predict: Predict) -> list[Predicted]:
    """Every cell by constants that were refined on the cells of all other problems.

    The posterior is that of ``machine refine`` with the model linearised once around the
    calibration; the predictions are those of the full model with the refined constants.
    """
    assert machine.calibration is not None
    known, rows = shiftable_constants(machine), _rows(found)
    start = _seconds(predict(machine, found))

    def logs(shift: Floats) -> Floats:
        changed = replace(machine, calibration=shifted(machine.calibration, known, shift.tolist()))
        return np.log(_seconds(predict(changed, found)))

    base, slopes = np.log(start), np.zeros((len(start), len(known)))
    for k, figure in enumerate(known):
        step = np.zeros(len(known))
        step[k] = figure.sigma
        slopes[:, k] = (logs(step) - base) / figure.sigma
    slopes = np.nan_to_num(slopes)
    subject = np.array([t.cell.subject for t in found for _ in t.candidates])
    made: dict[int, Predicted] = {}
    for name in dict.fromkeys(subject.tolist()):
        inside = (subject != name) & np.isfinite(base)

        def model(shift: Floats, rows_in: npt.NDArray[np.bool_] = inside) -> Floats:
            return base[rows_in] + slopes[rows_in] @ shift

        posterior = fit(
            model, data([r for r, k in zip(rows, inside, strict=True) if k]), prior(known)
        )
        shift = limited_shifts(known, posterior.shift.tolist())
        refined = replace(machine, calibration=shifted(machine.calibration, known, shift))
        everything = predict(refined, found)
        factor = _width(found, everything, name)
        for k, said in enumerate(everything):
            if found[k].cell.subject == name:
                made[k] = Predicted(
                    seconds=said.seconds,
                    low=said.seconds * (said.low / said.seconds) ** factor,
                    high=said.seconds * (said.high / said.seconds) ** factor,
                )
        _tell(name, known, shift)
    return [made[k] for k in range(len(found))]


def _width(found: Sequence[Times], said: Sequence[Predicted], left: str) -> float:
    """The factor of the logarithmic width with which intervals cover 80 % of the other problems."""
    reach = [
        np.abs(np.log(times.seconds / each.seconds)) / np.log(each.high / each.seconds)
        for times, each in zip(found, said, strict=True)
        if times.cell.subject != left
    ]
    return float(np.nanquantile(np.concatenate(reach), 0.8))


def _tell(name: str, known: Sequence[ShiftingConstant], shift: Sequence[float]) -> None:
    """The constants that the others moved most, in deviations of what was measured."""
    moved = sorted(zip(known, shift, strict=True), key=lambda pair: -abs(pair[1] / pair[0].sigma))
    told = [f"{f.name} {f.value:.3g} -> {f.at(x):.3g}" for f, x in moved[:5] if x]
    print(f"without {name}: {', '.join(told)}")


def _seconds(said: Sequence[Predicted]) -> Floats:
    return np.concatenate([each.seconds for each in said])


def _rows(cases: Sequence[Times]) -> list[MeasuredCandidate]:
    return [
        MeasuredCandidate(candidate=candidate, seconds=float(seconds), noise=float(noise))
        for times in cases
        for candidate, seconds, noise in zip(
            times.candidates, times.seconds, times.noise, strict=True
        )
    ]
