"""Reads measurements from CSV: a header, a row per measurement, parameters first, the response in
the last column.

``files/parsing/column_roles.py`` says what each column is. Rows with equal parameter values are
repetitions. Rows that are not ok are left out, with a note.
"""

import math
from collections.abc import Mapping

from autotune.domain.tables.parameter import Parameter
from autotune.files.parsing.column_roles import ColumnRoles, cells_of, roles_of, unit_of
from autotune.files.parsing.delimited import DelimitedLines, setting, split
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.separated_values import stated_unit
from autotune.files.tables.cleaning import Record, first_few
from autotune.files.tables.series import Columns, Series


def series(
    text: str,
    faults: Faults,
    response: str | None,
    wanted: Columns,
    domains: Mapping[str, Parameter],
) -> list[Series]:
    """The series of the response; with a variability model one series for each column that is no
    option of it.
    """
    table = split(text, faults, domains)
    faults.settle()
    if not table.rows:
        raise faults.fail("", "no rows", "at least one measurement")
    roles = roles_of(
        table,
        faults,
        response=response,
        without=wanted.without,
        analytical=wanted.analytical,
        domains=domains,
    )
    return [_series(table, roles, name, faults) for name in roles.responses]


def _series(table: DelimitedLines, roles: ColumnRoles, response: str, faults: Faults) -> Series:
    name, unit = unit_of(response)
    records, failed = [], []
    for row in cells_of(table, roles, response):
        if row.status != "ok":
            failed.append(f"line {row.line} ({row.status})")
            continue
        guess = row.predicted
        records.append(
            Record(
                place=f"line {row.line}",
                settings={
                    n: setting(cell, table.decimal_comma) for n, cell in row.settings.items()
                },
                times=(math.nan if row.time is None else row.time,),
                predicted=math.nan if guess is None or not guess > 0 else guess,
                found=(row.time_text or "empty")[:40] if row.time is None else "",
            )
        )
    treated = [*table.treated, *roles.treated]
    if failed:
        what = "row that is" if len(failed) == 1 else "rows that are"
        treated.append(f"{len(failed)} {what} not ok left out: {first_few(failed)}")
    if not records:
        raise faults.fail("", "; ".join(treated) or "no rows", "a row that is ok")
    name, shown = (name, "s") if unit else stated_unit(name)
    return Series(records=records, quantity=name, unit=shown, treated=tuple(treated))
