"""Corrections for memory accesses that instruction tables lack: crossed cache lines, reloaded
stores.

All follow from the addresses of the loop: their place within a line, their advance per pass, and
which of them coincide.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from autotune.models.incore.assembly.instructions import DOUBLE, Instruction
from autotune.models.incore.assembly.loop_passes import HotLoop

_GATHER = re.compile(r"vp?gather\w+")
_PASSES = 8
"""Passes after which rows begin at the same place of a cache line, whatever they advance by."""
_BACK = 8
"""Number of passes after which a store is assumed to have left the store queue."""


@dataclass(frozen=True, slots=True)
class ForwardedLoad:
    """A load that reads an earlier store of the loop; ``load`` and ``store`` are their numbers in
    the pass.
    """

    store: int
    load: int
    passes: int
    """Number of passes between the two."""
    blocked: bool
    """True: the load reads bytes beyond those of the store, so forwarding fails."""


def crossing(loop: HotLoop, stored: bool = False, shift: int = 0, line: int = 64) -> float:
    """The expected number of vector loads (or stores) of a pass that cross a cache line.

    ``shift``: bytes by which all rows lie behind the places that the code shows. An access at an
    unknown place is assumed at every multiple of a double with equal probability.
    """
    total = 0.0
    every = zip(loop.strides, loop.places, _widths(loop, stored), strict=True)
    for stride, place, width in every:
        if width and stride:
            starts = range(0, line, DOUBLE) if place is None else (place + shift,)
            total += sum(_share(start, stride, width, line) for start in starts) / len(starts)
    return total


def row_vectors(loop: HotLoop) -> list[bool]:
    """For each instruction, whether it loads or stores a vector of a row."""
    widths = zip(_widths(loop, False), _widths(loop, True), loop.strides, strict=True)
    return [bool(stride and (loads or stores)) for loads, stores, stride in widths]


def stored(
    loop: HotLoop,
    cycles: Sequence[float],
    lone: Sequence[float],
    shift: int,
    width: int,
    unaligned: float,
    line: int = 64,
) -> float:
    """The cycles that the stores of a pass take to reach the innermost cache, in program order.

    ``cycles``: of each instruction, in a row of stores. Some processors pass two stores in a cycle
    only where both go to one cache line, Intel's from Ice Lake on (Intel 64 and IA-32 Architectures
    Optimization Reference Manual): a store takes its ``lone`` cycles unless it goes to the line of
    the one before, which was no second one itself. At no multiple of its width, or of ``width``
    where that is less, it takes ``unaligned`` times as long. ``shift``: as in ``crossing``; a row
    at an unknown place is taken as one at the start of a line.
    """
    placed = zip(loop.instructions, loop.strides, loop.places, loop.addresses, strict=True)
    stores = [
        (i.stores, s or 0, 0 if p is None else p + shift, a, times)
        for (i, s, p, a), times in zip(placed, zip(cycles, lone, strict=True), strict=True)
        if i.stores
    ]
    total, last, second = 0.0, None, False
    for number in range(2 * _PASSES):
        for size, stride, place, address, (time, alone) in stores:
            at = place + number * stride
            target = None
            if address is not None:
                target = (address.terms, (address.constant - place) // line, at // line)
            if at % min(size, width):
                takes, target = time * unaligned, None
            elif target is not None and target == last and not second:
                takes, second = max(2 * time - alone, 0.0), True
            else:
                takes, second = alone, False
            last = target
            total += takes if number >= _PASSES else 0.0
    return total / _PASSES


def _widths(loop: HotLoop, stored: bool) -> list[int]:
    """The bytes of a vector that each instruction loads (or stores); 0 for others and gathers."""
    widths = [i.stores if stored else i.loads for i in loop.instructions]
    return [
        width if width >= 2 * DOUBLE and not _GATHER.fullmatch(i.mnemonic) else 0
        for i, width in zip(loop.instructions, widths, strict=True)
    ]


def crosses(instruction: Instruction, stride: int, place: int, line: int) -> bool:
    """Whether an access crosses a cache line in some pass."""
    width = max(instruction.loads, instruction.stores)
    return width >= 2 * DOUBLE and _share(place, stride, width, line) > 0


def _share(start: int, stride: int, width: int, line: int) -> float:
    """The share of accesses at start, start + stride ... that cross a cache line."""
    return _shared(start % line, stride % line, width, line)


@cache
def _shared(start: int, stride: int, width: int, line: int) -> float:
    places = {(start + k * stride) % line for k in range(line)}
    return sum(place + width > line for place in places) / len(places)


def start(loop: HotLoop) -> int:
    """The bytes from a multiple of a cache line to the first store of the loop; 0 if unknown."""
    every = zip(loop.instructions, loop.strides, loop.places, strict=True)
    places = [place for i, stride, place in every if i.stores and stride and place is not None]
    return min(places, default=0) if len(set(places)) == 1 else _first(loop, places)


def _first(loop: HotLoop, places: Sequence[int]) -> int:
    """The number of the store with the smallest address in its row."""
    every = zip(loop.instructions, loop.strides, loop.addresses, loop.places, strict=True)
    addressed = [
        (address.constant, place)
        for i, stride, address, place in every
        if i.stores and stride and address is not None and place is not None
    ]
    return min(addressed)[1] if addressed and places else 0


def forwards(loop: HotLoop) -> list[ForwardedLoad]:
    """Loads that read what the same loop stored at most eight passes before."""
    every = list(zip(loop.instructions, loop.strides, loop.addresses, strict=True))
    stores = [n for n, (i, s, a) in enumerate(every) if i.stores and a is not None]
    forwarded: list[ForwardedLoad] = []
    for load, (instruction, stride, address) in enumerate(every):
        if not instruction.loads or address is None or stride is None:
            continue
        met = [m for s in stores if (m := _meeting(loop, s, load)) is not None]
        met.sort(key=lambda m: (m.passes, -m.store if m.store < load else load - m.store))
        if met:
            forwarded.append(met[0])
    return forwarded


def _meeting(loop: HotLoop, store: int, load: int) -> ForwardedLoad | None:
    """The forwarded load of a pair of store and load; None where they do not coincide."""
    step = loop.strides[load]
    stored, loaded = loop.addresses[store], loop.addresses[load]
    if stored is None or loaded is None or step is None or loop.strides[store] != step:
        return None
    if stored.terms != loaded.terms:
        return None
    wide, narrow = loop.instructions[load].loads, loop.instructions[store].stores
    for passes in range(_BACK + 1):
        if passes == 0 and store >= load:
            continue
        apart = loaded.constant - stored.constant + passes * step
        if -wide < apart < narrow:
            whole = apart >= 0 and apart + wide <= narrow
            return ForwardedLoad(store, load, passes, not whole)
        if step == 0:
            passes_needed = 0 if store < load else 1
            if passes >= passes_needed:
                return None
    return None


def gathers(loop: HotLoop) -> int:
    """The number of gather instructions and of loads from computed addresses in a pass."""
    return len(gathering(loop))


def gathering(loop: HotLoop) -> set[int]:
    """The numbers of gather instructions and of loads from computed addresses."""
    gathers = set()
    every = enumerate(zip(loop.instructions, loop.addresses, strict=True))
    for number, (instruction, address) in every:
        gather = bool(_GATHER.fullmatch(instruction.mnemonic))
        lost = address is None and instruction.address is not None and instruction.loads > 0
        if gather or _vector_index(instruction) or (lost and loop.depth > 0):
            gathers.add(number)
    return gathers


def _vector_index(instruction: Instruction) -> bool:
    """Whether an instruction is a load of AArch64 with addresses in a vector register."""
    place = next((o for o in instruction.operands if o.startswith("[")), "")
    return bool(instruction.loads and re.search(r"\bz\d+\.", place))
