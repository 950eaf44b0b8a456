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
PARTS = frozenset(("ivp", "stencil"))
"""Attributes that only the problems and models of one family have."""
FEATURES = PARTS | {"program", "method", "correctors", "extents", "skeleton", "space"}
"""Names of attributes that tell a family when they are present."""
OTHERS = frozenset(("loop_tree", "ast"))
"""Modules whose classes have the name of a class of a family: ``loop_tree.Program``."""
ANSWERS = ("workloads", "domain")
"""Wings in which the kinds answer for themselves."""


def branches(package: Path) -> list[str]:
    """``file:line: code`` of every branch on the family outside ``ANSWERS``.

    Counted are: ``isinstance`` against a class of a family and ``type(x) is`` one, also where the
    class is written with its module; ``hasattr`` of what only one family has; a pattern of a
    ``match`` that names a class; a comparison with the name of a family; ``x.family`` in a
    comparison, and it or ``family`` as a key; ``x.ivp`` or ``x.stencil`` that is, or is not, None;
    ``x.on_grid`` as a condition or in a comparison; and a test whether a setup has a program.
    """
    return [
        f"{path.relative_to(package.parent)}:{node.lineno}: {ast.unparse(node)}"
        for path in sorted(package.rglob("*.py"))
        if path.relative_to(package).parts[0] not in ANSWERS
        for node in _branches(ast.parse(path.read_text(encoding="utf-8")))
    ]


def _branches(tree: ast.AST) -> Iterator[ast.expr | ast.pattern]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if _calls_for_family(node):
                yield node
        elif isinstance(node, ast.Compare):
            if any(test(node) for test in (_compares_family, _tests_part, _compares_type)):
                yield node
        elif isinstance(node, ast.MatchClass):
            if _names(node.cls) & CLASSES:
                yield node
        elif isinstance(node, ast.Subscript):
            if _is_family(node.slice) or _named(node.slice) == "family":
                yield node
        elif isinstance(node, ast.comprehension):
            yield from (test for test in node.ifs if _is_condition(test))
        elif isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            yield from (test for test in [node.test] if _is_condition(test))
        elif isinstance(node, ast.BoolOp):
            yield from (value for value in node.values if _is_condition(value))
        elif isinstance(node, ast.UnaryOp) and _is_condition(node.operand):
            yield node.operand


def _names(node: ast.AST) -> set[str]:
    """The names of classes in an expression, without their modules.

    ``loop_tree.Program`` is no class of a family.
    """
    dotted = {
        part.attr
        for part in ast.walk(node)
        if isinstance(part, ast.Attribute) and _named(part.value) not in OTHERS
    }
    return dotted | {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _named(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _calls_for_family(node: ast.Call) -> bool:
    """``isinstance(x, StencilProblem)``, ``hasattr(x, "stencil")``."""
    if _named(node.func) in ("isinstance", "issubclass"):
        return bool(_names(node.args[1]) & CLASSES)
    if _named(node.func) in ("hasattr", "getattr"):
        name = node.args[1]
        return isinstance(name, ast.Constant) and name.value in FEATURES
    return False


def _compares_type(node: ast.Compare) -> bool:
    """``type(x) is StencilProblem``, ``type(x) in (Problem, StencilProblem)``."""
    sides = [node.left, *node.comparators]
    types = any(isinstance(s, ast.Call) and _named(s.func) == "type" for s in sides)
    return types and any(_names(s) & CLASSES for s in sides if not isinstance(s, ast.Call))


def _is_family(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "family"


def _is_condition(node: ast.AST) -> bool:
    """Whether a value that is true or false tells the family: a program, a grid."""
    return _is_program(node) or (isinstance(node, ast.Attribute) and node.attr == "on_grid")


def _compares_family(node: ast.Compare) -> bool:
    """Whether a family or its name is compared; ``{program}`` of a command line is none."""
    sides = [node.left, *node.comparators]
    if any(_is_family(side) or _is_condition(side) for side in sides):
        return True
    if any(_named(side) == "family" for side in sides) and isinstance(
        node.ops[0], ast.Eq | ast.NotEq
    ):
        # the family of a processor is a number
        return not any(isinstance(s, ast.Constant) and isinstance(s.value, int) for s in sides)
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


def _tests_part(node: ast.Compare) -> bool:
    """``kernel.ivp is None``."""
    none = any(isinstance(side, ast.Constant) and side.value is None for side in node.comparators)
    return none and isinstance(node.left, ast.Attribute) and node.left.attr in PARTS
