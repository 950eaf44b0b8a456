"""Floating-point operators of a program by basic block, from a dump of gcc.

gcc writes the dump with ``-fdump-tree-ssa-lineno``: every function as basic blocks of simple
statements, each with its place in the source, and with the type of every variable. It is written
before any optimization, so that a statement is what the source says, at every ``-O``.

Counted are + - * / of real numbers, a square root (one) and a fused multiply-add (two). Complex
numbers count as their real parts are computed: + and - 2, * 6, / 11. Operations on vectors count by
lane. Not counted are negations, comparisons, conversions and other functions.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class SourceLine(NamedTuple):
    """A line of a source file, named as the compiler was called with it."""

    file: str
    line: int


class LineOperators(NamedTuple):
    """Floating-point operations that a line does in a basic block, each time it runs."""

    place: SourceLine
    operations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpedBlock:
    """A basic block; it ends by a jump to one of ``successors``."""

    number: int
    operators: tuple[LineOperators, ...]
    successors: tuple[int, ...]
    """Numbers of blocks; of a condition first the one where it holds."""
    condition: SourceLine | None
    """Where the condition is that chooses among two successors; None: there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DumpedFunction:
    """A function; its first block is entered by calls."""

    name: str
    """As the assembler knows it."""
    blocks: tuple[DumpedBlock, ...]


_FUNCTION = re.compile(r"^;; Function .*?\((\S+?), funcdef_no=", re.M)
_BLOCK = re.compile(r"^  <bb (\d+)> .*?:$", re.M)
_PLACE = re.compile(r"\[([^\[\]\n]*):(\d+):\d+\] ")
_DECLARED = re.compile(r"^  (\S.*?[ *&])([\w.$]+)(?: \[[^\n]*\])?;$", re.M)
_ASSIGNED = re.compile(r"^([\w.$]+(?:\(D\))?) = (.+);$")
_OPERATION = re.compile(r"^(\S.*?) ([-+*/]) (\S.*)$")
_ROOT = re.compile(r"^(?:__builtin_)?sqrt(?:f|l|f\d+x?)? \(|^\.SQRT \(")
_FUSED = re.compile(r"^(?:__builtin_)?fma(?:f|l|f\d+x?)? \(|^\.FN?M[AS] \(")
_REAL = re.compile(
    r"(?:const |volatile )*(?:vector\(\d+\) )?(?:complex )?"
    r"(?:float|(?:long )?double|_Float\d+x?|__bf16|_Decimal\d+|(?:real|complex)\(kind=\d+\))"
)
_LITERAL = re.compile(r"^[-+]?(?:\d+\.\d*e[-+]?\d+|Inf|Nan)\b", re.I)
_VECTOR = re.compile(r"\bvector\((\d+)\)")
_VERSION = re.compile(r"_\d+(?:\(D\))?$")
_COMPLEX = {"+": 2, "-": 2, "*": 6, "/": 11}


