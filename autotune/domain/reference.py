"""Published tables: what others predicted and measured, as printed, with errata.

A table of a paper is compared with predictions row by row. Printed numbers stay unchanged; a
correction or a doubt is noted beside them with its reason.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from autotune.domain.annotations import (
    Bounds,
    Count,
    Derived,
    FileKey,
    FileSection,
    InNotation,
    Text,
)
from autotune.domain.misfit import Keys, Misfit, MisfitError
from autotune.domain.problem import AnyProblem, Problem
from autotune.domain.variant import Communication
from autotune.units import Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One printed number, with a correction or doubt if there is one."""

    printed: float
    corrected: float | None = None
    """What must have been meant, where that is certain."""
    suspect: bool = False
    """It contradicts other figures of the same paper, but what was meant is not certain."""
    reason: str = ""
    """Why it is corrected or doubted."""

    def __post_init__(self) -> None:
        marked = self.corrected is not None or self.suspect
        if marked != bool(self.reason):
            raise ValueError("an erratum and its reason come together")
        if self.corrected is not None and self.suspect:
            raise ValueError("a figure is either corrected or suspect")
        if not math.isfinite(self.printed) or not math.isfinite(self.value):
            raise ValueError(f"{self.printed} is not a number")

    @property
    def value(self) -> float:
        """The number to use: the corrected one if there is a correction."""
        return self.printed if self.corrected is None else self.corrected

    @property
    def erratum(self) -> bool:
        """Whether the printed number is doubtful or corrected."""
        return self.corrected is not None or self.suspect


PrintedTime = Annotated[Figure, InNotation("printed time")]
PrintedShare = Annotated[Figure, InNotation("printed share")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """The predicted and measured seconds of one part of a time step."""

    predicted: PrintedTime
    measured: PrintedTime
    deviation: PrintedShare | None = None
    """As printed, as a share: (predicted - measured) / measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRow:
    """One variant: seconds per time step as the authors predicted and measured them."""

    variant: Text
    """Value of the parameter that the table runs over."""
    predicted: PrintedTime
    measured: PrintedTime
    deviation: PrintedShare | None = None
    """As printed, as a share: (predicted - measured) / measured."""
    application: Share | None = None
    communication: Share | None = None

    def __post_init__(self) -> None:
        if not (self.predicted.value > 0 and self.measured.value > 0):
            raise ValueError(f"{self.variant}: times must be positive")

    @property
    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Every number of the row by name."""
        whole = Share(predicted=self.predicted, measured=self.measured, deviation=self.deviation)
        shares = {
            "": whole, "application ": self.application, "communication ": self.communication,
        }  # fmt: skip
        for name, share in shares.items():
            if share is not None:
                yield f"{name}predicted", share.predicted
                yield f"{name}measured", share.measured
                if share.deviation is not None:
                    yield f"{name}deviation", share.deviation


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedGroup:
    """The rows of a table with one way of communication."""

    communication: Communication
    source: Text
    """Where they are printed."""
    resolution: Annotated[Seconds, FileKey(about="the unit of the last printed digit: 10 ms")]
    """Unit of the last digit that is printed."""
    rows: Annotated[tuple[PublishedRow, ...], Bounds(least=1)]

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError(f"{self.source}: a group needs rows")
        if not self.resolution > 0:
            raise ValueError(f"{self.source}: the resolution must be positive")
        names = [row.variant for row in self.rows]
        if len(set(names)) != len(names):
            raise MisfitError(Misfit(("rows",), f"{self.source}: a variant is there twice"))
        for i, row in enumerate(self.rows):
            self._check(row, ("rows", i))

    def _check(self, row: PublishedRow, keys: Keys) -> None:
        """Raise MisfitError if a printed deviation does not follow from the printed times.

        Rounding is allowed for, and errata are corrected first.
        """
        whole = Share(predicted=row.predicted, measured=row.measured, deviation=row.deviation)
        for share in (whole, row.application, row.communication):
            if share is None or share.deviation is None:
                continue
            low, high = self._deviations(share.predicted.value, share.measured.value)
            if not low <= share.deviation.value <= high:
                found = (
                    f"{self.source}, {row.variant}: a deviation of {share.deviation.value:.1%} does"
                    f" not follow from {share.predicted.value:g} s and {share.measured.value:g} s"
                )
                raise MisfitError(Misfit(keys, found))

    def _deviations(self, predicted: float, measured: float) -> tuple[float, float]:
        """The range of deviations of two rounded times, wider by half a digit at both ends."""
        half = self.resolution / 2
        digit = 0.0005
        low = (predicted - half) / (measured + half) - 1
        high = (predicted + half) / max(measured - half, half) - 1
        return low - digit, high + digit

    def row(self, variant: str) -> PublishedRow | None:
        """The row of a variant."""
        return next((row for row in self.rows if row.variant == variant), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One published table: the problem, the machine, the software, and the rows."""

    name: Annotated[str, Derived()]
    title: Text
    source: Text
    machine: Text
    """Name of the machine that it was measured on."""
    compiler: Text
    """What the authors compiled with."""
    model: Text
    """What the authors predicted with."""
    ivp: Annotated[Text, FileSection("problem")]
    method: Annotated[Text, FileSection("problem")]
    correctors: Annotated[Count, FileSection("problem")]
    n: Annotated[Count, FileSection("problem"), FileKey(about="the number of components")]
    nodes: Annotated[Count, FileSection("layout")] = 1
    ranks: Annotated[Count, FileSection("layout")] = 1
    """Per node."""
    threads: Annotated[Count, FileSection("layout")]
    """Of each rank."""
    parameter: Annotated[
        Text, FileKey(about="the parameter of the space whose values name the rows")
    ]
    rule: Annotated[
        Text,
        FileSection("rule", "variant"),
        FileKey(about="the variant that the constant rule always chooses"),
    ]
    """The variant of the constant rule that predictions must beat."""
    rule_source: Annotated[Text, FileSection("rule", "source")]
    """Where that rule comes from: not from this table."""
    groups: Annotated[tuple[PublishedGroup, ...], Bounds(least=1)]
    notes: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        if not self.groups:
            raise ValueError("a reference needs a group of rows")
        ways = [group.communication for group in self.groups]
        if len(set(ways)) != len(ways):
            raise ValueError("a communication has two groups")
        if min(self.correctors, self.n, self.nodes, self.ranks, self.threads) < 1:
            raise ValueError("correctors, n, nodes, ranks and threads must be at least 1")
        parallel = self.nodes * self.ranks > 1
        if any((way == "none") == parallel for way in ways):
            raise ValueError("several ranks have a communication, one rank has none")

    @property
    def variants(self) -> tuple[str, ...]:
        """Every variant that a row names, in the order of the rows."""
        return tuple(dict.fromkeys(row.variant for group in self.groups for row in group.rows))

    def about(self, problem: AnyProblem) -> bool:
        """Whether a problem is the one that the table is about."""
        if not isinstance(problem, Problem):
            return False
        return (problem.ivp.name, problem.method.name, problem.correctors, problem.n) == (
            self.ivp, self.method, self.correctors, self.n,
        )  # fmt: skip

    @property
    def layout(self) -> str:
        """The nodes, ranks and threads of the published runs, in words."""
        return f"{self.nodes} nodes x {self.ranks} rank(s) x {self.threads} threads"

    def key(self, communication: str, variant: str = "") -> str:
        """The name of a group or row in other data: ``icpe19-table3/sparse``,
        ``.../sparse/ilj``.
        """
        return "/".join(part for part in (self.name, communication, variant) if part)
