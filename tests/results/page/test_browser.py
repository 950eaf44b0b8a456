"""The page of a study in a real browser: sorting, filtering, links, copying, widths, no network."""

import importlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from autotune.results.evaluate.study_evaluation import evaluate
from autotune.results.page import frame
from autotune.results.page.frame import Card, Page, PageRow, PageSection, plain, table
from autotune.results.report import study_page

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
FIRST = "document.querySelector('table.filters tbody tr')"
ROWS = "[...document.querySelectorAll('table.filters tbody tr')]"


@pytest.fixture(scope="module")
def chromium() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        module = importlib.import_module("chromium")
        if module.program() is None:
            pytest.skip("optional: no Chromium is installed, apt-get install chromium")
        yield module


@pytest.fixture(scope="module")
def url(chromium, tmp_path_factory) -> str:
    planted = importlib.import_module("pages_study").planted
    path = tmp_path_factory.mktemp("page") / "page.html"
    study_page.write(evaluate(planted(60, failing=20)), path)
    return path.as_uri()


@pytest.fixture(scope="module")
def browser(chromium):
    with chromium.Browser(chromium.program()) as running:
        yield running


@pytest.fixture
def tab(browser, url):
    tab = browser.tab()
    tab.resize(1200, 900)
    tab.open(url)
    yield tab
    assert tab.complaints == []
    assert tab.requests == [url]
    tab.call("Page.close")


def wait(tab, condition: str) -> None:
    """Until a condition holds; an error after five seconds."""
    assert tab.run(
        "new Promise(done => { const end = performance.now() + 5000;"
        f" (function look() {{ const held = {condition};"
        " held || performance.now() > end ? done(!!held) : setTimeout(look, 20); })(); })"
    ), condition


def click(tab, column: str) -> None:
    tab.run(
        f"[...document.querySelectorAll('table.filters thead button')]"
        f".find(button => button.textContent === '{column}').click()"
    )


def test_a_click_on_a_title_sorts_and_a_second_one_turns_it_round(tab):
    values = f"{ROWS}.map(row => row.cells[3].dataset.v).filter(v => v !== undefined).map(Number)"
    for down in (False, True):
        click(tab, "measured")
        shown = tab.run(values)
        assert shown == sorted(shown, reverse=down)
        last = tab.run(f"{ROWS}.at(-1).cells[3].textContent.trim()")
        assert last == "-"  # what has no value comes last either way
    assert tab.run("document.querySelector('[aria-sort]').getAttribute('aria-sort')") == (
        "descending"
    )


def test_a_filter_hides_rows_and_dims_their_points(tab):
    tab.run(
        "(() => { const text = document.querySelector('.tools input');"
        " text.value = 'LJI block=64'; text.dispatchEvent(new Event('change')); })()"
    )
    names = tab.run(f"{ROWS}.filter(row => !row.hidden).map(row => row.textContent)")
    assert names
    assert all("lji" in name and "block=64" in name for name in names)
    count = tab.run("document.querySelector('.tools output').textContent")
    assert count == f"{len(names)} of 60 rows"
    hidden = tab.run(f"{ROWS}.filter(row => row.hidden).map(row => '#' + row.id)")
    dimmed = tab.run(
        "[...document.querySelectorAll('.plot a.out')].map(a => a.getAttribute('href'))"
    )
    assert set(dimmed) <= set(hidden)
    assert dimmed


def test_a_permalink_shows_its_row_even_where_a_filter_hid_it(tab):
    anchor = tab.run(f"{ROWS}[40].id")
    tab.run(
        "(() => { const text = document.querySelector('.tools input');"
        " text.value = 'no such words'; text.dispatchEvent(new Event('change')); })()"
    )
    tab.run(f"location.hash = '{anchor}'")
    row = f"document.getElementById('{anchor}')"
    wait(tab, f"{row}.matches(':target') && !{row}.hidden")
    wait(tab, f"{row}.getBoundingClientRect().top >= 0")
    wait(tab, f"{row}.getBoundingClientRect().bottom <= innerHeight")


