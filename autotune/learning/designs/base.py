"""A design: which rows to measure, and what became of the points that could not be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.table import ParameterRows
from autotune.errors import Fault, InputError, nearest, one_of
from autotune.learning.designs.allowed_listing import TOLD
from autotune.learning.designs.design_domain import Domain
from autotune.learning.designs.repair import Repair
from autotune.learning.designs.row_rules import Row

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
    """The rows to measure, each once.

    ``points`` of the design were asked for; ``moved`` of them to the nearest allowed row,
    ``dropped`` because no row near them was allowed (or that was asked for), ``repeated`` because
    they fell on a row before them. So ``points = len(rows) + dropped + repeated``.
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
        """The points of the design, before any was dropped."""
        return len(self.rows) + self.dropped + self.repeated

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of the values of a row."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def inputs(self) -> ParameterRows:
        """The rows of the design, in the form in which models predict rows."""
        return ParameterRows(parameters=self.parameters, rows=self.rows)

    def values(self, row: int) -> dict[str, Value]:
        """The values of a row by parameter."""
        return dict(zip(self.names, self.rows[row], strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The points of a design before constraints, and what there is to say of them."""

    kind: Kind
    points: Sequence[Row]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, str | int | float | None] = field(default_factory=dict)
    moved: int = 0
    """Points that were moved to an allowed row already."""


def finish(domain: Domain, made: Made, treatment: Treatment | None = None) -> Design:
    """The design of these points: forbidden ones repaired or dropped, each row once.

    Without a treatment no point is forbidden: the design chose among allowed rows. InputError
    where nothing is left.
    """
    check_choice("illegal", treatment, TREATMENTS)
    kept: dict[Row, int] = {}
    moved = dropped = 0
    repair = Repair(domain)
    for number, point in enumerate(made.points):
        if domain.progress is not None and number % TOLD == TOLD - 1:
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
        notes=(*made.notes, *_told(len(made.points), moved, dropped, repeated)),
        settings=made.settings if treatment is None else {**made.settings, "illegal": treatment},
        moved=made.moved + moved,
        dropped=dropped,
        repeated=repeated,
    )


def _told(points: int, moved: int, dropped: int, repeated: int) -> list[str]:
    notes = []
    if moved or dropped:
        done = [f"{moved} moved to the nearest allowed row"] * bool(moved)
        done += [f"{dropped} left out"] * bool(dropped)
        notes.append(
            f"constraints forbid {moved + dropped} of {points} points: {' and '.join(done)};"
            " the balance of the design suffers"
            + (": a D-optimal design suits" if 2 * (moved + dropped) > points else "")
        )
    if repeated:
        notes.append(
            f"{repeated} of {points} points repeat a row before them: each row is kept once"
        )
    return notes


def check_rows(where: str, rows: int, most: int = LARGEST) -> None:
    """Raise InputError for a number of rows that no design has."""
    if not 1 <= rows <= most:
        raise InputError(Fault(where=where, found=str(rows), expected=f"from 1 to {most} rows"))


def check_choice(where: str, value: str | None, choices: Sequence[str]) -> None:
    """Raise InputError for a choice that is not known; None is no choice."""
    if value is not None and value not in choices:
        expected, hint = one_of(choices), nearest(value, choices)
        raise InputError(Fault(where=where, found=repr(value), expected=expected, hint=hint))
