"""The values of registers as linear forms of the function's arguments and of loop variables.

The control flow is walked once, as value numbering does. A register gets a symbol in a block where
its value differs between the paths into the block, or where a loop writes it. So the addresses of a
loop can be compared (which loads read earlier stores), their steps per pass and their places within
a cache line are known, and constant trip counts can be read. Spilled registers are followed through
the stack.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.models.incore.assembly.control_flow import BasicBlock
from autotune.models.incore.assembly.instructions import (
    MEMORY,
    Address,
    Instruction,
    InstructionSet,
    RegisterChange,
    number,
)

_STACK = ("%rsp", "sp")
_LONGEST = 24
"""Largest number of terms of a form; a longer sum becomes a symbol of its own."""


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A linear form: a constant plus integer multiples of symbols, sorted by name."""

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    def plus(self, other: "LinearForm", factor: int = 1) -> "LinearForm":
        """This form plus ``factor`` times another."""
        if not other.terms:
            return LinearForm(self.terms, self.constant + factor * other.constant)
        if not self.terms and factor == 1:
            return LinearForm(other.terms, self.constant + other.constant)
        terms = dict(self.terms)
        for name, count in other.terms:
            terms[name] = terms.get(name, 0) + factor * count
        nonzero = tuple(sorted((name, count) for name, count in terms.items() if count))
        return LinearForm(nonzero, self.constant + factor * other.constant)

    def replaced(self, values: Mapping[str, "LinearForm"]) -> "LinearForm":
        """The form with symbols replaced by the forms in ``values``."""
        total = LinearForm((), self.constant)
        for name, count in self.terms:
            total = total.plus(values.get(name, LinearForm(((name, 1),))), count)
        return total


def symbol(name: str) -> LinearForm:
    """The form that consists of one symbol."""
    return LinearForm(((name, 1),))


State = dict[str, LinearForm]
"""Registers and stack slots to values; a missing one has its initial value."""


@dataclass(slots=True)
class RegisterValues:
    """The values of the registers at the start of every block of a function.

    ``entry``: the value of a loop's symbol before the first pass. ``choices``: the possible values
    of a symbol where several paths meet, or after a conditional move.
    """

    isa: InstructionSet
    at: dict[int, State] = field(default_factory=dict)
    entry: dict[str, LinearForm] = field(default_factory=dict)
    choices: dict[str, tuple[LinearForm, ...]] = field(default_factory=dict)

    def run(self, state: State, instructions: Iterable[Instruction], mark: str) -> State:
        """The state after instructions; ``mark`` makes the names of new symbols unique."""
        state = dict(state)
        for place, instruction in enumerate(instructions):
            self.step(state, instruction, f"{mark}.{place}")
        return state

    def step(self, state: State, instruction: Instruction, mark: str) -> None:
        """Apply one instruction to the state, in place."""
        slot = self._slot(state, instruction)
        new: State = {}
        for change in self.isa.changes(instruction):
            register = slot if change.register == MEMORY else change.register
            if register is None:
                continue
            value = self._sum(state, change, slot)
            new[register] = value or self._opaque(state, instruction, f"{register}#{mark}")
        for register in self.isa.clobbered(instruction):
            new[register] = symbol(f"{register}#{mark}")
        state.update(new)

    def _sum(self, state: State, change: RegisterChange, slot: str | None) -> LinearForm | None:
        """The value of a change as a linear form; None where it is no short sum of known values."""
        if change.terms is None or (slot is None and MEMORY in dict(change.terms)):
            return None
        value = LinearForm((), change.constant)
        for register, factor in change.terms:
            name = slot if register == MEMORY and slot is not None else register
            value = value.plus(state.get(name, symbol(name)), factor)
        return value if len(value.terms) <= _LONGEST else None

    def address(self, state: State, address: Address) -> LinearForm:
        """The address of a memory access as a linear form."""
        value = LinearForm((), number(address.offset) or 0)
        if address.offset and number(address.offset) is None:
            value = value.plus(symbol(address.offset))
        for register, factor in ((address.base, 1), (address.index, address.scale)):
            if register:
                value = value.plus(state.get(register, symbol(register)), factor)
        return value

    def roots(self, value: LinearForm) -> frozenset[str]:
        """The row pointers in an address: its symbols with factor one.

        The other symbols count doubles. A symbol of a loop, or of several paths, is replaced by its
        possible values.
        """
        names: set[str] = set()
        waiting = [name for name, count in value.terms if count == 1]
        seen = set(waiting)
        while waiting:
            name = waiting.pop()
            values = self.choices.get(name, ())
            if name in self.entry:
                values = (*values, self.entry[name])
            if not values:
                names.add(name)
            fresh = {n for v in values for n, count in v.terms if count == 1} - seen
            seen |= fresh
            waiting += sorted(fresh)
        return frozenset(names)

    def _opaque(self, state: State, instruction: Instruction, name: str) -> LinearForm:
        either = self.isa.conditional(instruction)
        if either:
            self.choices[name] = tuple(state.get(r, symbol(r)) for r in either)
        return symbol(name)

    def _slot(self, state: State, instruction: Instruction) -> str | None:
        """The name of the stack slot that an instruction accesses, by its distance from the start;
        None for other accesses.
        """
        if instruction.address is None or instruction.address.index:
            return None
        value = self.address(state, instruction.address)
        if len(value.terms) != 1:
            return None
        name, count = value.terms[0]
        stack = count == 1 and name.partition("#")[0] in _STACK
        return f"[{name}{value.constant:+d}]" if stack else None


