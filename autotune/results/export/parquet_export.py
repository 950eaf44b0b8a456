"""The table of a study as Parquet: typed columns, a description in the metadata of the file.

Columns of parameters are truth values, integers, doubles or text, whichever type holds all values;
absent values are null. ``samples_s`` is a list of doubles.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.errors import Fault, MissingTool
from autotune.results.export.export_table import (
    METRIC,
    PARAMETER,
    SAMPLES,
    SCHEMA,
    Cell,
    ExportTable,
)
from autotune.version import VERSION

if TYPE_CHECKING:
    from types import ModuleType

_KEY = b"autotune"
_WHOLE = frozenset({"size", "threads", "ranks", "nodes", "rank", "samples"})
_FLAGS = frozenset({"best", "baseline", "compared", "verified"})


def write(table: ExportTable) -> bytes:
    """The content of a Parquet file of a table; MissingTool if pyarrow is not installed."""
    pyarrow, engine = _pyarrow()
    arrays = [
        pyarrow.array(_cells(name, table.column(name)), type=_type(pyarrow, name, table))
        for name in table.columns
    ]
    frame = pyarrow.Table.from_arrays(arrays, names=list(table.columns))
    about = {_KEY: SCHEMA.encode(), b"autotune.version": VERSION.encode()}
    content = io.BytesIO()
    engine.write_table(frame.replace_schema_metadata(about), content)
    return content.getvalue()


def is_table_file(path: Path) -> bool:
    """Whether a file is Parquet with an exported study; MissingTool without pyarrow."""
    pyarrow, engine = _pyarrow()
    try:
        metadata = engine.read_schema(path).metadata or {}
    except (pyarrow.ArrowException, OSError):
        return False
    return bool(metadata.get(_KEY) == SCHEMA.encode())


def _pyarrow() -> "tuple[ModuleType, ModuleType]":
    try:
        import pyarrow  # noqa: PLC0415 - heavy, optional
        import pyarrow.parquet  # noqa: PLC0415 - heavy, optional
    except ImportError as error:
        raise MissingTool(
            Fault(
                where="--format parquet",
                found="pyarrow is not installed",
                expected="the optional extra parquet",
                hint="pip install pyarrow (or: pip install -e '.[parquet]')",
            )
        ) from error
    return pyarrow, pyarrow.parquet


def _type(pyarrow: "ModuleType", name: str, table: ExportTable) -> object:
    if name.startswith(METRIC):
        return _metric_type(pyarrow, name)
    if name == "samples_s":
        return pyarrow.list_(pyarrow.float64())
    if name in _WHOLE:
        return pyarrow.int64()
    if name in _FLAGS:
        return pyarrow.bool_()
    if name.endswith("_s") or name in ("verified_error", "memory_bytes", "energy_j"):
        return pyarrow.float64()
    if not name.startswith(PARAMETER):
        return pyarrow.string()
    return {"bool": pyarrow.bool_(), "int": pyarrow.int64(), "float": pyarrow.float64()}.get(
        _kind(table.column(name)), pyarrow.string()
    )


def _metric_type(pyarrow: "ModuleType", name: str) -> object:
    """The type of a column of a metric: text, a number, or the numbers of the samples."""
    if name.endswith(":better"):
        return pyarrow.string()
    several = name.partition(" [")[0].endswith(f":{SAMPLES}")
    return pyarrow.list_(pyarrow.float64()) if several else pyarrow.float64()


def _kind(cells: Sequence[Cell]) -> str:
    """The type that holds all values of a parameter: bool, int, float or text."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds == {bool}:
        return "bool"
    if kinds == {int} and all(abs(c) < 2**63 for c in cells if isinstance(c, int)):
        return "int"
    return "float" if kinds and kinds <= {int, float} else "text"


def _cells(name: str, cells: Sequence[Cell]) -> list[object]:
    if not name.startswith(PARAMETER):
        return [list(cell) if isinstance(cell, tuple) else cell for cell in cells]
    kind = _kind(cells)
    if kind == "float":
        return [None if cell is None else float(str(cell)) for cell in cells]
    if kind == "text":
        return [None if cell is None else str(cell) for cell in cells]
    return list(cells)
