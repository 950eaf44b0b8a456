"""The text form of a model, as in figure 6 of Alam and Vetter 2006: a depth in every line.

    1:num_proc_cols:2^ceil(log(nprocs)/(2*log(2)))     a variable and its expression
    2:loop:niter                                       a loop and its trips
    3:mpi_send:dp*2                                    a message and its bytes
    3:subroutine:conj_grad                             a subroutine and its name
    3:flop:2*n                                         a block and its operations

A line lies inside of the nearest earlier line of a smaller depth. Powers are written ``^``;
``log(x)/log(2)`` is read as the exact ``log2(x)``. After ``#`` a line may have what the publication
has no place for: ``# name; index=k; peer=rank + 1; repeat=2``.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from autotune.assertions.modelling.forms.flow_text import mpi_word
from autotune.assertions.modelling.forms.notation import FormulaNotation
from autotune.assertions.modelling.parsed_model import MOST_DEEP, OPERATIONS, collective
from autotune.domain.assertion_model import AssertionModel, ModelNode
from autotune.domain.assertion_record import NamedVariable, PathKind
from autotune.errors import Fault, InputError, nearest, one_of
from autotune.language import counts, expression
from autotune.language.expression import Bin, Call, Expr, Num

_LINE = re.compile(r"\s*(\d+)\s*:\s*([^:#]*?)\s*:\s*([^#]*?)\s*(?:#\s*(.*?)\s*)?")
_VARIABLE = re.compile(r"\s*#\s*variable:\s*(.*?)\s*")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_KINDS: Mapping[str, PathKind] = {
    "loop": "loop", "region": "region", "flop": "flop", "load": "load", "store": "store",
    "sub": "sub", "subroutine": "sub",
}  # fmt: skip
_IGNORED = ("mpi_wait", "mpi_waitall", "mpi_waitany", "mpi_waitsome", "mpi_test")
_MESSAGE = re.compile(r"mpi_(i?)[bsr]?(send|recv)")
_FUNCTIONS: Mapping[str, int] = {**counts.COUNT_FUNCTIONS, "mod": 2}
_OUTER: tuple[PathKind, ...] = ("region", "loop", "sub")
_NAMED: tuple[PathKind, ...] = ("region", "sub")


@dataclass(slots=True)
class _OpenNode:
    """A node whose inner lines are still read."""

    depth: int
    node: ModelNode
    inner: list["_OpenNode"] = field(default_factory=list)

    def closed(self) -> ModelNode:
        return replace(self.node, inner=tuple(part.closed() for part in self.inner))


def read(text: str, name: str, where: str) -> AssertionModel:
    """The model of a text; InputError with every line that is wrong.

    Names that no line defines become inputs, in the order of their first use.
    """
    reading = _PaperReading(where)
    for number, line in enumerate(text.splitlines(), 1):
        reading.line(number, line)
    if not (reading.top.inner or reading.variables or reading.faults):
        found = "no line with a depth, a type and an expression"
        reading.faults.append(Fault(where=where, found=found, expected="2:loop:niter"))
    if reading.faults:
        raise InputError(*reading.faults)
    return reading.model(name)


class _PaperReading:
    """What the lines so far say."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.faults: list[Fault] = []
        self.variables: dict[str, NamedVariable] = {}
        self.top = _OpenNode(-1, ModelNode(kind="region", name="program"))
        self.open = [self.top]

    def fault(self, number: int, found: str, expected: str = "", hint: str = "") -> None:
        where = f"{self.where}:{number}"
        self.faults.append(Fault(where=where, found=found, expected=expected, hint=hint))

    def line(self, number: int, line: str) -> None:
        """Read one line; empty lines, dots and comments say nothing."""
        if match := _VARIABLE.fullmatch(line):
            self._declared(number, match[1])
        if not line.strip(" .\t") or line.lstrip().startswith("#"):
            return
        match = _LINE.fullmatch(line)
        if match is None:
            self.fault(number, f"{line.strip()!r} is no line", "depth:type:expression")
            return
        try:
            self._entry(number, int(match[1]), match[2], match[3], match[4] or "")
        except ValueError as error:
            self.fault(number, str(error))

    def _declared(self, number: int, text: str) -> None:
        """A variable with unit and domain: ``# variable: na; unit=rows; domain=whole``."""
        name, options = _comment(text)
        if not _IDENTIFIER.fullmatch(name):
            self.fault(number, f"{name!r} is no name of a variable")
            return
        domain = options.get("domain", "").replace("|", ";")
        self.variables[name] = NamedVariable(name=name, unit=options.get("unit", ""), domain=domain)

    def _entry(self, number: int, depth: int, kind: str, text: str, comment: str) -> None:
        word = kind.lower().removeprefix("ma_")
        if word in _IGNORED:
            return
        node = self._node(number, word, kind, text, comment)
        if node is None:
            return
        while self.open[-1].depth >= depth:
            self.open.pop()
        above = self.open[-1].node
        if above.kind not in _OUTER:
            found = f"depth {depth} lies inside of the {above.kind} {above.name!r}"
            self.fault(number, found, "a loop, region or subroutine above")
            return
        if len(self.open) > MOST_DEEP:
            self.fault(number, "a line that lies too deep", f"at most {MOST_DEEP} depths")
            return
        opened = _OpenNode(depth, node)
        self.open[-1].inner.append(opened)
        self.open.append(opened)

    def _node(self, number: int, word: str, kind: str, text: str, comment: str) -> ModelNode | None:
        """The node of a line; None where it defines a variable or is faulty."""
        name, options = _comment(comment)
        repeat = options.get("repeat", "1")
        if word in _KINDS:
            node_kind = _KINDS[word]
            if node_kind in _NAMED:
                return ModelNode(kind=node_kind, name=text or name or word, repeat=repeat)
            return ModelNode(
                kind=node_kind,
                name=name or _label(node_kind, text),
                expression=_exact(text),
                index=options.get("index", "") if node_kind == "loop" else "",
                repeat=repeat,
            )
        if match := _MESSAGE.fullmatch(word):
            return ModelNode(
                kind="send" if match[2] == "send" else "recv",
                name=name or _label(match[2], text),
                expression=_exact(text),
                nonblocking=bool(match[1]),
                peer=options.get("peer", ""),
                repeat=repeat,
            )
        if word.startswith("mpi_"):
            return self._collective(number, word, text, name, repeat)
        self._define(number, kind, text)
        return None

    def _collective(
        self, number: int, word: str, text: str, name: str, repeat: str
    ) -> ModelNode | None:
        if collective(word) is None:
            messages = ("mpi_send", "mpi_recv", "mpi_isend", "mpi_irecv")
            names = [*messages, *(f"mpi_{operation}" for operation in OPERATIONS)]
            self.fault(number, f"unknown type {word!r}", one_of(names), nearest(word, names))
            return None
        return ModelNode(
            kind="coll",
            name=name or _label(word.removeprefix("mpi_"), text),
            expression=_exact(text) if text else "0",
            operation=word.removeprefix("mpi_"),
            repeat=repeat,
        )

    def _define(self, number: int, name: str, text: str) -> None:
        near = nearest(name, _KINDS)
        if not _IDENTIFIER.fullmatch(name):
            expected = "loop, flop, mpi_send, ... or the name of a variable"
            self.fault(number, f"{name!r} is neither a type nor a name", expected, near)
            return
        formula = _exact(text) if text else ""
        earlier = self.variables.pop(name, NamedVariable(name=name))
        self.variables[name] = replace(earlier, expression=formula)
        if earlier.expression not in ("", formula):
            hint = near and f"is it a type? {near}"
            self.fault(number, f"{name} = {formula} was {earlier.expression} before", hint=hint)

    def model(self, name: str) -> AssertionModel:
        """The model of all lines: inputs first, derived variables in the order of the lines."""
        nodes = self.top.closed().inner
        every = [part for top in nodes for part in top.walk()]
        texts = [v.expression for v in self.variables.values()]
        for node in every:
            texts += [node.expression, node.repeat, node.peer]
        bound = {*self.variables, *(node.index for node in every), "rank"}
        used = dict.fromkeys(symbol for text in filter(None, texts) for symbol in _symbols(text))
        inputs = [NamedVariable(name=symbol) for symbol in used if symbol not in bound]
        inputs += [v for v in self.variables.values() if not v.expression]
        derived = [v for v in self.variables.values() if v.expression]
        return AssertionModel(
            name=name, variables=(*inputs, *derived), nodes=nodes, sources=(self.where,)
        )


