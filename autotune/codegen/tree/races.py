"""Data races of a program: accesses of several threads that no barrier and no wait orders.

On several ranks also stale rows: rows whose remote elements are read before they are fetched again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from autotune.codegen.tree.loop_tree import (
    AnySweep,
    Assign,
    Comm,
    GridSweep,
    NodeBlock,
    OverlappedTile,
    PipelineLoop,
    PipelineStage,
    PlaneFront,
    PutBack,
    Repeat,
    Statement,
    StepProgram,
    StoredRow,
    SumLoop,
    Swap,
    Sweep,
    Sync,
    Tiles,
    Wait,
    changed_arrays,
    gathered,
)
from autotune.domain.stencil import offsets
from autotune.language.expression import Num, Ref, Sym, number, references

_ANYWHERE = 1 << 62
"""Lags within which an element lies of which only an index tells which one it is."""
_STEPS = 2
"""Number of time steps that are examined: a step may conflict with the next one."""

_COLOURS = 2
"""Rows of an array on a grid as far as races go, see ``_grid_accesses``."""

Cell = tuple[str, int]
"""One row of a buffer: (buffer, index)."""
_Accesses = tuple[tuple[StoredRow, ...], tuple[StoredRow, ...], tuple[StoredRow, ...]]
"""The rows read at an offset, those written, and those read of which an index tells the element."""


@dataclass(frozen=True, slots=True)
class DataRace:
    """A row that a sweep reads outside its own block while another thread may write it."""

    array: str
    row: int
    reader: str
    writer: str
    tiles: bool = False
    """True: the conflict is between two tiles of one thread."""

    def __str__(self) -> str:
        where = "another tile of it is" if self.tiles else "another thread is"
        lacks = "" if self.tiles else ", without a synchronisation between"
        return (
            f"{self.reader} reads neighbouring components of {self.array} (row {self.row}) that"
            f" {where} writing in {self.writer}{lacks}"
        )


@dataclass(frozen=True, slots=True)
class StaleRow:
    """A row whose remote components are read although they have changed since they were fetched."""

    array: str
    row: int
    reader: str

    def __str__(self) -> str:
        return (
            f"{self.reader} reads remote components of {self.array} (row {self.row}) without a"
            " communication after they were written"
        )


@dataclass(slots=True)
class _Interval:
    """The rows read and written between two barriers, or within one loop over tiles."""

    read: dict[Cell, str]
    written: dict[Cell, str]

    def races(self, tiles: bool = False) -> list[DataRace]:
        return [
            DataRace(cell[0], cell[1], reader, self.written[cell], tiles)
            for cell, reader in self.read.items()
            if cell in self.written
        ]


@dataclass(slots=True)
class _Waits:
    """What happens between two barriers, with waits for neighbours in between."""

    all: _Interval
    reach: dict[Cell, int]
    """The lags within which a row that is read is needed."""
    lags: int = _ANYWHERE
    """The lags within which the threads lie that every wait is for."""

    def races(self) -> list[DataRace]:
        """The conflicts of threads that are farther apart than those that wait for one another."""
        far = {c: reader for c, reader in self.all.read.items() if self.reach[c] > self.lags}
        return _Interval(far, self.all.written).races()


def races(
    program: StepProgram, distance: int = 1, *, distributed: bool = False
) -> list[DataRace | StaleRow]:
    """Every conflict that no barrier orders; ``distance`` is the access distance (0: none).

    A thread writes only components of its own block. So threads conflict only where one reads at an
    offset of the long variable, or of any variable of a grid. Between two barriers no row may be
    both read at an offset and written, in any order. The same holds inside one loop over tiles that
    has more than one tile. Two time steps are examined, with loops unrolled and swapped buffers
    followed.

    A wait orders threads whose blocks are within some lags of one another as a barrier does, since
    neither passes it before the other has come. So it does for the row of a sweep that reads no
    farther: one lag, or S - k lags in stage k of a pipeline of S stages. What an index tells may be
    anywhere. Of an array that a pipeline writes in place, other threads read only components that
    are kept apart in its copy until they are put back. Communication waits for all threads of a
    rank: for it only barriers count.

    ``distributed``: on several ranks one thread fetches the remote parts of an array where the
    program communicates, and a barrier follows. No other thread may access that array since the
    barrier before. Every row that a sweep reads at an offset must have been fetched after it was
    last written.
    """
    if distance == 0:
        return []
    rows = dict(program.arrays)
    if program.grid is not None:
        rows = dict.fromkeys(rows, _COLOURS)
    walker = _Walker({name: name for name in rows}, rows, distributed)
    if distributed:  # what nobody writes is as it was set
        changed = changed_arrays(program.body)
        kept = [name for name in rows if name not in changed]
        walker.fetched = {(name, row) for name in kept for row in range(rows[name])}
    for _ in range(_STEPS):
        walker.walk(program.body, {})
    walker.barrier()
    return list(dict.fromkeys(walker.faults))


class _Walker:
    def __init__(self, buffers: dict[str, str], rows: Mapping[str, int], distributed: bool) -> None:
        self.buffers = buffers
        self.rows = rows
        self.distributed = distributed
        self.fetched: set[Cell] = set()
        self.accesses: dict[int, _Accesses] = {}
        self.now = _Interval({}, {})
        self.waits = _Waits(_Interval({}, {}), {})
        self.lags = 1
        self.apart: dict[str, str] = {}
        """Array to the copy in which a sweep keeps the components that other threads may read."""
        self.tiles: list[_Interval] = []
        self.faults: list[DataRace | StaleRow] = []

    def walk(self, block: NodeBlock, values: dict[str, int]) -> None:
        for node in block.nodes:
            match node:
                case Sweep() | GridSweep():
                    self._sweep(node, values)
                case PlaneFront(sweep=sweep) | OverlappedTile(sweep=sweep):
                    self._sweep(sweep, values)
                case Repeat(variable=variable, first=first, end=end, body=body):
                    for i in range(first, end):
                        self.walk(body, {**values, variable: i})
                case Tiles(body=body):
                    self.tiles.append(_Interval({}, {}))
                    self.walk(body, values)
                    self.faults += self.tiles.pop().races(tiles=True)
                case PipelineLoop(body=body, in_place=in_place):
                    for number, stage in enumerate(body.nodes):
                        self.lags = len(body.nodes) - number
                        self.apart = dict([in_place]) if in_place and self.lags == 1 else {}
                        self.walk(NodeBlock((stage,)), values)
                    self.lags, self.apart = 1, {}
                case PipelineStage(body=body):
                    self.walk(body, values)
                case Sync():
                    self.barrier()
                case Wait(lags=lags):
                    self.faults += self.now.races()
                    self.now = _Interval({}, {})
                    self.waits.lags = min(self.waits.lags, lags)
                case Swap(first=former, second=latter):
                    self.buffers[former], self.buffers[latter] = (
                        self.buffers[latter],
                        self.buffers[former],
                    )
                case PutBack(array=array):
                    cell = self.buffers[array], 0
                    self.now.written[cell] = self.waits.all.written[cell] = "its update"
                    self.fetched.discard(cell)
                case Comm(array=array):
                    if self.distributed:
                        self._communicate(array)

    def barrier(self) -> None:
        self.faults += self.now.races() + self.waits.races()
        self.now = _Interval({}, {})
        self.waits = _Waits(_Interval({}, {}), {})

    def _communicate(self, array: str) -> None:
        """Record the accesses of the thread that communicates: it reads its own components and
        writes the others.
        """
        for row in range(self.rows[array]):
            cell = self.buffers[array], row
            who = "the communication"
            for met in (self.waits.all.read, self.waits.all.written):
                if cell in met:
                    self.faults.append(DataRace(cell[0], row, who, met[cell]))
            self.fetched.add(cell)
        self.barrier()

    def _sweep(self, sweep: AnySweep, values: dict[str, int]) -> None:
        if id(sweep) not in self.accesses:
            accesses = _grid_accesses(sweep) if isinstance(sweep, GridSweep) else _accesses(sweep)
            around, written, anywhere = (
                tuple(row for row in rows if not row.window)  # windows are of one thread
                for rows in accesses
            )
            self.accesses[id(sweep)] = around, written, anywhere
        around, written, anywhere = self.accesses[id(sweep)]
        read = [(self._cell(row.array, row, values), row in anywhere) for row in around]
        changed = [self._cell(self.apart.get(row.array, row.array), row, values) for row in written]
        if self.distributed:
            stale = (cell for cell, _ in read if cell not in self.fetched)
            self.faults += [StaleRow(*cell, sweep.kernel) for cell in stale]
            self.fetched.difference_update(changed)
        for cell, far in read:
            reach = _ANYWHERE if far else self.lags
            self.waits.reach[cell] = max(reach, self.waits.reach.get(cell, 0))
        for interval in (self.now, self.waits.all, *self.tiles):
            interval.read.update((cell, sweep.kernel) for cell, _ in read)
            interval.written.update((cell, sweep.kernel) for cell in changed)

    def _cell(self, array: str, row: StoredRow, values: dict[str, int]) -> Cell:
        return self.buffers[array], 0 if row.index is None else int(number(row.index, values))


def _accesses(sweep: Sweep) -> _Accesses:
    """The rows of a sweep; it writes at the loop variable always."""
    rows = dict(sweep.rows)
    anywhere: dict[StoredRow, None] = {}
    around: dict[StoredRow, None] = {}
    written: dict[StoredRow, None] = {}
    for stretch in sweep.stretches:
        for statement in stretch.statements:
            for ref in references(statement.value):
                if ref.array in rows and ref.indices != (Sym("j"),):
                    around[rows[ref.array]] = None
            for ref in (*gathered(statement), *_summed(statement)):
                anywhere[rows[ref.array]] = None
            if isinstance(statement, Assign):
                written[rows[statement.target]] = None
    return tuple(around), tuple(written), tuple(anywhere)


def _summed(statement: Statement) -> tuple[Ref, ...]:
    return statement.far() if isinstance(statement, SumLoop) else ()


def _grid_accesses(sweep: GridSweep) -> _Accesses:
    """The rows read at an offset, and the row written; no index tells any element.

    The two colours of an array are rows of their own. Sweeps in place that read what they write are
    for one thread, and their blocks keep the order of points (``in_place``).
    """
    rows, target = dict(sweep.rows), sweep.target
    written = rows[target]
    around: dict[StoredRow, None] = {}
    for ref in references(sweep.value):
        steps = offsets(ref, sweep.dimensions)
        if not any(steps):
            continue
        if ref.array == target:
            if sweep.colour is None:
                continue
            colour = (sweep.colour + sum(steps)) % 2
            around[replace(written, index=Num(colour))] = None
        else:
            around[rows[ref.array]] = None
    if sweep.colour is not None:
        written = replace(written, index=Num(sweep.colour))
    return tuple(around), (written,), ()
