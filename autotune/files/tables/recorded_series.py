"""Reads recorded search spaces as series: T4 results, Kernel Tuner caches, tables of autotune."""

from collections import Counter

from autotune.files.recorded.recorded_space import RecordedSpace, Setting
from autotune.files.tables.cleaning import Cell, Record
from autotune.files.tables.series import Series


def series(space: RecordedSpace) -> Series:
    """The candidates of a space that are ok; a note says how many others there are."""
    failed = Counter(status for status in space.statuses if status != "ok")
    treated = []
    if failed:
        shown = ", ".join(f"{count} {status}" for status, count in failed.most_common())
        treated.append(f"{failed.total()} of {len(space)} candidates failed ({shown}): left out")
    records = []
    for row in range(len(space)):
        if space.statuses[row] != "ok":
            continue
        seconds = float(space.seconds[row])
        value = space.metric.value(seconds)
        samples = space.samples[row] if space.samples else ()
        settings = {**space.constants, **space.settings(row)}
        records.append(
            Record(
                place=f"candidate {row + 1}",
                settings={name: cell_of(value) for name, value in settings.items()},
                times=samples or (value,),
                location=value,
                predicted=float(space.predicted[row]),
            )
        )
    return Series(
        records=records,
        quantity=space.metric.name,
        unit=space.unit,
        better=space.metric.better,
        treated=tuple(treated),
        statistic="as given",
    )


def cell_of(value: Setting) -> Cell:
    """A setting as a cell of a table: ``none`` where it has no value."""
    return "none" if value is None else value
