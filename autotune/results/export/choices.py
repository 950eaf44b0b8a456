"""From an evaluated study to entries: the winner of each problem for each number of threads.

The winner of a problem is that of ``evaluate``. For every other number of threads and of ranks it
is the winner among the candidates of that number, by the times of ``evaluate``. If the study has a
decision map, which weighs all of its measurements, the cells of the map take precedence.
"""

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from autotune.domain.variant import Value
from autotune.errors import Fault, InputError, unknown_name
from autotune.files.store.records import CandidateRecord, StudyRecord
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
    StudyEvaluation,
    evaluate_among,
)
from autotune.results.export import origins
from autotune.results.export.entries import (
    Choices,
    Domains,
    ExportEntry,
    Identity,
    SectionKey,
    SkippedProblem,
    merged,
    sections,
)
from autotune.results.export.map_entries import of_map
from autotune.results.export.origins import subject

Layout = tuple[int, int]
"""Ranks, and threads of each: what an application is given; nodes, placement and communication are
part of what is chosen."""
_SLOWER = 1.5
"""Times the winner: so slow may a candidate be that is exported beside it."""


def choices(
    result: StudyEvaluation,
    problem: str = "",
    candidates: Sequence[CandidateRecord] = (),
    top: int = 1,
) -> Choices:
    """The candidate to run for each problem, or for the one problem with this label.

    ``candidates``: the candidates of the study's decision maps, which may be missing in the study
    itself. ``top``: how many candidates of each problem and number of threads are exported, the
    winner among them; none that takes more than ``_SLOWER`` times as long. Raises InputError if
    nothing was measured, if no candidate ran, and for an unknown label.
    """
    records = {
        entry_or_record.identity: entry_or_record
        for entry_or_record in (*candidates, *result.study.candidates)
    }
    maps = [pair for item in result.study.maps for pair in of_map(result.study, item, records)]
    pairs = [pair for pair in maps if problem in ("", pair[1].problem)]
    skipped: list[SkippedProblem] = []
    ranked: list[tuple[SectionKey, ExportEntry]] = []
    for item in selected(result, problem, () if not pairs else (problem,)):
        parts, reason = _of_problem(result.study, item)
        pairs += [_entry(result.study, part, best, item.label) for part, best in parts]
        ranked += [
            _entry(result.study, part, row, item.label)
            for part, best in parts
            for row in _ranked(part, best)[:top]
        ]
        skipped += reason
    if not pairs:
        raise InputError(
            Fault(
                where=f"study {result.study.name}",
                found="no candidate ran: "
                + "; ".join(
                    f"{entry_or_record.problem}: {entry_or_record.reason}"
                    for entry_or_record in skipped
                ),
                expected="a candidate with a time",
                hint="autotune report shows what became of each",
            )
        )
    export_sections, notes = sections(
        pairs, _domains(result.study, pairs), ranked if top > 1 else ()
    )
    notes += _notes_of_runs(result, {entry.origin.run for _, entry in pairs})
    return Choices(
        study=result.study.name,
        sections=export_sections,
        skipped=tuple(skipped),
        notes=tuple(notes),
    )


def _notes_of_runs(result: StudyEvaluation, used: Collection[str]) -> list[str]:
    """Notes on the runs behind the choices: warnings, and times imported from elsewhere."""
    notes: dict[str, None] = {}
    for run in result.study.runs:
        if run.id in used and "imported" in run.conditions:
            notes[f"measured elsewhere, as recorded in {run.conditions['imported']}"] = None
        if run.id in used and (warning := result.warning(run)):
            notes[warning] = None
    return list(notes)


def selected(
    result: StudyEvaluation, problem: str = "", also: Sequence[str] = ()
) -> tuple[ProblemEvaluation, ...]:
    """The problems of a measured study, or the one with this label; InputError as ``choices``.

    ``also``: labels that are accepted although the study has no such problem; an empty label among
    them allows a study without any.
    """
    where = f"study {result.study.name}"
    if not any(run.measurements for run in result.study.runs):
        raise InputError(
            Fault(
                where=where,
                found="nothing was measured",
                expected="at least one measured candidate",
                hint="run: autotune tune CONFIG",
            )
        )
    chosen = tuple(
        problem_result
        for problem_result in result.problems
        if problem in ("", problem_result.label)
    )
    if not chosen and problem not in also:
        labels = [problem_result.label for problem_result in result.problems]
        if not labels:
            raise InputError(
                Fault(where=where, found="a decision map only", hint="run: autotune tune CONFIG")
            )
        raise InputError(unknown_name("--problem", "problem", problem, labels))
    return chosen


