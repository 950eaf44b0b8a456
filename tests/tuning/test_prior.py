"""A model of another study as a prior: what it expects, where it is silent, what is refused."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import fabricated as fake
import numpy as np
import pytest

from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import study_prior as learned
from autotune.commands.tune.study_prior import StudyPrior, prior_study, proved
from autotune.domain.ranking import Ranked
from autotune.domain.setup import Searching, Selection
from autotune.domain.variant import Candidate
from autotune.errors import ConfigError, InputError, StoreError
from autotune.files.store import Store, StudyOrigin
from autotune.files.tables.cleaning import Heading, Record, assemble
from autotune.learning.models import catalogue
from autotune.learning.models.pool import Pool
from autotune.learning.models.ridge import Ridge
from autotune.results.evaluate.study_evaluation import evaluate
from autotune.results.report import study_table as table
from autotune.tuning import Chosen
from autotune.tuning.first_candidates import first_candidates, with_prior

ORDERS = ("ijl", "ilj", "jil", "jli", "lij", "lji")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pool of one member, which is quick."""
    quick = {**catalogue.MODELS, "pool": partial(Pool, members=(Ridge(),))}
    monkeypatch.setattr(catalogue, "MODELS", quick)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("store") / "x.sqlite"
    with Store.open(path) as results:
        fake.fill(results, "elsewhere", sizes=(256, 2048), rounds=1)
    return str(path)


def expected(store: str, candidates: list[Candidate], seconds: float = 1e-3) -> StudyPrior:
    """What the study ``elsewhere`` expects of candidates, each predicted to take as long."""
    with Store.open(store) as results:
        results.begin_study(
            "here", StudyOrigin(config="here", setup_text="schema: autotune.config/1\n")
        )
        predictions = [fake.prediction(seconds) for _ in candidates]
        found = prior_study("elsewhere", results, None)
    assert found is not None
    return found.prior(candidates, predictions)


def test_candidates_are_expected_whatever_the_size_and_the_threads(store: str) -> None:
    for size, threads in ((512, 2), (100_000, 2), (512, 1)):  # 256 and 2048, 2 threads there
        candidates = [fake.candidate(order, size, threads=threads) for order in ORDERS]
        found = expected(store, candidates)
        assert set(found.seconds) == {c.identity for c in candidates}
        assert all(1e-6 < seconds < 10.0 for seconds in found.seconds.values())
        assert found.note.startswith("prior: study elsewhere, a model of its ")
        assert found.note.endswith(" candidates, orders 6 of 6 here")


def test_candidates_that_come_later_are_expected_by_the_same_model(store: str) -> None:
    candidates = [fake.candidate(order, 512) for order in ORDERS]
    at_once = expected(store, candidates)
    later = expected(store, candidates[:4])
    assert len(later.seconds) == 4
    later.extend(candidates, [fake.prediction(1e-3) for _ in candidates])
    assert later.seconds == pytest.approx(at_once.seconds)
    StudyPrior().extend(candidates, [fake.prediction(1e-3) for _ in candidates])  # knows nothing


def test_beyond_the_largest_size_the_order_is_that_of_the_largest(store: str) -> None:
    def order(size: int) -> list[str]:
        candidates = {fake.candidate(order, size).identity: order for order in ORDERS}
        own = [fake.candidate(order, size) for order in ORDERS]
        seconds = expected(store, own).seconds
        return [candidates[i] for i in sorted(seconds, key=lambda i: seconds[i])]

    assert order(100_000) == order(2048)


def test_a_value_that_was_not_tried_there_is_not_spoken_of() -> None:
    records = [Record(place=str(n), settings={"order": o, "tile": t}, times=(1.0 + n,))
               for n, (o, t) in enumerate((o, t) for o in "ab" for t in (8, 16, 32))]  # fmt: skip
    table = assemble(records, Heading(name="x", where="x", source="study x", unit="s"))
    asked = [{"order": "a", "tile": 16}, {"order": "c", "tile": 16}, {"order": "b", "tile": 512}]
    found = learned.expected(table, asked, np.full(3, np.nan))
    assert np.isfinite(found).tolist() == [True, False, False]
    free = learned.expected(table, asked, np.full(3, np.nan), free={"tile"})
    assert np.isfinite(free).tolist() == [True, False, True]
    lacking = learned.expected(table, [{"order": o} for o in "ab"], np.full(2, np.nan))
    assert np.isfinite(lacking).all()
    with pytest.raises(InputError, match="it knows order, tile; expected one of u, which differ"):
        learned.expected(table, [{"u": 1, "order": "a"}, {"u": 2, "order": "a"}], np.ones(2))


def test_a_study_with_nothing_measured_cannot_teach(store: str) -> None:
    with Store.open(store) as results:
        results.begin_study(
            "empty", StudyOrigin(config="e", setup_text="schema: autotune.config/1\n")
        )
        with pytest.raises(InputError, match="two, to learn from"):
            prior_study("empty", results, None)


