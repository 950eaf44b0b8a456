"""The ECM model of an analysed kernel: times for sizes and cores, from its layer conditions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt

from autotune.errors import Fault, InputError
from autotune.models.kerncraft.ecm_point import EcmPoint
from autotune.models.kerncraft.ecm_times import EcmTimes, Floats
from autotune.models.kerncraft.kerncraft_record import KerncraftRecord
from autotune.models.kerncraft.size_polynomial import Integers

_DENSE = 1 << 16
"""Largest number of combinations of layer conditions for which tables have a row each."""

_Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _Column:
    """All sizes on one number of cores: for each size its row in a small table of layer
    conditions.
    """

    rows: _Codes
    count: int
    points: Mapping[int, EcmPoint]
    """Row to its point, for rows that occur."""

    def of(self, value: Callable[[EcmPoint], float]) -> Floats:
        """(S,): the value of each size, from values for the rows of the table."""
        table = np.full(self.count, np.nan)
        for row, point in self.points.items():
            table[row] = value(point)
        return table[self.rows]

    def transfers(self, levels: int) -> Floats:
        """(S, levels): cycles per line of work."""
        table = np.full((self.count, levels), np.nan)
        for row, point in self.points.items():
            table[row] = point.transfers
        return table[self.rows]


@dataclass(frozen=True, slots=True)
class EcmModel:
    """The ECM model of one kernel on one machine; ``evaluate`` gives exactly kerncraft's doubles.

    Sizes matter only by which layer condition holds in which cache. Few combinations occur, and
    each is evaluated once.
    """

    record: KerncraftRecord
    _points: dict[int, EcmPoint] = field(default_factory=dict, compare=False, repr=False)

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the sizes that ``evaluate`` needs, sorted."""
        return self.record.constants

    @property
    def in_core(self) -> str:
        """The route that gave the in-core time, in words."""
        return f"in-core by OSACA on the loop as kerncraft compiles it ({self.record.compiler})"

    @property
    def counted(self) -> bool:
        """Whether the in-core time is that of a port table: it is not."""
        return False

    @property
    def cores(self) -> int:
        """The largest number of cores that times exist for: the cores of a socket."""
        return self.record.socket_cores

    def evaluate(self, sizes: Mapping[str, Integers], cores: Sequence[int]) -> EcmTimes:
        """The times of S sizes, given as arrays of one length or single numbers, on each number of
        cores.

        Raises InputError for sizes that are missing or not positive integers, and for more cores
        than a socket has.
        """
        record = self.record
        alone, *columns = self._columns(sizes, [1, *cores])
        levels = len(record.levels)
        transfers = np.empty((len(alone.rows), len(columns), levels))
        for place, column in enumerate(columns):
            transfers[:, place] = column.transfers(levels)

        def over(value: Callable[[EcmPoint], float]) -> Floats:
            cycles = np.empty((len(alone.rows), len(columns)))
            for place, column in enumerate(columns):
                cycles[:, place] = column.of(value)
            return cycles

        scaling = np.empty((len(alone.rows), len(columns)))
        for place, (column, c) in enumerate(zip(columns, cores, strict=True)):
            scaling[:, place] = column.of(partial(EcmPoint.scaling, cores=c))
        return EcmTimes(
            levels=record.levels,
            T_OL=record.T_OL,
            T_nOL=record.T_nOL,
            transfers=transfers,
            T_ECM=over(lambda point: point.T_ECM),
            memory=over(lambda point: point.memory),
            memory_lines=over(lambda point: point.memory_lines),
            bandwidth=over(lambda point: point.bandwidth),
            saturation=alone.of(lambda point: point.saturation),
            saturation_at=over(lambda point: point.saturation),
            scaling=scaling,
            iterations_per_line=record.iterations_per_line,
        )

    def _columns(self, sizes: Mapping[str, Integers], cores: Sequence[int]) -> list[_Column]:
        """One column for each number of cores; numbers of cores with equal caches share
        a column.
        """
        for c in cores:
            if not 1 <= c <= self.cores:
                raise _wrong(f"{c} cores", f"1 to {self.cores}, the cores of a socket")
        arrays, count = self._arrays(sizes)
        needed = [polynomial.at(arrays, count) for polynomial in self.record.needed]
        holding: dict[int, _Codes] = {}
        by_caches: dict[tuple[int, ...], _Column] = {}
        columns = []
        for c in cores:
            caches = self.record.caches[min(c, self.record.domain_cores) - 1]
            caches = caches[: len(self.record.levels)]
            if caches not in by_caches:
                for size in caches:
                    if size not in holding:
                        holding[size] = _first_that_holds(needed, size)
                by_caches[caches] = self._column([holding[size] for size in caches])
            columns.append(by_caches[caches])
        return columns

    def _column(self, chosen: Sequence[_Codes]) -> _Column:
        options = len(self.record.options)
        code = chosen[0]
        for level in chosen[1:]:
            code = code * options + level
        count = int(options ** len(chosen))
        if count <= _DENSE:
            occurring = np.flatnonzero(np.bincount(code, minlength=count))
            return _Column(code, count, {int(k): self._point(int(k)) for k in occurring})
        occurring, rows = np.unique(code, return_inverse=True)
        points = {row: self._point(int(k)) for row, k in enumerate(occurring)}
        return _Column(rows.reshape(-1), len(occurring), points)

    def _point(self, code: int) -> EcmPoint:
        if code not in self._points:
            options, rest, chosen = len(self.record.options), code, []
            for _ in self.record.levels:
                rest, option = divmod(rest, options)
                chosen.append(option)
            self._points[code] = EcmPoint(self.record, tuple(reversed(chosen)))
        return self._points[code]

    def _arrays(self, sizes: Mapping[str, Integers]) -> tuple[dict[str, Integers], int]:
        missing = [name for name in self.constants if name not in sizes]
        if missing:
            raise _wrong(f"no size for {', '.join(missing)}", f"{', '.join(self.constants)}")
        arrays = [np.atleast_1d(np.asarray(sizes[name])) for name in self.constants]
        for name, array in zip(self.constants, arrays, strict=True):
            if array.dtype.kind not in "iu" or array.ndim != 1 or array.min(initial=1) < 1:
                raise _wrong(f"sizes {name} that are no positive integers", "positive integers")
        if len({len(array) for array in arrays} - {1}) > 1:
            raise _wrong("arrays of different lengths", "sizes of one length")
        count = max((len(array) for array in arrays), default=1)
        count = 0 if any(len(array) == 0 for array in arrays) else count
        whole = (np.broadcast_to(array.astype(np.int64), count) for array in arrays)
        return dict(zip(self.constants, whole, strict=True)), count