def read_dump(text: str) -> tuple[DumpedFunction, ...]:
    """The functions of a dump.

    >>> functions = read_dump('''
    ... ;; Function f (f, funcdef_no=0, decl_uid=1, cgraph_uid=1, symbol_order=0)
    ...
    ... double f (double x)
    ... {
    ...   double _1;
    ...
    ...   <bb 2> :
    ...   [a.c:3:4] _1 = x_2(D) * x_2(D);
    ...   [a.c:3:4] return _1;
    ...
    ... }
    ... ''')
    >>> functions[0].blocks[0].operators
    (LineOperators(place=SourceLine(file='a.c', line=3), operations=1),)
    """
    heads = list(_FUNCTION.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    bodies = {h.group(1): text[h.end() : end] for h, end in zip(heads, ends, strict=True)}
    aliases = _real_aliases(bodies)
    return tuple(
        DumpedFunction(name=name, blocks=tuple(_blocks(body, _types(body, aliases))))
        for name, body in bodies.items()
    )


# --- types ----------------------------------------------------------------------------------


def _declarations(body: str) -> Iterator[tuple[str, str]]:
    """Variables, and their types as text, of a function; parameters too."""
    head = body[: body.find("\n{")]
    signature = head.rsplit("\n", 1)[-1]
    start = signature.find(" (")
    for parameter in signature[start + 2 : -1].split(", "):
        kind, _, name = parameter.rpartition(" ")
        yield name, kind
    for kind, name in _DECLARED.findall(body[: body.find("\n  <bb ")]):
        yield name, kind


def _types(body: str, aliases: frozenset[str]) -> Mapping[str, str]:
    """The type of every variable that is a real or complex number or a vector of these; an empty
    text for others, and for names that stand for variables of several types.
    """
    types: dict[str, str] = {}
    for name, kind in _declarations(body):
        real = kind if _REAL.fullmatch(kind.strip()) else ""
        if not real and kind.strip() in aliases:
            real = "double"
        types[name] = real if types.get(name, real) == real else ""
    return types


def _real_aliases(bodies: Mapping[str, str]) -> frozenset[str]:
    """Names by typedef of real types: their variables stand beside real ones in operations."""
    aliases: set[str] = set()
    for body in bodies.values():
        kinds = {name: kind.strip() for name, kind in _declarations(body)}
        types = _types(body, frozenset())
        for statement, _ in _statements(body):
            assigned = _ASSIGNED.match(statement)
            operation = assigned and _OPERATION.match(assigned.group(2))
            if assigned and operation:
                operands = (assigned.group(1), operation.group(1), operation.group(3))
                if any(_type(operand, types) for operand in operands):
                    aliases.update(kinds.get(_VERSION.sub("", name), "") for name in operands)
    return frozenset(alias for alias in aliases if alias.isidentifier())


def _type(operand: str, types: Mapping[str, str]) -> str:
    """The type of an operand if it is a real number, else an empty text."""
    if operand in types:
        return types[operand]
    if _LITERAL.match(operand):
        return "double"
    return types.get(_VERSION.sub("", operand), "")


# --- blocks ---------------------------------------------------------------------------------


def _statements(body: str) -> Iterator[tuple[str, SourceLine | None]]:
    """The statements of a text without their places, and the place of each."""
    for line in body.split("\n"):
        place = _PLACE.match(line.lstrip())
        yield (
            _PLACE.sub("", line).strip(),
            SourceLine(place.group(1), int(place.group(2))) if place else None,
        )


def _blocks(body: str, types: Mapping[str, str]) -> Iterator[DumpedBlock]:
    heads = list(_BLOCK.finditer(body))
    ends = [*(head.start() for head in heads[1:]), len(body)]
    labels = {
        label: int(head.group(1))
        for head, end in zip(heads, ends, strict=True)
        for label in re.findall(r"<L\d+>(?=:)", body[head.end() : end])
    }
    for head, end in zip(heads, ends, strict=True):
        number = int(head.group(1))
        text = body[head.end() : end]
        operators: dict[SourceLine, int] = {}
        condition: SourceLine | None = None
        falls = True
        successors = [int(target) for target in re.findall(r"goto <bb (\d+)>;", text)]
        for statement, place in _statements(text):
            if statement.startswith(("if (", "switch (", "return", "goto ")):
                falls = False
            if statement.startswith("if ("):
                condition = place
            if statement.startswith("switch ("):
                successors = [labels[name] for name in re.findall(r"<L\d+>", statement)]
            if place and (operations := _operations(statement, types)):
                operators[place] = operators.get(place, 0) + operations
        yield DumpedBlock(
            number=number,
            operators=tuple(LineOperators(*item) for item in operators.items()),
            successors=tuple(successors) if successors or not falls else (number + 1,),
            condition=condition,
        )


def _operations(statement: str, types: Mapping[str, str]) -> int:
    """The floating-point operations of a statement."""
    assigned = _ASSIGNED.match(statement)
    if assigned is None:
        return 0
    result, value = assigned.groups()
    if _ROOT.match(value):
        return 1
    if _FUSED.match(value):
        return 2 * _lanes(_type(result, types))
    operation = _OPERATION.match(value)
    if operation is None or value.startswith(("(", "PHI", "{")):
        return 0
    left, operator, right = operation.groups()
    kinds = [_type(operand, types) for operand in (result, left, right)]
    kind = max(kinds, key=len)
    if not kind:
        return 0
    return _lanes(kind) * (_COMPLEX[operator] if "complex" in kind else 1)


def _lanes(kind: str) -> int:
    vector = _VECTOR.search(kind)
    return int(vector.group(1)) if vector else 1
