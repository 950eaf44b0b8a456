"""The measured candidates of a stored study, predicted again with other constants."""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from autotune.codegen.c.emit import SweepCode, sweep_code
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.commands.rank.named_programs import require_known
from autotune.commands.rank.study_setup import setup_of_study
from autotune.domain.calibration import Calibration
from autotune.domain.machine import Machine
from autotune.domain.setup import Setup
from autotune.domain.variant import Build, Candidate
from autotune.errors import Fault, InputError
from autotune.files.store import StudyRecord
from autotune.measuring.host import stored_calibrations
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.incore.base import InCoreAnalyser, InCoreResult
from autotune.models.refinement import MeasuredCandidate, Predict
from autotune.models.refinement.posterior_fit import Floats
from autotune.progress import Progress
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate, StudyEvaluation, evaluate
from autotune.statistics import launch_times
from autotune.units import Cycles
from autotune.workloads.generated.engines import loop_analyser
from autotune.workloads.shipped import workload_of

_LEAST_NOISE = 0.005
"""Relative; two samples that happen to agree do not make a time exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinementSource:
    """The measured candidates of a study, and the setup that they came from."""

    setup: Setup
    rows: tuple[MeasuredCandidate, ...]
    programs: SkeletonPrograms
    """Of the setup, with what was made of it."""


def source(
    record: StudyRecord, host: Machine, place: Path | None, *, trusted: bool = True
) -> RefinementSource:
    """The measured candidates of a study of this host, without those of several ranks.

    ``place``: its config file, needed if the text in the store is not enough. ``trusted``: whether
    its compilers and flags may be any. Raises InputError for a study of another machine and for a
    study without a time.
    """
    where = f"study {record.name}"
    if not any(run.measurements for run in record.runs):
        raise InputError(
            Fault(where=where, found="nothing was measured", expected="a study that tune made")
        )
    last, identity = record.runs[-1], stored_calibrations.identity(host)
    if last.machine_identity != identity:
        raise InputError(
            Fault(
                where=where,
                found=f"measured on another machine, {last.machine_identity}"
                f" ({last.machine.title or last.machine.name})",
                expected=f"this host, {identity}",
                hint="run machine refine on the machine of the study",
            )
        )
    setup = setup_of_study(record, place)
    if not trusted:
        setup = require_known(setup)
    programs = SkeletonPrograms(setup.skeleton)
    rows = _measured(evaluate(record), workload_of(setup).candidates(host.cores).legal)
    if not rows:
        raise InputError(
            Fault(
                where=where,
                found="no candidate of its config, as it reads today, has a time",
                expected="candidates of one rank with samples",
                hint="its kernels, space or config have changed: tune again",
            )
        )
    return RefinementSource(setup=setup, rows=rows, programs=programs)


def _measured(
    result: StudyEvaluation, candidates: Sequence[Candidate]
) -> tuple[MeasuredCandidate, ...]:
    """The measured candidates of an evaluation, without candidates that no longer exist.

    Only rows of the run that the statistics are about are used.
    """
    by_identity = {c.identity: c for c in candidates if c.ranks == 1}
    return tuple(
        MeasuredCandidate(
            candidate=by_identity[row.candidate.identity], seconds=row.measured, noise=_noise(row)
        )
        for problem in result.problems
        for row in problem.rows
        if row.candidate.identity in by_identity and row.compared and row.measured is not None
    )


def _noise(row: EvaluatedCandidate) -> float:
    """Relative standard error of a candidate's time, from the scatter of its launches.

    That is the deviation of the times of the launches over the root of their number.
    """
    launches = launch_times.by_launch(row.measurement.samples) if row.measurement else {}
    if len(launches) < 2:
        return 4 * _LEAST_NOISE
    logs = [math.log(launch.seconds) for launch in launches.values()]
    return max(_LEAST_NOISE, float(np.std(logs, ddof=1)) / math.sqrt(len(logs)))


# --- predicting -----------------------------------------------------------------------------


@contextmanager
def predicting(
    host: Machine, sources: Sequence[RefinementSource], progress: Progress
) -> Iterator[Predict]:
    """A function from a calibration to the predicted seconds of all rows by engine ``reuse``.

    nan where the engine cannot predict. Loops are analysed only once, because the analysis does not
    depend on the constants.
    """
    with ExitStack() as stack:
        engines = [stack.enter_context(_engine(host, source, progress)) for source in sources]
        yield lambda calibration, core: np.concatenate(
            [engine(calibration, core) for engine in engines]
        )


@contextmanager
def _engine(host: Machine, source: RefinementSource, progress: Progress) -> Iterator[Predict]:
    candidates = [row.candidate for row in source.rows]

    with loop_analyser(source.setup, host, progress) as analyser:
        kept = _CachedAnalyser(analyser)
        engines: dict[float, ReuseEngine] = {}

        def predict(calibration: Calibration, core: float) -> Floats:
            kept.factor = core
            if core not in engines:
                engines[core] = ReuseEngine(host, source.programs, kept, sweep_code)
            machine = dataclasses.replace(host, calibration=calibration)
            return engines[core].on(machine).predict_arrays(candidates).seconds

        yield predict


@dataclass(slots=True)
class _CachedAnalyser:
    """An in-core analyser that caches its results and scales their cycles by a factor."""

    analyser: InCoreAnalyser
    results: dict[tuple[Build, str], InCoreResult] = field(default_factory=dict)
    factor: float = 1.0

    def analyse(self, codes: Sequence[SweepCode], build: Build) -> list[InCoreResult]:
        new = {code.text: code for code in codes if (build, code.text) not in self.results}
        if new:
            analysed = self.analyser.analyse(list(new.values()), build)
            for text, result in zip(new, analysed, strict=True):
                self.results[build, text] = result
        return [_scaled(self.results[build, code.text], self.factor) for code in codes]


def _scaled(result: InCoreResult, factor: float) -> InCoreResult:
    if factor == 1.0:
        return result

    def times(cycles: float) -> Cycles:
        return Cycles(cycles * factor)

    return dataclasses.replace(
        result,
        T_OL=times(result.T_OL),
        T_nOL=times(result.T_nOL),
        chain=times(result.chain),
        crowded=None if result.crowded is None else times(result.crowded),
        remainder=times(result.remainder),
        ladder=tuple(
            dataclasses.replace(rung, T_OL=times(rung.T_OL), T_nOL=times(rung.T_nOL))
            for rung in result.ladder
        ),
        head=None
        if result.head is None
        else dataclasses.replace(
            result.head, T_OL=times(result.head.T_OL), T_nOL=times(result.head.T_nOL)
        ),
    )
