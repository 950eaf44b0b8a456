"""Programs with modeling assertions: compiled, run under the library, their records read."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from autotune.assertions.library import library_build
from autotune.domain.assertion_record import AssertionRecord, PathRecord, VariableRecord
from autotune.domain.variant import Build
from autotune.files import codec
from autotune.toolchain import build_cache, compiler

FOLDER = library_build.header_folder()
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
SANITIZED = ("-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def compiled(
    folder: Path,
    text: str,
    *flags: str,
    driver: str = "gcc",
    suffix: str = ".c",
    link: Sequence[str] = (),
) -> Path:
    """A program of one source text that includes the header."""
    source = folder / f"program{suffix}"
    source.write_text(text)
    target = folder / "program"
    command = [driver, *STRICT, *flags, f"-I{FOLDER}", str(source), "-o", str(target), *link]
    subprocess.run(command, check=True)
    return target


def with_library(text: str, *flags: str) -> Path:
    """A program that holds the library itself and may call what its files share.

    The objects of the library are built once for every set of flags.
    """
    found = compiler.find(Build(compiler="gcc", flags=("-std=gnu11", "-O1", *STRICT, *flags)))
    units = {**library_build.units(), "program.c": text}
    built = build_cache.build(units, found, extra_flags=(), link=("-lm", "-ldl", "-pthread"))
    assert built.executable is not None, built.detail
    return built.executable


def run(
    program: Path | Sequence[str], records: Path, *, preload: bool = True, **variables: str
) -> subprocess.CompletedProcess[str]:
    """The outcome of a program that records into a folder as run ``r``."""
    environment = {
        **os.environ,
        "AUTOTUNE_ASSERT": str(records),
        "AUTOTUNE_ASSERT_RUN": "r",
        "AUTOTUNE_ASSERT_PAPI": "0",
        "PYTHONPATH": str(Path(library_build.__file__).parents[3]),
        **({"LD_PRELOAD": str(library_build.shared_library())} if preload else {}),
        **variables,
    }
    command = [str(program)] if isinstance(program, Path) else list(program)
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def python(folder: Path, text: str, *, preload: bool = False, **variables: str) -> AssertionRecord:
    """The record of a Python program."""
    source = folder / "program.py"
    source.write_text("import autotune.assertions as ma\n" + text)
    outcome = run([sys.executable, str(source)], folder / "records", preload=preload, **variables)
    assert outcome.returncode == 0, outcome.stderr
    return record(folder / "records")


def record(records: Path, name: str = "r.0.json") -> AssertionRecord:
    """A record that was written, read as the check reads it."""
    return codec.load(AssertionRecord, (records / name).read_text(encoding="utf-8"))


def recorded(folder: Path, text: str, **variables: str) -> AssertionRecord:
    """The record of a C program that consists of these statements, run under the library."""
    program = compiled(folder, main(text), "-O1")
    outcome = run(program, folder / "records", **variables)
    assert outcome.returncode == 0, outcome.stderr
    return record(folder / "records")


def main(statements: str, before: str = "") -> str:
    """A C program of these statements."""
    includes = ("modeling_assertions.h", "stdio.h", "stdlib.h", "unistd.h")
    lines = [f'#include "{name}"' for name in includes]
    return "\n".join([*lines, before, "int main(void) {", statements, "return 0; }", ""])


def path(rank: AssertionRecord, *names: str) -> PathRecord:
    """The path of these names from the outermost."""
    parent = -1
    for name in names:
        (item,) = [p for p in rank.paths if p.parent == parent and p.name == name]
        parent = item.id
    return item


def variable(rank: AssertionRecord, name: str) -> VariableRecord:
    """The variable of a name."""
    (item,) = [v for v in rank.variables if v.variable.name == name]
    return item


def losses(rank: AssertionRecord) -> dict[str, int]:
    """The losses by what was lost."""
    return {loss.what: loss.number for loss in rank.losses}
