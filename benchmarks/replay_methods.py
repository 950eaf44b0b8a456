"""Who searches a recorded space in the benchmark, and how a run of it is scored."""

import functools
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import replay_models
import replay_priors
from replay_failing import failing
from replay_noise import drawn, measurer
from replay_optuna import tpe
from replay_peers import PEERS, Worker
from replay_performance import expected_curve, performance
from replay_score import COLD, NEVER, OURS, Run
from replay_search import Evaluated, UntilNear, evaluated

from autotune.commands.replay.flow import replay_plan
from autotune.commands.replay.recorded_candidates import RecordedCandidates, candidates_of
from autotune.domain.setup import Learner, Measuring
from autotune.files.recorded.read_recorded import read
from autotune.files.recorded.recorded_space import Floats, RecordedSpace
from autotune.tuning.search.model_search import ModelSearch
from autotune.tuning.search.points import Points, points
from autotune.tuning.search.policy import Policy

PLAIN = ("random", "tpe")
"""Peers that run in this process."""
METHODS = (OURS, "order", *PLAIN, *PEERS)
"""``order``: by prediction, nothing learned. The others without a model."""
MODELS = (
    COLD, "independent 0.2", "independent 0.4", "systematic 0.2", "systematic 0.4", "engine",
    "correlation -0.5", "correlation 0", "correlation 0.3", "correlation 0.6", "correlation 0.9",
)  # fmt: skip
"""``engine``: the predictions that the recorded file holds, where it holds any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One run to be made."""

    path: str
    space: str
    method: str
    model: str
    seed: int
    budget: int
    horizon: int
    """Evaluations that P is averaged over at most; the same for all methods."""
    peers: str
    """The folder of the virtual environments of the peers."""
    residual: Learner = "process"
    """Of our search: what learns where the model is wrong."""
    prior: str = replay_priors.NONE
    sibling: str = ""
    """The file of the space that the prior ``sibling`` is of."""
    failing: float = 0.0
    """The share of candidates that fail, by regions; 0: those that the file says."""
    noise: int = 0
    """Launches of each evaluation of a peer, with drawn times; 0: the recorded ones."""

    @property
    def setting(self) -> str:
        """The model with what differs from the recorded space."""
        parts = [self.model]
        parts += [f"{self.failing:.0%} failing"] if self.failing else []
        parts += [f"noise {self.noise}"] if self.noise else []
        return ", ".join(parts)

    @property
    def label(self) -> str:
        """The method with what differs from the default."""
        parts = [self.method]
        parts += [self.residual] if self.residual != "process" else []
        parts += [f"prior {self.prior}"] if self.prior != replay_priors.NONE else []
        return ", ".join(parts)


def perform(task: Task) -> Run:
    """Search the space of a task as it says."""
    space = _space(*_recording(task))
    given = _given(space, task)
    started = time.process_time()
    result = _ours(space, given, task) if task.method == OURS else _peer(space, given, task)
    cpu = time.process_time() - started
    loss = NEVER if result.best is None else float(space.seconds[result.best]) / space.best - 1
    return Run(
        space=task.space,
        method=task.label,
        model=task.setting,
        seed=task.seed,
        budget=task.budget,
        to5=_first(space, 0.05, result.order),
        to1=_first(space, 0.01, result.order),
        stop=result.stop,
        cpu=cpu,
        steps=len(result.order),
        performance=performance(space, result.order, task.horizon),
        loss=loss,
        launches=result.launches,
    )


def _peer(space: RecordedSpace, given: Points, task: Task) -> Evaluated:
    """What a peer evaluates; its fastest by the times that it was told is the best to it."""
    seen = drawn(space, task.seed, task.noise) if task.noise else space
    if task.method == "order":
        order = [int(row) for row in np.argsort(given.predicted, kind="stable")[: task.budget]]
    elif task.method == "random":
        generator = np.random.default_rng(task.seed)
        order = [int(row) for row in generator.permutation(len(space))[: task.budget]]
    elif task.method == "tpe":
        order = tpe(seen, task.budget, task.seed)
    else:
        peer = PEERS[task.method]
        worker = _worker(task.peers, peer.package)
        order = worker.order(seen, peer.technique, task.budget, task.seed)
    able = [row for row in order if space.statuses[row] == "ok"]
    best = min(able, key=lambda row: seen.seconds[row], default=None)
    return Evaluated(order=order, best=best, launches=len(order) * max(task.noise, 1))


def _given(space: RecordedSpace, task: Task) -> Points:
    """The candidates with what is known of them before a run."""
    predicted = predictions(space, task)
    given = points(space.names, space.rows, predicted=predicted)
    if task.method != OURS or task.prior == replay_priors.NONE:
        return given
    if task.prior == "sibling":
        other = _space(task.sibling, 0.0, 0)
    else:
        other = replay_priors.source(space, task.prior, task.seed)
    return replace(given, prior=replay_priors.prior(space, predicted, other, task.seed))


def predictions(space: RecordedSpace, task: Task) -> Floats:
    """What the model of a task predicts: emulated, the file's own, or nothing."""
    if task.model == COLD:
        return np.full(len(space), np.nan)
    if task.model == "engine":
        return space.predicted
    name, size = task.model.split()
    kind = next(kind for kind in replay_models.KINDS if kind == name)
    return replay_models.emulated(space, kind, float(size), task.seed)


def _ours(space: RecordedSpace, given: Points, task: Task) -> Evaluated:
    """What our search evaluates until one is within 1 % and P is known, or the budget is used up.

    With drawn times to the budget, since it cannot know how near it is; launched as in a study.
    """
    recorded = _recorded(*_recording(task))
    search = UntilNear(
        ModelSearch(given, Policy(residual=task.residual), seed=task.seed),
        near=space.within(0.01) & (task.noise == 0),
        least=len(expected_curve(space, task.horizon)),
    )
    if task.noise:
        plan = replay_plan(task.budget, task.seed, Measuring(samples=1))
        return evaluated(recorded, given, search, measurer(recorded, task.seed), plan)
    plan = replay_plan(task.budget, task.seed)
    return evaluated(recorded, given, search, recorded.measurer(), plan)


def _first(space: RecordedSpace, share: float, order: list[int]) -> float:
    near = space.within(share)
    return next((float(n) for n, row in enumerate(order, 1) if near[row]), NEVER)


def _recording(task: Task) -> tuple[str, float, int]:
    """The file of a task, the share of candidates that fail, and the seed of their regions."""
    return task.path, task.failing, task.seed if task.failing else 0


@functools.lru_cache(maxsize=32)
def _recorded(path: str, share: float, seed: int) -> RecordedCandidates:
    return candidates_of(_space(path, share, seed))


@functools.lru_cache(maxsize=32)
def _space(path: str, share: float, seed: int) -> RecordedSpace:
    """The recorded space of a file, of which a share fails if that is not 0."""
    space = read(Path(path)) if not share else _space(path, 0.0, 0)
    return failing(space, share, seed) if share else space


@functools.cache
def _worker(folder: str, package: str) -> Worker:
    peer = next(peer for peer in PEERS.values() if peer.package == package)
    return Worker(Path(folder), peer)
