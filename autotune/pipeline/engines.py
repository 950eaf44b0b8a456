"""The prediction engines of a setup, by name: node level, and communication on top."""

from collections.abc import Iterator
from contextlib import contextmanager

from autotune import config
from autotune.analysis import incore
from autotune.analysis.incore import OsacaAnalyser
from autotune.analysis.kerncraft import KerncraftAnalyser
from autotune.codegen.emit import sweep_code
from autotune.codegen.programs import Programs
from autotune.machine import Machine
from autotune.pipeline.program_engine import program_engine
from autotune.prediction.base import Predictor
from autotune.prediction.kerncraft import KerncraftEngine
from autotune.prediction.planes import PlanesEngine
from autotune.prediction.reuse import ReuseEngine
from autotune.prediction.system import SystemEngine
from autotune.progress import Progress
from autotune.setup import Engine, Setup
from autotune.variant import Build


@contextmanager
def predictor(
    name: Engine, setup: Setup, machine: Machine, programs: Programs | None, progress: Progress
) -> Iterator[Predictor]:
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
    name: Engine, setup: Setup, machine: Machine, programs: Programs, progress: Progress
) -> Iterator[Predictor]:
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
        return incore.assemble(text, build, setup.place(f"builds.{setup.builds.index(build)}"))

    with OsacaAnalyser(machine, assemble=assemble, progress=analysed) as analyser:
        yield ReuseEngine(machine, programs, analyser, sweep_code)
