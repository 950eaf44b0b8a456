"""Rows as a table of plain text that fits where it is shown.

Where a table is wider than that, it gives way in this order; no word is broken:

1. Long text is wrapped inside its column, as long as that leaves it 40 characters; headings too.
2. Columns that do not fit, the last first unless the table says otherwise, go below their row:
   indented, behind their headings. A table of numbers is instead continued below, with the first
   columns repeated.
3. A name that is wider than half of the room stands on a line of its own, above its row.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autotune.results.report.text_style import Tone, text_style, toned, words

_GAP = 2
"""Blanks between columns."""
_PROSE = 40
"""Text is wrapped inside its column where this many characters of it fit on a line."""
_NUMBER = 24
"""Right-aligned cells of at most so many characters are kept on one line."""
_BELOW = 6
"""What stands below a row is indented by so many."""
_NOTHING = ("", "-")
"""Cells that are left out below a row."""


def columns(
    rows: Iterable[Sequence[str]],
    right: Iterable[int] = (),
    *,
    headed: bool = True,
    fold: Sequence[int] | None = None,
    matrix: bool = False,
    indent: str = "",
    tones: Mapping[int, Tone] | None = None,
) -> str:
    """Rows as aligned columns with two blanks between; columns in ``right`` are right-aligned.

    The last column is not padded. ``headed``: the first row has headings. ``fold``: columns in the
    order in which they go below their row where they do not fit; those left out never do.
    ``matrix``: they continue below the table instead. ``tones``: rows to be shown in a tone, by
    number.
    """
    table = [list(row) for row in rows]
    if not table:
        return ""
    width = text_style().width
    room = None if width is None else max(1, width - len(indent))
    flush = frozenset(right)
    stub = next((k for k, cell in enumerate(table[0]) if cell), 0) + 1 if headed else 1
    order = tuple(reversed(range(stub, len(table[0])))) if fold is None else tuple(fold)
    layout = _Layout(table, flush, headed, stub, room)
    blocks = layout.blocks(order) if matrix else [layout.kept(order)]
    lines: list[str] = []
    for block in blocks:
        below = () if matrix else [k for k in range(len(table[0])) if k not in block]
        lines += [""] * bool(lines)
        for number, printed in enumerate(layout.rows(block, below)):
            text = "\n".join(f"{indent}{line}".rstrip() for line in printed)
            lines.append(toned(text, (tones or {}).get(number)))
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Layout:
    table: Sequence[Sequence[str]]
    right: frozenset[int]
    headed: bool
    stub: int
    """The first so many columns stay."""
    room: int | None

    def kept(self, order: Sequence[int]) -> list[int]:
        """The columns that stay in the table, where others go below their row."""
        kept = list(range(len(self.table[0])))
        for k in order:
            if self._fits(kept):
                break
            kept.remove(k)
        return kept

    def blocks(self, order: Sequence[int]) -> list[list[int]]:
        """The columns of each part of a table that is continued below."""
        first, blocks = list(range(self.stub)), [list(range(self.stub))]
        for k in sorted(order):
            if len(blocks[-1]) > self.stub and not self._fits([*blocks[-1], k]):
                blocks.append(list(first))
            blocks[-1].append(k)
        return blocks

    def rows(self, kept: Sequence[int], below: Sequence[int]) -> Iterable[list[str]]:
        """The lines of each row."""
        widths = self._widths(kept)
        for number, row in enumerate(self.table):
            heading = self.headed and number == 0
            lines = self._lines(row, kept, widths, heading=heading)
            yield lines if heading else [*lines, *self._below(row, below)]

    def _fits(self, kept: Sequence[int]) -> bool:
        if self.room is None:
            return True
        return sum(self._least(k) for k in kept) + _GAP * (len(kept) - 1) <= self.room

    def _cells(self, k: int) -> list[str]:
        return [row[k] for row in self.table[self.headed :]]

    def _natural(self, k: int) -> int:
        return max(len(row[k]) for row in self.table)

    def _least(self, k: int, *, tight: bool = False) -> int:
        """The narrowest that a column should be; ``tight``: that it can be, no word broken."""
        cells, head = self._cells(k), self.table[0][k] if self.headed else ""
        whole = max(map(len, cells), default=0)
        longest = max((_longest(text) for text in (*cells, head)), default=0)
        usual = whole if k in self.right and whole <= _NUMBER else min(whole, _PROSE)
        least = longest if tight else max(longest, usual)
        return min(least, self.room // 2) if k < self.stub and self.room else least

    def _widths(self, kept: Sequence[int]) -> list[int]:
        natural = [self._natural(k) for k in kept]
        gaps = _GAP * (len(kept) - 1)
        if self.room is None or sum(natural) + gaps <= self.room:
            return natural
        tight = not self._fits(kept)
        widths = [self._least(k, tight=tight) for k in kept]
        for place, wide in enumerate(natural):
            more = min(wide - widths[place], max(0, self.room - gaps - sum(widths)))
            widths[place] += more
        return widths

    def _lines(
        self, row: Sequence[str], kept: Sequence[int], widths: Sequence[int], *, heading: bool
    ) -> list[str]:
        cells = [
            [row[k]] if len(row[k]) <= width or self.room is None else words(row[k], width)
            for k, width in zip(kept, widths, strict=True)
        ]
        height = max(len(cell) for cell in cells)
        if heading:  # headings stand at the bottom, over their columns
            cells = [[""] * (height - len(cell)) + cell for cell in cells]
        lines: list[str] = []
        for number in range(height):
            texts = [cell[number] if number < len(cell) else "" for cell in cells]
            lines += self._line(texts, kept, widths)
        return lines

    def _line(
        self, texts: Sequence[str], kept: Sequence[int], widths: Sequence[int]
    ) -> Iterable[str]:
        """One line of a row; two where a name is wider than its column."""
        line = ""
        for place, (text, k, width) in enumerate(zip(texts, kept, widths, strict=True)):
            line += text.rjust(width) if k in self.right else text.ljust(width)
            if len(text) > width and any(texts[place + 1 :]):
                yield line.rstrip()
                line = " " * (sum(widths[: place + 1]) + _GAP * place)
            line += " " * _GAP
        yield line.rstrip()

    def _below(self, row: Sequence[str], below: Sequence[int]) -> list[str]:
        """What of a row did not fit, as text behind headings."""
        shown = [k for k in below if row[k] not in _NOTHING]
        alone = len(below) == 1 and not self.right.intersection(below)
        heads = [self.table[0][k] if self.headed and not alone else "" for k in shown]
        parts = [
            f"{head}: {row[k]}" if head else row[k] for head, k in zip(heads, shown, strict=True)
        ]
        if not parts:
            return []
        indent = " " * min(_BELOW, (self.room or 0) // 4)
        text = f"{indent}{'; '.join(' '.join(part.split()) for part in parts)}"
        return words(text, self.room or len(text), f"{indent}  ")


def _longest(text: str) -> int:
    return max(map(len, text.split()), default=0)
