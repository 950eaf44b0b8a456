"""Both families of problems in a store, and stores that were begun before there were stencils."""

import json
import sqlite3

import fabricated as fake
import pytest

from autotune.domain.problem import StencilProblem
from autotune.domain.variant import Candidate, Variant
from autotune.errors import StoreError
from autotune.files import config
from autotune.files.store import Store, StudyOrigin
from autotune.files.store.store_tables import SCHEMA
from autotune.results.evaluate.study_evaluation import evaluate


def stencil_candidate(extents=(4, 5, 6), name="star3d-7pt") -> Candidate:
    return Candidate(
        variant=Variant(skeleton="jacobi", transformations=(), parameters={"u": 1}),
        problem=StencilProblem(stencil=config.stencil(name), extents=extents),
    )


def begin(path, *candidates: Candidate) -> None:
    with Store.open(path) as store:
        store.begin_study("study", StudyOrigin(config="c", setup_text=""))
        store.add_candidates("study", candidates, baselines=[candidates[0].identity])
        store.begin_run("study", fake.facts())


def test_a_stencil_comes_back(tmp_path):
    path = tmp_path / "results.sqlite"
    one = stencil_candidate()
    begin(path, one, fake.candidate())
    with Store.open(path) as store:
        record = store.load_study("study")
    stored, ivp = record.candidates
    assert stored.id == one.id
    problem = stored.problem
    assert (problem.family, problem.stencil, problem.components) == ("stencil", "star3d-7pt", 120)
    assert problem.grid == (("k", 4), ("j", 5), ("i", 6))
    assert problem.words == "K x J x I = 4 x 5 x 6 = 120 points"
    assert json.loads(stored.canonical)["extents"] == [4, 5, 6]
    assert (ivp.problem.family, ivp.problem.grid) == ("ivp", ())
    assert ivp.problem.words.startswith("N = 256, n = 65536 components, midpoint with 1 corrector")
    assert [p.label for p in evaluate(record).problems] == ["star3d-7pt-K4-J5-I6", "heat2d-N256"]


def test_problems_of_one_label_are_told_apart(tmp_path):
    path = tmp_path / "results.sqlite"
    text = (tmp_path / "star3d-7pt.yaml").resolve()
    source = config.paths.folder("kernels/stencil") / "star3d-7pt.yaml"
    text.write_text(source.read_text().replace("c0: 0.4", "c0: 0.3"))
    begin(path, stencil_candidate(), stencil_candidate(name=text))
    with Store.open(path) as store:
        first, second = evaluate(store.load_study("study")).problems
    assert first.label != second.label
    assert first.label.startswith("star3d-7pt-K4-J5-I6-")


def test_a_store_of_an_older_schema_is_refused_with_a_way_out(tmp_path):
    path = tmp_path / "old.sqlite"
    begin(path, fake.candidate())
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE autotune_meta SET value = '0' WHERE key = 'schema'")
    before = path.read_bytes()
    with pytest.raises(StoreError, match=f"schema 0; expected schema {SCHEMA}") as caught:
        Store.open(path, create=False)
    assert "name another with --store FILE" in str(caught.value)
    assert path.read_bytes() == before
