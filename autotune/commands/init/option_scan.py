"""Options of a program: of its source, its usage text or a command line; and its variables."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autotune.commands.init.yaml_text import Plain, doubled, number_of

_FLAG = re.compile(r"--?[A-Za-z][\w-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramOption:
    """An option or a variable that has a default."""

    name: str
    """What it is called, without dashes."""
    words: tuple[str, ...]
    """The words of the command line; ``{}`` stands for the value. Empty: a variable."""
    default: Plain
    choices: tuple[Plain, ...] = ()
    """All values, where they are stated; a switch has null and its word."""


def python_options(text: str) -> tuple[ProgramOption, ...]:
    """The options that a Python program declares with argparse, and variables that it reads with
    a default.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    options = list[ProgramOption]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            options += _declared(node) if node.func.attr == "add_argument" else _variable(node)
    return tuple(options)


def level_options(text: str) -> frozenset[str]:
    """The short options of a usage text whose number is a level, such as ``-b#`` or ``-#``.

    >>> level_options(" -b#     Perform benchmarking with level # [Default: 3]")
    frozenset({'b'})
    """
    lines = (line for line in text.splitlines() if re.search(r"\blevel", line, re.IGNORECASE))
    return frozenset(name for line in lines for name in re.findall(r"(?<!\S)-([A-Za-z])#", line))


def _declared(node: ast.Call) -> Iterator[ProgramOption]:
    """The option of a call of add_argument; none for positions and options without a default."""
    stated = [a.value for a in node.args if isinstance(a, ast.Constant)]
    names = [name for name in stated if isinstance(name, str) and _FLAG.fullmatch(name)]
    if not names:
        return
    flag = max(names, key=len)
    name = flag.lstrip("-").replace("-", "_")
    given = {k.arg: k.value for k in node.keywords if k.arg}
    action = _constant(given.get("action"))
    if action == "store_true":
        yield ProgramOption(name=name, words=("{}",), default=None, choices=(None, flag))
        return
    default, choices = _constant(given.get("default")), _constants(given.get("choices"))
    if action is None and default is not None and not isinstance(default, bool):
        words = (flag, "{}")
        yield ProgramOption(name=name, words=words, default=default, choices=choices)


def _variable(node: ast.Call) -> Iterator[ProgramOption]:
    """The variable of ``os.environ.get("BLOCK", "64")`` or ``os.getenv``."""
    function = ast.unparse(node.func)
    if function not in ("os.environ.get", "os.getenv", "environ.get") or len(node.args) != 2:
        return
    name, default = _constant(node.args[0]), _constant(node.args[1])
    number = number_of(str(default))
    if isinstance(name, str) and isinstance(number, int) and re.fullmatch(r"[A-Za-z_]\w*", name):
        yield ProgramOption(name=name, words=(), default=number)


def _constant(node: ast.expr | None) -> Plain:
    """A number or text that stands in the source; None for anything else."""
    if node is None:
        return None
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def _constants(node: ast.expr | None) -> tuple[Plain, ...]:
    if not isinstance(node, ast.List | ast.Tuple):
        return ()
    values = tuple(_constant(item) for item in node.elts)
    return () if None in values else values


def filled_words(option: ProgramOption, name: str) -> list[str]:
    """The words of an option with its parameter in place of the value."""
    return [f"{{{name}}}" if w == "{}" else doubled(w[:-2]) + f"{{{name}}}" if w.endswith("{}")
            else doubled(w) for w in option.words]  # fmt: skip


def given_option(words: Sequence[str], i: int) -> tuple[str, str, str]:
    """The name, the head and the number of an option at a place of a command line.

    The head is what stands before the number in its own word. All are empty for other words.

    >>> given_option(["--tile=8"], 0), given_option(["-n", "5"], 1), given_option(["-T2"], 0)
    (('tile', '--tile=', '8'), ('n', '', '5'), ('T', '-T', '2'))
    """
    word = words[i]
    if match := re.fullmatch(r"(--?([A-Za-z][\w-]*)=)([-+\d.eE]+)", word):
        return (match[2], match[1], match[3]) if number_of(match[3]) is not None else ("", "", "")
    if match := re.fullmatch(r"(-([A-Za-z]))(\d+)", word):
        return match[2], match[1], match[3]
    if number_of(word) is None:
        return "", "", ""
    before = words[i - 1] if i else ""
    named = re.fullmatch(r"--?([A-Za-z][\w-]*)", before)
    return (named[1], "", word) if named else ("", "", word)