def register_values_of(
    blocks: Sequence[BasicBlock],
    successors: Sequence[set[int]],
    loops: Mapping[int, frozenset[int]],
    isa: InstructionSet,
) -> RegisterValues:
    """The register values at the start of every reachable block of a function."""
    registers = RegisterValues(isa)
    before: list[list[int]] = [[] for _ in blocks]
    for block, after in enumerate(successors):
        for successor in after:
            before[successor].append(block)
    ends: dict[int, State] = {}
    for block in _order(successors):
        body = loops.get(block, frozenset())
        ways = [ends[b] for b in before[block] if b in ends and b not in body]
        state = _met(registers, ways, str(block))
        if body:
            for name in _written(registers, state, (blocks[b] for b in body)):
                mark = f"{name}@{block}"
                registers.entry[mark] = state.get(name, symbol(name))
                state[name] = symbol(mark)
        registers.at[block] = state
        ends[block] = registers.run(state, blocks[block].instructions, str(block))
    return registers


def _order(successors: Sequence[set[int]]) -> list[int]:
    """The blocks in topological order, ignoring the edges that close a loop."""
    done: list[int] = []
    seen = {0}
    waiting = [(0, iter(sorted(successors[0], reverse=True)))] if successors else []
    while waiting:
        block, rest = waiting[-1]
        after = next((unseen for unseen in rest if unseen not in seen), None)
        if after is None:
            done.append(block)
            waiting.pop()
        else:
            seen.add(after)
            waiting.append((after, iter(sorted(successors[after], reverse=True))))
    return done[::-1]


def _met(registers: RegisterValues, ways: Sequence[State], mark: str) -> State:
    """The state at a place where several paths meet."""
    if not ways:
        return {}
    first = dict(ways[0])
    for name in sorted({n for way in ways for n in way}):
        values = [way.get(name, symbol(name)) for way in ways]
        if any(value != values[0] for value in values):
            marked = f"{name}@{mark}"
            registers.choices[marked] = tuple(dict.fromkeys(values))
            first[name] = symbol(marked)
        else:
            first[name] = values[0]
    return first


def _written(registers: RegisterValues, state: State, blocks: Iterable[BasicBlock]) -> list[str]:
    """Names of the registers and stack slots that blocks write."""
    scratch = RegisterValues(registers.isa)
    names: dict[str, None] = {}
    for block in blocks:
        for instruction in block.instructions:
            slot = scratch._slot(state, instruction)
            if slot is not None and instruction.stores:
                names[slot] = None
            for change in registers.isa.changes(instruction):
                if change.register != MEMORY:
                    names[change.register] = None
            for register in registers.isa.clobbered(instruction):
                names[register] = None
    return list(names)
