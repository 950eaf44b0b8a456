"""Figures of the package as a house: wings, rooms, names, look-alike classes, long functions."""

import ast
import itertools
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "autotune"

REPEATED_MODULES = frozenset(
    {"__init__", "__main__", "base", "command", "document", "figure", "flow", "text"}
)
"""Module names that several rooms may have: the parts of a command, and protocols of a room."""
MOST_LINES = 60
MOST_PARAMETERS = 8
FEWEST_SHARED_FIELDS = 4
SHARED_PART = 0.75


@dataclass(frozen=True, slots=True)
class ClassFields:
    """A class and the names of its annotated fields."""

    place: str
    """``file:line``, relative to the checkout."""
    name: str
    fields: frozenset[str]

    @property
    def file(self) -> str:
        """The file, relative to the checkout."""
        return self.place.rpartition(":")[0]


@cache
def modules() -> Mapping[Path, ast.Module]:
    """Every module of the package, parsed."""
    return {path: ast.parse(path.read_text()) for path in sorted(PACKAGE.rglob("*.py"))}


def place(path: Path, node: ast.stmt) -> str:
    """``file:line`` of a statement, relative to the checkout."""
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def layers() -> list[str]:
    """The layers of the import contract, from the top."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return next(c["layers"] for c in settings["contracts"] if c["type"] == "layers")


def wings() -> list[str]:
    """The folders of the package that hold modules."""
    return sorted({p.relative_to(PACKAGE).parts[0] for p in modules() if p.parent != PACKAGE})


def rooms() -> list[Path]:
    """Every folder with modules: the wings and the rooms inside them."""
    return sorted({path.parent for path in modules() if path.parent != PACKAGE})


def top_entries() -> list[str]:
    """What lies at the top of the package: wings and files, without ``__init__`` and the like."""
    files = [p.stem for p in modules() if p.parent == PACKAGE and not p.name.startswith("_")]
    return sorted([*files, *wings()])


def lines_of_wings() -> dict[str, int]:
    """Lines of source per wing; files at the top of the package count as ``top``."""
    count: Counter[str] = Counter()
    for path in modules():
        parts = path.relative_to(PACKAGE).parts
        count[parts[0] if len(parts) > 1 else "top"] += path.read_text().count("\n")
    return dict(sorted(count.items()))


@cache
def nodes() -> Mapping[Path, Sequence[ast.AST]]:
    """All nodes of every module."""
    return {path: tuple(ast.walk(tree)) for path, tree in modules().items()}


@cache
def classes() -> Sequence[ClassFields]:
    """Every class, private ones too, with its annotated fields."""
    return [
        ClassFields(place(path, node), node.name, frozenset(_fields(node)))
        for path, inner in nodes().items()
        for node in inner
        if isinstance(node, ast.ClassDef)
    ]


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id


def homonyms() -> dict[str, list[str]]:
    """Names that several public classes have, with the places of these classes."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for described in classes():
        if not described.name.startswith("_"):
            places[described.name].append(described.place)
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def repeated_modules() -> dict[str, list[str]]:
    """Names that several modules have, but for those that every room may have."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in modules():
        if path.stem not in REPEATED_MODULES:
            places[path.stem].append(str(path.relative_to(ROOT)))
    return {name: where for name, where in sorted(places.items()) if len(where) > 1}


def prefix_groups() -> dict[str, list[str]]:
    """Three modules or more of a room whose names begin alike, but for the name of the room.

    Such modules are a room of their own.
    """
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for path in modules():
        prefix, joint, _ = path.stem.partition("_")
        if (
            prefix
            and joint
            and prefix not in (path.parent.name, path.parent.name.removesuffix("s"))
        ):
            groups[f"{path.parent.relative_to(ROOT)}/{prefix}_*"].append(path.stem)
    return {name: where for name, where in sorted(groups.items()) if len(where) > 2}


@cache
def look_alikes() -> list[tuple[ClassFields, ClassFields]]:
    """Pairs of classes in different files that share four fields or more, and 75 % of them."""
    wide = [c for c in classes() if len(c.fields) >= FEWEST_SHARED_FIELDS]
    return [
        (first, second)
        for first, second in itertools.combinations(wide, 2)
        if first.file != second.file and _alike(first.fields, second.fields)
    ]


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    shared = len(first & second)
    return shared >= FEWEST_SHARED_FIELDS and shared >= SHARED_PART * min(len(first), len(second))


def repeated_options() -> dict[str, list[str]]:
    """Help texts that several options or arguments of commands have, with their places."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, inner in nodes().items():
        for node in inner:
            if isinstance(node, ast.Call) and ast.unparse(node.func) in _DECLARATIONS:
                texts = [ast.unparse(k.value) for k in node.keywords if k.arg == "help"]
                for text in texts:
                    places[text].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return {text: where for text, where in sorted(places.items()) if len(where) > 1}


