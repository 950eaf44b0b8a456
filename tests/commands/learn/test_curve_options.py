"""Options of learning curves, and of the tables and formulas that they are drawn over."""

from pathlib import Path

import numpy as np
import pytest
import typer
from refusals import bad_parameter, faults, usage_error

from autotune.commands.learn.compare.command import CompareModelsOptions
from autotune.commands.learn.curve_options import (
    CurveOptions,
    EligibleRows,
    check_models,
    check_page,
    leave_if_interrupted,
    listed,
    numbers,
    sizes_of,
)
from autotune.commands.learn.document import TableSource
from autotune.commands.learn.table_options import FormulaOptions, TableOptions, write
from autotune.domain.tables.table import MeasurementTable, ParameterRows, numeric
from autotune.errors import InputError
from autotune.learning.comparison.learning_curves import CurveTable, Trial
from autotune.learning.comparison.splits import SplitPlan


def table(count: int = 40) -> MeasurementTable:
    """Rows of n = 1 to ``count`` and p = 1 or 2, that take n/p seconds."""
    rows = tuple((n, 1 + n % 2) for n in range(1, count + 1))
    parameters = (numeric("n", range(1, count + 1)), numeric("p", (1, 2)))
    return MeasurementTable(
        name="runs",
        inputs=ParameterRows(parameters=parameters, rows=rows),
        response=np.array([n / p for n, p in rows]),
        source="runs.csv (CSV)",
        treated=("2 rows left out",),
    )


# --- numbers and names ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values"),
    [("16", (16,)), ("64, 16,16", (16, 64)), ("", ()), (" , ", ()), ("-1,2", (-1, 2))],
)
def test_numbers_are_ascending_and_each_once(text: str, values: tuple[int, ...]) -> None:
    assert numbers(text, "--sizes") == values


@pytest.mark.parametrize("text", ["many", "8,many", "8;16", "1.5", "0x10"])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    assert bad_parameter(lambda: numbers(text, "--top")) == (
        f"--top: {text!r} is not whole numbers between commas"
    )


def test_names_are_between_commas() -> None:
    assert listed(" pool, influence,,ridge ") == ("pool", "influence", "ridge")
    assert CurveOptions(models="pool").model_names == ("pool",)
    assert CurveOptions().model_names == ()


def test_a_model_that_there_is_not_is_told_with_the_nearest() -> None:
    check_models(("pool", "influence"))
    told = faults(lambda: check_models(("pool", "influense")))
    assert told.startswith("--models: unknown model 'influense'; expected one of ")
    assert told.endswith("(did you mean influence?)")


# --- scores and splits ------------------------------------------------------------------------


def test_scores_have_tops_and_a_level() -> None:
    scoring = CurveOptions(top="5,1", confidence="80 %").scoring()
    assert (scoring.tops, scoring.level) == ((1, 5), 0.8)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"top": "1,x"}, "--top: '1,x' is not whole numbers between commas"),
        ({"confidence": "high"}, "--confidence: 'high' is not a share: 5 %"),
    ],
)
def test_scores_that_cannot_be_read_are_refused(values: dict[str, str], words: str) -> None:
    options = CurveOptions(**values)  # type: ignore[arg-type]
    assert bad_parameter(options.scoring) == words


@pytest.mark.parametrize(
    ("values", "words"),
    [({"top": "0"}, "top: 0"), ({"top": ","}, "top: none"), ({"confidence": "100 %"}, "level: 1")],
)
def test_scores_that_mean_nothing_are_refused(values: dict[str, str], words: str) -> None:
    options = CurveOptions(**values)  # type: ignore[arg-type]
    assert faults(options.scoring).startswith(words)


def test_sizes_double_unless_they_are_named() -> None:
    assert sizes_of("", table(), "") == (8, 16)
    assert sizes_of("20,10", table(), "") == (10, 20)
    assert CurveOptions().splits(table(), "").sizes == (8, 16)
    assert CurveOptions().splits(table(), "") == SplitPlan(sizes=(8, 16))


def test_the_course_has_the_options() -> None:
    options = CurveOptions(sizes="10", repeats=3, seed=7, design="sobol")
    assert options.splits(table(), "p") == SplitPlan(
        sizes=(10,), repeats=3, seed=7, leave_out="p", drawing="sobol"
    )


