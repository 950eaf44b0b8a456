"""Both families of problems in a store, and stores that were begun before there were stencils."""

import json
import sqlite3

import fabricated as fake
import pytest

from autotune.domain.problem import StencilProblem
from autotune.domain.variant import Candidate, Variant
from autotune.files import config
from autotune.files.store import Store
from autotune.files.store.store_tables import SCHEMA
from autotune.results.evaluate.study_evaluation import evaluate

NEW_FIELDS = ("family", "stencil", "grid")


def stencil_candidate(extents=(4, 5, 6), name="star3d-7pt") -> Candidate:
    return Candidate(
        variant=Variant(skeleton="jacobi", transformations=(), parameters={"u": 1}),
        problem=StencilProblem(stencil=config.stencil(name), extents=extents),
    )


def begin(path, *candidates: Candidate) -> None:
    with Store.open(path) as store:
        store.begin_study("study", config="c", setup_text="")
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


@pytest.fixture
def old(tmp_path):
    """A store as the first schema has it: problems are IVPs, their records lack the new fields."""
    path = tmp_path / "old.sqlite"
    begin(path, fake.candidate())
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE autotune_meta SET value = '1' WHERE key = 'schema'")
        for identity, text in connection.execute("SELECT identity, record FROM candidates"):
            record = json.loads(text)
            for name in NEW_FIELDS:
                del record["problem"][name]
            connection.execute(
                "UPDATE candidates SET record = ? WHERE identity = ?",
                (json.dumps(record), identity),
            )
    return path


def schema_of(path) -> str:
    with sqlite3.connect(path) as connection:
        query = "SELECT value FROM autotune_meta WHERE key = 'schema'"
        return connection.execute(query).fetchone()[0]


def test_a_store_of_the_first_schema_is_brought_up_to_date(old):
    with Store.open(old, create=False) as store:
        (candidate,) = store.load_study("study").candidates
        assert candidate.problem.family == "ivp"
        assert candidate.problem.words.startswith("N = 256")
        assert schema_of(old) == "1", "as long as it is only read"
        store.add_candidates("study", [stencil_candidate()])
        assert len(store.load_study("study").candidates) == 2
    assert schema_of(old) == str(SCHEMA)
    with Store.open(old, create=False) as again:
        assert len(again.load_study("study").candidates) == 2
