"""All models by name; ``pool`` is the default model."""

from collections.abc import Callable, Mapping

from autotune.errors import InputError, unknown_name
from autotune.learning.influence import Influence
from autotune.learning.models.base import LearnedModel, Regressor
from autotune.learning.models.conformal import Calibrating, Conformal
from autotune.learning.models.hybrid import Averaged, ResidualModel, ScaledAnalytical, Stacked
from autotune.learning.models.kriging import Kriging
from autotune.learning.models.pool import Pool
from autotune.learning.models.ridge import Ridge
from autotune.learning.models.trees import Trees
from autotune.learning.pmnf import Pmnf

DEFAULT = "pool"


def _raw_stack() -> Regressor:
    return Stacked(name="am-feature", base=Trees(name="trees-raw", log=False))


_REGRESSORS: dict[str, Callable[[], Regressor]] = {
    "influence": Influence,
    "influence-raw": Influence.published,
    "ridge": Ridge,
    "trees": Trees,
    "trees-raw": lambda: Trees(name="trees-raw", log=False),
    "gp": Kriging,
    "kriging": lambda: Kriging(name="kriging", trend=True),
    "am-scaled": ScaledAnalytical,
    "am-feature": _raw_stack,
    "am-bagged": lambda: Averaged(name="am-bagged", members=(_raw_stack(), ScaledAnalytical())),
    "am-feature-log": lambda: Stacked(name="am-feature-log", base=Trees()),
    "am-feature-ridge": lambda: Stacked(name="am-feature-ridge", base=Ridge()),
    "am-feature-kriging": lambda: Stacked(
        name="am-feature-kriging", base=Kriging(name="kriging", trend=True)
    ),
    "am-residual-gp": lambda: ResidualModel(name="am-residual-gp", base=Kriging()),
    "am-residual-trees": lambda: ResidualModel(name="am-residual-trees", base=Trees()),
}


def _conformal(make: Callable[[], Regressor]) -> Callable[[], Calibrating]:
    return lambda: Conformal(regressor=make())


CALIBRATING: Mapping[str, Callable[[], Calibrating]] = {
    **{name: _conformal(make) for name, make in _REGRESSORS.items()},
    DEFAULT: Pool,
}
"""Those that keep what they said of rows held out, so that they can be summed (``parts``)."""
MODELS: Mapping[str, Callable[[], LearnedModel]] = {**CALIBRATING, "pmnf": Pmnf}
"""How each model is made."""


def model(name: str = DEFAULT) -> LearnedModel:
    """The model of this name; InputError for an unknown one.

    >>> model("ridge").extrapolates
    True
    """
    if name not in MODELS:
        raise InputError(unknown_name("model", "model", name, MODELS))
    return MODELS[name]()


def analytical(name: str) -> bool:
    """Whether the model of this name needs analytical predictions beside the rows."""
    return name.startswith("am-")
