"""Draws commands with semantic mutations: well-formed files and options with wrong values."""

import json
import random
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import fuzz_values as values
import typer
import yaml
from fuzz_scene import STORE

from autotune.commands.app import app


@dataclass(frozen=True)
class Case:
    """One command, and the files of the scene that differ for it."""

    number: int
    title: str
    words: tuple[str, ...]
    files: Mapping[str, bytes]


class Raw(str):
    """Text that is written into YAML as it is."""


Path_ = tuple[str | int, ...]

READERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "ivp.yaml": (
        ("rank", "ivp.yaml"),
        ("predict", "ivp.yaml"),
        ("variants", "ivp.yaml", "--illegal"),
        ("rank", "ivp.yaml", "--why", "jli-pad5"),
        ("predict", "ivp.yaml", "--formula", "jli-pad5"),
        ("tune", "ivp.yaml", "--budget-seconds", "4"),
        ("tune", "ivp.yaml", "--emit-job", "job"),
        ("learn", "design", "ivp.yaml", "-n", "4"),
        ("measure", "ivp.yaml", "--candidate", "jli-pad5"),
    ),
    "stencil.yaml": (
        ("rank", "stencil.yaml"),
        ("predict", "stencil.yaml", "--engine", "both"),
        ("variants", "stencil.yaml"),
        ("rank", "stencil.yaml", "--engine", "reuse"),
    ),
    "study.yaml": (
        ("rank", "study.yaml"),
        ("tune", "study.yaml", "--budget-evaluations", "2"),
        ("map", "study.yaml", "--sizes", "50,100", "--budget-evaluations", "2"),
        ("import", "rows.csv", "study.yaml"),
        ("measure", "study.yaml", "--candidate", "16-ji"),
        ("tune", "study.yaml", "--resume", "--store", STORE),
    ),
    "ranks.yaml": (("rank", "ranks.yaml"), ("predict", "ranks.yaml", "--engine", "kerncraft")),
    "published.yaml": (("compare", "published.yaml"),),
    "machine.yaml": (
        ("machine", "check", "machine.yaml"),
        ("machine", "show", "machine.yaml"),
        ("rank", "ivp.yaml"),
        ("predict", "stencil.yaml"),
        ("rank", "matmul-study.yaml"),
    ),
    "haswell.yaml": (
        ("machine", "check", "haswell.yaml"),
        ("rank", "ranks.yaml"),
        ("comm", "show", "haswell.yaml"),
        ("rank", "ranks.yaml", "--engine", "kerncraft"),
    ),
    "heat.yaml": (("rank", "ivp.yaml"), ("variants", "ivp.yaml"), ("predict", "ivp.yaml")),
    "wave.yaml": (("rank", "ranks.yaml"),),
    "radau.yaml": (("rank", "ivp.yaml"), ("variants", "ivp.yaml")),
    "star.yaml": (("rank", "stencil.yaml"), ("rank", "stencil.yaml", "--engine", "reuse")),
    "variable.yaml": (("predict", "stencil.yaml"), ("rank", "stencil.yaml", "--engine", "reuse")),
    "pirk.yaml": (("rank", "ivp.yaml"), ("variants", "ivp.yaml")),
    "jacobi.yaml": (("rank", "stencil.yaml"),),
    "orders.yaml": (("rank", "ivp.yaml"), ("variants", "ivp.yaml", "--illegal")),
    "blocks.yaml": (("rank", "stencil.yaml"), ("variants", "stencil.yaml", "--illegal")),
    "program.yaml": (
        ("rank", "study.yaml"),
        ("variants", "study.yaml", "--illegal"),
        ("tune", "study.yaml", "--budget-evaluations", "1"),
        ("measure", "study.yaml", "--candidate", "16-ji"),
        ("rank", "study.yaml", "--why", "16-ji"),
    ),
    "matmul.yaml": (("rank", "matmul-study.yaml"), ("variants", "matmul-study.yaml")),
    "design.yaml": (
        ("learn", "design", "design.yaml", "-n", "5"),
        ("learn", "design", "design.yaml", "--kind", "d-optimal", "-n", "6"),
        ("learn", "design", "design.yaml", "--kind", "full-factorial"),
        ("learn", "design", "design.yaml", "--kind", "plackett-burman", "--levels", "3"),
    ),
    "network.yaml": (("comm", "show", "network.yaml"), ("comm", "show", "network.yaml", "--json")),
    "table.yaml": (("compare", "published.yaml"),),
}
"""The YAML files of a scene, and the commands that read each."""

