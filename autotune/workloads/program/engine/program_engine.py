"""Engine ``program``: predicts external programs by the models that users state for them.

A route is a predictor for one kind of model. Candidates of a program without a model, or outside
its model, have a reason in place of a predicted time.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from autotune.domain.calibration import Z80
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Program
from autotune.domain.results import Part, Prediction, Uncertainty
from autotune.domain.variant import Candidate
from autotune.models.engines.base import CandidatePredictor
from autotune.units import Seconds

NAME = "program"
NO_MODEL = "the program has no model"
STATED = "stated"
"""Class of uncertainty: errors of a stated model, common to all its candidates."""
EXTRA = "extra"
"""Part of the time of a run outside the loops or kernel of a model."""
_COMMON = 0.5
"""Share of the variance of a stated model that all candidates have in common: a formula that leaves
something out leaves it out of all."""


class ProgramEngine:
    """Predicts candidates of external programs.

    ``route`` gives the predictor for the model of a program.
    """

    def __init__(self, route: Callable[[Program], CandidatePredictor], name: str = NAME) -> None:
        self.name = name
        self._route = route
        self._routes: dict[str, CandidatePredictor] = {}

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order; without a time, a reason is given."""
        predictions: list[Prediction] = [unknown("this is no external program")] * len(candidates)
        groups: dict[str, tuple[Program, list[int]]] = {}
        for place, candidate in enumerate(candidates):
            problem = candidate.problem
            if isinstance(problem, ProgramProblem):
                key = problem.program.definition
                groups.setdefault(key, (problem.program, []))[1].append(place)
        for key, (program, places) in groups.items():
            if program.model is None:
                made = [unknown(NO_MODEL)] * len(places)
            else:
                if key not in self._routes:
                    self._routes[key] = self._route(program)
                made = self._routes[key].predict([candidates[place] for place in places])
            for place, prediction in zip(places, made, strict=True):
                predictions[place] = replace(prediction, engine=self.name)
        return predictions


def unknown(reason: str) -> Prediction:
    """A prediction without a time, with the reason why."""
    return Prediction(seconds=None, interval=None, parts=(), engine=NAME, reason=reason)


def finished(prediction: Prediction, accuracy: float, extra: float = 0.0) -> Prediction:
    """A prediction with the seconds that its model leaves out, and the stated uncertainty.

    ``accuracy`` is the accuracy of the stated model; it adds to the uncertainty that the prediction
    already has.
    """
    if prediction.seconds is None:
        return prediction
    before, seconds = float(prediction.seconds), float(prediction.seconds) + extra
    share = before / seconds
    sigma = float(np.log1p(accuracy)) / Z80
    uncertainty = prediction.uncertainty or Uncertainty(shared={}, independent=0.0)
    shared = {name: value * share for name, value in uncertainty.shared.items()}
    doubt = Uncertainty(
        shared={**shared, STATED: sigma * _COMMON**0.5},
        independent=float(np.hypot(uncertainty.independent * share, sigma * (1 - _COMMON) ** 0.5)),
    )
    reach = float(np.exp(Z80 * doubt.sigma))
    parts = prediction.parts
    if extra > 0:
        parts = (*parts, Part(sweep=EXTRA, kind="sweep", seconds=Seconds(extra), kernel=EXTRA))
    return replace(
        prediction,
        seconds=Seconds(seconds),
        interval=(Seconds(seconds / reach), Seconds(seconds * reach)),
        parts=parts,
        engine=NAME,
        uncertainty=doubt,
    )


def scaled(prediction: Prediction, times: float) -> Prediction:
    """A prediction of ``times`` runs, one after the other."""
    if prediction.seconds is None:
        return prediction
    low, high = prediction.interval or (None, None)
    return replace(
        prediction,
        seconds=Seconds(prediction.seconds * times),
        interval=None
        if low is None or high is None
        else (Seconds(low * times), Seconds(high * times)),
        parts=tuple(replace(p, seconds=Seconds(p.seconds * times)) for p in prediction.parts),
    )
