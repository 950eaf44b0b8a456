"""From a config to ranked candidates: nothing is run."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autotune.commands.machine.calibration_text import QUIETER
from autotune.commands.rank.host_machine import resolve_machine, uncalibrated_machine
from autotune.commands.rank.named_programs import require_known
from autotune.domain.machine import Machine
from autotune.domain.ranking import Ranked, Ranking, rank
from autotune.domain.results import Prediction
from autotune.domain.setup import Setup
from autotune.errors import Fault, InputError, WorkFailed, nearest
from autotune.files import config
from autotune.measuring.host.stored_calibrations import outdated
from autotune.progress import Clock, Progress
from autotune.workloads.base import Count, EnumeratedSpace, Workload
from autotune.workloads.capacity import candidates_on, capacity_notes
from autotune.workloads.layouts import execution_layouts
from autotune.workloads.legal_baseline import illegal_baseline_note
from autotune.workloads.promising import promising
from autotune.workloads.shipped import workload_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSpace:
    """The legal candidates of each problem with their predictions, ranked; nothing has run."""

    workload: Workload
    machine: Machine
    enumerated: EnumeratedSpace
    rankings: tuple[Ranking, ...]
    """Problem by problem; by each engine in turn where several were asked for."""
    clock: Clock = field(default_factory=Clock)

    @property
    def setup(self) -> Setup:
        """The study that was ranked."""
        return self.workload.setup

    @property
    def machine_notes(self) -> tuple[str, ...]:
        """What a user must know of the machine, to be said once: of its memory, and that its
        calibration was disturbed, or is another version's, where predictions rest on it.
        """
        capacity = capacity_notes(self.enumerated, self.workload, self.machine)
        calibration = self.machine.calibration
        if calibration is None or not self.workload.predicted:
            return capacity
        notes = {
            "while other processes ran, so that intervals are wider:"
            f" {QUIETER}": calibration.contended,
            "by another version, which did not measure all that predictions rest on:"
            " autotune machine calibrate does, on that machine": outdated(calibration),
        }
        sentences = [
            f"{self.machine.name} was calibrated {how}" for how, holds in notes.items() if holds
        ]
        return (*capacity, *sentences)

    @property
    def candidate_notes(self) -> tuple[str, ...]:
        """For each problem: what looks wrong about it; why few candidates are legal, if so; why
        its baseline is illegal, if so, and what ``tune`` compares with.
        """
        notes = (
            illegal_baseline_note(
                self.enumerated,
                self.workload,
                self.machine,
                [entry.candidate for entry in ranking.entries],
                self.setup.builds[0],
            )
            for ranking in self.rankings
            if ranking.engine == self.engines[0]
        )
        return (
            *self.enumerated.notes,
            *(note for note in notes if note is not None),
        )

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that predicted, in order."""
        return tuple(dict.fromkeys(ranking.engine for ranking in self.rankings))


def load(path: Path, *, trusted: bool = True) -> Workload:
    """The workload of a config file; ConfigError with every mistake of the file at once.

    ``trusted``: whether compilers and flags of the file may be any. Raises InputError for those
    that may not, where they are named.
    """
    setup = config.load(path)
    return workload_of(setup if trusted else require_known(setup))


