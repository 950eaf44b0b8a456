"""Checks that this host has what a user's programs need."""

import contextlib
import importlib.metadata
import shutil
from pathlib import Path

from autotune.domain.program import Program
from autotune.errors import Fault, MissingTool
from autotune.workloads.program.measuring.command_line import literal_tools


def check_program(program: Program) -> None:
    """Raise MissingTool, with its place, for what a program needs and this host lacks.

    One error lists everything: commands of its build and run, Python packages, the working folder.
    """
    faults = [*_missing_packages(program), *_missing_tools(program)]
    if program.folder and not Path(program.folder).is_dir():
        where = program.places.get("folder", program.source)
        faults.append(Fault(where=where, found=f"there is no folder {program.folder}"))
    if faults:
        raise MissingTool(*faults)


def _missing_packages(program: Program) -> list[Fault]:
    faults = []
    for name, install in program.packages.items():
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version(name)
            continue
        faults.append(
            Fault(
                where=program.places.get(f"packages.{name}", program.source),
                found=f"{program.name} needs the Python package {name!r}, which is not installed",
                hint=install,
            )
        )
    return faults


def _missing_tools(program: Program) -> list[Fault]:
    faults = []
    for key, commands in (("build", program.build), ("run", (program.run,))):
        for tool in literal_tools(commands):
            if shutil.which(tool) is None:
                faults.append(
                    Fault(
                        where=program.places.get(key, program.source),
                        found=f"{tool!r} is not installed",
                        expected="a program on PATH, or a path to one",
                    )
                )
    return faults
