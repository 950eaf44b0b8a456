"""From a config to ranked candidates: nothing is run."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.commands.rank.engines import predictor
from autotune.commands.rank.host_machine import resolve_machine, uncalibrated_machine
from autotune.domain.machine import Machine
from autotune.domain.ranking import Ranked, Ranking, rank
from autotune.domain.results import Prediction
from autotune.domain.setup import ENGINES, FAMILIES, Engine, Setup
from autotune.errors import Fault, InputError, WorkFailed, nearest, one_of
from autotune.files import config
from autotune.progress import Clock, Progress
from autotune.toolchain import compiler as compilers
from autotune.workloads.generated import candidate_space


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSpace:
    """What is known before anything runs: the legal candidates of each problem, ranked."""

    setup: Setup
    machine: Machine
    enumerated: candidate_space.EnumeratedSpace
    rankings: tuple[Ranking, ...]
    """Problem by problem; by each engine in turn where several were asked for."""
    clock: Clock = field(default_factory=Clock)

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that predicted, in order."""
        return tuple(dict.fromkeys(ranking.engine for ranking in self.rankings))


def load(path: Path) -> Setup:
    """Config to domain: ConfigError with every mistake of the file at once."""
    return config.load(path)


def rank_space(
    setup: Setup, progress: Progress, engines: Sequence[Engine] | None = None
) -> RankedSpace:
    """Predict and rank every legal candidate; nothing is run.

    ``engines``: that of the setup where none is given; with two every problem is ranked by both.
    """
    clock = Clock()
    started = time.monotonic()
    wanted = tuple(engines or (setup.engine,))
    _check_engines(setup, wanted)
    if "reuse" in wanted:
        check_builds(setup)
    candidate_space.spreads(
        setup, uncalibrated_machine(setup).cores
    )  # told before minutes of measuring
    machine = resolve_machine(setup, progress)
    clock.timed("calibrate", started)
    started = time.monotonic()
    programs = None if setup.program else SkeletonPrograms(setup.skeleton)
    enumerated = enumerate_space(setup, machine, programs)
    rankings: list[Ranking] = []
    for name in wanted:
        try:
            with predictor(name, setup, machine, programs, progress) as engine:
                predictions = engine.predict(enumerated.legal)
        except InputError as error:
            if len(wanted) == 1:
                raise
            predictions = [_unable(name, error)] * len(enumerated.legal)
        rankings += rank(enumerated.legal, predictions)
    clock.timed("predict", started)
    return RankedSpace(
        setup=setup,
        machine=machine,
        enumerated=enumerated,
        rankings=tuple(rankings),
        clock=clock,
    )


def _unable(engine: Engine, error: InputError) -> Prediction:
    """What an engine says on a machine that is not for it, beside one that can."""
    return Prediction(seconds=None, interval=None, parts=(), engine=engine, reason=str(error))


def _check_engines(setup: Setup, wanted: Sequence[Engine]) -> None:
    """Raise InputError for an engine of generated code and a program, or the other way round."""
    for name in wanted:
        if (name == "program") != (setup.program is not None):
            raise InputError(
                Fault(
                    where="--engine",
                    found=f"engine {name} does not predict {FAMILIES[setup.family]}",
                    expected=one_of(ENGINES[setup.family]),
                )
            )


def check_builds(setup: Setup, *, openmp: bool = False) -> None:
    """Raise InputError, with its place, for a compiler that is missing or refuses its flags.

    With ``openmp`` also for one that cannot build a program with threads; whether a program of the
    user's has any is not known.
    """
    for index, build in enumerate(setup.compiled_builds):
        where = setup.place(f"builds.{index}")
        compiler = compilers.find(build, where)
        if openmp and setup.program is None:
            compilers.require_openmp(compiler, where)


def enumerate_space(
    setup: Setup, machine: Machine, programs: SkeletonPrograms | None = None
) -> candidate_space.EnumeratedSpace:
    """The legal candidates of a setup, and the illegal ones with their reasons.

    Raises InputError if the constraints leave nothing.
    """
    enumerated = candidate_space.enumerate_candidates(setup, machine.cores, programs)
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


def find(ranked: RankedSpace, name: str, engine: str | None = None) -> Ranked:
    """The ranked candidate of an id, identity or label; InputError names the nearest.

    ``engine``: by whose prediction, the first where none is given.
    """
    wanted = engine or ranked.engines[0]
    rankings = [ranking for ranking in ranked.rankings if ranking.engine == wanted]
    found = [entry for ranking in rankings for entry in ranking.matching(name)]
    if len(found) == 1:
        return found[0]
    known = [e.candidate.id for ranking in rankings for e in ranking.entries]
    matching = [entry.candidate.id for entry in found]
    raise InputError(
        Fault(
            where="candidate",
            found=f"{name!r} names {len(matching)} candidates" if matching else f"unknown {name!r}",
            expected="an id, an identity or a label, as rank prints them",
            hint=", ".join(matching[:3]) or nearest(name, known),
        )
    )


def require_predictions(ranked: RankedSpace) -> None:
    """Raise WorkFailed when not a single candidate could be predicted.

    A program without a model is none of them: nobody said how long it takes.
    """
    program = ranked.setup.program
    if program is not None and program.model is None:
        return
    entries = [entry for ranking in ranked.rankings for entry in ranking.entries]
    if all(entry.prediction.seconds is None for entry in entries):
        raise WorkFailed(f"no candidate could be predicted: {entries[0].prediction.reason}")
