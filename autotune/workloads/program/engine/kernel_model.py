"""Predicts programs by a stencil or an IVP: the variant that a candidate corresponds to.

A candidate's parameters become values of the parameters of a space. The prediction of engine
``reuse`` for that variant, compiled as the candidate is built, is multiplied by a number of runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.parameter_values import within
from autotune.domain.problem import ButcherTableau, Ivp, Problem, StencilProblem
from autotune.domain.program_model import KernelModel
from autotune.domain.results import Prediction
from autotune.domain.setup import Generated
from autotune.domain.stencil import Stencil
from autotune.domain.variant import Candidate, ExecutionLayout, Variant
from autotune.language.constraint import Value
from autotune.models.engines.base import CandidatePredictor
from autotune.workloads.program.engine.formula_facts import FormulaValues
from autotune.workloads.program.engine.program_engine import NAME, finished, scaled, unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSubject:
    """The definitions that the names in a model refer to."""

    generated: Generated
    stencil: Stencil | None = None
    ivp: Ivp | None = None
    method: ButcherTableau | None = None


class KernelRoute:
    """Predicts candidates by the variants of a kernel, which ``engine`` predicts."""

    name = NAME

    def __init__(
        self,
        model: KernelModel,
        subject: ModelSubject,
        engine: CandidatePredictor,
        facts: FormulaValues,
    ) -> None:
        self._model = model
        self._subject = subject
        self._engine = engine
        self._facts = facts

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; without a time, a reason is given."""
        requests = [self._request(candidate) for candidate in candidates]
        predictions = self._engine.predict(
            [request.candidate for request in requests if isinstance(request, _KernelRequest)]
        )
        remaining = iter(predictions)
        return [
            self._finished(request, next(remaining))
            if isinstance(request, _KernelRequest)
            else unknown(request)
            for request in requests
        ]

    def _request(self, candidate: Candidate) -> "_KernelRequest | str":
        model, facts = self._model, self._facts
        try:
            values = facts.of(candidate, model.where)
            problem = self._problem(values)
            times = facts.least(model.times, values, 0.0, "times")
            extra = facts.least(model.extra, values, 0.0, "extra")
            variant = self._variant(values)
        except ValueError as error:
            return str(error)
        if times <= 0:
            return "the model gives no time steps"
        kernel = Candidate(
            variant=variant,
            problem=problem,
            build=candidate.build,
            layout=ExecutionLayout(threads=candidate.threads, placement=candidate.placement),
        )
        return _KernelRequest(kernel, times, extra)

    def _problem(self, values: Mapping[str, Value]) -> Problem | StencilProblem:
        model, subject = self._model, self._subject
        sizes = [round(self._facts.least(size, values, 1.0, "size")) for size in model.size]
        if subject.stencil is not None:
            dimensions = len(subject.stencil.dimensions)
            extents = tuple(sizes) if len(sizes) > 1 else (sizes[0],) * dimensions
            return StencilProblem(stencil=subject.stencil, extents=extents)
        assert subject.ivp is not None, "a kernel is a stencil or an IVP"
        assert subject.method is not None, "an IVP has a method"
        correctors = model.correctors or subject.method.usual_correctors
        return Problem(ivp=subject.ivp, method=subject.method, correctors=correctors, size=sizes[0])

    def _variant(self, values: Mapping[str, Value]) -> Variant:
        space = self._subject.generated.space
        chosen = dict(space.baseline)
        if not chosen:
            chosen = next(iter(space.combinations()))
        for name, formula in self._model.parameters.items():
            value = formula.value(values)
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, float) or not within(value, space.parameters[name]):
                raise ValueError(f"{name} = {value!r} is no value of the space {space.name}")
            chosen[name] = value
        return Variant(
            skeleton=self._subject.generated.skeleton.name,
            definition=self._subject.generated.skeleton.definition,
            transformations=space.transformations(chosen),
            parameters=chosen,
        )

    def _finished(self, request: "_KernelRequest", prediction: Prediction) -> Prediction:
        if prediction.seconds is None:
            label = request.candidate.label
            return unknown(f"the kernel {label} has no predicted time: {prediction.reason}")
        made = scaled(prediction, request.times)
        return finished(made, self._model.accuracy, request.extra)


@dataclass(frozen=True, slots=True)
class _KernelRequest:
    """A request to the engine: the kernel's candidate, the number of runs, extra seconds."""

    candidate: Candidate
    times: float
    extra: float
