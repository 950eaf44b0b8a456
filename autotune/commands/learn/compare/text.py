"""What ``autotune learn compare`` and ``autotune evaluate`` print: curves, measures, formulas."""

import math
from collections.abc import Callable
from functools import partial
from typing import Literal

from autotune.domain.tables.parameter import Value
from autotune.learning.comparison.learning_curves import CurveTable, Kind, ScoreSpread
from autotune.learning.comparison.model_comparison import ANALYTICAL, Match, ModelComparison
from autotune.learning.comparison.model_evaluation import ModelEvaluation
from autotune.learning.comparison.payoff import Payoff, best_analytical, earliest, payoff
from autotune.results.report.text_table import columns

Error = Literal["error_rate", "mdape"]
FLOOR = "measured again"
"""What half of the rounds says of the other half."""
_NONE = "-"
_TERMS = 6
_FORMULA = 300
_FEW = 10
"""Rows to score on below which a comparison says little."""


def comparison(found: ModelComparison) -> str:
    """Curves, the semantic and syntactic comparison, what was learned, what to know of it."""
    table = found.table
    unit = f" in {table.unit}" if table.unit else ""
    head = f"{table.name}: {table.quantity}{unit} of {len(table)} rows"
    blocks = [head, curve(found.curve), *_semantic(found)]
    blocks += [*_syntactic(found), *_learned(found)]
    notes = [*table.treated, *found.notes]
    return "\n\n".join(
        [*blocks, *(["\n".join(f"note: {note}" for note in notes)] if notes else [])]
    )


def evaluation(found: ModelEvaluation) -> str:
    """Curves over the candidates of a study, and where learning starts to pay."""
    study = found.study
    problems = ", ".join(study.problems)
    several = len(study.problems) > 1
    within = f", best candidates within each of {problems}" if several else ""
    head = (
        f"study {study.name}: {study.rows} measured candidates, scored on those measured at random"
        f" ({study.random}){within}"
    )
    blocks = [head, curve(found.curve)]
    if found.notes:
        blocks.append("\n".join(f"note: {note}" for note in found.notes))
    return "\n\n".join(blocks)


# --- curves ---------------------------------------------------------------------------------


def curve(found: CurveTable) -> str:
    """Models by training size: errors and losses, the details of the largest size, what pays."""
    course = found.course
    apart = f", each {course.leave_out} left out in turn" if course.leave_out else ""
    repeats = f"{course.repeats} split{'' if course.repeats == 1 else 's'}"
    rows = {score.rows for score in found.floor} | {
        t.score.rows for t in found.trials if t.score is not None
    }
    tested = f"{min(rows)} to {max(rows)}" if len(rows) > 1 else str(max(rows, default=0))
    how = (
        f"training rows {course.drawing}, {repeats}{apart}, seed {course.seed}; scored on"
        f" {tested} rows that were not learned from"
    )
    blocks = [f"interrupted after {len(found.trials)} of {found.planned} fits"] * found.interrupted
    blocks.append(how)
    blocks += _tables(found)
    blocks += [_details(found), *_by_group(found), *_paying(found)]
    for (model, reason), sizes in found.failures().items():
        blocks.append(f"{model} was not fitted to {', '.join(map(str, sizes))} rows: {reason}")
    blocks.append("\n".join(advice(found)))
    return "\n\n".join(blocks)


def _tables(found: CurveTable) -> list[str]:
    blocks = []
    errors: tuple[tuple[Error, str], ...] = (
        ("error_rate", "error rate (MAPE)"),
        ("mdape", "median APE"),
    )
    for measure, title in errors:
        value = partial(_point, found, measure)
        blocks.append(_by_size(title, found, value, _median(found.floor_point(measure))))
    for k in found.tops:
        loss = partial(_loss, found, k)
        if any(loss(m, s) is not None for m in found.models for s in found.course.sizes):
            blocks.append(_by_size(f"top-{k} loss", found, loss, _mean(found.floor_loss(k))))
        else:
            blocks.append(f"top-{k} loss: needs more than {k} rows of a problem to score on")
    told = "errors: median of the splits; losses: mean of the splits"
    if found.floor:
        told += (
            f"\n{FLOOR}: half of the repetitions predicting the other half (noise floor); against"
            " both halves a perfect model would err about half as much"
        )
    return ["\n\n".join(blocks) + f"\n{told}"]


def _point(found: CurveTable, measure: Error, model: str, size: int) -> float | None:
    return _median(found.point(model, size, measure))


