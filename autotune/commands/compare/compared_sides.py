"""Two sides or more, as the command line names them: studies, revisions, machines."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from autotune.commands.compare.command import SideOptions
from autotune.commands.compare.compared_revisions import compare_revisions
from autotune.commands.compare.study_reference import stored_study
from autotune.commands.rank.host_machine import machine
from autotune.commands.rank.ranked_space import RankedSpace, load, rank_space
from autotune.domain.ranking import Ranked
from autotune.files.store.store_rows import candidate_record
from autotune.progress import Progress
from autotune.results.comparison.side_comparison import (
    ComparedProblem,
    PairVerdict,
    RatioRange,
    SideComparison,
    SideFacts,
    SideWinner,
    same_settings,
)
from autotune.results.comparison.study_sides import StudySide, compare_studies, explained
from autotune.results.evaluate.study_evaluation import varied


def compare(
    names: Sequence[str], options: SideOptions, store: str, progress: Progress, *, trust: bool
) -> SideComparison:
    """Compare what the options name; InputError for a side that does not exist."""
    if options.revisions is not None:
        return compare_revisions(
            options.revisions, Path(names[0]), options.budget_seconds, store, progress
        )
    if options.machines is not None:
        return compare_machines(options.machines, Path(names[0]), progress, trust=trust)
    return compare_studies([StudySide.of(name, stored_study(name, store)) for name in names])


def compare_machines(
    names: tuple[str, str], config: Path, progress: Progress, *, trust: bool
) -> SideComparison:
    """What is predicted best for a config on two machines, by the engine of the config; nothing is
    run.
    """
    workload = load(config, trusted=trust)
    machines = [machine(name) for name in names]  # a wrong name is told before anything is ranked
    spaces = [
        rank_space(workload.at(dataclasses.replace(workload.setup, machine=described)), progress)
        for described in machines
    ]
    sides = tuple(
        SideFacts(
            name=name,
            kind="machine",
            words=f"predicted by engine {space.engines[0]}",
            machine=space.machine.title,
            compilers="; ".join(" ".join((b.compiler, *b.flags)) for b in workload.setup.builds),
        )
        for name, space in zip(names, spaces, strict=True)
    )
    problems = tuple(_predicted(names, spaces, number) for number in range(len(spaces[0].rankings)))
    return SideComparison(sides=sides, problems=problems)


def _predicted(
    names: tuple[str, str], spaces: Sequence[RankedSpace], number: int
) -> ComparedProblem:
    facts = spaces[0].rankings[number].problem.facts()
    entries = [space.rankings[number].entries[0] for space in spaces]
    lacking = [
        f"{name}: {entry.prediction.reason}"
        for name, entry in zip(names, entries, strict=True)
        if entry.prediction.seconds is None
    ]
    winners = [_winner(name, e) for name, e in zip(names, entries, strict=True)]
    ready = [winner for winner in winners if winner is not None]
    pairs: tuple[PairVerdict, ...] = ()
    if len(ready) == len(names):
        pairs = (_pair(ready[0], ready[1], entries, spaces[1], number),)
    return ComparedProblem(
        label=facts.label,
        objective=facts.goal,
        winners=tuple(ready),
        pairs=pairs,
        not_compared=tuple(lacking),
    )


def _winner(name: str, entry: Ranked) -> SideWinner | None:
    record, prediction = candidate_record(entry.candidate), entry.prediction
    if prediction.seconds is None:
        return None
    return SideWinner(
        side=name,
        candidate=record.label,
        settings=varied(record),
        cost=prediction.seconds,
        interval=prediction.interval,
        measured=False,
        contenders=1,
        speedup=None,
        prediction=prediction,
    )


def _pair(
    first: SideWinner,
    second: SideWinner,
    entries: Sequence[Ranked],
    space: RankedSpace,
    number: int,
) -> PairVerdict:
    ratio = first.cost / second.cost
    same = same_settings(first.settings, second.settings)
    there = {
        entry.candidate.identity: entry.prediction.seconds
        for entry in space.rankings[number].entries
    }
    kept = there.get(entries[0].candidate.identity)
    keeping = None
    if not same and kept is not None:
        keeping = RatioRange(value=kept / second.cost, low=None, high=None)
    return PairVerdict(
        first=first.side,
        second=second.side,
        ratio=RatioRange(value=ratio, low=None, high=None),
        faster="second" if ratio > 1 else "first",
        basis="predicted, not measured: no interval is known",
        winner="same" if same else "moved",
        keeping=keeping,
        explanation=explained(
            (first.candidate, entries[0].prediction),
            (second.candidate, entries[1].prediction),
            same=same,
        ),
    )
