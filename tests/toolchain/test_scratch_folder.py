"""Scratch folders are removed at their end, or by a later process where their owner was killed."""

import subprocess
import sys
from pathlib import Path

import pytest

from autotune.domain.variant import Build
from autotune.toolchain import build_cache, scratch_folder
from autotune.toolchain.compiler import find

KILLED = """
import os, signal, sys
from pathlib import Path
from autotune.toolchain.scratch_folder import scratch_folder
with scratch_folder(Path(sys.argv[1]), ".new-") as folder:
    (folder / "half").write_text("written")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def fresh_process() -> None:
    """As in a process that has not looked for abandoned folders yet."""
    scratch_folder.remove_abandoned.cache_clear()


def left_by_a_killed_process(parent: Path) -> Path:
    subprocess.run([sys.executable, "-c", KILLED, str(parent)])
    (folder,) = parent.iterdir()
    assert (folder / "half").exists()
    return folder


def test_only_the_folders_of_processes_that_have_ended_are_removed(tmp_path: Path):
    abandoned = left_by_a_killed_process(tmp_path)
    with scratch_folder.scratch_folder(tmp_path, ".new-") as own:
        process, start, node, random = own.name.removeprefix(".new-").split("-")
        others = {
            "a later process of the same number": (
                f".new-{process}-1{start}-{node}-{random}",
                False,
            ),
            "another node": (f".new-999999999-{start}-far{node}-{random}", True),
            "an unknown owner": ("tmpabcdefgh", True),
        }
        for name, _ in others.values():
            (tmp_path / name).mkdir()
        scratch_folder.remove_abandoned(tmp_path, "*")
        assert own.exists()
        assert not abandoned.exists()
        for title, (name, stays) in others.items():
            assert (tmp_path / name).exists() == stays, title
    assert not own.exists()


def test_the_next_build_removes_what_a_killed_one_left(cache_folder: Path):
    abandoned = left_by_a_killed_process(cache_folder / "build" / "object" / "0f")
    gcc = find(Build(flags=("-O1",)))
    built = build_cache.build({"main.c": "int main(void) { return 0; }\n"}, gcc)
    assert built.executable is not None
    assert not abandoned.exists()
    assert list((cache_folder / "build").glob("*/*/.new-*")) == []


def test_temporary_files_of_a_killed_process_are_removed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = KILLED.replace(".new-", "autotune-")
    subprocess.run([sys.executable, "-c", code, str(tmp_path)])
    (abandoned,) = tmp_path.iterdir()
    (tmp_path / "autotune-of-somebody").mkdir()
    with scratch_folder.temporary_folder() as folder:
        assert folder.parent == tmp_path
        assert not abandoned.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["autotune-of-somebody"]


def test_a_compiler_keeps_its_temporary_files_in_a_scratch_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    noted = tmp_path / "noted"
    wrapper = tmp_path / "gcc-that-notes"
    wrapper.write_text(f'#!/bin/sh\necho "$TMPDIR" >> {noted}\nexec gcc "$@"\n')
    wrapper.chmod(0o755)
    compiler = find(Build(compiler=str(wrapper), flags=("-O1",)))
    noted.unlink()
    build_cache.assembly("int f(void) { return 1; }", compiler)
    (place,) = set(noted.read_text().split())
    assert Path(place).is_relative_to(tmp_path / "cache" / "build")
