"""Candidates whose arrays do not fit into the main memory of a node are illegal."""

from dataclasses import replace

from autotune.domain.machine import Machine
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.units import show
from autotune.workloads.base import (
    EnumeratedSpace,
    IllegalCombination,
    IllegalCombinations,
    Workload,
)

_LINE = 64
"""Bytes of a cache line."""


def capacity_notes(
    enumerated: EnumeratedSpace, workload: Workload, machine: Machine
) -> tuple[str, ...]:
    """What a user must know of the memory of a machine: that it is not known, and problems of which
    no candidate fits.
    """
    if machine.memory_capacity is None:
        return (
            f"machine {machine.name} states no memory.capacity: no problem is refused as too large",
        )
    left = {candidate.problem.key for candidate in enumerated.legal}
    return tuple(
        f"{problem.label} is left out: {reason}"
        for problem in workload.setup.problems
        if problem.key not in left
        for reason in sorted(
            {why for _, other, why in enumerated.illegal.listed if other.key == problem.key}
        )[-1:]
    )


def misfit(workload: Workload, candidate: Candidate, machine: Machine) -> str | None:
    """Why the arrays of a candidate do not fit on a node, with both figures; None if they do, or
    if either is not known.
    """
    capacity = machine.memory_capacity
    needed = workload.stored_bytes(candidate) if capacity is not None else None
    if capacity is None or needed is None or needed <= capacity:
        return None
    lines = -(-needed // _LINE) * _LINE  # whole lines, shown in binary units as capacities are
    return (
        f"needs {show(lines, 'size')} on a node, {machine.name} has {show(capacity, 'size')}"
        " (memory.capacity)"
    )


def candidates_on(workload: Workload, machine: Machine) -> EnumeratedSpace:
    """Every candidate of a workload on a machine; illegal are also those that do not fit into its
    memory.

    Raises InputError as ``Workload.candidates`` does, and with the figures if none fits.
    """
    enumerated = workload.candidates(machine.cores)
    if machine.memory_capacity is None:
        return enumerated
    legal: list[Candidate] = []
    refused: list[IllegalCombination] = []
    for candidate in enumerated.legal:
        reason = misfit(workload, candidate, machine)
        if reason is None:
            legal.append(candidate)
        else:
            refused.append((candidate.label, candidate.problem, reason))
    if not legal:
        fault = Fault(
            where=workload.setup.place("problems"),
            found=f"no candidate fits into memory: {refused[0][2]}",
            expected="a problem that fits, or a layout of more nodes",
        )
        raise InputError(fault)
    if not refused:
        return enumerated
    illegal = IllegalCombinations(
        [*enumerated.illegal.listed, *refused], enumerated.illegal.excluded
    )
    return replace(enumerated, legal=legal, illegal=illegal)
