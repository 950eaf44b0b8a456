"""``compare``, ``report`` and ``mirror`` on a stored study: results, files, refusals."""

import json
from collections.abc import Sequence
from pathlib import Path

import fabricated as made
import pytest
from refusals import usage_error
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.compare.command import COMPARE_EXAMPLE, REPORT_EXAMPLE, show
from autotune.commands.mirror.command import EPILOG
from autotune.commands.mirror.document import MirrorDocument
from autotune.commands.options import RowsShown
from autotune.commands.tune import flow as tune_flow
from autotune.errors import WorkFailed
from autotune.files.store import Store, StoredChoice, StudyOrigin


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with the study ``quick`` of one problem."""
    path = tmp_path_factory.mktemp("store") / "results.sqlite"
    with Store.open(path) as results:
        made.fill(results, sizes=(256,), rounds=1)
    return str(path)


@pytest.fixture
def failed(tmp_path: Path) -> str:
    """A store with the study ``dead``, whose only candidate crashed."""
    path = tmp_path / "failed.sqlite"
    candidate = made.candidate()
    with Store.open(path) as results:
        results.begin_study("dead", StudyOrigin(config="dead", setup_text=""))
        results.add_candidates("dead", [candidate])
        results.add_predictions("dead", made.ranked([(candidate, made.prediction(1e-3))]))
        run = results.begin_run("dead", made.facts())
        choice = StoredChoice(candidate=candidate.identity, place=0, reason="predicted place 1")
        results.add_choices(run, [choice])
        results.add_outcome(run, candidate.identity, "crashed", "a signal", None)
        results.end_run(run)
    return str(path)


def run(*words: str) -> tuple[str, str]:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


def error(*words: str) -> str:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1
    return str(done.exception)


# --- compare ----------------------------------------------------------------------------------


def test_a_study_is_compared_by_its_name_or_as_the_latest(store: str) -> None:
    named, _ = run("compare", "quick", "--store", store)
    assert named == run("compare", "--store", store)[0]
    assert "heat2d-N256" in named


def test_a_comparison_is_one_document(store: str) -> None:
    document = json.loads(run("compare", "quick", "--store", store, "--json")[0])
    assert next(iter(document.items())) == ("schema", "autotune.compare/1")
    assert [problem["problem"] for problem in document["problems"]] == ["heat2d-N256"]


def test_the_same_study_is_a_document_of_tune_unless_it_is_compared(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show(tune_flow.study("quick", store), json=True, report=None, store=store, tables=RowsShown())
    assert json.loads(capsys.readouterr().out)["schema"] == "autotune.tune/1"


def test_a_study_without_a_time_is_shown_and_fails(
    failed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = tune_flow.study("dead", failed)
    with pytest.raises(WorkFailed):
        show(result, json=False, report=None, store=failed, tables=RowsShown())
    assert "heat2d-N256: no winner" in capsys.readouterr().out


def test_an_unknown_study_is_told_with_the_nearest(store: str) -> None:
    assert "did you mean quick?" in error("compare", "quik", "--store", store)


def test_a_store_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = tmp_path / "none.sqlite"
    assert str(path) in error("report", "--store", str(path))
    assert not path.exists()


def test_an_engine_is_for_a_config(store: str) -> None:
    told = usage_error("compare", "quick", "--store", store, "--engine", "reuse")
    assert told == "Invalid value for '--engine': needs a config, not a study"


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("compare", "--engine", "reus"), ("--engine", "'reus'", "'reuse'")),
        (("report", "a", "b"), ("b",)),
        (("report", "--output"), ("--output",)),
        (("mirror", "--objective", "speed", "--store", "STORE"), ("--objective", "'speed'")),
    ],
)
def test_wrong_words_end_with_code_2(
    store: str, words: Sequence[str], parts: Sequence[str]
) -> None:
    told = usage_error(*(store if word == "STORE" else word for word in words))
    assert [part for part in parts if part not in told] == []


# --- report -----------------------------------------------------------------------------------


def test_a_page_replaces_nothing_else(store: str, tmp_path: Path) -> None:
    page = tmp_path / "notes.txt"
    page.write_text("mine", encoding="utf-8")
    assert "not an HTML page" in error("report", "-o", str(page), "--store", store)
    assert page.read_text(encoding="utf-8") == "mine"


# --- mirror -----------------------------------------------------------------------------------


def test_a_journal_has_a_trial_for_each_candidate_that_was_tried(
    store: str, tmp_path: Path
) -> None:
    journal = tmp_path / "my quick.journal"
    tried = json.loads(run("compare", "--store", store, "--json")[0])["problems"][0]["evaluated"]
    out, err = run("mirror", "quick", "-o", str(journal), "--store", store)
    assert out == ""
    assert err.splitlines()[-1] == (
        f"wrote {len(tried)} trials; look at them with: optuna-dashboard '{journal}'"
    )
    document = json.loads(run("mirror", "-o", str(journal), "--store", store, "--json")[0])
    assert document == {
        "schema": MirrorDocument(study="", file=journal, studies=(), trials=0).schema,
        "study": "quick",
        "file": str(journal),
        "studies": ["quick/heat2d-N256"],
        "trials": len(tried),
    }


def test_an_unknown_objective_lists_those_that_there_are(store: str) -> None:
    told = usage_error("mirror", "--objective", "time", "--objective", "speed", "--store", store)
    assert told == "Invalid value for '--objective': 'speed' is not one of time, energy, memory"


def test_a_journal_replaces_nothing_else(store: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("mine", encoding="utf-8")
    assert str(path) in error("mirror", "-o", str(path), "--store", store)
    assert path.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("command", "example"),
    [("compare", COMPARE_EXAMPLE), ("report", REPORT_EXAMPLE), ("mirror", EPILOG)],
)
def test_the_help_has_the_example(command: str, example: str) -> None:
    shown = "".join(run(command, "--help")[0].split())
    assert "".join(example.split()) in shown