def test_of_many_rows_the_first_are_laid_out_until_others_are_asked_for(browser, tmp_path):
    rows = [
        PageRow(cells=plain(f"name {k}", str(k), numbers={1: float(k)}), anchor=f"row-{k}")
        for k in range(700)
    ]
    listing = replace(table("All", ("name", "value"), rows, right=1), filterable=True)
    section = PageSection(title="All", anchor="all", cards=(Card(title="", blocks=(listing,)),))
    path = frame.write(
        Page(title="many", lead=(), decisions=(), sections=(section,)), tmp_path / "many.html"
    )
    tab = browser.tab()
    tab.open(path.as_uri())
    laid_out = f"{ROWS}.filter(row => !row.hidden).map(row => row.id)"
    assert tab.run(laid_out) == [f"row-{k}" for k in range(300)]
    for _ in range(2):
        click(tab, "value")
    assert tab.run(laid_out) == [f"row-{699 - k}" for k in range(300)]
    tab.run("location.hash = 'row-200'")  # the 500th now
    wait(tab, "!document.getElementById('row-200').hidden")
    tab.run("document.querySelector('button.more').click()")
    assert len(tab.run(laid_out)) == 700
    assert tab.run("document.querySelector('button.more').hidden")
    tab.call("Page.close")


def test_the_pointer_on_a_point_shows_its_values(tab):
    mark = "document.querySelector('.plot a .fill.winner')"
    tab.run(f"{mark}.scrollIntoView({{block: 'center'}})")
    tab.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    place = tab.run(
        f"(() => {{ const r = {mark}.getBoundingClientRect();"
        " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
    )
    tab.call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])
    wait(tab, "!document.getElementById('tip').hidden")
    text = tab.run("tip.textContent")
    assert "measured: " in text
    assert tab.run(FIRST + ".cells[0].querySelector('a').textContent") in text


def test_a_button_copies_the_build_line(tab):
    line = tab.run("document.querySelector('.decision pre').textContent.trim()")
    # the clipboard of a browser without a window is not there: what is handed to it counts
    tab.run(
        "Object.defineProperty(navigator, 'clipboard',"
        " {value: {writeText: text => { window.copied = text; }}})"
    )
    tab.run("document.querySelector('.decision .copies button').click()")
    wait(tab, "document.querySelector('.copies button').textContent === 'Copied'")
    assert tab.run("window.copied") == line


@pytest.mark.parametrize("width", [320, 400, 800, 1200])
def test_no_page_is_wider_than_its_window(tab, url, width):
    tab.resize(width, 800)
    tab.open(url)
    assert tab.run("document.documentElement.scrollWidth") <= width


def test_the_keyboard_reaches_every_control_and_shows_where_it_is(tab):
    tab.call("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab",
             windowsVirtualKeyCode=9)  # fmt: skip
    assert tab.run("document.activeElement.className") == "skip"
    assert tab.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert tab.run(
        "[...document.querySelectorAll('button, summary, .tools input')]"
        ".every(node => node.tabIndex === 0)"
    )


def test_print_shows_all_that_was_folded_and_no_controls(tab):
    tab.run("dispatchEvent(new Event('beforeprint'))")
    tab.emulate("print")
    assert tab.run("[...document.querySelectorAll('details')].every(node => node.open)")
    assert tab.run("getComputedStyle(document.querySelector('.tools')).display") == "none"
    tab.emulate("screen")


def test_without_its_script_a_page_can_be_read_and_its_links_work(browser, url):
    tab = browser.tab()
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    tab.resize(1200, 900)
    tab.open(url)
    document = tab.call("DOM.getDocument", depth=1)["root"]["nodeId"]
    text = tab.call("DOM.getOuterHTML", nodeId=document)["outerHTML"]
    assert "<button" not in text
    assert text.count("<tr") > 60
    tab.call("Page.close")
    tab = browser.tab()
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    tab.open(f"{url}#row-000000000005")
    found = tab.call("DOM.getDocument", depth=1)["root"]["nodeId"]
    row = tab.call("DOM.querySelector", nodeId=found, selector="tr:target")
    assert row["nodeId"]
    tab.call("Page.close")


def test_a_foreign_script_does_not_run(browser, url, tmp_path):
    """Even if text became markup: the page's policy lets its script run alone."""
    page = Path(url.removeprefix("file://")).read_text(encoding="utf-8")
    target = tmp_path / "evil.html"
    target.write_text(page.replace("<main>", "<main><script>window.evil = 1</script>"))
    tab = browser.tab()
    tab.open(target.as_uri())
    assert tab.run("window.evil === undefined")
    assert tab.complaints
    tab.call("Page.close")
