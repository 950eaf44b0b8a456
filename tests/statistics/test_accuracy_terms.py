"""Phases of the accuracy benchmark: which candidates, which terms, what the table says of them."""

import importlib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from autotune.domain.dissection import KernelTime

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def terms(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("accuracy_terms")


@pytest.fixture
def phases(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("accuracy_phases")


def candidate(changes: int) -> SimpleNamespace:
    return SimpleNamespace(variant=SimpleNamespace(transformations=(None,) * changes))


def test_the_predicted_first_the_best_and_the_plain_one_are_chosen(phases) -> None:
    candidates = [candidate(2), candidate(1), candidate(3), candidate(5), candidate(4)]
    times = SimpleNamespace(candidates=candidates, seconds=np.array([3.0, 5.0, 1.0, 4.0, 2.0]))
    said = SimpleNamespace(seconds=np.array([2.0, 5.0, 3.0, 1.0, np.nan]))
    for count, wanted in ((1, [3]), (3, [3, 2, 1]), (5, [3, 2, 1, 0, 4])):
        taken = phases.chosen(times, said, count)
        assert [candidates.index(each) for each in taken] == wanted


def test_phases_are_kept_beside_the_store(phases, tmp_path) -> None:
    store = str(tmp_path / "accuracy.sqlite")
    assert phases.kept(store) == {}
    line = '{"cell": "a", "candidate": "b", "seconds": {"lc": 1e-3}}\n'
    (tmp_path / "accuracy.phases.jsonl").write_text(line, encoding="utf-8")
    assert phases.kept(store)["a", "b"].seconds == {"lc": 1e-3}


def test_kernels_are_added_by_term(terms) -> None:
    kernels = [
        KernelTime(kernel="rhs_first + rhs", predicted=2.0, measured=1.0),
        KernelTime(kernel="rhs_first+lc", predicted=1.0, measured=2.0),
        KernelTime(kernel="rhs+lc", predicted=5.0, measured=4.0),
        KernelTime(kernel="wait", predicted=None, measured=1.0),
        KernelTime(kernel="barrier", predicted=0.5, measured=1.0),
    ]
    made = {term.name: term for term in terms._terms(kernels, "cache T2", 10.0)}
    assert list(made) == ["RHS", "fused sweep: RHS + LC", "barrier, waiting"]
    assert made["fused sweep: RHS + LC"].predicted == 6.0
    assert made["barrier, waiting"].measured == 2.0
    assert made["barrier, waiting"].missed == pytest.approx(-0.15)


def test_the_table_has_the_largest_share_first(terms) -> None:
    kernels = [
        KernelTime(kernel="lc", predicted=3.0, measured=4.0),
        KernelTime(kernel="rhs", predicted=9.0, measured=6.0),
    ]
    lines = terms.table(list(terms._terms(kernels, "memory T1", 10.0))).splitlines()
    assert lines[1].split() == ["memory", "T1", "RHS", "1", "60.0%", "50.0%", "+50.0%", "+30.0%"]
    assert lines[2].split() == ["memory", "T1", "LC", "1", "40.0%", "25.0%", "-25.0%", "-10.0%"]