DATA: dict[str, tuple[tuple[str, ...], ...]] = {
    "runs.csv": (
        ("learn", "show", "runs.csv"),
        ("learn", "fit", "runs.csv", "--models", "ridge,pmnf"),
        ("learn", "compare", "runs.csv", "--models", "ridge", "--repeats", "1"),
        ("scale", "runs.csv", "--processors", "ranks", "--size", "nx*ny", "--time", "total_s"),
        ("scale", "runs.csv", "--processors", "ranks", "--size", "nx", "--time", "total_s",
         "--computation", "comp_s", "--communication", "comm_s", "--grid", "px,py"),
        ("scale", "runs.csv", "--processors", "ranks", "--size", "nx", "--time", "total_s",
         "--method", "self-generated"),
    ),
    "rows.csv": (
        ("import", "rows.csv", "study.yaml", "--given", "n=1000"),
        ("tune", "--replay", "rows.csv"),
        ("learn", "show", "rows.csv"),
        ("learn", "fit", "rows.csv", "--predict", "rows.csv"),
    ),
    "samples.jsonl": (("comm", "fit", "samples.jsonl"), ("comm", "fit", "samples.jsonl", "--json")),
    "osu.txt": (("comm", "import", "osu.txt", "--ranks", "16", "--nodes", "2"),),
    "extrap.txt": (("learn", "show", "extrap.txt"), ("learn", "fit", "extrap.txt")),
    "model.xml": (
        ("learn", "show", "results.xml", "--model", "model.xml"),
        ("learn", "design", "results.xml", "--model", "model.xml"),
    ),
    "results.xml": (("learn", "show", "results.xml"), ("learn", "show", "results.xml", "--model",
                                                       "model.xml")),
    STORE: (
        ("compare", "made", "--store", STORE),
        ("report", "made", "--store", STORE),
        ("tune", "study.yaml", "--resume", "--store", STORE),
    ),
}  # fmt: skip
"""Other files of a scene, and the commands that read each."""

SHORT = ("--budget-seconds", "2")
COMMANDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("doctor",): (),
    ("init",): ("matmul.c", "-o", "made-by-init"),
    ("variants",): ("study.yaml",),
    ("predict",): ("ivp.yaml",),
    ("rank",): ("ivp.yaml",),
    ("tune",): ("study.yaml", "--budget-evaluations", "1"),
    ("measure",): ("study.yaml", "--candidate", "16-ji"),
    ("compare",): ("made", "--store", STORE),
    ("evaluate",): ("made", "--store", STORE, "--fewer", "--repeats", "1"),
    ("report",): ("made", "--store", STORE),
    ("export",): ("made", "--store", STORE),
    ("import",): ("rows.csv", "study.yaml", "--given", "n=1000"),
    ("mirror",): ("made", "--store", STORE),
    ("map",): ("study.yaml", "--sizes", "50,100", "--budget-evaluations", "2"),
    ("scale",): ("runs.csv", "--processors", "ranks", "--size", "nx*ny", "--time", "total_s"),
    ("schema",): ("machine",),
    ("machine", "list"): (),
    ("machine", "show"): ("machine.yaml",),
    ("machine", "check"): ("machine.yaml",),
    ("machine", "detect"): (),
    ("machine", "refine"): ("made", "--store", STORE),
    ("comm", "bench"): ("--operations", "barrier", "--sizes", "8 B", "--repeats", "1", *SHORT),
    ("comm", "fit"): ("samples.jsonl",),
    ("comm", "show"): ("network.yaml",),
    ("comm", "import"): ("osu.txt", "--ranks", "16", "--nodes", "2"),
    ("learn", "design"): ("design.yaml", "-n", "5"),
    ("learn", "show"): ("runs.csv",),
    ("learn", "compare"): ("runs.csv", "--models", "ridge", "--sizes", "8", "--repeats", "1"),
    ("learn", "fit"): ("runs.csv", "--models", "ridge"),
}
"""Every command with arguments that it can work with; a calibration, that takes seconds, apart."""