_DECLARATIONS = ("typer.Option", "typer.Argument")


@cache
def long_functions() -> list[str]:
    """Functions of more than 60 lines or 8 parameters, each with its place."""
    return [
        f"{place(path, node)} {node.name}: {_length(node)} lines, {_parameters(node)} parameters"
        for path, inner in nodes().items()
        for node in inner
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (_length(node) > MOST_LINES or _parameters(node) > MOST_PARAMETERS)
    ]


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    arguments = node.args
    bags = [bag for bag in (arguments.vararg, arguments.kwarg) if bag]
    return len([*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *bags])


DIALECT = frozenset({"asked", "each", "found", "known", "lent", "one", "own", "told"})
"""Words that say nothing about the value that they name."""


@cache
def dialect() -> list[str]:
    """Places where a value, function, class or attribute has a name that says nothing about it.

    Underscores and upper case make no difference: ``_OWN`` counts like ``own``. ``found`` is the
    word of errors for a text that says what was found; such texts do not count.
    """
    return [
        f"{path.relative_to(ROOT)}:{node.lineno} {name}"
        for path, inner in nodes().items()
        for texts in [_texts(inner)]
        for node in inner
        if isinstance(node, _BINDING)
        if (name := _bound(node)).strip("_").lower() in DIALECT and node not in texts
    ]


_BINDING = (
    ast.Name | ast.Attribute | ast.arg | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
)


def _bound(
    node: ast.Name
    | ast.Attribute
    | ast.arg
    | ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.ClassDef,
) -> str:
    """The name that a node gives to something, empty where it only reads."""
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if not isinstance(node.ctx, ast.Store):
        return ""
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _texts(inner: Sequence[ast.AST]) -> set[ast.AST]:
    """Names, fields and parameters that are bound to a text."""
    texts: set[ast.AST] = set()
    for node in inner:
        if isinstance(node, ast.Assign) and _is_text(node.value):
            texts.update(node.targets)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            for target in node.targets:
                if isinstance(target, ast.Tuple):
                    pairs = zip(target.elts, node.value.elts, strict=False)
                    texts.update(name for name, value in pairs if _is_text(value))
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "str":
            texts.add(node.target)
        elif (
            isinstance(node, ast.arg) and node.annotation and ast.unparse(node.annotation) == "str"
        ):
            texts.add(node)
    return texts


def _is_text(value: ast.expr) -> bool:
    if isinstance(value, ast.IfExp):
        return _is_text(value.body) and _is_text(value.orelse)
    if isinstance(value, ast.BoolOp):
        return any(map(_is_text, value.values))
    if isinstance(value, ast.BinOp):
        return _is_text(value.left)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr == "join"
    return isinstance(value, ast.JoinedStr) or (
        isinstance(value, ast.Constant) and isinstance(value.value, str)
    )


@cache
def arrows() -> set[tuple[str, str]]:
    """Pairs of rooms of which the first imports from the second."""
    paths = {".".join(p.relative_to(ROOT).with_suffix("").parts): p for p in modules()}
    pairs = set()
    for path, inner in nodes().items():
        for node in inner:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("autotune."):
                for target in _targets(node, paths):
                    if target != path.parent:
                        pairs.add((_room(path.parent), _room(target)))
    return pairs


def _targets(node: ast.ImportFrom, paths: Mapping[str, Path]) -> set[Path]:
    names = [f"{node.module}.{alias.name}" for alias in node.names]
    candidates = [paths.get(n) or paths.get(f"{node.module}") for n in names]
    folder = ROOT / Path(*(node.module or "").split("."))
    return {c.parent if c else folder for c in candidates}


def _room(folder: Path) -> str:
    return str(folder.relative_to(PACKAGE.parent))


def shown(places: Mapping[str, Sequence[str]]) -> str:
    """Names with their places, a line each."""
    return "\n".join(f"{name}: {', '.join(where)}" for name, where in places.items())
