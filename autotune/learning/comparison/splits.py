"""Splits of a table into training rows and test rows: repeated, seeded, paired and nested.

Within a repeat, all sizes share the same test rows, all models share the same training rows, and a
smaller training set lies within the larger ones. So points of a curve, and curves of different
models, are compared on equal terms.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.tables.table import MeasurementTable, Value
from autotune.errors import Fault, InputError, unknown_name
from autotune.learning.comparison.split_settings import DRAWING, REPEATS, SEED, Drawing
from autotune.learning.designs import DesignPlan, chosen, members
from autotune.learning.models.base import Bools, Indices

PROBLEM = "problem"
"""What ``leave_out`` calls a problem, where rows solve several."""
_LARGEST = 256
_FEWEST = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainTestSplit:
    """The training rows, (size,), and the test rows of one split; no row is in both."""

    train: Indices
    test: Indices
    repeat: int
    group: Value | None = None
    """The value that no training row has; None where none is left out."""

    @property
    def size(self) -> int:
        """The number of training rows."""
        return len(self.train)


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPlan:
    """How a table is split repeatedly: training sizes, number of repeats, seed, values to leave
    out.

    ``leave_out``: the name of a parameter, or ``problem``; each of its values in turn is used for
    testing only. Raises InputError for settings that are impossible.
    """

    sizes: tuple[int, ...]
    repeats: int = REPEATS
    seed: int = SEED
    leave_out: str = ""
    drawing: Drawing = DRAWING

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 2 or list(self.sizes) != sorted(set(self.sizes)):
            found = ", ".join(map(str, self.sizes)) or "none"
            expected = "at least 2 rows each, in ascending order"
            raise InputError(Fault(where="sizes", found=found, expected=expected))
        if self.repeats < 1:
            raise InputError(Fault(where="repeats", found=str(self.repeats), expected="at least 1"))
        if self.seed < 0:
            raise InputError(Fault(where="seed", found=str(self.seed), expected="at least 0"))

    def splits(
        self, table: MeasurementTable, eligible: Bools | None = None, problems: Sequence[str] = ()
    ) -> tuple[TrainTestSplit, ...]:
        """All splits, ordered by repeat, group and size.

        ``eligible``: (n,) True for rows that may be scored on; ``problems``: (n,) the problem that
        each row solves. Where all rows are eligible, the rows that the largest training size leaves
        over are the test rows. Where only some are, half of these are. Raises InputError where
        there are too few rows.
        """
        may = np.ones(len(table), dtype=np.bool_) if eligible is None else eligible
        if self.leave_out:
            return self._by_group(table, may, problems)
        drawn = []
        for repeat in range(self.repeats):
            generator = np.random.default_rng([self.seed, repeat])
            order = generator.permutation(np.flatnonzero(may))
            test = order[: held_out(len(table), may, self.sizes[-1])]
            pool = np.setdiff1d(np.arange(len(table)), test)
            drawn += self._grown(table, pool, test, repeat, None)
        return tuple(drawn)

    def _by_group(
        self, table: MeasurementTable, may: Bools, problems: Sequence[str]
    ) -> tuple[TrainTestSplit, ...]:
        splits = []
        groups = groups_of(table, self.leave_out, problems)
        for repeat in range(self.repeats):
            for value, rows in groups.items():
                test = rows[may[rows]]
                if len(test):
                    pool = np.setdiff1d(np.arange(len(table)), rows)
                    splits += self._grown(table, pool, test, repeat, value)
        return tuple(splits)

    def _grown(
        self,
        table: MeasurementTable,
        pool: Indices,
        test: Indices,
        repeat: int,
        group: Value | None,
    ) -> list[TrainTestSplit]:
        """One split for each training size, with training rows from ``pool``."""
        if self.sizes[-1] > len(pool):
            left = f" without {self.leave_out} = {group}" if group is not None else ""
            raise InputError(
                Fault(
                    where=table.name,
                    found=f"{len(pool)} rows to learn from{left}",
                    expected=f"{self.sizes[-1]} for the largest training size",
                )
            )
        generator = np.random.default_rng([self.seed, repeat, 1])
        order = generator.permutation(pool)
        return [
            TrainTestSplit(
                train=order[:size] if self.drawing == "random" else self._drawn(table, pool, size,
                                                                                repeat),
                test=test,
                repeat=repeat,
                group=group,
            )
            for size in self.sizes
        ]  # fmt: skip

    def _drawn(self, table: MeasurementTable, pool: Indices, size: int, repeat: int) -> Indices:
        """``size`` rows of the pool, chosen by a design of experiments."""
        inputs = table.inputs.take(pool)
        seed = int(np.random.default_rng([self.seed, repeat, 2]).integers(2**31))
        plan = DesignPlan(kind=self.drawing, rows=size, seed=seed)
        design = plan.design(inputs.parameters, (members(inputs),))
        return pool[chosen(design, inputs)]


def groups_of(
    table: MeasurementTable, name: str, problems: Sequence[str] = ()
) -> dict[Value, Indices]:
    """The rows of each value of a parameter, or of each problem.

    Raises InputError for an unknown parameter and for a parameter with a single value.
    """
    constant = dict(table.constants)
    if name == PROBLEM and name not in table.inputs.names and problems:
        names = np.array(problems)
        groups: dict[Value, Indices] = {
            problem: np.flatnonzero(names == problem) for problem in dict.fromkeys(problems)
        }
    elif name in constant:
        groups = {constant[name]: np.arange(len(table))}
    elif name in table.inputs.names:
        groups = table.groups(name)
    else:
        names_allowed = (*table.inputs.names, *([PROBLEM] if problems else []))
        raise InputError(unknown_name("leave-out", "parameter", name, names_allowed))
    if len(groups) < 2:
        found = f"one value, {next(iter(groups))}, in all rows of {table.name}"
        raise InputError(Fault(where=name, found=found, expected="two, to leave one out"))
    return groups


def held_out(rows: int, may: Bools, largest: int) -> int:
    """The number of test rows of a split; InputError where too few rows are left.

    ``may``: (n,) True for rows that may be scored on; ``largest``: the largest training size.
    """
    some = int(may.sum())
    held = rows - largest if some == rows else -(-some // 2)
    if held < 1 or rows - held < largest:
        found = f"{rows} rows, of which {some} may be scored on"
        expected = f"more, for {largest} to learn from"
        raise InputError(Fault(where="sizes", found=found, expected=expected))
    return held


def learnable(
    table: MeasurementTable,
    eligible: Bools | None = None,
    leave_out: str = "",
    problems: Sequence[str] = (),
) -> int:
    """The largest training size that leaves test rows.

    Where all rows may be scored on, it is three quarters of them.
    """
    rows = len(table)
    may = np.ones(rows, dtype=np.bool_) if eligible is None else eligible
    if leave_out:
        groups = groups_of(table, leave_out, problems).values()
        return rows - max((len(group) for group in groups if may[group].any()), default=0)
    return 3 * rows // 4 if may.all() else rows - -(-int(may.sum()) // 2)


def usual_sizes(most_rows: int, most: int = 5) -> tuple[int, ...]:
    """Training sizes by default: 8, 16, 32, ... up to 256 or the number of rows.

    At most the ``most`` largest of these sizes are returned.

    >>> usual_sizes(75), usual_sizes(7), usual_sizes(2000)
    ((8, 16, 32, 64), (7,), (16, 32, 64, 128, 256))
    """
    limit = min(_LARGEST, most_rows)
    doubled = [_FEWEST * 2**k for k in range(10) if _FEWEST * 2**k <= limit]
    return tuple(doubled[-most:]) or (max(2, limit),)