def _symbols(text: str) -> list[str]:
    """The names in an expression; none where it cannot be read, which the check says later."""
    try:
        parts = expression.walk(counts.parse(text))
    except ValueError:
        return []
    return [part.name for part in parts if isinstance(part, expression.Sym)]


def _label(word: str, text: str) -> str:
    """A name made of an expression: its letters and digits."""
    return f"{word}_{re.sub(r'[^A-Za-z0-9]+', '_', text).strip('_')[:24]}".rstrip("_")


def _comment(text: str) -> tuple[str, dict[str, str]]:
    """The name and the options behind ``#``."""
    parts = [part.strip() for part in text.split("; ") if part.strip()]
    options = dict(part.partition("=")[::2] for part in parts if "=" in part)
    return next((part for part in parts if "=" not in part), ""), options


def _exact(text: str) -> str:
    """An expression of the text form in the language of counts.

    ValueError where it is none, or where ``a^b^c`` may mean two things.
    """
    if not text:
        raise ValueError("no expression; expected depth:type:expression")
    powers = text.replace("**", "^").replace("^", "**")
    expr = _exact_log2(expression.parse(powers, _FUNCTIONS, any_exponent=True))
    _refuse_chain(powers.strip(), text)
    return expression.show(expr)


def _refuse_chain(powers: str, text: str) -> None:
    """ValueError for ``a^b^c``: MATLAB reads it from the left, other languages from the right."""
    for node in ast.walk(ast.parse(powers, mode="eval")):
        match node:
            case ast.BinOp(op=ast.Pow(), right=ast.BinOp(op=ast.Pow()) as right):
                before = powers.encode()[: right.col_offset].decode().rstrip()
                if not before.endswith("("):
                    hint = "write (a^b)^c or a^(b^c)"
                    raise ValueError(f"{text!r}: a^b^c may mean two things; {hint}")


