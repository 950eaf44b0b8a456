"""Workloads whose code is generated, predicted by its loops, and measured on this host.

What emits and measures code is imported where it is used: ranking does neither.
"""

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.codegen import storage
from autotune.codegen.tree import loop_tree
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem
from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.setup import Setup
from autotune.domain.variant import Build, Candidate
from autotune.errors import AutotuneError, Fault, InputError, one_of
from autotune.models.engines.base import CandidatePredictor, CompiledSweep
from autotune.progress import Progress
from autotune.toolchain import compiler as compilers
from autotune.toolchain.compiler import Compiler
from autotune.units import Bytes
from autotune.workloads.base import EnumeratedSpace
from autotune.workloads.generated import candidate_space, engines
from autotune.workloads.generated.base import GeneratedKind

if TYPE_CHECKING:
    from autotune.measuring.candidates.host_measurer import HostMeasurer


@dataclass(frozen=True)
class GeneratedWorkload:
    """Problems of one kind for which C code is generated, in the variants of a space."""

    setup: Setup
    kind: GeneratedKind
    programs: SkeletonPrograms = field(init=False, compare=False, repr=False)
    """The programs of its candidates, each made once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "programs", SkeletonPrograms(self.setup.skeleton))

    @property
    def title(self) -> str:
        """The kind of its problems in words."""
        return self.kind.title

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that can predict its problems, the default first."""
        return self.kind.engines

    @property
    def predicted(self) -> bool:
        """True: all generated code is predicted."""
        return True

    @property
    def refusals(self) -> Mapping[str, Fault]:
        """Empty: all options are supported, because every part of the code is known."""
        return {}

    def at(self, setup: Setup) -> "GeneratedWorkload":
        """The same kind of problems with another setup."""
        return GeneratedWorkload(setup, self.kind)

    def check_engine(self, engine: str) -> None:
        """Raise InputError for an engine of programs, or if a compiler of loops is missing."""
        if engine not in engines.ENGINES:
            raise InputError(
                Fault(
                    where="--engine",
                    found=f"engine {engine} does not predict {self.title}",
                    expected=one_of(self.engines),
                )
            )
        if engine == engines.REUSE:
            self._compilers()

    def check(self) -> None:
        """Raise InputError for a compiler that is missing, refuses its flags, or lacks OpenMP."""
        for compiler, where in self._compilers():
            compilers.require_openmp(compiler, where)

    def _compilers(self) -> list[tuple[Compiler, str]]:
        """The compilers of all builds, with the places of the builds in the config."""
        places = [self.setup.place_of_build(build) for build in self.setup.builds]
        return [
            (compilers.find(build, where), where)
            for build, where in zip(self.setup.builds, places, strict=True)
        ]

    def candidates(self, cores: int) -> EnumeratedSpace:
        """Every combination of the space, legal or with the reason why not, the baseline first."""
        return candidate_space.enumerate_candidates(self.setup, self.kind, self.programs, cores)

    def baseline(self, problem: AnyProblem, cores: int, build: Build) -> Candidate:
        """The baseline of the space; its first combination if it names none."""
        return candidate_space.baseline(self.setup, self.kind, problem, cores, build)

    def predictor(
        self, engine: str, machine: Machine, progress: Progress, until: float = math.inf
    ) -> AbstractContextManager[CandidatePredictor]:
        """An engine by name, with the cost of communication added."""
        return engines.predictor(engine, self.setup, machine, self.programs, progress, until)

    def measurer(self, machine: Machine) -> "HostMeasurer":  # noqa: ARG002
        """The measurer, which compares results with the reference and times steps."""
        from autotune.measuring.candidates.host_measurer import HostMeasurer

        setup = self.setup

        def compiler(build: Build) -> Compiler:
            return compilers.find(build, setup.place_of_build(build))

        return HostMeasurer(
            measuring=setup.measuring,
            limits=setup.limits,
            sources=self.units,
            compiler=compiler,
            launcher=setup.launcher,
            mpi_launcher=setup.mpi_launcher,
            environment=setup.environment,
        )

    def units(self, candidate: Candidate) -> Mapping[str, str]:
        """The C source files of a candidate's measuring program, by file name."""
        from autotune.codegen.c import harness

        distributed = candidate.ranks > 1
        return harness.units(self.programs(candidate), candidate.problem, distributed=distributed)

    def sources(self, candidate: Candidate, folder: Path) -> Mapping[str, str]:  # noqa: ARG002
        """The C source files of a candidate's measuring program; independent of the folder."""
        return self.units(candidate)

    def loops(
        self, entry: Ranked, machine: Machine, progress: Progress
    ) -> tuple[CompiledSweep, ...]:
        """The compiled sweeps of a candidate; empty for an engine that compiles nothing.

        The analysis of the prediction is cached on disk, so this takes no time.
        """
        from autotune.codegen.c.emit import sweep_code

        candidate = entry.candidate
        if entry.prediction.engine != engines.REUSE:
            return ()
        try:
            program = self.programs(candidate)
        except (AutotuneError, ValueError):
            return ()
        sweeps = {sweep.name: sweep for sweep in loop_tree.every_sweep(program.body)}
        codes = [sweep_code(sweep) for sweep in sweeps.values()]
        stage = "read the compiled loops"
        try:
            with engines.loop_analyser(self.setup, machine, progress, stage) as analyser:
                results = analyser.analyse(codes, candidate.build)
        except AutotuneError:
            return ()
        return tuple(
            CompiledSweep(sweep=sweep.name, kernel=sweep.kernel, result=result)
            for sweep, result in zip(sweeps.values(), results, strict=True)
        )

    def stored_bytes(self, candidate: Candidate) -> Bytes:
        """Bytes of all arrays that a candidate allocates on a node."""
        return storage.node_bytes(self.programs(candidate), candidate.problem, candidate.layout)

    def features(self, candidate: Candidate) -> Mapping[str, int] | None:
        """The modelling vector of a candidate; None if its kind has none."""
        return self.kind.features(candidate)

    def versions(self) -> Mapping[str, str]:
        """Empty: no tools are used besides the compilers."""
        return {}

    def unpredicted(self, rankings: Sequence[Ranking], machine: Machine) -> str:  # noqa: ARG002
        """Empty: all generated code is predicted."""
        return ""
