"""Reads a recorded space from CSV: a header, a row per candidate, parameters first, the time in the
last column.

A column named ``status`` holds the outcome of a candidate, and a column named ``predicted_s`` the
prediction of a model. A candidate that failed may leave its time empty. One-hot encoded parameters
are decoded. In a table that ``autotune export`` wrote, columns ``parameter:NAME`` are the
parameters, other columns describe how a candidate was built and run, and candidates without a
status were not measured.
"""

import dataclasses

from autotune.domain.results import STATUSES, Status
from autotune.errors import nearest
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import (
    UNITS,
    as_wide_as,
    cell,
    quantity,
    read_lines,
    repeated,
)
from autotune.files.recorded.one_hot import decode
from autotune.files.recorded.recorded_space import Row, left_out, positive

PREDICTED, STATUS = "predicted_s", "status"
OWN = "parameter:"
"""What the names of parameters begin with in a table that ``autotune export`` wrote."""
_RUN = (
    "problem", "threads", "ranks", "nodes", "communication", "placement", "compiler", "flags",
)  # fmt: skip
"""Its other columns that tell one candidate from another."""


def rows(text: str, faults: Faults) -> tuple[list[Row], str]:
    """The rows of a table, and the unit of their times: ``s``, or empty where none is stated.

    The name of the last column may state the unit (``time_ms``, ``time [s]``). Faults found are
    added to ``faults``.
    """
    lines = read_lines(
        text.lstrip("\ufeff"),
        ",",
        faults,
        empty_rows=True,
        expected="values separated by commas",
    )
    header = [name.strip() for name in lines[0][1]]
    _check_header(header, faults)
    unit = _unit(header[-1])
    factor = UNITS[unit] if unit else 1.0
    of_ours = any(name.startswith(OWN) for name in header)
    kept: list[Row] = []
    for number, line in as_wide_as(header, lines[1:], faults):
        cells = dict(zip(header, line, strict=True))
        if of_ours and not cells.get(STATUS):
            continue
        row = _row(number, _own_columns(cells, header[-1]) if of_ours else cells, factor, faults)
        if row is not None:
            kept.append(row)
    return _decoded(kept), "s" if unit else ""


def _check_header(header: list[str], faults: Faults) -> None:
    if len(header) < 2:
        raise faults.fail("1", "one column", "parameters, and the time in the last column")
    if any(not name or cell(name) != name for name in header):
        raise faults.fail("1", "no header", "the names of the columns in the first line")
    again = repeated(header)
    if again:
        raise faults.fail("1", f"two columns named {', '.join(again)}", "each name once")


def _unit(title: str) -> str:
    """The unit of time at the end of a column title; empty where there is none.

    >>> _unit("time_ms"), _unit("Time [s]"), _unit("performance")
    ('ms', 's', '')
    """
    return quantity(title)[1] or (title.lower() if title.lower() in UNITS else "")


def _own_columns(cells: dict[str, str], title: str) -> dict[str, str]:
    """The cells that matter of a row written by autotune: parameters, how the candidate was run,
    and the outcome.
    """
    kept = {n.removeprefix(OWN): text for n, text in cells.items() if n.startswith(OWN)}
    kept |= {n if n not in kept else f"{n} of run": cells[n] for n in _RUN if n in cells}
    kept |= {name: cells[name] for name in (STATUS, PREDICTED) if name in cells}
    return {**kept, title: cells[title]}


def _row(number: int, line: dict[str, str], factor: float, faults: Faults) -> Row | None:
    title = list(line)[-1]
    text = line.pop(title).strip()
    given = line.pop(STATUS, "ok").strip() or "ok"
    guess = line.pop(PREDICTED, "").strip()
    status: Status | None = next((named for named in STATUSES if named == given), None)
    place = f"{number}"
    if status is None:
        return left_out(faults, f"{place}:{STATUS}", f"{given!r}", f"one of {', '.join(STATUSES)}",
            nearest(given, STATUSES),
        )  # fmt: skip
    seconds, predicted = positive(cell(text)), positive(cell(guess))
    if status == "ok" and seconds is None:
        hint = f"leave failures out, or say so in a column {STATUS}"
        return left_out(faults, f"{place}:{title}", f"{text!r}", "a positive number", hint)
    if guess and predicted is None:
        return left_out(
            faults, f"{place}:{PREDICTED}", f"{guess!r}", "a positive number or nothing"
        )
    return Row(
        place=place,
        settings={name: cell(value) for name, value in line.items()},
        seconds=None if seconds is None or status != "ok" else seconds * factor,
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
