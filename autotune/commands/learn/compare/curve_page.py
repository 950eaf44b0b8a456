"""Models compared by learning curves, as a page: which model to use for what, then the scores."""

from collections.abc import Callable
from functools import partial

from autotune.commands.learn.compare import text
from autotune.learning.comparison.learning_curves import CurveTable, ScoreSpread
from autotune.learning.comparison.payoff import payoff
from autotune.results.page.frame import (
    Bullets,
    Card,
    Decision,
    Disclosure,
    Drawing,
    KeyNumber,
    Listing,
    Page,
    PageBlock,
    PageCell,
    PageColumn,
    PageFigure,
    PageRow,
    PageSection,
    PageTable,
    Paragraph,
)

_ANCHOR = "curves"
_FEW = 12
"""Rows of a table that need no filter."""


def page(curves: CurveTable, title: str, tables: str, drawing: Drawing) -> Page:
    """The content of the page; ``tables``: all that the command prints, as it prints it."""
    k = text.paying_top(curves)
    plan = curves.split_plan
    return Page(
        title=title,
        lead=(
            f"{len(curves.models)} models learn from up to {plan.sizes[-1]} rows, {plan.repeats}"
            f" splits of each size, seed {plan.seed}.",
            *([f"Interrupted after {len(curves.trials)} of {curves.planned} fits."]
              if curves.interrupted else []),
        ),
        decisions=(_decision(curves, None), _decision(curves, k)),
        sections=(_why(curves, drawing), _scores(curves, k, tables)),
    )  # fmt: skip


def _decision(curves: CurveTable, k: int | None) -> Decision:
    """The model with the least error, or top-k loss, of the largest size; open where the paired
    interval of its lead over the next one has zero.
    """
    about = "To predict times" if k is None else "To choose the fastest"
    what = "error rate (MAPE)" if k is None else f"top-{k} loss"
    size = curves.split_plan.sizes[-1]
    scores = {m: s for m in curves.models if (s := _spread(curves, k, m, size)) is not None}
    ranked = sorted(scores, key=lambda model: _value(scores[model], k))
    if not ranked:
        return Decision(
            about=about,
            verdict="No decision: no model has a score",
            state="failed",
            sure=f"No {what} could be computed at {size} rows.",
            advice="Measure more rows, or choose smaller --sizes.",
            link=_ANCHOR,
        )
    best, *others = ranked
    rival = others[0] if others else None
    sure, lead = _lead(curves, best, rival, k) if rival else (True, "No other model has a score.")
    floor = curves.floor_point("error_rate") if k is None else curves.floor_loss(k)
    again = () if floor is None else (KeyNumber(_share(_value(floor, k)), text.FLOOR),)
    return Decision(
        about=about,
        verdict=f"Use {best}" if sure else f"No decision between {best} and {rival}",
        state="decided" if sure else "open",
        numbers=(
            *(
                KeyNumber(_share(_value(scores[m], k)), f"{what} of {m}", _quartiles(scores[m]))
                for m in ranked[:2]
            ),
            *again,
        ),
        sure=lead,
        advice=_advice(curves, best, size, sure=sure),
        link=_ANCHOR,
    )  # fmt: skip


def _lead(curves: CurveTable, best: str, rival: str, k: int | None) -> tuple[bool, str]:
    """Whether a model is surely better than another one at the largest size, and in words."""
    size = curves.split_plan.sizes[-1]
    gains = [gain for gain in payoff(curves, best, rival, k).gains if gain.size == size]
    if not gains:
        return False, f"{best} and {rival} share no split on which both have a score."
    (gain,) = gains
    points = f"{best} is better than {rival} by {100 * gain.value:z.1f} points over the splits"
    if gain.low is None or gain.high is None:
        return False, f"{points}; {gain.splits} splits are too few for an interval."
    ends = f"{100 * gain.low:z.1f} to {100 * gain.high:z.1f}"
    level = f"{100 * curves.level:.0f} %"
    return gain.sure, f"{points}, {level} interval {ends} points (bootstrap over the splits)."


