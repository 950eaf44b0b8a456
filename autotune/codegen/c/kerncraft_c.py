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

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from autotune.codegen.c import c_expressions
from autotune.codegen.tree import loop_tree
from autotune.domain.problem import Ivp, offset
from autotune.language.expression import (
    Bin,
    Call,
    Cond,
    Expr,
    Neg,
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

STAND_IN = (
    "max and min stand as additions: one instruction each, on the ports of an addition on Intel"
    " cores, on as many others on AMD Zen"
)
FIELDS = "components a whole field away are taken as an array of their own"
PAIRS = "the columns of short rows are taken as arrays of their own: the same lines, no permutes"

_SIZES = (1009, 2003, 5003)
"""Sizes at which offsets are told apart; primes, so that no multiple passes for another."""
_LENGTH, _ROWS = "N", "M"


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelText:
    """One stretch of a sweep as kerncraft C."""

    text: str
    constants: tuple[tuple[str, Expr], ...]
    """The sizes of the text as expressions of ``N``, ``n`` and ``share`` (components of a core)."""
    components: int = 1
    """Components that one iteration of the innermost loop computes."""
    notes: tuple[str, ...] = ()

    def sizes(self, values: Mapping[str, float | int]) -> dict[str, int]:
        """The sizes at given ``N``, ``n``, constants and ``share``."""
        return {name: int(number(expr, values)) for name, expr in self.constants}


class _Unfit(Exception):
    """Raised for a construct that kerncraft cannot express; the message is the reason."""


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
            raise _Unfit("its loops run over rows within planes")
        if stretch.columns is not None and isinstance(stretch.row, Num):
            text = _pairs(sweep, ivp, int(stretch.row.value))
        else:
            text = _rows(stretch, ivp)
    except _Unfit as reason:
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
            raise _Unfit(str(error)) from error
        pitches.append(int(number(pitch, values)))
    if len(set(offsets)) == 1:
        return _Shift(0, offsets[0])
    step = pitches[1] - pitches[0]
    outer = (offsets[1] - offsets[0]) // step if step else 0
    inner = offsets[0] - outer * pitches[0]
    if any(o != outer * p + inner for o, p in zip(offsets, pitches, strict=True)):
        raise _Unfit(f"{show(ref)} is neither near by nor whole rows of {show(pitch)} away")
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
    taken: set[str]
    arrays: dict[tuple[str, int], str] = field(default_factory=dict)
    scalars: dict[str, str] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    inner: list[int] = field(default_factory=list)
    outer: list[int] = field(default_factory=list)
    counter: str = "long"

    def array(self, row: str, part: int) -> str:
        """The name of the array for a row parameter, or for a part of it (a field, a column)."""
        key = (row, part)
        if key not in self.arrays:
            mark = f"_{'m' if part < 0 else ''}{abs(part)}" if part else ""
            self.arrays[key] = self.fresh(row + mark)
        return self.arrays[key]

    def scalar(self, symbol: str) -> str:
        """The name of the scalar that stands for a symbol in the text."""
        if symbol not in self.scalars:
            self.scalars[symbol] = self.fresh(symbol)
        return self.scalars[symbol]

    def fresh(self, stem: str) -> str:
        """A name that is not used yet, without the trailing underscore of names that kerncraft
        makes.
        """
        name = c_expressions.name(stem).strip("_") or "x"
        while name in self.taken or c_expressions.name(name) != name:
            name += "x"
        self.taken.add(name)
        return name

    def declarations(self) -> list[str]:
        """The C declarations of the arrays, then of the scalars."""
        lines = [f"double {name}{self.extents};" for name in self.arrays.values()]
        return lines + [f"double {name};" for name in self.scalars.values()]


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
        {"c", "r", "j", _LENGTH, _ROWS, "kernel"},
    )  # fmt: skip

    def element(row: str, shift: _Shift) -> str:
        writer.inner.append(shift.inner)
        if grid:
            writer.outer.append(shift.outer)
            return f"{writer.array(row, 0)}[{_index('r', shift.outer)}][{_index('c', shift.inner)}]"
        if shift.outer:
            writer.notes[FIELDS] = None
        return f"{writer.array(row, shift.outer)}[{_index('j', shift.inner)}]"

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
        text=_text(writer, loops, lines),
        constants=tuple(constants),
        notes=tuple(writer.notes),
    )


