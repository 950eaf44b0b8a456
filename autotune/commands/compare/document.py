"""The document of a published table beside our predictions: ``compare CONFIG``."""

from collections.abc import Sequence
from typing import TypedDict

from autotune.domain.machine import Machine
from autotune.domain.reference import Figure, Reference, Share
from autotune.domain.setup import Setup
from autotune.results.documents.study_documents import LossRow
from autotune.results.evaluate.published_comparison import (
    TOPS,
    ColumnScore,
    CommunicationGroup,
    PublishedComparison,
    RowPrediction,
)


class FigureRow(TypedDict):
    """A published number: seconds, or a share for a deviation."""

    value: float
    """As to be used: corrected where it is certain what was meant."""
    printed: float
    erratum: str | None
    """Null, ``corrected`` or ``suspect``."""
    reason: str


class ShareRow(TypedDict):
    """A part of a step: application or communication."""

    part: str
    predicted_s: float | None
    published_s: FigureRow
    measured_s: FigureRow


class ComparedRow(TypedDict):
    """One row of the table."""

    variant: str
    candidate: str | None
    predicted_s: float | None
    predicted_interval_s: list[float] | None
    published_s: FigureRow
    """Predicted by the authors."""
    measured_s: FigureRow
    """By the authors."""
    deviation: float | None
    """(predicted - measured) / measured."""
    published_deviation: float
    """The same of the authors' prediction, from the printed times."""
    printed_deviation: FigureRow | None
    against_published: float | None
    """(predicted - published) / published."""
    communication_s: float | None
    """What communication between ranks is of our predicted time."""
    shares: list[ShareRow]
    """Where the source tells application and communication apart."""
    fitted: str | None
    """The cost curve that was fitted to this row: it is in no figure over several groups."""
    reason: str
    """Why there is no predicted time."""


class ScoreRow(TypedDict):
    """How well one column of predictions orders and hits the measured times."""

    deviation: float | None
    """Median of abs((predicted - measured) / measured)."""
    rank_correlation: float | None
    """Kendall's tau-b."""
    losses: list[LossRow]


class DifferenceToRuleRow(TypedDict):
    """How much longer a variant takes than that of the constant rule. Seconds per step."""

    variant: str
    predicted_s: float | None
    published_s: float
    measured_s: float
    suspect: bool


class ComparedGroupRow(TypedDict):
    """The rows of one communication."""

    communication: str
    source: str
    resolution_s: float
    """Unit of the last printed digit."""
    fitted: bool
    """A cost curve was fitted to all of it: it is in no headline."""
    rows: list[ComparedRow]
    predicted: ScoreRow | None
    published: ScoreRow
    rule_loss: float | None
    """Loss of always choosing the variant of the constant rule."""
    differences: list[DifferenceToRuleRow]


class ReferenceRow(TypedDict):
    """Where the table comes from, and how it came about."""

    name: str
    title: str
    source: str
    machine: str
    compiler: str
    model: str
    nodes: int
    ranks_per_node: int
    threads: int
    rule: str
    """The variant of the constant rule."""
    rule_source: str
    notes: list[str]


class HeadlineRow(TypedDict):
    """Over the groups that no cost curve was fitted to."""

    groups: list[str]
    predicted: ScoreRow | None
    published: ScoreRow | None
    rule_loss: float | None


class ComparisonRow(TypedDict):
    """The table beside the predictions of one engine."""

    engine: str
    saturation: str | None
    """The rule of engine kerncraft; null for another."""
    groups: list[ComparedGroupRow]
    headline: HeadlineRow


class CompareReferenceDocument(TypedDict):
    """``autotune compare CONFIG --json`` for a config with a published table."""

    schema: str
    study: str
    """Name of the config."""
    machine: str
    builds: list[str]
    problem: str
    reference: ReferenceRow
    comparisons: list[ComparisonRow]
    """One for each engine."""


def comparison(
    found: Sequence[PublishedComparison], setup: Setup, machine: Machine
) -> CompareReferenceDocument:
    """A published table beside our predictions, once for each engine."""
    return {
        "schema": "autotune.compare-reference/1",
        "study": setup.name,
        "machine": machine.name,
        "builds": [" ".join((build.compiler, *build.flags)) for build in setup.builds],
        "problem": found[0].problem.label,
        "reference": _reference(found[0].reference),
        "comparisons": [_comparison(each, setup) for each in found],
    }


def _comparison(found: PublishedComparison, setup: Setup) -> ComparisonRow:
    return {
        "engine": found.engine,
        "saturation": setup.saturation if found.engine == "kerncraft" else None,
        "groups": [_group(group) for group in found.groups],
        "headline": {
            "groups": [group.published.communication for group in found.headline],
            "predicted": _score(found.predicted) if found.predicted else None,
            "published": _score(found.theirs) if found.theirs else None,
            "rule_loss": found.rule,
        },
    }


def _reference(found: Reference) -> ReferenceRow:
    return {
        "name": found.name,
        "title": found.title,
        "source": found.source,
        "machine": found.machine,
        "compiler": found.compiler,
        "model": found.model,
        "nodes": found.nodes,
        "ranks_per_node": found.ranks,
        "threads": found.threads,
        "rule": found.rule,
        "rule_source": found.rule_source,
        "notes": list(found.notes),
    }


def _group(group: CommunicationGroup) -> ComparedGroupRow:
    return {
        "communication": group.published.communication,
        "source": group.published.source,
        "resolution_s": group.published.resolution,
        "fitted": group.fitted,
        "rows": [_row(row) for row in group.rows],
        "predicted": _score(group.predicted) if group.predicted else None,
        "published": _score(group.theirs),
        "rule_loss": group.rule,
        "differences": [
            {
                "variant": gap.variant,
                "predicted_s": gap.predicted,
                "published_s": gap.published,
                "measured_s": gap.measured,
                "suspect": gap.suspect,
            }
            for gap in group.differences
        ],
    }


def _row(row: RowPrediction) -> ComparedRow:
    published, prediction = row.published, row.prediction
    interval = prediction.interval if prediction else None
    shares = {
        "application": (published.application, row.application),
        "communication": (published.communication, row.communication),
    }
    return {
        "variant": published.variant,
        "candidate": row.candidate.id if row.candidate else None,
        "predicted_s": row.predicted,
        "predicted_interval_s": list(interval) if interval else None,
        "published_s": _figure(published.predicted),
        "measured_s": _figure(published.measured),
        "deviation": row.deviation,
        "published_deviation": row.published_deviation,
        "printed_deviation": _figure(published.deviation) if published.deviation else None,
        "against_published": row.apart,
        "communication_s": row.communication,
        "shares": [_share(name, share, ours) for name, (share, ours) in shares.items() if share],
        "fitted": row.fitted or None,
        "reason": row.reason,
    }


def _share(name: str, share: Share, ours: float | None) -> ShareRow:
    return {
        "part": name,
        "predicted_s": ours,
        "published_s": _figure(share.predicted),
        "measured_s": _figure(share.measured),
    }


def _figure(figure: Figure) -> FigureRow:
    corrected = "corrected" if figure.corrected is not None else None
    return {
        "value": figure.value,
        "printed": figure.printed,
        "erratum": "suspect" if figure.suspect else corrected,
        "reason": figure.reason,
    }


def _score(score: ColumnScore) -> ScoreRow:
    return {
        "deviation": score.deviation,
        "rank_correlation": score.tau,
        "losses": [{"k": k, "loss": loss} for k, loss in zip(TOPS, score.losses, strict=True)],
    }
