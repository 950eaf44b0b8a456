"""The section of a page about one problem: why, the measurements, all rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from autotune.files.store.records import StudyRecord
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate, ProblemEvaluation
from autotune.results.explanation import reasons
from autotune.results.explanation.explained import ExplainedCandidate
from autotune.results.page.frame import (
    Bullets,
    Card,
    Disclosure,
    Listing,
    PageBlock,
    PageCell,
    PageColumn,
    PageRow,
    PageSection,
    PageTable,
    Paragraph,
    Tone,
    table,
)
from autotune.results.report import figure_records, number_words, search_records, words
from autotune.results.report.draw import search_plots, study_plots
from autotune.results.report.figure_records import ShownCandidate
from autotune.results.report.influences import influences
from autotune.results.report.noise_figures import NoiseFigures, noise

_FAILURES = 12
"""Failures whose whole text is told."""
_TEXT = 4000
"""Characters of it: compilers can write a megabyte."""
_STRIPS = 16
"""Candidates whose every sample is drawn; with many problems, fewer of each."""
_LEAST_STRIPS = 6
_FRONT_ROWS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionPlan:
    """What the sections of a page share."""

    study: StudyRecord
    paints: Mapping[str, str]
    """Class of the colour of each loop."""
    rows: int
    """Rows of a table of candidates at most."""
    share: float
    """Length of the figures relative to the usual one."""


def section(result: ProblemEvaluation, plan: SectionPlan, anchor: str) -> PageSection:
    """Everything about one problem below its decision."""
    parts = (
        ("Why", "why", _why(result, plan)),
        ("Measurements", "measured", _measurements(result, plan)),
        ("All candidates", "rows", (*_failures(result, plan, anchor), _all_rows(result, plan))),
    )
    return PageSection(
        title=result.label,
        anchor=anchor,
        lead=f"{result.problem.title}: {result.problem.words}. {result.problem.times}",
        inner=tuple(
            PageSection(title=title, anchor=f"{anchor}-{name}", cards=cards)
            for title, name, cards in parts
            if cards
        ),
    )


def loops(results: Sequence[ProblemEvaluation]) -> list[str]:
    """The loops that the figures of a page show, in the order of the time steps."""
    names = (figure_records.stack(result).names for result in results)
    return list(dict.fromkeys(chain.from_iterable(names)))


# --- why ----------------------------------------------------------------------------------------


def _why(result: ProblemEvaluation, plan: SectionPlan) -> tuple[Card, ...]:
    of = f"of {result.label}"
    cards = []
    stack = figure_records.stack(result)
    if stack.bars:
        figure = study_plots.stack(stack, plan.paints, of)
        cards.append(Card(title="Where the time goes", blocks=(figure,)))
    times = figure_records.loop_times(result)
    if any(t.core or t.rest for t in times):
        picture = study_plots.core_against_levels(times, plan.paints, of)
        cards.append(Card(title="In the core against each level", blocks=(picture,)))
    sentences = _reasons(result)
    if sentences:
        blocks = (Bullets(tuple(sentences)), *_parts_table(result, plan.paints))
        cards.append(Card(title="As predicted, in words", blocks=blocks, wide=True))
    influence = influences(result)
    if influence is not None:
        blocks_of_influence = (Bullets(influence.words), Paragraph(influence.note, quiet=True))
        cards.append(Card(title=influence.title, blocks=blocks_of_influence, wide=True))
    return tuple(cards)


def _reasons(result: ProblemEvaluation) -> list[str]:
    """Why the winner is faster than the baseline, in words, from the stored predictions; nothing
    without a model.
    """
    if all(row.predicted is None for row in result.rows):
        return []
    explained = [
        ExplainedCandidate(name=words.name(row.candidate, result), prediction=row.prediction)
        for row in (result.best, result.baseline)
        if row and row.prediction
    ]
    if len(explained) == 2 and result.best is not result.baseline:
        return reasons.against(*reversed(explained))
    return reasons.alone(explained[0]) if explained and result.best else []


def _parts_table(result: ProblemEvaluation, paints: Mapping[str, str]) -> tuple[PageBlock, ...]:
    """Loops of the winner beside those of the baseline; they add up to the predicted times."""
    rows = {id(row): row for row in (result.best, result.baseline) if row and row.prediction}
    parts = [
        {part.name: part.seconds for part in figure_records.contributions(row.prediction)}
        for row in rows.values()
        if row.prediction
    ]
    if not any(parts) or result.best is None or result.best.prediction is None:
        return ()
    titles = ["loop", *(figure_records.role(row, result) for row in rows.values())]
    names = dict.fromkeys(name for column in parts for name in column)
    body = [(name, [column.get(name) for column in parts]) for name in names]
    body.append(("whole step", [sum(column.values()) for column in parts]))
    lines = [
        PageRow(
            cells=(
                PageCell(text=name, paint=paints.get(name, "")),
                *(PageCell(text=number_words.seconds(v), value=v) for v in values),
            )
        )
        for name, values in body
    ]
    prediction = result.best.prediction
    notes = tuple(text for text in (prediction.reason, *prediction.notes) if text)
    return (
        table("Predicted time of the loops in one step", titles, lines, right=1),
        Disclosure("What the winner's prediction rests on", (Bullets(notes),)),
    )


# --- measurements -------------------------------------------------------------------------------


def _measurements(result: ProblemEvaluation, plan: SectionPlan) -> tuple[Card, ...]:
    of = f"of {result.label}"
    figures = noise(result, plan.study)
    cards = [
        *_samples(result, plan, of),
        *_course(result, plan, of),
        *_model_errors(result, of),
        *_front(result, of),
        *_noise(figures, of),
    ]
    return tuple(cards)


def _samples(result: ProblemEvaluation, plan: SectionPlan, of: str) -> list[Card]:
    record = figure_records.samples(result, max(_LEAST_STRIPS, round(plan.share * _STRIPS)))
    if not record.strips:
        return []
    figure = study_plots.samples(record, words.floor(result), of)
    return [Card(title="Every sample", blocks=(figure,))]


def _course(result: ProblemEvaluation, plan: SectionPlan, of: str) -> list[Card]:
    record = search_records.convergence(result, plan.study)
    if not any(step.measured for step in record.steps):
        return []
    text = words.convergence(result)
    figures = (
        search_plots.course(record, "candidates", f"The best so far. {text}", of),
        search_plots.course(record, "seconds", "The same over time.", of),
    )
    return [Card(title="The search's course", blocks=figures)]


def _model_errors(result: ProblemEvaluation, of: str) -> list[Card]:
    cards = []
    scatter = figure_records.scatter(result)
    if scatter.points:
        text = [f"Losses of the predicted: {words.losses(result)}."]
        if result.ordered_pairs is not None:
            share = number_words.percent(result.ordered_pairs)
            text.append(f"Pairs measured more than 5 % apart in the right order: {share}.")
        if common := words.common_deviation(result):
            text.append(words.sentence(common))
        blocks = (study_plots.scatter(scatter, of), Paragraph(" ".join(text), quiet=True))
        cards.append(Card(title="Predicted against measured", blocks=blocks))
    residuals = search_records.residuals(result)
    if residuals.shares:
        caption = (
            "Geometric mean of measured over predicted time of the candidates that share a value"
            " (so many), with its 90 % interval. Right of 1 the model is too fast."
            f" {words.errors(result)} Parameters that were varied together share the blame."
        )
        figure = search_plots.residuals(residuals, caption, of)
        cards.append(Card(title="Where the model is wrong", blocks=(figure,)))
    return cards


def _front(result: ProblemEvaluation, of: str) -> list[Card]:
    record = search_records.front(result)
    best = [point for point in record.places if point.front]
    if not result.searched:
        return []
    kinds = record.objectives or result.objectives
    names = words.listed(words.objective_names(result))
    figures = [search_plots.front(record, kind, of) for kind in kinds[1:] if len(record.places) > 1]
    rows = [
        PageRow(
            cells=(
                _name_cell(point.shown, point.shown.label),
                *(
                    PageCell(
                        text=words.named_objective(kind, point.values[kind], result),
                        value=point.values[kind],
                    )
                    for kind in kinds
                ),
            ),
            tone=_tone(point.shown),
        )
        for point in best[:_FRONT_ROWS]
    ]
    titles = ["candidate", *(words.objective_name(kind, result) for kind in kinds)]
    listing = table("Candidates of the front", titles, rows, right=1)
    none = Paragraph("No candidate has all of them.")
    note = Paragraph(_front_note(result, len(record.places), len(best), names), quiet=True)
    blocks = (*figures, listing if rows else none, note)
    return [Card(title=f"Pareto front of {names}", blocks=blocks, wide=len(figures) > 1)]


def _front_note(result: ProblemEvaluation, compared: int, best: int, names: str) -> str:
    text = (
        f"No other of the {compared} compared candidates is at least as good as one of these"
        f" {best} in {names} together."
    )
    if "memory" in result.objectives:
        text += " Memory is the peak resident set of a launch, all its ranks together."
    if "energy" in result.objectives:
        text += " Energy is that of the processor packages of the node, whatever runs on them."
    return f"{text} Differences below 1 % in anything but time do not count."


def _noise(record: NoiseFigures, of: str) -> list[Card]:
    if not record.spreads:
        return []
    cards = []
    if record.drifts:
        caption = "The same program, launched again and again: what moves here is the machine."
        figure = search_plots.drift(record, caption, of)
        cards.append(Card(title="Drift", blocks=(figure,)))
    rows = []
    for spread in record.spreads:
        launches = [float(spread.launches), float(spread.undisturbed), float(spread.disturbed)]
        values = [spread.within, spread.between, *launches]
        texts = [number_words.percent(v) for v in values[:2]] + [f"{v:.0f}" for v in launches]
        cells = tuple(PageCell(text=t, value=v) for t, v in zip(texts, values, strict=True))
        name = _name_cell(spread.shown, spread.shown.label)
        rows.append(PageRow(cells=(name, *cells), tone=_tone(spread.shown)))
    titles = ["candidate", "within", "between", "launches", "samples", "disturbed"]
    text = (
        f"{record.undisturbed} samples were undisturbed; in {record.disturbed} other processes"
        " took the cores. Relative standard deviation within a launch and between launches."
    )
    listing = table("Scatter of the samples", titles, rows, right=1)
    blocks = (Paragraph(text, quiet=True), listing)
    return [*cards, Card(title="Noise", blocks=blocks)]


def _name_cell(shown: ShownCandidate, text: str) -> PageCell:
    return PageCell(text=text, tag=shown.role if shown.marked else "")


def _tone(shown: ShownCandidate) -> Tone:
    tones: dict[str, Tone] = {"winner": "winner", "baseline": "baseline"}
    return tones.get(shown.role, "")


# --- all candidates -----------------------------------------------------------------------------


def _all_rows(result: ProblemEvaluation, plan: SectionPlan) -> Card:
    """Every candidate that was proposed: the measured ones first, the rest by prediction."""
    tried = result.evaluated
    rest = [row for row in result.rows if not row.measurement]
    ordered = [*tried, *rest, *result.lost]
    kept = [
        row
        for place, row in enumerate(ordered)
        if place < plan.rows or figure_records.role(row, result) in ("winner", "baseline")
    ]
    predicted = any(row.predicted is not None for row in result.rows)
    columns = _columns(result, predicted)
    left_out = len(ordered) - len(kept)
    more = f"{left_out} more: autotune export {plan.study.name} --format csv. " if left_out else ""
    proposed = sum(row.legal for row in result.rows)
    places = f"# is the predicted place among {words.legal(result)}. " if predicted else ""
    same = ""
    if result.builds == result.layouts == 1 and result.rows:
        candidate = result.rows[0].candidate
        same = f"All are built with {candidate.build.words} and run on {candidate.layout.words}."
    return Card(
        title=f"{words.of_legal(len(tried), result)} tried, {proposed} proposed",
        blocks=(
            PageTable(
                caption=f"Candidates of {result.label}, measured ones first",
                columns=columns,
                rows=tuple(_row(row, result, predicted) for row in kept),
                note=f"{more}{places}{same}",
                filterable=len(kept) > 8,
            ),
        ),
        wide=True,
    )


def _columns(result: ProblemEvaluation, predicted: bool) -> tuple[PageColumn, ...]:
    deviation = PageColumn("deviation", number=True, words="(predicted - measured) / measured")
    return (
        PageColumn("candidate"),
        *([PageColumn("#", number=True, words="place by prediction")] if predicted else []),
        *([PageColumn("predicted", number=True)] if predicted else []),
        PageColumn("measured", number=True),
        PageColumn("90 % interval", number=True),
        *([deviation] if predicted else []),
        PageColumn("status"),
        PageColumn("samples", number=True),
        *(PageColumn(metric.name, number=True) for metric in result.problem.others),
        PageColumn("why tried", long=True),
        *([PageColumn("what bounds it", long=True)] if predicted else []),
    )


def _row(row: EvaluatedCandidate, result: ProblemEvaluation, predicted: bool) -> PageRow:
    goal, others = result.problem.goal, result.problem.others
    shown = figure_records.shown(row, result)
    measured = goal.value(row.measured) if row.measured is not None else None
    span = number_words.span(row.interval, goal)
    width = row.interval[1] - row.interval[0] if row.interval else None
    foretold = row.prediction.reason if row.prediction else "not predicted"
    timed = len(row.measurement.timed) if row.measurement else 0
    build = row.candidate.build.words if result.builds > 1 else ""
    tone: Tone = "good" if row.status == "ok" else "bad" if row.status else ""
    cells = [
        PageCell(text=shown.label, note=build, tag=shown.role if shown.marked else ""),
        *_predicted_cells(row, predicted),
        PageCell(text=number_words.seconds(row.measured, goal), value=measured),
        PageCell(text=span, value=width),
        *([_deviation(row)] if predicted else []),
        PageCell(text=words.status(row) or "not run", note=row.note, tone=tone),
        PageCell(text=str(timed) if row.measurement else "-"),
        *(
            PageCell(
                text=number_words.metric(metric, row.metrics.get(metric.name)),
                value=row.metrics.get(metric.name),
            )
            for metric in others
        ),
        PageCell(text=row.chosen or "-"),
        *([PageCell(text=foretold)] if predicted else []),
    ]
    return PageRow(
        cells=tuple(cells),
        anchor=shown.anchor,
        tone=_tone(shown) or ("" if row.measurement else "idle"),
    )


def _predicted_cells(row: EvaluatedCandidate, predicted: bool) -> list[PageCell]:
    if not predicted:
        return []
    place = PageCell(text=str(row.rank or "-"), value=float(row.rank) if row.rank else None)
    return [place, PageCell(text=number_words.seconds(row.predicted), value=row.predicted)]


def _deviation(row: EvaluatedCandidate) -> PageCell:
    return PageCell(text=number_words.signed(row.deviation), value=row.deviation)


def _failures(result: ProblemEvaluation, plan: SectionPlan, anchor: str) -> list[Card]:
    rows = result.failures
    if not rows:
        return []
    kinds = []
    for group in search_records.failed(result):
        reasons_of_group = "; ".join(
            f"{reason} ({count})" if count > 1 else reason for reason, count in group.reasons
        )
        kinds.append(f"{group.count} {words.STATUS_WORDS[group.status]}: {reasons_of_group}")
    texts = [
        Disclosure(
            f"{words.status(row)}: {row.candidate.id}",
            (Listing(_text(row)),),
            unfolded=len(rows) <= 3,
        )
        for row in rows[:_FAILURES]
    ]
    left_out = len(rows) - len(texts)
    more = f"And {left_out} more: autotune export {plan.study.name} --format csv"
    return [
        Card(
            title="Failures",
            blocks=(
                Bullets(tuple(kinds)),
                *texts,
                *([Paragraph(more, quiet=True)] if left_out else []),
            ),
            wide=True,
            anchor=f"{anchor}-failures",
            tone="bad",
        )
    ]


def _text(row: EvaluatedCandidate) -> str:
    """The text of a failure; if it is long, its middle is left out."""
    text = row.measurement.detail if row.measurement else ""
    if len(text) <= _TEXT:
        return text or "no output"
    half = _TEXT // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters ...\n{text[-half:]}"
