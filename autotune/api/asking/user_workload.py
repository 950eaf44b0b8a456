"""The workload of a study whose candidates its user runs."""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from autotune.domain.machine import Machine
from autotune.domain.results import Prediction
from autotune.domain.setup import Setup
from autotune.domain.variant import Candidate, Value, Variant
from autotune.errors import Fault, InputError
from autotune.models.engines.base import CandidatePredictor
from autotune.progress import Progress
from autotune.units import Seconds
from autotune.workloads.program.measuring.command_line import program_problem
from autotune.workloads.program.program_workload import ProgramWorkload

Model = Callable[[dict[str, Value]], float | None]
"""From parameters, arguments and ``threads`` to predicted seconds; None: it does not know."""
ENGINE = "told"
"""What the predictions of a user's function are filed under."""


@dataclass(frozen=True, slots=True)
class AskedWorkload(ProgramWorkload):
    """A program that its user runs, with the predictions of a function, where there is one."""

    model: Model | None = None

    @property
    def predicted(self) -> bool:
        """Whether there is a function that predicts."""
        return self.model is not None

    def at(self, setup: Setup) -> "AskedWorkload":
        """The same with another setup."""
        return AskedWorkload(setup, self.model)

    def predictor(
        self,
        engine: str,  # noqa: ARG002 - the function predicts whatever engine is named
        machine: Machine,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
        until: float = math.inf,  # noqa: ARG002 - a function takes no time worth a limit
    ) -> AbstractContextManager[CandidatePredictor]:
        """The predictions of the function, whatever engine is named."""
        return _serving(self.model)

    def variant(self, values: Mapping[str, Value]) -> Variant:
        """The variant with these values of all parameters."""
        return self._variant(values)

    def versions(self) -> Mapping[str, str]:
        """Empty: what the user runs is not known."""
        return {}


@contextlib.contextmanager
def _serving(model: Model | None) -> Iterator[CandidatePredictor]:
    yield _ToldPredictions(model)


class _ToldPredictions:
    """Predictions of a function of the user."""

    name = ENGINE

    def __init__(self, model: Model | None) -> None:
        self._model = model

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, without seconds where there is no function."""
        return [self._predicted(candidate) for candidate in candidates]

    def _predicted(self, candidate: Candidate) -> Prediction:
        seconds, reason = None, "no model was given"
        if self._model is not None:
            problem = program_problem(candidate)
            settings = {**problem.arguments, **candidate.variant.parameters}
            seconds = self._model({**settings, "threads": candidate.threads})
            reason = "the model does not know" if seconds is None else "the model of the study"
        if seconds is not None and not _positive(seconds):
            raise InputError(
                Fault(
                    where="model",
                    found=f"{seconds!r} for {candidate.label}",
                    expected="predicted seconds, a positive number, or None",
                )
            )
        return Prediction(
            seconds=None if seconds is None else Seconds(float(seconds)),
            interval=None,
            parts=(),
            engine=ENGINE,
            reason=reason,
        )


def _positive(seconds: object) -> bool:
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    return number and math.isfinite(seconds) and seconds > 0  # type: ignore[arg-type, operator]
