"""The least work of a time step, whatever the program: operations, and bytes from and to memory.

Operations are counted as the formulas are written, each distinct term of a component once. Terms
without elements of the state are left out, because a program may keep their values. Bytes are those
of one pass over the state and the arrays beside it: read once, and written once where they change.
A program that computes several steps in one pass moves less.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autotune.language.expression import Bin, Call, Cond, Expr, Neg, Num, Ref, Sym, children
from autotune.units import Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastWork:
    """What every program has to do in a time step on all nodes together."""

    operations: int
    """Floating-point operations; a function counts as one."""
    read: Bytes
    written: Bytes


def operations(body: Expr, definitions: Mapping[str, Expr]) -> int:
    """Operations on elements of arrays that the value of a body needs, each distinct one once.

    ``definitions``: expressions that the body uses by name. Of a condition, the branch with fewer.

    >>> from autotune.language.expression import parse
    >>> operations(parse("c*2*(y[j-1] - 2*y[j] + y[j+1])"), {})
    4
    """
    return len(_needed(body, definitions))


def varies(body: Expr, definitions: Mapping[str, Expr]) -> bool:
    """Whether the value of a body depends on an element of an array."""
    match body:
        case Num():
            return False
        case Ref():
            return True
        case Sym(name=name):
            return name in definitions and varies(definitions[name], definitions)
        case _:
            return any(varies(part, definitions) for part in children(body))


def _needed(body: Expr, definitions: Mapping[str, Expr]) -> frozenset[Expr]:
    """The distinct operations of a body that depend on an element."""
    if not varies(body, definitions):
        return frozenset()
    match body:
        case Sym(name=name):
            return _needed(definitions[name], definitions)
        case Neg(operand=operand):
            return _needed(operand, definitions)
        case Bin() | Call():
            return _union(children(body), definitions) | {body}
        case Cond(left=left, right=right, then=then, other=other):
            branches = [_needed(then, definitions), _needed(other, definitions)]
            return _union((left, right), definitions) | min(branches, key=len)
        case _:
            return frozenset()


def _union(parts: Iterable[Expr], definitions: Mapping[str, Expr]) -> frozenset[Expr]:
    return frozenset().union(*(_needed(part, definitions) for part in parts))
