"""``autotune evaluate``: engines, learned models and hybrids on a study's random candidates."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import fabricated
import numpy as np
import pytest
from documented import documented
from typer.testing import CliRunner, Result

from autotune.commands.app import app
from autotune.commands.evaluate.flow import (
    check_random,
    compared_models,
    left_out,
    measured,
    measured_of,
)
from autotune.commands.evaluate.measure_random import draw, measure_lacking, timed
from autotune.commands.learn.compare import document as documents
from autotune.domain.ranking import Ranking, rank
from autotune.errors import AutotuneError, InputError
from autotune.files.store import Store, StoredChoice, StudyOrigin
from autotune.tuning import Chosen

SIZES = (64, 128, 256, 512, 1024)
DRAWN = 34


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A tuned study; most of its candidates were drawn at random in a second run."""
    path = tmp_path_factory.mktemp("store") / "results.sqlite"
    with Store.open(path) as results:
        first = fabricated.fill(results, sizes=SIZES, rounds=1)
        record = results.load_study("quick")
        timed = [m.candidate for m in record.runs[0].measurements if m.status == "ok"]
        second = results.begin_run("quick", fabricated.facts())
        reason = "drawn at random from 72, to score models on"
        results.add_choices(
            second,
            [
                StoredChoice(candidate=c, place=i, reason=reason)
                for i, c in enumerate(timed[:DRAWN])
            ],
        )
        results.end_run(second, timings={})
        assert first != second
    return str(path)


def run(store: str, *arguments: object) -> Result:
    return CliRunner().invoke(app, ["evaluate", "--store", store, *map(str, arguments)])


QUICK = ("--models", "analytical,ridge,am-scaled", "--repeats", 2, "--sizes", "8,24")


def test_only_candidates_drawn_at_random_are_scored_on(store: str) -> None:
    found = measured("", store)
    assert found.engines == ("reuse",)
    assert found.random.sum() == DRAWN < len(found)
    assert check_random(found, fewer=False) == ()
    done = json.loads(run(store, *QUICK, "--json").stdout)
    assert done["schema"] == "autotune.evaluate/1"
    documented(done, documents.EvaluateDocument, "evaluate")
    assert (done["study"]["random"], done["measured"]) == (DRAWN, 0)
    assert done["curves"]["models"] == ["analytical (reuse)", "ridge", "am-scaled"]
    assert {row["against"] for row in done["curves"]["pays"]} == {"analytical (reuse)"}


def test_too_few_random_candidates_are_refused_with_a_way_out(store: str) -> None:
    found = replace(measured("", store), random=np.arange(len(measured("", store))) < 5)
    with pytest.raises(InputError, match=r"5 candidates measured at random.*30.*--measure"):
        check_random(found, fewer=False)
    (note,) = check_random(found, fewer=True)
    assert "only 5" in note
    none = replace(found, random=np.zeros(len(found), dtype=np.bool_))
    with pytest.raises(InputError, match="at least 2"):
        check_random(none, fewer=True)


def test_groups_of_a_study_are_left_out(store: str) -> None:
    said = run(store, *QUICK[:4], "--sizes", "16", "--leave-out", "N").stdout
    assert "error rate without N =" in said
    assert "each N left out in turn" in said
    error = run(store, *QUICK, "--leave-out", "n").exception
    assert "unknown parameter 'n'" in str(error)


def test_hybrids_enter_once_for_each_engine(store: str) -> None:
    with Store.open(store, create=False) as results:
        record = results.load_study("quick")
    doubled = [
        replace(p, prediction=replace(p.prediction, engine="planes", seconds=2 * s, interval=None))
        for p in record.predictions
        if (s := p.prediction.seconds) is not None
    ]
    found = measured_of(replace(record, predictions=(*record.predictions, *doubled)))
    assert found.engines == ("planes", "reuse")
    planes, reuse = (table.inputs for table in found.tables)
    assert planes.rows == reuse.rows
    both = np.isfinite(planes.analytical) & np.isfinite(reuse.analytical)
    assert both.sum() > 30
    assert planes.analytical[both] == pytest.approx(2 * reuse.analytical[both])
    names = [one.name for one in compared_models(found, ["analytical", "ridge", "am-scaled"])]
    assert names == [
        "analytical (planes)", "analytical (reuse)", "ridge", "am-scaled (planes)",
        "am-scaled (reuse)",
    ]  # fmt: skip
    with pytest.raises(InputError, match="unknown model"):
        compared_models(found, ["rigde"])


def one_ranking(size: int = 256) -> Ranking:
    entries = [
        (fabricated.candidate(order, size, pad=pad), fabricated.prediction(1e-3))
        for order in fabricated.ORDERS
        for pad in (0, 5)
    ]
    (one,) = rank([c for c, _ in entries], [p for _, p in entries])
    return one


def test_the_draw_is_a_seeded_order_that_goes_on_after_an_interruption() -> None:
    one = one_ranking()
    whole = [c.candidate.identity for c in draw(one, ())]
    assert len(whole) == len(set(whole)) == 12
    assert whole != [entry.candidate.identity for entry in one.entries]
    assert [c.candidate.identity for c in draw(one, set(whole[:5]))] == whole[5:]
    assert [c.candidate.identity for c in draw(one, (), seed=1)] != whole
    assert all("drawn at random" in c.why for c in draw(one, ()))


