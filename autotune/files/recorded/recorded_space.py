"""A recorded search space: rows of parameter values, each with its time or its failure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from autotune.domain.metric import TIME, Metric
from autotune.domain.results import STATUSES, Status
from autotune.files.parsing.faults import Faults

Setting = str | int | float | bool | None
"""A value of a parameter."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedSpace:
    """Measured candidates, one row of parameter values each.

    ``seconds``: (n,) measured times, or costs of another metric, nan where the candidate failed.
    ``predicted``: (n,) times that a model predicted before the measurement, nan where there is
    none. ``samples``: the single times of each row, (n,) tuples of any length; empty where the file
    has none.
    """

    name: str
    source: str
    """The file, the format that it was found to be in, and notes on columns that were left out."""
    unit: str
    """``s``, or that of the metric; empty where the file states none: then only ratios mean
    anything."""
    parameters: Mapping[str, tuple[Setting, ...]]
    """Name to its values, ascending; of at least two values each."""
    constants: Mapping[str, Setting]
    """Parameters that have the same value in all rows."""
    rows: tuple[tuple[Setting, ...], ...]
    seconds: Floats
    statuses: tuple[Status, ...]
    predicted: Floats
    samples: tuple[tuple[float, ...], ...] = field(default=())
    device: str = ""
    """What the file says of the machine that it was measured on."""
    metric: Metric = TIME
    """What was measured."""

    def __post_init__(self) -> None:
        count = len(self.rows)
        for name in ("seconds", "statuses", "predicted"):
            if len(getattr(self, name)) != count:
                raise ValueError(f"{name} has {len(getattr(self, name))} entries for {count} rows")
        if self.samples and len(self.samples) != count:
            raise ValueError(f"there are samples of {len(self.samples)} of {count} rows")
        if any(len(row) != len(self.parameters) for row in self.rows):
            raise ValueError("every row has a value for each parameter")
        if len(set(self.rows)) != count:
            raise ValueError("two rows have the same values")
        if not set(self.statuses) <= set(STATUSES):
            raise ValueError(f"unknown status: {sorted(set(self.statuses) - set(STATUSES))}")
        good = np.array([status == "ok" for status in self.statuses], dtype=bool)
        if not ((self.seconds[good] > 0) & np.isfinite(self.seconds[good])).all():
            raise ValueError("a candidate that is ok has a positive time")
        if not np.isnan(self.seconds[~good]).all():
            raise ValueError("a candidate that failed has no time")
        if not good.any():
            raise ValueError("no candidate is ok")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of the values of a row."""
        return tuple(self.parameters)

    @property
    def best(self) -> float:
        """The smallest recorded time, with which a search is compared."""
        return float(np.nanmin(self.seconds))

    @property
    def failures(self) -> int:
        """The number of candidates that failed."""
        return int(np.isnan(self.seconds).sum())

    def within(self, share: float) -> NDArray[np.bool_]:
        """(n,) True for rows that take at most ``1 + share`` times as long as the best."""
        return self.seconds <= (1 + share) * self.best  # nan compares false

    def settings(self, row: int) -> dict[str, Setting]:
        """The parameter values of a row by name."""
        return dict(zip(self.parameters, self.rows[row], strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row as read from a file: its settings and its outcome."""

    place: str
    """Where in the file it stands, for a message."""
    settings: Mapping[str, Setting]
    seconds: float | None
    """The time, or the cost of another metric."""
    status: Status = "ok"
    predicted: float | None = None
    samples: tuple[float, ...] = ()


def left_out(
    faults: Faults, place: str, found: str, expected: str = "", hint: str = ""
) -> Row | None:
    """Add a fault for a row that cannot be used; returns None in place of the row."""
    faults.add(place, found, expected, hint)
    return None


def assemble(
    rows: Sequence[Row],
    *,
    name: str,
    source: str,
    unit: str,
    device: str = "",
    metric: Metric = TIME,
) -> RecordedSpace:
    """The recorded space made of rows that set the same parameters, each to different values.

    Parameters with a single value become constants. Raises ValueError where the rows form no space.
    """
    values = {key: ascending([row.settings[key] for row in rows]) for key in rows[0].settings}
    varied = [key for key in values if len(values[key]) > 1]
    return RecordedSpace(
        name=name,
        source=source,
        unit=unit,
        parameters={key: values[key] for key in varied},
        constants={key: values[key][0] for key in values if key not in varied},
        rows=tuple(tuple(row.settings[key] for key in varied) for row in rows),
        seconds=_floats([row.seconds if row.status == "ok" else None for row in rows]),
        statuses=tuple(row.status for row in rows),
        predicted=_floats([row.predicted for row in rows]),
        samples=tuple(row.samples for row in rows) if any(row.samples for row in rows) else (),
        device=device,
        metric=metric,
    )


def ascending(values: Iterable[Setting]) -> tuple[Setting, ...]:
    """The distinct values: None first, then truth values and numbers by size, then text.

    >>> ascending([8, "none", 2, 8, None])
    (None, 2, 8, 'none')
    """
    return tuple(sorted(set(values), key=setting_order))


def setting_order(value: Setting) -> tuple[int, float, str]:
    """A key to sort values: None first, then truth values and numbers by size, then text."""
    if value is None:
        return 0, 0.0, ""
    if isinstance(value, str):
        return 2, 0.0, value
    return 1, float(value), ""


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def positive(value: object) -> float | None:
    """The value as a time if it is a positive finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value > 0 else None


def settings_of(raw: object) -> dict[str, Setting] | None:
    """The settings in a mapping of names to scalar values; None for anything else, and for an empty
    mapping.

    Infinite numbers and nan are no values of a parameter: nan equals nothing.
    """
    if not isinstance(raw, dict) or not raw or not all(map(_is_setting, raw.values())):
        return None
    return {str(name): whole(value) for name, value in raw.items()}


def _is_setting(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int | None)


def whole(value: Setting) -> Setting:
    """The value, as an integer where it is a whole number: 50.0 and 50 are the same setting.

    >>> whole(50.0), whole(0.5), whole("50.0")
    (50, 0.5, '50.0')
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value