def test_a_prior_may_be_in_another_store_and_is_not_the_study_itself(
    store: str, tmp_path: Path
) -> None:
    with Store.open(tmp_path / "own.sqlite") as results:
        assert prior_study(None, results, None) is None
        found = prior_study(f"elsewhere@{store}", results, None)
        assert found is not None
        assert found.name == "elsewhere"
        with pytest.raises(StoreError, match="did you mean elsewhere"):
            prior_study(f"elsewher@{store}", results, None)
        with pytest.raises(StoreError, match="there are no results here"):
            prior_study("elsewhere@" + str(tmp_path / "absent.sqlite"), results, None)
    with Store.open(store) as results:
        assert prior_study("elsewhere", results, "here") is not None
        with pytest.raises(InputError, match="study elsewhere, the one that is continued"):
            prior_study("elsewhere", results, "elsewhere")


def test_the_prior_s_choices_replace_some_and_the_first_of_them_comes_first() -> None:
    candidates = [fake.candidate(order) for order in ORDERS]
    entries = [Ranked(n, c, fake.prediction(1.0)) for n, c in enumerate(candidates, 1)]
    ranking = SimpleNamespace(entries=entries)
    chosen = [Chosen(c, fake.prediction(1.0), f"place {n}") for n, c in enumerate(candidates[:4])]
    seconds = {c.identity: 1.0 / (1 + n) for n, c in enumerate(candidates)}
    found = with_prior(chosen, ranking, seconds, range(1, 4, 2), candidates[3].identity)
    assert [c.candidate for c in found] == [candidates[5], candidates[0], *candidates[2:4]]
    assert (found[0].why, found[0].rank) == ("place 1 of 6 by the prior", 6)
    assert with_prior(chosen, ranking, {}, range(1, 4, 2), candidates[3].identity) == chosen


def test_predicted_best_the_priors_choice_and_drawn_ones_take_turns() -> None:
    candidates = [fake.candidate(order, size) for size in (256, 512) for order in ORDERS]
    entries = [Ranked(n, c, fake.prediction(1.0 * n)) for n, c in enumerate(candidates, 1)]
    ranking = SimpleNamespace(entries=entries, problem=SimpleNamespace(label="p"))
    selection = Selection(top=3, random=3, baseline=False)
    chosen = first_candidates(ranking, selection, budget=None, baseline=None, prior={})
    assert [choice.rank for choice in chosen[::2]] == [1, 2, 3]
    assert all(choice.why.startswith("drawn at random") for choice in chosen[1::2])
    prior = {c.identity: 1.0 / (1 + n) for n, c in enumerate(candidates)}
    lent = first_candidates(ranking, selection, budget=None, baseline=None, prior=prior)
    assert lent[0].why == "place 1 of 12 by the prior" or lent[0].why.startswith("place 2")
    assert lent[2].rank == 1
    assert len(lent) == 6


def test_what_is_known_when_a_run_is_over_joins_its_conditions(tmp_path: Path) -> None:
    with Store.open(tmp_path / "x.sqlite") as results:
        fake.fill(results, "own", sizes=(256,), rounds=1)
        run = results.load_study("own").runs[-1]
        results.add_conditions(run.id, {"prior": "it held"})
        found = results.load_study("own").runs[-1].conditions
        assert found == {**run.conditions, "prior": "it held"}
        assert "it held" in table.study(evaluate(results.load_study("own")))


def test_how_a_prior_proved_itself_is_told(store: str) -> None:
    with Store.open(store) as results:
        result = evaluate(results.load_study("elsewhere"))
    rows = [row for found in result.problems for row in found.rows if row.compared]
    right = StudyPrior(seconds={r.candidate.identity: r.measured or 1.0 for r in rows}, note="x")
    wrong = StudyPrior(seconds={i: 1 / s for i, s in right.seconds.items()}, note="x")
    assert "it put 100 % in the right order, the predictions " in proved(right, result)
    assert "it put 0 % in the right order" in proved(wrong, result)
    nothing = StudyPrior(seconds={}, note="x")
    assert proved(nothing, result) == "no two of these were measured"


def test_a_prior_is_for_our_own_sampler() -> None:
    with pytest.raises(ValueError, match="prior is for sampler model"):
        Searching(sampler="random", prior="elsewhere")


def test_a_config_names_the_residual_model_and_the_prior(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    lines = Path("configs/quickstart.yaml").read_text(encoding="utf-8").splitlines()
    usual = "\n".join(line for line in lines if not line.startswith("search:"))
    path.write_text(f"{usual}\nsearch: {{residual: pool, prior: elsewhere}}\n", encoding="utf-8")
    found = load(path).setup.search
    assert (found.residual, found.prior) == ("pool", "elsewhere")
    path.write_text(f"{usual}\nsearch: {{residual: pol}}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="pool"):
        load(path)
    path.write_text(f"{usual}\nsearch: {{sampler: tpe, residual: pool}}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="residual is for sampler model"):
        load(path)
