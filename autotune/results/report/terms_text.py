"""The terms of the model, predicted and measured: as lines of a table, then as text."""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.domain.dissection import Dissection, SweepTerms, Term
from autotune.results.report.text_table import columns
from autotune.units import show

_NONE = "-"
_WHAT = {
    "T_OL": "arithmetic on registers",
    "T_nOL": "loads and stores, in L1; predicted with all operations on vectors",
    "loads": "loads alone, in L1",
    "core": "whole loop, in L1",
    "level": "whole loop, data in {level}",
    "level loads": "loads alone, data in {level}",
}
REAL_STEP = "real time step (its measured time, shared out as in an instrumented run)"
"""What the times of kernels are of."""
_APART = 0.1
"""A term whose deviation is below this is not told of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermLine:
    """One term of the model as a line of a table; times are cycles per iteration."""

    name: str
    what: str
    predicted: str
    measured: str
    interval: str
    deviation: str
    beyond: str
    """Of a level: predicted transfer, and measured time beyond that in the core."""
    working_set: str
    note: str


def lines(sweep: SweepTerms) -> list[TermLine]:
    """The lines of all terms of a sweep."""
    core = sweep.term("core")
    return [_line(term, core) for term in sweep.terms]


def _line(term: Term, core: Term | None) -> TermLine:
    deviation = term.deviation
    low_high = term.interval
    return TermLine(
        name=term.name,
        what=_WHAT[term.kind].format(level=term.level),
        predicted=cycles(term.predicted),
        measured=cycles(term.measured),
        interval=f"{cycles(low_high[0])} to {cycles(low_high[1])}" if low_high else _NONE,
        deviation=_NONE if deviation is None else f"{100 * deviation:+z.0f} %",
        beyond=_beyond(term, core),
        working_set=show(term.working_set, "size"),
        note=term.reason,
    )


def _beyond(term: Term, core: Term | None) -> str:
    if term.transfer is None:
        return ""
    exposed = (
        None
        if core is None or core.measured is None or term.measured is None
        else max(0.0, term.measured - core.measured)
    )
    return f"{cycles(term.transfer)} / {cycles(exposed)}"


def cycles(value: float | None) -> str:
    """Cycles as text with three digits.

    >>> cycles(0.6252)
    '0.625'
    """
    return _NONE if value is None else f"{value:#.3g}".rstrip(".")


def title(sweep: SweepTerms) -> str:
    """The heading of a sweep: its calls, share, vectors, route and bottleneck."""
    vectors = f"vectors of {sweep.vector} B" if sweep.vector > 8 else "scalar"
    share = "" if sweep.share is None else f", {100 * sweep.share:.0f} % of the predicted step"
    calls = f"{sweep.calls} call{'s' if sweep.calls != 1 else ''}"
    return (
        f"{sweep.sweep}: {calls} a step{share}; {vectors}, {sweep.route},"
        f" bottleneck {sweep.bottleneck}"
    )


def furthest(sweep: SweepTerms) -> str:
    """In words, the term with the largest error; empty if no error is large.

    Terms of the core take precedence, because an error in them appears at every cache level too.
    T_nOL is no such term: what is predicted holds more than what is measured.
    """
    compared = [t for t in sweep.terms if t.deviation is not None and t.kind != "T_nOL"]
    far = [t for t in compared if abs(t.deviation or 0.0) > _APART]
    inner = [t for t in far if t.kind in ("T_OL", "core")]
    term = max(inner or far, key=lambda t: abs(t.deviation or 0.0), default=None)
    if term is None or term.deviation is None:
        return ""
    way = "too slow" if term.deviation > 0 else "too fast"
    return (
        f"furthest off: {term.name} is predicted {100 * abs(term.deviation):.0f} % {way}"
        f" ({cycles(term.predicted)} for {cycles(term.measured)} cy)"
    )


def kernels(dissection: Dissection) -> list[tuple[str, str, str, str]]:
    """Rows for the kernels of the real step: name, predicted, measured, deviation."""
    rows = []
    for kernel in dissection.kernels:
        both = kernel.predicted is not None and bool(kernel.measured)
        share = (kernel.predicted or 0) / kernel.measured - 1 if both and kernel.measured else None
        rows.append(
            (
                kernel.kernel,
                _time(kernel.predicted),
                _time(kernel.measured),
                _NONE if share is None else f"{100 * share:+z.0f} %",
            )
        )
    return rows


def _time(value: float | None) -> str:
    return _NONE if value is None else show(value, "time")


def text(dissection: Dissection) -> str:
    """The dissection as a table for a terminal."""
    clock = show(dissection.clock, "frequency")
    out = [
        f"terms of the model, cycles per component at {clock}, {dissection.threads} thread(s),"
        f" {dissection.rounds} round(s):"
    ]
    for sweep in dissection.sweeps:
        out += ["", title(sweep), _table(lines(sweep))]
        if furthest(sweep):
            out.append(furthest(sweep))
    if dissection.kernels:
        out += ["", f"in the {REAL_STEP}:"]
        head = [("kernel", "predicted", "measured", "deviation")]
        out.append(columns([*head, *kernels(dissection)], right=(1, 2, 3)))
    out += [f"note: {note}" for note in dissection.notes]
    return "\n".join(out)


def _table(rows: Sequence[TermLine]) -> str:
    head = (
        "term", "predicted", "measured", "90 % interval", "deviation", "transfer / exposed",
        "working set", "what",
    )  # fmt: skip
    body = [
        (
            *(row.name, row.predicted, row.measured, row.interval, row.deviation, row.beyond),
            *(row.working_set, f"{row.what}{': ' + row.note.splitlines()[0] if row.note else ''}"),
        )
        for row in rows
    ]
    return columns([head, *body], right=(1, 2, 4, 5, 6))
