"""The record that kerncraft makes of a kernel on a machine: everything its ECM model depends on."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.models.kerncraft.size_polynomial import SizePolynomial


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferOption:
    """The transfers where one layer condition holds, in cycles per cache line of work."""

    cycles: tuple[float, ...]
    """Cycles by level: L1-L2 first, memory last."""
    penalty: float
    """Penalty cycles of the memory level."""
    bandwidth: float
    """Memory bandwidth that kerncraft used, in bytes per second."""
    memory_lines: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KerncraftSample:
    """kerncraft's own results at one point, for comparison."""

    sizes: Mapping[str, int]
    cores: int
    transfers: tuple[float, ...]
    T_ECM: float
    saturation: float
    scaling: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KerncraftRecord:
    """An analysed kernel with its transfer options. In option 0 all arrays fit; in the last no
    condition holds.

    The option that holds is the first whose bytes fit into the cache (for option 0: are *less* than
    the cache). The conditions are the same for every cache.
    """

    constants: tuple[str, ...]
    levels: tuple[str, ...]
    overlapping: tuple[bool, ...]
    """Whether the transfers of a level overlap; one more than ``levels``, L1 first."""
    caches: tuple[tuple[int, ...], ...]
    """Bytes of every cache, by number of cores within a memory domain: 1 first."""
    socket_cores: int
    needed: tuple[SizePolynomial, ...]
    options: tuple[TransferOption, ...]
    T_OL: float
    T_nOL: float
    iterations_per_line: float
    compiler: str
    samples: tuple[KerncraftSample, ...]

    def __post_init__(self) -> None:
        count = len(self.levels)
        if len(self.needed) + 1 != len(self.options) or not self.needed:
            raise ValueError("every layer condition but the last must have its bytes")
        if any(len(option.cycles) != count for option in self.options):
            raise ValueError("every option must have the cycles of every level")
        if len(self.overlapping) != count + 1 or any(len(c) < count for c in self.caches):
            raise ValueError("every level must have its cache and its overlap")
        if not math.isfinite(self.T_OL + self.T_nOL) or self.iterations_per_line <= 0:
            raise ValueError("in-core times must be finite, a line must have iterations")

    @property
    def domain_cores(self) -> int:
        """Number of cores of a memory domain."""
        return len(self.caches)


def read_record(data: object) -> KerncraftRecord:
    """The record in decoded JSON data; ValueError where the data is no record."""
    try:
        record = _fields(data)
        return KerncraftRecord(
            constants=_texts(record["constants"]),
            levels=_texts(record["levels"]),
            overlapping=tuple(bool(level) for level in _items(record["overlapping"])),
            caches=tuple(_integers(sizes) for sizes in _items(record["caches"])),
            socket_cores=_integer(record["socket_cores"]),
            needed=tuple(_polynomial(terms) for terms in _items(record["needed"])),
            options=tuple(_option(option) for option in _items(record["options"])),
            T_OL=_number(record["T_OL"]),
            T_nOL=_number(record["T_nOL"]),
            iterations_per_line=_number(record["iterations_per_line"]),
            compiler=str(record["compiler"]),
            samples=tuple(_sample(sample) for sample in _items(record["samples"])),
        )
    except KeyError as error:
        raise ValueError(f"not a record of kerncraft: {error} is missing") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class LineTransfers:
    """The transfers of some numbers of lines on a machine, by kerncraft's own arithmetic."""

    levels: tuple[str, ...]
    overlapping: tuple[bool, ...]
    caches: tuple[tuple[int, ...], ...]
    socket_cores: int
    options: Mapping[tuple[float, float], TransferOption]
    """By lines loaded and lines stored in a line of work."""


def read_lines(data: object, lines: Sequence[tuple[float, float]]) -> LineTransfers:
    """The transfers of ``lines`` in decoded JSON data; ValueError where the data has none."""
    try:
        record = _fields(data)
        options = [_option(option) for option in _items(record["options"])]
        return LineTransfers(
            levels=_texts(record["levels"]),
            overlapping=tuple(bool(level) for level in _items(record["overlapping"])),
            caches=tuple(_integers(sizes) for sizes in _items(record["caches"])),
            socket_cores=_integer(record["socket_cores"]),
            options=dict(zip(lines, options, strict=True)),
        )
    except KeyError as error:
        raise ValueError(f"not a record of kerncraft: {error} is missing") from error


def _option(data: object) -> TransferOption:
    option = _fields(data)
    return TransferOption(
        cycles=_numbers(option["cycles"]),
        penalty=_number(option["penalty"]),
        bandwidth=_number(option["bandwidth"]),
        memory_lines=_number(option["memory_lines"]),
    )


def _sample(data: object) -> KerncraftSample:
    sample = _fields(data)
    return KerncraftSample(
        sizes={name: _integer(size) for name, size in _fields(sample["sizes"]).items()},
        cores=_integer(sample["cores"]),
        transfers=_numbers(sample["transfers"]),
        T_ECM=_number(sample["T_ECM"]),
        saturation=_number(sample["saturation"]),
        scaling=_number(sample["scaling"]),
    )


def _polynomial(data: object) -> SizePolynomial:
    terms = []
    for term in _items(data):
        coefficient, powers = _items(term)
        named = [_items(power) for power in _items(powers)]
        terms.append((_integer(coefficient), tuple((str(n), _integer(p)) for n, p in named)))
    return SizePolynomial(tuple(terms))


def _fields(data: object) -> Mapping[str, object]:
    if not isinstance(data, dict):
        raise ValueError(f"not a record of kerncraft: {data!r}")
    return data


def _items(data: object) -> Sequence[object]:
    if not isinstance(data, list):
        raise ValueError(f"not a list: {data!r}")
    return data


def _number(data: object) -> float:
    if not isinstance(data, int | float):
        raise ValueError(f"not a number: {data!r}")
    return float(data)


def _integer(data: object) -> int:
    if not isinstance(data, int):
        raise ValueError(f"not an integer: {data!r}")
    return data


def _numbers(data: object) -> tuple[float, ...]:
    return tuple(_number(item) for item in _items(data))


def _integers(data: object) -> tuple[int, ...]:
    return tuple(_integer(item) for item in _items(data))


def _texts(data: object) -> tuple[str, ...]:
    return tuple(str(item) for item in _items(data))
