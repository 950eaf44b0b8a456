"""A model of another study as a prior: hints where it knows the parameters, words where not."""

from functools import partial
from pathlib import Path

import fabricated as fake
import pytest

from autotune.errors import ConfigError, InputError
from autotune.learn import models
from autotune.learn.pool import Pool
from autotune.learn.ridge import Ridge
from autotune.pipeline import prior as learned
from autotune.pipeline.prior import prior
from autotune.pipeline.prospect import load
from autotune.setup import Searching
from autotune.store import Store
from autotune.variant import Candidate

ORDERS = ("ijl", "ilj", "jil", "jli", "lij", "lji")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of one member, which is quick."""
    quick = {**models.MODELS, "pool": partial(Pool, members=(Ridge(),))}
    monkeypatch.setattr(models, "MODELS", quick)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("store") / "x.sqlite"
    with Store.open(path) as results:
        fake.fill(results, "elsewhere", sizes=(256, 2048), rounds=1)
    return str(path)


def hints(store: str, candidates: list[Candidate], seconds: float = 1e-3):
    """What the study ``elsewhere`` says of candidates, each predicted to take as long."""
    with Store.open(store) as results:
        results.begin_study("here", config="here", setup_text="schema: autotune.config/1\n")
        results.add_candidates("here", candidates, baselines=[])
        records = {c.identity: c for c in results.load_study("here").candidates}
        predictions = [fake.prediction(seconds) for _ in candidates]
        return prior(results.load_study("elsewhere"), candidates, predictions, records)


def test_candidates_within_what_was_tried_there_have_hints(store: str) -> None:
    candidates = [fake.candidate(order, 512, pad) for order in ORDERS for pad in (0, 5)]
    found = hints(store, candidates)
    assert 0 < len(found.hints) <= len(candidates)
    assert found.note == (
        f"the pool of study elsewhere expects {len(found.hints)} of 12 candidates as a hint"
    )
    for hint in found.hints:
        assert hint.candidate in candidates
        assert 1e-5 < hint.seconds < 1.0
        assert 0 < hint.sigma < 2


def test_candidates_beyond_it_have_none(store: str) -> None:
    large = [fake.candidate(order, 100_000) for order in ORDERS]
    assert hints(store, large).hints == ()


def test_what_was_fixed_there_and_differs_here_is_said(store: str) -> None:
    found = hints(store, [fake.candidate(order, 512, threads=1) for order in ORDERS])
    assert found.hints == ()
    assert found.note == "study elsewhere says nothing as a prior: threads is 2 there, 1 here"


def test_many_hints_are_thinned_the_fastest_kept(
    store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    candidates = [fake.candidate(order, n) for n in (300, 512, 1024) for order in ORDERS]
    every = hints(store, candidates).hints
    monkeypatch.setattr(learned, "_MOST", 6)
    found = hints(store, candidates)
    assert len(found.hints) == 6 < len(every)
    assert "6 of them as a hint" in found.note
    assert [h.candidate for h in found.hints[:3]] == [h.candidate for h in every[:3]]
    times = [hint.seconds for hint in found.hints]
    assert times == sorted(times)


def test_a_study_with_nothing_measured_cannot_teach(store: str) -> None:
    with Store.open(store) as results:
        results.begin_study("empty", config="e", setup_text="schema: autotune.config/1\n")
        with pytest.raises(InputError, match="two, to learn from"):
            prior(results.load_study("empty"), [], [], {})


def test_a_prior_is_for_our_own_sampler() -> None:
    with pytest.raises(ValueError, match="prior is for sampler model"):
        Searching(sampler="random", prior="elsewhere")


def test_a_config_names_the_residual_model_and_the_prior(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    lines = Path("configs/quickstart.yaml").read_text(encoding="utf-8").splitlines()
    usual = "\n".join(line for line in lines if not line.startswith("search:"))
    path.write_text(f"{usual}\nsearch: {{residual: pool, prior: elsewhere}}\n", encoding="utf-8")
    found = load(path).search
    assert (found.residual, found.prior) == ("pool", "elsewhere")
    path.write_text(f"{usual}\nsearch: {{residual: pol}}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="pool"):
        load(path)
    path.write_text(f"{usual}\nsearch: {{sampler: tpe, residual: pool}}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="residual is for sampler model"):
        load(path)
