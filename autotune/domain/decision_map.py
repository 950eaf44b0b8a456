"""A finished decision map as plain values, to be stored, drawn and exported."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.metric import TIME, Metric
from autotune.domain.variant import Build, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The cost of one fixed choice per cell, over all cells, as shares of the least time."""

    mean: float
    """Expected loss, mean over the cells."""
    mean_bound: float
    """The mean over the cells is below this with the probability of the level."""
    max_bound: float
    """The largest loss of any cell is below this with the probability of the level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A variant with a build, as an application can ship it."""

    label: str
    """Unique within its map."""
    variant: str
    parameters: Mapping[str, Value]
    build: Build
    placement: str = "compact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The choice of one contender in one cell, and the loss that it may cost there."""

    contender: int
    candidate: str
    """Identity of it at this size with these threads."""
    seconds: float
    """Expected time of a step."""
    loss: float
    """Expected loss against the fastest, a share."""
    bound: float
    """The loss is below this with the probability of the level."""
    between: float = 0.0
    """The same for the sizes nearest to this one, by interpolated times; 0 where it is alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapCell:
    """One cell of a map: a size with a number of threads, its winner and its choices."""

    size: int
    n: int
    """Components, grid points, or the size argument of a program."""
    threads: int
    problem: str
    """Label."""
    winner: Choice
    probability: float
    """That the winner is the fastest of all."""
    second: int | None
    """The contender that is most likely the fastest if the winner is not."""
    merged: Choice
    """What is run here when few contenders are shipped."""
    measured: Mapping[int, float]
    """Contender to its measured seconds, of the last visit."""
    failed: Mapping[int, str]
    """Contender to its status."""

    @property
    def sure(self) -> bool:
        """Whether the winner is the fastest with at least 90 % probability."""
        return self.probability >= 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The candidate to run at a size and number of threads: a row of a table of choices."""

    size: int
    n: int
    threads: int
    problem: str
    candidate: str
    """Identity."""
    contender: Contender
    seconds: float
    bound: float
    """Of the loss, with the probability of the level: in the cell and half way to the next."""
    measured: bool
    """It was measured here; else its time is what the measured ones around it make expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionMap:
    """Which contender wins where over size and threads, and the possible loss of each choice.

    A size between the cells belongs to the nearest size by ratio, at the same number of threads. A
    number of threads that is not in the map belongs to the nearest number of threads.
    """

    label: str
    """Of what is computed: ``heat2d``."""
    title: str
    size_name: str
    """What the sizes are: ``N``."""
    engine: str
    """Who predicted; empty: there is no model."""
    level: float
    """Probability of the bounds."""
    tolerance: float
    contenders: tuple[Contender, ...]
    left_out: int
    """Contenders that were not looked at: by prediction far from the fastest everywhere."""
    sizes: tuple[int, ...]
    threads: tuple[int, ...]
    cells: tuple[MapCell, ...]
    """Size by size, threads by threads."""
    whole: Summary
    """Of following the winners."""
    merged: Summary
    """Of following the few contenders."""
    price: tuple[float, float]
    """Expected loss of the few against the winners: mean over the cells and largest."""
    evaluations: int
    """Contenders measured in cells, each time counted."""
    pairs: int
    """Contenders x cells that are legal."""
    stopped: str
    """Why nothing more was measured."""
    goal: Metric = TIME
    """What the candidates are judged by; the seconds of a map are its costs where it is not the
    time: the reciprocal of a rate, of which more is better."""

    def __post_init__(self) -> None:
        if len(self.cells) != len(self.sizes) * len(self.threads):
            raise ValueError(
                f"{len(self.cells)} cells for {len(self.sizes)} sizes x {len(self.threads)} threads"
            )
        for cell in self.cells:
            for choice in (cell.winner, cell.merged):
                if not 0 <= choice.contender < len(self.contenders):
                    raise ValueError(f"cell {cell.problem}: no contender {choice.contender}")

    @property
    def winners(self) -> tuple[int, ...]:
        """The contenders that win at least one cell, most wins first."""
        return _by_count([cell.winner.contender for cell in self.cells])

    @property
    def kept(self) -> tuple[int, ...]:
        """The few contenders that are chosen after merging, most cells first."""
        return _by_count([cell.merged.contender for cell in self.cells])

    @property
    def same(self) -> bool:
        """Whether every chosen contender is its cell's winner, so that nothing was merged."""
        return all(cell.winner.contender == cell.merged.contender for cell in self.cells)

    @property
    def between(self) -> tuple[float, float]:
        """The largest bound of the loss in any cell and half way to the next one.

        Given twice: for the winners, and for the few chosen contenders.
        """
        winners = max(max(c.winner.bound, c.winner.between) for c in self.cells)
        return winners, max(max(c.merged.bound, c.merged.between) for c in self.cells)

    def row(self, threads: int) -> tuple[MapCell, ...]:
        """The cells with a number of threads, smallest size first."""
        return tuple(cell for cell in self.cells if cell.threads == threads)

    def at(self, size: int, threads: int) -> MapCell:
        """The cell that applies to a size and a number of threads.

        The nearest number of threads is taken first, then the nearest size, by ratio. Of two that
        are equally near, the smaller is taken.
        """
        team = _nearest(self.threads, threads)
        wanted = _nearest(self.sizes, size)
        return next(c for c in self.cells if c.size == wanted and c.threads == team)

    def entries(self, *, few: bool = True) -> list[Entry]:
        """An entry for every cell: with its chosen contender, or with its winner."""
        entries = []
        for cell in self.cells:
            choice = cell.merged if few else cell.winner
            entries.append(
                Entry(
                    size=cell.size,
                    n=cell.n,
                    threads=cell.threads,
                    problem=cell.problem,
                    candidate=choice.candidate,
                    contender=self.contenders[choice.contender],
                    seconds=choice.seconds,
                    bound=max(choice.bound, choice.between),
                    measured=choice.contender in cell.measured,
                )
            )
        return entries

    def regions(self) -> list[tuple[int, int, int, int]]:
        """(threads, first size, last size, contender) of each range of sizes with one choice."""
        regions: list[tuple[int, int, int, int]] = []
        for threads in self.threads:
            for cell in self.row(threads):
                contender = cell.merged.contender
                if regions and (regions[-1][0], regions[-1][3]) == (threads, contender):
                    regions[-1] = (threads, regions[-1][1], cell.size, contender)
                else:
                    regions.append((threads, cell.size, cell.size, contender))
        return regions


def _by_count(contenders: Sequence[int]) -> tuple[int, ...]:
    counts = {contender: contenders.count(contender) for contender in contenders}
    return tuple(sorted(counts, key=lambda contender: (-counts[contender], contender)))


def _nearest(values: Sequence[int], wanted: int) -> int:
    return min(values, key=lambda value: (abs(math.log(value / wanted)), value))
