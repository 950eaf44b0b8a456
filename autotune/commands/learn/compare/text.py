"""What ``autotune learn compare`` and ``autotune evaluate`` print: curves, measures, formulas."""

import math
from collections.abc import Callable, Collection
from functools import partial
from typing import Literal

from autotune.domain.tables.parameter import Value
from autotune.learning.comparison.learning_curves import CurveTable, Kind, ScoreSpread
from autotune.learning.comparison.model_comparison import ANALYTICAL, Match, ModelComparison
from autotune.learning.comparison.model_evaluation import ModelEvaluation
from autotune.learning.comparison.payoff import Payoff, best_analytical, earliest, payoff
from autotune.results.report.text_table import columns
from autotune.units import counted

Error = Literal["error_rate", "mdape"]
FLOOR = "measured again"
"""What half of the rounds says of the other half."""
_NONE = "-"
_TERMS = 6
_FORMULA = 300
_FEW = 10
"""Rows to score on below which a comparison says little."""


def comparison(comparison: ModelComparison) -> str:
    """A comparison as text: curves, semantic and syntactic measures, learned models, notes."""
    table = comparison.table
    unit = f" in {table.unit}" if table.unit else ""
    head = f"{table.name}: {table.quantity}{unit} of {len(table)} rows"
    blocks = [head, curve(comparison.curve), *_semantic(comparison)]
    blocks += [*_syntactic(comparison), *_learned(comparison)]
    notes = [*table.treated, *comparison.notes]
    return "\n\n".join(
        [*blocks, *(["\n".join(f"note: {note}" for note in notes)] if notes else [])]
    )


def evaluation(evaluation: ModelEvaluation) -> str:
    """The curves over the candidates of a study as text, and where learning starts to pay."""
    study = evaluation.study
    problems = ", ".join(study.problems)
    several = len(study.problems) > 1
    within = f", best candidates within each of {problems}" if several else ""
    head = (
        f"study {study.name}: {study.rows} measured candidates, scored on those measured at random"
        f" ({study.random}){within}"
    )
    blocks = [head, curve(evaluation.curve)]
    if evaluation.notes:
        blocks.append("\n".join(f"note: {note}" for note in evaluation.notes))
    return "\n\n".join(blocks)


# --- curves ---------------------------------------------------------------------------------


def curve(curves: CurveTable) -> str:
    """Models by training size as text: errors, losses, details of the largest size, advice."""
    split_plan = curves.split_plan
    apart = f", each {split_plan.leave_out} left out in turn" if split_plan.leave_out else ""
    repeats = f"{split_plan.repeats} split{'' if split_plan.repeats == 1 else 's'}"
    rows = {score.rows for score in curves.floor} | {
        t.score.rows for t in curves.trials if t.score is not None
    }
    how = (
        f"training rows {split_plan.drawing}, {repeats}{apart}, seed {split_plan.seed}; scored on"
        f" {_test_rows(rows)}"
    )
    blocks = [
        f"interrupted after {len(curves.trials)} of {curves.planned} fits"
    ] * curves.interrupted
    blocks.append(how)
    blocks += _tables(curves)
    blocks += [_details(curves), *_by_group(curves), *_paying(curves)]
    for (model, reason), sizes in curves.failures().items():
        blocks.append(f"{model} was not fitted to {', '.join(map(str, sizes))} rows: {reason}")
    blocks.append("\n".join(advice(curves)))
    return "\n\n".join(blocks)


def _test_rows(counts: Collection[int]) -> str:
    """How many rows the splits score on, in words.

    >>> _test_rows({1}), _test_rows({4, 6})
    ('1 row that was not learned from', '4 to 6 rows that were not learned from')
    """
    least, most = min(counts, default=0), max(counts, default=0)
    number = counted(most, "row") if least == most else f"{least} to {most} rows"
    return f"{number} that {'was' if most == 1 else 'were'} not learned from"


def _tables(curves: CurveTable) -> list[str]:
    blocks = []
    errors: tuple[tuple[Error, str], ...] = (
        ("error_rate", "error rate (MAPE)"),
        ("mdape", "median APE"),
    )
    for measure, title in errors:
        value = partial(_point, curves, measure)
        blocks.append(_by_size(title, curves, value, _median(curves.floor_point(measure))))
    for k in curves.tops:
        loss = partial(_loss, curves, k)
        if any(loss(m, s) is not None for m in curves.models for s in curves.split_plan.sizes):
            blocks.append(_by_size(f"top-{k} loss", curves, loss, _mean(curves.floor_loss(k))))
        else:
            blocks.append(f"top-{k} loss: needs more than {k} rows of a problem to score on")
    legend = "errors: median of the splits; losses: mean of the splits"
    if curves.floor:
        legend += (
            f"\n{FLOOR}: half of the repetitions predicting the other half (noise floor); against"
            " both halves a perfect model would err about half as much"
        )
    return ["\n\n".join(blocks) + f"\n{legend}"]


def _point(curves: CurveTable, measure: Error, model: str, size: int) -> float | None:
    return _median(curves.point(model, size, measure))


