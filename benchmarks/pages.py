"""Pages in a real browser: weight and time to interactive by number of candidates; pictures.

    python benchmarks/pages.py [--candidates 30,300,2000] [--repeats 5] [--pictures FOLDER]

Needs Chromium. A page is interactive when its script has set up sorting, filters and links; that
moment is counted from the begin of the navigation, as the page's own clock has it. Sorting and
filtering are timed in the page, with the layout that follows. ``--pictures`` writes the pictures of
``docs/pages.md``.
"""

import argparse
import gzip
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import chromium
from pages_study import planted

from autotune.results.evaluate.study_evaluation import evaluate
from autotune.results.report import study_page
from autotune.results.report.text_table import columns

_INTERACTIVE = "performance.getEntriesByName('interactive')[0].startTime"
_TIMED = """(() => {{
  const begun = performance.now();
  {action};
  document.body.getBoundingClientRect();
  return performance.now() - begun;
}})()"""
_SORT = "document.querySelectorAll('table.filters thead button')[3].click()"
_FILTER = """
  const text = document.querySelector('.tools input[type=search]');
  text.value = 'lji';
  text.dispatchEvent(new Event('change'))"""
_PICTURES = {
    "decision": "#decision",
    "loops": "#problem-1-why .card:nth-child(1)",
    "core-and-levels": "#problem-1-why .card:nth-child(2)",
    "samples": "#problem-1-measured .card:nth-child(1)",
    "course": "#problem-1-measured .card:nth-child(2)",
    "predicted-measured": "#problem-1-measured .card:nth-child(3)",
    "model-errors": "#problem-1-measured .card:nth-child(4)",
}
"""Name of a picture to the element of the page that it shows."""
_SHOWN = 30
"""Candidates of the study of the pictures."""


@dataclass(frozen=True, slots=True)
class PageCost:
    """What a page weighs, and how long a browser takes with it."""

    candidates: int
    bytes: int
    compressed: int
    elements: int
    interactive: float
    """Milliseconds, the shortest of the repeats, as the other times: what the page needs where
    nothing else runs."""
    median: float
    sort: float
    filter: float


def cost(browser: chromium.Browser, text: str, candidates: int, repeats: int) -> PageCost:
    """Open a page several times, each time in a new tab, and use it."""
    moments, sorts, filters, elements = [], [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(text, encoding="utf-8")
        for _ in range(repeats):
            tab = browser.tab()
            tab.resize(1200, 900)
            tab.open(path.as_uri())
            moments.append(tab.run(_INTERACTIVE))
            sorts.append(tab.run(_TIMED.format(action=_SORT)))
            filters.append(tab.run(_TIMED.format(action=_FILTER)))
            elements = tab.run("document.querySelectorAll('*').length")
            tab.call("Page.close")
    return PageCost(
        candidates=candidates,
        bytes=len(text.encode()),
        compressed=len(gzip.compress(text.encode())),
        elements=elements,
        interactive=min(moments),
        median=statistics.median(moments),
        sort=min(sorts),
        filter=min(filters),
    )


def table(costs: list[PageCost]) -> str:
    """The costs as text."""
    head = ("candidates", "page", "gzip", "elements", "interactive", "median", "sort", "filter")
    rows = [
        (
            str(c.candidates), f"{c.bytes / 1e3:.0f} kB", f"{c.compressed / 1e3:.0f} kB",
            str(c.elements), f"{c.interactive:.0f} ms", f"{c.median:.0f} ms", f"{c.sort:.0f} ms",
            f"{c.filter:.0f} ms",
        )
        for c in costs
    ]  # fmt: skip
    return columns([head, *rows], right=range(len(head)))


def pictures(browser: chromium.Browser, folder: Path) -> None:
    """Write the pictures that the documentation shows, of a small planted study."""
    folder.mkdir(parents=True, exist_ok=True)
    tab = browser.tab()
    tab.resize(1200, 900)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "page.html"
        study_page.write(evaluate(planted(_SHOWN)), path)
        tab.open(path.as_uri())
        for name, selector in _PICTURES.items():
            tab.picture_of(selector, folder / f"page-{name}.png")
        tab.resize(400, 800)
        tab.picture(folder / "page-phone.png", whole=False)


def main() -> int:
    """Run it; exit code 2 without a browser."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", default="30,300,2000")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pictures", type=Path, help="write the pictures of the documentation")
    options = parser.parse_args()
    path = chromium.program()
    if path is None:
        print("no Chromium on PATH: apt-get install chromium", file=sys.stderr)
        return 2
    with chromium.Browser(path) as browser:
        if options.pictures:
            pictures(browser, options.pictures)
            return 0
        costs = []
        for count in map(int, options.candidates.split(",")):
            text = study_page.render(evaluate(planted(count)))
            costs.append(cost(browser, text, count, options.repeats))
            print(table(costs[-1:]), flush=True)
    print(table(costs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
