"""``autotune evaluate``: what it refuses before anything is fitted or measured."""

from pathlib import Path

import fabricated as made
import pytest
from refusals import usage_error
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.evaluate.command import EXAMPLE
from autotune.commands.learn import command as learn_command
from autotune.files.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("store") / "results.sqlite"
    with Store.open(path) as results:
        made.fill(results, sizes=(256,), rounds=1)
    return str(path)


def error(*words: str) -> str:
    done = CliRunner().invoke(app, ["evaluate", *words])
    assert done.exit_code == 1, done.output
    assert done.stdout == ""
    return str(done.exception)


def test_too_few_random_candidates_say_what_to_do(store: str) -> None:
    """All candidates of the study were chosen by their prediction."""
    told = error("quick", "--store", store)
    assert told.startswith("study quick: ")
    assert "expected at least 30, for the tuner's own choices are those" in told
    assert "autotune evaluate quick --measure CONFIG" in told


def test_an_unknown_model_is_told_before_the_store_is_read(tmp_path: Path) -> None:
    told = error("quick", "--models", "pool,influense", "--store", str(tmp_path / "none.sqlite"))
    assert told.startswith("--models: unknown model 'influense'")
    assert told.endswith("(did you mean influence?)")


def test_a_page_that_cannot_be_written_is_told_before_the_store_is_read(tmp_path: Path) -> None:
    page = tmp_path / "none" / "page.html"
    assert error("-o", str(page)).startswith(f"{page}: a page cannot be written into")


def test_an_unknown_study_is_told_with_the_nearest(store: str) -> None:
    assert "did you mean quick?" in error("quik", "--store", store)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("--random", "0"), ("--random", "1")),
        (("--top", "best"), ("--top", "'best' is not whole numbers between commas")),
        (("--confidence", "sure"), ("--confidence", "'sure' is not a share: 5 %")),
        (("--design", "grid"), ("--design", "'grid'", "'d-optimal'")),
        (("--repeats", "0"), ("--repeats", "1")),
    ],
)
def test_wrong_words_end_with_code_2(words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    told = usage_error("evaluate", *words)
    assert [part for part in parts if part not in told] == []


def test_the_help_has_the_example() -> None:
    assert EXAMPLE in " ".join(CliRunner().invoke(app, ["evaluate", "--help"]).output.split())


def test_learned_models_are_shown_compared_and_fitted_by_a_command_each() -> None:
    names = [command.name for command in learn_command.app.registered_commands]
    assert names == ["design", "show", "compare", "fit"]
    for command in learn_command.app.registered_commands:
        assert (command.epilog or "").startswith(f"Example: autotune learn {command.name}")
