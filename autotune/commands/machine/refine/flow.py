"""Refining the constants of this host from a study: ``machine refine``."""

import dataclasses
import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from autotune.commands.machine.refine.document import RefineDocument
from autotune.commands.machine.refine.refine_options import RefinementOptions
from autotune.commands.machine.refine.repredict import RefinementSource, predicting, source
from autotune.commands.rank import host_machine
from autotune.domain.calibration import Calibration
from autotune.domain.machine import Machine
from autotune.errors import Fault, InputError
from autotune.files.store import Store, StudyRecord
from autotune.measuring.host import stored_calibrations
from autotune.models.refinement import (
    LEAST_ROWS,
    MeasuredCandidate,
    Refinement,
    with_refinement,
    without_refinement,
)
from autotune.models.refinement import refine as posterior
from autotune.models.refinement.posterior_fit import Floats, Mask
from autotune.progress import Progress


def refine(options: RefinementOptions, store: str, progress: Progress) -> RefineDocument:
    """The posterior of this host's constants given a study; applied only on request.

    Raises InputError for a study of another machine, one without enough measured candidates, one
    that was applied before, or one whose config can no longer be read.
    """
    host = _host()
    with Store.open(store, create=False) as results:
        name = options.study or results.latest_study()
        if name is None:
            raise InputError(Fault(where=results.shown, found="no study", hint="tune first"))
        record = results.load_study(name)
        second = results.load_study(options.score) if options.score else None
    _check_fresh(host, name)
    progress("read the study", 0, 1, name)
    first = source(record, host, options.config, trusted=options.trust)
    sources = [first]
    if second is not None:
        sources.append(_outside(first, source(second, host, None, trusted=options.trust)))

    def watch(done: int, total: int, what: str) -> None:
        progress("fit the constants", done, total, what)

    with predicting(host, sources, progress) as predict:
        able = np.isfinite(predict(_calibration(host), 1.0))
        rows, others = _predictable(sources, able)
        if len(rows) < LEAST_ROWS:
            raise InputError(
                Fault(
                    where=f"study {name}",
                    found=f"{len(rows)} measured candidates that can be predicted",
                    expected=f"at least {LEAST_ROWS}",
                    hint="measure more of them: autotune tune CONFIG --exhaustive",
                )
            )

        def predict_able(calibration: Calibration, core: float) -> Floats:
            predicted: Floats = predict(calibration, core)[able]
            return predicted

        refinement = posterior(name, host, rows, others, predict_able, watch)
    refused = _refusal(refinement, options)
    place = None
    if options.apply and not refused:
        place = stored_calibrations.save(with_refinement(refinement, _calibration(host), _now()))
    return RefineDocument(
        machine=host.name,
        refinement=refinement,
        rows=len(rows),
        unpredicted=len(first.rows) - len(rows),
        applied=place,
        refused=refused,
        notes=tuple(_notes(record, host)),
    )


def undo() -> tuple[Machine, Path]:
    """Remove all refinements of this host; its machine and the file of its calibration.

    Raises InputError if nothing was refined.
    """
    host = _host()
    if not _calibration(host).refined:
        raise InputError(Fault(where=host.name, found="no study has refined its calibration"))
    calibration = without_refinement(host)
    return dataclasses.replace(host, calibration=calibration), stored_calibrations.save(calibration)


def _host() -> Machine:
    host = host_machine.machine(host_machine.HOST)
    if host.calibration is None:
        raise InputError(
            Fault(
                where=host.name,
                found="this host is not calibrated: there is nothing to refine",
                hint="run: autotune machine calibrate",
            )
        )
    return host


def _calibration(host: Machine) -> Calibration:
    assert host.calibration is not None
    return host.calibration


def _check_fresh(host: Machine, study: str) -> None:
    """InputError if a study was applied before.

    Applied twice, its samples would count twice.
    """
    for change in _calibration(host).refined.values():
        if study in change.study.split(", "):
            raise InputError(
                Fault(
                    where=f"study {study}",
                    found="it has refined this calibration already",
                    expected="a study that has not",
                    hint="to begin again: autotune machine refine --undo",
                )
            )


def _predictable(
    sources: Sequence[RefinementSource], able: Mask
) -> tuple[list[MeasuredCandidate], list[MeasuredCandidate]]:
    """The rows that the engine can predict, first of the fitted study, then of the scored one."""
    first = len(sources[0].rows)
    rows = [row for source in sources for row in source.rows]
    fitted_rows = [
        row for row, predictable in zip(rows[:first], able[:first], strict=True) if predictable
    ]
    return fitted_rows, [
        row for row, predictable in zip(rows[first:], able[first:], strict=True) if predictable
    ]


def _outside(source: RefinementSource, other: RefinementSource) -> RefinementSource:
    """The other study, reduced to rows of problems that the first study does not have."""
    problems = {row.candidate.problem.key for row in source.rows}
    rows = tuple(row for row in other.rows if row.candidate.problem.key not in problems)
    if not rows:
        raise InputError(
            Fault(
                where="--score",
                found="this study has no measured problem outside the one that is fitted",
                expected="kernels or sizes of its own",
            )
        )
    return dataclasses.replace(other, rows=rows)


def _refusal(refinement: Refinement, options: RefinementOptions) -> str:
    if not options.apply or options.force:
        return ""
    if not any(change.informed for change in refinement.changes):
        return "the study says nothing of any constant"
    if refinement.verdict == "worse":
        return (
            f"outside the study it is worse ({'; '.join(refinement.reasons)}); --force applies it"
        )
    if refinement.verdict == "unscored":
        return (
            "it could not be scored outside the study: --score STUDY names one to score on,"
            " --force applies it unscored"
        )
    return ""


def _notes(record: StudyRecord, host: Machine) -> Iterator[str]:
    calibration = _calibration(host)
    was = record.runs[-1].machine.calibration
    if was is not None and was.taken != calibration.taken:
        yield (
            f"the study was measured under the calibration of {was.taken},"
            f" the present one is of {calibration.taken}"
        )
    if calibration.contended:
        yield "other processes disturbed the calibration: its prior is wide"


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
