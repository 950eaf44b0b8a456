"""What makes candidates fast, in words: only where the model is better than saying nothing."""

import itertools
import re
from pathlib import Path
from types import SimpleNamespace

import fabricated as fake
import numpy as np
import pytest

from autotune.domain.metric import TIME, Metric
from autotune.domain.variant import Build, ExecutionLayout
from autotune.files.store import Store
from autotune.learning.influence import Influence
from autotune.learning.models.terms import indicator
from autotune.results.documents import study_document
from autotune.results.evaluate.study_evaluation import evaluate
from autotune.results.report import problem_section, study_page, study_table
from autotune.results.report.group_means import GroupMeans, confounded
from autotune.results.report.influences import LEAST, influences, settings_table


def result(times, rows, options=None, goal=TIME):
    """What ``influences`` reads of a problem's result; ``options``: ``au`` of each row."""
    found = []
    options = options or [False] * len(rows)
    for number, (seconds, (order, tile), au) in enumerate(zip(times, rows, options, strict=True)):
        candidate = SimpleNamespace(
            id=f"c{number}",
            parameters={"order": order, "tile": tile, "au": au},
            build=Build(compiler="gcc", flags=("-O3",)),
            layout=ExecutionLayout(),
        )
        found.append(SimpleNamespace(candidate=candidate, compared=True, measured=seconds))
    problem = SimpleNamespace(goal=goal)
    return SimpleNamespace(rows=found, label="heat2d", problem=problem)


ROWS = list(itertools.product(("jil", "jli", "lij"), (8, 16, 32, 64, 128)))