def _of_problem(
    study: StudyRecord, result: ProblemEvaluation
) -> tuple[list[tuple[ProblemEvaluation, EvaluatedCandidate]], list[SkippedProblem]]:
    """The evaluation of each layout of one problem with its winner, and the layouts without one."""
    groups: dict[Layout, list[CandidateRecord]] = {
        (layout.ranks, layout.threads): [] for layout in result.space.layouts
    }
    for row in result.rows:
        groups.setdefault(_layout(row.candidate), []).append(row.candidate)
    if result.best is None:
        return [], [SkippedProblem(problem=result.label, threads=None, reason=_reason(result.rows))]
    parts, skipped = [], []
    for layout, candidates in sorted(groups.items()):
        part = _part(study, result, layout, candidates)
        best = part.best if part else None
        if part is None or best is None or best.measured is None:
            reason = _reason(part.rows if part else ())
            skipped.append(SkippedProblem(problem=result.label, threads=layout[1], reason=reason))
        else:
            parts.append((part, best))
    return parts, skipped


def _ranked(result: ProblemEvaluation, best: EvaluatedCandidate) -> list[EvaluatedCandidate]:
    """The winner and the compared candidates of its layout that are not much slower, by time."""
    layout, most = _layout(best.candidate), _SLOWER * (best.measured or 0.0)
    rows = [
        row
        for row in result.rows
        if row is not best
        and row.compared
        and row.status == "ok"
        and row.measured is not None
        and row.measured <= most
        and _layout(row.candidate) == layout
    ]
    return [best, *sorted(rows, key=lambda row: row.measured or 0.0)]


def _part(
    study: StudyRecord,
    result: ProblemEvaluation,
    layout: Layout,
    candidates: Sequence[CandidateRecord],
) -> ProblemEvaluation | None:
    """The evaluation of the candidates of one layout; None where none of them was proposed."""
    if result.best is not None and _layout(result.best.candidate) == layout:
        return result
    if not candidates:
        return None
    return evaluate_among(study, result.label, candidates)


def _layout(candidate: CandidateRecord) -> Layout:
    return candidate.layout.ranks, candidate.layout.threads


def _reason(rows: Sequence[EvaluatedCandidate]) -> str:
    """Why none of the candidates can be chosen, in words."""
    tried = [row for row in rows if row.measurement is not None]
    if not tried:
        return "none of its candidates was measured"
    counts: dict[str, int] = {}
    for row in tried:
        counts[row.status or ""] = counts.get(row.status or "", 0) + 1
    counted = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    return f"no candidate has a time that compares ({counted})"


def _entry(
    study: StudyRecord, result: ProblemEvaluation, best: EvaluatedCandidate, label: str
) -> tuple[SectionKey, ExportEntry]:
    record, measurement = best.candidate, best.measurement
    run = next(run for run in study.runs if measurement and run.id == measurement.run)
    key, entry = origins.entry(study, run, record, best.measured)
    entry = dataclasses.replace(
        entry,
        problem=label,
        interval=best.interval and result.problem.goal.interval(best.interval),
        ties=tuple(row.candidate.id for row in ties(result, best)),
        speedup=result.speedup.value if result.speedup and result.best is best else None,
    )
    return key, entry


def ties(result: ProblemEvaluation, best: EvaluatedCandidate) -> list[EvaluatedCandidate]:
    """The other candidates of the same layout that may be the fastest as well, fastest first."""
    layout = _layout(best.candidate)
    return [
        row for row in result.contenders if row is not best and _layout(row.candidate) == layout
    ]


def _domains(
    study: StudyRecord, pairs: Sequence[tuple[SectionKey, ExportEntry]]
) -> dict[Identity, Domains]:
    """The values of the parameters over all candidates of each section, proposed or not."""
    rows: dict[tuple[str, int], list[Domains]] = {}
    for record in {record.problem.key: record for record in study.candidates}.values():
        space = study.space(record.problem.key)
        for ranks in dict.fromkeys(layout.ranks for layout in space.layouts):
            rows.setdefault((subject(record).id, ranks), []).append(space.parameters)
    mapped = [_single(c.parameters) for stored_map in study.maps for c in stored_map.contenders]
    keys = {key.identity: key for key, _ in pairs}
    charted = {key.identity for key, entry in pairs if entry.source == "map"}
    return {
        identity: merged(
            [
                *rows.get((key.subject.id, key.ranks), []),
                *(mapped if identity in charted else []),
            ]
        )
        for identity, key in keys.items()
    }


def _single(parameters: Mapping[str, Value]) -> Domains:
    return {name: (value,) for name, value in parameters.items()}
