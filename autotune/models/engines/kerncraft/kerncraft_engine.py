"""Engine ``kerncraft``: the ECM model as published, with kerncraft's own numbers.

    alpha = T_ECM of kerncraft                cycles per cache line of work, Eq. 5 to 7
    zeta  = alpha * beta / delta              cycles, Eq. 8
    phi   = zeta / (f * min(tau, sigma))      seconds, Eq. 9
    theta = sum of phi + barriers             seconds of a node, Eq. 10; the slowest node counts

Source: Scherg, Seiferth, Korch, Rauber, ICPE 2019, section 4.1. beta counts the iterations of a
stretch in the node's block, delta those of a line, tau the threads of the node. A stretch is one of
a sweep of an IVP, or a whole sweep of a stencil. kerncraft analyses each stretch once; sizes and
cores are array arithmetic. Two rules of saturation:

    paper       sigma = T_ECM / T_Mem, a real number: saturated, a line takes exactly T_Mem
    kerncraft   the recursion over cores of kerncraft 0.8.18

NUMA domains saturate on their own, filled one after the other. Whatever the rule, no time is below
the bytes moved over the bandwidth. Working sets are those of a single loop, as kerncraft sees them:
what one kernel of the step leaves in a cache for the next one does not count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from autotune.codegen.tree import loop_tree
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem, Problem
from autotune.domain.results import Prediction
from autotune.domain.setup import Saturation
from autotune.domain.variant import Candidate
from autotune.models.engines.ecm_arithmetic import domain_share, step_seconds
from autotune.models.engines.explain import UNKNOWN_BARRIER
from autotune.models.engines.kerncraft import prediction_parts
from autotune.models.engines.kerncraft.grid_plan import grid_plan
from autotune.models.engines.kerncraft.node_plan import plan
from autotune.models.engines.kerncraft.node_stretches import (
    StretchModel,
    StretchRequests,
    StretchTiming,
)
from autotune.models.engines.kerncraft.step_plan import StepPlan
from autotune.models.engines.kerncraft.step_uncertainty import (
    TimedStep,
    interval,
    step_uncertainty,
)
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.models.traffic.passes import DOUBLE
from autotune.units import Seconds

RULES: dict[Saturation, str] = {
    "paper": "saturation rule paper: sigma = T_ECM / T_Mem as a real number",
    "kerncraft": "saturation rule kerncraft: the recursion over cores of kerncraft 0.8.18",
}
_ROUTE = "traffic by kerncraft 0.8.18 with layer conditions"


class KernelAnalyser(Protocol):
    """The interface of analysers of kernels for one machine."""

    def analyse(self, sources: Sequence[str]) -> Sequence[StretchModel | str]:
        """An ECM model per kernel text, or the reason why there is none."""


@dataclass(frozen=True, slots=True)
class _Case:
    """Everything that the prediction of one node depends on; equal cases have equal predictions."""

    plan: int
    problem: str
    size: str
    spread: tuple[int, int, int, str]
    """Threads of one rank, ranks, nodes, placement."""


@dataclass(slots=True)
class _PlannedCase:
    """A case under evaluation: its plan, and the positions of its stretches in the batch of
    requests.
    """

    plan: StepPlan
    candidate: Candidate
    requests: list[list[int]] = field(default_factory=list)
    """Per node, one for each stretch of the plan."""


class KerncraftEngine:
    """Predicts the slowest node of candidates, without communication between ranks.

    ``programs`` gives the program of a candidate, ``analyser`` the ECM model of a kernel on the
    machine. Each program is examined once, each kernel text analysed once, and equal cases are
    evaluated once.
    """

    name = "kerncraft"

    def __init__(
        self,
        machine: Machine,
        programs: Callable[[Candidate], loop_tree.StepProgram],
        analyser: KernelAnalyser,
        saturation: Saturation = "paper",
    ) -> None:
        self.machine = machine
        self.saturation: Saturation = saturation
        self._programs = programs
        self._analyser = analyser
        self._evaluator = Evaluator(machine)
        self._plans: dict[tuple[int, str], tuple[loop_tree.NodeBlock, StepPlan | str]] = {}
        self._models: dict[str, StretchModel | str] = {}
        self._done: dict[_Case, Prediction] = {}

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; where the engine cannot predict one, ``seconds``
        is None and a reason is stated.
        """
        plans = [self._plan(candidate) for candidate in candidates]
        self._analyse([step for _, step in plans if not isinstance(step, str)])
        requests: dict[_Case, _PlannedCase] = {}
        cases: list[tuple[_Case, StepPlan] | str] = []
        for candidate, (key, planned) in zip(candidates, plans, strict=True):
            usable = self._usable(planned)
            if isinstance(usable, str):
                cases.append(usable)
                continue
            case = _case(key, candidate)
            cases.append((case, usable))
            if case not in self._done:
                requests.setdefault(case, _PlannedCase(usable, candidate))
        self._evaluate(requests)
        return [
            self._unknown(case)
            if isinstance(case, str)
            else prediction_parts.with_notes(
                self._done[case[0]], self._conflicts(candidate, case[1])
            )
            for candidate, case in zip(candidates, cases, strict=True)
        ]

    # --- once per program and text --------------------------------------------------------

    def _plan(self, candidate: Candidate) -> tuple[int, StepPlan | str]:
        problem = candidate.problem
        try:
            program = self._programs(candidate)
        except (IllegalTransformation, ValueError) as error:
            return 0, f"no program to look at: {error}"
        key = (id(program.body), problem.definition)
        if key not in self._plans:
            try:
                planned = _planned(program, problem)
            except ValueError as error:
                planned = f"no schedule of the program: {error}"
            self._plans[key] = (program.body, planned)
        return id(program.body), self._plans[key][1]

    def _analyse(self, plans: Sequence[StepPlan]) -> None:
        texts = dict.fromkeys(s.text.text for planned in plans for s in planned.stretches)
        new = [text for text in texts if text not in self._models]
        if new:
            self._models.update(zip(new, self._analyser.analyse(new), strict=True))

    def _usable(self, planned: StepPlan | str) -> StepPlan | str:
        """The plan of a time step; or the reason, if kerncraft could not analyse one of its
        stretches.
        """
        for stretch in () if isinstance(planned, str) else planned.stretches:
            model = self._models[stretch.text.text]
            if isinstance(model, str):
                return f"sweep {stretch.sweep}: {model}"
        return planned

    # --- many cases at once ---------------------------------------------------------------

    def _evaluate(self, requests: dict[_Case, _PlannedCase]) -> None:
        batch = StretchRequests(self.machine, self.saturation)
        for case in requests.values():
            self._ask(case, batch)
        timing = batch.evaluate(self._models)
        for key, case in requests.items():
            self._done[key] = self._prediction(case, timing)

    def _ask(self, case: _PlannedCase, batch: StretchRequests) -> None:
        candidate = case.candidate
        memory, node = self.machine.memory.cores, self.machine.cores
        threads, placement = candidate.threads_per_node, candidate.placement
        cores, part = domain_share(threads, memory, placement, node)
        case.requests += [
            [batch.add(w.text, w.sizes, cores, w.iterations * part) for w in works]
            for works in case.plan.work(candidate)
        ]

    def _prediction(self, case: _PlannedCase, timing: StretchTiming) -> Prediction:
        candidate = case.candidate
        rows = np.array(case.requests)
        slowest = int(timing.seconds[rows].sum(axis=1).argmax())
        mine = timing.at(rows[slowest])
        barrier = self._evaluator.barrier(candidate.threads)
        barriers = case.plan.barriers * (barrier or 0.0)
        seconds = step_seconds(mine.seconds, case.plan.barriers, barrier or 0.0)
        parts = prediction_parts.parts(case.plan, mine, barriers)
        notes = [_ROUTE, *self._routes(case.plan), RULES[self.saturation]]
        if barrier is None:
            notes.append(UNKNOWN_BARRIER)
        notes += [note for stretch in case.plan.stretches for note in stretch.text.notes]
        threads, memory = candidate.threads_per_node, self.machine.memory.cores
        cores, _ = domain_share(threads, memory, candidate.placement, self.machine.cores)
        step = TimedStep(
            timing=mine,
            rough=[self._rough(stretch.text.text) for stretch in case.plan.stretches],
            barriers=barriers,
            seconds=seconds,
            on_grid=case.plan.on_grid,
        )
        unsure = step_uncertainty(self._evaluator, candidate, step)
        return Prediction(
            seconds=Seconds(seconds),
            interval=interval(seconds, unsure),
            parts=parts,
            engine=self.name,
            reason=prediction_parts.reason(case.plan, mine, barriers, seconds, cores),
            notes=tuple(dict.fromkeys(notes)),
            uncertainty=unsure,
        )

    def _rough(self, text: str) -> bool:
        """Whether the in-core time of a kernel is not that of OSACA for this very processor."""
        model = self._models[text]
        assert not isinstance(model, str), "only what was analysed is predicted"
        return model.counted or self.machine.in_core.approximate

    def _routes(self, planned: StepPlan) -> list[str]:
        """The in-core route of every kernel; those of some kernels only name them."""
        routes: dict[str, dict[str, None]] = {}
        for stretch in planned.stretches:
            model = self._models[stretch.text.text]
            assert not isinstance(model, str), "only what was analysed is predicted"
            routes.setdefault(model.in_core, {})[stretch.kernel.upper()] = None
        if len(routes) == 1:
            return [*routes]
        return [f"{', '.join(kernels)}: {route}" for route, kernels in routes.items()]

    def _conflicts(self, candidate: Candidate, planned: StepPlan) -> str | None:
        """A note where rows of a candidate share sets of the innermost cache, which layer
        conditions ignore; else None.
        """
        cache = self.machine.caches[0]
        pad_lines = self._programs(candidate).pad_lines
        leading = planned.leading(candidate, pad_lines, cache.line)
        if leading * DOUBLE // cache.line % cache.sets:
            return None
        return (
            f"rows lie a multiple of {cache.sets} lines apart, on the same sets of {cache.name}:"
            " layer conditions know no conflicts, and padding changes nothing for them"
        )

    def _unknown(self, reason: str) -> Prediction:
        return Prediction(seconds=None, interval=None, parts=(), engine=self.name, reason=reason)


def _planned(program: loop_tree.StepProgram, problem: AnyProblem) -> StepPlan | str:
    """The plan of a program; the reason where kerncraft cannot model it."""
    if isinstance(problem, Problem):
        return plan(program, problem.ivp)
    return grid_plan(program)


def _case(plan_key: int, candidate: Candidate) -> _Case:
    problem = candidate.problem
    return _Case(
        plan_key,
        problem.definition,
        problem.size_text,
        (candidate.threads, candidate.ranks, candidate.nodes, candidate.placement),
    )
