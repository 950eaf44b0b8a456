"""Printed numbers beside computed ones: what `reproduce.py` and its sections share.

A file of `published/` with `schema: autotune.published/1` holds `numbers`, each with

    id          what a section computes it by
    where       section, table or page
    what        in words
    printed     as printed, digit for digit, without its unit
    unit        optional
    corrected   optional: what must have been meant, with `reason`
    irreproducible  optional: why it cannot be computed, or why it does not come out

and `tables`, of which nothing can be computed: `where`, `irreproducible`, `columns`, and `rows` of
`what`, `unit` and one printed number per column. A section computes a mapping from ids to values;
ids that it leaves out must be irreproducible.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, Literal

import yaml

from autotune.results.report.text_table import columns

PUBLISHED = Path(__file__).resolve().parent / "published"
SCHEMA = "autotune.published/1"

Verdict = Literal["digits", "truncated", "inputs", "erratum", "differs", "not computed"]
MEANING: Mapping[Verdict, str] = {
    "digits": "every printed digit, rounded",
    "truncated": "every printed digit, cut off instead of rounded",
    "inputs": "within what the rounding of the printed inputs explains",
    "erratum": "the printed number is wrong, the corrected one comes out",
    "differs": "does not come out, for the reason stated",
    "not computed": "cannot be computed from what is printed, for the reason stated",
}
"""Verdicts, best first."""


@dataclass(frozen=True, slots=True)
class Span:
    """A computed value, and the least and most that it becomes as rounded inputs may have been."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


Computed = float | str | Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number as a paper prints it."""

    id: str
    where: str
    what: str
    printed: str
    unit: str = ""
    corrected: str = ""
    irreproducible: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        if self.corrected and not self.reason:
            raise ValueError(f"{self.id}: a correction has a reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A printed number with what was computed for it."""

    number: Number
    computed: Computed | None
    verdict: Verdict

    @property
    def reason(self) -> str:
        """Why it is not simply the same."""
        if self.verdict in ("differs", "not computed"):
            return self.number.irreproducible
        if self.verdict == "inputs":
            span = isinstance(self.computed, Span)
            return f"{self.computed} by the rounding of the inputs" if span else self.number.reason
        return self.number.reason if self.verdict == "erratum" else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One source: its numbers in the order in which they are printed, and remarks."""

    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def unexplained(self) -> tuple[Row, ...]:
        """Rows that differ, or were not computed, without a reason."""
        off = ("differs", "not computed")
        return tuple(row for row in self.rows if row.verdict in off and not row.reason)


def document(name: str) -> dict[str, Any]:
    """The file `published/NAME.yaml`; ValueError for another schema."""
    found = yaml.safe_load((PUBLISHED / f"{name}.yaml").read_text(encoding="utf-8"))
    if found.get("schema") != SCHEMA:
        raise ValueError(f"{name}.yaml: schema {found.get('schema')!r}, expected {SCHEMA}")
    return dict(found)


def load(name: str) -> tuple[str, tuple[Number, ...]]:
    """Title and numbers of `published/NAME.yaml`; ValueError for a key that is not known."""
    found = document(name)
    known = set(Number.__dataclass_fields__)
    numbers = []
    for entry in found["numbers"]:
        if set(entry) - known:
            raise ValueError(f"{name}.yaml: {entry.get('id')}: {sorted(set(entry) - known)}")
        numbers.append(Number(**{key: str(value) for key, value in entry.items()}))
    numbers += [number for each in found.get("tables", ()) for number in _of_table(each)]
    if len({number.id for number in numbers}) != len(numbers):
        raise ValueError(f"{name}.yaml: an id stands twice")
    return str(found["title"]), tuple(numbers)


def _of_table(table: Mapping[str, Any]) -> Iterator[Number]:
    for row in table["rows"]:
        for head, printed in zip(table["columns"], row["printed"], strict=True):
            yield Number(
                id=f"{table['where']}, {head}, {row['what']}",
                where=str(table["where"]),
                what=f"{row['what']}, {head}",
                printed=str(printed),
                unit=str(row.get("unit", "")),
                irreproducible=str(table["irreproducible"]),
            )


def section(name: str, computed: Mapping[str, Computed], notes: Sequence[str] = ()) -> Section:
    """The numbers of `published/NAME.yaml` beside computed ones; values without a number are left
    out."""
    title, numbers = load(name)
    rows = tuple(
        Row(number=number, computed=value, verdict=verdict(number, value))
        for number in numbers
        for value in [computed.get(number.id)]
    )
    return Section(title=title, rows=rows, notes=tuple(notes))


def verdict(number: Number, computed: Computed | None) -> Verdict:
    """How a computed value compares with the printed digits."""
    if computed is None:
        return "not computed"
    value = computed.value if isinstance(computed, Span) else computed
    same = _same(number.printed, value)
    if same:
        return same
    if number.corrected and _same(number.corrected, value):
        return "erratum"
    if isinstance(computed, Span):
        printed = Decimal(number.printed)
        least, most = printed - _step(printed) / 2, printed + _step(printed)
        if computed.low <= most and computed.high >= least:
            return "inputs"
    return "differs"


def _same(printed: str, computed: float | str) -> Verdict | None:
    if isinstance(computed, str):
        return "digits" if printed == computed else None
    wanted, exact = Decimal(printed), Decimal(repr(float(computed)))
    if exact.quantize(_step(wanted), rounding=ROUND_HALF_UP) == wanted:
        return "digits"
    return "truncated" if exact.quantize(_step(wanted), rounding=ROUND_DOWN) == wanted else None


def _step(printed: Decimal) -> Decimal:
    """One unit of the last printed digit."""
    return Decimal(1).scaleb(int(printed.as_tuple().exponent))


def table(rows: Sequence[Row]) -> str:
    """The rows as text: where, what, printed, computed, verdict."""
    lines = [("where", "what", "printed", "computed", "unit", "")]
    lines += [
        (
            row.number.where,
            row.number.what,
            row.number.printed + (f" [{row.number.corrected}]" if row.number.corrected else ""),
            shown(row),
            row.number.unit,
            row.verdict,
        )
        for row in rows
    ]
    return columns(lines)


def shown(row: Row) -> str:
    """The computed value with two digits more than are printed."""
    if row.computed is None:
        return "-"
    if isinstance(row.computed, str):
        return row.computed
    value = row.computed.value if isinstance(row.computed, Span) else row.computed
    exponent = int(Decimal(row.number.printed).as_tuple().exponent)
    if exponent >= 0 and float(value).is_integer():
        return f"{value:.0f}"
    return f"{value:.{max(2 - exponent, 2)}f}"


def summary(sections: Sequence[Section]) -> str:
    """How many numbers of each source came out in which way."""
    lines = [("", *MEANING, "all")]
    for each in sections:
        counts = [sum(row.verdict == name for row in each.rows) for name in MEANING]
        lines.append((each.title, *map(str, counts), str(len(each.rows))))
    return columns(lines)
