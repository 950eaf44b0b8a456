"""The studies of benchmarks/accuracy.py: every candidate of every cell, measured into a store."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from accuracy_cells import Cell

from autotune.commands.rank import ranked_space
from autotune.commands.tune import flow as tune_flow
from autotune.errors import MissingTool
from autotune.files.store import Store, StudyRecord
from autotune.progress import Progress
from autotune.toolchain import compiler as compilers


def measure(cells: Sequence[Cell], store: str, rounds: int, progress: Progress) -> None:
    """An exhaustive study of every cell that a store does not hold to its end."""
    wanted = list(_buildable(cells))
    begun, ended = _known(store)
    folder = Path(tempfile.mkdtemp())
    for number, cell in enumerate(wanted, start=1):
        if cell.name in ended:
            continue
        path = folder / f"{cell.name}.yaml"
        path.write_text(cell.config(rounds), encoding="utf-8")
        options = tune_flow.StudyOptions(exhaustive=True, resume=cell.name in begun)
        result = tune_flow.tune(ranked_space.load(path), options, store, progress)
        compared = sum(problem.compared for problem in result.evaluation.problems)
        print(f"{number}/{len(wanted)} {cell.name}: {compared} candidates", flush=True)
    print(f"every sample is in {store}")


def _buildable(wanted: Sequence[Cell]) -> Iterator[Cell]:
    """The cells whose compiler builds OpenMP programs on this host."""
    for cell in wanted:
        try:
            compilers.require_openmp(compilers.find(cell.build))
        except MissingTool as error:
            print(f"{cell.name}: left out: {error}")
        else:
            yield cell


def _known(store: str) -> tuple[set[str], set[str]]:
    """The cells that were begun, and those that were measured to their end."""
    if not Path(store).exists():
        return set(), set()
    with Store.open(store) as results:
        begun = {found.name for found in results.studies()}
        return begun, {name for name in begun if _ended(results.load_study(name))}


def _ended(record: StudyRecord) -> bool:
    return bool(record.runs) and record.runs[-1].state == "done"
