"""The frame of pages: structure for screen readers, escaping, no network, nothing foreign runs."""

import re
from html.parser import HTMLParser

import pytest

from autotune.errors import InputError
from autotune.results.page import frame
from autotune.results.page.frame import (
    Bullets,
    Card,
    CopyLine,
    Decision,
    Definitions,
    Disclosure,
    KeyNumber,
    LegendEntry,
    Listing,
    Page,
    PageCell,
    PageColumn,
    PageFigure,
    PageRow,
    PageSection,
    PageTable,
    Paragraph,
    plain,
)
from autotune.results.page.plot import Dot, LaneLabel, Lanes, Plot, PlotAxis, draw

EVIL = "<script>alert('&\"')</script>"


def page(text: str = "text") -> Page:
    """A page that has everything, with the same text wherever there is one."""
    axis = PlotAxis(title=text, low=0, high=1, ticks=((0.5, text),))
    drawing = draw(
        Plot(
            name=text,
            x=axis,
            y=Lanes((LaneLabel(text, "p1", "row-1"),)),
            marks=[Dot(x=0.5, y=0, paint="p1", anchor="row-1", words=text)],
        )
    )
    table = PageTable(
        caption=text,
        columns=(PageColumn(text, words=text), PageColumn(text, number=True)),
        rows=(
            PageRow(cells=(PageCell(text=text, note=text, tag=text), *plain(text)), anchor="row-1"),
            PageRow(cells=plain(text, text, numbers={1: 2.0}), tone="idle"),
        ),
        note=text,
        filterable=True,
    )
    blocks = (
        Paragraph(text),
        Bullets((text,)),
        Definitions(((text, text),)),
        Listing(text, copied=True),
        PageFigure(drawing=drawing, caption=text, legend=(LegendEntry("p1", text),)),
        Disclosure(text, (table,)),
    )
    card = Card(title=text, blocks=blocks)
    return Page(
        title=text,
        lead=(text,),
        decisions=(
            Decision(
                about=text, title=text, verdict=text, state="decided", detail=text, sure=text,
                advice=text, numbers=(KeyNumber(text, text, text),), lines=(CopyLine(text, text),),
                notes=((text, text),), link="first",
            ),
        ),
        common=(card,),
        sections=(
            PageSection(
                title=text, anchor="first", lead=text,
                inner=(PageSection(title=text, anchor="second", cards=(card,)),),
            ),
        ),
    )  # fmt: skip


class Outline(HTMLParser):
    """Tags, ids, references and headings of a page; unbalanced elements raise."""

    VOID = frozenset({"meta", "link", "br", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.attributes: list[tuple[str, dict]] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.tags.append(tag)
        self.attributes.append((tag, values))
        self.ids += [values["id"]] if "id" in values else []
        self.links += [values["href"]] if "href" in values else []
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_headings_are_in_order_and_landmarks_are_there():
    outline = Outline(frame.render(page()))
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    steps = zip(outline.headings, outline.headings[1:], strict=False)
    assert all(after - before <= 1 for before, after in steps)
    for landmark in ("header", "nav", "main"):
        assert outline.tags.count(landmark) == 1
    assert ("nav", {"aria-label": "Sections"}) in outline.attributes


def test_tables_and_figures_say_what_they_are():
    outline = Outline(frame.render(page()))
    tables = outline.tags.count("table")
    assert tables == outline.tags.count("caption") == 2
    heads = [values for tag, values in outline.attributes if tag == "th"]
    assert all(values.get("scope") in ("col", "row") for values in heads)
    plots = [v for tag, v in outline.attributes if tag == "svg" and v.get("class") == "plot"]
    assert plots
    assert all(values["role"] == "img" and values["aria-label"] == "text" for values in plots)


def test_links_stay_on_the_page_and_have_a_target():
    unique = Outline(frame.render(page().__class__(
        title="x", lead=(), decisions=page().decisions, sections=page().sections)))  # fmt: skip
    assert {link for link in unique.links if link != "data:,"} <= {f"#{i}" for i in unique.ids}
    assert len(unique.ids) == len(set(unique.ids))


def test_nothing_of_the_outside_becomes_markup():
    text = frame.render(page(EVIL))
    assert text.count("<script") == 1
    assert "alert('&\"')" not in text
    Outline(text)


def test_a_page_loads_nothing_and_runs_only_its_script():
    text = frame.render(page())
    assert re.search(r"default-src 'none'; .*script-src 'sha256-[A-Za-z0-9+/]{43}='\"", text)
    assert not re.search(r"(?:src|action)=\"(?!data:)|@import|url\((?!#)|https?://", text)


def test_controls_are_made_by_the_script_alone():
    """Without a script no button and no field stands there that would do nothing."""
    outline = Outline(frame.render(page()))
    assert not {"button", "input", "select", "form"} & set(outline.tags)


def test_a_page_is_written_over_a_page_alone(tmp_path):
    target = tmp_path / "deep" / "page.html"
    assert frame.write(page("a"), target) == target
    frame.write(page("b"), target)
    assert target.read_text(encoding="utf-8") == frame.render(page("b"))
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    with pytest.raises(InputError):
        frame.write(page(), other)
    assert other.read_text() == "mine"
