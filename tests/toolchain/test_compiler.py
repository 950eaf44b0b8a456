"""Compilers, real and pretended ones."""

import os
import shutil
from pathlib import Path

import pytest

from autotune.domain.variant import Build
from autotune.errors import InputError, MissingTool
from autotune.toolchain import compiler

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


def pretend(folder: Path, name: str, script: str) -> None:
    """Put a program on PATH that stands in for a compiler."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in front of PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@needs_gcc
def test_native_is_resolved():
    found = compiler.find(Build())
    assert found.name == "gcc"
    assert "gcc" in found.version
    assert any(flag.startswith(("-march=", "-mcpu=")) for flag in found.resolved_flags)
    assert not any("native" in flag for flag in found.resolved_flags)
    assert "-O3" in found.resolved_flags
    assert not any("/" in flag for flag in found.resolved_flags)


@needs_gcc
def test_identity_follows_the_flags():
    first = compiler.find(Build(flags=("-O3",)))
    assert first.identity == compiler.find(Build(flags=("-O3",))).identity
    assert first.identity != compiler.find(Build(flags=("-O2",))).identity


@needs_gcc
def test_refused_flag_is_reported_in_the_compilers_words():
    with pytest.raises(InputError) as caught:
        compiler.find(Build(flags=("-O3", "-mno-such-thing")), "study.yaml:7:30")
    (fault,) = caught.value.faults
    assert fault.where == "study.yaml:7:30"
    assert "no-such-thing" in fault.found
    assert not isinstance(caught.value, MissingTool)


def test_missing_compiler_names_place_install_command_and_what_is_there(programs: Path):
    pretend(programs, "gcc", "exit 0")
    with pytest.raises(MissingTool) as caught:
        compiler.find(Build(compiler="clang-99"), "study.yaml:7:12")
    (fault,) = caught.value.faults
    assert fault.where == "study.yaml:7:12"
    assert "clang-99" in fault.found
    assert "apt install clang" in fault.hint
    assert "dnf install clang" in fault.hint
    assert "gcc" in fault.hint


def test_a_slip_in_the_name_of_a_compiler_is_no_package() -> None:
    with pytest.raises(MissingTool) as caught:
        compiler.find(Build(compiler="gcx", flags=()))
    assert caught.value.hint.startswith("did you mean gcc?")
    assert "apt" not in caught.value.hint


def test_native_is_replaced_where_it_is_refused(programs: Path):
    """As gcc on POWER and older ones on ARM: they know -mcpu=native only."""
    script = """
        case "$*" in
            *--version*) echo "oldcc 4.8"; echo "Free Software Foundation";;
            *-march=native*) echo "error: bad value native for -march" >&2; exit 1;;
            *-###*) echo ' /usr/lib/cc1 -quiet trial.c "-mcpu=power9" -O3 -o /tmp/x.s' >&2;;
        esac"""
    pretend(programs, "oldcc", script)
    found = compiler.find(Build(compiler="oldcc"))
    assert found.flags == ("-O3", "-mcpu=native")
    assert found.resolved_flags == ("-mcpu=power9", "-O3")
    assert "-mcpu=native" in found.notes[0]


def test_unknown_kind_of_compiler_keeps_its_flags(programs: Path):
    pretend(programs, "newcc", 'case "$*" in *--version*) echo "New C 1.0";; esac')
    found = compiler.find(Build(compiler="newcc", flags=("-O3",)))
    assert (found.name, found.resolved_flags) == ("newcc", ("-O3",))
    assert found.notes


def test_clang_driver_line_is_read(programs: Path):
    line = (
        ' "/usr/bin/clang-14" "-cc1" "-triple" "x86_64-pc-linux-gnu" "-emit-obj" "-main-file-name"'
        ' "trial.c" "-target-cpu" "znver3" "-target-feature" "+avx2" "-O3" "-o" "/tmp/t.o"'
    )
    script = f"""
        case "$*" in
            *--version*) echo "Debian clang version 14.0.6";;
            *-###*) echo '{line}' >&2;;
        esac"""
    pretend(programs, "myclang", script)
    found = compiler.find(Build(compiler="myclang"))
    assert found.name == "clang"
    assert "-target-cpu znver3" in found.resolved_flags
    assert "-target-feature +avx2" in found.resolved_flags


def test_compiler_without_libraries(programs: Path):
    """Refuses everything, with flags and without: it is incomplete, the flags are not to blame."""
    script = """
        case "$*" in
            *--version*) echo "barecc 1"; echo "Free Software Foundation";;
            *) echo "trial.c:1:10: fatal error: math.h: No such file or directory" >&2; exit 1;;
        esac"""
    pretend(programs, "barecc", script)
    with pytest.raises(MissingTool, match=r"math\.h.*libc6-dev"):
        compiler.find(Build(compiler="barecc"), "study.yaml:1:1")


def test_compiler_without_openmp(programs: Path):
    script = """
        case "$*" in
            *--version*) echo "noompcc 1"; echo "Free Software Foundation";;
            *-fopenmp*) echo "fatal error: omp.h: No such file or directory" >&2; exit 1;;
        esac"""
    pretend(programs, "noompcc", script)
    found = compiler.find(Build(compiler="noompcc"))
    with pytest.raises(MissingTool, match=r"OpenMP.*omp\.h"):
        compiler.require_openmp(found, "study.yaml:1:1")


@needs_gcc
def test_gcc_builds_openmp():
    compiler.require_openmp(compiler.find(Build()))
