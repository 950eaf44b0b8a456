"""Command lines of compilers, as make prints them or compile_commands.json lists them."""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.commands.init.source_scan import COMPILED, LANGUAGES

_COMPILER = re.compile(
    r"(?:[\w.]+-)*(?:cc|gcc|g\+\+|clang|clang\+\+|c\+\+|gfortran|flang|f77|f95|fc|mpicc|mpicxx|"
    r"mpic\+\+|mpifort|mpif90|mpif77|icc|icx|icpc|icpx|ifort|ifx|nvc|nvc\+\+|nvfortran|c89|c99|"
    r"tcc|armclang|craycc|cc)(?:-?\d[\d.]*)?"
)
_WITH_VALUE = ("-o", "-I", "-D", "-U", "-L", "-l", "-isystem", "-include", "-x", "-MF", "-MT",
               "-MQ", "-Xlinker", "-J", "-iquote", "-idirafter", "-T", "-u")  # fmt: skip
_ENTERING = re.compile(r"make(?:\[\d+\])?: Entering directory [`'\"](.*)['\"]$")
_LEAVING = re.compile(r"make(?:\[\d+\])?: Leaving directory")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileLine:
    """One call of a compiler."""

    compiler: str
    folder: str
    """Where it is called, as far as it is told; empty: where the build begins."""
    words: tuple[str, ...]
    """All that stands behind the compiler."""

    @property
    def output(self) -> str:
        """The file behind ``-o``, relative to where the build begins; empty if none is named."""
        for i, word in enumerate(self.words):
            if word == "-o" and i + 1 < len(self.words):
                return self.joined(self.words[i + 1])
            if word.startswith("-o") and len(word) > 2 and not word.startswith("-openmp"):
                return self.joined(word[2:])
        return self.joined("a.out") if self.links else ""

    @property
    def links(self) -> bool:
        """Whether it makes a program, not an object, a library or text."""
        stop = {"-c", "-S", "-E", "-M", "-MM", "-shared", "-fsyntax-only", "--version", "-v"}
        return not stop & set(self.words) and any(not word.startswith("-") for word in self.words)

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that it compiles, relative to where the build begins."""
        files = [
            word
            for i, word in enumerate(self.words)
            if LANGUAGES.get(Path(word).suffix) in COMPILED
            and not word.startswith("-")
            and (i == 0 or self.words[i - 1] not in _WITH_VALUE)
        ]
        return tuple(self.joined(word) for word in files)

    @property
    def flags(self) -> tuple[str, ...]:
        """Options, without those that name inputs and outputs."""
        kept, skip = list[str](), False
        for i, word in enumerate(self.words):
            if skip:
                skip = False
                continue
            if word in ("-o", "-MF", "-MT", "-MQ"):
                skip = True
            elif word in _WITH_VALUE and i + 1 < len(self.words):
                kept += [word, self.words[i + 1]]
                skip = True
            elif word.startswith("-") and word not in ("-c", "-MD", "-MMD", "-MP"):
                kept.append(word)
        return tuple(kept)

    @property
    def includes(self) -> tuple[str, ...]:
        """The folders in which it looks for headers, relative to where the build begins."""
        folders = list[str]()
        for i, word in enumerate(self.words):
            head = next((h for h in ("-isystem", "-iquote", "-I") if word.startswith(h)), "")
            name = word[len(head) :] or "".join(self.words[i + 1 : i + 2])
            if head and name:
                folders.append(self.joined(name))
        return tuple(dict.fromkeys(folders))

    def joined(self, name: str) -> str:
        """A name relative to where the build begins."""
        return os.path.normpath(os.path.join(self.folder, name))  # noqa: PTH118 - no links


def compile_lines(text: str, root: str = "") -> Iterator[CompileLine]:
    """The calls of compilers in what ``make -n`` prints; names become relative to ``root``."""
    folders = [root]
    for line in text.replace("\\\n", " ").splitlines():
        if entering := _ENTERING.search(line):
            folders.append(entering.group(1))
        elif _LEAVING.search(line) and len(folders) > 1:
            folders.pop()
        else:
            yield from _calls(line, _relative(folders[-1], root))


def _relative(folder: str, root: str) -> str:
    relative = os.path.relpath(folder, root) if folder and root else folder
    return "" if relative == "." else relative


def _calls(line: str, folder: str) -> Iterator[CompileLine]:
    """The calls in one line of a shell; ``cd`` changes the folder of those that follow."""
    for command in re.split(r"&&|\|\||;|(?<![<>&])[|](?!\|)|\(|\)(?=\s*$)", line):
        words = _words(command)
        while words and (_ASSIGNMENT.fullmatch(words[0]) or words[0] in ("ccache", "time", "then")):
            words = words[1:]
        if len(words) == 2 and words[0] == "cd":
            folder = os.path.normpath(os.path.join(folder, words[1]))  # noqa: PTH118
        elif words and (call := call_of(words, folder)):
            yield call


def call_of(words: Sequence[str], folder: str) -> CompileLine | None:
    """The call of a compiler that words are; None for another command."""
    head = next((i for i, w in enumerate(words) if _COMPILER.fullmatch(Path(w).name)), None)
    # "libtool --mode=compile gcc ...": what stands before the compiler starts it
    if head is None or (head and "libtool" not in " ".join(words[:head])):
        return None
    return CompileLine(compiler=words[head], folder=folder, words=tuple(words[head + 1 :]))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return []
