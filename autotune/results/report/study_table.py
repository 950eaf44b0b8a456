"""The text of a study for the terminal: predicted, measured, deviation, status, summary."""

from collections.abc import Sequence

from autotune.domain.metric import Metric
from autotune.results.evaluate.common_winner import CommonWinner, common_winner
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
    StudyEvaluation,
)
from autotune.results.report import number_words, words
from autotune.results.report.influences import influences
from autotune.results.report.text_style import Tone
from autotune.results.report.text_table import columns
from autotune.units import rough_percent

_HEAD = (
    "", "candidate", "id", "predicted", "measured", "90 % interval", "deviation", "status",
    "chosen as",
)  # fmt: skip
_FOLD = (8, 2, 3, 6, 5)
"""Columns in the order in which they go below their row on a narrow terminal, after the metrics."""
_MOST = 5
"""Candidates that a table over all problems shows."""
_RIGHT = (0, 3, 4, 5, 6)
_ID = 2
"""The column of identities, which is left out unless it is wanted."""
_OF_PREDICTION = (3, 6)
"""Columns that are left out where nothing was predicted."""
_DROPPED = (
    "  - instead of an interval: launched too few times for one, as a rule because it was clearly"
    " slower"
)


def study(result: StudyEvaluation, *, store: str = "", top: int = 0, ids: bool = False) -> str:
    """A study as text: a table and a summary of each problem, and the place of the samples.

    ``top``: rows of a table at most, apart from the baseline; 0: all. ``ids``: with the identities
    of the candidates.
    """
    if not result.problems:
        return f"study {result.study.name} has no candidates yet"
    file = result.study.file
    blocks = [problem(evaluation, top, file, ids=ids) for evaluation in result.problems]
    common = common_winner(result.study, result.problems)
    if common is not None:
        blocks.append(_common(common, [problem.label for problem in result.problems]))
    where = f" in {store}" if store else ""
    blocks.append(f"study {result.study.name}{where}, {_taken(result)}")
    return "\n\n".join(blocks)


def problem(
    evaluation: ProblemEvaluation, top: int = 0, config: str = "CONFIG", *, ids: bool = False
) -> str:
    """A table of the tried candidates, fastest first, failures last; then a summary.

    ``top``, ``ids``: as in ``study``; ``config``: the file of the study, for commands.
    """
    if not evaluation.evaluated:
        return "\n".join(words.sentences_of(evaluation, config))
    others = evaluation.problem.others
    head_cells = (*_HEAD, *(metric.name for metric in others))
    listed = _listed(evaluation, top)
    rows = [head_cells, *(_cells(row, evaluation, others) for row in listed)]
    goal = evaluation.problem.goal
    what = "time per step" if evaluation.problem.stepped else goal.name
    if not goal.timed:
        what += f" (the {goal.better} the better)"
    tried = len(evaluation.evaluated)
    head = f"{evaluation.label}: {what} of {words.of_legal(tried, evaluation)} candidates"
    right = {*_RIGHT, *range(len(_HEAD), len(head_cells))}
    unpredicted = all(row.predicted is None for row in evaluation.evaluated)
    left_out = {*(_OF_PREDICTION if unpredicted else ()), *(() if ids else (_ID,))}
    kept = [i for i in range(len(head_cells)) if i not in left_out]
    cells = [[row[i] for i in kept] for row in rows]
    table = columns(
        cells,
        right=[place for place, i in enumerate(kept) if i in right],
        fold=[
            kept.index(i)
            for i in (*range(len(head_cells) - 1, len(_HEAD) - 1, -1), *_FOLD)
            if i in kept
        ],
        tones=_tones(listed, evaluation),
    )
    lines = [head, table]
    if above := words.above_faster(evaluation):
        lines.append(f"  {above}")
    if len(listed) < tried:
        slower = f"{tried - len(listed)} more are left out, slower or failed"
        lines.append(f"  {slower}: autotune compare --top 0 has all")
    if any(row.measured is not None and row.interval is None for row in listed):
        lines.append(_DROPPED)
    lines += _failures(evaluation)
    return "\n".join([*lines, *words.sentences_of(evaluation, config), *_influences(evaluation)])


def _listed(evaluation: ProblemEvaluation, top: int) -> list[EvaluatedCandidate]:
    """The candidates of a table: the first ``top`` and the baseline; 0: all."""
    rows = evaluation.evaluated
    if not top or len(rows) <= top:
        return list(rows)
    return [row for place, row in enumerate(rows) if place < top or row is evaluation.baseline]


