"""Unroll-and-jam: several iterations of a short loop in one sweep over the components.

for l: for i: sweep(l, i)          before
for l: for i: sweep(2l, 2l+1, i)   jammed by 2: F[i] is loaded once for two rows of Y
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from autotune.codegen.tree.loop_tree import (
    AnySweep,
    Assign,
    Local,
    LoopNode,
    Node,
    NodeBlock,
    Repeat,
    Statement,
    StoredRow,
    SumLoop,
    Sweep,
    SweepStretch,
    Tiles,
    every_sweep,
    on_sweeps,
)
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.language.expression import (
    Bin,
    Expr,
    Num,
    Ref,
    Sym,
    rebuild,
    references,
    substitute,
    symbols,
)


def jam(block: NodeBlock, kernel: str, variable: str, factor: int) -> NodeBlock:
    """The program with the loop over ``variable`` around the sweeps of a kernel jammed.

    The sweeps of ``factor`` iterations become one, in the order of the iterations at every
    component; iterations that are left over are jammed together at the end. Legal where the loop
    holds sweeps, loops and tiles only; no sweep in it reads, at other components, an array that one
    of them writes; and every array that is written has rows of their own in every iteration, or is
    used by a single sweep.
    """
    jammed = _jammed(block, kernel, variable, factor)
    if jammed == block:
        raise IllegalTransformation(f"no loop over {variable} is around the sweeps of {kernel}")
    return jammed


def _jammed(block: NodeBlock, kernel: str, variable: str, factor: int) -> NodeBlock:
    nodes: list[Node] = []
    for node in block.nodes:
        sweeps = tuple(every_sweep(NodeBlock((node,))))
        if (
            isinstance(node, Repeat)
            and node.variable == variable
            and {sweep.kernel for sweep in sweeps} == {kernel}
        ):
            _check(node, sweeps)
            nodes += _repeated(node, factor)
        elif isinstance(node, LoopNode):
            nodes.append(replace(node, body=_jammed(node.body, kernel, variable, factor)))
        else:
            nodes.append(node)
    return NodeBlock(tuple(nodes))


def _repeated(node: Repeat, factor: int) -> Iterator[Node]:
    """The jammed loop, then the iterations that are left over."""
    times, left = divmod(node.end - node.first, factor)
    index = Bin("*", Num(factor), Sym(node.variable))
    if times:
        values: list[Expr] = [Num(node.first + k) for k in range(factor)]
        if times == 1:
            yield from _merged(node, values).nodes
        else:
            values = [Bin("+", index, v) if v != Num(0) else index for v in values]
            yield replace(node, first=0, end=times, body=_merged(node, values))
    if left:
        yield from _merged(node, [Num(i) for i in range(node.end - left, node.end)]).nodes


def _merged(node: Repeat, values: Sequence[Expr]) -> NodeBlock:
    return on_sweeps(node.body, lambda sweep: _sweep(sweep, node.variable, values))


def _sweep(sweep: Sweep, variable: str, values: Sequence[Expr]) -> Sweep:
    """The sweep of several iterations, one after the other at every component."""
    rows: dict[StoredRow, str] = {}
    scalars: dict[str, Expr] = {}
    copies: list[tuple[SweepStretch, ...]] = []
    names = {name for name, _ in (*sweep.rows, *sweep.scalars, *sweep.constants)}
    names |= set(sweep.tables)
    names |= {s.name for st in sweep.stretches for s in st.statements if not isinstance(s, Assign)}
    for number, value in enumerate(values):
        renamed: dict[str, str] = {}
        for name, row in sweep.rows:
            index = None if row.index is None else substitute(row.index, {variable: value})
            fresh = _fresh(name, number, names)
            renamed[name] = rows.setdefault(replace(row, index=index), fresh)
        for name, expr in sweep.scalars:
            given = substitute(expr, {variable: value})
            same = (n for n, e in scalars.items() if e == given)
            renamed[name] = next(same, None) or _fresh(name, number, names)
            scalars[renamed[name]] = given
        for stretch in sweep.stretches:
            for statement in stretch.statements:
                if not isinstance(statement, Assign):
                    renamed[statement.name] = _fresh(statement.name, number, names)
        copies.append(tuple(_stretch(stretch, renamed) for stretch in sweep.stretches))
    stretches = tuple(
        replace(parts[0], statements=tuple(s for part in parts for s in part.statements))
        for parts in zip(*copies, strict=True)
    )
    suffix = f"_jam{len(values)}" if len(values) > 1 else ""
    return replace(
        sweep,
        name=f"{sweep.name}{suffix}",
        rows=tuple((name, row) for row, name in rows.items()),
        scalars=tuple(scalars.items()),
        stretches=stretches,
    )


def _fresh(name: str, number: int, taken: set[str]) -> str:
    """The name of an iteration's copy, which is taken then: the same in iteration 0, else a new
    one.
    """
    while number and name in taken:
        name = f"{name}_{number}"
    taken.add(name)
    return name


def _stretch(stretch: SweepStretch, names: dict[str, str]) -> SweepStretch:
    def change(expr: Expr) -> Expr:
        match expr:
            case Sym(name=name) if name in names:
                return Sym(names[name])
            case Ref(array=array, indices=indices) if array in names:
                return Ref(names[array], indices)
        return expr

    def statement(given: Statement) -> Statement:
        value = rebuild(given.value, change)
        if isinstance(given, Local):
            return Local(names[given.name], value)
        if isinstance(given, SumLoop):
            return replace(given, name=names[given.name], value=value)
        return replace(given, target=names[given.target], value=value)

    return replace(stretch, statements=tuple(statement(s) for s in stretch.statements))


def _check(node: Repeat, sweeps: Sequence[AnySweep]) -> None:
    """Raise where iterations of the loop depend on one another in another way than a sum does."""
    if not _only_sweeps(node.body):
        raise IllegalTransformation(f"the loop over {node.variable} holds more than sweeps")
    users: dict[str, list[tuple[Sweep, StoredRow]]] = {}
    written: set[str] = set()
    around: set[str] = set()
    for sweep in sweeps:
        assert isinstance(sweep, Sweep)
        if sweep.streamed:
            raise IllegalTransformation(
                f"{sweep.kernel} stores past the caches, one row at a time: jam it before"
            )
        arrays = {name: row.array for name, row in sweep.rows}
        for _, row in sweep.rows:
            users.setdefault(row.array, []).append((sweep, row))
        for stretch in sweep.stretches:
            for statement in stretch.statements:
                if isinstance(statement, Assign):
                    written.add(arrays[statement.target])
                for ref in references(statement.value):
                    if ref.array in arrays and ref.indices != (Sym("j"),):
                        around.add(arrays[ref.array])
    for array in sorted(written):
        if array in around:
            raise IllegalTransformation(
                f"iterations over {node.variable} read {array} at other points than they write"
            )
        indices = {row.index for _, row in users[array]}
        several = len({id(sweep) for sweep, _ in users[array]}) > 1
        apart = len(indices) == 1 and all(
            index is not None and node.variable in symbols(index) for index in indices
        )
        if several and not apart:
            raise IllegalTransformation(
                f"several sweeps in the loop over {node.variable} use the same rows of {array}"
            )


def _only_sweeps(block: NodeBlock) -> bool:
    return all(
        isinstance(node, Sweep) or (isinstance(node, Repeat | Tiles) and _only_sweeps(node.body))
        for node in block.nodes
    )