def _loss(found: CurveTable, k: int, model: str, size: int) -> float | None:
    return _mean(found.top_loss(model, size, k))


def _by_size(
    title: str,
    found: CurveTable,
    value: Callable[[str, int], float | None],
    floor: float | None,
) -> str:
    sizes = found.course.sizes
    rows = [(title, "", *(f"{size} rows" for size in sizes))]
    for m, kind in zip(found.models, found.kinds, strict=True):
        shown = "" if m.startswith(ANALYTICAL) else kind
        rows.append((m, shown, *(_share_or_none(value(m, size)) for size in sizes)))
    if floor is not None:
        rows.append((FLOOR, "", *[_share(floor)] * len(sizes)))
    return columns(rows, right=range(2, len(sizes) + 2))


def _details(found: CurveTable) -> str:
    size = found.course.sizes[-1]
    head = (f"at {size} rows", "tau-b", "within", "half width", "answered", "outside", "fit")
    rows = [head]
    for m in found.models:
        taken = found.fit_seconds(m, size)
        rows.append(
            (
                m,
                _number(found.point(m, size, "tau_b")),
                _percent(found.point(m, size, "coverage")) if _intervals(found, m) else _NONE,
                _percent(found.point(m, size, "half_width")),
                _percent(found.point(m, size, "answered")),
                _percent(found.point(m, size, "outside")),
                _NONE if taken is None or m.startswith(ANALYTICAL) else f"{taken:.2f} s",
            )
        )
    told = (
        f"within: rows within their {100 * found.level:.0f} % interval; outside: rows outside the"
        " training box, of which no interval is sure"
    )
    return f"{columns(rows, right=range(1, 7))}\n{told}"


def _intervals(found: CurveTable, model: str) -> bool:
    width = found.point(model, found.course.sizes[-1], "half_width")
    return width is not None and math.isfinite(width.median)


def _by_group(found: CurveTable) -> list[str]:
    """The error rate at the largest size for each value that was left out."""
    if not found.groups:
        return []
    size = found.course.sizes[-1]
    names = [_value(group) for group in found.groups]
    rows = [(f"error rate without {found.course.leave_out} =", *names)]
    for m in found.models:
        points = [found.point(m, size, "error_rate", group) for group in found.groups]
        rows.append((m, *map(_percent, points)))
    return [columns(rows, right=range(1, len(names) + 1))]


# --- what to do -----------------------------------------------------------------------------


def advice(found: CurveTable) -> list[str]:
    """What to take for predicting times and for choosing: the least of each at the largest size."""
    size, k = found.course.sizes[-1], paying_top(found)
    floor = _median(found.floor_point("error_rate"))
    again = "" if floor is None else f"; {FLOOR}: {_share(floor)}"
    lines = []
    errors = {m: _point(found, "error_rate", m, size) for m in found.models}
    losses = {m: _loss(found, k, m, size) for m in found.models}
    for task, values, what, told in (
        ("to predict times", errors, "error rate", again),
        ("to choose the fastest", losses, f"top-{k} loss", ""),
    ):
        known = {m: value for m, value in values.items() if value is not None}
        if known:
            best = min(known, key=lambda m: known[m])
            after = "" if found.kind(best) == "analytical" else f" after {size} rows"
            lines.append(f"{task}: {best} ({what} {_share(known[best])}{after}{told})")
    scored = [t.score.rows for t in found.trials if t.score is not None]
    if scored and min(scored) < _FEW:
        lines.append(f"scored on {min(scored)} rows only: differences may be chance")
    return lines


# --- where learning pays --------------------------------------------------------------------


def _paying(found: CurveTable) -> list[str]:
    """From how many rows each model beats the best engine, and the first that does."""
    k = paying_top(found)
    rivals = {None: best_analytical(found), k: best_analytical(found, k)}
    if rivals[None] is None and rivals[k] is None:
        return []
    titles = [f"beats {rivals[None]} in error", f"beats {rivals[k]} in top-{k} loss"]
    rows = [("", *titles)]
    for m in found.models:
        if found.kind(m) == "analytical":
            continue
        tried = [(payoff(found, m, rival, of) if rival else None) for of, rival in rivals.items()]
        rows.append((m, *(_NONE if one is None else beats(one) for one in tried)))
    told = (
        f"surely: the {100 * found.level:.0f} % bootstrap interval of the paired difference over"
        " the splits is a gain"
    )
    return [f"{columns(rows)}\n{told}", "\n".join(paying(found))]


