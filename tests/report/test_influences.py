"""What makes candidates fast, in words: only where the model is better than saying nothing."""

import itertools
from pathlib import Path
from types import SimpleNamespace

import fabricated as fake
import numpy as np
import pytest

from autotune.evaluate import evaluate
from autotune.report import page, table
from autotune.report.documents import studies
from autotune.report.influences import LEAST, influences
from autotune.store import Store


def result(times, rows):
    """What ``influences`` reads of a problem's result."""
    found = []
    for number, (seconds, (order, tile)) in enumerate(zip(times, rows, strict=True)):
        candidate = SimpleNamespace(
            id=f"c{number}",
            parameters={"order": order, "tile": tile, "au": False},
            compiler="gcc",
            flags=("-O3",),
            threads=1,
            ranks=1,
            nodes=1,
            communication="none",
            placement="compact",
        )
        found.append(SimpleNamespace(candidate=candidate, compared=True, measured=seconds))
    return SimpleNamespace(rows=found, label="heat2d")


ROWS = list(itertools.product(("jil", "jli", "lij"), (8, 16, 32, 64, 128)))


def test_a_planted_influence_is_said_in_words_with_the_error() -> None:
    times = [1e-3 * (2.0 if order == "lij" else 1.0) * tile**-0.5 for order, tile in ROWS]
    found = influences(result(times, ROWS))
    assert found is not None
    assert found.words == (
        "tile from 8 to 128: 75 % less time, 29 % less time a doubling",
        "order = jil or jli is fastest; lij takes 2 times the time",
    )
    assert found.candidates == len(ROWS)
    assert found.error < 0.02 < found.same
    assert f"off by {100 * found.same:.2g} %" in found.note


def test_a_planted_interaction_is_said_for_both_values_of_the_other() -> None:
    chance = np.random.default_rng(1)
    rows = list(itertools.product(("jil", "jli", "lij"), [2**k for k in range(3, 15)]))
    times = [
        1e-3 * tile ** (-0.25 if order == "lij" else 0.25) * np.exp(0.01 * chance.normal())
        for order, tile in rows
    ]
    found = influences(result(times, rows))
    assert found is not None
    pair = found.words[-1]
    assert pair.startswith("tile from 8 to 16384: ")
    assert "6.8 times the time where order = jil" in pair
    assert "85 % less time where order = lij" in pair
    assert found.words[0].startswith("on average order = lij is fastest; jil and jli take ")


def test_a_difference_below_the_noise_is_not_claimed() -> None:
    """Orders that differ by a tenth of the noise are named as equally fast."""
    chance = np.random.default_rng(2)
    times = [
        1e-3 * tile**-0.5 * (1.002 if order == "jli" else 1.0) * np.exp(0.02 * chance.normal())
        for order, tile in ROWS
    ]
    found = influences(result(times, ROWS))
    assert found is not None
    assert [text.split()[0] for text in found.words] == ["tile"]


def test_the_table_and_the_document_say_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(tmp_path / "x.sqlite") as store:
        fake.fill(store, sizes=(256,), rounds=1)
        found = evaluate(store.load_study("quick"))
    assert studies.study(found, "compare", "x")["problems"][0]["influences"] is None
    assert "What makes candidates fast" not in table.study(found)
    planted = influences(result([1e-3 * tile for _, tile in ROWS], ROWS))
    monkeypatch.setattr(studies, "influences", lambda _: planted)
    monkeypatch.setattr(table, "influences", lambda _: planted)
    row = studies.study(found, "compare", "x")["problems"][0]["influences"]
    assert row is not None
    assert row["words"] == ["tile from 8 to 128: 16 times the time, 2 times the time a doubling"]
    assert row["candidates"] == len(ROWS)
    assert row["error"] < row["error_of_same"]
    assert "  What makes candidates fast (" in table.study(found)


def test_noise_makes_no_words() -> None:
    times = 1e-3 * np.exp(0.1 * np.random.default_rng(3).normal(size=len(ROWS)))
    assert influences(result(times.tolist(), ROWS)) is None


@pytest.mark.parametrize("count", [0, 1, LEAST - 1])
def test_few_candidates_have_no_model(count: int) -> None:
    times = [1e-3 * tile for _, tile in ROWS[:count]]
    assert influences(result(times, ROWS[:count])) is None


def test_candidates_that_differ_in_nothing_have_no_model() -> None:
    assert influences(result([1e-3] * LEAST, [("jil", 8)] * LEAST)) is None


def test_the_page_says_what_makes_candidates_fast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(tmp_path / "x.sqlite") as store:
        fake.fill(store, sizes=(256,), rounds=1)
        found = evaluate(store.load_study("quick"))
    assert found.problems[0].compared < LEAST
    assert page.influences(found.problems[0]) is None
    planted = influences(result([1e-3 * tile for _, tile in ROWS], ROWS))
    monkeypatch.setattr(page, "influences", lambda _: planted)
    text = page.render(found)
    assert "<h3>What makes candidates fast</h3>" in text
    assert "<li>tile from 8 to 128: 16 times the time, 2 times the time a doubling</li>" in text
