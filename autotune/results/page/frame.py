"""An HTML page as values: the decision first, then sections of cards with tables and figures.

One file that loads nothing from elsewhere. All text is escaped here; only drawings are taken as
they are. The script adds sorting, filters, hovering and copying; without it all is readable and
every link works.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NewType, Protocol

from autotune.errors import Fault, MissingTool
from autotune.results.page import page_file

Drawing = NewType("Drawing", str)
"""An ``<svg>`` element as text, whose maker escaped what came from outside."""

Tone = Literal["", "winner", "baseline", "idle", "good", "bad"]
"""What a row, a cell or a card stands for; it chooses its colours."""

_HERE = Path(__file__).parent
_HASH = "{:.5g}"


class PageBlock(Protocol):
    """Content of a card; its kind names the macro of the template that shows it."""

    @property
    def kind(self) -> str:
        """The name of the macro."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences; quiet ones are remarks on what stands beside them."""

    kind: ClassVar[str] = "paragraph"
    text: str
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    kind: ClassVar[str] = "bullets"
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Definitions:
    """Terms, and what is said of each."""

    kind: ClassVar[str] = "definitions"
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Text of a program or a file, line by line; ``copied``: it has a button that copies it."""

    kind: ClassVar[str] = "listing"
    text: str
    copied: bool = False


@dataclass(frozen=True, slots=True)
class Disclosure:
    """Blocks that are folded away until the reader asks for them."""

    kind: ClassVar[str] = "disclosure"
    summary: str
    blocks: tuple[PageBlock, ...]
    unfolded: bool = False


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A colour of a figure and what it stands for."""

    paint: str
    """Class of the style, as ``plot`` uses it."""
    words: str
    shape: Literal["dot", "line", "dash", "bar", "hatch", "square", "star", "cross", "bead"] = "dot"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFigure:
    """A drawing with its legend and caption."""

    kind: ClassVar[str] = "figure"
    drawing: Drawing
    caption: str
    legend: tuple[LegendEntry, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCell:
    """A cell: its text, and what it is sorted by where that is not the text."""

    text: str
    value: float | None = None
    note: str = ""
    """Small print below the text."""
    tag: str = ""
    """A mark behind the text, such as ``winner``."""
    paint: str = ""
    """Class of the colour that the thing has in figures, shown beside the text."""
    tone: Tone = ""
    code: bool = False

    @property
    def key(self) -> str:
        """The value as the page stores it, to five digits; empty for none."""
        return "" if self.value is None else _HASH.format(self.value)


@dataclass(frozen=True, slots=True)
class PageColumn:
    """A column of a table."""

    title: str
    number: bool = False
    """Its cells stand at the right."""
    words: str = ""
    """What the title means, shown while the pointer rests on it."""
    long: bool = False
    """Its cells hold sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRow:
    """A row; its first cell names it."""

    cells: tuple[PageCell, ...]
    anchor: str = ""
    """Points of figures, and other pages, link to it by this id."""
    tone: Tone = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """A table with a caption; longer ones can be sorted and filtered."""

    kind: ClassVar[str] = "table"
    caption: str
    columns: tuple[PageColumn, ...]
    rows: tuple[PageRow, ...]
    note: str = ""
    sortable: bool = True
    filterable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Blocks that belong together, under a heading."""

    title: str
    blocks: tuple[PageBlock, ...]
    wide: bool = False
    """It takes the whole width; others stand side by side."""
    anchor: str = ""
    tone: Tone = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSection:
    """A section: cards, then sections inside it."""

    title: str
    anchor: str
    lead: str = ""
    cards: tuple[Card, ...] = ()
    inner: tuple["PageSection", ...] = ()


@dataclass(frozen=True, slots=True)
class KeyNumber:
    """A number of a decision: ``1.31x``, ``speed-up over the baseline``, ``1.28 to 1.34``."""

    value: str
    words: str
    span: str = ""


@dataclass(frozen=True, slots=True)
class CopyLine:
    """A line to type, with what it does; it has a button that copies it."""

    words: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What was decided about one thing, how sure that is, and what to do."""

    about: str
    verdict: str
    """Who wins; ``No decision`` where none does."""
    state: Literal["decided", "open", "failed"]
    title: str = ""
    """What ``about`` is, in words."""
    detail: str = ""
    """The full name of the winner."""
    numbers: tuple[KeyNumber, ...] = ()
    sure: str = ""
    """How sure it is, as sentences."""
    advice: str = ""
    """What to do, as sentences."""
    lines: tuple[CopyLine, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()
    link: str = ""
    """Anchor of the section that says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole page."""

    title: str
    lead: tuple[str, ...]
    """What it is of, when and where: a paragraph each."""
    decisions: tuple[Decision, ...]
    sections: tuple[PageSection, ...]
    common: tuple[Card, ...] = ()
    """What is said of all decisions together."""


def plain(*texts: str, numbers: Mapping[int, float] | None = None) -> tuple[PageCell, ...]:
    """Cells of texts; ``numbers``: place of a cell to the value that it is sorted by."""
    values = numbers or {}
    return tuple(PageCell(text=text, value=values.get(k)) for k, text in enumerate(texts))


def table(caption: str, titles: Sequence[str], rows: Sequence[PageRow], right: int) -> PageTable:
    """A table whose columns from number ``right`` on hold numbers."""
    columns = tuple(PageColumn(title, number=k >= right) for k, title in enumerate(titles))
    return PageTable(caption=caption, columns=columns, rows=tuple(rows))


def render(page: Page) -> str:
    """The page as text. Raises MissingTool where jinja2 is not installed."""
    try:
        import jinja2  # noqa: PLC0415 - heavy
    except ImportError as error:
        raise MissingTool(
            Fault(
                where="report",
                found=f"the page needs {error.name}, which is not installed",
                hint="pip install jinja2",
            )
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = _read("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template("frame.html.j2").render(
        page=page, style=_read("style.css"), script=script, digest=digest
    )


def write(page: Page, path: Path) -> Path:
    """Write a page, replacing an earlier one as a whole; returns its path.

    Raises InputError if the file cannot be written or is something else than a page.
    """
    page_file.check(path)
    page_file.write(render(page), path)
    return path


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