def rank_space(
    workload: Workload,
    progress: Progress,
    engines: Sequence[str] | None = None,
    listed: EnumeratedSpace | None = None,
    within: float = math.inf,
) -> RankedSpace:
    """Predict and rank every legal candidate; nothing is run.

    ``engines``: the engine of the setup if none is given. With two engines every problem is ranked
    by each of them. ``listed``: the candidates, where they were listed before. ``within``: the
    seconds, after calibration, from which on predictions are made in the cheapest way.
    """
    setup = workload.setup
    clock = Clock()
    started = time.monotonic()
    wanted = tuple(engines or (setup.engine,))
    for name in wanted:
        workload.check_engine(name)
    execution_layouts(setup, uncalibrated_machine(setup).cores)  # told before minutes of measuring
    machine = resolve_machine(workload, progress)
    clock.timed("calibrate", started)
    started = time.monotonic()
    enumerated = candidates_on(workload, machine) if listed is None else listed
    rankings: list[Ranking] = []
    for name in wanted:
        try:
            with workload.predictor(name, machine, progress, started + within) as engine:
                legal, predictions = promising(
                    enumerated, engine.predict, setup.selection.seed if workload.predicted else None
                )
        except InputError as error:
            if len(wanted) == 1:
                raise
            legal = enumerated.legal
            predictions = [_no_prediction(name, error)] * len(legal)
        rankings += _marked(rank(legal, predictions), enumerated)
    clock.timed("predict", started)
    return RankedSpace(
        workload=workload,
        machine=machine,
        enumerated=enumerated,
        rankings=tuple(rankings),
        clock=clock,
    )


def _marked(rankings: Sequence[Ranking], enumerated: EnumeratedSpace) -> list[Ranking]:
    """The rankings, in which candidates that were not drawn say so."""
    if not enumerated.sources:
        return list(rankings)
    drawn = {candidate.identity for candidate in enumerated.legal}
    return [
        replace(
            ranking,
            entries=tuple(replace(e, drawn=e.candidate.identity in drawn) for e in ranking.entries),
        )
        for ranking in rankings
    ]


def _no_prediction(engine: str, error: InputError) -> Prediction:
    """A prediction without a time, for an engine that cannot predict for this machine."""
    return Prediction(seconds=None, interval=None, parts=(), engine=engine, reason=str(error))


# --- finding things by name -----------------------------------------------------------------


def find(ranked: RankedSpace, name: str, engine: str | None = None) -> Ranked:
    """The ranked candidate of an id, identity or label; InputError suggests the nearest name.

    ``engine``: which engine's ranking to search; the first if none is given.
    """
    wanted = engine or ranked.engines[0]
    rankings = [ranking for ranking in ranked.rankings if ranking.engine == wanted]
    entries_named = [entry for ranking in rankings for entry in ranking.matching(name)]
    if len(entries_named) == 1:
        return entries_named[0]
    names = [e.candidate.id for ranking in rankings for e in ranking.entries]
    matching = [entry.candidate.id for entry in entries_named]
    raise InputError(
        Fault(
            where="candidate",
            found=f"{name!r} names {len(matching)} candidates" if matching else f"unknown {name!r}",
            expected="an id, an identity or a label, as rank prints them",
            hint=", ".join(matching[:3])
            or unlisted_hint(ranked.enumerated)
            or nearest_candidate(name, names),
        )
    )


def unlisted_hint(enumerated: EnumeratedSpace) -> str:
    """A hint where a problem has more candidates than can be listed; else empty."""
    count = max((source.count.value for source in enumerated.sources.values()), default=0)
    if not count:
        return ""
    return (
        f"of {Count(count)} candidates those that variants draws have a name here, and those that a"
        " study measured, if --store names its file"
    )


def nearest_candidate(name: str, names: Sequence[str]) -> str:
    """A hint naming the nearest candidate, one of the same variant if there is any; else empty.

    >>> nearest_candidate("jli-pad5@heat2d-N256-T3", ["lji-pad5@heat2d-N256-T3", "jli-pad5@wave"])
    'did you mean jli-pad5@wave?'
    """
    variant, at, _ = name.partition("@")
    return nearest(name, [n for n in names if n.startswith(variant + at)] if at else names) or (
        nearest(name, names)
    )


def require_predictions(ranked: RankedSpace) -> None:
    """Raise WorkFailed if not a single candidate could be predicted.

    Nothing is raised for a workload without predictions, such as a program without a model.
    """
    if not ranked.workload.predicted:
        return
    entries = [entry for ranking in ranked.rankings for entry in ranking.entries]
    if all(entry.prediction.seconds is None for entry in entries):
        raise WorkFailed(f"no candidate could be predicted: {entries[0].prediction.reason}")
