"""One object for equal nodes of loop trees, so that tables may be keyed by identity."""

from collections.abc import Hashable
from dataclasses import replace
from typing import Final, TypeVar

from autotune.codegen.tree.loop_tree import AnySweep, LoopNode, NodeBlock, StoredRow
from autotune.language.expression import Num

_Value = TypeVar("_Value", bound=Hashable)
_NO_ROW: Final = StoredRow("")
_NO_SCALAR: Final = Num(0)


class UniqueNodes:
    """Of equal nodes, always the first one that was asked about.

    The hash of a tree visits the whole tree. Programs share most of their sweeps, so an object is
    hashed once and looked up by its identity from then on. All objects are kept, since the identity
    of a lost one may return.
    """

    def __init__(self) -> None:
        self._first: dict[object, object] = {}
        self._seen: dict[int, tuple[object, object]] = {}
        self._functions: dict[int, AnySweep] = {}

    def first(self, value: _Value) -> _Value:
        """The first value that equals this one."""
        seen = self._seen.get(id(value))
        if seen is None:
            seen = self._seen[id(value)] = value, self._first.setdefault(value, value)
        return seen[1]  # type: ignore[return-value]

    def function(self, sweep: AnySweep) -> AnySweep:
        """One sweep for all that differ in the arguments of their calls only: their C function and
        their accesses are the same.
        """
        unique = self.first(sweep)
        if id(unique) not in self._functions:
            rows = tuple((name, _NO_ROW) for name, _ in unique.rows)
            scalars = tuple((name, _NO_SCALAR) for name, _ in unique.scalars)
            self._functions[id(unique)] = self.first(replace(unique, rows=rows, scalars=scalars))
        return self._functions[id(unique)]

    def block_key(self, block: NodeBlock) -> tuple[object, ...]:
        """A key that equals that of another block where the blocks are equal; cheap to hash."""
        return tuple(
            (replace(node, body=_EMPTY), self.block_key(node.body))
            if isinstance(node, LoopNode)
            else id(self.first(node))
            for node in block.nodes
        )


_EMPTY: Final = NodeBlock(())
