"""From a decision map to entries: the candidate of each cell, and what choosing it may cost."""

import dataclasses
from collections.abc import Mapping

from autotune.domain.decision_map import DecisionMap
from autotune.files.store.records import CandidateRecord, RunRecord, StudyRecord
from autotune.results.export import origins
from autotune.results.export.entries import ExportEntry, SectionKey


def of_map(
    study: StudyRecord, chart: DecisionMap, records: Mapping[str, CandidateRecord]
) -> list[tuple[SectionKey, ExportEntry]]:
    """An entry for each cell: one of the few contenders to which the map reduces its winners.

    ``records``: candidates by identity. A cell whose candidate is not among them has no entry;
    neither has a study without a run.
    """
    entries = []
    for cell in chart.entries():
        record = records.get(cell.candidate)
        if record is None or not study.runs:
            continue
        run = _run_of(study, cell.candidate)
        key, entry = origins.entry(study, run, record, cell.seconds)
        entry = dataclasses.replace(
            entry,
            size=cell.n,
            layout=dataclasses.replace(entry.layout, threads=cell.threads),
            problem=cell.problem,
            loss_bound=cell.bound,
            source="map",
        )
        entries.append((key, entry))
    return entries


def _run_of(study: StudyRecord, identity: str) -> RunRecord:
    """The last run that measured a candidate; without one, the last run of the study."""
    tried = [run for run in study.runs if run.measurement(identity) is not None]
    return (tried or list(study.runs))[-1]
