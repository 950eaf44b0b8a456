"""The engines of generated code by name, with the cost of communication added.

An engine is imported where it is used: predictions that are kept on disk need none.
"""

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

import numpy as np

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.machine import Machine
from autotune.domain.setup import Setup
from autotune.domain.variant import Build, Candidate
from autotune.errors import InputError
from autotune.files import codec
from autotune.models.engines.base import CandidatePredictor
from autotune.models.engines.kept_predictions import KeepingEngine
from autotune.models.engines.system import SystemEngine
from autotune.models.incore import incore_cache
from autotune.progress import Progress
from autotune.toolchain import compiler as compilers
from autotune.workloads.generated.foreign_builds import NotedBuilds

if TYPE_CHECKING:
    from autotune.models.incore.osaca_analyser import OsacaAnalyser

REUSE = "reuse"
"""The engine that compiles the loops of a candidate."""
NodeEngine = Callable[
    [Setup, Machine, SkeletonPrograms, Progress, float], AbstractContextManager[CandidatePredictor]
]


def loop_analyser(
    setup: Setup,
    machine: Machine,
    progress: Progress,
    stage: str = "analyse the compiled loops",
    until: float = math.inf,
) -> "OsacaAnalyser":
    """The analyser of compiled loops for a machine, with the compilers of this host.

    An error about a missing compiler names the place of its build in the config. ``until``: as of
    ``OsacaAnalyser``.
    """
    from autotune.models.incore import osaca_analyser

    def analysed(done: int, total: int) -> None:
        progress(stage, done, total)

    def assemble(text: str, build: Build) -> str:
        return osaca_analyser.assemble(text, build, setup.place_of_build(build))

    return osaca_analyser.OsacaAnalyser(machine, assemble=assemble, progress=analysed, until=until)


@contextmanager
def predictor(
    engine: str,
    setup: Setup,
    machine: Machine,
    programs: SkeletonPrograms,
    progress: Progress,
    until: float = math.inf,
) -> Iterator[CandidatePredictor]:
    """An engine of ``ENGINES``; its worker processes run until the context ends.

    ``until``: as of ``Workload.predictor``.
    """
    with ENGINES[engine](setup, machine, programs, progress, until) as node:
        yield SystemEngine(node, programs, machine.network)


@contextmanager
def _reuse(
    setup: Setup, machine: Machine, programs: SkeletonPrograms, progress: Progress, until: float
) -> Iterator[CandidatePredictor]:
    with contextlib.ExitStack() as workers:

        @functools.cache
        def analyser() -> "OsacaAnalyser":
            return workers.enter_context(loop_analyser(setup, machine, progress, until=until))

        def analysing() -> CandidatePredictor:
            from autotune.codegen.c.emit import sweep_code
            from autotune.models.engines.reuse.reuse_engine import ReuseEngine

            return ReuseEngine(machine, programs, analyser(), sweep_code)

        engine = KeepingEngine(
            REUSE,
            analysing,
            lambda candidates: _basis(setup, machine, candidates),
            lambda: analyser().lasting,
        )
        yield engine if setup.machine is None else NotedBuilds(engine, machine)


def _basis(setup: Setup, machine: Machine, candidates: Sequence[Candidate]) -> list[str]:
    """What the predictions of engine ``reuse`` depend on besides the candidates, as text."""
    problems = {id(candidate.problem): candidate.problem for candidate in candidates}
    basis = [codec.dump(machine), np.__version__, *map(str, incore_cache.versions())]
    basis += [repr(setup.skeleton), *map(repr, problems.values())]
    for build in {candidate.build: None for candidate in candidates}:
        with contextlib.suppress(InputError):  # without a compiler no prediction is kept
            basis.append(compilers.find(build, setup.place_of_build(build)).identity)
    return basis


@contextmanager
def _kerncraft(
    setup: Setup,
    machine: Machine,
    programs: SkeletonPrograms,
    progress: Progress,
    until: float,  # noqa: ARG001 - kerncraft has no cheaper way
) -> Iterator[CandidatePredictor]:
    from autotune.models.engines.kerncraft.kerncraft_engine import KerncraftEngine
    from autotune.models.kerncraft.kernel_routes import KernelRoutes

    def examined(done: int, total: int) -> None:
        progress("analyse with kerncraft", done, total)

    with KernelRoutes(machine, progress=examined) as kerncraft:
        yield KerncraftEngine(machine, programs, kerncraft, setup.saturation)


@contextmanager
def _planes(
    setup: Setup,  # noqa: ARG001 - the signature is that of all engines
    machine: Machine,
    programs: SkeletonPrograms,  # noqa: ARG001
    progress: Progress,  # noqa: ARG001
    until: float,  # noqa: ARG001
) -> Iterator[CandidatePredictor]:
    from autotune.workloads.stencil.planes.planes_engine import PlanesEngine

    yield PlanesEngine(machine)


ENGINES: Mapping[str, NodeEngine] = {REUSE: _reuse, "kerncraft": _kerncraft, "planes": _planes}
"""The engines at node level; one that is not for a problem says so of each of its candidates."""
