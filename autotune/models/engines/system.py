"""The system level, Eq. 11: the time of the slowest node plus the communication between ranks.

    psi = max theta_i + t_com

Source: Scherg, Seiferth, Korch, Rauber, ICPE 2019, section 4.3. The program determines the
communication operations, the message sizes, and how often each occurs. The curves of the machine
give the cost of each.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from autotune.codegen import communication
from autotune.codegen.tree.loop_tree import StepProgram
from autotune.domain.calibration import Z80
from autotune.domain.network import Network
from autotune.domain.problem import Problem
from autotune.domain.results import Part, Prediction, Uncertainty
from autotune.domain.variant import Candidate
from autotune.models.engines.base import CandidatePredictor
from autotune.units import Seconds, show

COMMUNICATION = "communication"
_LEADING = 0.2
"""Share of the step above which communication is named first."""


@dataclass(frozen=True, slots=True)
class _Exchanged:
    """The communication of one time step: seconds, interval and description."""

    seconds: float
    low: float
    high: float
    extrapolated: bool
    notes: tuple[str, ...]
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
        seconds = Seconds(theta.seconds + exchange.seconds)
        part = Part(
            sweep=COMMUNICATION,
            kind=COMMUNICATION,
            seconds=Seconds(exchange.seconds),
            extrapolated=exchange.extrapolated,
        )
        return replace(
            theta,
            seconds=seconds,
            interval=(Seconds(low + exchange.low), Seconds(high + exchange.high)),
            parts=(*theta.parts, part),
            reason=_reason(exchange, theta, exchange.seconds / seconds),
            notes=(*theta.notes, *exchange.notes, *unsaid),
            uncertainty=_uncertainty(theta, exchange, float(seconds)),
        )

    def _exchanged(self, candidate: Candidate) -> _Exchanged | str:
        problem = candidate.problem
        if not isinstance(problem, Problem):
            return "the grid of a stencil is not spread over ranks"
        program = self._programs(candidate)
        network = self._network or Network()
        total = low = high = 0.0
        extrapolated = False
        notes: list[str] = []
        counts: Counter[tuple[str, int]] = Counter()
        for phase in communication.phases(program, problem, candidate):
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
            counts[phase.operation, phase.bytes] += phase.times
        phrases = [
            f"{times} x {way} of {show(size, 'size')}" for (way, size), times in counts.items()
        ]
        return _Exchanged(
            total,
            low,
            high,
            extrapolated,
            tuple(dict.fromkeys(notes)),
            " and ".join(phrases) or "nothing to communicate",
        )


def _uncertainty(theta: Prediction, exchange: _Exchanged, seconds: float) -> Uncertainty | None:
    """The uncertainty of the whole: that of the node, scaled by its share of the time, and that of
    the communication.
    """
    if theta.uncertainty is None or theta.seconds is None:
        return None
    share = theta.seconds / seconds
    spread = (exchange.high - exchange.low) / (2 * Z80) / seconds
    shared = {name: value * share for name, value in theta.uncertainty.shared.items()}
    return Uncertainty(shared=shared | {COMMUNICATION: spread}, own=theta.uncertainty.own * share)


def _reason(exchanged: _Exchanged, theta: Prediction, share: float) -> str:
    """The reason in words, the larger of node and communication first; shares within the node
    relate to the node's time.
    """
    mark = ", extrapolated" if exchanged.extrapolated else ""
    exchange = f"{exchanged.text} ({100 * share:.0f} % of the step{mark})"
    node = theta.reason.replace(" of the step", " of the node's time", 1)
    return f"{exchange}; {node}" if share >= _LEADING else f"{node}; {exchange}"
