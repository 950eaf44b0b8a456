"""The check of a run as one HTML page that needs no network and no script.

The template escapes all that comes from the program: names, expressions, paths.
"""

from pathlib import Path

from autotune.assertions.checking.verdicts import AssertionCheck, AssertionVerdict
from autotune.errors import Fault, MissingTool
from autotune.results.assertion import check_text, verdict_words
from autotune.results.page import page_file
from autotune.results.report.number_words import percent

_TEMPLATE = Path(__file__).with_name("check_page.html.j2")
_ROWS = 400
"""Assertions that the page lists; those that fail are all among the first."""


def write(check: AssertionCheck, path: Path, tree: str) -> None:
    """Write the page, replacing an earlier one; ``tree`` is the text of the call paths.

    Raises InputError if the file cannot be written or is no page.
    """
    page_file.check(path)
    page_file.write(render(check, tree), path)


def render(check: AssertionCheck, tree: str) -> str:
    """The page as text. Raises MissingTool when matplotlib or jinja2 is not installed."""
    try:
        import jinja2  # noqa: PLC0415 - heavy

        from autotune.results.assertion import figure  # noqa: PLC0415 - heavy
    except ImportError as error:
        raise MissingTool(
            Fault(
                where="--page",
                found=f"the page needs {error.name}, which is not installed",
                hint="pip install matplotlib jinja2",
            )
        ) from error
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"count": verdict_words.count_words, "percent": percent}
    ordered = sorted(check.verdicts, key=lambda verdict: verdict.outcome != "fail")
    caption = "The share of messages up to a size, asserted and counted."
    drawn = [c for c in check.sizes if c.asserted or c.measured]
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        style=page_file.style(),
        check=check,
        rows=[(v, _cells(v), tuple(verdict_words.sentences(v, check.ranks)))
              for v in ordered[:_ROWS]],
        more=max(0, len(ordered) - _ROWS),
        curves=figure.size_curves(drawn, caption) if drawn else "",
        caption=caption,
        sizes=[tuple(verdict_words.size_words(c, check.ranks)) for c in check.sizes],
        unasserted=tuple(check_text.unasserted_lines(check)),
        terms=[(term, verdict_words.term_words(term)) for term in check.unexplained],
        headline=verdict_words.headline(check),
        outcomes=verdict_words.OUTCOMES,
        tree=tree,
    )  # fmt: skip


def _cells(verdict: AssertionVerdict) -> tuple[str, ...]:
    """Predicted, measured, error, passes and failures as the published line has them."""
    return tuple(
        cell.rpartition("=")[2] for cell in verdict_words.published(verdict).rsplit(":", 5)[1:]
    )
