"""``learn design``: from a file with parameters to the rows to measure."""

import gzip
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune import paths
from autotune.commands.learn import study_tables
from autotune.commands.rank import ranked_space
from autotune.commands.rank.host_machine import uncalibrated_machine
from autotune.domain.tables.parameter import Parameter, Value, categorical, numeric
from autotune.domain.tables.parameter_space import DesignSpace, RowRule
from autotune.domain.tables.table import MeasurementTable
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.files import config
from autotune.files.config.design_spaces import SCHEMA
from autotune.files.store.store_rows import candidate_record
from autotune.files.tables import read, read_model
from autotune.files.tables.cleaning import Cell
from autotune.learning.designs import Design, DesignPlan, Members, members
from autotune.progress import Progress
from autotune.workloads.capacity import candidates_on

_YAML = (".yaml", ".yml")
_GZIP = b"\x1f\x8b"
_HEAD = 4096
"""Bytes of a file in which its kind is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignResult:
    """A design, and the space of rows that it was chosen from."""

    space: DesignSpace
    design: Design
    candidates: tuple[str, ...] = ()
    """Of a config: the id of each row's candidate."""


def designed(
    path: Path,
    plan: DesignPlan,
    progress: Progress | None = None,
    *,
    model: Path | None = None,
    beyond: bool = False,
) -> DesignResult:
    """The design that a plan chooses over the parameters of a file.

    The file is a list of parameters and constraints (schema autotune.design/1), a study config,
    whose legal candidates are the allowed rows, a variability model, or a table of measurements.
    The rows of a table are the allowed rows unless ``beyond`` is set. ``model``: the variability
    model that belongs to a table.
    """
    kind = _kind(path)
    for option, given in (("--beyond", beyond), ("--model", model is not None)):
        if given and kind != "table":
            found = f"{option} with a {kind}"
            raise InputError(Fault(where=str(path), found=found, expected="a table"))
    if kind == "config":
        return _of_config(path, plan, progress)
    if kind == "table":
        space = _of_table(path, model, beyond=beyond)
    else:
        space = config.design(path) if kind == "space" else _of_model(path)
    return DesignResult(space=space, design=plan.design(space.parameters, space.rules, progress))


def check_there(path: Path) -> None:
    """Raise the error of the reader where no file has this name, neither here nor among those that
    come with autotune.
    """
    if not path.exists():
        if _kind(path) == "config":
            ranked_space.load(path)
        else:
            read(path)


def _kind(path: Path) -> str:
    """The kind of a file (space, config, variability model, table), by name and first lines."""
    if not path.is_file():  # a pipe can be read once only
        return "table" if path.exists() or path.suffix not in ("", *_YAML) else "config"
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head.startswith(_GZIP):
            with gzip.open(path) as packed:
                head = packed.read(_HEAD)
    except (OSError, EOFError, zlib.error):
        return "table"  # whose reader says what is wrong with it
    if path.suffix in _YAML:
        named = rb"^schema:\s*['\"]?" + re.escape(SCHEMA.partition("/")[0].encode())
        return "space" if re.search(named, head, re.MULTILINE) else "config"
    return "variability model" if re.search(rb"<vm[\s>]", head) else "table"


def _of_model(path: Path) -> DesignSpace:
    model = read_model(path)
    return DesignSpace(
        name=model.name,
        source=f"{path} (variability model)",
        parameters=model.parameters,
        rules=model.constraints,
        notes=model.notes,
    )


def _of_table(path: Path, model: Path | None, *, beyond: bool) -> DesignSpace:
    measured = read(path, model=model)
    table = measured if isinstance(measured, MeasurementTable) else measured.tables[0]
    rules: tuple[RowRule, ...] = (members(table.inputs),)
    parameters = table.parameters
    if beyond:
        parameters += tuple(_constant(name, value) for name, value in table.constants)
        rules = table.constraints
    return DesignSpace(
        name=table.name,
        source=table.source,
        parameters=parameters,
        rules=rules,
        notes=() if beyond else (f"chosen among the {len(table)} rows of the table",),
    )


def _constant(name: str, value: Value) -> Parameter:
    return categorical(name, [value]) if isinstance(value, str) else numeric(name, [value])


# --- candidates of a config -----------------------------------------------------------------


def _of_config(path: Path, plan: DesignPlan, progress: Progress | None) -> DesignResult:
    workload = ranked_space.load(path)
    legal = candidates_on(workload, uncalibrated_machine(workload.setup)).legal
    settings = study_tables.candidate_settings(
        [candidate_record(legal_candidate) for legal_candidate in legal]
    )
    parameters, rows = _varied(settings)
    first_of_row: dict[tuple[Value, ...], Candidate] = {}
    for row, candidate in zip(rows, legal, strict=True):
        first_of_row.setdefault(row, candidate)
    names = tuple(parameter.name for parameter in parameters)
    space = DesignSpace(
        name=paths.stem(path),
        source=f"{path} ({len(legal)} legal candidates)",
        parameters=parameters,
        rules=(Members(names, tuple(first_of_row)),),
    )
    design = plan.design(space.parameters, space.rules, progress)
    return DesignResult(
        space=space, design=design, candidates=tuple(first_of_row[row].id for row in design.rows)
    )


def _varied(
    settings: Sequence[Mapping[str, Cell]],
) -> tuple[tuple[Parameter, ...], list[tuple[Value, ...]]]:
    """The parameters with more than one value (at least one parameter), and their values by row."""
    columns = {name: _column([setting[name] for setting in settings]) for name in settings[0]}
    varied = {name: column for name, column in columns.items() if len(set(column)) > 1}
    kept = varied or dict(list(columns.items())[:1])
    parameters = []
    for name, column in kept.items():
        numbers = [value for value in column if not isinstance(value, str)]
        texts = [value for value in column if isinstance(value, str)]
        parameters.append(numeric(name, numbers) if numbers else categorical(name, texts))
    return tuple(parameters), list(zip(*kept.values(), strict=True))


def _column(cells: Sequence[Cell]) -> list[Value]:
    """A column of cells as numbers if all are numbers (truth values as 0 and 1), else as text."""
    values: list[Value] = []
    for cell in cells:
        plain = "none" if cell is None else cell
        values.append(int(plain) if isinstance(plain, bool) else plain)
    if any(isinstance(value, str) for value in values):
        return [str(value) for value in values]
    return values
