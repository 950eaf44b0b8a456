"""A stretch of a sweep as kerncraft C: one loop nest over arrays with constant offsets.

kerncraft 0.8.18 takes one nest of loops from constants to constants, assignments in the innermost
loop, arithmetic on elements, numbers and named scalars; its layer conditions need step 1 and want
every offset within a row or whole rows away. Short loops are unrolled in the sweep already. Here

* elements whole rows away (``y[j-N]``) make arrays two-dimensional: ``y[r-1][c]``;
* elements a whole field away (``y[j+N]`` where N is a part of n, not a row of many) become an array
  of their own: their lines are a stream of their own;
* rows of a fixed short length (pairs) are taken apart, one array per column: the same lines;
* loops count in ``long``, as the generated program does, but in ``int`` where statements use the
  number of the component: only 32 bits are converted by vector instructions everywhere;
* temporaries are written out where they are used, those that are the same for every component
  become named scalars, as constants of the problem are;
* ``max`` and ``min`` become an addition: kerncraft knows no calls, and either is one instruction
  without a dependence on its neighbours (``notes`` says so).

Conditions, other functions and ``%`` have no expression: the reason is returned in words.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from autotune.codegen.c.kernel_values import (
    KernelNames,
    KernelText,
    Unfit,
    index,
    nest,
    value_text,
)
from autotune.codegen.tree import loop_tree
from autotune.domain.problem import Ivp, offset
from autotune.language.expression import (
    Bin,
    Call,
    Expr,
    Num,
    Ref,
    Sym,
    number,
    references,
    show,
    substitute,
    symbols,
)

SHARE = "share"
"""Symbol: components of one core's part of the block."""

FIELDS = "components a whole field away are taken as an array of their own"
PAIRS = "the columns of short rows are taken as arrays of their own: the same lines, no permutes"

_SIZES = (1009, 2003, 5003)
"""Sizes at which offsets are told apart; primes, so that no multiple passes for another."""
_LENGTH, _ROWS = "N", "M"


def kernel_text(
    sweep: loop_tree.Sweep, stretch: loop_tree.SweepStretch, ivp: Ivp
) -> KernelText | str:
    """The stretch as kerncraft C, or the reason why kerncraft cannot express it.

    All stretches of a sweep with rows of fixed length become one text, since they share a loop. The
    bounds of a stretch are ignored: the loop covers the interior of a stretch of ``share``
    components.
    """
    try:
        if stretch.planes is not None:
            raise Unfit("its loops run over rows within planes")
        if stretch.columns is not None and isinstance(stretch.row, Num):
            text = _pairs(sweep, ivp, int(stretch.row.value))
        else:
            text = _rows(stretch, ivp)
    except Unfit as reason:
        return f"kerncraft cannot express {sweep.name}: {reason}"
    return text


# --- what is accessed -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shift:
    """An offset as whole rows (or fields) and elements: ``outer * pitch + inner``."""

    outer: int
    inner: int


def _shift(ref: Ref, ivp: Ivp, pitch: Expr) -> _Shift:
    """The offset of a reference as whole rows and elements, the same at several sizes."""
    offsets, pitches = [], []
    for size in _SIZES:
        values = ivp.values(max(size, ivp.minimum))
        try:
            offsets.append(offset(ref, values))
        except ValueError as error:
            raise Unfit(str(error)) from error
        pitches.append(int(number(pitch, values)))
    if len(set(offsets)) == 1:
        return _Shift(0, offsets[0])
    step = pitches[1] - pitches[0]
    outer = (offsets[1] - offsets[0]) // step if step else 0
    inner = offsets[0] - outer * pitches[0]
    if any(o != outer * p + inner for o, p in zip(offsets, pitches, strict=True)):
        raise Unfit(f"{show(ref)} is neither near by nor whole rows of {show(pitch)} away")
    return _Shift(outer, inner)


def _many_rows(ivp: Ivp, pitch: Expr) -> bool:
    """Whether n has ever more rows of length ``pitch`` as N grows: then rows belong to a grid; else
    they are fields.
    """
    rows = [
        number(ivp.dimension, values) / number(pitch, values)
        for values in (ivp.values(max(size, ivp.minimum)) for size in _SIZES)
    ]
    return rows[-1] > 2 * rows[0]


# --- one text -------------------------------------------------------------------------------

_Element = Callable[[str, _Shift], str]
"""The text of an element, of a row parameter and an offset."""


@dataclass(slots=True)
class _Writer:
    """Collects the arrays and scalars of a text while its statements are written."""

    ivp: Ivp
    pitch: Expr
    loop: str
    extents: str
    names: KernelNames
    arrays: dict[tuple[str, int], str] = field(default_factory=dict)
    inner: list[int] = field(default_factory=list)
    outer: list[int] = field(default_factory=list)

    def array(self, row: str, part: int) -> str:
        """The name of the array for a row parameter, or for a part of it (a field, a column)."""
        key = (row, part)
        if key not in self.arrays:
            mark = f"_{'m' if part < 0 else ''}{abs(part)}" if part else ""
            self.arrays[key] = self.names.fresh(row + mark)
        return self.arrays[key]

    def declarations(self) -> list[str]:
        """The C declarations of the arrays, then of the scalars."""
        return self.names.declarations([name + self.extents for name in self.arrays.values()])


