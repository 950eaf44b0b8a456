"""The cells of the accuracy benchmark: every unseen problem is in them, each cell once."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from autotune.files import config

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def sets(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("accuracy_sets")


def test_every_cell_has_a_name_of_its_own(sets) -> None:
    names = [cell.name for make in sets.SETS.values() for cell in make()]
    assert len(set(names)) == len(names)


def test_an_unseen_problem_is_fresh_or_older(sets) -> None:
    generated = (*sets.UNSEEN.glob("ivp/*.yaml"), *sets.UNSEEN.glob("stencil/*.yaml"))
    everything = {path.stem for path in generated}
    older = {cell.subject for make in (sets.unseen, sets.unseen_stencils) for cell in make()}
    fresh = {cell.subject for make in (sets.fresh, sets.fresh_stencils) for cell in make()}
    assert fresh == sets.FRESH == everything - older
    assert {cell.subject for cell in sets.fresh_builds()} == fresh


def test_sizes_of_the_unpadded_are_powers_of_two(sets) -> None:
    for cell in sets.fresh_unpadded():
        size = int(cell.problem.rpartition("size: ")[2].rstrip("}"))
        assert size.bit_count() == 1, cell.name


@pytest.mark.parametrize("name", ["fresh", "fresh_stencils", "fresh_builds", "fresh_unpadded"])
def test_the_configs_can_be_read(sets, tmp_path, name) -> None:
    """One of every problem."""
    cells = {cell.subject: cell for cell in sets.SETS[name]()}
    for cell in cells.values():
        path = tmp_path / f"{cell.name}.yaml"
        path.write_text(cell.config(5), encoding="utf-8")
        setup = config.load(path)
        assert setup.builds == (cell.build,)
        assert len(setup.problems) == 1