WRITTEN = ("output", "report", "mirror", "emit_job", "with_reader")


def draw(number: int, seed: int) -> Case:
    """The case of this number; the same for the same seed."""
    chance = random.Random(f"{seed}:{number}")
    kinds: list[Callable[[int, random.Random], Case]] = [_yaml, _yaml, _yaml, _option, _option]
    return chance.choice([*kinds, _data, _exchanged])(number, chance)


# --- YAML files ------------------------------------------------------------------------------


def _yaml(number: int, chance: random.Random) -> Case:
    name = chance.choice(tuple(READERS))
    words = _with_json(chance.choice(READERS[name]), chance)
    tree = yaml.safe_load(_scene_text(name))
    titles = [_mutate(tree, chance) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    text = "".join(f"{_flow(key)}: {_flow(value)}\n" for key, value in tree.items())
    if chance.random() < 0.05:
        insert = chance.choice(
            ("<<: {title: x}\n", "extra: &a [*a]\n", "extra: !!python/name:os.system x\n",
             "? [a, b]\n: 1\n", "--- \n", "title: x\n" * 3, "\t- x\n", "extra: *nothing\n")
        )  # fmt: skip
        text, titles = text + insert, [*titles, f"text {insert!r}"]
    data = text.encode("utf-8", "surrogatepass")
    return Case(number, f"{name}: {'; '.join(titles)}", words, {name: data})


def _scene_text(name: str) -> str:
    import fuzz_scene

    if name in fuzz_scene.TEXTS:
        return fuzz_scene.TEXTS[name]
    path: Path = fuzz_scene.REPOSITORY / fuzz_scene.SHIPPED[name]
    return path.read_text(encoding="utf-8").replace("../../examples/matmul", ".")


def _places(tree: object, path: Path_ = ()) -> Iterator[Path_]:
    if isinstance(tree, dict):
        pairs: list[tuple[str | int, object]] = list(tree.items())
    elif isinstance(tree, list):
        pairs = list(enumerate(tree))
    else:
        return
    for key, value in pairs:
        if path or key != "schema":
            yield (*path, key)
            yield from _places(value, (*path, key))


def _at(tree: typing.Any, path: Path_) -> typing.Any:
    for key in path:
        tree = tree[key]
    return tree


def _mutate(tree: dict[str, object], chance: random.Random) -> str:
    """Change one place of a tree; what was done."""
    places = list(_places(tree))
    if not places:
        return "nothing left"
    path = chance.choice(places)
    parent, key = _at(tree, path[:-1]), path[-1]
    old = parent[key]
    kind = chance.choice(
        ("value",) * 8
        + ("mild",) * 4
        + ("other",) * 2
        + ("delete", "swap", "copy", "rename", "many", "wrap", "add")
    )
    if kind == "value":
        new = _hostile(old, chance)
        parent[key] = new
    elif kind == "mild":
        parent[key] = new = _mild(old, chance)
    elif kind == "other":
        parent[key] = new = chance.choice(([], {}, [[]], {"x": {}}, [None], *_ALL_VALUES))
    elif kind == "delete":
        del parent[key]
        new = None
    elif kind == "swap":
        other = chance.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))
        parent[key], parent[other] = parent[other], parent[key]
        new = other
    elif kind == "copy":
        source = chance.choice(places)
        new = json.loads(json.dumps(_at(tree, source), default=str))
        parent[key] = new
    elif kind == "rename" and isinstance(parent, dict):
        new = chance.choice(values.NAMES)
        parent[new] = parent.pop(key)
    elif kind == "many":
        new = chance.choice((2, 30, 2000))
        parent[key] = (old if isinstance(old, list) else [old]) * new
    elif kind == "wrap":
        new = [old] if chance.random() < 0.5 else {"value": old}
        parent[key] = new
    else:
        new = chance.choice(values.NAMES)
        target = old if isinstance(old, dict) else tree
        target[new] = _hostile(None, chance)
    return f"{kind} {'.'.join(map(str, path))}: {str(new)[:80]!r}"


