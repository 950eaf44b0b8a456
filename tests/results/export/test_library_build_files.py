"""Build files of an exported library: flags survive them, other projects use what they install."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import made_library
import pytest
from made_library import facts_of

from autotune.results.export.library import build_text

FLAGS = (
    "-O1", '-DTEXT="a;b c"', "-DDOLLAR=$x$<1:y>${z}", "-DBACKSLASH=a\\b\\;c", "-DQUOTE='",
    "-DBRACKETS=a[b]=[]", "--param", "l1-cache-size=32", "--param", "l2-cache-size=256",
)  # fmt: skip
"""Flags with everything that shells, CMake, Meson, make and Ninja read as more than text."""
TITLE = "Burgers' equation, 50 % @viscous@ #1 for $5, \\nu"
MAIN = """
#include <stdio.h>
#include <wave1d.h>
int main(void)
{
    puts(wave1d_text(wave1d_choices() == 1 ? WAVE1D_OK : WAVE1D_BUSY));
    return wave1d_components(100) != 100;
}
"""
CMAKE = """
cmake_minimum_required(VERSION 3.16)
project(consumer C)
find_package(wave1d 0.1 CONFIG REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer PRIVATE wave1d::wave1d)
"""
WITHIN = """
cmake_minimum_required(VERSION 3.16)
project(consumer C)
add_subdirectory(library)
add_executable(self_test main.c)
target_link_libraries(self_test PRIVATE wave1d::wave1d)
"""
MESON = """
project('consumer', 'c')
executable('consumer', 'main.c', dependencies: dependency('wave1d', fallback: 'wave1d'))
"""


def meson() -> list[str] | None:
    """The command of Meson; None where it, or Ninja, is not installed."""
    beside = Path(sys.executable).with_name("meson")
    command = shutil.which("meson") or (str(beside) if beside.exists() else None)
    return [command] if command and shutil.which("ninja") else None


needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
needs_cmake = pytest.mark.skipif(shutil.which("cmake") is None, reason="optional: needs cmake")
needs_meson = pytest.mark.skipif(meson() is None, reason="optional: needs meson and ninja")
needs_pkg_config = pytest.mark.skipif(
    shutil.which("pkg-config") is None, reason="optional: needs pkg-config"
)


def run(*command: str | Path, **environment: str) -> str:
    """Standard output of a command that must end well."""
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a library of one code, with a title and with flags that are hard to write.

    What is not tuned is not optimised.
    """
    folder = tmp_path_factory.mktemp("library")
    facts = facts_of(folder, "wave1d", [(1, {})], sizes=[100])
    ivp = replace(facts.problem.ivp, title=TITLE)
    stepper = replace(facts.chosen[0], flags=FLAGS)
    changed = replace(
        facts,
        problem=replace(facts.problem, ivp=ivp),
        chosen=(stepper,),
    )
    return made_library.written(folder / "lib", changed, made_library.unoptimised)


def recorder(folder: Path) -> Path:
    """A compiler in a folder that is gcc and records its arguments, one a line, an empty line
    before each.
    """
    script = folder / "cc"
    record = shlex.quote(str(folder / "arguments"))
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "" "$@" >> {record}\nexec gcc "$@"\n')
    script.chmod(0o755)
    return script


def compiled(folder: Path, file: str = "step.c") -> list[str]:
    """The arguments with which the compiler in this folder compiled a file."""
    calls = (folder / "arguments").read_text().split("\n\n")
    (call,) = (c for c in calls if "\n-c\n" in c and f"wave1d_1/{file}\n" in f"{c}\n")
    return call.strip().splitlines()


def holds(arguments: Sequence[str], flags: Sequence[str]) -> bool:
    """Whether the flags stand among the arguments, in this order and side by side."""
    starts = range(len(arguments) - len(flags) + 1)
    return any(list(arguments[i : i + len(flags)]) == list(flags) for i in starts)


def by_cmake(library: Path, folder: Path, generator: str) -> Path:
    """The folder ``build`` in a folder with such a compiler, with the library built there."""
    build, compiler = folder / "build", f"-DCMAKE_C_COMPILER={recorder(folder)}"
    words = ["-G", generator, "-DCMAKE_INSTALL_LIBDIR=lib", compiler]
    run("cmake", "-S", library, "-B", build, *words)
    run("cmake", "--build", build)
    return build


