"""Predicted and measured terms of the time step, by kernel and barrier, and their table."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from accuracy_phases import Phases
from accuracy_score import Times
from accuracy_tables import class_of, percent, signed

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.commands.measure.kernel_times import kernel_times
from autotune.domain.dissection import KernelTime
from autotune.domain.machine import Machine
from autotune.files import config
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.results.report.text_table import columns

_WORDS = {
    "rhs": "RHS",
    "rhs_first": "RHS",
    "lc": "LC",
    "approx": "approximation",
    "sweep": "stencil sweep",
    "barrier": "barrier, waiting",
    "wait": "barrier, waiting",
}
"""What the kernels of the skeletons and the phases of a program are called in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A term of the time step of one candidate."""

    name: str
    group: str
    """Regime and threads."""
    predicted: float
    """Seconds per step; 0 where the model has no such term."""
    measured: float
    """Seconds per step: its share of the phases, of the time without instruments."""
    step: float
    """Measured seconds of the whole step."""

    @property
    def missed(self) -> float:
        """The signed error, in parts of the whole step."""
        return (self.predicted - self.measured) / self.step


def terms_of(
    found: Sequence[Times],
    phases: Mapping[tuple[str, str], Phases],
    machine: Machine,
    engine: ReuseEngine,
) -> list[Term]:
    """The terms of all candidates whose phases were measured, predicted by an engine."""
    programs = {
        name: SkeletonPrograms(config.skeleton(name)) for name in {t.cell.skeleton for t in found}
    }
    cases = [
        (times, candidate, float(seconds), phases[times.cell.name, candidate.identity])
        for times in found
        for candidate, seconds in zip(times.candidates, times.seconds, strict=True)
        if (times.cell.name, candidate.identity) in phases
    ]
    predictions = engine.predict([candidate for _, candidate, _, _ in cases])
    made: list[Term] = []
    for (times, candidate, step, taken), said in zip(cases, predictions, strict=True):
        if said.seconds is not None:
            program = programs[times.cell.skeleton](candidate)
            kernels = kernel_times(program, said.parts, taken.seconds, step)
            made += _terms(kernels, class_of(times, machine), step)
    return made


def _terms(kernels: Sequence[KernelTime], group: str, step: float) -> Iterator[Term]:
    names = [_named(kernel.kernel) for kernel in kernels]
    for name in dict.fromkeys(names):
        same = [k for k, other in zip(kernels, names, strict=True) if other == name]
        yield Term(
            name=name,
            group=group,
            predicted=sum(kernel.predicted or 0.0 for kernel in same),
            measured=sum(kernel.measured or 0.0 for kernel in same),
            step=step,
        )


def _named(kernel: str) -> str:
    """The term of a kernel, or of several in one sweep or function."""
    parts = [_WORDS.get(part.strip(), part.strip()) for part in kernel.split("+")]
    distinct = list(dict.fromkeys(parts))
    return distinct[0] if len(distinct) == 1 else f"fused sweep: {' + '.join(distinct)}"


def table(terms: Sequence[Term]) -> str:
    """By regime and threads, then by term, the largest share of the step first.

    ``of the step`` is the mean signed error of a term in parts of the whole step: it says which
    term makes the prediction wrong. Deviation and bias are relative to the term itself.
    """
    rows = [["class", "term", "n", "share", "mdev", "bias", "of the step"]]
    for group in sorted({term.group for term in terms}):
        members = [term for term in terms if term.group == group]
        names = {term.name for term in members}
        for name in sorted(names, key=lambda name: (-_share(members, name), name)):
            rows.append([group, *_row(name, [term for term in members if term.name == name])])
    return columns(rows, right=range(2, len(rows[0])))


def _share(terms: Sequence[Term], name: str) -> float:
    return sum(term.measured / term.step for term in terms if term.name == name)


def _row(name: str, terms: Sequence[Term]) -> list[str]:
    errors = [term.predicted / term.measured - 1 for term in terms if term.measured > 0]
    return [
        name,
        str(len(terms)),
        percent(statistics.fmean(term.measured / term.step for term in terms)),
        percent(statistics.median(map(abs, errors)) if errors else None),
        signed(statistics.fmean(errors)) if errors else "-",
        signed(statistics.fmean(term.missed for term in terms)),
    ]
