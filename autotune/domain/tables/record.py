"""Records of measurements as read from a file, and the facts that they share."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from autotune.domain.metric import Direction
from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.parameter_constraint import ParameterConstraint
from autotune.domain.tables.table import Statistic

Cell = Value | bool | None
"""A value as it is found; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One line of a file: the settings and the measured times."""

    place: str
    """Where in the file it stands, for a message: ``line 12``."""
    settings: Mapping[str, Cell]
    times: tuple[float, ...]
    """The repetitions, usable or not."""
    location: float | None = None
    """The response where the file says it besides the repetitions."""
    predicted: float = math.nan
    """What an analytical model says, in the unit of the times; nan where it does not."""
    found: str = ""
    """The text of a time that is no number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """The facts that all records of a table share."""

    name: str
    where: str
    """The file, for messages."""
    source: str
    """The file and its format."""
    quantity: str = "time"
    unit: str = ""
    better: Direction = "less"
    part: str = ""
    statistic: Statistic = "mean"
    domains: Mapping[str, Parameter] = field(default_factory=dict)
    """What a variability model says of the parameters."""
    constraints: tuple[ParameterConstraint, ...] = ()
    categories: tuple[str, ...] = ()
    """Parameters whose numbers are the codes of categories."""
