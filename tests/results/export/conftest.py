"""One fabricated study for all tests of what is made of a study."""

from pathlib import Path

import fabricated
import pytest

from autotune.files.store import Store
from autotune.results.evaluate.study_evaluation import StudyEvaluation, evaluate


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with study ``quick``: two problems, twelve candidates each."""
    path = tmp_path_factory.mktemp("store") / "r.sqlite"
    with Store.open(path) as store:
        fabricated.fill(store, rounds=3)
    return path


@pytest.fixture(scope="session")
def result(filled: Path) -> StudyEvaluation:
    """The same, evaluated."""
    with Store.open(filled) as store:
        return evaluate(store.load_study("quick"))