@pytest.mark.parametrize(
    ("leave_out", "random", "most"), [("", None, 39), ("p", None, 20), ("", 10, 35)]
)
def test_some_rows_are_left_to_score_on(leave_out: str, random: int | None, most: int) -> None:
    """All but one; all without a value of p; all but half of the eligible ones."""
    rows = None if random is None else EligibleRows(np.arange(40) < random, ("x",) * 40)
    assert sizes_of(str(most), table(), leave_out, rows) == (most,)
    told = faults(lambda: sizes_of(f"8,{most + 1}", table(), leave_out, rows))
    assert told == (
        f"--sizes: {most + 1} rows to learn from, of 40 in runs; expected at most {most}, so that"
        " some are left to score on"
    )


def test_sizes_of_fewer_than_two_rows_are_refused() -> None:
    told = faults(lambda: CurveOptions(sizes="1,8").splits(table(), ""))
    assert told == "sizes: 1, 8; expected at least 2 rows each, in ascending order"


def curves(planned: int) -> CurveTable:
    trial = Trial(model="pool", size=8, repeat=0, group=None, score=None, failure="no")
    plan = SplitPlan(sizes=(8,))
    return CurveTable(
        models=("pool",), kinds=("learned",), split_plan=plan, trials=(trial,), planned=planned
    )


def test_interrupted_curves_end_with_code_130(capsys: pytest.CaptureFixture[str]) -> None:
    leave_if_interrupted(curves(planned=1))
    with pytest.raises(typer.Exit) as caught:
        leave_if_interrupted(curves(planned=5))
    assert caught.value.exit_code == 130
    assert capsys.readouterr().err == "interrupted after 1 of 5 fits\n"


# --- files ------------------------------------------------------------------------------------


def test_a_page_needs_a_folder_that_is_there(tmp_path: Path) -> None:
    check_page(None)
    check_page(tmp_path / "page.html")
    path = tmp_path / "no" / "page.html"
    assert faults(lambda: check_page(path)) == (
        f"{path}: a page cannot be written into {path.parent}; expected a folder that is there"
    )


def test_a_page_replaces_pages_only(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("n,time_s\n1,2\n", encoding="utf-8")
    assert "a file that is not an HTML page" in faults(lambda: check_page(path))
    path.write_text("<!DOCTYPE html>\n<html></html>\n", encoding="utf-8")
    check_page(path)


def test_a_written_file_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.csv"
    (tmp_path / "other.csv").write_text("n\n", encoding="utf-8")
    write("a\n", path, None)
    write("b\n", path, tmp_path / "other.csv")
    assert path.read_text(encoding="utf-8") == "b\n"
    assert capsys.readouterr().err.splitlines() == [f"wrote {path}", f"replaced {path}"]


def test_the_file_that_was_read_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("a\n", encoding="utf-8")
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    assert bad_parameter(lambda: write("b\n", link, path)) == "--output: is the file that was read"
    assert path.read_text(encoding="utf-8") == "a\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [(".", "a folder; expected a new file, or"), ("no/x.csv", "cannot be written: No such file")],
)
def test_a_file_that_cannot_be_written_is_told(tmp_path: Path, name: str, words: str) -> None:
    assert faults(lambda: write("", tmp_path / name, None)).startswith(
        f"{tmp_path / name}: {words}"
    )


# --- what a file holds ------------------------------------------------------------------------


def test_every_option_of_a_table_knows_whether_it_was_given() -> None:
    assert not any(TableOptions().given.values())
    every = TableOptions(
        model=Path("m.xml"), response="time", without=["a"], analytical="b", categorical=["c"],
        better="more", format="csv",
    )  # fmt: skip
    assert list(every.given) == [
        "--model", "--response", "--without", "--analytical", "--categorical", "--better",
        "--format",
    ]  # fmt: skip
    assert all(every.given.values())
    assert not TableOptions(without=[], categorical=[]).given["--without"]


