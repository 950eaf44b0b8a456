"""The prediction engines of a setup, by name: node level, and communication on top."""

from collections.abc import Iterator
from contextlib import contextmanager

from autotune.codegen.c.emit import sweep_code
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.machine import Machine
from autotune.domain.setup import Engine, Setup
from autotune.domain.variant import Build
from autotune.files import config
from autotune.models.engines.base import CandidatePredictor
from autotune.models.engines.kerncraft.kerncraft_engine import KerncraftEngine
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.engines.system import SystemEngine
from autotune.models.incore import osaca_analyser
from autotune.models.incore.osaca_analyser import OsacaAnalyser
from autotune.models.kerncraft import KerncraftAnalyser
from autotune.progress import Progress
from autotune.workloads.program.model_route import program_engine
from autotune.workloads.stencil.planes.planes_engine import PlanesEngine


@contextmanager
def predictor(
    name: Engine,
    setup: Setup,
    machine: Machine,
    programs: SkeletonPrograms | None,
    progress: Progress,
) -> Iterator[CandidatePredictor]:
    """The engine of this name, with its workers running until the block is left.

    ``programs``: None for a program of the user's.
    """
    if programs is None:
        with program_engine(setup, machine, progress) as engine:
            yield engine
        return
    with _node(name, setup, machine, programs, progress) as node:
        yield SystemEngine(node, programs, machine.network)


@contextmanager
def _node(
    name: Engine, setup: Setup, machine: Machine, programs: SkeletonPrograms, progress: Progress
) -> Iterator[CandidatePredictor]:
    if name == "planes":
        yield PlanesEngine(machine)
        return
    if name == "kerncraft":

        def examined(done: int, total: int) -> None:
            progress("analyse with kerncraft", done, total)

        text = config.kerncraft_text(machine)
        with KerncraftAnalyser(text, progress=examined) as kerncraft:
            yield KerncraftEngine(machine, programs, kerncraft, setup.saturation)
        return

    def analysed(done: int, total: int) -> None:
        progress("analyse the compiled loops", done, total)

    def assemble(text: str, build: Build) -> str:
        return osaca_analyser.assemble(
            text, build, setup.place(f"builds.{setup.builds.index(build)}")
        )

    with OsacaAnalyser(machine, assemble=assemble, progress=analysed) as analyser:
        yield ReuseEngine(machine, programs, analyser, sweep_code)
