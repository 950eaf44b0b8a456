"""Engine ``program`` of a setup: the predictor for the model of its program, with worker
processes.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from autotune.codegen.c.emit import sweep_code
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.machine import Machine
from autotune.domain.program import Program, Template, filled
from autotune.domain.program_model import (
    AssertedModel,
    FormulaModel,
    KerncraftModel,
    KernelModel,
    MarkedModel,
)
from autotune.domain.results import Prediction
from autotune.domain.setup import Setup
from autotune.domain.variant import Build, Candidate
from autotune.files import config
from autotune.models.engines.base import CandidatePredictor, CompiledSweep
from autotune.models.engines.kerncraft.kerncraft_engine import KerncraftEngine
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.incore.marked import marked_build
from autotune.models.incore.osaca_analyser import OsacaAnalyser
from autotune.models.kerncraft.kernel_routes import KernelRoutes
from autotune.progress import Progress
from autotune.toolchain import child_process
from autotune.workloads.generated.engines import loop_analyser
from autotune.workloads.program.engine.asserted_model import AssertedRoute
from autotune.workloads.program.engine.compiled_loops import Command, CompiledLoops
from autotune.workloads.program.engine.formula_facts import FormulaValues
from autotune.workloads.program.engine.formula_model import FormulaRoute
from autotune.workloads.program.engine.kerncraft_kernel import KerncraftRoute
from autotune.workloads.program.engine.kernel_model import KernelRoute, ModelSubject
from autotune.workloads.program.engine.marked_kerncraft import MarkedKerncraftRoute
from autotune.workloads.program.engine.marked_model import MarkedRoute
from autotune.workloads.program.engine.program_engine import NAME, ProgramEngine, unknown
from autotune.workloads.program.measuring.command_line import places, program_problem


@contextmanager
def program_engine(
    setup: Setup,
    machine: Machine,
    progress: Progress,
    engine: str = NAME,
    until: float = math.inf,
) -> Iterator[ProgramEngine]:
    """An engine of programs by name; its worker processes run until the context ends.

    ``until``: as of ``Workload.predictor``.
    """
    with ExitStack() as stack:
        routes = Routes(setup, machine, progress, stack, until)
        route = routes if engine == NAME else routes.by_kerncraft
        yield ProgramEngine(route, engine)


class Routes:
    """Gives the predictor of a program; worker processes end with the exit stack."""

    def __init__(
        self,
        setup: Setup,
        machine: Machine,
        progress: Progress,
        stack: ExitStack,
        until: float = math.inf,
    ) -> None:
        self._setup = setup
        self._machine = machine
        self._progress = progress
        self._until = until
        self._stack = stack
        self._facts = FormulaValues(machine)

    def __call__(self, program: Program) -> CandidatePredictor:
        """The predictor of a program that has a model."""
        model = program.model
        if isinstance(model, KerncraftModel):
            return self._kerncraft(model)
        if isinstance(model, KernelModel):
            return self._kernel(model)
        if isinstance(model, MarkedModel):
            return self.marked(model)
        if isinstance(model, AssertedModel):
            return AssertedRoute(model, self._machine, self._facts)
        assert isinstance(model, FormulaModel), "a program with a model"
        return FormulaRoute(model, self._facts)

    def by_kerncraft(self, program: Program) -> CandidatePredictor:
        """The predictor of a program that has a model, with kerncraft's ECM model."""
        model = program.model
        if isinstance(model, KerncraftModel):
            return self._kerncraft(model)
        if isinstance(model, KernelModel):
            node = KerncraftEngine(
                self._machine, self._programs(model), self._routes(), self._setup.saturation
            )
            return KernelRoute(model, self._subject(model), node, self._facts)
        if isinstance(model, MarkedModel):
            return MarkedKerncraftRoute(
                model, self._machine, self.marked(model), self._routes(), self._setup.saturation
            )
        return NoLoops()

    def marked(self, model: MarkedModel) -> MarkedRoute:
        """The predictor for models of marked loops."""
        command = tuple(Template(text) for text in model.compile)

        def commands(candidate: Candidate) -> Command:
            return _command(command, candidate)

        def compiled(done: int, total: int) -> None:
            self._progress("compile the marked loops", done, total)

        loops = CompiledLoops(model, self._analyser(), commands, _Compilers(self._setup), compiled)
        return MarkedRoute(model, self._machine, loops, self._facts)

    def _kerncraft(self, model: KerncraftModel) -> KerncraftRoute:
        return KerncraftRoute(
            model, self._machine, self._routes(), self._facts, self._setup.saturation
        )

    def _routes(self) -> KernelRoutes:
        def examined(done: int, total: int) -> None:
            self._progress("analyse with kerncraft", done, total)

        return self._stack.enter_context(KernelRoutes(self._machine, progress=examined))

    def _kernel(self, model: KernelModel) -> KernelRoute:
        programs = self._programs(model)
        engine = ReuseEngine(self._machine, programs, self._analyser(), sweep_code)
        return KernelRoute(model, self._subject(model), engine, self._facts)

    def _programs(self, model: KernelModel) -> SkeletonPrograms:
        return SkeletonPrograms(config.generated(model.space).skeleton)

    def _subject(self, model: KernelModel) -> ModelSubject:
        return ModelSubject(
            generated=config.generated(model.space),
            stencil=config.stencil(model.stencil) if model.stencil else None,
            ivp=config.ivp(model.ivp) if model.ivp else None,
            method=config.method(model.method) if model.method else None,
        )

    def _analyser(self) -> OsacaAnalyser:
        return self._stack.enter_context(
            loop_analyser(self._setup, self._machine, self._progress, until=self._until)
        )


class NoLoops:
    """Predicts nothing: the model of the program has no loop that kerncraft could look at."""

    name = "kerncraft"

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """A prediction without a time for each candidate, with the reason."""
        reason = "the model names no loop: kerncraft needs marked loops, or a kernel in its C"
        return [unknown(reason)] * len(candidates)


class _Compilers:
    """The compilers of this host, as far as the setup is trusted."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    def assemble(self, command: Command, source: str, build: Build) -> str:
        where = self._setup.place_of_build(build)
        return marked_build.assembly(command, source, where, trusted=self._setup.trusted)

    def interrupt(self) -> None:
        child_process.end_all()


def program_loops(
    setup: Setup, machine: Machine, candidate: Candidate, progress: Progress
) -> tuple[CompiledSweep, ...]:
    """The compiled marked loops of a candidate; empty for another kind of model."""
    model = program_problem(candidate).program.model
    if not isinstance(model, MarkedModel):
        return ()
    with ExitStack() as stack:
        return Routes(setup, machine, progress, stack).marked(model).loops(candidate)


def _command(command: tuple[Template, ...], candidate: Candidate) -> Command:
    """The compiler's command line of a candidate."""
    values = {**places(candidate, "program", None), "compiler": candidate.build.compiler}
    return tuple(filled(command, values, candidate.build.flags))
