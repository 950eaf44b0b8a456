"""Reads a recorded space from CSV: a header, a row per candidate, parameters first, the time in the
last column.

``files/parsing/column_roles.py`` says what each column is. A candidate that failed may leave its
time empty. One-hot encoded parameters are decoded. In a table that ``autotune export`` wrote,
columns ``parameter:NAME`` are the parameters, other columns describe how a candidate was built and
run, and candidates without a status were not measured. Rows that cannot be used are faults.
"""

import dataclasses
from collections.abc import Sequence

from autotune.domain.metric import TIME, Metric
from autotune.domain.results import STATUSES, Status
from autotune.errors import nearest
from autotune.files.parsing.column_roles import (
    EXPORTED,
    METRIC,
    PREDICTED,
    STATUS,
    ColumnRoles,
    MeasuredCells,
    cells_of,
    metric_of,
    roles_of,
    unit_of,
)
from autotune.files.parsing.delimited import DelimitedLines, content, split
from autotune.files.parsing.faults import Faults
from autotune.files.recorded.one_hot import decode
from autotune.files.recorded.recorded_space import Row, left_out, positive

_RUN = (
    "problem", "threads", "ranks", "nodes", "communication", "placement", "compiler", "flags",
)  # fmt: skip
"""The other columns of a table of ``autotune export`` that tell one candidate from another."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRows:
    """The rows of a table. ``unit``: that of the metric; empty where the table states none."""

    rows: list[Row]
    unit: str
    metric: Metric = TIME
    treated: tuple[str, ...] = ()
    """Notes on columns that were left out."""


def candidate_rows(text: str, faults: Faults, goal: Metric = TIME) -> CandidateRows:
    """The rows of a table; faults found are added to ``faults``.

    The name of the column of times may state the unit (``time_ms``, ``time [s]``). ``goal``: the
    metric that a last column of this name holds, ``rate`` or ``rate [MB/s]``.
    """
    table = split(text, faults, {})
    exported = any(name.startswith(EXPORTED) for name in table.header)
    roles = _exported_roles(table.header) if exported else roles_of(table, faults)
    title = roles.responses[0]
    metric = _metric(table, title, goal, faults)
    if exported and roles.status:
        place = table.header.index(roles.status)
        table.rows = [(line, row) for line, row in table.rows if row[place]]
    kept = [
        row
        for cells in cells_of(table, roles, title)
        if (row := _row(cells, roles, table, faults, metric)) is not None
    ]
    return CandidateRows(
        rows=_decoded(kept),
        unit=("s" if unit_of(title)[1] else "") if metric.timed else metric.unit,
        metric=metric,
        treated=(*table.treated, *roles.treated),
    )


def _exported_roles(header: Sequence[str]) -> ColumnRoles:
    """The roles of the columns that ``autotune export`` wrote: parameters, how the candidate was
    run, and the outcome.
    """
    parameters = {n.removeprefix(EXPORTED): n for n in header if n.startswith(EXPORTED)}
    runs = {n if n not in parameters else f"{n} of run": n for n in _RUN if n in header}
    return ColumnRoles(
        parameters=parameters | runs,
        responses=(header[-1],),
        predicted=PREDICTED[0] if PREDICTED[0] in header else None,
        status=STATUS if STATUS in header else None,
    )


def _metric(table: DelimitedLines, title: str, goal: Metric, faults: Faults) -> Metric:
    """The metric of the last column: as ``autotune export`` wrote it, else the goal or the time."""
    stated = metric_of(title)
    if title.startswith(METRIC):
        column = f"{METRIC}{stated.name}:better"
        place = table.header.index(column) if column in table.header else -1
        more = place >= 0 and any(row[place] == "more" for _, row in table.rows)
        return dataclasses.replace(stated, better="more" if more else "less")
    if goal.timed or stated.name != goal.name:
        return TIME
    if stated.unit not in ("", goal.unit):
        raise faults.fail("1", f"{title}", goal.title, "convert the values")
    return goal


def _row(
    cells: MeasuredCells,
    roles: ColumnRoles,
    table: DelimitedLines,
    faults: Faults,
    metric: Metric,
) -> Row | None:
    place = f"{cells.line}"
    status: Status | None = next((named for named in STATUSES if named == cells.status), None)
    if status is None:
        return left_out(faults, f"{place}:{STATUS}", f"{cells.status!r}",
            f"one of {', '.join(STATUSES)}", nearest(cells.status, STATUSES),
        )  # fmt: skip
    seconds, predicted = positive(cells.time), positive(cells.predicted)
    if status == "ok" and seconds is None:
        hint = f"leave failures out, or say so in a column {STATUS}"
        where = f"{place}:{roles.responses[0]}"
        return left_out(faults, where, f"{cells.time_text!r}", "a positive number", hint)
    if cells.predicted_text and predicted is None:
        return left_out(
            faults,
            f"{place}:{roles.predicted}",
            f"{cells.predicted_text!r}",
            "a positive number or nothing",
        )
    return Row(
        place=place,
        settings={n: content(text, table.decimal_comma) for n, text in cells.settings.items()},
        seconds=metric.cost(seconds) if status == "ok" and seconds is not None else None,
        status=status,
        predicted=predicted,
    )


def _decoded(encoded: list[Row]) -> list[Row]:
    if not encoded:
        return encoded
    columns = {name: [row.settings[name] for row in encoded] for name in encoded[0].settings}
    plain = decode(columns)
    return [
        dataclasses.replace(row, settings={name: values[i] for name, values in plain.items()})
        for i, row in enumerate(encoded)
    ]
