"""Programs of the user's: built and run by their own commands, predicted by their own models."""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem, ProgramProblem
from autotune.domain.program import Program, filled
from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.setup import Setup
from autotune.domain.variant import Build, Candidate, Value, Variant
from autotune.errors import Fault, InputError, one_of
from autotune.models.engines.base import CandidatePredictor, CompiledSweep
from autotune.progress import Progress
from autotune.toolchain import compiler as compilers
from autotune.toolchain.compiler import Compiler
from autotune.workloads.base import EnumeratedSpace
from autotune.workloads.layouts import execution_layouts, largest
from autotune.workloads.program import model_route, program_space, program_words
from autotune.workloads.program.engine.program_engine import ProgramEngine
from autotune.workloads.program.measuring.command_line import (
    ProgramBuilder,
    openmp,
    places,
    program_problem,
    tools,
)
from autotune.workloads.program.measuring.program_measurer import ProgramMeasurer
from autotune.workloads.program.program_needs import check_program

SCRIPT = "build-and-run.sh"
"""The file that builds and runs one candidate."""


@dataclass(frozen=True, slots=True)
class ProgramWorkload:
    """A program with its arguments, in the combinations of its parameters."""

    setup: Setup

    @property
    def program(self) -> Program:
        """The program that the study is about."""
        subject = self.setup.subject
        if not isinstance(subject, Program):
            raise TypeError(f"{subject.name} is not a program")
        return subject

    @property
    def title(self) -> str:
        """One of its problems in words."""
        return "a program"

    @property
    def engines(self) -> tuple[str, ...]:
        """The engine that predicts by the model of the program."""
        return (ProgramEngine.name,)

    @property
    def predicted(self) -> bool:
        """Whether the program has a model."""
        return self.program.model is not None

    @property
    def refusals(self) -> Mapping[str, Fault]:
        """What needs code that autotune generates."""
        name = self.program.name
        unknown = {
            option: Fault(
                where=option,
                found=f"{name} is a program of its own: its parts are not known",
                expected="a config with a space of generated code",
            )
            for option in ("--phases", "--dissect")
        }
        sizes = Fault(
            where="--formula",
            found="a program, whose size is no single number",
            expected="a kernel of ours",
        )
        sources = Fault(
            where=self.setup.place("program"),
            found=f"this needs generated code, {name} is a program of its own",
            expected="a config with a space",
        )
        return {**unknown, "--formula": sizes, "--emit-job": sources}

    def at(self, setup: Setup) -> "ProgramWorkload":
        """The program with another setup."""
        return ProgramWorkload(setup)

    def check_engine(self, engine: str) -> None:
        """Raise InputError for an engine of generated code."""
        if engine not in self.engines:
            raise InputError(
                Fault(
                    where="--engine",
                    found=f"engine {engine} does not predict {self.title}",
                    expected=one_of(self.engines),
                )
            )

    def check(self) -> None:
        """Raise InputError or MissingTool for compilers, packages and tools that are missing."""
        for build in self.setup.compiled_builds:
            compilers.find(build, self.setup.place_of_build(build))
        check_program(self.program)

    def candidates(self, cores: int) -> EnumeratedSpace:
        """Every combination of parameters; illegal are those that a constraint forbids.

        Of an illegal combination one layout is named: it is in all of them, or for its threads.
        """
        layouts = execution_layouts(self.setup, cores)
        by_threads = any("threads" in c.require.names for c in self.program.constraints)
        legal: list[Candidate] = []
        illegal: list[tuple[str, AnyProblem, str]] = []
        for problem in self._problems():
            sifted: dict[int, program_space.ParameterCombinations] = {}
            for build, layout in product(self.setup.builds, layouts):
                threads = layout.threads if by_threads else 0
                if threads not in sifted:
                    sifted[threads] = program_space.sift(problem, threads)
                    for values, constraint in sifted[threads].illegal:
                        left_out = Candidate(
                            variant=self._variant(values),
                            problem=problem,
                            build=build,
                            layout=layout,
                        )
                        illegal.append((left_out.label, problem, constraint.words))
                legal += [
                    Candidate(
                        variant=self._variant(values), problem=problem, build=build, layout=layout
                    )
                    for values in sifted[threads].legal
                ]
            program_space.check_baseline(problem, max(layout.threads for layout in layouts))
        return EnumeratedSpace(legal=legal, illegal=illegal)

    def _problems(self) -> list[ProgramProblem]:
        return [p for p in self.setup.problems if isinstance(p, ProgramProblem)]

    def baseline(self, problem: AnyProblem, cores: int, build: Build) -> Candidate:
        """The program's own baseline on the most threads."""
        variant = self._variant(self.program.baseline)
        layout = largest(execution_layouts(self.setup, cores))
        return Candidate(variant=variant, problem=problem, build=build, layout=layout)

    def _variant(self, values: Mapping[str, Value]) -> Variant:
        return Variant(
            skeleton=self.program.name,
            definition=self.program.definition,
            transformations=(),
            parameters=dict(values),
        )

    def predictor(
        self,
        engine: str,  # noqa: ARG002 - there is one
        machine: Machine,
        progress: Progress,
    ) -> AbstractContextManager[CandidatePredictor]:
        """The engine of the program's model."""
        return model_route.program_engine(self.setup, machine, progress)

    def measurer(self, machine: Machine) -> ProgramMeasurer:
        """Runs the commands and compares answers with that of the baseline."""
        setup = self.setup

        def compiler(build: Build) -> Compiler:
            return compilers.find(build, setup.place_of_build(build))

        def baseline(problem: ProgramProblem) -> Candidate:
            return self.baseline(problem, machine.cores, setup.builds[0])

        return ProgramMeasurer(
            measuring=setup.measuring,
            limits=setup.limits,
            workshop=ProgramBuilder(compiler=compiler, limit=setup.limits.compile),
            baseline=baseline,
            launcher=setup.launcher,
            environment=setup.environment,
        )

    def sources(self, candidate: Candidate, folder: Path) -> Mapping[str, str]:
        """A shell script with the commands of a candidate, every argument quoted.

        What is built goes into the folder.
        """
        program = program_problem(candidate).program
        compiler = compilers.find(candidate.build) if program.compiled else None
        flags = compiler.flags if compiler else ()
        output = str(folder.resolve() / program.name)
        values = places(candidate, output, compiler)
        filled_in = {"flags": " ".join(flags), **values}
        variables = {n: t.fill(filled_in) for n, t in program.environment.items()}
        exports = {**openmp(candidate), **variables}
        lines = ["#!/bin/sh", f"# {' '.join(candidate.id.split())}", "set -e"]
        lines += [shlex.join(filled(command, values, flags)) for command in program.build]
        lines += [f"export {n}={shlex.quote(t)}" for n, t in exports.items() if t is not None]
        lines += [f"cd {shlex.quote(program.folder)}"] if program.folder else []
        lines.append(shlex.join(filled(program.run, values, flags)))
        return {SCRIPT: "\n".join(lines) + "\n"}

    def loops(
        self, entry: Ranked, machine: Machine, progress: Progress
    ) -> tuple[CompiledSweep, ...]:
        """The marked loops of a candidate as they were compiled; none for other models."""
        return model_route.program_loops(self.setup, machine, entry.candidate, progress)

    def features(self, candidate: Candidate) -> None:
        """No modelling vector is stated for programs."""

    def versions(self) -> Mapping[str, str]:
        """The interpreter, packages and tools of the commands."""
        return {"tools": tools(self.program)}

    def unpredicted(self, rankings: Sequence[Ranking], machine: Machine) -> str:
        """What happens without a model, and how to change it; empty where there is one."""
        return "" if self.predicted else program_words.unranked(self.program, rankings, machine)