def _rows(stretch: loop_tree.SweepStretch, ivp: Ivp) -> KernelText:
    """The kernel text of a stretch of consecutive components: in one dimension, with fields, or row
    by row.
    """
    pitch = stretch.row if stretch.columns is not None and stretch.row else Sym(_LENGTH)
    statements = _inlined(stretch.statements)
    far = any(_shift(ref, ivp, pitch).outer for s in statements for ref in references(s.value))
    grid = far and _many_rows(ivp, pitch)
    writer = _Writer(
        ivp, pitch, "c" if grid else "j", "[M][N]" if grid else "[N]",
        KernelNames({"c", "r", "j", _LENGTH, _ROWS, "kernel"}),
    )  # fmt: skip

    def element(row: str, shift: _Shift) -> str:
        writer.inner.append(shift.inner)
        if grid:
            writer.outer.append(shift.outer)
            return f"{writer.array(row, 0)}[{index('r', shift.outer)}][{index('c', shift.inner)}]"
        if shift.outer:
            writer.names.notes[FIELDS] = None
        return f"{writer.array(row, shift.outer)}[{index('j', shift.inner)}]"

    place: Expr = Sym("j")
    if grid:
        place = Bin("+", Bin("*", Sym("r"), Sym(_LENGTH)), Sym("c"))
    lines = [_assignment(s, writer, element, place) for s in statements]
    length = pitch if grid else _at_least(Sym(SHARE), writer.inner)
    constants: list[tuple[str, Expr]] = [(_LENGTH, length)]
    loops = [_loop(writer, writer.loop, _LENGTH, writer.inner)]
    if grid:
        margin = max(writer.outer) - min(writer.outer)
        rows = Bin("+", Bin("//", Sym(SHARE), pitch), Num(max(margin, 1)))
        constants.insert(0, (_ROWS, rows))
        loops.insert(0, _loop(writer, "r", _ROWS, writer.outer))
    return KernelText(
        text=nest(writer.declarations(), loops, lines),
        constants=tuple(constants),
        notes=tuple(writer.names.notes),
    )


def _pairs(sweep: loop_tree.Sweep, ivp: Ivp, row: int) -> KernelText:
    """The kernel text of rows of fixed length: a loop over rows, with an array for every column."""
    writer = _Writer(
        ivp,
        Num(row),
        "j",
        "[N]",
        KernelNames({"j", _LENGTH, _ROWS, "kernel"}, notes={PAIRS: None}),
    )
    lines = []
    for stretch in sweep.stretches:
        assert stretch.columns is not None
        first, end = (int(number(e, {})) for e in stretch.columns)
        for column in range(first, end):

            def element(name: str, shift: _Shift, column: int = column) -> str:
                rows, part = divmod(column + shift.inner, row)
                writer.inner.append(rows)
                return f"{writer.array(name, part)}[{index('j', rows)}]"

            place = Bin("+", Bin("*", Num(row), Sym("j")), Num(column))
            lines += [_assignment(s, writer, element, place) for s in _inlined(stretch.statements)]
    _check_columns(writer, row)
    length = _at_least(Bin("//", Sym(SHARE), Num(row)), writer.inner)
    return KernelText(
        text=nest(writer.declarations(), [_loop(writer, "j", _LENGTH, writer.inner)], lines),
        constants=((_LENGTH, length),),
        components=row,
        notes=tuple(writer.names.notes),
    )


def _check_columns(writer: _Writer, row: int) -> None:
    """Raise ``Unfit`` unless every column is used; kerncraft would not count the traffic of unused
    columns.
    """
    for name in dict.fromkeys(name for name, _ in writer.arrays):
        used = sum(name == other for other, _ in writer.arrays)
        if used < row:
            raise Unfit(f"only {used} of the {row} columns of {name} count, but all are moved")


def _loop(writer: _Writer, variable: str, end: str, offsets: Iterable[int]) -> str:
    """The head of the loop, with bounds that keep every offset within 0 .. end - 1."""
    reach = [0, *offsets]
    first, last = -min(reach), max(reach)
    until = f"{end} - {last}" if last else end
    return f"for ({writer.names.counter} {variable} = {first}; {variable} < {until}; ++{variable})"


def _at_least(length: Expr, offsets: Iterable[int]) -> Expr:
    """The length of the loop, increased where needed so that it has at least one iteration."""
    reach = [0, *offsets]
    return Call("max", (length, Num(max(reach) - min(reach) + 1)))


# --- statements -----------------------------------------------------------------------------


def _inlined(statements: tuple[loop_tree.Statement, ...]) -> list[loop_tree.Assign]:
    """The assignments with temporaries replaced by their values; temporaries without elements or j
    keep their names.
    """
    values: dict[str, Expr] = {}
    done = []
    for statement in statements:
        if isinstance(statement, loop_tree.SumLoop):
            raise Unfit(f"the sum {statement.name} over {statement.index} is a loop of its own")
        value = substitute(statement.value, values)
        if isinstance(statement, loop_tree.Assign):
            done.append(replace(statement, value=value))
        elif references(value) or "j" in symbols(value):
            values[statement.name] = value
        else:
            values[statement.name] = Sym(statement.name)
    return done


def _assignment(
    statement: loop_tree.Assign, writer: _Writer, element: _Element, place: Expr
) -> str:
    target = element(statement.target, _Shift(0, 0))

    def read(ref: Ref) -> str:
        return element(ref.array, _shift(ref, writer.ivp, writer.pitch))

    value = show(value_text(statement.value, writer.names, read, place))
    return f"{target} {'+=' if statement.add else '='} {value};"