class Measuring:
    """Stands for a conduct: measures what is chosen, fails some, stops when told to."""

    def __init__(self, store: Store, failing: int = 0, stop_after: int | None = None) -> None:
        self.results, self.study = store, "quick"
        self.failing, self.stop_after = failing, stop_after

    def run(self, choose_of: Callable[[Ranking], list[Chosen]], progress: object) -> None:
        run = self.results.begin_run(self.study, fabricated.facts())
        try:
            for ranking in self.rankings:
                chosen = [c.candidate.identity for c in choose_of(ranking)]
                self.results.add_choices(
                    run,
                    [
                        StoredChoice(candidate=c, place=i, reason=choose_of(ranking)[i].why)
                        for i, c in enumerate(chosen)
                    ],
                )
                for identity in chosen:
                    if self.stop_after == 0:
                        raise KeyboardInterrupt
                    self.stop_after = None if self.stop_after is None else self.stop_after - 1
                    status = "crashed" if self.failing > 0 else "ok"
                    self.failing -= 1
                    if status == "ok":
                        self.results.add_sample(run, identity, 0, fabricated.sample())
                    self.results.add_outcome(run, identity, status, "", None)  # type: ignore[arg-type]
        finally:
            self.results.end_run(run, timings={})

    rankings: tuple[Ranking, ...] = ()


def measured_for(store: Store, wanted: int, **settings: int) -> tuple[int, Measuring]:
    conduct = Measuring(store, **settings)
    conduct.rankings = (one_ranking(256), one_ranking(512))
    found = measure_lacking(conduct, conduct, wanted, lambda *_: None)  # type: ignore[arg-type]
    return found, conduct


@pytest.fixture
def untouched(tmp_path: Path) -> Iterator[Store]:
    """A study of two problems of which nothing was measured."""
    with Store.open(tmp_path / "s.sqlite") as results:
        rankings = (one_ranking(256), one_ranking(512))
        candidates = [e.candidate for r in rankings for e in r.entries]
        results.begin_study("quick", StudyOrigin(config="quick", setup_text="", versions={}))
        results.add_candidates("quick", candidates, baselines=())
        yield results


def test_what_is_lacking_is_measured_equally_of_each_problem(untouched: Store) -> None:
    done, _ = measured_for(untouched, 10)
    assert done == 10
    record = untouched.load_study("quick")
    sizes = [record.candidate(c).problem.size for c in timed(record)]  # type: ignore[union-attr]
    assert (sizes.count(256), sizes.count(512)) == (5, 5)
    assert measured_for(untouched, 10)[0] == 0
    assert measured_for(untouched, 99)[0] == 14  # all there are


def test_what_fails_is_replaced_and_what_was_interrupted_goes_on(untouched: Store) -> None:
    with pytest.raises(KeyboardInterrupt):
        measured_for(untouched, 10, stop_after=3)
    kept = timed(untouched.load_study("quick"))
    assert len(kept) == 3
    assert measured_for(untouched, 10, failing=2)[0] == 7
    assert kept < timed(untouched.load_study("quick"))
    fresh = {c.candidate.identity for r in (one_ranking(256), one_ranking(512))
             for c in draw(r, ())[:5]}  # fmt: skip
    assert kept < fresh


def test_a_study_of_which_all_was_measured_is_scored_on_whole(store: str) -> None:
    with Store.open(store, create=False) as results:
        record = results.load_study("quick")
    assert measured_of(record).whole == ()
    here = record.runs[-1].machine_identity
    tried = {m.candidate for r in record.runs if r.machine_identity == here for m in r.measurements}
    small = {c.identity for c in record.candidates if c.problem.size == SIZES[0]}
    kept = tuple(c for c in record.candidates if c.identity in tried or c.identity not in small)
    found = measured_of(replace(record, candidates=kept))
    assert found.whole == ("heat2d-N64",)
    assert found.random[np.array(found.problems) == "heat2d-N64"].all()
    assert "all candidates of heat2d-N64 were measured" in check_random(found, fewer=False)[0]


def test_sizes_and_problems_are_left_out_by_their_words(store: str) -> None:
    found = measured("", store)
    assert left_out(found, "size") == "N"
    assert left_out(found, "threads") == "threads"
    said = json.loads(run(store, *QUICK[:4], "--leave-out", "problem", "--json").stdout)
    assert "heat2d-N64" in {point["group"] for point in said["curves"]["points"]}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--models", "rigde"), "did you mean ridge"),
        (("--sizes", "5000"), "--sizes: 5000 rows to learn from"),
        (("--top", "0"), "top: 0"),
        (("quik",), "did you mean quick"),
        (("--leave-out", "ivp"), "ivp: one value, heat2d"),
        (("--leave-out", "thread"), "leave-out: unknown parameter 'thread'"),
        (("-o", "/nowhere/page.html"), "a page cannot be written into /nowhere"),
    ],
)
def test_wrong_input_says_what_is_right(store: str, arguments: tuple[str, ...], told: str) -> None:
    error = run(store, *arguments).exception
    assert isinstance(error, AutotuneError)
    assert told in str(error)


def test_a_study_without_predictions_has_learned_models_only(store: str) -> None:
    with Store.open(store, create=False) as results:
        record = results.load_study("quick")
    found = measured_of(replace(record, predictions=()))
    names = [one.name for one in compared_models(found)]
    assert names == ["pool", "influence", "ridge", "trees", "gp"]
    assert "no engine predicted these candidates" in check_random(found, fewer=False)[-1]
    with pytest.raises(InputError, match="am-scaled, of a table without an analytical model"):
        compared_models(found, ["am-scaled"])
