"""Rows that outlive the stage of a pipeline that writes them, as the stage derivatives of an
explicit method do: later stages, which run behind, add them to their sums.
"""

from collections.abc import Iterator, Mapping, Sequence

from autotune.codegen.tree.loop_nests import (
    EvaluateStatement,
    KeptRow,
    Nest,
    NestLoop,
    Nodes,
    ReduceStatement,
    Statement,
    StoreStatement,
    expressions,
    statements,
)
from autotune.language.expression import Num, Ref, Sym, references

Row = tuple[str, int]
"""An array and the index of one of its rows."""


def kept_rows(stages: Sequence[Sequence[Nest]]) -> tuple[KeptRow, ...]:
    """The rows that some stage reads and an earlier one has written, all rows of their arrays.

    Every row of such an array is written once, before it is read at the same component; its index
    is a number wherever it is written or read. ValueError where that is not so.
    """
    written = _written(stages)
    arrays = {array for array, _ in written}
    last: dict[Row, int] = dict(written)
    for number, stage in enumerate(stages):
        before = {row for row, writer in written.items() if writer < number}
        for nest in stage:
            for statement, loops in _inside(nest.body, {}):
                for row in _read(statement, loops, arrays):
                    if row in written and row not in before:
                        array, index = row
                        raise ValueError(
                            f"{nest.kernel} reads row {index} of {array} before it is written"
                        )
                    last[row] = number
                before |= {row for row in _targets(statement) if row in written}
    lasting = {row[0] for row, end in last.items() if end > written.get(row, end)}
    return tuple(
        KeptRow(array, index, last[array, index] - number)
        for (array, index), number in sorted(written.items())
        if array in lasting
    )


def _written(stages: Sequence[Sequence[Nest]]) -> dict[Row, int]:
    """The stage that writes each row, of arrays whose rows are all written once, by numbers."""
    written: dict[Row, int] = {}
    spoilt: set[str] = set()
    for number, stage in enumerate(stages):
        for nest in stage:
            for statement in statements(nest.body):
                rows = _targets(statement)
                if len(statement.target.indices) > 1 and not rows:
                    spoilt.add(statement.target.array)
                for row in rows:
                    if row in written:
                        spoilt.add(row[0])
                    written[row] = number
    return {row: number for row, number in written.items() if row[0] not in spoilt}


def _targets(statement: Statement) -> tuple[Row, ...]:
    """The row that a statement writes, where its index is a number."""
    match statement.target:
        case Ref(array=array, indices=(Num(value=index), _)):
            return ((array, int(index)),)
    return ()


def _inside(
    nodes: Nodes, loops: Mapping[str, NestLoop]
) -> Iterator[tuple[Statement, Mapping[str, NestLoop]]]:
    """Every statement with the loops around it by their variables."""
    for node in nodes:
        if isinstance(node, NestLoop):
            yield from _inside(node.body, {**loops, node.variable: node})
        elif isinstance(node, ReduceStatement | StoreStatement | EvaluateStatement):
            yield node, loops


def _read(statement: Statement, loops: Mapping[str, NestLoop], arrays: set[str]) -> Iterator[Row]:
    """The rows of the arrays that a statement reads."""
    for expression in expressions(statement):
        for ref in references(expression):
            if ref.array not in arrays:
                continue
            match ref.indices:
                case (Num(value=index), *_):
                    yield ref.array, int(index)
                case (Sym(name=over), _) if (
                    isinstance(statement, ReduceStatement) and over == statement.over
                ):
                    yield from ((ref.array, i) for i in statement.added(loops[over]))
                case _:
                    raise ValueError(
                        f"which rows of {ref.array} a stage reads is not told by numbers"
                    )
