"""``autotune import``: what it prints of the rows of a file, and the options it refuses."""

import pytest
from refusals import faults, usage_error
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.importing.command import EXAMPLE
from autotune.commands.importing.document import FastestImported, ImportDocument
from autotune.commands.importing.flow import given_settings
from autotune.commands.importing.text import text


def imported(**changed: object) -> ImportDocument:
    values: dict[str, object] = {
        "study": "imported-mm",
        "source": "mm.csv (CSV)",
        "device": "",
        "rows": 3,
        "entered": 3,
        "failed": 0,
        "strangers": (),
        "ignored": (),
        "best": (FastestImported(problem="mm-n128", candidate="bi16@mm-n128", seconds=0.002),),
    }
    return ImportDocument(**(values | changed))  # type: ignore[arg-type]


def test_the_rows_the_best_and_the_study_are_told() -> None:
    assert text(imported()).splitlines() == [
        "3 of 3 rows are candidates of the config",
        "best of mm-n128: bi16@mm-n128, 2.000 ms",
        "study imported-mm entered: hints for autotune tune of the same config",
    ]


@pytest.mark.parametrize(
    ("rows", "entered", "words"),
    [
        (3, 2, "2 of 3 rows are candidates of the config"),
        (3, 1, "1 of 3 rows is a candidate of the config"),
        (1, 1, "1 of 1 row is a candidate of the config"),
        (3, 0, "0 of 3 rows are candidates of the config"),
    ],
)
def test_rows_are_counted_in_the_number_that_they_have(rows: int, entered: int, words: str) -> None:
    assert text(imported(rows=rows, entered=entered)).splitlines()[0] == words


def test_failures_are_counted_among_the_candidates() -> None:
    assert text(imported(failed=1)).splitlines()[0].endswith("of the config, 1 of them failed")


@pytest.mark.parametrize(
    ("entered", "words"),
    [
        (2, "1 row is no legal candidate: bi=7, order=IKJ"),
        (1, "2 rows are no legal candidate: bi=7, order=IKJ; ..."),
    ],
)
def test_the_first_row_that_is_no_candidate_is_shown(entered: int, words: str) -> None:
    strangers = ({"bi": 7, "order": "IKJ"}, {"bi": 9, "order": "IJK"})[: 3 - entered]
    assert words in text(imported(entered=entered, strangers=strangers)).splitlines()


def test_names_that_the_config_does_not_have_are_listed() -> None:
    assert "not of the config, so ignored: node, queue" in text(imported(ignored=("node", "queue")))


def test_a_study_that_was_there_is_not_entered_again() -> None:
    last = text(imported(already=True)).splitlines()[-1]
    assert last.startswith("study imported-mm was in the store already: hints for")


def test_what_holds_for_all_rows_is_read_as_a_cell_of_a_table() -> None:
    given = given_settings(["threads=2", " flags = -O3 -g", "ratio=0.5", "empty=", "threads=4"])
    assert given == {"threads": 4, "flags": "-O3 -g", "ratio": 0.5, "empty": given["empty"]}
    assert list(map(type, given.values())) == [int, str, float, type(given["empty"])]


@pytest.mark.parametrize("given", ["threads", "=2", " =2", ""])
def test_what_is_not_name_and_value_is_refused(given: str) -> None:
    assert faults(lambda: given_settings([given])) == (
        f"--given: {given}; expected NAME=VALUE (for example: --given threads=2)"
    )


def test_a_file_and_a_config_are_needed() -> None:
    assert "FILE" in usage_error("import")
    assert "CONFIG" in usage_error("import", "mm.csv")
    assert EXAMPLE in " ".join(CliRunner().invoke(app, ["import", "--help"]).output.split())
