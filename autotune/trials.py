"""An Optuna study over the enumerated candidates of a problem.

The candidates are legal and known, so nothing is sampled from a Cartesian product: each trial is
one of them, its parameters as categories, its prediction an attribute. The results store is the
truth; the study lives as long as a run and shows it to whatever speaks Optuna.
"""

from collections.abc import Mapping, Sequence

import optuna

from autotune.measure.stats import location
from autotune.results import Measurement
from autotune.variant import Candidate

Attributes = Mapping[str, str | float | None]


class Trials:
    """Asks for candidates in the order in which they were chosen, and is told their times."""

    def __init__(self, candidates: Sequence[Candidate], seed: int) -> None:
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = optuna.create_study(
            direction="minimize", sampler=optuna.samplers.RandomSampler(seed=seed)
        )
        rows = [parameters(candidate) for candidate in candidates]
        self._domains: dict[str, optuna.distributions.BaseDistribution] = {
            name: optuna.distributions.CategoricalDistribution(sorted({row[name] for row in rows}))
            for name in (rows[0] if rows else ())
        }
        self._trials: list[optuna.trial.Trial] = []

    def ask(self, chosen: Sequence[Candidate], attributes: Sequence[Attributes]) -> None:
        """Open a trial for each of the chosen candidates, which are among the enumerated ones."""
        for candidate, known in zip(chosen, attributes, strict=True):
            attached = {"candidate": candidate.id, **known}
            self.study.enqueue_trial(parameters(candidate), user_attrs=attached)
            self._trials.append(self.study.ask(self._domains))

    def tell(self, measurements: Sequence[Measurement | None]) -> None:
        """Finish the trials in order: the measured time, or failed with the status attached."""
        for trial, measurement in zip(self._trials, measurements, strict=True):
            trial.set_user_attr("status", measurement.status if measurement else "not run")
            if measurement and measurement.status == "ok":
                times = [sample.seconds for sample in measurement.accepted]
                self.study.tell(trial, location(times))
            else:
                self.study.tell(trial, state=optuna.trial.TrialState.FAIL)


def parameters(candidate: Candidate) -> dict[str, str]:
    """The parameters of a candidate as Optuna sees them: categories."""
    return {name: str(value) for name, value in candidate.variant.parameters.items()} | {
        "compiler": candidate.build.compiler,
        "flags": " ".join(candidate.build.flags),
        "threads": str(candidate.threads),
        "ranks": str(candidate.ranks),
        "communication": candidate.communication,
    }
