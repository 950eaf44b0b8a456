"""One loop of a compiled function: the instructions of a pass, address steps, and source
iterations.

**Source iteration** means one component of the long dimension (one point of a grid): the advance of
the stores in one pass, in doubles, times the rows of one array that a pass works on side by side
(unroll-and-jam).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from autotune.models.incore.assembly import control_flow
from autotune.models.incore.assembly.control_flow import BasicBlock
from autotune.models.incore.assembly.instructions import DOUBLE, Instruction, InstructionSet
from autotune.models.incore.assembly.register_values import LinearForm, RegisterValues, State

_TRIPS = 64
"""Largest constant number of passes of a loop that is written out."""
_EXPANDED = 4096
"""Largest number of instructions of a pass with its short loops written out."""
_DEEP = 8
"""Largest number of registers through which a value is followed."""
_GRANULE = 64
"""Bytes of which rows, row lengths and the blocks of threads are assumed to be multiples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HotLoop:
    """A loop of a sweep as the compiler generated it."""

    label: str
    isa: InstructionSet
    instructions: tuple[Instruction, ...]
    """One pass, in order of execution; short loops of constant length are written out."""
    iterations: float
    """Source iterations per pass."""
    depth: int
    """Number of nested loops, this one included."""
    strides: tuple[int | None, ...]
    """Bytes that the address of each instruction advances per pass; None: none or not known."""
    addresses: tuple[LinearForm | None, ...] = ()
    """Addresses in the first pass; None: no access, or a computed address."""
    places: tuple[int | None, ...] = ()
    """Bytes of each of these addresses beyond a multiple of 64; None: not known."""
    rows: frozenset[str] = frozenset()
    """Names of the pointers of the rows that are written."""
    calls: tuple[str, ...] = ()
    approximate: bool = False
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The loop as assembly, one instruction per line."""
        return f"{self.label}:\n" + "".join(f"\t{i.text}\n" for i in self.instructions)

    @property
    def lanes(self) -> int:
        """Doubles of the widest vector that the loop uses."""
        return max(1, *(i.lanes for i in self.instructions if _counts(i)), 1)

    @property
    def row_loads(self) -> int:
        """Number of loads per pass from addresses that advance."""
        return sum(
            bool(s and i.loads) for i, s in zip(self.instructions, self.strides, strict=True)
        )

    @property
    def row_stores(self) -> int:
        """Number of stores per pass to addresses that advance."""
        return sum(
            bool(s and i.stores) for i, s in zip(self.instructions, self.strides, strict=True)
        )

    @property
    def slots(self) -> int:
        """Instructions of one pass as the front end counts them (compare and branch are one)."""
        return slots(self.instructions, self.isa)


def slots(instructions: Sequence[Instruction], isa: InstructionSet) -> int:
    """The number of instructions as the front end counts them."""
    return len(instructions) - sum(isa.fuses(a, b) for a, b in pairwise(instructions))


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """The blocks of a function, its loops (head to body) and the values of registers."""

    isa: InstructionSet
    blocks: Sequence[BasicBlock]
    successors: Sequence[set[int]]
    loops: Mapping[int, frozenset[int]]
    registers: RegisterValues

    def parent(self, head: int) -> int | None:
        """The head of the innermost loop around a loop; None for an outermost one."""
        body = self.loops[head]
        around = [h for h, other in self.loops.items() if h != head and body < other]
        return min(around, key=lambda h: len(self.loops[h]), default=None)

    def children(self, head: int) -> list[int]:
        """The heads of the loops directly inside a loop."""
        return [h for h in self.loops if h != head and self.parent(h) == head]

    def way(self, head: int) -> list[int]:
        """The blocks of the longest pass of a loop; each inner loop is passed once."""
        return control_flow.longest_way(head, self.loops[head], self.blocks, self.successors)


def measured(function: CompiledFunction, head: int) -> HotLoop:
    """The loop with head ``head`` and its steps and iterations; inner loops must be short and of
    constant length.
    """
    body, isa = function.loops[head], function.isa
    way = function.way(head)
    inside = frozenset[int]().union(*(function.loops[h] for h in function.children(head)))
    notes = []
    if len(set(way) - inside) < len(body - inside):
        notes.append("branches inside the loop: its longest way is analysed")
    instructions = _written_out(function, head, way)
    calls = tuple(name for i in instructions if (name := called(i, isa)))
    label = next((function.blocks[n].label for n in way if function.blocks[n].label), ".L0")
    depth = sum(body <= other for other in function.loops.values())
    moves = _moves(function, head, instructions)
    iterations, doubt = _iterations(instructions, moves)
    return HotLoop(
        label=label,
        isa=isa,
        instructions=instructions,
        iterations=iterations,
        depth=depth,
        strides=moves.strides,
        addresses=moves.first,
        places=tuple(None if a is None else _place(a, function.registers) for a in moves.first),
        rows=_rows(instructions, moves, function.registers),
        calls=calls,
        approximate=bool(notes or doubt or calls),
        notes=(*notes, *doubt),
    )


def called(instruction: Instruction, isa: InstructionSet) -> str | None:
    """The library function that an instruction calls or jumps to; None for others."""
    for target in (isa.call_target(instruction), isa.jump_target(instruction)):
        if target and not target.startswith("."):
            return target
    return None


def _written_out(
    function: CompiledFunction, head: int, way: Sequence[int]
) -> tuple[Instruction, ...]:
    """The instructions of a pass, with the passes of its short inner loops written out."""
    children = {h: trips(function, h) or 1 for h in function.children(head)}
    instructions: list[Instruction] = []
    skipped: frozenset[int] = frozenset()
    for block in way:
        if block in skipped:
            continue
        count = children.get(block)
        if count is None:
            instructions += function.blocks[block].instructions
        else:
            inner = _written_out(function, block, function.way(block))
            instructions += inner * count
            skipped = function.loops[block]
    return tuple(instructions)


# --- constant trip counts ----------------------------------------------------------------------


def short(function: CompiledFunction, head: int) -> bool:
    """Whether a loop, inner loops included, always runs the same small number of passes."""
    count = trips(function, head)
    return count is not None and all(short(function, h) for h in function.children(head))


def trips(function: CompiledFunction, head: int) -> int | None:
    """The number of passes of a loop if it is constant and small, otherwise None."""
    if any(trips(function, h) is None for h in function.children(head)):
        return None
    registers, way = function.registers, function.way(head)
    instructions = _written_out(function, head, way)
    start = registers.at.get(head)
    if start is None or len(instructions) > _EXPANDED:
        return None
    next_ = _next(head, registers, registers.run(start, instructions, f"trips{head}"))
    until_exit = _written_out(function, head, _until_exit(function, head, way))
    at_exit = registers.run(start, until_exit, f"trips{head}")
    tested = _tested(function.isa, until_exit, at_exit)
    if tested is None:
        return None
    count = _passes(tested, _entries(head, registers), next_)
    return count if count and count * len(instructions) <= _EXPANDED else None


def _passes(
    tested: LinearForm, entries: Mapping[str, LinearForm], following: Mapping[str, LinearForm]
) -> int | None:
    """The number of passes until a value reaches zero or changes its sign; None where it is unknown
    or large.

    ``tested``: the value in terms of the registers at the head, which are ``entries`` at first and
    ``following`` a pass later: these may be numbers, as where a loop of two passes is told by them.
    """
    first = tested.replaced(entries)
    if not tested.terms or first.terms:
        return None  # a number in every pass is not what ends the loop
    if first.constant == 0 and not tested.replaced(following).terms:
        return None  # set by numbers, it may as well go on at zero and end elsewhere
    for count in range(1, _TRIPS + 1):
        value = tested.replaced(entries)
        if value.terms:
            return None
        if value.constant * first.constant <= 0:
            return count
        tested = tested.replaced(following)
    return None


def _until_exit(function: CompiledFunction, head: int, way: Sequence[int]) -> Sequence[int]:
    """The blocks of a pass up to the last that can leave the loop: the end condition is in it."""
    body = function.loops[head]
    exits = [place for place, block in enumerate(way) if function.successors[block] - body]
    return way[: exits[-1] + 1] if exits else way


def _tested(
    isa: InstructionSet, instructions: Sequence[Instruction], end: State
) -> LinearForm | None:
    """The value that the loop's end condition compares with zero; None where it is not known."""
    for instruction in reversed(instructions):
        pair = isa.compared(instruction)
        if pair is not None:
            first, second = (_operand(text, end) for text in pair)
            return first.plus(second, -1)
        changes = isa.changes(instruction)
        if changes and changes[0].terms is not None and not instruction.address:
            return end.get(changes[0].register)
        if instruction.loads or instruction.stores:
            return None
    return None