def _advice(curves: CurveTable, best: str, size: int, *, sure: bool) -> str:
    after = "needs no measured row" if curves.kind(best) == "analytical" else (
        f"was scored after learning from {size} rows"
    )  # fmt: skip
    more = "" if sure else " More rows or --repeats may tell them apart."
    return f"{best} {after}.{more}"


def _why(curves: CurveTable, drawing: Drawing) -> PageSection:
    caption = (
        "Error rate and top-k loss over the number of rows learned from, quartiles of the splits"
        " shaded. Dotted: analytical; solid: learned; dashed: hybrid."
    )
    figure = PageFigure(drawing=drawing, caption=caption)
    cards = [Card(title="Learning curves", blocks=(figure,), wide=True)]
    sentences = tuple(text.paying(curves))
    if sentences:
        blocks: tuple[PageBlock, ...] = (Bullets(sentences),)
        cards.append(Card(title="Where learning starts to pay", blocks=blocks, wide=True))
    failed = tuple(
        f"{model} was not fitted to {', '.join(map(str, sizes))} rows: {reason}"
        for (model, reason), sizes in curves.failures().items()
    )
    if failed:
        cards.append(Card(title="Not fitted", blocks=(Bullets(failed),), tone="bad"))
    return PageSection(title="Why", anchor=_ANCHOR, cards=tuple(cards))


def _scores(curves: CurveTable, k: int, tables: str) -> PageSection:
    columns = (
        PageColumn("model"),
        PageColumn("kind"),
        PageColumn("rows", number=True, words="rows learned from"),
        PageColumn("error rate", number=True, words="mean absolute percentage error, median"),
        PageColumn("median APE", number=True),
        PageColumn(f"top-{k} loss", number=True, words="mean of the splits"),
        PageColumn("tau-b", number=True, words="rank correlation"),
    )
    rows = tuple(
        _row(curves, k, model, size) for model in curves.models for size in curves.split_plan.sizes
    )
    listing = PageTable(
        caption="Scores of every model by rows learned from; below an error its quartiles",
        columns=columns,
        rows=rows,
        filterable=len(rows) > _FEW,
    )
    printed = Disclosure("All tables as the command prints them", (Listing(tables),))
    note = Paragraph("Errors: median of the splits; losses: mean of the splits.", quiet=True)
    card = Card(title="Scores", blocks=(listing, note, printed), wide=True)
    return PageSection(title="All scores", anchor="scores", cards=(card,))


def _row(curves: CurveTable, k: int, model: str, size: int) -> PageRow:
    point: Callable[..., ScoreSpread | None] = partial(curves.point, model, size)
    tau = point("tau_b")
    return PageRow(
        cells=(
            PageCell(text=model),
            PageCell(text=curves.kind(model)),
            PageCell(text=str(size), value=size),
            _cell(point("error_rate"), None, quartiles=True),
            _cell(point("mdape"), None),
            _cell(curves.top_loss(model, size, k), k),
            PageCell(text="-") if tau is None
            else PageCell(text=f"{tau.median:.2f}", value=tau.median),
        )
    )  # fmt: skip


def _cell(spread: ScoreSpread | None, k: int | None, *, quartiles: bool = False) -> PageCell:
    if spread is None:
        return PageCell(text="-")
    value = _value(spread, k)
    note = _quartiles(spread) if quartiles else ""
    return PageCell(text=_share(value), value=value, note=note)


def _spread(curves: CurveTable, k: int | None, model: str, size: int) -> ScoreSpread | None:
    if k is None:
        return curves.point(model, size, "error_rate")
    return curves.top_loss(model, size, k)


def _value(spread: ScoreSpread, k: int | None) -> float:
    """Errors are medians of the splits, losses means: most of them are 0."""
    return spread.median if k is None else spread.mean


def _quartiles(spread: ScoreSpread) -> str:
    return f"{_share(spread.low)} to {_share(spread.high)}"


def _share(value: float) -> str:
    return f"{100 * value:.1f} %"
