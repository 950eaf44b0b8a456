"""Rows as a table of plain text."""

from collections.abc import Iterable, Sequence


def columns(rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """Rows as aligned columns with two blanks between; columns in ``right`` are right-aligned.

    The last column is not padded, so that long text wraps where the terminal wraps it.
    """
    table = [list(row) for row in rows]
    if not table:
        return ""
    widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    flush = set(right)
    lines = []
    for row in table:
        cells = [
            cell.rjust(width) if k in flush else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