def _operand(text: str, state: State) -> LinearForm:
    literal = text.lstrip("$#")
    if literal.lstrip("-").isdigit():
        return LinearForm((), int(literal))
    return state.get(text, LinearForm(((text, 1),)))


def _entries(head: int, registers: RegisterValues) -> dict[str, LinearForm]:
    suffix = f"@{head}"
    return {name: value for name, value in registers.entry.items() if name.endswith(suffix)}


def _next(head: int, registers: RegisterValues, end: State) -> dict[str, LinearForm]:
    """The values of the symbols of a loop after one pass, by symbol."""
    return {
        name: end.get(name.rpartition("@")[0], LinearForm(((name, 1),)))
        for name in _entries(head, registers)
    }


# --- addresses ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Moves:
    """For each instruction of a pass, the bytes its address advances per pass, and its address in
    the first pass.
    """

    strides: tuple[int | None, ...]
    first: tuple[LinearForm | None, ...]


def _moves(function: CompiledFunction, head: int, instructions: Sequence[Instruction]) -> _Moves:
    registers = function.registers
    state = dict(registers.at.get(head, {}))
    mark = f"#pass{head}."  # in the names of what a pass makes of other things than sums
    first_addresses: list[LinearForm | None] = []
    for place, instruction in enumerate(instructions):
        address = instruction.address
        first_addresses.append(None if address is None else registers.address(state, address))
        registers.step(state, instruction, f"{mark[1:]}{place}")
    entries, following = _entries(head, registers), _next(head, registers, state)
    settled = _settled(following)
    first_addresses = [
        None if value is None else value.replaced(settled) for value in first_addresses
    ]
    following = {name: value.replaced(settled) for name, value in following.items()}
    strides: list[int | None] = []
    first: list[LinearForm | None] = []
    for value in first_addresses:
        if value is None:
            strides.append(None)
            first.append(None)
            continue
        step = value.replaced(following).plus(value, -1)
        lost = bool(step.terms) or any(mark in name for name, _ in value.terms)
        strides.append(None if lost else step.constant)
        first.append(None if lost else value.replaced(entries))
    return _Moves(tuple(strides), tuple(first))


