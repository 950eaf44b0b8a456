"""Where the code asks which kind of problem it has before it, instead of asking the kind."""

import ast
from collections.abc import Iterator
from pathlib import Path

CLASSES = frozenset(
    [
        "Problem",
        "StencilProblem",
        "ProgramProblem",
        "Program",
        "Generated",
        "GeneratedProblem",
        "GeneratedWorkload",
        "ProgramWorkload",
        "IvpKind",
        "StencilKind",
        "Ivp",
        "Stencil",
    ]
)
"""The classes of a family: what is only true of one or two of the kinds of problems."""
FAMILIES = frozenset(("ivp", "stencil", "program"))
ANSWERS = ("workloads", "domain")
"""Wings in which the kinds answer for themselves."""


def branches(package: Path) -> list[str]:
    """``file:line: code`` of every branch on the family outside ``ANSWERS``.

    Counted are: ``isinstance`` against a class of a family, a pattern of a ``match`` that names
    one, a comparison with the name of a family, and a test whether a setup has a program.
    """
    return [
        f"{path.relative_to(package.parent)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in ANSWERS
        for node in _branches(ast.parse(path.read_text(encoding="utf-8")))
    ]


def _branches(tree: ast.AST) -> Iterator[ast.expr | ast.pattern]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
            if _names(node.args[1]) & CLASSES:
                yield node
        elif (isinstance(node, ast.MatchClass) and _names(node.cls) & CLASSES) or (
            isinstance(node, ast.Compare) and (_compares_family(node) or _tests_program(node))
        ):
            yield node
        elif isinstance(node, ast.If | ast.IfExp) and _is_program(node.test):
            yield node.test
        elif isinstance(node, ast.BoolOp):
            yield from (value for value in node.values if _is_program(value))
        elif isinstance(node, ast.UnaryOp) and _is_program(node.operand):
            yield node.operand


def _names(node: ast.AST) -> set[str]:
    """The names of classes in an expression; ``loop_tree.Program`` is another one."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _compares_family(node: ast.Compare) -> bool:
    """Whether the name of a family is compared with; ``{program}`` of a command line is none."""
    sides = [node.left, *node.comparators]
    if any(isinstance(side, ast.Name) and side.id == "program" for side in sides):
        return False
    listed = [
        part
        for side in sides
        for part in (side.elts if isinstance(side, ast.Tuple | ast.List | ast.Set) else [side])
    ]
    return any(isinstance(part, ast.Constant) and part.value in FAMILIES for part in listed)


def _is_program(node: ast.AST) -> bool:
    """``setup.program``, also at the end of a longer chain of attributes."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "program"
        and ast.unparse(node.value).split(".")[-1].endswith("setup")
    )


def _tests_program(node: ast.Compare) -> bool:
    return _is_program(node.left) and isinstance(node.ops[0], ast.Is | ast.IsNot)
