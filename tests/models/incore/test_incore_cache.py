"""In-core results and answers about forms on disk: read as they were kept, or not at all."""

import dataclasses
import json
from pathlib import Path

import pytest

from autotune.models.answer_cache import keep_answer
from autotune.models.incore import incore_cache
from autotune.models.incore.base import InCoreResult, RemainderLoop
from autotune.models.incore.osaca.osaca_architectures import ARCHITECTURES
from autotune.units import Cycles

ZEN3, HSW = ARCHITECTURES["ZEN3"], ARCHITECTURES["HSW"]
KEY = "0123abcd"
FULL = InCoreResult(
    T_OL=Cycles(0.1),
    T_nOL=Cycles(0.3),
    chain=Cycles(1 / 3),
    bottleneck="port 0 1",
    iterations=16,
    route="osaca:ZEN3 (nearest)",
    approximate=True,
    crowded=Cycles(0.7),
    notes=("a note", "a larger one: größer"),
    assembly=".L2:\n\tret\n",
    vector=32,
    loads=1.25,
    stores=0.25,
    window=(3.0, 0.25),
    crossing=0.5,
    crossings=(0.0, 0.5),
    crossing_stores=0.125,
    crossings_stores=(0.25, 1e-300),
    stored=(0.5, 0.75),
    forwards=1.0,
    chain_forwards=0.5,
    forward_latency=Cycles(4.0),
    blocked=2.0,
    gathers=0.75,
    calls=1.0,
    unknown=("vmade", "vup"),
    width=0.45,
    remainder=Cycles(2.5),
    ladder=(RemainderLoop(iterations=16, T_OL=Cycles(0.1), T_nOL=Cycles(0.3)),),
    leaves=True,
    head=RemainderLoop(iterations=1, T_OL=Cycles(2.0), T_nOL=Cycles(4.0)),
    entry=Cycles(12.0),
    hot_loops=2,
    annotated="text",
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(tmp_path))
    return tmp_path


# --- results ----------------------------------------------------------------------------------


def test_every_field_of_the_example_differs_from_its_default() -> None:
    """Or a field that is not read back would go unnoticed."""
    for item in dataclasses.fields(InCoreResult):
        if item.default is not dataclasses.MISSING:
            assert getattr(FULL, item.name) != item.default, item.name


def test_a_result_is_read_as_it_was_kept_to_the_last_bit() -> None:
    plain = InCoreResult(
        T_OL=Cycles(0.0), T_nOL=Cycles(0.0), chain=Cycles(0.0), bottleneck="", iterations=1,
        route="", approximate=False,
    )  # fmt: skip
    for made in (FULL, plain):
        incore_cache.keep_result(KEY, made)
        assert incore_cache.stored_result(KEY) == made
    assert incore_cache.stored_result("ffff") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("T_OL", "fast"),
        ("T_nOL", True),
        ("bottleneck", 0),
        ("notes", "a note"),
        ("notes", [1]),
        ("crossings", None),
        ("crossings", ["0.5"]),
        ("ladder", [7]),
        ("ladder", [{"iterations": 16}]),
        ("ladder", {}),
        ("crowded", "0.7"),
        ("vector", None),
    ],
)
def test_results_with_values_of_another_kind_are_none(name: str, value: object) -> None:
    keep_answer("incore-result", KEY, {**dataclasses.asdict(FULL), name: value})
    assert incore_cache.stored_result(KEY) is None


@pytest.mark.parametrize("name", [item.name for item in dataclasses.fields(InCoreResult)])
def test_results_that_lack_a_field_are_none(name: str) -> None:
    """Those of an earlier version, which knew less."""
    answer = dataclasses.asdict(FULL)
    del answer[name]
    keep_answer("incore-result", KEY, answer)
    assert incore_cache.stored_result(KEY) is None


def test_a_key_depends_on_all_that_the_result_does() -> None:
    keys = [
        incore_cache.result_key("ret", "f", {"architecture": "ZEN3"}),
        incore_cache.result_key("ret ", "f", {"architecture": "ZEN3"}),
        incore_cache.result_key("ret", "g", {"architecture": "ZEN3"}),
        incore_cache.result_key("ret", "f", {"architecture": "ZEN4"}),
        incore_cache.result_key("ret", "f", {}),
    ]
    assert len(set(keys)) == len(keys)
    first = incore_cache.result_key("ret", "f", {"a": 1, "b": 2})
    assert incore_cache.result_key("ret", "f", {"b": 2, "a": 1}) == first, "in any order"


# --- forms --------------------------------------------------------------------------------------


def test_answers_about_forms_are_appended_and_the_last_one_counts() -> None:
    assert incore_cache.forms(ZEN3) == {}
    incore_cache.keep_forms(ZEN3, {"a": {"latency": 1.0}, "b": {"latency": 2.0}})
    incore_cache.keep_forms(ZEN3, {"b": {"latency": 3.0}})
    assert incore_cache.forms(ZEN3) == {"a": {"latency": 1.0}, "b": {"latency": 3.0}}
    assert incore_cache.forms(HSW) == {}, "each architecture has a file of its own"


def test_lines_that_cannot_be_read_are_answers_that_are_missing(cache: Path) -> None:
    """A line that an interrupted process has left is closed by the next one."""
    incore_cache.keep_forms(ZEN3, {"a": {"latency": 1.0}})
    (file,) = [path for path in cache.rglob("*.jsonl") if path.is_file()]
    odd = ['["b", {"latency"', "[1, 2, 3]", '[7, {"x": 1}]', '["c", 8]', "null", "\x00"]
    with file.open("a", encoding="utf-8") as lines:
        lines.write("\n".join(odd) + '\n["d", {"half": ')
    incore_cache.keep_forms(ZEN3, {"e": {"latency": 2.0}})
    assert incore_cache.forms(ZEN3) == {"a": {"latency": 1.0}, "e": {"latency": 2.0}}
    assert json.loads(file.read_text().splitlines()[-1]) == ["e", {"latency": 2.0}]


def test_a_cache_that_cannot_be_written_keeps_nothing_and_fails_nobody(cache: Path) -> None:
    (cache / "incore").write_text("a file where a folder should be", encoding="utf-8")
    (cache / "incore-result").write_text("the same", encoding="utf-8")
    incore_cache.keep_forms(ZEN3, {"a": {"latency": 1.0}})
    incore_cache.keep_result(KEY, FULL)
    assert incore_cache.forms(ZEN3) == {}
    assert incore_cache.stored_result(KEY) is None


def test_a_folder_in_the_place_of_the_forms_is_removed(cache: Path) -> None:
    incore_cache.keep_forms(ZEN3, {"a": {"latency": 1.0}})
    (file,) = cache.rglob("*.jsonl")
    file.unlink()
    (file / "inner").mkdir(parents=True)
    assert incore_cache.forms(ZEN3) == {}
    incore_cache.keep_forms(ZEN3, {"b": {"latency": 2.0}})
    assert incore_cache.forms(ZEN3) == {"b": {"latency": 2.0}}
