"""The search for a name: autotune's own, or one of Optuna's over the same candidates."""

from collections.abc import Sequence

from autotune.domain.setup import Searching
from autotune.tuning.search.base import Searcher
from autotune.tuning.search.model_search import ModelSearch
from autotune.tuning.search.points import Points
from autotune.tuning.search.policy import Policy


def searcher(points: Points, settings: Searching, seed: int, first: Sequence[int] = ()) -> Searcher:
    """The search that the settings name.

    MissingTool if it needs a package that is not installed. ``first``: rows that are measured
    before all others of their problems, such as baselines.
    """
    if settings.sampler == "model":
        return ModelSearch(points, policy(settings), first=first, seed=seed)
    from autotune.tuning.search.optuna_search import OptunaSearch  # noqa: PLC0415 - optuna is heavy

    return OptunaSearch(points, settings.sampler, policy(settings), first=first, seed=seed)


def policy(settings: Searching) -> Policy:
    """The search policy from the settings of a study."""
    return Policy(
        first=settings.first,
        stop_below=settings.stop_below,
        patience=settings.patience,
        objectives=settings.objectives,
        residual=settings.residual,
    )
