"""A published table compared with our predictions, as text for the terminal."""

import math
from collections.abc import Iterator, Sequence

from autotune.domain.machine import Machine
from autotune.domain.reference import Figure, Share
from autotune.domain.setup import Setup
from autotune.results.evaluate.published_comparison import (
    TOPS,
    ColumnScore,
    CommunicationGroup,
    PublishedComparison,
    RowPrediction,
)
from autotune.results.report import number_words
from autotune.results.report.text_table import columns
from autotune.statistics.estimators import deviation

_HEAD = (
    "variant", "predicted", "theirs", "measured", "deviation", "theirs", "against theirs", "marks",
)  # fmt: skip


def comparisons(comparisons: Sequence[PublishedComparison], setup: Setup, machine: Machine) -> str:
    """A published table compared with our predictions as text, once for each engine."""
    return "\n\n".join(comparison(compared, setup, machine) for compared in comparisons)


def comparison(comparison: PublishedComparison, setup: Setup, machine: Machine) -> str:
    """One comparison as text: rows by group, then scores over groups without a fitted curve."""
    reference = comparison.reference
    lines = [
        f"{reference.title}: predicted here, predicted there, measured there, time per step",
        f"  {reference.source}",
        f"  there: {reference.compiler}; {reference.model}; {reference.layout}",
        f"  here:  {provenance(comparison, setup, machine)}",
    ]
    if machine.name != reference.machine:
        lines.append(f"  caution: measured on {reference.machine}, predicted for {machine.name}")
    blocks = ["\n".join(lines)]
    blocks += [_group(group, reference.rule, reference.rule_source) for group in comparison.groups]
    blocks.append(_overall(comparison))
    blocks.append("\n".join(f"note: {note}" for note in reference.notes))
    return "\n\n".join(block for block in blocks if block)


def provenance(comparison: PublishedComparison, setup: Setup, machine: Machine) -> str:
    """In words: the machine, compiler and model behind our predictions."""
    first = next((r.candidate for g in comparison.groups for r in g.rows if r.candidate), None)
    build = first.build if first else setup.builds[0]
    engine = f"engine {comparison.engine}"
    if comparison.engine == "kerncraft":
        engine += f" (saturation {setup.saturation})"
    return f"{' '.join((build.compiler, *build.flags))}; {engine}; machine {machine.name}"


def _group(group: CommunicationGroup, rule: str, rule_source: str) -> str:
    digits = _digits(group)
    rows = [_HEAD, *(_cells(row, digits) for row in group.rows)]
    lines = [
        f"{group.published.communication} ({group.published.source})",
        columns(rows, right=range(1, len(_HEAD) - 1)),
    ]
    lines += _shares(group)
    lines += _differences(group, rule)
    lines += _scores(group, rule, rule_source)
    lines += [f"  {row.published.variant}: {row.reason}" for row in group.rows if row.reason]
    lines += [f"  {text}" for row in group.rows for text in _errata(row)]
    return "\n".join(lines)


def _digits(group: CommunicationGroup) -> int:
    """The number of decimals of a second that the published table prints."""
    return max(0, round(-math.log10(group.published.resolution)))


def _time(value: float | None, digits: int) -> str:
    return number_words.NONE if value is None else f"{value:.{digits}f} s"


def _cells(row: RowPrediction, digits: int) -> tuple[str, ...]:
    published = row.published
    marks = [f"fitted: fed the {row.fitted} curve"] if row.fitted else []
    marks += ["erratum"] if any(figure.erratum for _, figure in published.figures) else []
    return (
        published.variant,
        _time(row.predicted, digits + 1),
        _printed(published.predicted, digits),
        _printed(published.measured, digits),
        number_words.signed(row.deviation),
        number_words.signed(row.published_deviation),
        number_words.signed(row.apart),
        ", ".join(marks),
    )


def _printed(figure: Figure, digits: int) -> str:
    """A published time as text; ``?`` marks a doubtful time, ``*`` a corrected one."""
    mark = "?" if figure.suspect else "*" if figure.corrected is not None else ""
    return _time(figure.value, digits) + mark