def _mild(old: object, chance: random.Random) -> object:
    """A value that looks right: another number in the same text."""
    if isinstance(old, bool) or not isinstance(old, (int, float, str)):
        return chance.choice(([], {}, old))
    if not isinstance(old, str):
        return chance.choice((1, 2, 3, 5, 7, 97, 4099, 65536, old + 1, old * 10, old / 3))
    number = chance.choice(("1", "2", "3", "0.5", "7", "10", "63", "1000", "1e6", "0"))
    return re.sub(r"\d+(\.\d+)?", number, old, count=chance.choice((0, 1))) if old else old


def _hostile(old: object, chance: random.Random) -> object:
    """A wrong value that resembles the old one."""
    if isinstance(old, (int, float)) and chance.random() < 0.7:
        return chance.choice((*values.NUMBERS, old * 1000, -old, str(old)))
    if not isinstance(old, str):
        return chance.choice(_ALL_VALUES)
    if old.endswith((".yaml", ".c", ".py")) and chance.random() < 0.6:
        return chance.choice(values.PATHS)
    if old[:1].isdigit() and " " in old and chance.random() < 0.7:
        return chance.choice(values.QUANTITIES)
    if any(sign in old for sign in "+*/([") and chance.random() < 0.8:
        return _formula(old, chance)
    return chance.choice(_ALL_VALUES)


def _formula(old: str, chance: random.Random) -> str:
    new = chance.choice(values.FORMULAS)
    return chance.choice((new, f"{old} + ({new})", f"({old}) * ({new})", f"({new})**({old})"))


_ALL_VALUES: tuple[object, ...] = (
    *values.NUMBERS, *values.QUANTITIES, *values.NAMES, *values.FORMULAS, *values.PATHS,
)  # fmt: skip


def _flow(tree: object) -> str:
    """YAML in flow style: that of JSON, with numbers that JSON does not have."""
    if isinstance(tree, dict):
        return "{" + ", ".join(f"{_flow(k)}: {_flow(v)}" for k, v in tree.items()) + "}"
    if isinstance(tree, list):
        return "[" + ", ".join(map(_flow, tree)) + "]"
    if isinstance(tree, float) and tree != tree:
        return ".nan"
    if isinstance(tree, float) and tree in (float("inf"), float("-inf")):
        return "-.inf" if tree < 0 else ".inf"
    return json.dumps(str(tree) if isinstance(tree, (Raw, bytes)) else tree, default=str)


# --- other files -----------------------------------------------------------------------------


def _data(number: int, chance: random.Random) -> Case:
    name = chance.choice(tuple(DATA))
    words = _with_json(chance.choice(DATA[name]), chance)
    if name == STORE:
        data, title = chance.randbytes(chance.choice((0, 100, 5000))), "random bytes"
        if chance.random() < 0.5:
            data = b"SQLite format 3\0" + data
        return Case(number, f"{name}: {title}", words, {name: data})
    lines = _scene_text(name).splitlines()
    titles = [_mutate_lines(lines, chance) for _ in range(chance.choice((1, 1, 2, 4)))]
    text = "\n".join(lines) + chance.choice(("\n", "\n", ""))
    data = text.encode("utf-8", "surrogatepass")
    return Case(number, f"{name}: {'; '.join(titles)}", words, {name: data})