def _first_that_holds(needed: Sequence[Integers], size: int) -> _Codes:
    """(S,): the first condition that holds in a cache; ``len(needed)`` where none does."""
    first = np.full(len(needed[0]), len(needed), dtype=np.intp)
    for k in range(len(needed) - 1, 0, -1):
        first[np.asarray(needed[k] <= size, dtype=bool)] = k
    first[np.asarray(needed[0] < size, dtype=bool)] = 0
    return first


def _wrong(got: str, expected: str) -> InputError:
    return InputError(Fault(where="sizes of a kernel", found=got, expected=expected))


def disagreement(model: EcmModel) -> str | None:
    """A sentence on the difference between the model and kerncraft's samples; None where all
    doubles are equal.
    """
    for sample in model.record.samples:
        sizes = {name: np.array([size]) for name, size in sample.sizes.items()}
        times = model.evaluate(sizes, [sample.cores])
        computed = {
            "transfers": (tuple(times.transfers[0, 0].tolist()), sample.transfers),
            "T_ECM": (times.T_ECM[0, 0], sample.T_ECM),
            "saturation": (times.saturation_at[0, 0], sample.saturation),
            "scaling": (times.scaling[0, 0], sample.scaling),
        }
        for name, (ours, theirs) in computed.items():
            if ours != theirs:
                return f"{name} is {theirs} by kerncraft but {ours} here for {dict(sample.sizes)}"
    return None
