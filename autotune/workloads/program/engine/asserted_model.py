"""Predicts programs by a model of assertions: its operations, bytes and messages, rank by rank.

The time is that of ``assertions/modelling/studies/predicted_time.py``: work by a roofline, and the
messages one after the other by the curves of the machine's network. Ranks share the memory of a
node as threads do; more ranks than cores take turns.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from autotune.assertions.modelling import parsed_model
from autotune.assertions.modelling.binding import ModelBinding, bind
from autotune.assertions.modelling.node_counts import node_counts
from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.assertions.modelling.studies.predicted_time import (
    NodeRates,
    PredictedTime,
    predicted_time,
)
from autotune.assertions.modelling.tree_walk import RankCounts
from autotune.domain.calibration import Z80
from autotune.domain.machine import Machine
from autotune.domain.program_model import BANDWIDTH, AssertedModel, Formula
from autotune.domain.results import Part, Prediction, Uncertainty
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.language.constraint import Condition, Value
from autotune.models.engines.system import COMMUNICATION
from autotune.units import Seconds
from autotune.workloads.program.engine.formula_facts import FormulaValues
from autotune.workloads.program.engine.program_engine import NAME, finished, unknown

_NAMED = 3
"""Blocks and messages that a reason names."""
_MEMORY = BANDWIDTH + "MEM"


@dataclass(frozen=True, slots=True)
class _RunLayout:
    """The processes of a run: ranks, nodes, threads of a rank, and cores of a node."""

    ranks: int
    nodes: int
    threads: int
    cores: int

    @property
    def busy(self) -> int:
        """Threads of a node that run at a time."""
        return min(self.cores, self.ranks // self.nodes * self.threads)

    @property
    def share(self) -> float:
        """Share of the time in which a rank has its cores."""
        return min(1.0, self.cores * self.nodes / (self.ranks * self.threads))

    @property
    def words(self) -> str:
        """How many ranks run on how many cores."""
        on = f"{self.cores} cores" + (f" of each of {self.nodes} nodes" if self.nodes > 1 else "")
        return f"{self.ranks} ranks on {on}"


class AssertedRoute:
    """Predicts candidates by the counts that a program asserts."""

    name = NAME

    def __init__(self, model: AssertedModel, machine: Machine, facts: FormulaValues) -> None:
        """Raises InputError with every mistake in the files of the model."""
        self._model = model
        self._machine = machine
        self._facts = facts
        self._parsed = {
            key: parsed_model.parse(stated, model.paths[key])
            for key, stated in model.models.items()
        }

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; without a time, a reason is given."""
        return [self._predict(candidate) for candidate in candidates]

    def _predict(self, candidate: Candidate) -> Prediction:
        chosen = candidate.variant.parameters
        parsed = self._parsed.get(tuple(chosen[name] for name in self._model.names))
        if parsed is None:
            return unknown(f"there is no model {self._model.file} for these parameters")
        try:
            return self._timed(candidate, parsed)
        except InputError as error:
            return unknown("; ".join(_words(fault) for fault in error.faults))
        except ValueError as error:
            return unknown(f"the model of assertions gives no time: {error}")

    def _timed(self, candidate: Candidate, parsed: ParsedModel) -> Prediction:
        values = self._facts.of(candidate, self._model.where)
        layout = self._layout(candidate, values)
        binding = self._binding(parsed, layout, values)
        # ranks of a node share what its threads share: figures while all of them run
        crowd = replace(candidate, layout=replace(candidate.layout, threads=layout.busy))
        shared = {**self._facts.of(crowd, self._model.where), "threads": candidate.threads}
        rates = self._rates(shared, layout)
        predicted = predicted_time(binding, self._machine, layout.nodes, rates)
        if predicted.seconds <= 0:
            raise ValueError("no operation, byte or message takes any time")
        extra = self._facts.least(self._model.extra, values, 0.0, "extra")
        terms = _terms(binding, predicted)
        made = Prediction(
            seconds=Seconds(predicted.seconds),
            interval=None,
            parts=tuple(p for term in terms for p in (term, replace(term, kind="sweep", count=0))),
            engine=NAME,
            reason=_reason(parsed.model.name, terms, predicted),
            notes=(*self._notes(layout), *rates.sources, *predicted.notes),
            uncertainty=_uncertainty(predicted),
        )
        return finished(made, self._model.accuracy, extra)

    def _layout(self, candidate: Candidate, values: Mapping[str, Value]) -> _RunLayout:
        ranks = self._whole(self._model.ranks, values, "ranks")
        nodes = self._whole(self._model.nodes, values, "nodes")
        if ranks % nodes:
            raise ValueError(f"{ranks} ranks cannot be spread evenly over {nodes} nodes")
        return _RunLayout(ranks, nodes, candidate.threads, self._machine.cores)

    def _whole(self, formula: Formula, values: Mapping[str, Value], what: str) -> int:
        number = self._facts.least(formula, values, 1.0, what)
        if number != int(number):
            raise ValueError(f"{what} = {formula.text} is {number:g}, which is not whole")
        return int(number)

    def _binding(
        self, parsed: ParsedModel, layout: _RunLayout, values: Mapping[str, Value]
    ) -> ModelBinding:
        given: dict[str, int | float] = {}
        for name, formula in self._model.bind.items():
            number = self._facts.amount(formula, values)
            if name in parsed.inputs:
                given[name] = int(number) if number == int(number) else number
        if parsed.model.ranks in parsed.inputs:
            given[parsed.model.ranks] = layout.ranks
        binding = bind(parsed, given, "bind")
        if binding.ranks != layout.ranks:
            raise ValueError(
                f"{parsed.model.ranks} of {parsed.model.name} is {binding.ranks}, and ranks ="
                f" {self._model.ranks.text} is {layout.ranks}"
            )
        return binding

    def _rates(self, values: Mapping[str, Value], layout: _RunLayout) -> NodeRates:
        """The rates of one rank, which has its cores only part of the time where there are too
        few.
        """
        peak, of_peak = self._rate("flops", self._model.flops, values, layout.threads)
        width, of_width = self._rate(_MEMORY, self._model.bandwidth, values, layout.threads)
        return NodeRates(
            peak=None if peak is None else peak * layout.share,
            bandwidth=None if width is None else width * layout.share,
            sources=(of_peak, of_width),
        )

    def _rate(
        self, figure: str, formula: Formula | None, values: Mapping[str, Value], threads: int
    ) -> tuple[float | None, str]:
        """A rate of a rank that has its cores for itself, and its source; None without one."""
        if formula is not None:
            rate = self._facts.least(formula, values, math.ulp(0.0), figure)
            return rate, f"{figure} of a rank: {rate / 1e9:.3g}e9 1/s by {formula.text}"
        if figure not in values:
            return None, f"{self._machine.name} has no figure for {figure}: it is left out"
        rate = threads * self._facts.amount(Condition(figure), values)
        return rate, f"{figure} of a rank: {rate / 1e9:.3g}e9 1/s of {self._machine.name}"

    def _notes(self, layout: _RunLayout) -> tuple[str, ...]:
        stated = f"by assertions, stated to {100 * self._model.accuracy:.0f} %"
        if layout.share == 1.0:
            return (stated,)
        return (stated, f"{layout.words}: they take turns, work takes {1 / layout.share:.3g} x")


