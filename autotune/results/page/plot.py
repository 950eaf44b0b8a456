"""Plots as inline SVG: marks on two axes, in the colours of the page.

Colours are classes of ``style.css``: ``p1`` to ``p8`` for things that are told apart, such as
loops; ``winner``, ``baseline``, ``other``, ``idle`` for roles. So a plot follows light, dark and
print. A plot is as wide as half a page, and is read on a phone at its whole width.
"""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from autotune.results.page.frame import Drawing
from autotune.results.page.plot_axes import PlotAxis

PAINTS = tuple(f"p{number}" for number in range(1, 9))
"""Classes of colours that can be told apart with any colour vision."""

_WIDTH = 560
_LEFT, _RIGHT, _TOP = 78, 18, 10
_BELOW = 46
"""Height of tick labels and title below the plot."""
_TITLE = 24
"""Height of the title of an upright axis above the plot."""
_CHARACTER = 10
"""Width of a character of a label on a phone, where labels are largest."""
_LANE, _LANE_HEAD = 40, 20
"""Height of a lane, and of the label above what is drawn in it."""

Shape = Literal["dot", "square", "star", "cross", "bead"]


@dataclass(frozen=True, slots=True)
class LaneLabel:
    """The name of a lane, the colour of a square before it, the row that it links to."""

    words: str
    paint: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Lanes:
    """An upright axis of named lanes, from above; a value is the number of a lane, from 0."""

    labels: tuple[LaneLabel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Canvas:
    """Places of values on a drawing, in its units."""

    x: PlotAxis
    y: PlotAxis | Lanes
    left: float
    height: float
    """Of the plot itself, without what stands below it."""

    @property
    def top(self) -> float:
        """The upper end of the plot, below the title of its upright axis."""
        return _TOP if isinstance(self.y, Lanes) else _TOP + _TITLE

    def across(self, value: float) -> float:
        """The place of a value of the x axis."""
        return self.left + self.x.share(value) * (_WIDTH - _RIGHT - self.left)

    def down(self, value: float) -> float:
        """The place of a value of the y axis: in a lane, of its middle below the label."""
        if isinstance(self.y, Lanes):
            return _TOP + _LANE * value + (_LANE + _LANE_HEAD) / 2
        return self.top + (1 - self.y.share(value)) * self.height


class Mark(Protocol):
    """Something that is drawn on a canvas."""

    def svg(self, canvas: Canvas) -> str:
        """Its elements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A point; ``anchor``: of the row that it links to; ``words``: shown at the pointer."""

    x: float
    y: float
    paint: str
    shape: Shape = "dot"
    size: float = 3.5
    anchor: str = ""
    words: str = ""
    faint: bool = False

    def svg(self, canvas: Canvas) -> str:
        """The shape, inside a link where it has an anchor."""
        x, y = canvas.across(self.x), canvas.down(self.y)
        paint = f"{self.paint} fill{' faint' if self.faint else ''}"
        return _linked(_shape(self.shape, x, y, self.size, paint), self.anchor, self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whisker:
    """An interval: across at ``y``, or upright at ``x`` where ``upright``."""

    low: float
    high: float
    at: float
    paint: str
    upright: bool = False

    def svg(self, canvas: Canvas) -> str:
        """A line with two ends."""
        if self.upright:
            x, a, b = canvas.across(self.at), canvas.down(self.low), canvas.down(self.high)
            path = f"M{_n(x)} {_n(a)}V{_n(b)}"
        else:
            y, a, b = canvas.down(self.at), canvas.across(self.low), canvas.across(self.high)
            path = f"M{_n(a)} {_n(y - 4)}v8m0 -4H{_n(b)}m0 -4v8"
        return f'<path class="stroke thin {self.paint}" d="{path}"/>'


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotSegment:
    """A part of a bar from ``start`` to ``end`` in a lane; hatched where it is uncertain.

    ``level``: how far its middle is from that of the lane, ``height``: both in units of the plot.
    """

    start: float
    end: float
    lane: float
    paint: str
    words: str = ""
    hatched: bool = False
    height: float = 14
    level: float = 0

    def svg(self, canvas: Canvas) -> str:
        """A rectangle, with lines across it where it is hatched."""
        a, b = canvas.across(self.start), canvas.across(self.end)
        y = canvas.down(self.lane) + self.level - self.height / 2
        box = f'x="{_n(a)}" y="{_n(y)}" width="{_n(max(0.5, b - a))}" height="{_n(self.height)}"'
        cut = f'<rect class="cut" {box}/>' if self.hatched else ""
        return _linked(f'<rect class="seg {self.paint}" {box}/>{cut}', "", self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Polyline:
    """Points joined by lines; ``stepped``: a value holds until the next one."""

    points: tuple[tuple[float, float], ...]
    paint: str
    dashed: bool = False
    stepped: bool = False
    thin: bool = False
    words: str = ""

    def svg(self, canvas: Canvas) -> str:
        """One path."""
        places = [(_n(canvas.across(x)), _n(canvas.down(y))) for x, y in self.points]
        first, *rest = places or [("0", "0")]
        joint = "H{} V{}" if self.stepped else "L{} {}"
        path = f"M{first[0]} {first[1]}" + "".join(joint.format(x, y) for x, y in rest)
        kind = f"stroke{' dash' if self.dashed else ''}{' thin' if self.thin else ''} {self.paint}"
        return _linked(f'<path class="{kind}" d="{path}"/>', "", self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """A polygon, lightly filled."""

    points: tuple[tuple[float, float], ...]
    paint: str

    def svg(self, canvas: Canvas) -> str:
        """One closed path."""
        path = "L".join(f"{_n(canvas.across(x))} {_n(canvas.down(y))}" for x, y in self.points)
        return f'<path class="area {self.paint}" d="M{path}Z"/>'


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleLine:
    """A line across the whole plot at a value of one axis, with words at its end."""

    at: float
    paint: str
    upright: bool = False
    dashed: bool = False
    words: str = ""

    def svg(self, canvas: Canvas) -> str:
        """The line, and its words above its end or beside its head."""
        kind = f'class="stroke thin{" dash" if self.dashed else ""} {self.paint}"'
        if self.upright:
            x = canvas.across(self.at)
            end = canvas.top + canvas.height
            text = _text(x - 4, end - 6, self.words, "end") if self.words else ""
            return f'<path {kind} d="M{_n(x)} {_n(canvas.top)}V{_n(end)}"/>{text}'
        y = canvas.down(self.at)
        text = _text(_WIDTH - _RIGHT, y - 5, self.words, "end") if self.words else ""
        return f'<path {kind} d="M{_n(canvas.left)} {_n(y)}H{_WIDTH - _RIGHT}"/>{text}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Marks on two axes."""

    name: str
    """What it shows, for those who do not see it."""
    x: PlotAxis
    y: PlotAxis | Lanes
    marks: Sequence[Mark]
    height: float = 260
    """Of the plot itself; with lanes, theirs counts."""


def draw(plot: Plot) -> Drawing:
    """The plot as an ``<svg>`` element of the page."""
    lanes = plot.y if isinstance(plot.y, Lanes) else None
    height = _LANE * len(lanes.labels) if lanes else plot.height
    canvas = Canvas(x=plot.x, y=plot.y, left=_left(plot.y), height=height)
    parts = [_grid(canvas), *(mark.svg(canvas) for mark in plot.marks)]
    whole = canvas.top + height + _BELOW
    return Drawing(
        f'<svg class="plot" viewBox="0 0 {_WIDTH} {_n(whole)}" role="img"'
        f' aria-label="{html.escape(plot.name)}">{"".join(parts)}</svg>'
    )


def _left(y: PlotAxis | Lanes) -> float:
    """Where the plot begins: beside the longest label of its upright axis."""
    if isinstance(y, Lanes):
        return 8
    longest = max((len(label) for _, label in y.ticks), default=0)
    return max(_LEFT, 8 + _CHARACTER * longest)


def _grid(canvas: Canvas) -> str:
    """Lines and labels of the ticks, titles of the axes, labels of the lanes."""
    top = _n(canvas.top)
    bottom = canvas.top + canvas.height
    end = _WIDTH - _RIGHT
    lines, texts = [], []
    for value, label in canvas.x.ticks:
        x = canvas.across(value)
        lines.append(f"M{_n(x)} {top}V{_n(bottom)}")
        texts.append(_text(min(x, _WIDTH - 24), bottom + 17, label, "mid"))
    middle = (canvas.left + end) / 2
    texts.append(_text(middle, bottom + 38, canvas.x.title, "mid ink"))
    if isinstance(canvas.y, Lanes):
        for number, lane in enumerate(canvas.y.labels):
            base = _TOP + _LANE * number + 14
            left = canvas.left + 4
            if lane.paint:
                texts.append(_shape("square", left + 5, base - 4, 5, f"fill {lane.paint}"))
                left += 15
            texts.append(_linked(_text(left, base, lane.words, "ink"), lane.anchor, ""))
    else:
        for value, label in canvas.y.ticks:
            y = canvas.down(value)
            lines.append(f"M{_n(canvas.left)} {_n(y)}H{end}")
            texts.append(_text(canvas.left - 6, y + 4, label, "end"))
        texts.append(_text(4, _TOP + 10, canvas.y.title, "ink"))
    frame = f'<path class="axis" d="M{_n(canvas.left)} {top}V{_n(bottom)}H{end}"/>'
    return f'<path class="grid" d="{"".join(lines)}"/>{frame}{"".join(texts)}'


def _shape(shape: Shape, x: float, y: float, size: float, paint: str) -> str:
    if shape == "dot":
        return f'<circle class="{paint}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(size)}"/>'
    if shape == "cross":
        path = f"M{_n(x - size)} {_n(y - size)}l{_n(2 * size)} {_n(2 * size)}m0 -{_n(2 * size)}"
        path += f"l-{_n(2 * size)} {_n(2 * size)}"
        return f'<path class="stroke {paint.replace(" fill", "")}" d="{path}"/>'
    corners = {
        "square": [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)],
        "bead": [(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        "star": [
            (r * math.sin(k * math.pi / 5), -r * math.cos(k * math.pi / 5))
            for k in range(10)
            for r in [2.0 if k % 2 == 0 else 0.85]
        ],
    }[shape]
    path = "L".join(f"{_n(x + size * a)} {_n(y + size * b)}" for a, b in corners)
    return f'<path class="{paint}" d="M{path}Z"/>'


def _linked(element: str, anchor: str, words: str) -> str:
    """An element inside a link to a row, or in a group where it only says something."""
    title = f"<title>{html.escape(words)}</title>" if words else ""
    if anchor:
        return f'<a href="#{html.escape(anchor)}" tabindex="-1">{title}{element}</a>'
    return f"<g>{title}{element}</g>" if title else element


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{_n(x)}" y="{_n(y)}">{html.escape(words)}</text>'


def _n(value: float) -> str:
    """A place to a tenth of a unit."""
    return f"{value:.1f}".removesuffix(".0")
