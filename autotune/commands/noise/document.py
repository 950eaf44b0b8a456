"""The document of ``autotune noise``: an A/A run, and what differences it says are resolved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from autotune.commands.noise.flow import NoiseResult
from autotune.commands.noise.resolution import TwinFigures
from autotune.domain.metric import Metric
from autotune.domain.results import Status
from autotune.measuring.conditions.host_load import HostLoad


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseDocument:
    """``autotune noise --json``."""

    schema: Literal["autotune.noise/1"] = "autotune.noise/1"
    candidate: str
    """Id of the candidate that was launched as A and as B."""
    status: Status
    detail: str
    interrupted: bool
    """Whether Ctrl-C ended the run; the figures are those of the finished rounds."""
    load: HostLoad
    """What other processes did before the run."""
    objective: Metric
    """What is measured: the time, or what a program names."""
    samples: Mapping[str, tuple[float, ...]]
    """``A`` and ``B``: every sample of the finished rounds, without warm-ups, in the unit of the
    objective: seconds, where it is the time."""
    figures: TwinFigures | None
    """Null where no round was finished."""

    @classmethod
    def of(cls, result: NoiseResult) -> "NoiseDocument":
        """The document of an A/A run, also of one that failed or was interrupted."""
        run = result.run
        goal = run.prepared.candidate.problem.facts().goal
        return cls(
            candidate=run.prepared.candidate.id,
            status=run.status,
            detail=run.detail,
            interrupted=run.interrupted,
            load=result.load,
            objective=goal,
            samples={
                name: tuple(goal.value(sample.seconds) for sample in samples if not sample.warm_up)
                for name, samples in run.samples.items()
            },
            figures=result.figures,
        )
