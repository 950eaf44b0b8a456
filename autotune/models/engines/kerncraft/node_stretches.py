"""Eq. 8 and 9 for many kernel stretches at once: requests are collected, then evaluated together by
kernel text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from autotune.domain.machine import Machine
from autotune.domain.setup import Saturation
from autotune.models.engines.ecm_arithmetic import (
    Floats,
    floor_cycles,
    kernel_cycles,
    paper_cycles,
    saturation_point,
)
from autotune.models.kerncraft import EcmTimes

_ALL = 1 - 1e-12
"""A part above this share of the whole counts as the whole: the rest is rounding."""


class StretchModel(Protocol):
    """The interface of the ECM model of one kernel on one machine."""

    @property
    def constants(self) -> tuple[str, ...]:
        """Names of the sizes that the model needs."""

    @property
    def in_core(self) -> str:
        """The route that gave the in-core time, in words."""

    @property
    def counted(self) -> bool:
        """Whether the in-core time is that of a port table."""

    def evaluate(
        self, sizes: Mapping[str, npt.NDArray[np.int64]], cores: Sequence[int]
    ) -> EcmTimes:
        """The times for these sizes on these numbers of cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StretchTiming:
    """Seconds of requests: the time in which the cores of a node together finish each, and its
    parts.
    """

    levels: tuple[str, ...]
    seconds: Floats
    """phi, Eq. 9."""
    T_OL: Floats
    T_nOL: Floats
    transfers: Floats
    """(requests, levels): seconds of transfers of one core. The memory, which is last, includes the
    wait for other cores, and is the whole time where memory is saturated."""
    full: Floats
    """Seconds if all parts overlap."""
    serial: Floats
    """Seconds if no transfer overlaps."""
    saturation: Floats
    """Number of cores from which on memory is saturated; inf: never."""

    def at(self, rows: npt.NDArray[np.int64]) -> "StretchTiming":
        """The timing of the requests ``rows``."""
        return StretchTiming(
            levels=self.levels,
            seconds=self.seconds[rows],
            T_OL=self.T_OL[rows],
            T_nOL=self.T_nOL[rows],
            transfers=self.transfers[rows],
            full=self.full[rows],
            serial=self.serial[rows],
            saturation=self.saturation[rows],
        )


@dataclass(slots=True)
class _Group:
    """The requests for one kernel text on one number of cores."""

    names: tuple[str, ...]
    positions: list[int] = field(default_factory=list)
    sizes: list[tuple[int, ...]] = field(default_factory=list)
    iterations: list[float] = field(default_factory=list)


@dataclass(slots=True)
class StretchRequests:
    """Collects kernel stretches to evaluate on one machine with one rule of saturation."""

    machine: Machine
    saturation: Saturation
    _groups: dict[tuple[str, int], _Group] = field(default_factory=dict)
    _count: int = 0

    def add(self, text: str, sizes: Mapping[str, int], cores: int, iterations: float) -> int:
        """Add ``iterations`` of a text on all cores of a domain; returns the request's position."""
        group = self._groups.get((text, cores))
        if group is None:
            group = self._groups[text, cores] = _Group(tuple(sizes))
        group.positions.append(self._count)
        group.sizes.append(tuple(sizes.values()))
        group.iterations.append(iterations)
        self._count += 1
        return self._count - 1

    def evaluate(self, models: Mapping[str, StretchModel | str]) -> StretchTiming:
        """The times of all requests, by position."""
        timings: list[tuple[list[int], StretchTiming]] = []
        for (text, cores), group in self._groups.items():
            model = models[text]
            assert not isinstance(model, str), "only what was analysed is asked for"
            timings.append((group.positions, self._timing(model, cores, group)))
        return _together(timings, self._count)

    def _timing(self, model: StretchModel, cores: int, group: _Group) -> StretchTiming:
        distinct, place = np.unique(
            np.array(group.sizes, dtype=np.int64), axis=0, return_inverse=True
        )
        sizes = {name: distinct[:, group.names.index(name)] for name in model.constants}
        times = model.evaluate(sizes, [cores])
        rows = place.reshape(-1)
        alpha, memory = times.T_ECM[rows, 0], times.memory[rows, 0]
        together = self._cycles(times, cores)[rows]
        T_OL, T_nOL = np.full(len(rows), times.T_OL), np.full(len(rows), times.T_nOL)
        transfers = times.transfers[rows, 0]
        core = np.maximum(T_OL, T_nOL)
        full = np.maximum(core, transfers.max(axis=1))
        serial = np.maximum(T_OL, T_nOL + transfers.sum(axis=1))
        least = self._floor(times)[rows]
        moved = transfers / cores
        moved[:, -1] = np.where(
            np.maximum(memory, least) >= together * _ALL,
            together,
            moved[:, -1] + np.maximum(together - alpha / cores, 0.0),
        )
        beta = np.array(group.iterations)

        def seconds(cycles: Floats) -> Floats:
            """Convert cycles to seconds, by Eq. 8 and the clock of Eq. 9."""
            zeta = kernel_cycles(cycles, beta, times.iterations_per_line)
            result: Floats = zeta / float(self.machine.frequency)
            return result

        sigma = (
            saturation_point(alpha, memory)
            if self.saturation == "paper"
            else times.saturation_at[rows, 0]
        )
        bounds = [np.maximum(paper_cycles(c, memory, cores), least) for c in (full, serial)]
        return StretchTiming(
            levels=times.levels,
            seconds=seconds(together),
            T_OL=seconds(T_OL / cores),
            T_nOL=seconds(T_nOL / cores),
            transfers=np.stack([seconds(column) for column in moved.T], axis=1),
            full=seconds(np.minimum(bounds[0], together)),
            serial=seconds(np.maximum(bounds[1], together)),
            saturation=sigma,
        )

    def _cycles(self, times: EcmTimes, cores: int) -> Floats:
        """Cycles per line of work of all cores together, never below bytes over bandwidth."""
        if self.saturation == "paper":
            cycles = paper_cycles(times.T_ECM[:, 0], times.memory[:, 0], cores)
        else:
            cycles = times.scaling[:, 0]
        return np.maximum(cycles, self._floor(times))

    def _floor(self, times: EcmTimes) -> Floats:
        line, clock = int(self.machine.line), float(self.machine.frequency)
        return floor_cycles(times.memory_lines[:, 0], line, times.bandwidth[:, 0], clock)


def _together(groups: list[tuple[list[int], StretchTiming]], count: int) -> StretchTiming:
    """The groups joined in the order of their requests."""
    order = np.empty(count, dtype=np.int64)
    order[[position for positions, _ in groups for position in positions]] = np.arange(count)
    timings = [timing for _, timing in groups]
    if not timings:
        empty = np.empty(0)
        return StretchTiming(
            levels=(), seconds=empty, T_OL=empty, T_nOL=empty, transfers=empty.reshape(0, 0),
            full=empty, serial=empty, saturation=empty,
        )  # fmt: skip
    return StretchTiming(
        levels=timings[0].levels,
        seconds=np.concatenate([t.seconds for t in timings]),
        T_OL=np.concatenate([t.T_OL for t in timings]),
        T_nOL=np.concatenate([t.T_nOL for t in timings]),
        transfers=np.concatenate([t.transfers for t in timings]),
        full=np.concatenate([t.full for t in timings]),
        serial=np.concatenate([t.serial for t in timings]),
        saturation=np.concatenate([t.saturation for t in timings]),
    ).at(order)
