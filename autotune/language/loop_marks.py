"""Marked loops in a program's own source: their places in the text.

    /* autotune: loop inner */                            for (...) {  // autotune: loop outer
    for (long j = 0; j < n; ++j)                              ...
        c[i * n + j] += x * b[k * n + j];                 }

A mark is a comment right in front of a loop, or behind the head of one on the same line. The
compiler never sees it, so it changes nothing of the code; the instructions of a marked loop are
those that the line table ascribes to its lines (``marked_loops``).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

UNITS = (".c", ".cc", ".cpp", ".cxx", ".c++")
SUFFIXES = (*UNITS, ".h", ".hh", ".hpp", ".hxx")
"""Of files that may have marks, in small letters: what is compiled, and headers."""

_MARK = re.compile(r"autotune:\s*loop\s+([A-Za-z_][\w.-]*)\s*(?:\*/)?\s*$")
_LIKE = re.compile(r"autotune\s*:")
_TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z))"""
    r"""|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|(?!//)[^\n])*)""",
    re.DOTALL | re.MULTILINE,
)
_LOOP = re.compile(r"\b(?:for|while|do)\b")
_BETWEEN = re.compile(r"(?:\s|_Pragma\s*\(\s*\))*")
_PAIRS = {"(": ")", "{": "}"}


@dataclass(frozen=True, slots=True)
class Lines:
    """A range of lines of a source file, counted from 1, both ends included."""

    first: int
    last: int

    def __contains__(self, line: object) -> bool:
        return isinstance(line, int) and self.first <= line <= self.last


class BadMark(ValueError):
    """A mark that does not mark a loop; ``line`` is its line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def marks(text: str) -> Mapping[str, Lines]:
    """The marked loops of a C or C++ source by name, in the order of the text.

    Raises BadMark for a mark without a loop, for a name that two marks share, and for a comment
    that begins like a mark but is not one.
    """
    bare, comments = _without_comments(text)
    marked: dict[str, Lines] = {}
    for start, end in comments:
        line = _line(text, start)
        mark = _MARK.search(text[start:end].strip())
        if mark is None:
            if _LIKE.search(text[start:end]):
                raise BadMark(line, "a mark has the form /* autotune: loop NAME */")
            continue
        if mark[1] in marked:
            raise BadMark(line, f"a second loop is marked as {mark[1]!r}")
        head = _head(bare, start, end)
        if head is None:
            raise BadMark(line, f"no loop begins right behind the mark {mark[1]!r}")
        marked[mark[1]] = Lines(_line(text, head), _line(text, _end(bare, head)))
    return marked


def _without_comments(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text with comments, literals and directives blanked, and the comments' positions."""
    comments = []

    def blank(match: re.Match[str]) -> str:
        if match.lastgroup == "comment":
            comments.append(match.span())
        return re.sub(r"[^\n]", " ", match[0])

    return _TOKEN.sub(blank, text), comments


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _head(bare: str, start: int, end: int) -> int | None:
    """The position where the loop of a mark begins: before it on its line, else right after it."""
    before = bare[bare.rfind("\n", 0, start) + 1 : start]
    heads = [match.start() for match in _LOOP.finditer(before)]
    if heads:
        return start - len(before) + heads[-1]
    between = _BETWEEN.match(bare, end)
    loop = _LOOP.match(bare, between.end() if between else end)
    return loop.start() if loop else None


def _end(bare: str, at: int) -> int:
    """The position where the statement that begins at a position ends."""
    at = _skipped(bare, at)
    word = re.compile(r"[A-Za-z_]\w*|.", re.DOTALL).match(bare, at)
    if word is None:
        return len(bare) - 1
    if word[0] == "{":
        return _closed(bare, at)
    if word[0] in ("for", "while", "if", "switch"):
        end = _end(bare, _closed(bare, bare.find("(", at)) + 1)
        follow = _skipped(bare, end + 1)
        if word[0] == "if" and re.compile(r"else\b").match(bare, follow):
            return _end(bare, follow + len("else"))
        return end
    if word[0] in ("do", "else"):
        return _end(bare, _end(bare, word.end()) + 1) if word[0] == "do" else _end(bare, word.end())
    end = bare.find(";", at)
    return len(bare) - 1 if end < 0 else end


def _skipped(bare: str, at: int) -> int:
    while at < len(bare) and bare[at].isspace():
        at += 1
    return at


def _closed(bare: str, at: int) -> int:
    """The position where the bracket at a position is closed; the end of the text if it is not."""
    if at < 0:
        return len(bare) - 1
    opening, closing, depth = bare[at], _PAIRS[bare[at]], 0
    for place in range(at, len(bare)):
        depth += (bare[place] == opening) - (bare[place] == closing)
        if depth == 0:
            return place
    return len(bare) - 1