def _settled(following: Mapping[str, LinearForm]) -> dict[str, LinearForm]:
    """The symbols that have the same value after each pass, with this value: registers that are
    loaded repeatedly.
    """
    settled: dict[str, LinearForm] = {}
    for _ in range(_DEEP):
        replaced = {n: v.replaced(settled) for n, v in following.items() if n not in settled}
        new = {
            name: value
            for name, value in replaced.items()
            if not any(symbol in replaced for symbol, _ in value.terms)
        }
        if not new:
            break
        settled |= new
    return settled


def pointers(address: LinearForm) -> frozenset[str]:
    """The row pointers in an address: its symbols with factor one (other symbols count doubles)."""
    return frozenset(name for name, count in address.terms if count == 1)


def _rows(
    instructions: Sequence[Instruction], moves: _Moves, registers: RegisterValues
) -> frozenset[str]:
    roots = frozenset[str]()
    for instruction, stride, address in zip(instructions, moves.strides, moves.first, strict=True):
        if instruction.stores and stride and address is not None:
            roots |= registers.roots(address)
    return roots


def stores_to(function: CompiledFunction, block: int) -> frozenset[str]:
    """Names of the pointers of the rows that a block writes."""
    state = dict(function.registers.at.get(block, {}))
    roots = frozenset[str]()
    for place, instruction in enumerate(function.blocks[block].instructions):
        if instruction.stores and instruction.address is not None and is_row(instruction):
            roots |= function.registers.roots(
                function.registers.address(state, instruction.address)
            )
        function.registers.step(state, instruction, f"stores{block}.{place}")
    return roots


