"""The cycles of one loop per pass, from OSACA's tables.

It takes in the ports, the front end and the loop-carried dependency of a pass. A port table gives a
lower bound for instructions that the tables lack. Calls of the library are priced separately.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.machine import PortTable
from autotune.models.incore.assembly.hot_loops import HotLoops
from autotune.models.incore.assembly.instructions import DOUBLE, Instruction
from autotune.models.incore.assembly.loop_passes import HotLoop
from autotune.models.incore.cost import (
    front_end,
    library_calls,
    memory_corrections,
    port_pressure,
    port_table,
    window,
)
from autotune.models.incore.cost.dependency_chain import ChainInstruction, DependencyChain, chain
from autotune.models.incore.cost.library_calls import LibraryCalls
from autotune.models.incore.cost.measured_rates import VectorRates
from autotune.models.incore.cost.memory_corrections import ForwardedLoad
from autotune.models.incore.cost.port_pressure import PortPressure, Uop
from autotune.models.incore.cost.window import Taking
from autotune.models.incore.osaca.instruction_forms import (
    FormProperties,
    InstructionForm,
    form,
    whole,
)
from autotune.models.incore.osaca.osaca_architectures import OsacaArchitecture

STARTS = 8
"""Places in a cache line, in doubles, at which rows may begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionTables:
    """The tables in which the properties of instructions are looked up."""

    architecture: OsacaArchitecture
    facts: Mapping[str, FormProperties]
    """Properties by the text of the form."""
    forward: float | None
    """Cycles of store forwarding beyond the load, where there is a figure."""
    ports: PortTable
    """Port table for instructions that the others lack."""
    suffix: str = ""
    """Text added to the route: ``(nearest)``."""
    approximate: bool = False
    rates: VectorRates | None = None
    """Measured rates, which take the place of the tables' where they disagree."""

    @property
    def calls(self) -> Mapping[str, float]:
        """Measured cycles per call of functions of the mathematical library, by name."""
        return self.rates.calls if self.rates else {}


