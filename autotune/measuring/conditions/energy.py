"""Energy of the processor packages of this node, where the kernel allows reading its counters.

The counters of the running average power limit, RAPL, count the microjoules of a domain up to a
maximum and start again at zero (Linux, Documentation/power/powercap/powercap.rst). The domains of
processor packages are added up. Domains of parts of a package (core, dram) and of the whole
platform (psys) are not. AMD processors have the same folders. The energy includes other programs on
the node. Counters are updated about every millisecond. An interval must be shorter than the
wrap-around of a counter: some minutes at a kilowatt.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autotune.errors import Fault, InputError

POWERCAP = Path("/sys/class/powercap")

_ZONE = re.compile(r"intel-rapl:\d+")
_PACKAGE = re.compile(r"package-\d+(-die-\d+)?")


@dataclass(frozen=True, slots=True)
class EnergyDomain:
    """The energy counter of one processor package, and the value at which it wraps around."""

    name: str
    counter: Path
    span: int
    """Microjoules after which the counter starts again at zero."""


@dataclass(frozen=True, slots=True)
class EnergyReading:
    """The counters of all packages at one moment."""

    microjoules: tuple[int, ...]
    at: float
    """Moment by ``time.monotonic()``, in seconds."""


@dataclass(frozen=True, slots=True)
class EnergyMeter:
    """Reads the energy counters of all packages of a node, which are known to be readable."""

    domains: tuple[EnergyDomain, ...]

    def read(self) -> EnergyReading:
        """Read the counters; OSError where one is no longer readable."""
        return EnergyReading(
            tuple(_number(domain.counter) for domain in self.domains), time.monotonic()
        )

    def joules(self, before: EnergyReading, after: EnergyReading) -> float:
        """Energy of all packages between two readings, in joules."""
        pairs = zip(self.domains, before.microjoules, after.microjoules, strict=True)
        return sum((last - first) % domain.span for domain, first, last in pairs) * 1e-6

    def watts(self, before: EnergyReading, after: EnergyReading) -> float | None:
        """Mean power between two readings, in watts; None where the counters did not move."""
        joules, lasted = self.joules(before, after), after.at - before.at
        return joules / lasted if joules > 0 and lasted > 0 else None


def find(folder: Path | None = None) -> tuple[EnergyMeter | None, str]:
    """The energy meter of this node; or None with the reason."""
    folder = folder or POWERCAP
    try:
        domains = tuple(sorted(_packages(folder), key=lambda domain: domain.name))
        meter = EnergyMeter(domains)
        meter.read()
    except (OSError, ValueError) as error:
        place = getattr(error, "filename", None) or folder
        return None, f"{place}: {getattr(error, 'strerror', None) or error}"
    if not domains:
        return None, f"{folder} has no package (intel-rapl:*): a virtual machine, or no driver"
    return meter, ""


def require(where: str, folder: Path | None = None) -> EnergyMeter:
    """The meter of this node; raises InputError at ``where`` if energy cannot be read."""
    folder = folder or POWERCAP
    meter, reason = find(folder)
    if meter is None:
        raise InputError(
            Fault(
                where=where,
                found=f"energy cannot be read on this host: {reason}",
                expected="readable RAPL counters",
                hint=f"sudo chmod a+r {folder}/intel-rapl:*/energy_uj, or leave energy out",
            )
        )
    return meter


def _packages(folder: Path) -> Iterator[EnergyDomain]:
    for zone in folder.iterdir():
        if not _ZONE.fullmatch(zone.name):
            continue
        name = (zone / "name").read_text(encoding="ascii").strip()
        if _PACKAGE.fullmatch(name):
            span = _number(zone / "max_energy_range_uj") + 1
            yield EnergyDomain(name, zone / "energy_uj", span)


def _number(path: Path) -> int:
    return int(path.read_text(encoding="ascii"))
