"""Predicts programs by a kernel in kerncraft's C: cycles per line, times the lines of a run.

kerncraft analyses each text once, in its own process. Sizes and cores are array arithmetic (Eq. 8
and 9 of Scherg et al. 2019, as in engine ``kerncraft``).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from autotune.domain.machine import Machine
from autotune.domain.program_model import KerncraftModel
from autotune.domain.results import Part, Prediction
from autotune.domain.setup import Saturation
from autotune.domain.variant import Candidate
from autotune.models.engines.ecm_arithmetic import domain_share
from autotune.models.engines.kerncraft.kerncraft_engine import RULES, KernelAnalyser
from autotune.models.engines.kerncraft.node_stretches import (
    StretchModel,
    StretchRequests,
    StretchTiming,
)
from autotune.models.engines.kerncraft.step_uncertainty import TimedStep, step_uncertainty
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.units import Seconds
from autotune.workloads.program.engine.formula_facts import FormulaValues
from autotune.workloads.program.engine.program_engine import NAME, finished, unknown

_NOTE = "traffic by kerncraft 0.8.18 with layer conditions on the given kernel"


@dataclass(frozen=True, slots=True)
class _KerncraftInput:
    """The input of kerncraft for a candidate: kernel text, sizes, cores and iterations."""

    text: str
    sizes: dict[str, int]
    cores: int
    """Number of working cores in a NUMA domain."""
    iterations: float
    """Iterations of these cores together."""
    extra: float


class KerncraftRoute:
    """Predicts by kerncraft's ECM model of a kernel."""

    name = NAME

    def __init__(
        self,
        model: KerncraftModel,
        machine: Machine,
        analyser: KernelAnalyser,
        facts: FormulaValues,
        saturation: Saturation = "paper",
    ) -> None:
        self._model = model
        self._machine = machine
        self._analyser = analyser
        self._facts = facts
        self._saturation: Saturation = saturation
        self._models: dict[str, StretchModel | str] = {}
        self._evaluator = Evaluator(machine)

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; without a time, a reason is given."""
        requests = [self._ask(candidate) for candidate in candidates]
        texts = dict.fromkeys(
            request.text for request in requests if isinstance(request, _KerncraftInput)
        )
        new = [text for text in texts if text not in self._models]
        if new:
            self._models.update(zip(new, self._analyser.analyse(new), strict=True))
        usable = [self._usable(request) for request in requests]
        batch = StretchRequests(self._machine, self._saturation)
        rows = [
            batch.add(request.text, request.sizes, request.cores, request.iterations)
            if isinstance(request, _KerncraftInput)
            else -1
            for request in usable
        ]
        timing = batch.evaluate(self._models)
        return [
            self._prediction(candidate, request, timing.at(np.array([row])))
            if isinstance(request, _KerncraftInput)
            else unknown(request)
            for candidate, request, row in zip(candidates, usable, rows, strict=True)
        ]

    def _ask(self, candidate: Candidate) -> _KerncraftInput | str:
        model, facts = self._model, self._facts
        try:
            values = facts.of(candidate, model.where)
            text = model.texts.get(tuple(values[name] for name in model.names))
            if text is None:
                return f"there is no kernel {model.file} for these parameters"
            sizes = {
                name: round(facts.least(size, values, 1.0, name))
                for name, size in model.constants.items()
            }
            iterations = facts.least(model.iterations, values, 0.0, "iterations")
            workers = facts.least(model.workers, values, 1.0, "workers")
            extra = facts.least(model.extra, values, 0.0, "extra")
        except ValueError as error:
            return str(error)
        if iterations <= 0:
            return "the model gives no iterations"
        machine = self._machine
        workers = min(workers, candidate.threads)
        busy = round(workers + 0.499)
        cores, part = domain_share(busy, machine.memory.cores, candidate.placement, machine.cores)
        part *= busy / workers  # of uneven work the slowest thread counts
        return _KerncraftInput(text, sizes, cores, iterations * part, extra)

    def _usable(self, request: _KerncraftInput | str) -> _KerncraftInput | str:
        """The request, or the reason why it has no result."""
        if isinstance(request, str):
            return request
        model = self._models[request.text]
        if isinstance(model, str):
            return f"{self._model.file}: {model}"
        missing = [name for name in model.constants if name not in request.sizes]
        if missing:
            return f"the kernel {self._model.file} has no value of {', '.join(missing)}"
        return request

    def _prediction(
        self, candidate: Candidate, request: _KerncraftInput, timing: StretchTiming
    ) -> Prediction:
        seconds, model = float(timing.seconds[0]), self._models[request.text]
        assert not isinstance(model, str), "only what was analysed is predicted"
        if not (np.isfinite(seconds) and seconds > 0):
            return unknown(f"kerncraft's model of {self._model.file} gives no time")
        columns = {
            "T_OL": timing.T_OL[0],
            "T_nOL": timing.T_nOL[0],
            **dict(zip(timing.levels, timing.transfers[0].tolist(), strict=True)),
            "sweep": seconds,
        }
        rough = [model.counted or self._machine.in_core.approximate]
        step = TimedStep(timing=timing, rough=rough, barriers=0.0, seconds=seconds)
        made = Prediction(
            seconds=Seconds(seconds),
            interval=None,
            parts=tuple(
                Part(sweep="kernel", kind=kind, seconds=Seconds(float(value)), kernel="kernel")
                for kind, value in columns.items()
                if value > 0
            ),
            engine=NAME,
            reason=_reason(timing, seconds, request.cores),
            notes=(_NOTE, model.in_core, RULES[self._saturation]),
            uncertainty=step_uncertainty(self._evaluator, candidate, step),
        )
        return finished(made, self._model.accuracy, request.extra)


def _reason(timing: StretchTiming, seconds: float, cores: int) -> str:
    """In words, what limits the speed of the kernel."""
    if timing.T_OL[0] >= seconds * (1 - 1e-9):
        return "kernel bound in core (T_OL)"
    parts = {"T_nOL": float(timing.T_nOL[0])}
    parts |= dict(zip(timing.levels, timing.transfers[0].tolist(), strict=True))
    most = max(parts, key=lambda kind: parts[kind])
    where = "in core (T_nOL)" if most == "T_nOL" else f"by {most}"
    if most == timing.levels[-1] and timing.saturation[0] <= cores:
        where += f", saturated from {timing.saturation[0]:.2g} of {cores} cores"
    return f"kernel bound {where}"