def _exact_log2(expr: Expr) -> Expr:
    """``log(x)/log(2)`` as ``log2(x)`` and ``mod(a, b)`` as ``a % b``, in all parts."""

    def change(part: Expr) -> Expr:
        match part:
            case Call(function="mod", arguments=(left, right)):
                return Bin("%", left, right)
            case Bin(op="/"):
                return _log2_quotient(part)
        return part

    return expression.rebuild(expr, change)


_LOG_OF_TWO = (Call("log", (Num(2),)), Call("log", (Num(2.0),)))


def _log2_quotient(quotient: Bin) -> Expr:
    over, under = list(_factors(quotient.left)), list(_factors(quotient.right))
    logarithm = next((f for f in over if isinstance(f, Call) and f.function == "log"), None)
    of_two = next((f for f in under if f in _LOG_OF_TWO), None)
    if logarithm is None or of_two is None:
        return quotient
    under.remove(of_two)
    over[over.index(logarithm)] = Call("log2", logarithm.arguments)
    top = _multiplied(over)
    return Bin("/", top, _multiplied(under)) if under else top


def _factors(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Bin) and expr.op == "*":
        yield from _factors(expr.left)
        yield from _factors(expr.right)
    else:
        yield expr


def _multiplied(factors: Iterable[Expr]) -> Expr:
    first, *others = factors
    for factor in others:
        first = Bin("*", first, factor)
    return first


# --- writing --------------------------------------------------------------------------------


def write(model: AssertionModel) -> str:
    """The text of a model; ``read`` gives the same tree back.

    Names, repeats, indices and peers follow after ``#``: a reader that knows only the publication's
    form does not see them.
    """
    lines = [_declaration(v) for v in model.variables if v.unit or v.domain or not v.expression]
    lines += [f"1:{v.name}:{_carets(v.expression)}" for v in model.variables if v.expression]
    lines += _written(model.nodes, 2)
    return "\n".join([*lines, ""])


def _declaration(variable: NamedVariable) -> str:
    text = f"# variable: {variable.name}"
    text += f"; unit={variable.unit}" if variable.unit else ""
    domain = re.sub(r"\s*;", "|", variable.domain)
    return text + (f"; domain={domain}" if domain else "")


def _written(nodes: Iterable[ModelNode], depth: int) -> Iterator[str]:
    for node in nodes:
        options = [] if node.kind in _NAMED else [node.name]
        options += [f"index={node.index}"] * bool(node.index)
        options += [f"peer={node.peer}"] * bool(node.peer)
        options += [f"repeat={node.repeat}"] * (node.repeat != "1")
        text = node.name if node.kind in _NAMED else _carets(node.expression or "0")
        word = "subroutine" if node.kind == "sub" else mpi_word(node)
        comment = f"  # {'; '.join(options)}" if options else ""
        yield f"{depth}:{word}:{text}{comment}"
        yield from _written(node.inner, depth + 1)


_CARETS = FormulaNotation(
    infix=frozenset("+-*/"),
    binary={
        "**": ("{0}^{1}", 5, 4),
        "//": ("({0} // {1})", 3, 9),
        "%": ("({0} % {1})", 3, 9),
    },
    calls={
        name: f"{name}({', '.join(f'{{{place}}}' for place in range(number))})"
        for name, number in counts.COUNT_FUNCTIONS.items()
    },
    condition="({then} if {test} else {other})",
    reserved=frozenset(),
)


def _carets(text: str) -> str:
    """An expression with powers as carets; a power of a power has brackets."""
    return _CARETS.write(counts.parse(text), {})