def _terms(binding: ModelBinding, predicted: PredictedTime) -> tuple[Part, ...]:
    """What the blocks and messages of the slowest rank take, by name, the largest first; together
    they take the predicted time.
    """
    counts = node_counts(binding, predicted.rank)
    terms = [_term(name, count, predicted) for name, count in counts.items()]
    return tuple(sorted((t for t in terms if t.seconds > 0), key=lambda term: -term.seconds))


def _term(name: str, counts: RankCounts, predicted: PredictedTime) -> Part:
    if any(sent.kind != "recv" for sent in counts.messages):
        return _messages(name, counts, predicted)
    rates = predicted.rates
    if predicted.arithmetic >= predicted.memory:
        seconds = float(counts["flops"]) / (rates.peak or math.inf)
        return Part(sweep=name, kind="T_OL", seconds=Seconds(seconds), kernel=name)
    seconds = float(counts["loads"] + counts["stores"]) / (rates.bandwidth or math.inf)
    return Part(sweep=name, kind="MEM", seconds=Seconds(seconds), kernel=name)


def _messages(name: str, counts: RankCounts, predicted: PredictedTime) -> Part:
    costs = {(term.operation, term.size): term for term in predicted.terms}
    seconds, messages, extrapolated = 0.0, 0.0, False
    for sent, number in counts.messages.items():
        cost = costs.get((sent.operation or "message", float(sent.size)))
        if sent.kind != "recv" and cost is not None and cost.messages:
            seconds += float(number) * cost.seconds / cost.messages
            messages += float(number)
            extrapolated = extrapolated or cost.extrapolated
    return Part(
        sweep=name,
        kind="messages",
        seconds=Seconds(seconds),
        extrapolated=extrapolated,
        kernel=name,
        count=messages,
    )


def _uncertainty(predicted: PredictedTime) -> Uncertainty:
    """What the curves of the network leave open: half of the logarithm that it makes the time
    differ by.
    """
    spread = math.log(predicted.high / predicted.low) / (2 * Z80)
    return Uncertainty(shared={COMMUNICATION: spread} if spread else {}, independent=0.0)


def _words(fault: Fault) -> str:
    """A fault as a reason; options of other commands are no places here."""
    return str(replace(fault, where="") if fault.where.startswith("--") else fault)


def _reason(name: str, terms: Sequence[Part], predicted: PredictedTime) -> str:
    largest = "; ".join(
        f"{term.sweep} {100 * term.seconds / predicted.seconds:.0f} %" for term in terms[:_NAMED]
    )
    return f"by assertions of {name}: {largest}"
