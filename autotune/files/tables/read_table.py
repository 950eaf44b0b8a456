"""Reads a table of measurements in any supported format."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autotune.domain.tables.table import STATISTICS, MeasurementTable, Statistic, Tables
from autotune.errors import Fault, InputError, nearest, unknown_name
from autotune.files.parsing import strict_json, text_content
from autotune.files.parsing.column_roles import is_exported
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import repeated
from autotune.files.recorded import read_recorded as recorded
from autotune.files.tables import csv_columns, extrap_json, extrap_text, recorded_series
from autotune.files.tables.cleaning import Heading, assemble
from autotune.files.tables.format_of_text import EXPECTED, TITLES, Format, detect
from autotune.files.tables.series import Columns, Series
from autotune.files.tables.spl import spl_results
from autotune.files.tables.spl.spl_model import VariabilityModel, read_model

LARGEST = 1 << 28
"""Bytes of the largest file that is read, unpacked."""
_ENDINGS = (".gz", ".json", ".jsonl", ".csv", ".txt", ".xml")
_SHOWN = 8


def read(
    path: Path,
    *,
    model: Path | None = None,
    response: str | None = None,
    format: Format | None = None,  # noqa: A002 the field's word
    wanted: Columns | None = None,
    statistic: Statistic = "mean",
) -> MeasurementTable | Tables:
    """The table in a file; Tables where the file has several responses and none is requested.

    ``model``: a variability model of SPL Conqueror, whose options, domains and constraints apply.
    ``response``: a column, or a call path and metric, ``compute: time`` (one of them is enough
    where it is unique). ``statistic``: how repetitions give the response, unless the file has both.
    Raises InputError, with the place inside the file, where the file cannot be read, is cut off, of
    no known format, larger than ``LARGEST``, or without a usable row.
    """
    faults = Faults(str(path))
    if statistic not in STATISTICS:
        raise InputError(unknown_name("statistic", "statistic", statistic, STATISTICS))
    options = read_model(model) if model is not None else None
    text = text_content.text(path, faults, EXPECTED, LARGEST)
    kind = format or detect(text, faults)
    source = _Source(path, text, kind, faults)
    columns = wanted or Columns()
    series = _series(source, response, columns, options)
    heading = Heading(
        name=text_content.bare_name(path, _ENDINGS),
        where=str(path),
        source=f"{path} ({TITLES[kind]})",
        statistic=statistic,
        domains={p.name: p for p in options.parameters} if options else {},
        constraints=options.constraints if options else (),
        categories=columns.categories,
    )
    notes = options.notes if options else ()
    if len(series) == 1:
        return _table(series[0], heading, notes, columns)
    return _tables(series, heading, notes, columns)


def read_one(
    path: Path,
    *,
    model: Path | None = None,
    response: str | None = None,
    format: Format | None = None,  # noqa: A002
    wanted: Columns | None = None,
    statistic: Statistic = "mean",
) -> MeasurementTable:
    """The only table in a file; InputError, naming the responses, where the file holds several."""
    tables = read(
        path, model=model, response=response, format=format, wanted=wanted, statistic=statistic
    )
    if isinstance(tables, MeasurementTable):
        return tables
    what = f"{len(tables)} responses"
    hint = "name one as the response"
    raise InputError(Fault(where=str(path), found=what, expected=_few(tables.names), hint=hint))


class _Source:
    """A file with its text."""

    def __init__(self, path: Path, text: str, kind: Format, faults: Faults) -> None:
        self.path, self.text, self.kind, self.faults = path, text, kind, faults


def _series(
    source: _Source, response: str | None, wanted: Columns, options: VariabilityModel | None
) -> list[Series]:
    """The requested series; all series where none is requested."""
    text, faults = source.text, source.faults
    domains = {p.name: p for p in options.parameters} if options else {}
    if source.kind == "csv" and not is_exported(text):
        return csv_columns.series(text, faults, response, wanted, domains)
    named = [*wanted.without, *([wanted.analytical] if wanted.analytical else [])]
    if named:
        raise faults.fail("", f"columns {', '.join(named)} are named", "columns of CSV only")
    match source.kind:
        case "spl-conqueror":
            series = spl_results.series(text, faults, domains)
        case "extra-p":
            series = extrap_text.series(text, faults)
        case "extra-p-json":
            series = extrap_json.document(strict_json.document(text, faults, EXPECTED), faults)
        case "json-lines" | "talpas" as kind:
            series = extrap_json.lines(text, kind, faults)
        case "recorded" | "csv":
            series = [recorded_series.series(recorded.read(source.path, several=True))]
    return series if response is None else _named(series, response, faults)


def _named(all_series: Sequence[Series], response: str, faults: Faults) -> list[Series]:
    """The series whose part and quantity, or either of them, match the requested response."""
    exact = [series for series in all_series if series.name == response]
    loose = exact or [series for series in all_series if response in (series.quantity, series.part)]
    if not loose:
        names = [series.name for series in all_series]
        hint = nearest(response, names)
        raise faults.fail("", f"no response {response!r}", _few(names), hint)
    return loose


def _few(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return "one of " + ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _table(
    series: Series, heading: Heading, notes: Sequence[str], columns: Columns
) -> MeasurementTable:
    series_heading = replace(
        heading,
        quantity=series.quantity,
        unit=series.unit,
        better=columns.better or series.better,
        part=series.part,
        statistic=series.statistic or heading.statistic,
    )
    return assemble(series.records, series_heading, [*notes, *series.treated])


def _tables(
    all_series: Sequence[Series], heading: Heading, notes: Sequence[str], columns: Columns
) -> Tables:
    """A table for each series; series that give no table are named in the notes of all others."""
    made: list[MeasurementTable] = []
    left: list[str] = []
    _check_names(all_series, heading)
    for series in all_series:
        try:
            made.append(_table(series, replace(heading, name=series.name), notes, columns))
        except InputError as error:
            left.append(f"{series.name} left out: {error.faults[0].found}")
    if not made:
        raise InputError(*(Fault(where=heading.where, found=text) for text in left[:_SHOWN]))
    return Tables(tables=tuple(replace(t, treated=(*t.treated, *left)) for t in made))


def _check_names(all_series: Sequence[Series], heading: Heading) -> None:
    """InputError where two responses have one name, so that none could ask for either."""
    again = repeated([series.name for series in all_series])
    if again:
        found = f"two responses named {', '.join(again[:_SHOWN])}"
        expected = "names of call path and metric that differ when they are joined"
        raise InputError(Fault(where=heading.where, found=found, expected=expected))
