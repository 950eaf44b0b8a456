"""The documents of ``compare`` and ``report``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autotune.domain.machine import Machine
from autotune.domain.reference import PublishedRow, Reference
from autotune.domain.setup import Saturation, Setup
from autotune.results.comparison.side_comparison import SideComparison
from autotune.results.evaluate.published_comparison import (
    ColumnScore,
    CommunicationGroup,
    PublishedComparison,
    RowPrediction,
    VariantDifference,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRow:
    """One row of a published table, with the prediction made here."""

    variant: str
    candidate: str | None
    """Id."""
    predicted_s: float | None
    predicted_interval_s: tuple[float, float] | None
    published: PublishedRow
    """As printed, in seconds: what the authors predicted and measured."""
    deviation: float | None
    """(predicted - measured) / measured."""
    published_deviation: float
    """The same of the authors' prediction, from the printed times."""
    against_published: float | None
    """(predicted - published) / published."""
    application_s: float | None
    """The part of our predicted time that a node takes."""
    communication_s: float | None
    """The rest: communication between ranks."""
    fitted_curve: str
    """The cost curve that was fitted to this row: it is in no figure over several groups. Empty:
    none was."""
    reason: str
    """Why there is no predicted time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedGroup:
    """The rows of a published table that use the same way of communication."""

    communication: str
    fitted: bool
    """A cost curve was fitted to every row."""
    rows: tuple[ComparedRow, ...]
    predicted: ColumnScore | None
    published: ColumnScore
    rule_loss: float | None
    """Loss of always choosing the variant of the constant rule."""
    differences: tuple[VariantDifference, ...]
    """How much longer a variant takes than that of the constant rule. Seconds per step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """Scores over all groups of rows except those that a cost curve was fitted to."""

    groups: tuple[str, ...]
    predicted: ColumnScore | None
    published: ColumnScore | None
    rule_loss: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineComparison:
    """A published table compared with the predictions of one engine."""

    engine: str
    saturation: Saturation | None
    """The rule of engine kerncraft; null for another."""
    groups: tuple[ComparedGroup, ...]
    headline: Headline


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareReferenceDocument:
    """``autotune compare CONFIG --json`` for a config with a published table."""

    schema: Literal["autotune.compare-reference/1"] = "autotune.compare-reference/1"
    study: str
    """Name of the config."""
    machine: str
    builds: tuple[str, ...]
    problem: str
    reference: Reference
    comparisons: tuple[EngineComparison, ...]
    """One for each engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareSidesDocument:
    """``autotune compare A B --json``: studies, revisions or machines beside one another."""

    schema: Literal["autotune.compare-sides/1"] = "autotune.compare-sides/1"
    comparison: SideComparison


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportDocument:
    """``autotune report --json``: where the page was written."""

    schema: Literal["autotune.report/1"] = "autotune.report/1"
    study: str
    file: Path


def comparison(
    comparisons: Sequence[PublishedComparison], setup: Setup, machine: Machine
) -> CompareReferenceDocument:
    """A published table compared with our predictions, once for each engine."""
    return CompareReferenceDocument(
        study=setup.name,
        machine=machine.name,
        builds=tuple(" ".join((build.compiler, *build.flags)) for build in setup.builds),
        problem=comparisons[0].problem.label,
        reference=comparisons[0].reference,
        comparisons=tuple(_engine(comparison, setup) for comparison in comparisons),
    )


def _engine(comparison: PublishedComparison, setup: Setup) -> EngineComparison:
    return EngineComparison(
        engine=comparison.engine,
        saturation=setup.saturation if comparison.engine == "kerncraft" else None,
        groups=tuple(_group(group) for group in comparison.groups),
        headline=Headline(
            groups=tuple(group.published.communication for group in comparison.headline),
            predicted=comparison.predicted,
            published=comparison.theirs,
            rule_loss=comparison.rule,
        ),
    )


def _group(group: CommunicationGroup) -> ComparedGroup:
    return ComparedGroup(
        communication=group.published.communication,
        fitted=group.fitted,
        rows=tuple(_row(row) for row in group.rows),
        predicted=group.predicted,
        published=group.theirs,
        rule_loss=group.rule,
        differences=group.differences,
    )


def _row(row: RowPrediction) -> ComparedRow:
    return ComparedRow(
        variant=row.published.variant,
        candidate=row.candidate.id if row.candidate else None,
        predicted_s=row.predicted,
        predicted_interval_s=row.prediction.interval if row.prediction else None,
        published=row.published,
        deviation=row.deviation,
        published_deviation=row.published_deviation,
        against_published=row.apart,
        application_s=row.application,
        communication_s=row.communication,
        fitted_curve=row.fitted,
        reason=row.reason,
    )
