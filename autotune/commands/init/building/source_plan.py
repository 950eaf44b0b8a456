"""Sources without a build description, and those of compile_commands.json, in one call."""

import json
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from autotune.commands.init.building.build_plan import (
    FLAGS,
    BuildPlan,
    Choose,
    chosen_program,
    default_compiler,
)
from autotune.commands.init.building.compile_lines import CompileLine, call_of
from autotune.commands.init.building.make_plan import code_patterns
from autotune.commands.init.source_scan import COMPILED, LANGUAGES, Language
from autotune.commands.init.yaml_text import doubled
from autotune.errors import Fault, InputError

DATABASE = "compile_commands.json"
_MAIN = re.compile(r"^\s*(?:int|void|auto)?\s*\bmain\s*\(|^\s*program\s+\w+", re.M | re.I)
_NOT_ALONE = re.compile(
    r"-(?:I|isystem|iquote|include|D|U|std=|f(?:openmp|PIC|no-|strict)|pthread|W|m)"
)


def is_main(path: Path) -> bool:
    """Whether a source has a main program."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    return _MAIN.search(text) is not None


def sources_in(folder: Path) -> list[Path]:
    """The sources of compiled languages directly in a folder, by name."""
    return sorted(
        p for p in folder.iterdir() if LANGUAGES.get(p.suffix) in COMPILED and p.is_file()
    )


def database_plan(path: Path, target: str, choose: Choose) -> BuildPlan:
    """The plan of what a compile_commands.json lists: one program of all its sources.

    Of several sources with a main program one is chosen; the others are left out.
    """
    entries = list(_entries(path))
    mains = [f for f, _ in entries if is_main(f)]
    if not mains:
        found = "none of its sources has a main program"
        if not entries:
            found = "none of the sources that it lists is there"
        raise InputError(Fault(where=str(path), found=found, hint="give an executable"))
    by_name = {f.stem: f for f in mains}
    chosen = by_name[chosen_program([*by_name], target, DATABASE, choose)]
    kept = [(f, call) for f, call in entries if f == chosen or f not in mains]
    root = Path(os.path.commonpath([str(f.parent) for f, _ in kept]))
    flags = dict.fromkeys(
        word for _, call in kept for word in _placed(call, root) if word != "-Werror"
    )
    language = _language([f for f, _ in kept])
    optimisation = [w for _, call in kept for w in call.words if re.fullmatch(r"-O\w*", w)]
    names = [f"{{source folder}}/{doubled(os.path.relpath(f, root))}" for f, _ in kept]
    return BuildPlan(
        folder=root,
        patterns=code_patterns(root),
        files=tuple(f for f, _ in kept),
        includes=tuple(
            place
            for place in dict.fromkeys(Path(name) for _, call in kept for name in call.includes)
            if place.is_relative_to(root)
        ),
        commands=(("{compiler}", FLAGS, *flags, *names, "-o", "{output}", "-lm"),),
        language=language,
        compiler=default_compiler(language, mpi=Path(kept[0][1].compiler).name.startswith("mpi")),
        base=tuple(optimisation[-1:]),
        program=chosen.stem,
        by=DATABASE,
        remarks=("compile_commands.json names no libraries: they may be missing from the build",),
    )


def _entries(path: Path) -> Iterator[tuple[Path, CompileLine]]:
    """The sources of a compile_commands.json that are there, with their calls."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        rows = [
            (
                (folder / row["file"]).resolve(),
                row.get("arguments") or shlex.split(row["command"]),
                str(folder),
            )
            for row in content
            # relative ones begin where the file lies
            for folder in [path.absolute().parent / row["directory"]]
        ]
    except (ValueError, KeyError, TypeError, OSError) as error:
        found = f"it is no compilation database: {error}"
        raise InputError(Fault(where=str(path), found=found)) from error
    seen = set[Path]()
    for file, words, folder in rows:
        call = call_of(words, folder)
        if call and file not in seen and file.is_file():
            seen.add(file)
            yield file, call


def _placed(call: CompileLine, root: Path) -> Iterator[str]:
    """The flags of a call that decide what is compiled, with folders below the sources' own."""
    flags = iter(call.flags)
    for word in flags:
        if not _NOT_ALONE.match(word) or word.startswith(("-march", "-mtune", "-mcpu")):
            if word in ("-I", "-isystem", "-iquote", "-D", "-U", "-include"):
                next(flags, "")
            continue
        head = next((h for h in ("-isystem", "-iquote", "-I") if word.startswith(h)), "")
        if word in ("-I", "-isystem", "-iquote", "-D", "-U", "-include"):
            value = next(flags, "")
        else:
            value = word[len(head) :] if head else ""
        if not head:
            yield doubled(word + value)
            continue
        folder = Path(call.folder, value).resolve()
        inside = folder.is_relative_to(root)
        shown = os.path.relpath(folder, root)
        yield f"{head}{{source folder}}/{doubled(shown)}" if inside else f"{head}{folder}"


def _language(files: Sequence[Path]) -> Language:
    languages = [LANGUAGES.get(f.suffix, "") for f in files]
    # one call links all: that of C++ also knows C
    return "C++" if "C++" in languages else max(COMPILED, key=languages.count)
