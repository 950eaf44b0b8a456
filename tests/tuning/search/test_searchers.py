import importlib.util
import math

import pytest
from searcher_conformance import SearcherConformance, space

from autotune.domain.setup import Searching
from autotune.errors import InputError, MissingTool
from autotune.tuning.search.base import Searcher
from autotune.tuning.search.model_search import ModelSearch
from autotune.tuning.search.optuna_search import OptunaSearch
from autotune.tuning.search.points import Points
from autotune.tuning.search.policy import Policy
from autotune.tuning.search.search_choice import searcher


class TestModelSearch(SearcherConformance):
    def search(self, candidates: Points, seed: int = 1) -> Searcher:
        return searcher(candidates, Searching(first=3), seed)


class TestTwoObjectives(SearcherConformance):
    def search(self, candidates: Points, seed: int = 1) -> Searcher:
        return searcher(candidates, Searching(first=3, objectives=("time", "memory")), seed)


class TestRandom(SearcherConformance):
    def search(self, candidates: Points, seed: int = 1) -> Searcher:
        return searcher(candidates, Searching(sampler="random"), seed)


class TestTpe(SearcherConformance):
    def search(self, candidates: Points, seed: int = 1) -> Searcher:
        return searcher(candidates, Searching(sampler="tpe"), seed)


def test_nsga_asks_for_legal_candidates_too() -> None:
    suite = TestRandom()
    candidates = space()
    search = OptunaSearch(candidates, "nsga2", Policy(), seed=2)
    asked = suite.drive(search, 30)
    assert len(set(asked)) == 30


@pytest.mark.parametrize(("name", "package"), [("gp", "torch"), ("cmaes", "cmaes")])
def test_a_sampler_without_its_package_says_what_to_install(name: str, package: str) -> None:
    if importlib.util.find_spec(package):
        pytest.skip(f"optional: {package} is installed")
    candidates = space()
    with pytest.raises(MissingTool, match=f"pip install {package}"):
        OptunaSearch(candidates, name, Policy())


def test_an_unknown_sampler_is_named_with_the_nearest() -> None:
    candidates = space()
    with pytest.raises(InputError, match="did you mean tpe"):
        OptunaSearch(candidates, "tpa", Policy())


def test_searches_with_predictions_begin_with_them() -> None:
    candidates = space(predicted=True)
    order = candidates.predicted.argsort().tolist()
    model = ModelSearch(candidates, Policy(first=4), first=[7])
    asked = [suggestion.index for suggestion in model.ask(0, 5)]
    assert asked == [7, *[row for row in order if row != 7]][:4] + asked[4:]
    other = OptunaSearch(candidates, "tpe", Policy(first=4), first=[7])
    assert [suggestion.index for suggestion in other.ask(0, 4)] == asked[:4]
    assert not math.isnan(candidates.predicted[asked[1]])
