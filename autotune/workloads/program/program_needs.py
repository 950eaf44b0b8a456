"""Programs of the user's: what they need on this host, and who measures them."""

import contextlib
import importlib.metadata
import shutil
from pathlib import Path

from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Program
from autotune.domain.setup import Setup
from autotune.domain.variant import Build, Candidate
from autotune.errors import Fault, MissingTool
from autotune.toolchain import compiler as compilers
from autotune.toolchain.compiler import Compiler
from autotune.workloads.generated import candidate_space
from autotune.workloads.program.measuring.command_line import ProgramBuilder, literal_tools
from autotune.workloads.program.measuring.program_measurer import ProgramMeasurer


def check_program(setup: Setup) -> None:
    """Raise MissingTool, with its place, for what a program needs and this host lacks.

    All of it at once: commands of its build and run, Python packages, the working folder. Nothing
    for a study of generated code.
    """
    program = setup.program
    if program is None:
        return
    faults = [*_missing_packages(program), *_missing_tools(program)]
    if program.folder and not Path(program.folder).is_dir():
        where = program.places.get("folder", program.source)
        faults.append(Fault(where=where, found=f"there is no folder {program.folder}"))
    if faults:
        raise MissingTool(*faults)


def program_measurer(setup: Setup, cores: int) -> ProgramMeasurer:
    """The measurer of a study of a program on this host; the machine has ``cores``."""

    def compiler(build: Build) -> Compiler:
        return compilers.find(build, setup.place(f"builds.{setup.builds.index(build)}"))

    def baseline(problem: ProgramProblem) -> Candidate:
        return candidate_space.baseline(setup, problem, cores, setup.builds[0])

    return ProgramMeasurer(
        measuring=setup.measuring,
        limits=setup.limits,
        workshop=ProgramBuilder(compiler=compiler, limit=setup.limits.compile),
        baseline=baseline,
        launcher=setup.launcher,
        environment=setup.environment,
    )


def _missing_packages(program: Program) -> list[Fault]:
    faults = []
    for package in program.packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            importlib.metadata.version(package.name)
            continue
        faults.append(
            Fault(
                where=program.places.get(f"packages.{package.name}", program.source),
                found=f"{program.name} needs the Python package {package.name!r},"
                " which is not installed",
                hint=package.install,
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
