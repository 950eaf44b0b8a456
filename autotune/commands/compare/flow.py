"""A published table compared with predictions made here; nothing is run."""

from pathlib import Path

from autotune import paths
from autotune.commands.options import EngineName, engines
from autotune.commands.rank.ranked_space import RankedSpace, load, rank_space, require_predictions
from autotune.errors import InputError
from autotune.files.store import Store
from autotune.progress import Progress
from autotune.results.evaluate.published_comparison import (
    PublishedComparison,
    compare,
    require_reference,
)


def config_of(name: str, store: str) -> Path | None:
    """The config that an argument names, or None if it names a study.

    A config is a path, or the name of a config that comes with autotune and has a published table.
    A study of that name in the store takes precedence.
    """
    path = Path(name)
    if name.endswith((".yaml", ".yml")):
        return path
    if name not in paths.names("configs") or _has_study(name, store):
        return None
    return path if load(path).setup.reference is not None else None


def _has_study(name: str, store: str) -> bool:
    try:
        with Store.open(store, create=False) as results:
            return any(summary.name == name for summary in results.studies())
    except InputError:
        return False


def compare_published(
    config: Path,
    progress: Progress,
    engine: EngineName | None = None,
    *,
    trusted: bool = True,
) -> tuple[RankedSpace, list[PublishedComparison]]:
    """Predict for the machine of a config and compare with its published table, engine by engine.

    Raises InputError for a config without a table, WorkFailed where nothing could be predicted.
    """
    workload = load(config, trusted=trusted)
    require_reference(workload.setup)
    ranked = rank_space(workload, progress, engines(engine, workload.engines))
    require_predictions(ranked)
    return ranked, compare(ranked.setup, ranked.machine, ranked.rankings)
