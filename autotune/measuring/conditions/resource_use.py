"""Memory and energy of one launch, recorded as conditions of its samples."""

import contextlib
from dataclasses import dataclass, field
from pathlib import Path

from autotune.measuring.conditions.energy import EnergyMeter, EnergyReading
from autotune.toolchain.memory_footprint import Footprint

MEMORY, ENERGY = "memory_bytes", "energy_j"
"""Names of the conditions: peak resident memory of the launch until then, in bytes; energy of the
node's packages in one time step, in joules."""


@dataclass(slots=True, kw_only=True)
class ResourceUse:
    """Watches memory and energy of one launch that ``child_process.run`` runs.

    The energy of a step is the mean power over an interval around the sample, times the seconds of
    a step. The interval is the time since the last sample where the program pauses after each
    sample (``of_sample``), or the whole launch (``of_launch``).
    """

    counted: Path | None = None
    """The executable whose processes count for memory; None: all that the launch starts."""
    meter: EnergyMeter | None = None
    """The energy meter; None: energy cannot be read."""
    _first: EnergyReading | None = None
    _last: EnergyReading | None = None
    _footprint: Footprint = field(init=False)

    def __post_init__(self) -> None:
        self._footprint = Footprint(counted=self.counted)

    def begin(self, pid: int) -> None:
        """Start watching the process ``pid``."""
        self._footprint.begin(pid)
        self._first = self._read()

    def look(self) -> None:
        """Read the memory that the running launch uses."""
        self._footprint.look()

    def end(self, reaped: int) -> None:
        """Stop watching; ``reaped`` is the peak memory of the largest process, in bytes."""
        self._footprint.end(reaped)
        if self._last is None:
            self._last = self._read()

    def of_sample(self, seconds: float) -> dict[str, float | int | str]:
        """The memory and energy conditions of a sample of ``seconds`` per step that was just taken.

        The first sample of a launch has no energy, since its program was starting.
        """
        self._footprint.look()
        before, self._last = self._last, self._read()
        return self._conditions(before, seconds)

    def of_launch(self, seconds: float) -> dict[str, float | int | str]:
        """The memory and energy conditions of the samples, of ``seconds`` per step, of a launch
        that has ended.
        """
        return self._conditions(self._first, seconds)

    def _conditions(
        self, before: EnergyReading | None, seconds: float
    ) -> dict[str, float | int | str]:
        conditions: dict[str, float | int | str] = {}
        if self._footprint.peak is not None:
            conditions[MEMORY] = self._footprint.peak
        if self.meter is not None and before is not None and self._last is not None:
            watts = self.meter.watts(before, self._last)
            if watts is not None:
                conditions[ENERGY] = watts * seconds
        return conditions

    def _read(self) -> EnergyReading | None:
        if self.meter is not None:
            with contextlib.suppress(OSError, ValueError):
                return self.meter.read()
        return None
