"""Totals of a program by several counters as text for the terminal."""

from collections.abc import Sequence

from autotune.assertions.counters.program_totals import ProgramTotal
from autotune.results.assertion.verdict_words import count_words
from autotune.results.report.text_table import columns


def text(totals: Sequence[ProgramTotal]) -> str:
    """A table with a counter in each row, and the word that they are not compared."""
    rows = [
        ("quantity", "counter", "count", "which"),
        *((t.quantity, t.counter, count_words(t.count), t.note) for t in totals),
    ]
    head = "the whole program by counter; different counters are not compared, no verdict:"
    return f"{head}\n\n{columns(rows, right=(2,))}"
