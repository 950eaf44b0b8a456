"""Engine ``kerncraft``: the ECM model as published, with kerncraft's own numbers.

    alpha = T_ECM of kerncraft                cycles per cache line of work, Eq. 5 to 7
    zeta  = alpha * beta / delta              cycles, Eq. 8
    phi   = zeta / (f * min(tau, sigma))      seconds, Eq. 9
    theta = sum of phi + barriers             seconds of a node, Eq. 10; the slowest node counts

Source: Scherg, Seiferth, Korch, Rauber, ICPE 2019, section 4.1. beta counts the iterations of a
stretch in the node's block, delta those of a line, tau the threads of the node. kerncraft analyses
each stretch once; sizes and cores are array arithmetic. Two rules of saturation:

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

from autotune.codegen.c.kerncraft_c import SHARE
from autotune.codegen.tree import loop_tree
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.machine import Machine
from autotune.domain.problem import Problem
from autotune.domain.results import Prediction
from autotune.domain.setup import Saturation
from autotune.domain.variant import Candidate
from autotune.models.engines.ecm_arithmetic import domain_share, step_seconds
from autotune.models.engines.kerncraft import prediction_parts
from autotune.models.engines.kerncraft.node_plan import NodePlan, node_blocks, plan
from autotune.models.engines.kerncraft.node_stretches import (
    StretchModel,
    StretchRequests,
    StretchTiming,
)
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.models.traffic.passes import DOUBLE
from autotune.models.traffic.set_conflicts import leading_dimension
from autotune.units import Seconds

RULES: dict[Saturation, str] = {
    "paper": "saturation rule paper: sigma = T_ECM / T_Mem as a real number",
    "kerncraft": "saturation rule kerncraft: the recursion over cores of kerncraft 0.8.18",
}
_ROUTE = (
    "kerncraft 0.8.18 with layer conditions; in-core by OSACA on the loop as kerncraft compiles it,"
    " whatever the build of the candidate"
)


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

    plan: NodePlan
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
        self._barriers = Evaluator(machine)
        self._plans: dict[tuple[int, str], tuple[loop_tree.NodeBlock, NodePlan | str]] = {}
        self._models: dict[str, StretchModel | str] = {}
        self._done: dict[_Case, Prediction] = {}

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; where the engine cannot predict one, ``seconds``
        is None and a reason is stated.
        """
        plans = [self._plan(candidate) for candidate in candidates]
        self._analyse([node_plan for _, node_plan in plans if isinstance(node_plan, NodePlan)])
        requests: dict[_Case, _PlannedCase] = {}
        cases: list[_Case | str] = []
        for candidate, (key, node_plan) in zip(candidates, plans, strict=True):
            usable = self._usable(node_plan)
            if isinstance(usable, str):
                cases.append(usable)
                continue
            case = _case(key, candidate)
            cases.append(case)
            if case not in self._done:
                requests.setdefault(case, _PlannedCase(usable, candidate))
        self._evaluate(requests)
        return [
            self._unknown(case)
            if isinstance(case, str)
            else prediction_parts.with_notes(self._done[case], self._conflicts(candidate))
            for candidate, case in zip(candidates, cases, strict=True)
        ]

    # --- once per program and text --------------------------------------------------------

    def _plan(self, candidate: Candidate) -> tuple[int, NodePlan | str]:
        problem = candidate.problem
        if not isinstance(problem, Problem):
            return 0, "engine kerncraft analyses IVPs only, not stencils"
        try:
            program = self._programs(candidate)
        except (IllegalTransformation, ValueError) as error:
            return 0, f"no program to look at: {error}"
        key = (id(program.body), problem.definition)
        if key not in self._plans:
            try:
                node_plan = plan(program, problem.ivp)
            except ValueError as error:
                node_plan = f"no schedule of the program: {error}"
            self._plans[key] = (program.body, node_plan)
        return id(program.body), self._plans[key][1]

    def _analyse(self, plans: Sequence[NodePlan]) -> None:
        texts = dict.fromkeys(s.text.text for node_plan in plans for _, s in node_plan.stretches)
        new = [text for text in texts if text not in self._models]
        if new:
            self._models.update(zip(new, self._analyser.analyse(new), strict=True))

    def _usable(self, node_plan: NodePlan | str) -> NodePlan | str:
        """The plan of a node; or the reason, if kerncraft could not analyse one of its
        stretches.
        """
        for _, stretch in node_plan.stretches if isinstance(node_plan, NodePlan) else ():
            model = self._models[stretch.text.text]
            if isinstance(model, str):
                return f"sweep {stretch.sweep}: {model}"
        return node_plan

    # --- many cases at once ---------------------------------------------------------------

    def _evaluate(self, requests: dict[_Case, _PlannedCase]) -> None:
        batch = StretchRequests(self.machine, self.saturation)
        for case in requests.values():
            self._ask(case, batch)
        timing = batch.evaluate(self._models)
        for key, case in requests.items():
            self._done[key] = self._prediction(case, timing)

    def _ask(self, case: _PlannedCase, batch: StretchRequests) -> None:
        candidate, problem = case.candidate, case.candidate.problem
        threads = candidate.threads_per_node
        memory, node = self.machine.memory.cores, self.machine.cores
        cores, part = domain_share(threads, memory, candidate.placement, node)
        assert isinstance(problem, Problem), "a plan is of an IVP"
        values = problem.ivp.values(problem.size)
        for block in node_blocks(problem.n, case.plan.granule, candidate.ranks, candidate.nodes):
            rows = []
            share = -(-(block[1] - block[0]) // threads)
            for kernel in case.plan.kernels:
                counts = kernel.components(block, values)
                for stretch, count in zip(kernel.stretches, counts, strict=True):
                    mine = min(share, max(1, round(count)))
                    rows.append(
                        batch.add(
                            stretch.text.text,
                            stretch.text.sizes({**values, SHARE: mine}),
                            cores,
                            count * kernel.executions / stretch.text.components * part,
                        )
                    )
            case.requests.append(rows)

    def _prediction(self, case: _PlannedCase, timing: StretchTiming) -> Prediction:
        candidate = case.candidate
        rows = np.array(case.requests)
        slowest = int(timing.seconds[rows].sum(axis=1).argmax())
        mine = timing.at(rows[slowest])
        barrier = self._barriers.barrier(candidate.threads)
        barriers = case.plan.barriers * (barrier or 0.0)
        seconds = step_seconds(mine.seconds, case.plan.barriers, barrier or 0.0)
        parts = prediction_parts.parts(case.plan, mine, barriers)
        notes = [_ROUTE, RULES[self.saturation]]
        if barrier is None:
            notes.append("barriers are not counted: the machine has no figure")
        notes += [note for _, stretch in case.plan.stretches for note in stretch.text.notes]
        threads, memory = candidate.threads_per_node, self.machine.memory.cores
        cores, _ = domain_share(threads, memory, candidate.placement, self.machine.cores)
        bounds = prediction_parts.interval(self.machine, mine, barriers, seconds)
        return Prediction(
            seconds=Seconds(seconds),
            interval=bounds,
            parts=parts,
            engine=self.name,
            reason=prediction_parts.reason(case.plan, mine, barriers, seconds, cores),
            notes=tuple(dict.fromkeys(notes)),
        )

    def _conflicts(self, candidate: Candidate) -> str | None:
        """A note where rows of a candidate share sets of the innermost cache, which layer
        conditions ignore; else None.
        """
        cache = self.machine.caches[0]
        pad_lines = self._programs(candidate).pad_lines
        leading = leading_dimension(candidate.problem.n, pad_lines, cache.line)
        if leading * DOUBLE // cache.line % cache.sets:
            return None
        return (
            f"rows lie a multiple of {cache.sets} lines apart, on the same sets of {cache.name}:"
            " layer conditions know no conflicts, and padding changes nothing for them"
        )

    def _unknown(self, reason: str) -> Prediction:
        return Prediction(seconds=None, interval=None, parts=(), engine=self.name, reason=reason)


def _case(plan_key: int, candidate: Candidate) -> _Case:
    problem = candidate.problem
    return _Case(
        plan_key,
        problem.definition,
        problem.size_text,
        (candidate.threads, candidate.ranks, candidate.nodes, candidate.placement),
    )