def _mutate_lines(lines: list[str], chance: random.Random) -> str:
    place = chance.randrange(len(lines)) if lines else 0
    lines[:] = lines or [""]
    kind = chance.choice(("cell",) * 6 + ("delete", "twice", "cut", "column", "many", "header"))
    new: object = ""
    if kind in ("cell", "header", "column"):
        separator = next((s for s in (",", "; ", " ") if s in lines[place]), " ")
        chosen = range(len(lines)) if kind == "column" else [0 if kind == "header" else place]
        new = chance.choice((*values.NUMBERS, *values.QUANTITIES, *values.NAMES, *values.WORDS))
        column = chance.randrange(lines[place].count(separator) + 1)
        for line in chosen:
            cells = lines[line].split(separator)
            if column < len(cells) and (kind != "column" or line):
                cells[column] = str(new).replace("\n", " ")
            lines[line] = separator.join(cells)
    elif kind == "delete":
        del lines[place]
    elif kind == "twice":
        lines.insert(place, lines[place])
    elif kind == "cut":
        lines[place] = lines[place][: chance.randrange(len(lines[place]) + 1)]
    else:
        new = chance.choice((20, 3000))
        lines[place:place] = [lines[place]] * int(str(new))
    return f"{kind} line {place + 1}: {str(new)[:80]!r}"


# --- options ---------------------------------------------------------------------------------


def _option(number: int, chance: random.Random) -> Case:
    command = chance.choice(tuple(COMMANDS))
    words = [*command, *COMMANDS[command]]
    for _ in range(chance.choice((1, 1, 2))):
        parameter = chance.choice(_parameters(command))
        value = _option_value(parameter, chance)
        if parameter.param_type_name == "argument":
            place = len(command)
            words[place : place + 1] = [value]
        elif getattr(parameter, "is_flag", False):
            words.append(parameter.opts[0])
        else:
            words += [parameter.opts[-1], value]
    title = " ".join(word[:60] for word in words)
    return Case(number, title, tuple(word.replace("\0", "") for word in words), {})


def _option_value(parameter: typing.Any, chance: random.Random) -> str:
    annotation = str(parameter.type_descriptor.annotation)
    if parameter.name in WRITTEN:
        return chance.choice(values.OUTPUTS)
    if parameter.name == "store":
        kept = [path for path in values.PATHS if not path.startswith("/")]
        return chance.choice((*kept, *values.WORDS))
    if "int" in annotation or "float" in annotation:
        return chance.choice(values.WORDS)
    if "Path" in annotation and chance.random() < 0.8:
        return chance.choice(values.PATHS)
    return chance.choice((*values.WORDS, *values.NAMES, *values.FORMULAS, *values.PATHS))


def _parameters(command: tuple[str, ...]) -> list[typing.Any]:
    group: typing.Any = typer.main.get_command(app)
    for word in command:
        group = group.commands[word]
    return list(group.params)


# --- files in the place of others ------------------------------------------------------------


def _exchanged(number: int, chance: random.Random) -> Case:
    """A command that reads another file than the one that it needs."""
    readers = [words for group in (READERS, DATA) for each in group.values() for words in each]
    words = list(chance.choice([*readers, *((*c, *w) for c, w in COMMANDS.items())]))
    files = [place for place, word in enumerate(words) if _is_file(word)]
    if files:
        place = chance.choice(files)
        if not words[place - 1].startswith(("-o", "--output")):
            words[place] = chance.choice((*values.PATHS, *READERS, *DATA))
    return Case(number, " ".join(words)[:200], _with_json(tuple(words), chance), {})


def _is_file(word: str) -> bool:
    return word in READERS or word in DATA or word == "made"


def _with_json(words: tuple[str, ...], chance: random.Random) -> tuple[str, ...]:
    if "--json" in words or chance.random() < 0.7:
        return words
    return (*words, "--json")
