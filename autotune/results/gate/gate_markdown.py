"""A check as Markdown, as the summaries of jobs and merge requests show it."""

from collections.abc import Iterator

from autotune.results.gate import gate_words
from autotune.results.gate.gate_verdict import GateCheck
from autotune.results.report.markdown_text import plain


def markdown(check: GateCheck) -> str:
    """A heading with the verdict, a table of the problems, and a sentence for each."""
    return "\n".join([*_lines(check), ""])


def _lines(check: GateCheck) -> Iterator[str]:
    yield f"## Run time: {plain(gate_words.headline(check))}"
    yield ""
    yield f"- old: {plain(check.old)}"
    yield f"- new: {plain(check.new)}"
    yield ""
    yield f"| {' | '.join(gate_words.HEAD)} |"
    yield "|---|--:|--:|--:|---|--:|"
    for problem in check.problems:
        yield f"| {' | '.join(plain(cell) for cell in gate_words.cells(problem))} |"
    yield ""
    for problem in check.problems:
        text = "; ".join(gate_words.sentences(problem, check.limit))
        yield f"- {plain(f'{problem.problem}: {text}')}"
    for note in check.notes:
        yield f"- {plain(note)}"
