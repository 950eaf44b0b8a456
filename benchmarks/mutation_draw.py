"""Mutants of the package, and a draw of them that a seed fixes.

The mutations are those of Cosmic Ray. A place is a span of the source that Cosmic Ray can change;
a draw takes places first and then one mutation of each, so that an addition, which eleven
operators may replace, weighs no more than a number. Every place is ranked by a hash of the seed,
its file, its function and its line of source: a change elsewhere in the package does not change
whether it is drawn.

Left out are places that no test can see or that any test sees: annotations, decorators, the words
of errors (``raise``) and of f-strings, ``strict=True`` of ``zip``, and operators that the operands
do not have (``<<`` for ``+`` ends any program on floats).
"""

import ast
import difflib
import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import mutate_code

AREAS = {
    "prediction": ("autotune/models/engines",),
    "traffic": ("autotune/models/traffic",),
    "statistics": ("autotune/statistics",),
    "search": ("autotune/tuning/search",),
}
_ALIKE = (
    {"Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"},
    {"BitOr", "BitAnd", "BitXor"},
    {"LShift", "RShift"},
    {"Lt", "LtE", "Gt", "GtE", "Eq", "NotEq"},
    {"Is", "IsNot"},
    {"UAdd", "USub"},
    {"Delete", "Not"},
)
"""Operators that replace one another: the operands of one have the others too."""
_OTHERS = {
    "AddNot",
    "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue",
    "ReplaceAndWithOr",
    "ReplaceOrWithAnd",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ExceptionReplacer",
    "NumberReplacer",
    "ZeroIterationForLoop",
}


@dataclass(frozen=True)
class Mutant:
    """One change of one place of a file."""

    path: str
    """Of the file, from the root of the tree."""
    line: int
    place: str
    """What names the place in every draw: file, function, line of source, column, count."""
    operator: str
    """A name of Cosmic Ray."""
    occurrence: int
    """Which of the places of this file that the operator can change."""

    @property
    def name(self) -> str:
        return f"{self.place}|{self.operator}|{self.variant}"

    @property
    def variant(self) -> int:
        """A number is raised (0) or lowered (1); every other operator has one variant."""
        return self.occurrence % 2 if self.operator == "core/NumberReplacer" else 0

    def text(self, source: str) -> str:
        """The source with this change."""
        operator = cosmic_ray.plugins.get_operator(self.operator)()
        return str(mutate_code(source, operator, self.occurrence))

    def diff(self, source: str) -> str:
        lines = difflib.unified_diff(source.split("\n"), self.text(source).split("\n"), n=0)
        return "\n".join(itertools.islice(lines, 3, None))


def drawn(root: Path, area: str, count: int, seed: int) -> list[Mutant]:
    """So many mutants of an area, each of another place; all places where there are fewer."""
    places: dict[str, list[Mutant]] = {}
    for mutant in _mutants(root, AREAS[area]):
        places.setdefault(mutant.place, []).append(mutant)
    ranked = sorted(places, key=lambda place: _hash(seed, place))[:count]
    return [min(places[place], key=lambda mutant: _hash(seed, mutant.name)) for place in ranked]


def _hash(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed}|{name}".encode()).hexdigest()


def _mutants(root: Path, folders: tuple[str, ...]) -> Iterator[Mutant]:
    operators = [name for name in cosmic_ray.plugins.operator_names() if _sensible(name)]
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            yield from _of_file(path.relative_to(root).as_posix(), path.read_text(), operators)


def _sensible(name: str) -> bool:
    kind = name.removeprefix("core/")
    words = set(kind.split("_")[1:])
    return kind in _OTHERS or (bool(words) and any(words <= alike for alike in _ALIKE))


def _of_file(path: str, source: str, operators: list[str]) -> Iterator[Mutant]:
    hidden = _hidden(source)
    lines = source.split("\n")
    counts: dict[tuple[str, str, int], dict[int, int]] = {}
    nodes = list(ast_nodes(get_ast(source)))
    for name in operators:
        operator = cosmic_ray.plugins.get_operator(name)()
        positions = ((n, p) for n in nodes for p in operator.mutation_positions(n))
        for occurrence, (node, (start, end)) in enumerate(positions):
            if any(first <= start and end <= last for first, last in hidden):
                continue
            function = str(ASTQuery(node).get_definition_name())
            alike = counts.setdefault((function, lines[start[0] - 1].strip(), start[1]), {})
            count = alike.setdefault(start[0], len(alike))
            place = f"{path}|{function}|{lines[start[0] - 1].strip()}|{start[1]}|{count}"
            yield Mutant(path, start[0], place, name, occurrence)


Span = tuple[tuple[int, int], tuple[int, int]]


def _hidden(source: str) -> list[Span]:
    """Spans of the source that are left out, as line and column of their ends."""
    spans = []
    for node in ast.walk(ast.parse(source)):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.arg | ast.AnnAssign):
            parts.append(node.annotation)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            parts += node.decorator_list
        if isinstance(node, ast.FunctionDef):
            parts.append(node.returns)
        if isinstance(node, ast.keyword) and node.arg == "strict":
            parts.append(node.value)
        if isinstance(node, ast.Raise | ast.JoinedStr):
            parts.append(node)
        spans += [_span(part) for part in parts if part is not None]
    return spans


def _span(node: ast.AST) -> Span:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
