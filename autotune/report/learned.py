"""What ``autotune learn compare`` and ``autotune evaluate`` print: curves, measures, formulas."""

import math
from collections.abc import Callable, Sequence
from functools import partial

from autotune.learn.comparison import ANALYTICAL, Comparison, Match
from autotune.learn.curves import CurveTable, Spread
from autotune.learn.evaluation import Evaluation
from autotune.learn.parameter import Value
from autotune.report.text import columns

_NONE = "-"
_TERMS = 6
_FORMULA = 300


def comparison(found: Comparison) -> str:
    """Curves, the semantic and syntactic comparison, what was learned, what to know of it."""
    table = found.table
    unit = f" in {table.unit}" if table.unit else ""
    head = f"{table.name}: {table.quantity}{unit} of {len(table)} rows"
    blocks = [head, curve(found.curve, (ANALYTICAL,)), *_semantic(found)]
    blocks += [*_syntactic(found), *_learned(found)]
    notes = [*table.treated, *found.notes]
    return "\n\n".join(
        [*blocks, *(["\n".join(f"note: {note}" for note in notes)] if notes else [])]
    )


def evaluation(found: Evaluation) -> str:
    """Curves over the candidates of a study, and where learning starts to pay."""
    head = (
        f"study {found.study}: {found.rows} measured candidates, scored on those measured at random"
        f" ({found.random})"
    )
    blocks = [head, curve(found.curve, found.analytical)]
    if found.notes:
        blocks.append("\n".join(f"note: {note}" for note in found.notes))
    return "\n\n".join(blocks)


# --- curves ---------------------------------------------------------------------------------


def curve(found: CurveTable, analytical: Sequence[str]) -> str:
    """Models by training size: errors and losses, the details of the largest size."""
    course = found.course
    apart = f", each {course.leave_out} left out in turn" if course.leave_out else ""
    repeats = f"{course.repeats} split{'' if course.repeats == 1 else 's'}"
    how = f"training rows {course.drawing}, median of {repeats}{apart}, seed {course.seed}"
    blocks = [how]
    measures: list[tuple[str, Callable[[str, int], Spread | None]]] = [
        ("error rate (MAPE)", lambda m, s: found.point(m, s, "error_rate")),
        ("median APE", lambda m, s: found.point(m, s, "mdape")),
    ]
    for k in found.tops:
        measures.append((f"top-{k} loss", partial(found.top_loss, k=k)))
    for title, value in measures:
        if any(value(m, s) for m in found.models for s in course.sizes):
            blocks.append(_by_size(title, found, value))
    blocks += [_details(found), *_by_group(found), *_paying(found, analytical)]
    for (model, reason), sizes in found.failures().items():
        blocks.append(f"{model} was not fitted to {', '.join(map(str, sizes))} rows: {reason}")
    return "\n\n".join(blocks)


def _by_size(title: str, found: CurveTable, value: Callable[[str, int], Spread | None]) -> str:
    sizes = found.course.sizes
    rows = [(title, *(f"{size} rows" for size in sizes))]
    rows += [(m, *(_percent(value(m, size)) for size in sizes)) for m in found.models]
    return columns(rows, right=range(1, len(sizes) + 1))


def _details(found: CurveTable) -> str:
    size = found.course.sizes[-1]
    head = (f"at {size} rows", "tau-b", "within", "half width", "answered", "fit")
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
                _NONE if taken is None or m.startswith(ANALYTICAL) else f"{taken:.2f} s",
            )
        )
    told = f"within: rows within their {100 * found.level:.0f} % interval"
    return f"{columns(rows, right=range(1, 6))}\n{told}"


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


def _paying(found: CurveTable, analytical: Sequence[str]) -> list[str]:
    """From how many rows learning pays, against each analytical model."""
    rivals = [name for name in analytical if name in found.models]
    k = next((k for k in found.tops if k > 1), found.tops[0])
    blocks = []
    for rival in rivals:
        rows = [(f"better than {rival} in", "error rate", f"top-{k} loss")]
        for m in found.models:
            if m not in rivals:
                rows.append((m, _from(found.pays(m, rival)), _from(found.pays(m, rival, k))))
        blocks.append(columns(rows))
    return blocks


def _from(size: int | None) -> str:
    return "at no size" if size is None else f"from {size} rows"


# --- models ---------------------------------------------------------------------------------


def _semantic(found: Comparison) -> list[str]:
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


def _syntactic(found: Comparison) -> list[str]:
    if not found.syntactic:
        return []
    rows = [("syntactic score", "published", "normalised", "terms", "in both")]
    for name, score in found.syntactic:
        numbers = (f"{score.published:.3f}", f"{score.normalised:.3f}")
        rows.append((name, *numbers, str(len(score.terms)), str(score.matched)))
    return [f"analytical: {found.request.formula}\n{columns(rows, right=range(1, 5))}"]


def _learned(found: Comparison) -> list[str]:
    lines = []
    for one in found.learned:
        if one.formula is not None:
            shown = one.formula
            shown = shown if len(shown) <= _FORMULA else f"{shown[:_FORMULA]} ..."
            lines.append(f"{one.model}: {shown}")
            continue
        terms = [t for t in one.explanation.terms if t.influence > 0][:_TERMS]
        if terms:
            told = ", ".join(f"{t.text} {100 * t.influence:.0f} %" for t in terms)
            lines.append(f"{one.model}, by influence: {told}")
    return ["\n".join(lines)] if lines else []


# --- numbers --------------------------------------------------------------------------------


def _percent(found: Spread | None) -> str:
    return _NONE if found is None else _share(found.median)


def _share(value: float) -> str:
    return "inf" if math.isinf(value) else f"{100 * value:.1f} %"


def _number(found: Spread | None) -> str:
    return _NONE if found is None else f"{found.median:.3f}"


def _value(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
