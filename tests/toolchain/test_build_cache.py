"""The build cache: right, shared, safe against others and against its own remains."""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autotune.domain.variant import Build
from autotune.errors import WorkFailed
from autotune.toolchain import build_cache, child_process
from autotune.toolchain.compiler import Compiler, find

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

UNITS = {
    "answer.h": "int answer(void);",
    "answer.c": '#include "answer.h"\nint answer(void) { return 41; }',
    "main.c": '#include "answer.h"\n#include <stdio.h>\nint main(void) { printf("%d", answer()); }',
}


@pytest.fixture
def gcc() -> Compiler:
    return find(Build(flags=("-O1",)))


def entries(folder: Path, kind: str) -> list[Path]:
    return [p for p in (folder / "build" / kind).glob("??/*") if p.suffix != ".sha"]


def output(built: build_cache.BuildResult) -> str:
    assert built.executable is not None, built.detail
    return child_process.run([str(built.executable)], timeout=10).out


def test_a_program_is_built_and_found_again(gcc: Compiler, cache_folder: Path, monkeypatch):
    built = build_cache.build(UNITS, gcc)
    assert output(built) == "41"
    monkeypatch.setattr(child_process, "run", None)  # no compiler may run now
    assert build_cache.build(UNITS, gcc) == built
    assert build_cache.executable(built.key) == built.executable


def test_objects_are_shared(gcc: Compiler, cache_folder: Path):
    build_cache.build(UNITS, gcc)
    other = UNITS | {"main.c": UNITS["main.c"].replace("%d", "<%d>")}
    assert output(build_cache.build(other, gcc)) == "<41>"
    assert len(entries(cache_folder, "object")) == 3
    assert len(entries(cache_folder, "program")) == 2


def test_a_changed_header_changes_what_includes_it(gcc: Compiler):
    units = UNITS | {
        "main.c": '#include "a.h"\nint main(void) { return A; }',
        "a.h": '#include "b.h"',
    }
    one = build_cache.build(units | {"b.h": "#define A 1"}, gcc)
    two = build_cache.build(units | {"b.h": "#define A 2"}, gcc)
    assert one.key != two.key
    assert child_process.run([str(two.executable)], timeout=10).code == 2


def test_flags_and_libraries_are_part_of_the_key(gcc: Compiler):
    key = build_cache.build(UNITS, gcc).key
    assert build_cache.build(UNITS, find(Build(flags=("-O2",)))).key != key
    assert build_cache.build(UNITS, gcc, extra_flags=("-fopenmp", "-DX")).key != key
    assert build_cache.build(UNITS, gcc, link=()).key != key


def test_failure_gives_the_compilers_words(gcc: Compiler, cache_folder: Path):
    built = build_cache.build({"main.c": "int main(void) { return undeclared_name; }"}, gcc)
    assert built.executable is None
    assert "undeclared_name" in built.detail
    assert entries(cache_folder, "object") == []
    failed = build_cache.build({"main.c": "void missing(void); int main(void) { missing(); }"}, gcc)
    assert "missing" in failed.detail


def test_failure_text_is_bounded(gcc: Compiler):
    text = "\n".join(f"int f{i}(void) {{ return u{i}; }}" for i in range(500))
    assert len(build_cache.build({"main.c": text}, gcc).detail) < 2 * child_process.TAIL


def test_time_limit(gcc: Compiler):
    # every line doubles the text of the one before: longer than any patience
    lines = ["#define A0 1+"] + [f"#define A{i} A{i - 1} A{i - 1}" for i in range(1, 40)]
    built = build_cache.build(
        {"main.c": "\n".join([*lines, "int main(void) { return A39 1; }"])}, gcc, limit=0.5
    )
    assert built.executable is None
    assert "time limit" in built.detail


@pytest.mark.parametrize("damage", ["truncated", "emptied", "no hash"])
def test_damaged_entries_are_made_again(gcc: Compiler, cache_folder: Path, damage: str):
    built = build_cache.build(UNITS, gcc)
    for kind in ("object", "program"):
        for entry in entries(cache_folder, kind):
            if damage == "no hash":
                entry.with_suffix(".sha").unlink()
            else:
                entry.write_bytes(entry.read_bytes()[:100] if damage == "truncated" else b"")
    assert build_cache.executable(built.key) is None
    assert output(build_cache.build(UNITS, gcc)) == "41"


@pytest.mark.parametrize("part", ["entry", "hash", "lock"])
def test_a_folder_in_the_place_of_a_file_is_damage_too(
    gcc: Compiler, cache_folder: Path, part: str
):
    built = build_cache.build(UNITS, gcc)
    files = [entry for kind in ("object", "program") for entry in entries(cache_folder, kind)]
    for entry in files:
        entry.with_suffix(".sha").unlink()
    if part == "hash":
        files = [entry.with_suffix(".sha") for entry in files]
    elif part == "lock":
        files = list((cache_folder / "build" / "lock").iterdir())
    for file in files:
        file.unlink(missing_ok=True)
        (file / "inner").mkdir(parents=True)
    assert output(build_cache.build(UNITS, gcc)) == "41"
    assert build_cache.executable(built.key) == built.executable
    assert all(file.is_file() for file in files)


def test_remains_of_a_killed_process_do_no_harm(gcc: Compiler, cache_folder: Path):
    key = build_cache.build(UNITS, gcc).key
    shutil.rmtree(cache_folder / "build" / "program")
    remains = cache_folder / "build" / "program" / key[:2] / ".new-abc"
    remains.mkdir(parents=True)
    (remains / key).write_bytes(b"half")
    assert output(build_cache.build(UNITS, gcc)) == "41"


def test_many_at_once_share_their_objects(gcc: Compiler, cache_folder: Path):
    programs = [
        (UNITS | {"main.c": UNITS["main.c"].replace("%d", f"{i} %d")}, gcc) for i in range(6)
    ]
    programs.append(({"main.c": "nonsense"}, gcc))
    with ThreadPoolExecutor(4) as pool:
        built = list(pool.map(lambda program: build_cache.build(*program), programs))
    assert [output(b) for b in built[:6]] == [f"{i} 41" for i in range(6)]
    assert built[6].executable is None
    assert len(entries(cache_folder, "object")) == 7


def test_several_processes_at_once(gcc: Compiler, cache_folder: Path):
    code = f"""
from autotune.toolchain import build_cache
from autotune.toolchain.compiler import find
from autotune.domain.variant import Build
built = build_cache.build({UNITS!r}, find(Build(flags=("-O1",))))
print(built.executable)
"""
    root = Path(__file__).resolve().parents[2]
    children = [
        subprocess.Popen([sys.executable, "-c", code], cwd=root, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    printed = {child.communicate(timeout=60)[0].strip() for child in children}
    assert printed == {str(build_cache.build(UNITS, gcc).executable)}
    assert list((cache_folder / "build").glob("*/??/.new-*")) == []


def test_assembly(gcc: Compiler, cache_folder: Path):
    text = "double twice(double x) { return 2 * x; }"
    first = build_cache.assembly(text, gcc)
    assert "twice:" in first
    assert build_cache.assembly(text, gcc) == first
    assert len(entries(cache_folder, "assembly")) == 1
    with pytest.raises(WorkFailed, match="nonsense"):
        build_cache.assembly("nonsense", gcc)
