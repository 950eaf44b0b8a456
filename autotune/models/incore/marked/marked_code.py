"""The functions of an assembly text that contain a marked loop, found by the line table.

gcc and clang write the line table (``-g1``) without changing the code. The functions with
instructions of the marked lines are extracted: their instructions, and the labels that are jumped
to, numbered anew. A comment follows each instruction of the marked lines. So two builds that differ
only in other functions or in shifted lines give the same text, and need one analysis.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath

from autotune.language.loop_marks import Lines
from autotune.models.incore.assembly import hot_loops

INSIDE = "marked"
"""The comment behind an instruction of the marked lines."""

_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?')
_PLACE = re.compile(r"\.loc\s+(\d+)\s+(\d+)")
_TARGET = re.compile(r"\.L[\w.$]*")
_COPY = re.compile(r"(?<=[\w.])\.(?:constprop|isra|part|cold|lto_priv)\.\d+")
_FIRST = ".Lm"
"""Prefix of the new labels."""

_Line = tuple[str, bool]
"""A label with its colon, or an instruction, and whether it is of the marked lines."""


def marked_code(assembly: str, file: str, lines: Lines) -> str:
    """The functions of an assembly that have instructions of some lines; empty where none has.

    ``file``: the source as the line table names it, an absolute path. Raises NoLoop for a text that
    is no assembly of a known instruction set.
    """
    comment = hot_loops.detect(assembly).comment
    numbers = {number for number, path in _files(assembly) if PurePath(path) == PurePath(file)}
    marked = [
        _text(name, body, comment)
        for name, body in _functions(assembly, comment, numbers, lines)
        if any(inside for _, inside in body)
    ]
    return "".join(marked)


def _files(assembly: str) -> Iterator[tuple[int, str]]:
    """The numbers and paths of the source files in a line table.

    File 0 is in the folder of the unit; other paths may be relative to this folder.
    """
    base = ""
    for line in assembly.splitlines():
        match = _FILE.match(line) if ".file" in line else None
        if match:
            folder, name = (match[2], match[3]) if match[3] is not None else ("", match[2])
            if match[1] == "0":
                base = folder
            yield int(match[1]), str(PurePath(base, folder, name))


def _functions(
    assembly: str, comment: str, numbers: set[int], lines: Lines
) -> Iterator[tuple[str, list[_Line]]]:
    """The name and the content of each function of an assembly."""
    name, body, inside = "unit:", list[_Line](), False
    for raw in assembly.splitlines():
        line = raw.split(comment, 1)[0].strip()
        if not line:
            continue
        if line.endswith(":"):
            if line.startswith((".", '".')):
                body.append((line, False))
                continue
            yield name, body
            name, body = line, []
        elif not line.startswith("."):
            body.append((line, inside))
        elif line.startswith(".loc"):
            place = _PLACE.match(line)
            inside = place is not None and int(place[1]) in numbers and int(place[2]) in lines
    yield name, body


def _text(name: str, body: list[_Line], comment: str) -> str:
    """A function as text, with its labels numbered in order; labels that nothing jumps to are left
    out.
    """
    named = {label for line, _ in body if line[-1] != ":" for label in _TARGET.findall(line)}
    numbers: dict[str, str] = {}
    for line, _ in body:
        label = line[:-1].strip('"')
        if line[-1] == ":" and label in named:
            numbers[label] = f"{_FIRST}{len(numbers)}"

    def renamed(match: re.Match[str]) -> str:
        return numbers.get(match[0], match[0])

    lines = [_COPY.sub("", name)]
    for line, inside in body:
        if line[-1] == ":":
            label = line[:-1].strip('"')
            if label in numbers:
                lines.append(f"{numbers[label]}:")
        else:
            mark = f"\t{comment} {INSIDE}" if inside else ""
            lines.append(f"\t{_TARGET.sub(renamed, line)}{mark}")
    return "\n".join(lines) + "\n"