def _loss(curves: CurveTable, k: int, model: str, size: int) -> float | None:
    return _mean(curves.top_loss(model, size, k))


def _by_size(
    title: str,
    curves: CurveTable,
    value: Callable[[str, int], float | None],
    floor: float | None,
) -> str:
    sizes = curves.split_plan.sizes
    rows = [(title, "", *(f"{size} rows" for size in sizes))]
    for m, kind in zip(curves.models, curves.kinds, strict=True):
        shown = "" if m.startswith(ANALYTICAL) else kind
        rows.append((m, shown, *(_share_or_none(value(m, size)) for size in sizes)))
    if floor is not None:
        rows.append((FLOOR, "", *[_share(floor)] * len(sizes)))
    return columns(rows, right=range(2, len(sizes) + 2), matrix=True)


def _details(curves: CurveTable) -> str:
    size = curves.split_plan.sizes[-1]
    head = (f"at {size} rows", "tau-b", "within", "half width", "answered", "outside", "fit")
    rows = [head]
    for m in curves.models:
        taken = curves.fit_seconds(m, size)
        rows.append(
            (
                m,
                _number(curves.point(m, size, "tau_b")),
                _percent(curves.point(m, size, "coverage")) if _intervals(curves, m) else _NONE,
                _percent(curves.point(m, size, "half_width")),
                _percent(curves.point(m, size, "answered")),
                _percent(curves.point(m, size, "outside")),
                _NONE if taken is None or m.startswith(ANALYTICAL) else f"{taken:.2f} s",
            )
        )
    legend = (
        f"within: rows within their {100 * curves.level:.0f} % interval; outside: rows outside the"
        " training box, of which no interval is sure"
    )
    return f"{columns(rows, right=range(1, 7), matrix=True)}\n{legend}"


def _intervals(curves: CurveTable, model: str) -> bool:
    width = curves.point(model, curves.split_plan.sizes[-1], "half_width")
    return width is not None and math.isfinite(width.median)


def _by_group(curves: CurveTable) -> list[str]:
    """A table of the error rate at the largest size, for each value that was left out."""
    if not curves.groups:
        return []
    size = curves.split_plan.sizes[-1]
    names = [_value(group) for group in curves.groups]
    rows = [(f"error rate without {curves.split_plan.leave_out} =", *names)]
    for m in curves.models:
        points = [curves.point(m, size, "error_rate", group) for group in curves.groups]
        rows.append((m, *map(_percent, points)))
    return [columns(rows, right=range(1, len(names) + 1), matrix=True)]


# --- what to do -----------------------------------------------------------------------------


def advice(curves: CurveTable) -> list[str]:
    """Lines that recommend a model for predicting times and one for choosing the fastest.

    Recommended is the model with the least error, or top-k loss, at the largest training size.
    """
    size, k = curves.split_plan.sizes[-1], paying_top(curves)
    floor = _median(curves.floor_point("error_rate"))
    again = "" if floor is None else f"; {FLOOR}: {_share(floor)}"
    lines = []
    errors = {m: _point(curves, "error_rate", m, size) for m in curves.models}
    losses = {m: _loss(curves, k, m, size) for m in curves.models}
    for task, values, what, purpose in (
        ("to predict times", errors, "error rate", again),
        ("to choose the fastest", losses, f"top-{k} loss", ""),
    ):
        defined = {m: value for m, value in values.items() if value is not None}
        if defined:
            best = min(defined, key=lambda m: defined[m])
            after = "" if curves.kind(best) == "analytical" else f" after {size} rows"
            lines.append(f"{task}: {best} ({what} {_share(defined[best])}{after}{purpose})")
    scored = [t.score.rows for t in curves.trials if t.score is not None]
    if scored and min(scored) < _FEW:
        lines.append(f"scored on {min(scored)} rows only: differences may be chance")
    return lines


# --- where learning pays --------------------------------------------------------------------


def _paying(curves: CurveTable) -> list[str]:
    """A table of the training sizes from which each model beats the best engine, and a verdict."""
    k, up_to = paying_top(curves), curves.split_plan.sizes[-1]
    rivals = {None: best_analytical(curves), k: best_analytical(curves, k)}
    if rivals[None] is None and rivals[k] is None:
        return []
    titles = [f"beats {rivals[None]} in error", f"beats {rivals[k]} in top-{k} loss"]
    rows = [("", *titles)]
    for m in curves.models:
        if curves.kind(m) == "analytical":
            continue
        tried = [(payoff(curves, m, rival, of) if rival else None) for of, rival in rivals.items()]
        rows.append((m, *(_NONE if paid is None else beats(paid, up_to) for paid in tried)))
    legend = (
        f"surely: the {100 * curves.level:.0f} % bootstrap interval of the paired difference over"
        " the splits is a gain"
    )
    return [f"{columns(rows)}\n{legend}", "\n".join(paying(curves))]


def paying_top(curves: CurveTable) -> int:
    """The k of the top-k loss in the verdict: 3 if it was computed, else the smallest above 1."""
    return 3 if 3 in curves.tops else next((k for k in curves.tops if k > 1), curves.tops[0])