def test_a_planted_influence_is_said_in_words_with_the_error() -> None:
    times = [1e-3 * (2.0 if order == "lij" else 1.0) * tile**-0.5 for order, tile in ROWS]
    found = influences(result(times, ROWS))
    assert found is not None
    assert found.words == (
        "tile from 8 to 128: 75 % less time, 29 % less time a doubling",
        "order: compared with jil, lij takes 2 times the time; jli is not told apart",
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
    assert found.words[0] == "on average order = lij is fastest; jil and jli take 19 times the time"


def test_a_difference_below_the_noise_is_not_claimed() -> None:
    """Of orders that differ by a tenth of the noise nothing is said."""
    chance = np.random.default_rng(2)
    times = [
        1e-3 * tile**-0.5 * (1.002 if order == "jli" else 1.0) * np.exp(0.02 * chance.normal())
        for order, tile in ROWS
    ]
    found = influences(result(times, ROWS))
    assert found is not None
    assert [text.split()[0] for text in found.words] == ["tile"]


class Planted:
    """A model that knows of some orders' factors and of nothing else."""

    def __init__(self, known):
        self.known = known
        self.terms = dict.fromkeys(
            (frozenset(), *(frozenset({indicator("order", order)}) for order in known)), 1.0
        )
        self.formula = "planted"

    def predict(self, inputs):
        place = inputs.place("order")
        return np.array([1e-3 * self.known.get(row[place], 1.0) for row in inputs.rows])


def planted(monkeypatch, known):
    monkeypatch.setattr(Influence, "train", lambda *_: Planted(known))


FACTORS = {"jil": 1.0, "jli": 1.4, "lij": 2.0}


def noisy(factors, rows):
    chance = np.random.default_rng(4)
    return [1e-3 * factors[order] * np.exp(0.01 * chance.normal()) for order, _ in rows]


def test_a_slow_value_without_a_term_is_never_called_fast(monkeypatch) -> None:
    """jli takes 40 % more time and the model knows nothing of it: nothing is said of jli."""
    planted(monkeypatch, {"lij": 2.0})
    found = influences(result(noisy(FACTORS, ROWS), ROWS))
    assert found is not None
    assert found.words == ("order: compared with jil, lij takes 2 times the time",)


def test_a_value_that_nothing_tells_apart_is_named_so(monkeypatch) -> None:
    planted(monkeypatch, {"lij": 2.0})
    found = influences(result(noisy(FACTORS | {"jli": 1.0}, ROWS), ROWS))
    assert found is not None
    (text,) = found.words
    assert re.fullmatch(
        r"order: compared with (jil|jli), lij takes 2 times the time; (jil|jli) is not told apart",
        text,
    )


def test_fastest_is_what_is_faster_than_every_other(monkeypatch) -> None:
    planted(monkeypatch, {"lij": 2.0, "jli": 1.4})
    found = influences(result(noisy(FACTORS, ROWS), ROWS))
    assert found is not None
    assert found.words == (
        "order = jil is fastest; jli takes 40 % more time, lij takes 2 times the time",
    )


def test_the_words_of_a_rate_are_about_its_value(monkeypatch) -> None:
    planted(monkeypatch, {"lij": 2.0, "jli": 1.4})
    speed = Metric("speed", "MB/s", "more")
    found = influences(result(noisy(FACTORS, ROWS), ROWS, goal=speed))
    assert found is not None
    assert found.title == "What makes candidates good"
    assert found.words == ("order = jil is best; jli has 29 % less speed, lij has 50 % less speed",)
    assert "the same speed for all" in found.note


def test_a_direction_that_the_times_contradict_is_dropped(monkeypatch) -> None:
    """The model has jli 5 % faster than jil; the times have it 40 % slower."""
    planted(monkeypatch, {"lij": 2.0, "jli": 0.95})
    found = influences(result(noisy(FACTORS, ROWS), ROWS))
    assert found is not None
    assert found.words == ("order: compared with jil, lij takes 2 times the time",)


def test_a_size_outside_the_interval_of_the_times_is_corrected(monkeypatch) -> None:
    planted(monkeypatch, {"lij": 1.6, "jli": 1.4})
    found = influences(result(noisy(FACTORS, ROWS), ROWS))
    assert found is not None
    assert found.words == (
        "order = jil is fastest; jli takes 40 % more time, lij takes 2 times the time",
    )


def test_values_are_compared_among_candidates_alike_in_all_else() -> None:
    """lij is twice as slow and measured at fast tiles only: its plain mean is the lowest."""
    rows = [(order, tile) for order, tile in ROWS if tile >= 64 or order != "lij"]
    rows += [("lij", 256), ("jil", 256), ("lij", 512)]
    times = [1e-3 * (2.0 if order == "lij" else 1.0) / tile for order, tile in rows]
    means = {
        name: np.mean(
            [np.log(t) for t, (order, _) in zip(times, rows, strict=True) if order == name]
        )
        for name in ("jil", "jli", "lij")
    }
    assert min(means, key=lambda name: means[name]) == "lij"
    found = influences(result(times, rows))
    assert found is not None
    assert "lij takes 2 times the time; " in found.words[1]


@pytest.mark.parametrize("shown", [False, True])
def test_parameters_that_changed_together_are_named_as_possible_causes(shown: bool) -> None:
    """au comes with order lij alone, which takes half the time; ``shown``: once also without it."""
    rows = [(order, tile) for order in ("jil", "lij") for tile in (8, 16, 32, 64, 128, 256)]
    options = [order == "lij" for order, _ in rows]
    if shown:
        rows, options = [*rows, ("lij", 8), ("lij", 16)], [*options, False, False]
    times = [1e-3 * (0.5 if order == "lij" else 1.0) * tile**-0.25 for order, tile in rows]
    found = influences(result(times, rows, options))
    assert found is not None
    (said,) = [text for text in found.words if text.startswith(("order", "au"))]
    assert said.endswith(": changed together)") is not shown
    assert ("not told apart from au" in said or "not told apart from order" in said) is not shown


def test_what_is_told_apart_by_a_third_value_or_along_a_number_is_not_confounded() -> None:
    rows = [("a", 1), ("b", 1), ("b", 2), ("c", 2), ("d", 3), ("e", 3), ("d", 4)]
    table = settings_table(result([1.0 + n for n in range(len(rows))], rows).rows, "x")
    assert confounded(table, "order", "a", "c") == ()
    assert confounded(table, "order", "a", "d") == ("tile",)
    assert confounded(table, "tile", 1, 4) == ()


@pytest.mark.parametrize("others", [5, 6])
def test_a_number_that_comes_with_one_value_alone_may_be_the_cause(others: int) -> None:
    """Order jil with small tiles, order lij with the largest, also where most have that one."""
    rows = [("jil", 8 << n, 0) for n in range(5)] + [("lij", 256, n) for n in range(others)]
    inputs = SimpleNamespace(names=("order", "tile", "pad"), rows=rows)
    table = SimpleNamespace(inputs=inputs, response=np.array([1.0] * 5 + [0.5] * others))
    assert confounded(table, "order", "jil", "lij") == ("tile",)


def test_values_that_meet_in_no_block_are_linked_by_a_third() -> None:
    """Orders a and c share no tile; b is 1.5 times a where they meet, c twice b."""
    pace = {"a": 1.0, "b": 1.5, "c": 3.0}
    rows = [("a", 8), ("b", 8), ("a", 16), ("b", 16), ("b", 32), ("c", 32), ("b", 64), ("c", 64)]
    times = [pace[order] * 1e-3 * tile for order, tile in rows]
    measured = GroupMeans.of(settings_table(result(times, rows).rows, "x"), "order", ())
    change = measured.change("a", "c")
    assert change is not None
    assert change.mean == pytest.approx(np.log2(3.0))
    assert measured.fastest() == "a"
    assert change.clear


def test_means_of_candidates_that_differ_in_more_are_never_more_than_chance() -> None:
    """Each order has tiles of its own: what is the order's and what the tile's nobody knows."""
    rows = [("a", 8), ("a", 16), ("a", 32), ("b", 64), ("b", 128), ("b", 256)]
    times = [1e-3 * tile for _, tile in rows]
    measured = GroupMeans.of(
        settings_table(result(times, rows).rows, "x"), "order", ("order", "tile")
    )
    change = measured.change("a", "b")
    assert change is not None
    assert change.mean == pytest.approx(3.0)
    assert change.half < 10
    assert not change.clear


def test_options_are_factors_in_the_words_and_the_formula() -> None:
    rows = ROWS * 2
    options = [False] * len(ROWS) + [True] * len(ROWS)
    times = [
        1e-3 * tile**-0.5 * (0.88 if au else 1.0)
        for (_, tile), au in zip(rows, options, strict=True)
    ]
    found = influences(result(times, rows, options))
    assert found is not None
    assert found.words[1] == "au = 1: 12 % less time"
    assert "[au = " in found.formula
    assert "(1 + au)" not in found.formula


def test_a_pair_that_was_not_measured_together_is_not_said() -> None:
    """Tiles of lij turn their effect; where only its smallest was measured, nothing is known."""
    tiles = [2**k for k in range(3, 15)]
    rows = [(order, tile) for order in ("jil", "jli") for tile in tiles] + [("lij", 8)]
    chance = np.random.default_rng(1)
    times = [1e-3 * tile**0.25 * np.exp(0.01 * chance.normal()) for _, tile in rows]
    found = influences(result(times, rows))
    assert found is not None
    assert not any("where" in text for text in found.words)


def test_the_table_and_the_document_say_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(tmp_path / "x.sqlite") as store:
        fake.fill(store, sizes=(256,), rounds=1)
        found = evaluate(store.load_study("quick"))
    assert study_document.study(found, "autotune.compare/1", "x").problems[0].influences is None
    assert "What makes candidates fast" not in study_table.study(found)
    planted = influences(result([1e-3 * tile for _, tile in ROWS], ROWS))
    monkeypatch.setattr(study_document, "influences", lambda _: planted)
    monkeypatch.setattr(study_table, "influences", lambda _: planted)
    row = study_document.study(found, "autotune.compare/1", "x").problems[0].influences
    assert row is not None
    assert row.words == ("tile from 8 to 128: 16 times the time, 2 times the time a doubling",)
    assert row.candidates == len(ROWS)
    assert row.error < row.same
    assert "  What makes candidates fast (" in study_table.study(found)


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
    assert problem_section.influences(found.problems[0]) is None
    planted = influences(result([1e-3 * tile for _, tile in ROWS], ROWS))
    monkeypatch.setattr(problem_section, "influences", lambda _: planted)
    text = study_page.render(found)
    assert "<h4>What makes candidates fast</h4>" in text
    assert "<li>tile from 8 to 128: 16 times the time, 2 times the time a doubling</li>" in text


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [24, 60])
def test_flags_that_do_nothing_are_not_named(seed: int, count: int) -> None:
    """Two of twelve flags change the time, the others not even the binary; noise of 3 %."""
    chance = np.random.default_rng([seed, count])
    flags = [f"-f{number}" for number in range(12)]
    rows = []
    for on in chance.random((count, 12)) < 0.5:
        parameters = {flag: flag if use else None for flag, use in zip(flags, on, strict=True)}
        factor = (0.7 if on[0] else 1.0) * (1.2 if on[1] else 1.0)
        candidate = SimpleNamespace(
            id=f"c{len(rows)}",
            parameters=parameters,
            build=Build(compiler="gcc", flags=("-O3",)),
            layout=ExecutionLayout(),
        )
        measured = 1e-3 * factor * np.exp(0.03 * chance.normal())
        rows.append(SimpleNamespace(candidate=candidate, compared=True, measured=measured))
    problem = SimpleNamespace(goal=TIME)
    found = influences(SimpleNamespace(rows=rows, label="flags", problem=problem))
    assert found is not None
    named = {word.strip(",:") for text in found.words for word in text.split() if "-f" in word}
    assert named <= {"-f0", "-f1"}
    assert "-f0" in named
