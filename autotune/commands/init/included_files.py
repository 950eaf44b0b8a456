"""The files that belong to a source: what it includes, and sources with the same names."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from autotune import paths

_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*\"([^\"]+)\"", re.MULTILINE)
_BRACKETED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>\n]+)>", re.MULTILINE)
_COMPUTED = re.compile(r"^[ \t]*#[ \t]*include[ \t]+\w", re.MULTILINE)
_MAIN = re.compile(r"\bmain\s*\(")
_FORTRAN = re.compile(r"^\s*include\s+['\"]([^'\"]+)['\"]", re.MULTILINE | re.IGNORECASE)
_USED = re.compile(r"^\s*use\s*(?:,\s*non_intrinsic\s*::)?\s*(\w+)", re.MULTILINE | re.IGNORECASE)
_MODULE = re.compile(r"^\s*module\s+(?!procedure\b)(\w+)\s*$", re.MULTILINE | re.IGNORECASE)
_IMPORTED = re.compile(r"^\s*(?:from|import)\s+(\w+)", re.MULTILINE)
_LONGEST = 4 << 20
"""Bytes that are read of a source file."""
_MOST = 2000
"""Files that are followed."""
_FOLDERS = ("include", "inc", "src", "lib", "../include", "../inc", "../src", "..")
"""Where headers lie beside the folder of a source."""


def source_text(path: Path) -> str:
    """The beginning of a file as text; empty where it cannot be read."""
    try:
        return path.read_bytes()[:_LONGEST].decode(errors="replace")
    except OSError:
        return ""


def followed(path: Path, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The source, what it includes and the sources beside that, in reading order; then the folders
    in which a compiler has to look for headers. All are relative to the folder of the source.
    """
    root = path.parent
    names, folders = [path.name], list[str]()
    texts = [("", text)]
    while texts and len(names) < _MOST:
        folder, content = texts.pop(0)
        for name in (*_INCLUDE.findall(content), *_FORTRAN.findall(content)):
            place, searched = _place(root, folder, name)
            if place is None:
                continue
            if searched and searched not in folders:
                folders.append(searched)
            for file in (place, *_implementations(root, place, path.suffix)):
                if file not in names:
                    names.append(file)
                    texts.append((str(Path(file).parent), source_text(root / file)))
    return tuple(names), tuple(folders)


def all_included(files: Sequence[Path]) -> bool:
    """Whether files hold all that they include, but for headers in angle brackets."""
    texts = [source_text(file) for file in files]
    names = {Path(name).name for text in texts for name in _INCLUDE.findall(text)}
    whole = len(files) < _MOST and not any(_COMPUTED.search(text) for text in texts)
    return whole and names <= {file.name for file in files}


def all_beside(path: Path, files: Sequence[str]) -> bool:
    """Whether each source in the folder of a program is one of ``files``, or a program itself."""
    others = (p for p in path.parent.glob(f"*{path.suffix}") if p.name not in files)
    return all(_MAIN.search(source_text(other)) for other in others)


def headers_of(files: Sequence[Path], folders: Sequence[Path]) -> list[Path]:
    """The headers that sources of a project include, directly or not, in reading order.

    ``folders``: where their compiler looks; what lies there may stand in angle brackets.
    """
    headers = list[Path]()
    texts = [(file, source_text(file)) for file in files]
    while texts and len(headers) < _MOST:
        file, content = texts.pop(0)
        beside = (file.parent, *(file.parent / name for name in _FOLDERS))
        quoted, bracketed = _INCLUDE.findall(content), _BRACKETED.findall(content)
        for names, searched in ((quoted, (*beside, *folders)), (bracketed, folders)):
            for name in names:
                places = (Path(os.path.normpath(folder / name)) for folder in searched)
                header = next((place for place in places if place.is_file()), None)
                if header is not None and header not in (*headers, *files):
                    headers.append(header)
                    texts.append((header, source_text(header)))
    return headers


def _place(root: Path, folder: str, name: str) -> tuple[str | None, str]:
    """Where an included file lies, relative to the root, and the folder that the compiler must be
    told; empty if it looks there anyway.
    """
    beside = _plain(Path(folder) / name)
    if paths.exists(root / beside) and (root / beside).is_file():
        return beside, ""
    for searched in (".", *_FOLDERS):
        inside = _plain(Path(searched) / name)
        if paths.exists(root / inside) and (root / inside).is_file():
            return inside, searched
    return None, ""


def _implementations(root: Path, header: str, suffix: str) -> list[str]:
    """The source of the same name as a header, beside it or in a folder for sources."""
    stem = Path(header)
    name = stem.stem + suffix
    folders = (stem.parent, Path(), Path("src"), Path("../src"), Path("../lib"))
    places = (_plain(folder / name) for folder in folders)
    return [place for place in places if (root / place).is_file()][:1]


def _plain(path: Path) -> str:
    """A relative path without detours."""
    parts = list[str]()
    for part in path.parts:
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def with_modules(path: Path, text: str) -> tuple[str, ...]:
    """A Fortran source behind the sources in its folder whose modules it uses."""
    makers: dict[str, Path] = {}
    for file in sorted(path.parent.glob("*.[fF]*")):
        makers |= dict.fromkeys(map(str.lower, _MODULE.findall(source_text(file))), file)
    ordered = list[str]()

    def add(file: Path, content: str, above: tuple[Path, ...]) -> None:
        for name in _USED.findall(content):
            maker = makers.get(name.lower())
            if maker is not None and maker not in (file, *above) and maker.name not in ordered:
                add(maker, source_text(maker), (*above, file))
        if file.name not in ordered:
            ordered.append(file.name)

    add(path, text, ())
    return tuple(ordered)


def with_imports(path: Path, text: str) -> tuple[str, ...]:
    """A Python source and the modules beside it that it imports, directly or not."""
    names, texts = [path.name], [text]
    while texts:
        for name in _IMPORTED.findall(texts.pop(0)):
            file = f"{name}.py"
            if file not in names and (path.parent / file).is_file():
                names.append(file)
                texts.append(source_text(path.parent / file))
    return tuple(names)


def definers(symbols: Sequence[str], candidates: Sequence[Path]) -> list[Path]:
    """The sources that define functions, by name; one for every function."""
    files = list[Path]()
    texts = {path: source_text(path) for path in candidates}
    for symbol in symbols:
        name = re.escape(symbol.partition("(")[0].rpartition("::")[2])
        defined = re.compile(
            rf"\b{name}\s*\([^;{{}}]*\)[^;{{}}]*\{{|^\s*(?:subroutine|function)\s+{name}\b",
            re.IGNORECASE | re.MULTILINE,
        )
        file = next((p for p, text in texts.items() if defined.search(text)), None)
        if file is not None and file not in files:
            files.append(file)
    return files
