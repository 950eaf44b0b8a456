"""The shape of one sweep: its range, and for each row the offsets that are read and written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from autotune.codegen.tree.loop_tree import (
    Assign,
    PlaneRows,
    SumLoop,
    Sweep,
    SweepStretch,
    gathered,
    near,
    sums,
)
from autotune.domain.problem import offset
from autotune.domain.stencil import LINE
from autotune.language.expression import Num, number, references

STREAMING = "x86_64"
"""The architecture whose stores past the caches generated code has."""
_ALIGNMENTS = 16
"""Number of rows after which their alignment in lines of up to so many components repeats."""


@dataclass(frozen=True, slots=True)
class RowAccess:
    """How a sweep uses one of its rows.

    y[j+N] ... y[j+1] y[j] y[j-1] ... y[j-N]      offsets, descending: the first one is the
      ^ touches a line first                      leading one, the others find it in some cache
    """

    parameter: str
    offsets: tuple[int, ...]
    read: bool
    written: bool
    swept: int = 0
    """Elements that sums over an index read for each component, wherever it is."""
    gathered: int = 0
    """Elements that each component reads through index arrays."""
    among: int = 0
    """Components among which these are."""


@dataclass(frozen=True, slots=True)
class SweepShape:
    """One sweep at a size: components [lower, upper), and the accesses of its widest stretches."""

    lower: int
    upper: int
    share: float
    """Share of the components of the range that are computed; 1 unless columns leave gaps."""
    accesses: tuple[RowAccess, ...]
    streams: tuple[tuple[str, int], ...]
    """Distinct (parameter, offset) pairs, in the order of their first access."""
    touches: tuple[tuple[str, int], ...] = ()
    """The streams in the order of a pass: a row that is only read stays in a register after its
    first access; one that is written may lie in memory and is touched by every statement."""
    starts: tuple[int, ...] = (0,)
    """First components of its loops: one for each of the rows that differ in alignment."""
    run: float = inf
    """Components from one entry into its loop to the next, within a call."""
    terms: float = 0.0
    """Terms of sums over an index that each component adds up."""
    sums: int = 0
    """Number of these sums."""
    gathers: int = 0
    """Elements that each component reads through index arrays."""
    scattered: float = 0.0
    """Bytes of the rows that these are in."""
    head: float = 0.0
    """Components of a run that go one by one, before the vector loop begins (mean)."""
    past: float = 0.0
    """Share of the lines of the row that is written which are stored past the caches."""


def shape(sweep: Sweep, values: Mapping[str, float | int]) -> SweepShape:
    """The shape of a sweep at the sizes and constants in ``values``.

    Stretches narrower than half of the widest one (boundary columns) count by their iterations
    only. Raises ValueError where a row is not accessed at ``j + offset`` or a bound uses an unknown
    name.
    """
    symbols = dict(values)
    for name, expression in sweep.constants:
        symbols.setdefault(name, number(expression, symbols))
    first = sweep.stretches[0]
    lower, upper = int(number(first.lower, symbols)), int(number(first.upper, symbols))
    widths = [_width(stretch, symbols) for stretch in sweep.stretches]
    broad = [s for s, w in zip(sweep.stretches, widths, strict=True) if 2 * w >= max(widths)]
    sequence = tuple(step for stretch in broad for step in _sequence(sweep, stretch, symbols))
    reads: dict[str, set[int]] = {name: set() for name, _ in sweep.rows}
    for name, distance in sequence:
        reads[name].add(distance)
    written = {s.target for t in broad for s in t.statements if isinstance(s, Assign)}
    loaded = _loaded(broad)
    totals = sums(sweep)
    if totals and len(sweep.stretches) > 1:
        raise ValueError(f"sweep {sweep.name} has a sum over an index in some columns of a row")
    swept = _swept(totals, symbols)
    through = [ref.array for t in broad for s in t.statements for ref in gathered(s)]
    accesses = tuple(
        RowAccess(
            name,
            tuple(sorted(offsets, reverse=True)),
            name in loaded,
            name in written,
            swept.get(name, 0),
            through.count(name),
            int(symbols["n"]) if name in through else 0,
        )
        for name, offsets in reads.items()
        if offsets
    )
    starts, run = _loops(broad[0], lower, symbols)
    heads = [-start % sweep.align for start in starts]
    return SweepShape(
        lower=lower,
        upper=upper,
        share=min(1.0, sum(widths)),
        accesses=accesses,
        streams=tuple(dict.fromkeys(sequence)),
        touches=tuple(_touches(sequence, {(name, 0) for name in written})),
        starts=tuple(start + head for start, head in zip(starts, heads, strict=True)),
        run=run,
        head=min(run, sum(heads) / len(heads)),
        past=max(0.0, 1 - (LINE - 1) / min(run, upper - lower)) if sweep.streamed else 0.0,
        terms=float(sum(len(_indices(total, symbols)) for total in totals)),
        sums=len(totals),
        gathers=len(through),
        scattered=8.0 * symbols["n"] * len(set(through)) if through else 0.0,
    )


def _touches(
    sequence: Iterable[tuple[str, int]], stored: set[tuple[str, int]]
) -> Iterator[tuple[str, int]]:
    """The accesses of a pass without those of elements that stay in registers."""
    seen: set[tuple[str, int]] = set()
    for step in sequence:
        if step not in seen or step in stored:
            yield step
        seen.add(step)


def _loops(
    stretch: SweepStretch, lower: int, values: Mapping[str, float | int]
) -> tuple[tuple[int, ...], float]:
    """The first components of the loops of a stretch, and the length of each loop."""
    if stretch.columns is None or stretch.row is None:
        return (lower,), inf
    first, end = (int(number(e, values)) for e in stretch.columns)
    row = int(number(stretch.row, values))
    if stretch.planes is not None:
        top, bottom = _plane_rows(stretch.planes, values)
        lower += top * row
        if isinstance(stretch.row, Num):  # written out: one loop goes through the rows of a plane
            plane = int(number(stretch.planes.size, values))
            starts = tuple(lower + k * plane for k in range(_ALIGNMENTS))
            return starts, float(max(1, (bottom - top) * row))
        starts = tuple(lower + k * row + first for k in range(_ALIGNMENTS))
        return starts, float(max(1, end - first))
    if isinstance(stretch.row, Num):
        return (lower,), inf  # written out: one loop goes from row to row
    return tuple(k * row + first for k in range(_ALIGNMENTS)), float(max(1, end - first))


def _width(stretch: SweepStretch, values: Mapping[str, float | int]) -> float:
    """The share of a plane or a row that the rows and columns of a stretch cover."""
    if stretch.columns is None or stretch.row is None:
        return 1.0
    first, end = (int(number(e, values)) for e in stretch.columns)
    row = int(number(stretch.row, values))
    width = max(0, end - first) / row
    if stretch.planes is not None:
        top, bottom = _plane_rows(stretch.planes, values)
        width *= max(0, bottom - top) * row / int(number(stretch.planes.size, values))
    return width


def _plane_rows(planes: PlaneRows, values: Mapping[str, float | int]) -> tuple[int, int]:
    """The first and the end row within a plane."""
    return int(number(planes.first, values)), int(number(planes.end, values))


def _sequence(
    sweep: Sweep, stretch: SweepStretch, values: Mapping[str, float | int]
) -> list[tuple[str, int]]:
    names = {name for name, _ in sweep.rows}
    steps: list[tuple[str, int]] = []
    for statement in stretch.statements:
        for ref in near(statement):
            if ref.array in names:
                steps.append((ref.array, offset(ref, values)))
        steps += [(ref.array, 0) for ref in gathered(statement)]
        if isinstance(statement, SumLoop):
            steps += [(ref.array, 0) for ref in statement.far() if ref.array in names]
        if isinstance(statement, Assign):
            steps.append((statement.target, 0))
    return steps


def _indices(total: SumLoop, values: Mapping[str, float | int]) -> range:
    """The indices of a sum."""
    return range(int(number(total.lower, values)), int(number(total.upper, values)))


def _swept(totals: Sequence[SumLoop], values: Mapping[str, float | int]) -> dict[str, int]:
    """The number of distinct elements of each row that the terms of sums read at their index."""
    elements: dict[str, set[range]] = {}
    for total in totals:
        indices = _indices(total, values)
        for ref in total.far():
            shift = int(number(ref.indices[-1], {**values, total.index: 0}))
            part = range(indices.start + shift, indices.stop + shift)
            elements.setdefault(ref.array, set()).add(part)
    return {name: _covered(parts) for name, parts in elements.items()}


def _covered(parts: Iterable[range]) -> int:
    """The number of elements in some ranges, each counted once."""
    count, end = 0, None
    for part in sorted(parts, key=lambda part: part.start):
        start = part.start if end is None else max(part.start, end)
        count += max(0, part.stop - start)
        end = part.stop if end is None else max(end, part.stop)
    return count


def _loaded(stretches: list[SweepStretch]) -> set[str]:
    """The rows whose old content is read: rows read before they are assigned, and rows added to."""
    loaded: set[str] = set()
    assigned: set[str] = set()
    for stretch in stretches:
        for statement in stretch.statements:
            for ref in references(statement.value):
                if ref.array not in assigned:
                    loaded.add(ref.array)
            if isinstance(statement, Assign):
                if statement.add and statement.target not in assigned:
                    loaded.add(statement.target)
                assigned.add(statement.target)
    return loaded
