"""A table in CSV: a header, a row per candidate, parameters first, the time in the last column.

A column named ``status`` says what became of a candidate, one named ``predicted_s`` what a model
said; a candidate that failed may leave its time empty. One-hot encoded parameters are decoded. In
a table that ``autotune export`` wrote, columns ``parameter:NAME`` are the parameters, and beside
them what says how a candidate was built and run; candidates without a status were not measured.
"""

import csv
import dataclasses
import functools
import io
import re

from autotune.domain.results import STATUSES, Status
from autotune.errors import nearest
from autotune.files.recorded.one_hot import decode
from autotune.files.recorded.recorded_faults import Faults
from autotune.files.recorded.recorded_space import Row, Setting, positive, whole
from autotune.files.recorded.t4_results import UNITS

PREDICTED, STATUS = "predicted_s", "status"
OWN = "parameter:"
"""What the names of parameters begin with in a table that ``autotune export`` wrote."""
_RUN = (
    "problem", "threads", "ranks", "nodes", "communication", "placement", "compiler", "flags",
)  # fmt: skip
"""Its other columns that tell one candidate from another."""
_WORDS: dict[str, Setting] = {"true": True, "false": False}
_UNIT = re.compile(r".*?[_ \[(]+([a-zµ]+)[\])]?", re.IGNORECASE)


def rows(text: str, faults: Faults) -> tuple[list[Row], str]:
    """The rows of a table, and the unit of their times: ``s``, or empty where none is stated.

    The name of the last column may state it (``time_ms``, ``time [s]``). Faults are added.
    """
    reader = csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), strict=True)
    try:
        lines = [(reader.line_num, line) for line in reader if line]
    except csv.Error as error:
        place, wrong = str(reader.line_num), f"not CSV: {error}"
        raise faults.fail(place, wrong, "values separated by commas") from error
    header = [name.strip() for name in lines[0][1]]
    _check_header(header, faults)
    unit = _unit(header[-1])
    factor = UNITS[unit] if unit else 1.0
    own = any(name.startswith(OWN) for name in header)
    found: list[Row] = []
    for number, line in lines[1:]:
        if len(line) != len(header):
            named = f"{len(line)} values"
            faults.add(str(number), named, f"{len(header)}, as the header", "cut off?")
            continue
        cells = dict(zip(header, line, strict=True))
        if own and not cells.get(STATUS):
            continue
        row = _row(number, _own(cells, header[-1]) if own else cells, factor, faults)
        if row is not None:
            found.append(row)
    return _decoded(found), "s" if unit else ""


def _check_header(header: list[str], faults: Faults) -> None:
    if len(header) < 2:
        raise faults.fail("1", "one column", "parameters, and the time in the last column")
    if any(not name or cell(name) != name for name in header):
        raise faults.fail("1", "no header", "the names of the columns in the first line")
    again = sorted({name for name in header if header.count(name) > 1})
    if again:
        raise faults.fail("1", f"two columns named {', '.join(again)}", "each name once")


def _unit(title: str) -> str:
    """The unit that a title ends in; empty for none.

    >>> _unit("time_ms"), _unit("Time [s]"), _unit("performance")
    ('ms', 's', '')
    """
    match = _UNIT.fullmatch(title)
    name = match.group(1).lower() if match else title.lower()
    return name if name in UNITS else ""


def _own(cells: dict[str, str], title: str) -> dict[str, str]:
    """Of a table of ours the parameters, what else tells candidates apart, and the outcome."""
    kept = {n.removeprefix(OWN): text for n, text in cells.items() if n.startswith(OWN)}
    kept |= {n if n not in kept else f"{n} of run": cells[n] for n in _RUN if n in cells}
    kept |= {name: cells[name] for name in (STATUS, PREDICTED) if name in cells}
    return {**kept, title: cells[title]}


def _row(number: int, line: dict[str, str], factor: float, faults: Faults) -> Row | None:
    title = list(line)[-1]
    text = line.pop(title).strip()
    given = line.pop(STATUS, "ok").strip() or "ok"
    guess = line.pop(PREDICTED, "").strip()
    status: Status | None = next((known for known in STATUSES if known == given), None)
    place = f"{number}"
    if status is None:
        return faults.skip(
            f"{place}:{STATUS}", f"{given!r}", f"one of {', '.join(STATUSES)}",
            nearest(given, STATUSES),
        )  # fmt: skip
    seconds, predicted = positive(cell(text)), positive(cell(guess))
    if status == "ok" and seconds is None:
        hint = f"leave failures out, or say so in a column {STATUS}"
        return faults.skip(f"{place}:{title}", f"{text!r}", "a positive number", hint)
    if guess and predicted is None:
        return faults.skip(f"{place}:{PREDICTED}", f"{guess!r}", "a positive number or nothing")
    return Row(
        place=place,
        settings={name: cell(value) for name, value in line.items()},
        seconds=None if seconds is None or status != "ok" else seconds * factor,
        status=status,
        predicted=predicted,
    )


@functools.lru_cache(maxsize=1 << 16)
def cell(text: str) -> Setting:
    """What a cell stands for: a number where it looks like one, a truth value, else its text."""
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        return text
    if "_" in text:  # 1_000 is a number to Python only
        return text
    if number != number or number in (float("inf"), float("-inf")):
        return text
    return int(text) if re.fullmatch(r"[-+]?\d{1,300}", text) else whole(number)


def _decoded(found: list[Row]) -> list[Row]:
    if not found:
        return found
    columns = {name: [row.settings[name] for row in found] for name in found[0].settings}
    plain = decode(columns)
    return [
        dataclasses.replace(row, settings={name: values[i] for name, values in plain.items()})
        for i, row in enumerate(found)
    ]
