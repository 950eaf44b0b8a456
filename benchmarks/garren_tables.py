"""Tables of a thesis as data: cells with their errata, columns with their units.

schema ``autotune.published-table/1``: ``columns`` name to {unit, meaning}; ``rows`` of cells. A
cell is a number, text, or {printed, corrected or suspect, reason}: it stands as printed, a
corrected one is used corrected. ``printed`` holds what the text around the table says.
"""

import numbers
from dataclasses import dataclass
from pathlib import Path

import yaml

FOLDER = Path(__file__).resolve().parent / "published"
_KEYS = {"schema", "title", "source", "equation", "size_formula", "printed", "note", "columns",
         "rows"}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell: as printed, as used, why it is doubted."""

    printed: float | str
    value: float | str
    suspect: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """A table: columns to {unit, meaning}, rows of cells, numbers of the text about it."""

    name: str
    title: str
    source: str
    columns: dict[str, dict[str, str]]
    rows: tuple[dict[str, Cell], ...]
    printed: dict[str, float]
    size_formula: str
    note: str

    def numbers(self, column: str) -> list[float]:
        """The numbers of a column as they are used; every row must have one."""
        return [float(row[column].value) for row in self.rows]

    @property
    def errata(self) -> list[tuple[str, Cell]]:
        """Cells that are corrected or suspect, with the row and column."""
        return [
            (f"row {number}, {name}", cell)
            for number, row in enumerate(self.rows, 1)
            for name, cell in row.items()
            if cell.reason
        ]


def read(name: str) -> PublishedTable:
    """A table of ``published/`` by name; ValueError for what is no such table."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    found = yaml.safe_load(text)
    if found.get("schema") != "autotune.published-table/1" or set(found) - _KEYS:
        raise ValueError(f"{name}: not autotune.published-table/1, or unknown keys")
    columns = {key: dict(value or {}) for key, value in found["columns"].items()}
    rows = tuple(
        {key: _cell(f"{name}: {key}", value) for key, value in row.items() if key in columns}
        for row in found["rows"]
    )
    unknown = {key for row in found["rows"] for key in row} - set(columns)
    if unknown:
        raise ValueError(f"{name}: no columns {sorted(unknown)}")
    return PublishedTable(
        name=name,
        title=found["title"],
        source=found["source"],
        columns=columns,
        rows=rows,
        printed=found.get("printed", {}),
        size_formula=found.get("size_formula", "size"),
        note=found.get("note", ""),
    )


def names() -> list[str]:
    """The tables of Garren 2010, in their order."""
    found = [path.stem for path in FOLDER.glob("garren-*.yaml")]
    return sorted(found, key=lambda name: int(name.rsplit("-", 1)[1]))


def _cell(where: str, value: object) -> Cell:
    if not isinstance(value, dict):
        if not isinstance(value, numbers.Real | str):
            raise ValueError(f"{where}: {value!r} is neither a number nor text")
        return Cell(printed=value, value=value)
    if "reason" not in value or ("corrected" in value) == bool(value.get("suspect")):
        raise ValueError(f"{where}: an erratum is printed, corrected or suspect, reason")
    printed = value["printed"]
    return Cell(
        printed=printed,
        value=value.get("corrected", printed),
        suspect=bool(value.get("suspect")),
        reason=value["reason"],
    )
