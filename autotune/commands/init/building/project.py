"""What a file or a folder is built by, if it is a project."""

import shutil
from pathlib import Path

from autotune.commands.init.building.build_plan import BuildPlan, Choose, chosen_program
from autotune.commands.init.building.cmake_plan import cmake_plan
from autotune.commands.init.building.make_plan import MAKEFILES, make_plan
from autotune.commands.init.building.source_plan import (
    DATABASE,
    database_plan,
    is_main,
    sources_in,
)
from autotune.errors import Fault, InputError, nearest

CMAKE = "CMakeLists.txt"
_OTHERS = {
    "configure": "run its ./configure, then give this folder again",
    "configure.ac": "run autoreconf -i and ./configure, then give this folder again",
    "meson.build": "build it (meson setup build; meson compile -C build) and give the executable",
    "Cargo.toml": "build it (cargo build --release) and give target/release/NAME",
    "go.mod": "build it (go build) and give the executable",
    "setup.py": "install it, and give a script that uses it",
    "pyproject.toml": "install it, and give a script that uses it",
}
"""Descriptions of builds that are not read, and what to do with them."""


def plan_of(path: Path, target: str, choose: Choose) -> BuildPlan | Path:
    """The plan of a project, or the source or executable that a path names; InputError for a folder
    without a program.
    """
    if path.is_dir():
        return _of_folder(path, target, choose)
    if path.name == CMAKE:
        return cmake_plan(path.absolute().parent, target, choose)
    if path.name in MAKEFILES:
        return make_plan(path.absolute().parent, target, choose)
    if path.name == DATABASE:
        return database_plan(path, target, choose)
    return path


def _of_folder(folder: Path, target: str, choose: Choose) -> BuildPlan | Path:
    folder = folder.absolute()
    has_make = any((folder / name).is_file() for name in MAKEFILES)
    if (folder / CMAKE).is_file() and (shutil.which("cmake") or not has_make):
        if shutil.which("cmake") is None:
            found = "it is a CMake project, and cmake is not installed"
            hint = "pip install cmake, or give an executable that you built"
            raise InputError(Fault(where=str(folder), found=found, hint=hint))
        return cmake_plan(folder, target, choose)
    if has_make:
        return make_plan(folder, target, choose)
    for place in (folder, folder / "build"):
        if (place / DATABASE).is_file():
            return database_plan(place / DATABASE, target, choose)
    return _main_in(folder, target, choose)


def _main_in(folder: Path, target: str, choose: Choose) -> Path:
    """The source with a main program, or the script, in a folder without a build description."""
    mains = {path.name: path for path in sources_in(folder) if is_main(path)}
    if not mains:
        scripts = sorted(folder.glob("*.py"))
        started = [s for s in scripts if "__main__" in s.read_text(errors="replace")]
        mains = {path.name: path for path in started or scripts[:1]}
    if mains:
        stems = {Path(name).stem: path for name, path in mains.items()}
        if target and target not in (*mains, *stems):
            found = f"it has no program {target!r}"
            hint = nearest(target, mains)
            raise InputError(Fault(where=str(folder), found=found, hint=hint))
        wanted = stems[target].name if target in stems else target
        return mains[chosen_program([*mains], wanted, "this folder", choose)]
    other = next((hint for name, hint in _OTHERS.items() if (folder / name).exists()), "")
    expected = "a Makefile, CMakeLists.txt, compile_commands.json, or a source with a main program"
    hint = other or "give the folder that has one, or a program"
    raise InputError(
        Fault(where=str(folder), found="it has no program", expected=expected, hint=hint)
    )
