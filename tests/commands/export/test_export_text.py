"""``autotune export``: what it prints of choices and tables, and the options it refuses."""

import csv
from pathlib import Path

import fabricated
import pytest
from exported_entries import choices, entry, key
from refusals import usage_error
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.export.command import EPILOG
from autotune.commands.export.document import ExportDocument
from autotune.commands.export.text import text
from autotune.files.store import Store
from autotune.results.export.entries import Choices, ExportEntry, SkippedProblem


def exported(made: Choices | None = None, rows: int = 1, **changed: object) -> ExportDocument:
    values: dict[str, object] = {
        "study": "tuned", "format": "header", "file": Path("tuned.h"), "rows": rows,
        "choices": made,
    }  # fmt: skip
    return ExportDocument(**(values | changed))  # type: ignore[arg-type]


def line_of(of: ExportEntry) -> str:
    """The line of one choice."""
    return text(exported(choices([(key(), of)]))).splitlines()[1]


def test_a_table_is_told_by_its_rows() -> None:
    assert text(exported(rows=12)) == "12 candidates of study tuned"
    assert text(exported(rows=1)) == "1 candidate of study tuned"
    assert text(exported(rows=0)) == "0 candidates of study tuned"


def test_choices_stand_below_their_problem_and_machine() -> None:
    made = choices([(key(), entry(256, 2)), (key(), entry(256, 1))])
    assert text(exported(made)).splitlines() == [
        "heat2d radau on AMD EPYC 9R14, 2 cores:",
        "  heat2d-N256, T1: c256t1, 2.56e-07 s per time step (2.304e-07 to 3.072e-07)",
        "  heat2d-N256, T2: c256t2, 1.28e-07 s per time step (1.152e-07 to 1.536e-07)",
        "the C source of a choice: autotune variants CONFIG --emit CANDIDATE -o FOLDER",
    ]


def test_several_ranks_are_named_and_a_single_one_is_not() -> None:
    made = choices([(key(), entry(256, 1)), (key(ranks=4), entry(256, 1))])
    heads = [line for line in text(exported(made)).splitlines() if line.endswith(":")]
    assert heads == [
        "heat2d radau on AMD EPYC 9R14, 2 cores:",
        "heat2d radau on AMD EPYC 9R14, 2 cores, 4 ranks:",
    ]


def test_a_choice_says_how_sure_it_is() -> None:
    bare = entry(256, 1, seconds=None, interval=None)
    assert line_of(bare) == "  heat2d-N256, T1: c256t1"
    assert line_of(entry(256, 1, interval=None)).endswith("c256t1, 2.56e-07 s per time step")
    unsure = entry(256, 1, seconds=None, interval=None, verified=False, loss_bound=0.0312)
    assert line_of(unsure) == (
        "  heat2d-N256, T1: c256t1, not verified, loses less than 3.1% with 95%"
    )


@pytest.mark.parametrize(("ties", "words"), [(("a",), "1 other"), (("a", "b", "c"), "3 others")])
def test_candidates_that_noise_does_not_tell_apart_are_counted(
    ties: tuple[str, ...], words: str
) -> None:
    assert line_of(entry(256, 1, ties=ties)).endswith(f"; noise does not tell it from {words}")


def test_the_commands_of_a_program_are_no_c_source() -> None:
    made = choices([(key(source="commands", per="run"), entry(256, 1))])
    shown = text(exported(made))
    assert "s per run (" in shown
    assert "the C source of a choice" not in shown


def test_problems_without_a_choice_say_why() -> None:
    made = choices([(key(), entry(256, 1))])
    skipped = (
        SkippedProblem(problem="heat2d-N512", threads=None, reason="no candidate ran"),
        SkippedProblem(problem="heat2d-N256", threads=2, reason="nothing was verified"),
    )
    whole = Choices(study="tuned", sections=made.sections, skipped=skipped)
    assert text(exported(whole)).splitlines()[2:4] == [
        "no choice for heat2d-N512: no candidate ran",
        "no choice for heat2d-N256, T2: nothing was verified",
    ]


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("--format", "cvs"), ("--format", "'cvs'", "'csv'", "'header'")),
        (("--with-reader", "."), ("--with-reader", "goes with --format wisdom")),
        (("quick", "more"), ("more",)),
    ],
)
def test_options_that_cannot_be_taken_end_with_code_2(
    words: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    told = usage_error("export", *words)
    assert [part for part in parts if part not in told] == []


def test_the_file_and_what_it_kept_are_noted_apart_from_the_result(tmp_path: Path) -> None:
    store = tmp_path / "results.sqlite"
    with Store.open(store) as results:
        fabricated.fill(results, sizes=(256,), rounds=1)
    output = tmp_path / "quick.csv"
    words = ["export", "--format", "csv", "-o", str(output), "--store", str(store)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert done.stdout == "12 candidates of study quick\n"
    assert done.stderr.splitlines()[-1] == f"wrote {output}"
    with output.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 12
    assert EPILOG in " ".join(CliRunner().invoke(app, ["export", "--help"]).output.split())
