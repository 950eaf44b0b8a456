"""A published table row by row: predicted here, predicted by its authors, measured by them.

The measured column is the truth. A row that a cost curve of the machine was fitted to is shown, but
counts in no score over several groups: a curve must not be scored on the data it was fitted to.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from autotune.domain.machine import Machine
from autotune.domain.network import Network
from autotune.domain.problem import AnyProblem
from autotune.domain.ranking import Ranking
from autotune.domain.reference import PublishedGroup, PublishedRow, Reference
from autotune.domain.results import Prediction
from autotune.domain.setup import Setup
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.statistics import estimators, rank_correlation

TOPS = (1, 3)
"""The k of the losses of the predicted top k: of six variants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPrediction:
    """One published row and the prediction made here. Seconds per time step."""

    published: PublishedRow
    candidate: Candidate | None
    prediction: Prediction | None
    reason: str = ""
    """Why there is no predicted time."""
    fitted: str = ""
    """The cost curve that was fitted to this row, if any."""

    @property
    def predicted(self) -> float | None:
        """Seconds per time step as predicted here; None without a prediction."""
        return self.prediction.seconds if self.prediction else None

    @property
    def communication(self) -> float | None:
        """The part of the predicted time that is communication between ranks."""
        if self.prediction is None or self.prediction.seconds is None:
            return None
        parts = (p.seconds for p in self.prediction.parts if p.kind == "communication")
        return sum(parts, 0.0)

    @property
    def application(self) -> float | None:
        """The predicted time of a node: all of it but the communication between ranks."""
        if self.predicted is None or self.communication is None:
            return None
        return self.predicted - self.communication

    @property
    def deviation(self) -> float | None:
        """Relative deviation of the time predicted here from the published measurement."""
        return _deviation(self.predicted, self.published.measured.value)

    @property
    def published_deviation(self) -> float:
        """Relative deviation of the authors' prediction from their measurement, as printed."""
        return estimators.deviation(self.published.predicted.value, self.published.measured.value)

    @property
    def apart(self) -> float | None:
        """Relative deviation of the time predicted here from the authors' prediction."""
        return _deviation(self.predicted, self.published.predicted.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnScore:
    """Scores of one column of predictions: how well it orders and hits the measured times."""

    deviation: float | None
    """Median of abs((predicted - measured) / measured)."""
    tau: float | None
    """Kendall's tau-b; the mean over groups where there are several."""
    losses: tuple[float | None, ...]
    """Of the best of the predicted top k, for each k of ``TOPS``; the mean over groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantDifference:
    """How much longer a variant takes than the variant that the constant rule chooses."""

    variant: str
    predicted: float | None
    published: float
    measured: float
    suspect: bool
    """One of the published predictions is doubted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunicationGroup:
    """The rows with one way of communication, and scores over rows without a fitted curve.

    If a curve was fitted to every row, the scores are over all rows and ``fitted`` is true.
    """

    published: PublishedGroup
    rows: tuple[RowPrediction, ...]
    fitted: bool
    predicted: ColumnScore | None
    """None where no row has a predicted time."""
    theirs: ColumnScore
    """Of the published predictions, over the same rows."""
    rule: float | None
    """Loss of always choosing the variant of the constant rule."""
    differences: tuple[VariantDifference, ...]

    @property
    def scored(self) -> tuple[RowPrediction, ...]:
        """The rows that the scores are over."""
        return _scored(self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedComparison:
    """A published table compared with predictions made here."""

    reference: Reference
    engine: str
    """Who predicted."""
    problem: AnyProblem
    groups: tuple[CommunicationGroup, ...]
    predicted: ColumnScore | None
    """Over the groups that no curve was fitted to; None where there is none."""
    theirs: ColumnScore | None
    rule: float | None

    @property
    def headline(self) -> tuple[CommunicationGroup, ...]:
        """The groups of rows that no cost curve was fitted to."""
        return tuple(group for group in self.groups if not group.fitted)


def require_reference(setup: Setup) -> Reference:
    """The published table of a setup; InputError for a setup without one."""
    if setup.reference is None:
        raise InputError(
            Fault(
                where=setup.source,
                found="the key 'reference' is missing: there is nothing to compare with",
                expected="the name of a published table",
                hint="what was measured here is compared by the name of its study",
            )
        )
    return setup.reference


def compare(
    setup: Setup, machine: Machine, rankings: Sequence[Ranking]
) -> list[PublishedComparison]:
    """The published table of a study compared with its predictions, once for each engine.

    Raises InputError for a study without such a table, and if a row stands for several candidates.
    """
    published = require_reference(setup)
    about = [ranking for ranking in rankings if published.about(ranking.problem)]
    return [_compare(setup, published, machine, ranking) for ranking in about]


def _compare(
    setup: Setup, reference: Reference, machine: Machine, ranking: Ranking
) -> PublishedComparison:
    fed = _fitted_curves(machine.network)
    groups = tuple(_group(setup, reference, group, ranking, fed) for group in reference.groups)
    counted = [group for group in groups if not group.fitted]
    rules = [group.rule for group in counted if group.rule is not None]
    return PublishedComparison(
        reference=reference,
        engine=ranking.engine,
        problem=ranking.problem,
        groups=groups,
        predicted=overall(
            [(g.predicted, [r.deviation for r in g.scored]) for g in counted if g.predicted]
        ),
        theirs=overall([(g.theirs, [r.published_deviation for r in g.scored]) for g in counted]),
        rule=statistics.fmean(rules) if rules else None,
    )


def overall(
    parts: Sequence[tuple[ColumnScore | None, Sequence[float | None]]],
) -> ColumnScore | None:
    """One score over several groups: means of tau and losses, the median deviation of all rows."""
    scores = [score for score, _ in parts if score is not None]
    if not scores:
        return None
    deviations = [abs(value) for _, values in parts for value in values if value is not None]
    return ColumnScore(
        deviation=statistics.median(deviations) if deviations else None,
        tau=_mean([score.tau for score in scores]),
        losses=tuple(_mean([s.losses[i] for s in scores]) for i in range(len(TOPS))),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return statistics.fmean(defined) if defined else None


# --- one group --------------------------------------------------------------------------------


def _group(
    setup: Setup,
    reference: Reference,
    group: PublishedGroup,
    ranking: Ranking,
    fed: dict[str, str],
) -> CommunicationGroup:
    rows = tuple(_row(setup, reference, group, row, ranking, fed) for row in group.rows)
    scored = _scored(rows)
    measured = [row.published.measured.value for row in scored]
    ours = [row.predicted for row in scored if row.predicted is not None]
    rule = next((r for r in scored if r.published.variant == reference.rule), None)
    several = rule is not None and len(scored) > 1
    return CommunicationGroup(
        published=group,
        rows=rows,
        fitted=all(row.fitted for row in rows),
        predicted=_score(ours, measured) if len(ours) == len(scored) else None,
        theirs=_score([row.published.predicted.value for row in scored], measured),
        rule=estimators.loss(rule.published.measured.value, min(measured))
        if several and rule
        else None,
        differences=_differences(rows, reference.rule),
    )


def _scored(rows: Sequence[RowPrediction]) -> tuple[RowPrediction, ...]:
    """The rows to score: predicted rows without a fitted curve, else all predicted, else all."""
    predicted = tuple(row for row in rows if row.predicted is not None) or tuple(rows)
    return tuple(row for row in predicted if not row.fitted) or predicted


def _row(
    setup: Setup,
    reference: Reference,
    group: PublishedGroup,
    row: PublishedRow,
    ranking: Ranking,
    fed: dict[str, str],
) -> RowPrediction:
    matching = [
        entry for entry in ranking.entries if _stands_for(reference, group, row, entry.candidate)
    ]
    if len(matching) > 1:
        names = ", ".join(entry.candidate.id for entry in matching[:3])
        raise InputError(
            Fault(
                where=setup.place("reference"),
                found=f"{len(matching)} candidates stand for the row {row.variant} of"
                f" {group.source}: {names}",
                expected="one: one build, and a space that varies nothing but"
                f" {reference.parameter}",
            )
        )
    keys = (
        reference.name,
        reference.key(group.communication),
        reference.key(group.communication, row.variant),
    )
    entry = matching[0] if matching else None
    missing = entry is None or entry.prediction.seconds is None
    return RowPrediction(
        published=row,
        candidate=entry.candidate if entry else None,
        prediction=entry.prediction if entry else None,
        reason=(entry.prediction.reason if entry else "not a legal candidate") if missing else "",
        fitted=next((fed[key] for key in keys if key in fed), ""),
    )


def _stands_for(
    reference: Reference, group: PublishedGroup, row: PublishedRow, candidate: Candidate
) -> bool:
    layout = (reference.nodes, reference.nodes * reference.ranks, reference.threads)
    return (
        candidate.variant.parameters.get(reference.parameter) == row.variant
        and candidate.communication == group.communication
        and (candidate.nodes, candidate.ranks, candidate.threads) == layout
    )


def _fitted_curves(network: Network | None) -> dict[str, str]:
    """For a published row or group by its name, the cost curve that was fitted to it."""
    curves = network.curves if network else ()
    return {key: curve.operation for curve in curves for key in curve.fitted_to}


def _score(predicted: Sequence[float], measured: Sequence[float]) -> ColumnScore:
    """Scores of predicted times against measured times of the same rows.

    Equal predictions count as wrongly ordered: the slower one is taken as the choice.
    """
    pairs = sorted(zip(predicted, measured, strict=True), key=lambda pair: -pair[1])
    a, b = [p for p, _ in pairs], [m for _, m in pairs]
    alone = len(pairs) < 2
    return ColumnScore(
        deviation=statistics.median(abs(estimators.deviation(p, m)) for p, m in pairs),
        tau=rank_correlation.kendall(a, b),
        losses=tuple(None if alone else rank_correlation.top_loss(a, b, k) for k in TOPS),
    )


def _differences(rows: Sequence[RowPrediction], rule: str) -> tuple[VariantDifference, ...]:
    base = next((row for row in rows if row.published.variant == rule), None)
    if base is None:
        return ()
    return tuple(
        VariantDifference(
            variant=row.published.variant,
            predicted=None
            if row.predicted is None or base.predicted is None
            else row.predicted - base.predicted,
            published=row.published.predicted.value - base.published.predicted.value,
            measured=row.published.measured.value - base.published.measured.value,
            suspect=row.published.predicted.suspect or base.published.predicted.suspect,
        )
        for row in rows
        if row is not base
    )


def _deviation(predicted: float | None, measured: float) -> float | None:
    return None if predicted is None else estimators.deviation(predicted, measured)
