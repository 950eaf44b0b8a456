"""Projects of CMake: configured in a scratch folder, read by CMake's file API."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.commands.init.building.build_plan import (
    COPY,
    FLAGS,
    PARALLEL,
    BuildPlan,
    Choose,
    chosen_program,
    default_compiler,
)
from autotune.commands.init.building.make_plan import code_patterns
from autotune.commands.init.included_files import headers_of
from autotune.commands.init.source_scan import COMPILED, LANGUAGES, Language
from autotune.commands.init.yaml_text import doubled, globbed
from autotune.errors import Fault, InputError
from autotune.toolchain import child_process
from autotune.toolchain import compiler as compilers
from autotune.toolchain.scratch_folder import temporary_folder

_LIMIT = 120.0
"""Seconds of a configuration."""
_OF_LANGUAGE: Mapping[str, str] = {"C": "C", "C++": "CXX", "Fortran": "Fortran"}
_SETTINGS = ("-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF")
"""The program has to run when its build folder is gone, so its own libraries are static."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CMakeProgram:
    """A program that a project makes."""

    name: str
    output: str
    """Relative to the build folder."""
    sources: tuple[str, ...]
    """Relative to the source folder: its own, and those of the libraries that it needs."""
    direct_sources: tuple[str, ...]
    """Its own alone, relative to the source folder."""
    includes: tuple[str, ...]
    """Folders in which its compiler looks for headers."""


def cmake_plan(folder: Path, target: str, choose: Choose) -> BuildPlan:
    """The plan of the project in a folder; InputError where it cannot be configured."""
    with temporary_folder() as scratch:
        programs, extra = _programs(folder, scratch)
    if not programs:
        found = "CMake configures it, but it makes no program"
        raise InputError(Fault(where=str(folder), found=found, hint="give an executable of it"))
    names = [program.name for program in programs]
    if target and target not in names:
        expected = f"one of {', '.join(names)}"
        found = f"the CMake project has no program {target!r}"
        raise InputError(Fault(where=str(folder), found=found, expected=expected))
    name = chosen_program(names, target, "the CMake project", choose)
    program = next(p for p in programs if p.name == name)
    language = _language(program.direct_sources)
    languages = {LANGUAGES.get(Path(s).suffix, "") for s in program.sources} & set(COMPILED)
    # those of the build type come last on the line of the compiler, so an -O level has to be there
    settings = [
        f"-DCMAKE_{_OF_LANGUAGE[lang]}_FLAGS_RELEASE=-DNDEBUG {FLAGS}" for lang in sorted(languages)
    ]
    settings.append(f"-DCMAKE_{_OF_LANGUAGE[language]}_COMPILER={{compiler}}")
    rest = [other for other in names if other != name]
    remark = f"CMake also builds {', '.join(rest[:8])}: --target NAME selects another"
    files = tuple(folder / s for s in program.sources if (folder / s).is_file())
    return BuildPlan(
        folder=folder,
        patterns=(*code_patterns(folder), *_outside(folder, files)),
        files=files,
        includes=tuple(p for p in map(Path, program.includes) if p.is_relative_to(folder)),
        commands=(
            ("cmake", "-S", "{source folder}", "-B", COPY, *_SETTINGS, *extra, *settings),
            ("cmake", "--build", COPY, PARALLEL, "--target", doubled(name)),
            ("cp", doubled(f"{COPY}/{program.output}"), "{output}"),
        ),
        language=language,
        compiler=default_compiler(language),
        base=("-O3",),
        program=name,
        by="cmake",
        remarks=(remark,) if rest else (),
    )


def _outside(folder: Path, files: Sequence[Path]) -> tuple[str, ...]:
    """The sources that lie outside the project's folder, and what these include."""
    outside = [file for file in files if not file.is_relative_to(folder)]
    every = (*outside, *headers_of(outside, ()))
    return tuple(globbed(os.path.relpath(file, folder)) for file in every)


def _programs(folder: Path, scratch: Path) -> tuple[list[CMakeProgram], tuple[str, ...]]:
    """The programs of a project, and the options that switch them on where it makes none alone."""
    made = scratch / COPY
    _configure(folder, made, ())
    programs = _read(made)
    if programs:
        return programs, ()
    extra = tuple(f"-D{name}=ON" for name in _switches(made))
    if extra:
        _configure(folder, made, extra)
        programs = _read(made)
    return programs, extra


def _configure(folder: Path, made: Path, extra: Sequence[str]) -> None:
    query = made / ".cmake" / "api" / "v1" / "query" / "codemodel-v2"
    query.parent.mkdir(parents=True, exist_ok=True)
    query.touch()
    outcome = child_process.run(
        ["cmake", "-S", str(folder), "-B", str(made), *_SETTINGS, *extra],
        timeout=_LIMIT,
        environment=compilers.environment(),
        folder=made.parent,
    )
    if not outcome.ok:
        found = f"CMake cannot configure it: {outcome.describe()}"
        hint = "install what it asks for, or give an executable that you built"
        raise InputError(Fault(where=str(folder), found=found, hint=hint))


def _switches(made: Path) -> list[str]:
    """Options of a project that are off and named after programs."""
    words = ("BENCH", "EXAMPLE", "PROGRAM", "TOOLS")
    lines = (made / "CMakeCache.txt").read_text(encoding="utf-8", errors="replace").splitlines()
    names = [line.partition(":")[0] for line in lines if line.endswith(":BOOL=OFF")]
    return [n for n in names if any(w in n.upper() for w in words) and not n.startswith("CMAKE_")]


def _read(made: Path) -> list[CMakeProgram]:
    """The programs in the reply of CMake's file API, in the order of the project."""
    reply = made / ".cmake" / "api" / "v1" / "reply"
    files = sorted(reply.glob("target-*.json"))
    targets = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    by_id = {target["id"]: target for target in targets}
    programs = []
    for target in targets:
        if target.get("type") != "EXECUTABLE" or not target.get("artifacts"):
            continue
        needed = {target["id"]: target}
        for part in (todo := [target]):
            ids = [other["id"] for other in part.get("dependencies", ()) if other["id"] in by_id]
            todo += [by_id[name] for name in ids if name not in needed]
            needed |= {name: by_id[name] for name in ids}
        built = [
            part for part in needed.values() if part.get("type") not in ("UTILITY", "EXECUTABLE")
        ]
        built.insert(0, target)
        programs.append(
            CMakeProgram(
                name=target["name"],
                output=target["artifacts"][0]["path"],
                sources=tuple(dict.fromkeys(s for part in built for s in _sources(part))),
                direct_sources=_sources(target),
                includes=tuple(dict.fromkeys(place for part in built for place in _includes(part))),
            )
        )
    return programs


def _sources(target: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(source["path"] for source in target.get("sources", ()))


def _includes(target: Mapping[str, Any]) -> Iterator[str]:
    for group in target.get("compileGroups", ()):
        for place in group.get("includes", ()):
            yield place["path"]


def _language(sources: Sequence[str]) -> Language:
    names = [LANGUAGES.get(Path(s).suffix, "") for s in sources]
    return max(COMPILED, key=names.count)
