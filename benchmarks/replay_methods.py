"""Who searches a recorded space in the benchmark, and how a run of it is scored."""

import functools
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import replay_models
import replay_priors
from replay_failing import failing
from replay_optuna import tpe
from replay_peers import KernelTuner
from replay_performance import performance
from replay_score import COLD, NEVER, OURS, Run
from replay_search import evaluated

from autotune.commands.replay.recorded_candidates import RecordedCandidates, candidates_of
from autotune.domain.setup import Learner
from autotune.files.recorded.read_recorded import read
from autotune.files.recorded.recorded_space import Floats, RecordedSpace
from autotune.tuning.search.model_search import ModelSearch
from autotune.tuning.search.points import Points, points
from autotune.tuning.search.policy import Policy

STRATEGIES = {
    "kt-genetic": "genetic_algorithm",
    "kt-greedy-ils": "greedy_ils",
    "kt-basin-hopping": "basinhopping",
}
"""Kernel Tuner's optimisers."""
PEERS = ("random", "tpe", *STRATEGIES)
METHODS = (OURS, "order", *PEERS)
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
    python: str
    """The Python that has kernel_tuner."""
    residual: Learner = "process"
    """Of our search: what learns where the model is wrong."""
    prior: str = replay_priors.NONE
    sibling: str = ""
    """The file of the space that the prior ``sibling`` is of."""
    failing: float = 0.0
    """The share of candidates that fail, by regions; 0: those that the file says."""

    @property
    def setting(self) -> str:
        """The model with what differs from the recorded space."""
        return f"{self.model}, {self.failing:.0%} failing" if self.failing else self.model

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
    stop = NEVER
    given = _given(space, task)
    started = time.process_time()
    if task.method == OURS:
        order, stop = _ours(space, given, task)
    elif task.method == "order":
        order = [int(row) for row in np.argsort(given.predicted, kind="stable")[: task.budget]]
    elif task.method == "random":
        generator = np.random.default_rng(task.seed)
        order = [int(row) for row in generator.permutation(len(space))[: task.budget]]
    elif task.method == "tpe":
        order = tpe(space, task.budget, task.seed)
    else:
        strategy = STRATEGIES[task.method]
        order = _kernel_tuner(task.python).order(space, strategy, task.budget, task.seed)
    return Run(
        space=task.space,
        method=task.label,
        model=task.setting,
        seed=task.seed,
        budget=task.budget,
        to5=_first(space, 0.05, order),
        to1=_first(space, 0.01, order),
        stop=stop,
        cpu=time.process_time() - started,
        steps=len(order),
        performance=performance(space, order, task.budget),
    )


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


def _ours(space: RecordedSpace, given: Points, task: Task) -> tuple[list[int], float]:
    """The rows that our search evaluates until one is within 1 %, and when it would have stopped.

    The budget alone ends a run here, as for the peers.
    """
    search = ModelSearch(given, Policy(residual=task.residual), seed=task.seed)
    return evaluated(
        _recorded(*_recording(task)),
        given,
        search,
        near=space.within(0.01),
        budget=task.budget,
        seed=task.seed,
    )


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
def _kernel_tuner(python: str) -> KernelTuner:
    return KernelTuner(python)