def test_the_columns_of_a_file_are_what_the_options_say(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("n,kind,node,guess,time_s\n1,1,9,2,3\n2,2,8,4,5\n", encoding="utf-8")
    options = TableOptions(without=["node"], analytical="guess", categorical=["kind"])
    read = options.read_one(path)
    assert [(p.name, p.kind) for p in read.parameters] == [
        ("n", "numeric"), ("kind", "categorical"),
    ]  # fmt: skip
    assert read.inputs.analytical is not None
    assert read.inputs.analytical.tolist() == [2, 4]
    assert options.read(path).name == read.name  # type: ignore[union-attr]


def test_an_unknown_column_is_told_with_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("nodes,time_s\n1,3\n2,5\n", encoding="utf-8")
    told = faults(lambda: TableOptions(without=["node"]).read(path))
    assert "node" in told
    assert "nodes" in told


def test_where_a_table_comes_from() -> None:
    assert TableSource.of(table()) == TableSource(
        table="runs", source="runs.csv (CSV)", rows=40, quantity="time", unit="s",
        treated=("2 rows left out",),
    )  # fmt: skip


# --- the formula ------------------------------------------------------------------------------


def test_without_a_name_there_is_no_formula() -> None:
    assert FormulaOptions().made(None) is None
    assert FormulaOptions().made("predicted_s") is None


def test_a_formula_is_made_of_its_constants() -> None:
    options = FormulaOptions(
        formula="smg2000-1d", constant=["alpha=1e-6", " beta = 1e-9", "f=1e-10"]
    )
    formula = options.made(None)
    assert formula is not None
    assert formula.name.startswith("smg2000-1d")


@pytest.mark.parametrize(
    ("values", "column", "words"),
    [
        ({"constant": ["alpha=1"]}, None, "--constant: needs --formula"),
        ({"formula": "fmm", "constant": ["t_c"]}, None, "--constant: 't_c' is not NAME=NUMBER"),
        ({"formula": "fmm", "constant": ["a=b"]}, None, "--constant: 'a=b' is not NAME=NUMBER"),
        ({"formula": "fmm", "constant": ["=1"]}, None, "--constant: '=1' is not NAME=NUMBER"),
        ({"formula": "fmm"}, "predicted_s", "--formula: does not go with --analytical"),
    ],
)
def test_constants_that_cannot_be_read_are_refused(
    values: dict[str, object], column: str | None, words: str
) -> None:
    options = FormulaOptions(**values)  # type: ignore[arg-type]
    assert bad_parameter(lambda: options.made(column)) == words


def test_an_unknown_formula_is_told_with_the_nearest() -> None:
    told = faults(lambda: FormulaOptions(formula="smg2000-9d").made(None))
    assert "smg2000-9d" in told
    assert "did you mean smg2000-" in told


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_constants_are_finite(value: str) -> None:
    constants = ["alpha=1e-6", "beta=1e-9", f"f={value}"]
    options = FormulaOptions(formula="smg2000-1d", constant=constants)
    with pytest.raises((typer.BadParameter, InputError), match=value):
        options.made(None)


# --- the command line -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("runs.csv", "--design", "sobel"), ("--design", "'sobel'", "'sobol'")),
        (("runs.csv", "--repeats", "0"), ("--repeats", "1")),
        (("runs.csv", "--seed", "-1"), ("--seed", "0")),
        (("runs.csv", "--top", "best"), ("--top", "'best' is not whole numbers")),
        (("runs.csv", "--convention", "book"), ("--convention", "'textbook'", "'kaltenecker'")),
        (("runs.csv", "--format", "xml"), ("--format", "'spl-conqueror'")),
        ((), ("FILE",)),
    ],
)
def test_wrong_words_end_with_code_2(words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    told = usage_error("learn", "compare", *words)
    assert [part for part in parts if part not in told] == []


def test_models_of_parts_need_several_responses(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from autotune.commands.app import app

    path = tmp_path / "runs.csv"
    path.write_text("n,time_s\n1,2\n2,3\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["learn", "compare", str(path), "--by-part"])
    assert str(done.exception) == (
        f"{path}: one response; expected regions or call paths of one metric"
    )
    assert not CompareModelsOptions(
        file=path,
        curves=CurveOptions(),
        analytical_model=FormulaOptions(),
        columns=TableOptions(),
    ).by_part