def paying_top(found: CurveTable) -> int:
    """The k of the loss that the verdict is about: 3 if asked for, else the smallest above 1."""
    return 3 if 3 in found.tops else next((k for k in found.tops if k > 1), found.tops[0])


def paying(found: CurveTable) -> list[str]:
    """The verdict in sentences: by error and by loss, for learned models and for hybrids."""
    k = paying_top(found)
    lines = []
    kinds: tuple[tuple[Kind, str], ...] = (("learned", "learning alone"), ("hybrid", "a hybrid"))
    for of, title in ((None, "error"), (k, f"top-{k} loss")):
        for kind, who in kinds:
            first = earliest(found, kind, of)
            if first is not None:
                lines.append(f"{title}: {who} pays {_verdict(first)}")
    return lines


def _verdict(first: Payoff) -> str:
    last = first.gains[-1]
    if first.seems is None:
        return f"at no size up to {first.sizes[-1]} rows (nearest: {first.model}, {_gain(first)})"
    if first.sure is None:
        return f"from {first.seems} rows ({first.model}, {_gain(first)}), but not surely"
    return f"from {first.sure} rows ({first.model}; at {last.size} rows {_gain(first)})"


def _gain(one: Payoff) -> str:
    """In points of a hundred: what the error or loss of the engine is more."""
    last = one.gains[-1]
    told = f"{100 * last.value:+.1f} points"
    if last.low is None or last.high is None:
        return told
    return f"{told} [{100 * last.low:+.1f}, {100 * last.high:+.1f}]"


def beats(one: Payoff) -> str:
    """From which size on a model is better: surely, or as it seems."""
    if one.seems is None:
        return f"never up to {one.sizes[-1]}" if one.gains else _NONE
    if one.sure is None:
        return f"from {one.seems}, not surely"
    return f"from {one.seems}, surely {one.sure}" if one.sure > one.seems else f"from {one.sure}"


# --- models ---------------------------------------------------------------------------------


def _semantic(found: ModelComparison) -> list[str]:
    if not found.matches:
        return []
    head = (
        "model", "relative to", "rows", "error rate", "median APE", "cosine", "Jaccard",
        "Manhattan", "Euclidean", "Minkowski 3", "Chebyshev", "tau-b",
    )  # fmt: skip
    rows = [head, *(_match(match) for match in found.matches)]
    unit = found.table.unit
    told = f"fitted to {found.trained} rows; distances by the {found.request.convention} convention"
    if found.request.convention == "kaltenecker":
        told += " (mean |d|^p, no root)"
    told += f", in {unit}" if unit and found.request.convention == "textbook" else ""
    return [f"{columns(rows, right=range(2, len(head)))}\n{told}"]


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


def _syntactic(found: ModelComparison) -> list[str]:
    if not found.syntactic:
        return []
    rows = [("syntactic score", "published", "normalised", "terms", "in both")]
    for name, score in found.syntactic:
        numbers = (f"{score.published:.3f}", f"{score.normalised:.3f}")
        rows.append((name, *numbers, str(len(score.terms)), str(score.matched)))
    return [f"analytical: {found.request.formula}\n{columns(rows, right=range(1, 5))}"]


def _learned(found: ModelComparison) -> list[str]:
    lines = []
    for one in found.learned:
        if one.formula is not None:
            shown = one.formula
            shown = shown if len(shown) <= _FORMULA else f"{shown[:_FORMULA]} ... (whole: --json)"
            lines.append(f"{one.model}: {shown}")
            continue
        terms = [t for t in one.explanation.terms if t.influence > 0][:_TERMS]
        if terms:
            told = ", ".join(f"{t.text} {100 * t.influence:.0f} %" for t in terms)
            lines.append(f"{one.model}, by influence: {told}")
    return ["\n".join(lines)] if lines else []


# --- numbers --------------------------------------------------------------------------------


def _median(found: ScoreSpread | None) -> float | None:
    return None if found is None else found.median


def _mean(found: ScoreSpread | None) -> float | None:
    return None if found is None else found.mean


def _share_or_none(value: float | None) -> str:
    return _NONE if value is None else _share(value)


def _percent(found: ScoreSpread | None) -> str:
    return _NONE if found is None else _share(found.median)


def _share(value: float) -> str:
    return "inf" if math.isinf(value) else f"{100 * value:.1f} %"


def _number(found: ScoreSpread | None) -> str:
    return _NONE if found is None else f"{found.median:.3f}"


def _value(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
