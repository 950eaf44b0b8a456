"""What each counter says of a whole program, side by side: a cross-check for people, no verdict.

Operators of the source, bytes that a program states and executed instructions are different things:
a compiler keeps values in registers, joins two operations in one instruction and adds others.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autotune.assertions.counters.lackey import ExecutedCounts
from autotune.domain.assertion_record import COUNTED, AssertionRecord, Count, PathKind

_QUANTITIES = {"flop": "floating-point operations", "load": "bytes read", "store": "bytes written"}
_MIXED = ("V128", "V256")
"""Types of vector registers; on x86-64 scalar operations are done in them too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramTotal:
    """A sum over the whole program and all its ranks, by one counter."""

    quantity: str
    """``floating-point operations``, ``bytes read``, ``bytes written``."""
    counter: str
    """``assertions``, ``source-operators``, ``lackey``, ...: two counters are never compared."""
    count: Count
    note: str = ""
    """What of the program it holds, or holds beside the quantity."""


def totals(
    records: Sequence[AssertionRecord], executed: ExecutedCounts
) -> tuple[ProgramTotal, ...]:
    """The totals of all records and of a second run under valgrind, by quantity, then counter."""
    return tuple(
        total
        for kind in COUNTED
        for total in (*_of_records(records, kind), *_of_instructions(executed, kind))
    )


def _of_records(records: Sequence[AssertionRecord], kind: PathKind) -> Iterable[ProgramTotal]:
    """What the assertions of a kind state, then what each counter of a block counted of them."""
    quantity = _QUANTITIES[kind]
    paths = [path for record in records for path in record.paths if path.kind == kind]
    if not paths:
        return
    yield ProgramTotal(
        quantity=quantity,
        counter="assertions",
        count=sum(path.asserted for path in paths),
        note="of asserted blocks",
    )
    sums: Counter[str] = Counter()
    for path in paths:
        if path.measured is not None:
            sums[path.counter] += path.measured  # type: ignore[assignment] # real numbers too
    for counter, count in sums.items():
        yield ProgramTotal(
            quantity=quantity, counter=counter, count=count, note="of asserted blocks"
        )


def _of_instructions(executed: ExecutedCounts, kind: PathKind) -> Iterable[ProgramTotal]:
    """What valgrind counted: arithmetic by type, or bytes with the number of accesses."""
    quantity = _QUANTITIES[kind]
    if kind == "flop":
        for name, count in executed.arithmetic.items():
            if count and name.startswith(("F", "V")):
                mixed = ": scalar and integer ones, moves and logic among them"
                yield ProgramTotal(
                    quantity=quantity,
                    counter=executed.counter,
                    count=count,
                    note=f"operations on {name}{mixed if name in _MIXED else ''}",
                )
        return
    number, accesses = (
        (executed.bytes_loaded, executed.loads)
        if kind == "load"
        else (executed.bytes_stored, executed.stores)
    )
    yield ProgramTotal(
        quantity=quantity,
        counter=executed.counter,
        count=number,
        note=f"by {sum(accesses.values())} {kind}s of the whole program, its start included",
    )
