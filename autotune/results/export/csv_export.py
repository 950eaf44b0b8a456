"""The table of a study as CSV (RFC 4180): UTF-8, one line of names, lines end in LF."""

import csv
import io

from autotune.results.export.export_table import PARAMETER, Cell, ExportTable, is_table


def write(table: ExportTable) -> str:
    """The text of the CSV file of a table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        pairs = zip(table.columns, row, strict=True)
        writer.writerow([_text(cell, name.startswith(PARAMETER)) for name, cell in pairs])
    return text.getvalue()


def is_table_file(text: str) -> bool:
    """Whether a file begins as a CSV file of an exported study does."""
    return is_table(next(csv.reader(text.splitlines()[:1]), []))


def _text(cell: Cell, parameter: bool) -> str:
    if cell is None:
        return "none" if parameter else ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, tuple):
        return " ".join(map(repr, cell))
    return cell if isinstance(cell, str) else repr(cell)
