"""Documents of ``measure --dissect``: the terms of the model, predicted and measured."""

from typing import TypedDict

from autotune.domain.dissection import Dissection, SweepTerms, Term
from autotune.results.documents.study_documents import MeasureDocument


class TermRow(TypedDict):
    """One term of one sweep; times are cycles per source iteration."""

    term: str
    """T_OL, T_nOL, loads, core, and each level (``L2``) with its loads alone (``L2 loads``)."""
    level: str
    """Where the data of the probe lie."""
    working_set: int
    """Bytes per thread."""
    length: int
    """Components of a call."""
    lines: float
    """Cache lines from beyond L1 per iteration."""
    predicted_cy: float | None
    transfer_cy: float | None
    """Predicted transfers from beyond L1, before overlap."""
    measured_cy: float | None
    """Null where there is no probe; ``reason`` says why."""
    interval_cy: list[float] | None
    deviation: float | None
    """(predicted - measured) / measured."""
    samples: int
    reason: str


class SweepRow(TypedDict):
    """A sweep with its terms."""

    sweep: str
    kernel: str
    calls: int
    share: float | None
    """Of the predicted time step."""
    bottleneck: str
    route: str
    vector: int
    """Bytes."""
    terms: list[TermRow]


class KernelRow(TypedDict):
    """A kernel of the real time step, in seconds per step."""

    kernel: str
    predicted_s: float | None
    measured_s: float | None


class DissectionDocument(TypedDict):
    """What the probes told."""

    schema: str
    candidate: str
    machine: str
    """Identity."""
    threads: int
    clock_hz: float
    """By which seconds became cycles."""
    taken: str
    rounds: int
    sweeps: list[SweepRow]
    kernels: list[KernelRow]
    notes: list[str]


class DissectedDocument(MeasureDocument):
    """``autotune measure --dissect --json``."""

    dissection: DissectionDocument


def with_terms(
    measured: MeasureDocument, found: Dissection | None
) -> MeasureDocument | DissectedDocument:
    """The document of a measurement, with the dissection where there is one."""
    if found is None:
        return measured
    return {**measured, "dissection": dissection(found)}


def dissection(found: Dissection) -> DissectionDocument:
    """The dissection of a candidate."""
    return {
        "schema": "autotune.dissect/1",
        "candidate": found.id,
        "machine": found.machine,
        "threads": found.threads,
        "clock_hz": found.clock,
        "taken": found.taken,
        "rounds": found.rounds,
        "sweeps": [_sweep(sweep) for sweep in found.sweeps],
        "kernels": [
            {"kernel": k.kernel, "predicted_s": k.predicted, "measured_s": k.measured}
            for k in found.kernels
        ],
        "notes": list(found.notes),
    }


def _sweep(sweep: SweepTerms) -> SweepRow:
    return {
        "sweep": sweep.sweep,
        "kernel": sweep.kernel,
        "calls": sweep.calls,
        "share": sweep.share,
        "bottleneck": sweep.bottleneck,
        "route": sweep.route,
        "vector": sweep.vector,
        "terms": [_term(term) for term in sweep.terms],
    }


def _term(term: Term) -> TermRow:
    return {
        "term": term.name,
        "level": term.level,
        "working_set": term.working_set,
        "length": term.length,
        "lines": term.lines,
        "predicted_cy": term.predicted,
        "transfer_cy": term.transfer,
        "measured_cy": term.measured,
        "interval_cy": list(term.interval) if term.interval else None,
        "deviation": term.deviation,
        "samples": term.samples,
        "reason": term.reason,
    }
