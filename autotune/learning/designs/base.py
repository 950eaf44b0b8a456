"""A design of experiments: the rows to measure, and how many points were moved or dropped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.table import ParameterRows
from autotune.errors import Fault, InputError, nearest, one_of
from autotune.learning.designs.allowed_listing import PROGRESS_EVERY
from autotune.learning.designs.design_domain import Domain
from autotune.learning.designs.repair import Repair
from autotune.learning.designs.row_rules import Row, only_listed

Kind = Literal[
    "full-factorial", "random", "plackett-burman", "central-composite", "box-behnken", "sobol",
    "d-optimal",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)

Treatment = Literal["repair", "drop"]
"""What happens to a point that a constraint forbids: moved to the nearest allowed row, or left out.
"""
TREATMENTS: tuple[Treatment, ...] = get_args(Treatment)

Compatibility = Literal["spl-conqueror"]
COMPATIBILITIES: tuple[Compatibility, ...] = get_args(Compatibility)

LARGEST = 1_000_000
"""Rows of the largest design."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """The rows to measure, each listed once.

    The design began with ``points`` points. ``moved`` of them were moved to the nearest allowed
    row. ``dropped`` were left out because no allowed row was near, or because dropping was
    requested. ``repeated`` fell on a row that was in the design already. So ``points = len(rows) +
    dropped + repeated``.
    """

    kind: Kind
    parameters: tuple[Parameter, ...]
    rows: tuple[Row, ...]
    replicates: tuple[int, ...]
    """(n,) how many points of the design fell on each row."""
    notes: tuple[str, ...] = ()
    """What to know before trusting it, in words: aliased columns, moved points, ..."""
    settings: Mapping[str, str | int | float | None] = field(default_factory=dict)
    moved: int = 0
    dropped: int = 0
    repeated: int = 0

    def __post_init__(self) -> None:
        if len(self.replicates) != len(self.rows) or not self.rows:
            raise ValueError("a design has rows, and a number of points for each")
        if len(set(self.rows)) != len(self.rows):
            raise ValueError("a design has each row once")
        if sum(self.replicates) != len(self.rows) + self.repeated:
            raise ValueError("every repeated point falls on a row")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def points(self) -> int:
        """The number of points of the design before any was dropped."""
        return len(self.rows) + self.dropped + self.repeated

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of the values of a row."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def inputs(self) -> ParameterRows:
        """The rows of the design in the form that models take for prediction."""
        return ParameterRows(parameters=self.parameters, rows=self.rows)

    def values(self, row: int) -> dict[str, Value]:
        """The values of one row by parameter."""
        return dict(zip(self.names, self.rows[row], strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnrepairedDesign:
    """The points of a design before constraints are applied, with notes and settings."""

    kind: Kind
    points: Sequence[Row]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, str | int | float | None] = field(default_factory=dict)
    moved: int = 0
    """Points that were moved to an allowed row already."""


def finish(domain: Domain, made: UnrepairedDesign, treatment: Treatment | None = None) -> Design:
    """The design made of these points: forbidden points are repaired or dropped, and each row is
    listed once.

    ``treatment`` None: the points were chosen among allowed rows, so none is forbidden. Raises
    InputError where no row is left.
    """
    check_choice("illegal", treatment, TREATMENTS)
    kept: dict[Row, int] = {}
    moved = dropped = 0
    repair = Repair(domain)
    for number, point in enumerate(made.points):
        if domain.progress is not None and number % PROGRESS_EVERY == PROGRESS_EVERY - 1:
            domain.progress(f"{made.kind} design", number, len(made.points))
        row: Row | None = point
        if not domain.allows(point):
            row = repair.nearest(point) if treatment == "repair" else None
            moved += row is not None
            dropped += row is None
        if row is not None:
            kept[row] = kept.get(row, 0) + 1
    if not kept:
        raise InputError(
            Fault(
                where="constraints",
                found=f"they forbid all {len(made.points)} points of the design",
                expected="at least one allowed point",
                hint="repair them, or take a random design" if treatment == "drop" else "",
            )
        )
    repeated = sum(kept.values()) - len(kept)
    return Design(
        kind=made.kind,
        parameters=domain.parameters,
        rows=tuple(kept),
        replicates=tuple(kept.values()),
        notes=(*made.notes, *_notes(domain, len(made.points), moved, dropped, repeated)),
        settings=made.settings if treatment is None else {**made.settings, "illegal": treatment},
        moved=made.moved + moved,
        dropped=dropped,
        repeated=repeated,
    )


def _notes(domain: Domain, points: int, moved: int, dropped: int, repeated: int) -> list[str]:
    notes = []
    if moved or dropped:
        subject = "the given rows lack" if only_listed(domain.rules) else "constraints forbid"
        done = [f"{moved} moved to the nearest allowed row"] * bool(moved)
        done += [f"{dropped} left out"] * bool(dropped)
        notes.append(
            f"{subject} {moved + dropped} of {points} points: {' and '.join(done)};"
            " the balance of the design suffers"
            + (": a D-optimal design suits" if 2 * (moved + dropped) > points else "")
        )
    if repeated:
        notes.append(
            f"{repeated} of {points} points repeat a row before them: each row is kept once"
        )
    return notes


def check_rows(where: str, rows: int, most: int = LARGEST) -> None:
    """Raise InputError for a number of rows that no design can have."""
    if not 1 <= rows <= most:
        raise InputError(Fault(where=where, found=str(rows), expected=f"from 1 to {most} rows"))


def check_choice(where: str, value: str | None, choices: Sequence[str]) -> None:
    """Raise InputError where the value of the setting ``where`` is not one of the choices; None is
    accepted.
    """
    if value is not None and value not in choices:
        expected, hint = one_of(choices), nearest(value, choices)
        raise InputError(Fault(where=where, found=repr(value), expected=expected, hint=hint))
