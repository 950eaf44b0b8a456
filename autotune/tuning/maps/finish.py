"""The finished map from an exploration: verified winners, few contenders, the loss of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from autotune.domain.decision_map import Choice, Contender, DecisionMap, MapCell
from autotune.domain.metric import TIME, Metric
from autotune.tuning.maps import losses, merge
from autotune.tuning.maps.explore import Explorer
from autotune.tuning.maps.map_prior import Flags, Floats, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The descriptive facts of a map: labels, names, contenders, notes."""

    label: str
    title: str
    size_name: str
    engine: str
    contenders: tuple[Contender, ...]
    left_out: int
    problems: tuple[str, ...]
    """Label of each cell."""
    n: tuple[int, ...]
    """Of each cell."""
    candidates: Sequence[Sequence[str]]
    """Identity of each contender in each cell."""
    failed: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """(contender, cell) to status."""
    goal: Metric = TIME
    """What the candidates are judged by."""


def finish(explorer: Explorer, facts: Facts, stopped: str) -> DecisionMap:
    """The finished map from the present state of an exploration.

    It names only contenders that were measured somewhere and so verified, as far as there are any.
    """
    aim, prior = explorer.aim, explorer.prior
    cells = prior.cells
    trusted = _trusted(explorer)
    verdict = losses.judge(explorer.mean, explorer.draws, trusted)
    verdict_losses = losses.losses(verdict.winner, explorer.draws, explorer.legal)
    mean, twins = _with_twins(explorer.mean, prior.twin), prior.twin
    usable = _usable(trusted, twins)
    choice = merge.merged(cells, mean, usable, aim.tolerance)
    everywhere = np.arange(len(cells))
    program = twins[choice, everywhere]
    few_losses = losses.losses(program, explorer.draws, explorer.legal)
    winners = _choices(explorer, facts, verdict.winner, verdict.winner, verdict_losses)
    few = _choices(explorer, facts, choice, program, few_losses)
    price = np.expm1(explorer.mean[program, everywhere] - explorer.mean[verdict.winner, everywhere])
    chances = losses.chances(explorer.draws, explorer.legal)
    return DecisionMap(
        label=facts.label,
        title=facts.title,
        goal=facts.goal,
        size_name=facts.size_name,
        engine=facts.engine,
        level=aim.level,
        tolerance=aim.tolerance,
        contenders=facts.contenders,
        left_out=facts.left_out,
        sizes=cells.sizes,
        threads=cells.threads,
        cells=tuple(
            MapCell(
                size=cells.at(c)[0],
                n=facts.n[c],
                threads=cells.at(c)[1],
                problem=facts.problems[c],
                winner=winners[c],
                probability=float(chances[verdict.winner[c], c]),
                second=_second(chances[:, c], int(verdict.winner[c])),
                merged=few[c],
                measured={s.contender: float(np.exp(s.time)) for s in explorer.seen if s.cell == c},
                failed={k: status for (k, cell), status in facts.failed.items() if cell == c},
            )
            for c in range(len(cells))
        ),
        whole=losses.summary(verdict_losses, aim.level),
        merged=losses.summary(few_losses, aim.level),
        price=(float(price.mean()), float(price.max())),
        evaluations=len(explorer.seen),
        pairs=int(prior.legal.sum()),
        stopped=stopped,
    )


def _trusted(explorer: Explorer) -> Flags:
    """(K, C): legal contenders that were measured in some cell; all legal ones in cells without
    any.
    """
    measured = np.zeros(len(explorer.legal), dtype=np.bool_)
    measured[[seen.contender for seen in explorer.seen]] = True
    trusted = explorer.legal & measured[:, None]
    return np.asarray(np.where(trusted.any(axis=0), trusted, explorer.legal))


def _with_twins(times: Floats, twin: Whole) -> Floats:
    """(..., K, C): the times, where contenders that are the same program share one time."""
    return np.asarray(times[..., np.maximum(twin, 0), np.arange(times.shape[-1])])


def _usable(trusted: Flags, twin: Whole) -> Flags:
    usable = trusted[np.maximum(twin, 0), np.arange(twin.shape[1])] & (twin >= 0)
    return np.asarray(usable & np.asarray(trusted.any(axis=1))[:, None], dtype=np.bool_)


def _choices(
    explorer: Explorer, facts: Facts, named: Whole, program: Whole, chosen_losses: Floats
) -> list[Choice]:
    """The choice for each cell; ``program``: the contender whose times stand for the named one."""
    aim, twin = explorer.aim, explorer.prior.twin
    bounds = losses.bounds(chosen_losses, aim.level)
    draws, teams = _with_twins(explorer.draws, twin), len(explorer.prior.cells.threads)
    between = losses.between(named, draws, _usable(explorer.legal, twin), teams, aim.level)
    return [
        Choice(
            contender=int(contender),
            candidate=facts.candidates[int(contender)][c],
            seconds=float(np.exp(explorer.mean[program[c], c])),
            loss=float(chosen_losses[:, c].mean()),
            bound=float(bounds[c]),
            between=float(between[c]),
        )
        for c, contender in enumerate(named.tolist())
    ]


def _second(chances: Floats, winner: int) -> int | None:
    order = [k for k in np.argsort(-chances, kind="stable").tolist() if k != winner]
    return order[0] if order and chances[order[0]] > 0 else None