@pytest.fixture(scope="module")
def made_by_cmake(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What CMake and make build; tests install it."""
    return by_cmake(library, tmp_path_factory.mktemp("cmake"), "Unix Makefiles")


@pytest.fixture(scope="module")
def made_by_meson(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Meson builds, to be installed in the folder ``prefix`` beside it."""
    folder = tmp_path_factory.mktemp("meson")
    words = [folder / "build", library, f"--prefix={folder / 'prefix'}", "--libdir=lib"]
    run(*(meson() or ()), "setup", *words, CC=str(recorder(folder)))
    run("ninja", "-C", folder / "build")
    return folder / "build"


# --- flags ----------------------------------------------------------------------------------------


@needs_gcc
def test_flags_survive_the_shell(library: Path, tmp_path: Path) -> None:
    place = shutil.copytree(library, tmp_path / "copy")
    run("sh", place / "build.sh", CC=str(recorder(tmp_path)))
    assert holds(compiled(tmp_path), FLAGS)


@needs_gcc
@needs_cmake
def test_flags_survive_cmake_and_make(made_by_cmake: Path) -> None:
    assert holds(compiled(made_by_cmake.parent), FLAGS)


@needs_gcc
@needs_cmake
def test_flags_survive_cmake_and_ninja(library: Path, tmp_path: Path) -> None:
    if not shutil.which("ninja"):
        pytest.skip("optional: needs ninja")
    by_cmake(library, tmp_path, "Ninja")
    assert holds(compiled(tmp_path), FLAGS)


@needs_gcc
@needs_meson
def test_flags_survive_meson(made_by_meson: Path) -> None:
    arguments = compiled(made_by_meson.parent)
    defined = [flag.replace("--define-macro=", "-D") for flag in arguments]
    assert holds(defined, FLAGS)


def test_the_interface_has_a_version() -> None:
    assert [build_text.interface_version(v) for v in ("0.1.0", "1.4.2")] == ["0.1", "1"]


# --- other projects -------------------------------------------------------------------------------


@needs_gcc
@needs_cmake
@pytest.mark.parametrize("kind", ["shared", "static"])
def test_a_cmake_project_finds_what_is_installed(
    kind: str, library: Path, made_by_cmake: Path, tmp_path: Path
) -> None:
    build, prefix = made_by_cmake, tmp_path / "prefix"
    if kind == "static":
        build = tmp_path / "build"
        words = ["-DCMAKE_INSTALL_LIBDIR=lib", "-DBUILD_SHARED_LIBS=OFF"]
        run("cmake", "-S", library, "-B", build, *words)
        run("cmake", "--build", build)
    run("ctest", "--test-dir", build)
    run("cmake", "--install", build, "--prefix", prefix)
    moved = prefix.rename(tmp_path / "moved")
    if kind == "shared":
        link = (moved / "lib/libwave1d.so").readlink()
        assert str(link) == "libwave1d.so.0.1"
        assert "[libwave1d.so.0.1]" in run("readelf", "-d", moved / "lib/libwave1d.so")
    consumer = tmp_path / "consumer"
    consumer.mkdir()
    (consumer / "CMakeLists.txt").write_text(CMAKE)
    (consumer / "main.c").write_text(MAIN)
    run("cmake", "-S", consumer, "-B", consumer / "build", f"-DCMAKE_PREFIX_PATH={moved}")
    run("cmake", "--build", consumer / "build")
    assert run(consumer / "build/consumer") == "done\n"
    (consumer / "CMakeLists.txt").write_text(CMAKE.replace("wave1d 0.1", "wave1d 0.2"))
    done = subprocess.run(
        ["cmake", "-S", consumer, "-B", tmp_path / "later", f"-DCMAKE_PREFIX_PATH={moved}"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode
    assert 'compatible with requested version "0.2"' in " ".join(done.stderr.split())


@needs_gcc
@needs_cmake
def test_it_is_a_part_of_another_cmake_project(library: Path, tmp_path: Path) -> None:
    shutil.copytree(library, tmp_path / "library")
    (tmp_path / "CMakeLists.txt").write_text(WITHIN)
    (tmp_path / "main.c").write_text(MAIN)
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    run("cmake", "--build", tmp_path / "build")
    assert run(tmp_path / "build/self_test") == "done\n"


def uses_pkg_config(prefix: Path, place: Path) -> None:
    """Checks that a program is compiled with what pkg-config says of the library, and runs."""
    path = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    assert run("pkg-config", "--modversion", "wave1d", **path) == "0.1.0\n"
    run("pkg-config", "--validate", "wave1d", **path)
    flags = shlex.split(run("pkg-config", "--cflags", "--libs", "wave1d", **path))
    (place / "main.c").write_text(MAIN)
    run("gcc", place / "main.c", "-o", place / "main", *flags)
    assert run(place / "main", LD_LIBRARY_PATH=str(prefix / "lib")) == "done\n"


@needs_gcc
@needs_cmake
@needs_pkg_config
def test_pkg_config_knows_what_cmake_installs(made_by_cmake: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    run("cmake", "--install", made_by_cmake, "--prefix", prefix)
    moved = prefix.rename(tmp_path / "moved")
    uses_pkg_config(moved, tmp_path)
    listed = run("pkg-config", "--list-all", PKG_CONFIG_PATH=str(moved / "lib/pkgconfig"))
    (line,) = (line for line in listed.splitlines() if line.startswith("wave1d "))
    assert line.endswith(f" - {TITLE}")


@needs_gcc
@needs_meson
@needs_pkg_config
def test_pkg_config_knows_what_meson_installs(made_by_meson: Path, tmp_path: Path) -> None:
    command, prefix = meson() or [], made_by_meson.with_name("prefix")
    run(*command, "test", "-C", made_by_meson)
    run(*command, "install", "-C", made_by_meson)
    uses_pkg_config(prefix, tmp_path)
    assert str((prefix / "lib/libwave1d.so").readlink()) == "libwave1d.so.0.1"


@needs_gcc
@needs_meson
def test_it_is_a_part_of_another_meson_project(library: Path, tmp_path: Path) -> None:
    shutil.copytree(library, tmp_path / "subprojects/wave1d")
    (tmp_path / "meson.build").write_text(MESON)
    (tmp_path / "main.c").write_text(MAIN)
    run(*(meson() or ()), "setup", tmp_path / "build", tmp_path)
    run("ninja", "-C", tmp_path / "build")
    assert run(tmp_path / "build/consumer") == "done\n"
