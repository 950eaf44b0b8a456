"""``autotune evaluate``: engines, learned models and hybrids on a study's random candidates."""

import json
import typing
from dataclasses import replace

import fabricated
import numpy as np
import pytest
from typer.testing import CliRunner, Result

from autotune.cli.app import app
from autotune.errors import InputError
from autotune.pipeline.evaluate_models import check_random, entered, measured, measured_of
from autotune.pipeline.measure_random import draw
from autotune.ranking import rank
from autotune.report.documents import learned as documents
from autotune.store import Choice, Store

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
            [Choice(candidate=c, place=i, reason=reason) for i, c in enumerate(timed[:DRAWN])],
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
    assert set(done) == set(typing.get_type_hints(documents.EvaluateDocument))
    assert (done["random"], done["measured"]) == (DRAWN, 0)
    assert done["curve"]["models"] == ["analytical (reuse)", "ridge", "am-scaled"]
    assert {row["against"] for row in done["curve"]["pays"]} == {"analytical (reuse)"}


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
    names = [one.name for one in entered(found, ["analytical", "ridge", "am-scaled"])]
    assert names == [
        "analytical (planes)", "analytical (reuse)", "ridge", "am-scaled (planes)",
        "am-scaled (reuse)",
    ]  # fmt: skip
    with pytest.raises(InputError, match="unknown model"):
        entered(found, ["rigde"])


def test_the_draw_is_seeded_and_skips_what_was_drawn() -> None:
    entries = [
        (fabricated.candidate(order, pad=pad), fabricated.prediction(1e-3))
        for order in fabricated.ORDERS
        for pad in (0, 5)
    ]
    ranking = rank([c for c, _ in entries], [p for _, p in entries])
    (one,) = ranking
    first = draw(one, 5, ())
    assert [c.candidate.identity for c in draw(one, 5, ())] == [c.candidate.identity for c in first]
    before = {c.candidate.identity for c in first}
    rest = draw(one, 99, before)
    assert len(rest) == 7
    assert not before & {c.candidate.identity for c in rest}
    assert all("drawn at random" in c.why for c in (*first, *rest))
