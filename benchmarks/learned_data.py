"""The tables of the benchmark of learned models: files of measurements, each with its sizes.

A recorded space comes with the predictions that it holds. CSV files come without: what is known of
a published one (which columns are codes of categories, which is no parameter, a simple analytical
model) is said here, in one entry of ``KNOWN``, found by the file's header.
"""

import csv
import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from autotune.domain.tables.parameter import Parameter, Value, categorical, numeric
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.files.recorded import one_hot
from autotune.files.recorded.read_recorded import read as read_space
from autotune.files.recorded.recorded_space import Setting

Floats = NDArray[np.float64]
Columns = Mapping[str, Floats]

_SIZES = (16, 32, 64, 128)


@dataclass(frozen=True, kw_only=True)
class Known:
    """What a published CSV file does not say itself."""

    name: str
    response: str
    categories: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    index: bool = False
    """Its rows begin with a number that the header does not name."""
    analytical: Callable[[Columns], Floats] | None = None
    sizes: tuple[int, ...] = _SIZES


def multigrid_work(columns: Columns) -> Floats:
    """Grid points of a node over its cores, as far as they scale, and the surfaces that its
    processes exchange, which do not; in units of a point."""
    nx, ny, nz = columns["nxP"], columns["nyQ"], columns["nzR"]
    processes = columns["ppn_count"]
    cores = processes * columns["nthreads"]
    surfaces = 2 * (nx * ny + ny * nz + nx * nz) * processes
    return nx * ny * nz * processes / cores**0.9 + surfaces


KNOWN = (
    Known(name="Dune", response="performance", sizes=(49, 78, 240, 375)),
    Known(
        name="AMG",
        response="wall_time",
        categories=("coarsen_type", "relax_type", "interp_type"),
        ignored=("wall_time2",),
        index=True,
        analytical=multigrid_work,
        sizes=(16, 32, 64, 128),
    ),
)


@dataclass(frozen=True, kw_only=True)
class Data:
    """A table and the training sizes at which models are scored on it."""

    table: MeasurementTable
    sizes: tuple[int, ...] = field(default=_SIZES)

    @property
    def name(self) -> str:
        return self.table.name


def read(path: Path) -> Data:
    """The table of a file: CSV (also gzipped) with a header, or a recorded space."""
    if ".json" in path.name:
        return Data(table=_recorded(path))
    header, rows = _csv(path)
    for known in KNOWN:
        if {known.response, *known.categories} <= set(header):
            return Data(table=_published(path, known, header, rows), sizes=known.sizes)
    known = Known(name=path.name.partition(".")[0], response=header[-1])
    return Data(table=_published(path, known, header, rows))


def _csv(path: Path) -> tuple[list[str], list[list[str]]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, [row for row in rows if row]


def _published(
    path: Path, known: Known, header: Sequence[str], rows: list[list[str]]
) -> MeasurementTable:
    values = np.array(rows, dtype=np.float64)[:, 1 if known.index else 0 :]
    columns = {name: values[:, place] for place, name in enumerate(header)}
    response = columns.pop(known.response)
    guess = known.analytical(columns) if known.analytical else None
    kept = {
        name: [f"{value:g}" for value in column] if name in known.categories else column.tolist()
        for name, column in columns.items()
        if name not in known.ignored and len(set(column.tolist())) > 1
    }
    return _table(known.name, str(path), _decoded(kept), response, guess)


def _decoded(columns: Mapping[str, Sequence[Value]]) -> dict[str, list[Value]]:
    """Flags of which each row sets one as one parameter."""
    found = one_hot.decode(columns)
    return {name: [_plain(value) for value in values] for name, values in found.items()}


def _plain(value: Setting) -> Value:
    return value if isinstance(value, int | float | str) else str(value)


def _recorded(path: Path) -> MeasurementTable:
    space = read_space(path)
    ok = np.flatnonzero([status == "ok" for status in space.statuses])
    columns: dict[str, list[Value]] = {}
    for place, name in enumerate(space.parameters):
        settings = [space.rows[row][place] for row in ok]
        numbers = all(isinstance(s, int | float) for s in settings)
        columns[name] = [
            float(s) if numbers and s is not None else str(s)
            for s in settings  # type: ignore[arg-type]
        ]
    guess = space.predicted[ok]
    known = None if np.isnan(guess).all() else guess
    return _table(space.name, str(path), columns, space.seconds[ok], known)


def _table(
    name: str,
    source: str,
    columns: Mapping[str, Sequence[Value]],
    response: Floats,
    guess: Floats | None,
) -> MeasurementTable:
    parameters = tuple(_parameter(name, values) for name, values in columns.items())
    inputs = ParameterRows(
        parameters=parameters, rows=tuple(zip(*columns.values(), strict=True)), analytical=guess
    )
    return MeasurementTable(name=name, inputs=inputs, response=response, source=source)


def _parameter(name: str, values: Sequence[Value]) -> Parameter:
    texts = [value for value in values if isinstance(value, str)]
    if texts:
        return categorical(name, texts)
    return numeric(name, [value for value in values if not isinstance(value, str)])


def planted(rows: int, parameters: int, analytical: bool, seed: int) -> MeasurementTable:
    """A made-up table with interactions and 5 % of noise; the analytical model is off by 20 %."""
    chance = np.random.default_rng(seed)
    x = chance.integers(1, 9, size=(rows, parameters)).astype(np.float64)
    curve = 0.3 * np.log(x[:, 0]) * np.log(x[:, 1]) + 0.025 * x[:, 2] + 0.1 * np.sin(x[:, 3])
    response = np.exp(curve + 0.05 * chance.normal(size=rows))
    guess = response * np.exp(0.2 * chance.normal(size=rows)) if analytical else None
    columns = {f"p{place}": x[:, place].tolist() for place in range(parameters)}
    return _table("planted", "planted", columns, response, guess)


def bare(table: MeasurementTable) -> MeasurementTable:
    """The table without its analytical model."""
    return replace(table, inputs=replace(table.inputs, analytical=None))
