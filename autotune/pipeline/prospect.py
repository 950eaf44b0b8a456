"""From a config to ranked candidates: nothing is run."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from autotune import config
from autotune.analysis import incore
from autotune.analysis.incore import OsacaAnalyser
from autotune.codegen import space
from autotune.codegen.emit import sweep_code
from autotune.codegen.programs import Programs
from autotune.errors import Fault, InputError, WorkFailed, nearest
from autotune.machine import Machine
from autotune.pipeline.machines import resolve_machine
from autotune.prediction.reuse import ReuseEngine
from autotune.progress import Clock, Progress
from autotune.ranking import Ranked, Ranking, rank
from autotune.setup import Setup
from autotune.toolchain import compiler as compilers
from autotune.variant import Build


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospect:
    """What is known before anything runs: the legal candidates of each problem, ranked."""

    setup: Setup
    machine: Machine
    enumerated: space.Enumerated
    rankings: tuple[Ranking, ...]
    clock: Clock = field(default_factory=Clock)


def load(path: Path) -> Setup:
    """Config to domain: ConfigError with every mistake of the file at once."""
    return config.load(path)


def prospect(setup: Setup, progress: Progress) -> Prospect:
    """Predict and rank every legal candidate; nothing is run."""
    clock = Clock()
    started = time.monotonic()
    check_builds(setup)
    machine = resolve_machine(setup, progress)
    clock.timed("calibrate", started)
    started = time.monotonic()
    programs = Programs(setup.skeleton)
    enumerated = enumerate_space(setup, machine, programs)

    def analysed(done: int, total: int) -> None:
        progress("analyse the compiled loops", done, total)

    def assemble(text: str, build: Build) -> str:
        return incore.assemble(text, build, setup.place(f"builds.{setup.builds.index(build)}"))

    with OsacaAnalyser(machine, assemble=assemble, progress=analysed) as analyser:
        engine = ReuseEngine(machine, programs, analyser, sweep_code)
        predictions = engine.predict(enumerated.legal)
    clock.timed("predict", started)
    return Prospect(
        setup=setup,
        machine=machine,
        enumerated=enumerated,
        rankings=tuple(rank(enumerated.legal, predictions)),
        clock=clock,
    )


def check_builds(setup: Setup, *, openmp: bool = False) -> None:
    """Raise InputError, with its place, for a compiler that is missing or refuses its flags.

    With ``openmp`` also for one that cannot build a program with threads.
    """
    for index, build in enumerate(setup.builds):
        where = setup.place(f"builds.{index}")
        compiler = compilers.find(build, where)
        if openmp:
            compilers.require_openmp(compiler, where)


def enumerate_space(
    setup: Setup, machine: Machine, programs: Programs | None = None
) -> space.Enumerated:
    """The legal candidates of a setup, and the illegal ones with their reasons.

    Raises InputError if the constraints leave nothing.
    """
    enumerated = space.enumerate_candidates(setup, machine.cores, programs)
    if not enumerated.legal:
        reasons = sorted({reason for _, _, reason in enumerated.illegal})
        raise InputError(
            Fault(
                where=setup.place("space"),
                found=f"no candidate of space {setup.space.name} is legal",
                expected="at least one",
                hint="; ".join(reasons[:3]),
            )
        )
    return enumerated


# --- finding things by name -----------------------------------------------------------------


def find(prospect: Prospect, name: str) -> Ranked:
    """The ranked candidate of an id, identity or label; InputError names the nearest."""
    found = [entry for ranking in prospect.rankings for entry in ranking.matching(name)]
    if len(found) == 1:
        return found[0]
    known = [e.candidate.id for ranking in prospect.rankings for e in ranking.entries]
    matching = [entry.candidate.id for entry in found]
    raise InputError(
        Fault(
            where="candidate",
            found=f"{name!r} names {len(matching)} candidates" if matching else f"unknown {name!r}",
            expected="an id, an identity or a label, as rank prints them",
            hint=", ".join(matching[:3]) or nearest(name, known),
        )
    )


def require_predictions(prospect: Prospect) -> None:
    """Raise WorkFailed when not a single candidate could be predicted."""
    entries = [entry for ranking in prospect.rankings for entry in ranking.entries]
    if all(entry.prediction.seconds is None for entry in entries):
        raise WorkFailed(f"no candidate could be predicted: {entries[0].prediction.reason}")