def _shares(group: CommunicationGroup) -> list[str]:
    """Lines that compare application and communication time separately, if the table has both."""
    digits = _digits(group)
    rows = [("part", "predicted", "theirs", "measured", "deviation", "theirs")]
    for row in group.rows:
        named: dict[str, tuple[Share | None, float | None]] = {
            "application": (row.published.application, row.application),
            "communication": (row.published.communication, row.communication),
        }
        for name, (share, ours) in named.items():
            if share is not None:
                measured = share.measured.value
                deviations = None if ours is None else deviation(ours, measured)
                theirs = deviation(share.predicted.value, measured)
                rows.append(
                    (
                        f"{row.published.variant}, {name}",
                        _time(ours, digits + 1),
                        _printed(share.predicted, digits),
                        _printed(share.measured, digits),
                        number_words.signed(deviations),
                        number_words.signed(theirs),
                    )
                )
    return [columns(rows, right=range(1, 6), indent="  ")] if len(rows) > 1 else []


def _differences(group: CommunicationGroup, rule: str) -> list[str]:
    if not group.differences:
        return []
    rows = [(f"less {rule}", "predicted", "theirs", "measured", "against theirs", "")]
    for gap in group.differences:
        apart = None
        if gap.predicted is not None and abs(gap.published) > 2.5 * group.published.resolution:
            apart = deviation(gap.predicted, gap.published)
        rows.append(
            (
                gap.variant,
                milliseconds(gap.predicted),
                milliseconds(gap.published),
                milliseconds(gap.measured),
                number_words.signed(apart),
                "suspect" if gap.suspect else "",
            )
        )
    return [columns(rows, right=range(1, 5), indent="  ")]


def milliseconds(value: float | None) -> str:
    """A difference of times with its sign.

    >>> milliseconds(0.0791)
    '+79.1 ms'
    """
    return number_words.NONE if value is None else f"{1e3 * value:+z.1f} ms"


def _scores(group: CommunicationGroup, rule: str, rule_source: str) -> list[str]:
    if len(group.scored) < 2:
        return ["  one row: nothing is ordered"]
    title = "fitted, in no headline" if group.fitted else f"{len(group.scored)} rows"
    table = score_table(title, group.predicted, group.theirs, group.rule, rule, indent="  ")
    return [table, f"  always {rule}: {rule_source}"]


def score_table(
    title: str,
    ours: ColumnScore | None,
    theirs: ColumnScore | None,
    rule: float | None,
    name: str,
    indent: str = "",
) -> str:
    """A table of scores of three predictors: ours, the authors' and the constant rule.

    The scores are the median deviation, tau-b and the top-k losses.
    """
    losses = [f"top-{k} loss" for k in TOPS]
    head = (title, "median deviation", "tau-b", *losses)
    rows = [head, ("predicted", *_figures(ours)), ("theirs", *_figures(theirs))]
    dashes = [number_words.NONE] * (len(TOPS) - 1)
    rows.append(
        (
            f"always {name}",
            number_words.NONE,
            number_words.NONE,
            number_words.percent(rule),
            *dashes,
        )
    )
    return columns(rows, right=range(1, len(head)), matrix=True, indent=indent)


def _figures(score: ColumnScore | None) -> Sequence[str]:
    if score is None:
        return [number_words.NONE] * (2 + len(TOPS))
    tau = number_words.NONE if score.tau is None else f"{score.tau:.2f}"
    return [
        number_words.percent(score.deviation),
        tau,
        *(number_words.percent(v) for v in score.losses),
    ]


def _overall(comparison: PublishedComparison) -> str:
    excluded = [g.published.communication for g in comparison.groups if g.fitted]
    counted = [g.published.communication for g in comparison.headline]
    if not counted:
        return f"no headline: a cost curve was fitted to {', '.join(excluded)}"
    title = f"over {', '.join(counted)}"
    rule = comparison.reference.rule
    scores = score_table(title, comparison.predicted, comparison.theirs, comparison.rule, rule)
    if not excluded:
        return scores
    return f"{scores}\nwithout {', '.join(excluded)}: a cost curve was fitted to them"


def _errata(row: RowPrediction) -> Iterator[str]:
    for name, figure in row.published.figures:
        if figure.erratum:
            share = "deviation" in name
            was = number_words.signed(figure.printed) if share else f"{figure.printed:g} s"
            now = number_words.signed(figure.value) if share else f"{figure.value:g} s"
            verb = f"stands for {now}" if figure.corrected is not None else "is suspect"
            yield f"erratum: {row.published.variant}, {name}: printed {was} {verb}: {figure.reason}"