def paying(curves: CurveTable) -> list[str]:
    """The verdict in sentences, by error and by loss, for learned models and for hybrids."""
    k = paying_top(curves)
    lines = []
    kinds: tuple[tuple[Kind, str], ...] = (("learned", "learning alone"), ("hybrid", "a hybrid"))
    for of, title in ((None, "error"), (k, f"top-{k} loss")):
        for kind, who in kinds:
            first = earliest(curves, kind, of)
            if first is not None:
                lines.append(f"{title}: {who} pays {_verdict(first, curves.split_plan.sizes[-1])}")
    return lines


def _verdict(first: Payoff, up_to: int) -> str:
    last = first.gains[-1]
    if first.seems is None:
        return f"at no size up to {up_to} rows (nearest: {first.model}, {_gain(first)})"
    if first.sure is None:
        return f"from {first.seems} rows ({first.model}, {_gain(first)}), but not surely"
    return f"from {first.sure} rows ({first.model}; at {last.size} rows {_gain(first)})"


def _gain(payoff: Payoff) -> str:
    """The gain of a model at the largest size, in percentage points with its interval."""
    last = payoff.gains[-1]
    gain = f"{100 * last.value:+z.1f} points"
    if last.low is None or last.high is None:
        return gain
    return f"{gain} [{100 * last.low:+z.1f}, {100 * last.high:+z.1f}]"


def beats(payoff: Payoff, up_to: int) -> str:
    """The training size from which on a model is better, and the one from which on surely.

    ``up_to``: the largest size that was tried.
    """
    if payoff.seems is None:
        return f"never up to {up_to}" if payoff.gains else _NONE
    if payoff.sure is None:
        return f"from {payoff.seems}, not surely"
    return (
        f"from {payoff.seems}, surely {payoff.sure}"
        if payoff.sure > payoff.seems
        else f"from {payoff.sure}"
    )


# --- models ---------------------------------------------------------------------------------


def _semantic(comparison: ModelComparison) -> list[str]:
    if not comparison.matches:
        return []
    head = (
        "model", "relative to", "rows", "error rate", "median APE", "cosine", "Jaccard",
        "Manhattan", "Euclidean", "Minkowski 3", "Chebyshev", "tau-b",
    )  # fmt: skip
    rows = [head, *(_match(match) for match in comparison.matches)]
    unit = comparison.table.unit
    convention = comparison.request.convention
    legend = f"fitted to {comparison.trained} rows; distances by the {convention} convention"
    if comparison.request.convention == "kaltenecker":
        legend += " (mean |d|^p, no root)"
    legend += f", in {unit}" if unit and comparison.request.convention == "textbook" else ""
    return [f"{columns(rows, right=range(2, len(head)), matrix=True)}\n{legend}"]


def _match(match: Match) -> tuple[str, ...]:
    s = match.semantics
    distances = (s.manhattan, s.euclidean, s.minkowski_3, s.chebyshev)
    return (
        match.model,
        s.reference,
        str(s.n),
        _share(s.error_rate),
        _share(s.mdape),
        *(_NONE if v is None else f"{v:.4f}" for v in (s.cosine, s.jaccard)),
        *(f"{v:.4g}" for v in distances),
        _NONE if s.tau_b is None else f"{s.tau_b:.3f}",
    )


def _syntactic(comparison: ModelComparison) -> list[str]:
    if not comparison.syntactic:
        return []
    rows = [("syntactic score", "published", "normalised", "terms", "in both")]
    for name, score in comparison.syntactic:
        numbers = (f"{score.published:.3f}", f"{score.normalised:.3f}")
        rows.append((name, *numbers, str(len(score.terms)), str(score.matched)))
    return [f"analytical: {comparison.request.formula}\n{columns(rows, right=range(1, 5))}"]


def _learned(comparison: ModelComparison) -> list[str]:
    lines = []
    for learned in comparison.learned:
        if learned.formula is not None:
            shown = learned.formula
            shown = shown if len(shown) <= _FORMULA else f"{shown[:_FORMULA]} ... (whole: --json)"
            lines.append(f"{learned.model}: {shown}")
            continue
        terms = [t for t in learned.explanation.terms if t.influence > 0][:_TERMS]
        if terms:
            terms_text = ", ".join(f"{t.text} {100 * t.influence:.0f} %" for t in terms)
            lines.append(f"{learned.model}, by influence: {terms_text}")
    return ["\n".join(lines)] if lines else []


# --- numbers --------------------------------------------------------------------------------


def _median(score: ScoreSpread | None) -> float | None:
    return None if score is None else score.median


def _mean(score: ScoreSpread | None) -> float | None:
    return None if score is None else score.mean


def _share_or_none(value: float | None) -> str:
    return _NONE if value is None else _share(value)


def _percent(score: ScoreSpread | None) -> str:
    return _NONE if score is None else _share(score.median)


def _share(value: float) -> str:
    return "inf" if math.isinf(value) else f"{100 * value:.1f} %"


def _number(score: ScoreSpread | None) -> str:
    return _NONE if score is None else f"{score.median:.3f}"


def _value(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