def _pairs(sweep: loop_tree.Sweep, ivp: Ivp, row: int) -> KernelText:
    """The kernel text of rows of fixed length: a loop over rows, with an array for every column."""
    writer = _Writer(
        ivp, Num(row), "j", "[N]", {"j", _LENGTH, _ROWS, "kernel"}, notes={PAIRS: None}
    )
    lines = []
    for stretch in sweep.stretches:
        assert stretch.columns is not None
        first, end = (int(number(e, {})) for e in stretch.columns)
        for column in range(first, end):

            def element(name: str, shift: _Shift, column: int = column) -> str:
                rows, part = divmod(column + shift.inner, row)
                writer.inner.append(rows)
                return f"{writer.array(name, part)}[{_index('j', rows)}]"

            place = Bin("+", Bin("*", Num(row), Sym("j")), Num(column))
            lines += [_assignment(s, writer, element, place) for s in _inlined(stretch.statements)]
    _check_columns(writer, row)
    length = _at_least(Bin("//", Sym(SHARE), Num(row)), writer.inner)
    return KernelText(
        text=_text(writer, [_loop(writer, "j", _LENGTH, writer.inner)], lines),
        constants=((_LENGTH, length),),
        components=row,
        notes=tuple(writer.notes),
    )


def _check_columns(writer: _Writer, row: int) -> None:
    """Raise ``_Unfit`` unless every column is used; kerncraft would not count the traffic of unused
    columns.
    """
    for name in dict.fromkeys(name for name, _ in writer.arrays):
        used = sum(name == other for other, _ in writer.arrays)
        if used < row:
            raise _Unfit(f"only {used} of the {row} columns of {name} count, but all are moved")


def _text(writer: _Writer, loops: list[str], lines: list[str]) -> str:
    done = [*writer.declarations(), ""]
    done += ["    " * depth + loop for depth, loop in enumerate(loops)]
    done[-1] += " {"
    indent = "    " * len(loops)
    return "\n".join(
        [*done, *(indent + line for line in lines), "    " * (len(loops) - 1) + "}", ""]
    )


def _loop(writer: _Writer, variable: str, end: str, offsets: Iterable[int]) -> str:
    """The head of the loop, with bounds that keep every offset within 0 .. end - 1."""
    reach = [0, *offsets]
    first, last = -min(reach), max(reach)
    until = f"{end} - {last}" if last else end
    return f"for ({writer.counter} {variable} = {first}; {variable} < {until}; ++{variable})"


def _at_least(length: Expr, offsets: Iterable[int]) -> Expr:
    """The length of the loop, increased where needed so that it has at least one iteration."""
    reach = [0, *offsets]
    return Call("max", (length, Num(max(reach) - min(reach) + 1)))


def _index(variable: str, shift: int) -> str:
    return f"{variable}{shift:+d}" if shift else variable


# --- statements -----------------------------------------------------------------------------


def _inlined(statements: tuple[loop_tree.Statement, ...]) -> list[loop_tree.Assign]:
    """The assignments with temporaries replaced by their values; temporaries without elements or j
    keep their names.
    """
    values: dict[str, Expr] = {}
    done = []
    for statement in statements:
        if isinstance(statement, loop_tree.SumLoop):
            raise _Unfit(f"the sum {statement.name} over {statement.index} is a loop of its own")
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
    value = show(_value(statement.value, writer, element, place))
    return f"{target} {'+=' if statement.add else '='} {value};"


def _value(expr: Expr, writer: _Writer, element: _Element, place: Expr) -> Expr:
    """The expression with numbers as doubles, and with elements and scalars under their names in
    the text.
    """

    def again(part: Expr) -> Expr:
        return _value(part, writer, element, place)

    match expr:
        case Num(value=value):
            return Num(float(value))
        case Sym(name="j"):
            writer.counter = "int"
            return place
        case Sym(name=name):
            return Sym(writer.scalar(name))
        case Ref(array=array):
            return Sym(element(array, _shift(expr, writer.ivp, writer.pitch)))
        case Neg(operand=operand):
            return Neg(again(operand))
        case Bin(op="**", left=left, right=Num(value=int() as power)):
            if power == 0:
                return Num(1.0)
            product = base = again(left)
            for _ in range(power - 1):
                product = Bin("*", product, base)
            return product
        case Bin(op="+" | "-" | "*" | "/" as op, left=left, right=right):
            return Bin(op, again(left), again(right))
        case Bin(op=op):
            raise _Unfit(f"{show(expr)} ({op} of whole numbers)")
        case Call(function="max" | "min", arguments=(first, second)):
            writer.notes[STAND_IN] = None
            return Bin("+", _operand(first, again, writer), _operand(second, again, writer))
        case Call(function=function):
            raise _Unfit(f"it has no function calls: {function}")
        case Cond():
            raise _Unfit(f"it has no conditions: {show(expr)}")
    raise AssertionError(expr)


def _operand(expr: Expr, again: Callable[[Expr], Expr], writer: _Writer) -> Expr:
    """An operand of max; a number is replaced by a named scalar, since compilers would drop ``x +
    0.0``.
    """
    return Sym(writer.scalar("bound")) if isinstance(expr, Num) else again(expr)