def _place(address: LinearForm, registers: RegisterValues) -> int | None:
    """The bytes of an address beyond a multiple of 64; None where they are not known.

    Rows are padded, and row lengths and blocks are assumed to be multiples of 64 bytes. Where paths
    meet (a first component that is clamped to the interior), the path that does not start at such a
    multiple counts.
    """
    total: int | None = address.constant
    for name, count in address.terms:
        place = _symbol_place(name, registers, 0)
        if place is None:
            return None
        # a count of doubles is a multiple of eight of them, unless a way says otherwise
        total = (total or 0) + count * place
    return None if total is None else total % _GRANULE


def _symbol_place(name: str, registers: RegisterValues, depth: int) -> int | None:
    """The bytes of a symbol's value beyond a multiple of 64; None where they are not known."""
    choices = registers.choices.get(name)
    if choices is None:
        entry = registers.entry.get(name)
        choices = () if entry is None else (entry,)
    if depth > _DEEP:
        return None
    places = []
    for value in choices:
        total = value.constant
        for inner, count in value.terms:
            place = _symbol_place(inner, registers, depth + 1) if inner != name else 0
            total += count * (place or 0)
        places.append(total % _GRANULE)
    return max(places, default=0)


# --- source iterations -------------------------------------------------------------------------


def _iterations(instructions: Sequence[Instruction], moves: _Moves) -> tuple[float, list[str]]:
    """The source iterations per pass, and sentences on why this number may be wrong."""
    every = list(zip(instructions, moves.strides, moves.first, strict=True))
    moved = [(i, abs(s), a) for i, s, a in every if s and i.stores] or [
        (i, abs(s), a) for i, s, a in every if s and i.loads
    ]
    if not moved:
        stored = sum(i.stores for i in instructions if is_row(i))
        if not stored:
            return 1.0, ["components per pass unknown: taken as one"]
        return stored / DOUBLE, ["components per pass taken from the stores alone"]
    strides = sorted({stride for _, stride, _ in moved})
    stride = max(strides, key=lambda value: sum(s == value for _, s, _ in moved))
    doubt = []
    if len(strides) > 1:
        doubt.append(
            f"stores advance by different steps ({', '.join(map(str, strides))} B per pass)"
        )
    places = {(a, i.stores) for i, s, a in moved if s == stride and i.stores}
    stored = sum(size for _, size in places)
    if stored and stored % stride and stride % stored:
        doubt.append(f"{stored} B stored per pass do not fit a step of {stride} B")
    return _abreast(places) * stride / DOUBLE, doubt


def _abreast(places: set[tuple[LinearForm | None, int]]) -> int:
    """The number of rows of one array that a pass writes side by side."""
    rows: dict[frozenset[str], dict[tuple[tuple[str, int], ...], int]] = {}
    for address, size in places:
        if address is not None and pointers(address):
            starts = rows.setdefault(pointers(address), {})
            starts[address.terms] = starts.get(address.terms, 0) + size
    # rows side by side are stored alike; anything else is one row seen in different ways
    return max((len(r) for r in rows.values() if len(set(r.values())) == 1), default=1)


def is_row(instruction: Instruction) -> bool:
    """Whether an instruction accesses a row of an array; False for the stack, which holds spilled
    registers.
    """
    address = instruction.address
    if address is None or address.base == "%rbp":
        return address is None or bool(address.index)  # a frame pointer has no index
    return address.base not in ("%rsp", "sp", "x29")


def _counts(instruction: Instruction) -> bool:
    stores = instruction.stores > 0 and is_row(instruction)
    return stores or instruction.work not in ("none", "other")