def _common(common: CommonWinner, labels: Sequence[str]) -> str:
    """The winner over all problems, with its costs over the best of each."""
    rows = [("", "candidate", common.rule, *labels)]
    for candidate in common.candidates[:_MOST]:
        name = " ".join((candidate.variant, candidate.layout, candidate.compiler, *candidate.flags))
        mark = "*" if candidate is common.best else ""
        ratios = (f"{ratio:.3f}" for ratio in candidate.ratios)
        rows.append((mark, name, f"{candidate.score:.3f}", *ratios))
    lines = [
        f"over all {len(labels)} problems: cost over the best of each problem, {common.rule}",
        columns(rows, right=range(2, len(rows[0])), matrix=True),
    ]
    if len(set(common.weights)) > 1:
        shares = ", ".join(f"{100 * weight:.3g} %" for weight in common.weights)
        lines.append(f"  weights: {shares}")
    if common.baseline is not None and common.baseline is not common.best:
        gain = common.baseline.score / common.best.score
        lines.append(f"  Improvement over the baseline: {gain:.2f}x.")
    if common.rivals:
        names = words.listed([c.variant for c in (common.candidates[0], *common.rivals)])
        lines.append(f"  Undecided between {names}.")
    return "\n".join(lines)


def _tones(listed: Sequence[EvaluatedCandidate], evaluation: ProblemEvaluation) -> dict[int, Tone]:
    """The winner and failures, by their rows."""
    tones: dict[int, Tone] = {}
    for number, row in enumerate(listed, 1):
        if row is evaluation.best:
            tones[number] = "winner"
        elif row.status not in (None, "ok", "contended"):
            tones[number] = "failure"
    return tones


def _cells(
    row: EvaluatedCandidate, evaluation: ProblemEvaluation, others: Sequence[Metric]
) -> tuple[str, ...]:
    winner = evaluation.best is not None and row is evaluation.best
    return (
        "*" if winner else "",
        words.built(row.candidate, evaluation),
        row.candidate.identity,
        number_words.seconds(row.predicted),
        number_words.seconds(row.measured, evaluation.problem.goal),
        number_words.span(row.interval, evaluation.problem.goal),
        number_words.signed(row.deviation),
        words.status(row) + (f" ({row.note})" if row.note else ""),
        words.shortly(row.chosen),
        *(number_words.metric(metric, row.metrics.get(metric.name)) for metric in others),
    )


def _influences(evaluation: ProblemEvaluation) -> list[str]:
    """Lines on what makes candidates fast, if a model predicts unseen candidates well enough."""
    influence = influences(evaluation)
    if influence is None:
        return []
    errors = f"{rough_percent(influence.error)} off on candidates it had not seen"
    same = f"{rough_percent(influence.same)} with the same {influence.metric.name} for all"
    return [
        f"  {influence.title} ({errors}, {same}):",
        *(f"    {text}" for text in influence.words),
    ]


def _failures(evaluation: ProblemEvaluation) -> list[str]:
    """One line for each kind of failure: a candidate, how many more, the reason."""
    alike: dict[str, list[str]] = {}
    for row in evaluation.failures:
        reason = words.first_words(row.measurement.detail if row.measurement else "")
        outcome = f"{words.status(row)}: {reason or 'no details'}"
        alike.setdefault(outcome, []).append(words.built(row.candidate, evaluation))
    return [
        f"  {first}{f' and {len(more)} more' if more else ''}: {outcome}"
        for outcome, (first, *more) in alike.items()
    ]


def _taken(result: StudyEvaluation) -> str:
    runs = result.study.runs
    count = sum(len(m.samples) for run in runs for m in run.measurements)
    text = f"{len(runs)} run{'' if len(runs) == 1 else 's'}, {count} samples"
    if runs and (warning := result.warning(runs[-1])):
        text += f"\nwarning: {warning}"
    for name in ("warm_start", "prior"):
        if runs and name in runs[-1].conditions:
            text += f"\n{runs[-1].conditions[name]}"
    if runs and "wall" in runs[-1].timings:
        spent = dict(runs[-1].timings)
        wall = spent.pop("wall")
        spent["own overhead"] = wall - sum(spent.values())
        parts = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in spent.items())
        text += f"\nwall time {wall:.1f} s: {parts}"
    return text
