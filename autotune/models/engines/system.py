"""The system level, Eq. 11: the time of the slowest node plus the communication between ranks.

    psi = max theta_i + t_com

Source: Scherg, Seiferth, Korch, Rauber, ICPE 2019, section 4.3. The program determines the
communication operations, the message sizes, and how often each occurs. The curves of the machine
give the cost of each.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from autotune.codegen import communication
from autotune.codegen.tree.loop_tree import StepProgram
from autotune.domain.calibration import Z80
from autotune.domain.communication_cost import Cost
from autotune.domain.network import Network
from autotune.domain.results import Part, Prediction, Uncertainty
from autotune.domain.variant import Candidate
from autotune.models.engines.base import CandidatePredictor
from autotune.units import Seconds, show

COMMUNICATION = "communication"
_LEADING = 0.2
"""Share of the step above which communication is named first."""


class _Exchanged(NamedTuple):
    """What the communication of one time step costs, and its description."""

    cost: Cost
    text: str


class SystemEngine:
    """Predicts candidates of several ranks: the slowest node plus the communication.

    ``node`` predicts the slowest node without communication; ``network`` holds the cost curves,
    None where the machine has none.
    """

    def __init__(
        self,
        node: CandidatePredictor,
        programs: Callable[[Candidate], StepProgram],
        network: Network | None,
    ) -> None:
        self.name = node.name
        self._node = node
        self._programs = programs
        self._network = network

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; where the engine cannot predict one, ``seconds``
        is None and a reason is stated.
        """
        predictions = self._node.predict(candidates)
        return [
            self._with_communication(candidate, prediction)
            if candidate.ranks > 1 and prediction.seconds is not None
            else prediction
            for candidate, prediction in zip(candidates, predictions, strict=True)
        ]

    def _with_communication(self, candidate: Candidate, theta: Prediction) -> Prediction:
        exchange = self._exchanged(candidate)
        if isinstance(exchange, str):
            return Prediction(
                seconds=None, interval=None, parts=theta.parts, engine=self.name, reason=exchange
            )
        assert theta.seconds is not None
        low, high = theta.interval or (theta.seconds, theta.seconds)
        unsaid = () if theta.interval else (f"interval of communication: {self.name} states none",)
        cost = exchange.cost
        seconds = Seconds(theta.seconds + cost.seconds)
        part = Part(
            sweep=COMMUNICATION,
            kind=COMMUNICATION,
            seconds=cost.seconds,
            extrapolated=cost.extrapolated,
        )
        return replace(
            theta,
            seconds=seconds,
            interval=(Seconds(low + cost.interval[0]), Seconds(high + cost.interval[1])),
            parts=(*theta.parts, part),
            reason=_reason(exchange, theta, cost.seconds / seconds),
            notes=(*theta.notes, *cost.notes, *unsaid),
            uncertainty=_uncertainty(theta, cost, float(seconds)),
        )

    def _exchanged(self, candidate: Candidate) -> _Exchanged | str:
        program = self._programs(candidate)
        network = self._network or Network()
        total = low = high = 0.0
        extrapolated = False
        notes: list[str] = []
        counts: dict[tuple[str, int], float] = {}
        for phase in communication.phases(program, candidate.problem, candidate):
            if phase.messages == 0:
                continue
            cost = network.cost(phase.operation, phase.bytes, candidate.nodes, candidate.ranks)
            if cost is None:
                where = "between nodes" if candidate.nodes > 1 else "within a node"
                return (
                    f"the machine has no cost curve for {phase.operation} {where}:"
                    " autotune comm bench and comm fit make one"
                )
            total += phase.times * cost.seconds
            low += phase.times * cost.interval[0]
            high += phase.times * cost.interval[1]
            extrapolated = extrapolated or cost.extrapolated
            notes += cost.notes
            key = phase.operation, phase.bytes
            counts[key] = counts.get(key, 0) + phase.times
        phrases = [
            f"{times:.3g} x {way} of {show(size, 'size')}" for (way, size), times in counts.items()
        ]
        cost = Cost(
            seconds=Seconds(total),
            interval=(low, high),
            extrapolated=extrapolated,
            notes=tuple(dict.fromkeys(notes)),
        )
        return _Exchanged(cost, " and ".join(phrases) or "nothing to communicate")


def _uncertainty(theta: Prediction, cost: Cost, seconds: float) -> Uncertainty | None:
    """The uncertainty of the whole: that of the node, scaled by its share of the time, and that of
    the communication: half of the logarithm that its interval makes the whole differ by.
    """
    if theta.uncertainty is None or theta.seconds is None:
        return None
    share = theta.seconds / seconds
    low, high = (float(theta.seconds) + bound for bound in cost.interval)
    spread = math.log(high / low) / (2 * Z80)
    shared = {name: value * share for name, value in theta.uncertainty.shared.items()}
    return Uncertainty(
        shared=shared | {COMMUNICATION: spread}, independent=theta.uncertainty.independent * share
    )


def _reason(exchanged: _Exchanged, theta: Prediction, share: float) -> str:
    """The reason in words, the larger of node and communication first; shares within the node
    relate to the node's time.
    """
    mark = ", extrapolated" if exchanged.cost.extrapolated else ""
    exchange = f"{exchanged.text} ({100 * share:.0f} % of the step{mark})"
    node = theta.reason.replace(" of the step", " of the node's time", 1)
    return f"{exchange}; {node}" if share >= _LEADING else f"{node}; {exchange}"
