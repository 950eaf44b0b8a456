"""Predictions that are kept on disk: read for the same batch, and only where they last."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from codegen_build import problem, setup

from autotune.domain.results import Part, Prediction, Uncertainty
from autotune.domain.setup import Layout
from autotune.domain.variant import Candidate
from autotune.models.engines import kept_predictions
from autotune.models.engines.kept_predictions import KeepingEngine
from autotune.workloads.shipped import workload_of


class Batches:
    """Predicts one time for two candidates, and counts the batches."""

    name = "batches"

    def __init__(self, predicts: bool = True) -> None:
        self.count = 0
        self.predicts = predicts

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        self.count += 1
        made = [self._prediction(1 / (3 + k)) for k in range(len(candidates))]
        return [made[k // 2] for k in range(len(candidates))]

    def _prediction(self, seconds: float) -> Prediction:
        return Prediction(
            seconds=seconds if self.predicts else None,
            interval=(seconds / 3, float("inf")) if self.predicts else None,
            parts=(Part(sweep="lc", kind="L2", seconds=seconds / 7, count=3.0),),
            engine=self.name,
            reason="LC",
            uncertainty=Uncertainty(shared={"z": 0.1, "a": seconds}, independent=0.2),
        )


@pytest.fixture
def candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Candidate]:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    study = replace(setup(problem("heat2d", 64), space="pirk-orders"), layouts=(Layout(),))
    return workload_of(study).candidates(4).legal


def keeping(engine: Batches, basis: str = "machine", *, lasting: bool = True) -> KeepingEngine:
    return KeepingEngine(engine.name, lambda: engine, lambda _: [basis], lambda: lasting)


def test_a_batch_is_predicted_once_and_read_as_it_was(candidates: list[Candidate]) -> None:
    made = keeping(Batches()).predict(candidates)
    engine = Batches()
    kept = keeping(engine).predict(candidates)
    assert engine.count == 0
    assert kept == made
    assert [list(p.uncertainty.shared) for p in kept if p.uncertainty] == [["z", "a"]] * len(made)
    assert kept[0] is kept[1], "equal ones stay one object"


def test_another_batch_or_basis_is_predicted_again(candidates: list[Candidate]) -> None:
    keeping(Batches()).predict(candidates)
    engine = Batches()
    keeping(engine).predict(candidates[1:])
    keeping(engine).predict(candidates[::-1])
    keeping(engine, "other machine").predict(candidates)
    assert engine.count == 3


@pytest.mark.parametrize(("predicts", "lasting"), [(False, True), (True, False)])
def test_what_may_come_out_better_next_time_is_not_kept(
    candidates: list[Candidate], predicts: bool, lasting: bool
) -> None:
    for _ in range(2):
        engine = Batches(predicts)
        keeping(engine, lasting=lasting).predict(candidates)
        assert engine.count == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: "",
        lambda text: text[: len(text) // 2],
        lambda _: '{"predictions": 1}',
        lambda _: "[" * 100_000,
        lambda text: text.replace('"rows":[0', '"rows":[99'),
        lambda text: text.replace('"rows":[0', '"rows":[-1'),
        lambda text: text.replace('"rows":[0', '"rows":["0"'),
        lambda text: text.replace('"seconds":', '"seconds":1', 1),
    ],
)
def test_an_unreadable_entry_is_made_again(
    candidates: list[Candidate], tmp_path: Path, damage: Callable[[str], str]
) -> None:
    made = keeping(Batches()).predict(candidates)
    (entry,) = tmp_path.rglob("*.json")
    whole = entry.read_text(encoding="utf-8")
    entry.write_text(damage(whole), encoding="utf-8")
    assert entry.read_text(encoding="utf-8") != whole
    engine = Batches()
    assert keeping(engine).predict(candidates) == made
    assert engine.count == 1
    assert entry.read_text(encoding="utf-8") == whole


def test_a_cache_that_cannot_be_written_is_no_failure(
    candidates: list[Candidate], tmp_path: Path
) -> None:
    (tmp_path / "predictions").write_text("no folder", encoding="utf-8")
    for _ in range(2):
        engine = Batches()
        assert len(keeping(engine).predict(candidates)) == len(candidates)
        assert engine.count == 1


def test_those_used_longest_ago_are_removed(
    candidates: list[Candidate], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of five batches three fit: the first, which was read again, and the last two."""
    monkeypatch.setattr(kept_predictions, "_MOST", 3 * 32_000)
    keeping(Batches(), "0").predict(candidates)
    (first,) = tmp_path.rglob("*.json")
    assert first.stat().st_size < 32_000  # and counts as that
    for number in range(1, 5):
        made = set(tmp_path.rglob("*.json"))
        keeping(Batches(), str(number)).predict(candidates)
        for path in set(tmp_path.rglob("*.json")) - made:
            os.utime(path, (number, number))
        keeping(Batches(), "0").predict(candidates)  # a use
    engines = {basis: Batches() for basis in ("0", "3", "4", "1", "2")}
    for basis, engine in engines.items():
        keeping(engine, basis).predict(candidates)
    assert {basis: engine.count for basis, engine in engines.items()} == {
        "0": 0, "3": 0, "4": 0, "1": 1, "2": 1
    }  # fmt: skip
    assert len(list(tmp_path.rglob("*.json"))) == 3
