"""What a machine could do at best with a problem, whatever the program: arithmetic and memory.

The roofline (Williams, Waterman and Patterson, 2009) of the problem itself: its least work at the
peak of the arithmetic units and at the bandwidth of memory, as measured or of the machine file.
"""

from dataclasses import dataclass

from autotune.domain.least_work import LeastWork
from autotune.domain.lower_bounds import LowerBound
from autotune.domain.machine import Machine, PortTable
from autotune.domain.problem import AnyProblem
from autotune.domain.variant import ExecutionLayout
from autotune.units import Seconds

_DOUBLE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineBest:
    """The least seconds of a time step on the cores of a layout, whatever the program."""

    bounds: tuple[LowerBound, ...]
    """Of ``arithmetic`` and ``memory``, largest first; those that the machine file allows."""
    missing: tuple[str, ...]
    """One sentence for each bound that is not known: what is lacking."""


def machine_best(problem: AnyProblem, layout: ExecutionLayout, machine: Machine) -> MachineBest:
    """The least time of a step of a problem on the cores that a layout uses.

    Memory has to move what does not fit the caches of all used nodes together, so its bound is zero
    for a small problem.
    """
    work = problem.least_work()
    if work is None:
        return MachineBest(bounds=(), missing=("what a program has to do is not known",))
    bounds: list[LowerBound] = []
    missing: list[str] = []
    cores = layout.ranks * layout.threads // layout.nodes
    if machine.in_core.ports is None:
        missing.append("the machine file has no in_core.ports, so no peak of the arithmetic")
    else:
        peak = layout.nodes * peak_operations(machine, machine.in_core.ports, cores)
        bounds.append(LowerBound("arithmetic", Seconds(work.operations / peak)))
    bandwidth = _bandwidth(machine, cores)
    if bandwidth is None:
        missing.append("neither memory.saturated nor a calibration tells the bandwidth of memory")
    else:
        moved = _moved(work, machine, layout.nodes)
        bounds.append(LowerBound("memory", Seconds(moved / (layout.nodes * bandwidth))))
    ordered = sorted(bounds, key=lambda bound: (-bound.seconds, bound.resource))
    return MachineBest(bounds=tuple(ordered), missing=tuple(missing))


def peak_operations(machine: Machine, ports: PortTable, cores: int) -> float:
    """Floating-point operations per second of some cores of a node at most.

    The clock is the measured one, where there is a calibration. Per cycle each unit works on one
    vector; a fused multiply-add counts as two operations.
    """
    units = cores
    if "floating" in ports.shared:
        units = min(cores, max(1, machine.cores // ports.shared_by))
    fused = min(ports.fused, ports.floating)
    vectors = 2 * fused + (ports.floating - fused)
    return units * vectors * (ports.vector / _DOUBLE) * machine.frequency


def _bandwidth(machine: Machine, cores: int) -> float | None:
    """Bytes per second that some cores of a node move at most; None where it is not known."""
    bandwidth = machine.load_bandwidth
    if bandwidth is None:
        return None
    measured = machine.calibration is not None  # then with threads in all domains
    domains = 1 if measured else max(1, machine.cores // machine.memory.cores)
    whole = bandwidth.saturated * domains
    return whole if bandwidth.single is None else min(whole, cores * bandwidth.single)


def _moved(work: LeastWork, machine: Machine, nodes: int) -> float:
    """Bytes that memory moves at least: both ways in turn unless it carries both at once."""
    held = nodes * sum(c.size * max(1, machine.cores // c.cores) for c in machine.caches)
    ways = [max(0, part - held) for part in (work.read, work.written)]
    return max(ways) if machine.memory.duplex == "full" else sum(ways)