@dataclass(frozen=True, slots=True)
class WindowLimit:
    """The least cycles of a pass of a loop whose instructions wait within a window."""

    cycles: float
    """With no access across cache lines."""
    across: float
    """More of them for each vector load or store that crosses a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopCost:
    """The port use and the limits of one loop, in cycles per pass."""

    loop: HotLoop
    work: tuple[tuple[Uop, ...], ...]
    limits: Mapping[str, float]
    overlapping: float
    moving: float
    chain: DependencyChain
    window: WindowLimit
    stored: tuple[float, ...]
    """The least cycles of its stores, by the bytes that all rows lie behind the places in the code,
    in doubles; empty where unaligned stores were not measured."""
    forwards: tuple[ForwardedLoad, ...]
    calls: LibraryCalls
    replaced: Mapping[str, str]
    unknown: tuple[str, ...]


def needed_forms(loops: HotLoops) -> list[tuple[InstructionForm, Instruction]]:
    """The forms, with an instruction each, that the analysis of a sweep looks up."""
    forms: dict[str, tuple[InstructionForm, Instruction]] = {}
    others = [loop for loop in (loops.straight, loops.head) if loop is not None]
    for loop in (*loops.main, *loops.rest, *others):
        for instruction in loop.instructions:
            if not calls_out(instruction, loop):
                own_form = form(instruction, loop.isa.name)
                forms.setdefault(own_form.text, (own_form, instruction))
    return list(forms.values())


def calls_out(instruction: Instruction, loop: HotLoop) -> bool:
    """Whether an instruction is a call of another function."""
    return loop.isa.call_target(instruction) is not None


def cost_of_loop(loop: HotLoop, tables: InstructionTables) -> LoopCost:
    """The port use and the limits of a loop."""
    work: list[tuple[Uop, ...]] = []
    steps: list[ChainInstruction] = []
    replaced: dict[str, str] = {}
    unknown: list[Instruction] = []
    for instruction in loop.instructions:
        if calls_out(instruction, loop):
            work.append(())
            steps.append(_call(loop, instruction))
            continue
        own_form = form(instruction, loop.isa.name)
        facts = tables.facts[own_form.text]
        if facts.taken_as:
            replaced[instruction.mnemonic] = facts.taken_as
        if instruction.works and not facts.uops:
            unknown.append(instruction)
        uops = _uops(instruction, own_form, facts, tables.architecture)
        if tables.rates:
            uops = tables.rates.scaled(instruction, uops, tables.architecture)
        work.append(uops)
        steps.append(_step(instruction, own_form, facts, loop, tables))
    forwards = memory_corrections.forwards(loop)
    forward = _forward(steps, tables)
    carried = chain(steps, forwards, forward) if loop.depth else DependencyChain(0.0, 0.0)
    taken = front_end.taking(loop, tables.architecture)
    every = [uop for uops in work for uop in uops] + front_end.third_operands(taken)
    data, other = port_pressure.split(every, tables.architecture.data)
    computing = port_pressure.least(other)
    calls = library_calls.price(loop.calls, tables.calls)
    bound = _bound(loop, unknown, tables.ports)
    computed = computing.cycles + bound[0]
    front = front_end.cycles(loop, taken, tables.architecture)
    ahead = _window(loop, steps, work, taken, forwards, tables)
    overlapping = max(computed, front, carried.cycles, ahead.cycles) + calls.cycles
    moving = _moving(loop, work, port_pressure.least(data), bound[1], tables)
    limits = {
        f"port {' '.join(computing.ports)}": computed,
        **moving,
        "front end": front,
        "chain": carried.cycles,
        "window": ahead.cycles,
        **({"calls": overlapping} if calls.cycles else {}),
    }
    return LoopCost(
        loop=loop,
        work=tuple(work),
        limits=limits,
        overlapping=overlapping,
        moving=max(moving.values()) + calls.cycles,
        chain=carried,
        window=ahead,
        stored=_stored(loop, work, tables),
        forwards=tuple(forwards),
        calls=calls,
        replaced=replaced,
        unknown=tuple(sorted({i.mnemonic for i in unknown})),
    )


def _moving(
    loop: HotLoop,
    work: Sequence[tuple[Uop, ...]],
    ports: PortPressure,
    bound: float,
    tables: InstructionTables,
) -> dict[str, float]:
    """The limits of what overlaps little with transfers from outer caches, by name: loads and
    stores; with measured rates, all operations on vectors, as loads are taken up with arithmetic.
    """
    rates, name = tables.rates, f"data port {' '.join(ports.ports)}"
    if rates is None:
        return {name: ports.cycles + bound}
    beside = rates.moving(loop.instructions, work, tables.architecture.data)
    taken_up = front_end.vector_cycles(loop, work, tables.architecture, rates.taken)
    return {
        name: max(ports.cycles, beside) + bound,
        **({"vector operations": taken_up} if taken_up else {}),
    }


def _window(
    loop: HotLoop,
    steps: Sequence[ChainInstruction],
    work: Sequence[tuple[Uop, ...]],
    taken: Sequence[Taking],
    forwards: Sequence[ForwardedLoad],
    tables: InstructionTables,
) -> WindowLimit:
    """The cycles of a pass within the measured window; 0 where the window was not measured, and
    for code that is no loop or calls functions.
    """
    rates = tables.rates
    if rates is None or rates.window is None or not loop.depth or loop.calls:
        return WindowLimit(0.0, 0.0)
    size, data = rates.window, tables.architecture.data
    through = [f for f in forwards if not f.passes]
    issue = front_end.issue(tables.architecture)
    aligned = window.cycles(steps, work, size, through, rates.forward, taken, issue)
    rows = memory_corrections.row_vectors(loop)
    if not any(rows) or not rates.crossing:
        return WindowLimit(aligned, 0.0)
    longer: list[tuple[Uop, ...]] = []
    for uops, row in zip(work, rows, strict=True):
        moving, computing = port_pressure.split(uops, data)
        once = port_pressure.least(moving).cycles
        factor = 1.0 + rates.crossing / once if row and once else 1.0
        longer.append((*computing, *((cycles * factor, ports) for cycles, ports in moving)))
    across = window.cycles(steps, longer, size, through, rates.forward, taken, issue)
    return WindowLimit(aligned, max(0.0, across - aligned) / sum(rows))


def _forward(steps: Sequence[ChainInstruction], tables: InstructionTables) -> float:
    """Cycles from a store to a load that reads it, beyond an ordinary load: as measured where it
    was, else by the tables.
    """
    if tables.rates is None or not tables.rates.forward:
        return tables.forward or 0.0
    return max(0.0, tables.rates.forward - max((s.load for s in steps if s.loads), default=0.0))


def _stored(
    loop: HotLoop, work: Sequence[tuple[Uop, ...]], tables: InstructionTables
) -> tuple[float, ...]:
    """The least cycles of the stores of a pass by the place where the rows begin."""
    rates, data = tables.rates, tables.architecture.data
    if rates is None or rates.unaligned is None:
        return ()
    begin = memory_corrections.start(loop)
    cycles = [
        port_pressure.least(port_pressure.split(uops, data)[0]).cycles if i.stores else 0.0
        for i, uops in zip(loop.instructions, work, strict=True)
    ]
    lone = [rates.lone(i.stores, time) for i, time in zip(loop.instructions, cycles, strict=True)]
    return tuple(
        memory_corrections.stored(
            loop, cycles, lone, DOUBLE * place - begin, rates.width, rates.unaligned
        )
        for place in range(STARTS)
    )


def _bound(loop: HotLoop, unknown: Sequence[Instruction], table: PortTable) -> tuple[float, float]:
    """T_OL and T_nOL in cycles of some instructions of a pass, from a port table."""
    if not unknown:
        return 0.0, 0.0
    counts = port_table.count(unknown, 1.0, loop.lanes)
    estimate = port_table.estimate(counts, table)
    return float(estimate.T_OL), float(estimate.T_nOL)


def _uops(
    instruction: Instruction,
    own_form: InstructionForm,
    facts: FormProperties,
    architecture: OsacaArchitecture,
) -> tuple[Uop, ...]:
    """The micro-operations of an instruction; in some tables address arithmetic counts
    as a load.
    """
    moving = tuple(uop for uop in facts.uops if uop[1] <= architecture.data)
    computing = tuple(uop for uop in facts.uops if not uop[1] <= architecture.data)
    for pattern, right in architecture.corrections:
        if re.fullmatch(pattern, own_form.text):
            computing = right
    for pattern, more in architecture.additions:
        if re.fullmatch(pattern, own_form.text):
            computing += more
    return (*computing, *moving) if instruction.loads or instruction.stores else computing


def _step(
    instruction: Instruction,
    own_form: InstructionForm,
    facts: FormProperties,
    loop: HotLoop,
    tables: InstructionTables,
) -> ChainInstruction:
    isa = loop.isa.name

    def mapped(names: Sequence[str]) -> frozenset[str]:
        short = (whole(name, isa) for name in names)
        return frozenset(own_form.registers.get(name, name) for name in short)

    address = instruction.address
    addressing = frozenset(
        whole(r, isa) for r in ((address.base, address.index) if address else ()) if r
    )
    latency = tables.architecture.latency(own_form.text, facts.latency)
    load = facts.load
    if not instruction.loads:  # a load that is none: address arithmetic
        latency, load = (min(1.0, load) or latency, 0.0) if load else (latency, 0.0)
    if not facts.in_tables and instruction.work not in ("none", "other"):
        latency = max(latency, float(tables.ports.latency))
    return ChainInstruction(
        reads=mapped(facts.reads),
        addressing=frozenset() if instruction.stores and not instruction.loads else addressing,
        writes=mapped(facts.writes),
        latency=latency,
        load=load,
        loads=bool(instruction.loads),
    )


def _call(loop: HotLoop, instruction: Instruction) -> ChainInstruction:
    """A call as an instruction of the dependency chain: registers that a callee may change carry
    nothing across it.
    """
    names = frozenset(whole(r, loop.isa.name) for r in loop.isa.clobbered(instruction))
    vectors = frozenset(f"v{n}" for n in range(32))
    return ChainInstruction(
        reads=frozenset(), addressing=frozenset(), writes=names | vectors, latency=0.0, load=0.0,
        loads=False,
    )  # fmt: skip
