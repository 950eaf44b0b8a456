"""What ``learn show``, ``learn design`` and ``learn fit`` print and write of stated values."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from refusals import usage_error
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.learn.design import text as design_text
from autotune.commands.learn.fit import text as fit_text
from autotune.commands.learn.show import text as show_text
from autotune.commands.learn.show.command import EXAMPLE
from autotune.domain.tables.parameter_space import DesignSpace
from autotune.domain.tables.table import (
    MeasurementTable,
    Parameter,
    ParameterRows,
    categorical,
    interval,
    numeric,
)
from autotune.learning.designs import Design
from autotune.learning.models.base import Explanation, Forecast, ModelTerm
from autotune.learning.models.fits import Fit, Fits, HeldOutError, Predicted
from autotune.learning.models.rows_to_predict import Rows

N = numeric("n", (1, 2, 4))
KIND = categorical("kind", ("a", "b"))


def table(**changed: object) -> MeasurementTable:
    """Three rows that take 1, 2 and 4 ms."""
    values: dict[str, object] = {
        "name": "runs",
        "inputs": ParameterRows(parameters=(N, KIND), rows=((1, "a"), (2, "b"), (4, "a"))),
        "response": np.array([1e-3, 2e-3, 4e-3]),
        "source": "runs.csv (CSV)",
    }
    return MeasurementTable(**(values | changed))  # type: ignore[arg-type]


# --- learn show -------------------------------------------------------------------------------


def test_a_table_in_full() -> None:
    assert show_text.full_table(table()).splitlines() == [
        "runs: 3 rows, 2 parameters",
        "  source       runs.csv (CSV)",
        "  response     time from 1.000 ms to 4.000 ms",
        "  repetitions  none",
        "",
        "parameters:",
        "  n     numeric      1, 2, 4",
        "  kind  categorical  a, b",
    ]


def test_a_single_row_of_a_single_parameter_is_singular() -> None:
    inputs = ParameterRows(parameters=(N,), rows=((1,),))
    shown = show_text.full_table(table(inputs=inputs, response=np.array([2.0])))
    assert shown.splitlines()[0] == "runs: 1 row, 1 parameter"


def test_what_was_done_to_the_data_is_told() -> None:
    shown = show_text.full_table(
        table(part="solve->smooth", treated=("1 row left out", "b is constant"))
    )
    assert "  part         solve->smooth" in shown.splitlines()
    assert shown.splitlines()[-3:] == ["treated:", "  1 row left out", "  b is constant"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, "time from 1.000 ms to 4.000 ms"),
        ({"unit": ""}, "time from 0.001 to 0.004 (no unit stated)"),
        ({"unit": "J", "quantity": "energy"}, "energy from 0.001 to 0.004 J"),
    ],
)
def test_a_response_has_its_unit(changed: dict[str, str], words: str) -> None:
    assert show_text.response(table(**changed)) == words


@pytest.mark.parametrize(
    ("times", "statistic", "words"),
    [
        (((1.0,), (2.0,), (4.0,)), "mean", "none"),
        (
            ((1.0, 1.1), (2.0, 2.0), (4.0, 4.8)),
            "median",
            "2 a row, 10 % apart in the median row; the response is their median",
        ),
        (
            ((1.0,), (2.0, 2.5, 2.25), (4.0,)),
            "as given",
            "1 to 3 a row, 25 % apart in the median row",
        ),
    ],
)
def test_repetitions_are_counted_and_compared(
    times: tuple[tuple[float, ...], ...], statistic: str, words: str
) -> None:
    assert show_text.repetitions(table(repetitions=times, statistic=statistic)) == words


@pytest.mark.parametrize(
    ("guess", "words"),
    [
        ([2e-3, 2e-3, 2e-3], "3 of 3 rows, median deviation 50 %"),
        ([math.nan, 2.2e-3, math.nan], "1 of 3 rows, median deviation 10 %"),
        ([math.nan] * 3, "says nothing"),
    ],
)
def test_the_analytical_model_is_held_against_the_times(guess: list[float], words: str) -> None:
    of = table(inputs=replace(table().inputs, analytical=np.array(guess)))
    assert show_text.analytical(of) == words
    assert f"  analytical   {words}" in show_text.full_table(of).splitlines()


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        (numeric("n", (1,)), "1"),
        (numeric("n", range(8)), "0, 1, 2, 3, 4, 5, 6, 7"),
        (numeric("n", range(0, 90, 10)), "0 to 80 by 10 (9 values)"),
        (numeric("n", [2**k for k in range(9)]), "1 to 256 (9 values)"),
        (interval("x", 0.5, 2), "any number from 0.5 to 2"),
        (
            categorical("k", [f"c{k}" for k in range(9)]),
            "c0, c1, c2, c3, c4, c5, c6, c7, ... (9 values)",
        ),
    ],
)
def test_a_domain_is_told_shortly(parameter: Parameter, words: str) -> None:
    assert show_text.domain(parameter) == words


def test_several_responses_are_a_line_each() -> None:
    tables = [table(name=name, treated=("1 row left out",)) for name in ("solve", "setup")]
    assert show_text.text(tables).splitlines() == [
        "runs.csv (CSV): 2 responses over n, kind",
        "  solve  3 rows  time from 1.000 ms to 4.000 ms",
        "  setup  3 rows  time from 1.000 ms to 4.000 ms",
        "treated:",
        "  solve: 1 row left out",
        "  setup: 1 row left out",
        "one of them in full: --response NAME",
    ]


def test_of_many_responses_twenty_are_shown() -> None:
    lines = show_text.overview([table(name=f"part{k}") for k in range(23)]).splitlines()
    assert lines[-2:] == ["  and 3 more", "one of them in full: --response NAME"]
    assert sum(line.startswith("  part") for line in lines) == 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text("n,time_s\n1,0.001\n2,0.002\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "'FILE': give a file, or --study"),
        (("runs.csv", "--study", "x"), "'--study': does not go with FILE"),
        (
            ("--study", "x", "--response", "t", "--model", "m"),
            "does not go with --model, --response",
        ),
        (("runs.csv", "--engine", "reuse"), "'--engine': does not go with FILE"),
        (("runs.csv", "--to", "xml"), "'extra-p'"),
    ],
)
def test_a_file_or_a_study_is_shown(words: tuple[str, ...], told: str) -> None:
    assert told in usage_error("learn", "show", *words)


def test_several_responses_are_no_csv(tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    path.write_text(
        "PARAMETER n\nPOINTS 1 2\nREGION solve\nMETRIC time\nDATA 1\nDATA 2\n"
        "REGION setup\nMETRIC time\nDATA 1\nDATA 2\n",
        encoding="utf-8",
    )
    output = tmp_path / "out.csv"
    done = CliRunner().invoke(app, ["learn", "show", str(path), "-o", str(output)])
    assert str(done.exception) == (
        f"{output}: 2 responses; expected one for CSV (name one: --response NAME, or --to extra-p)"
    )
    assert not output.exists()


def test_the_table_of_a_file_is_shown_and_written(file: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.csv"
    done = CliRunner().invoke(app, ["learn", "show", str(file), "-o", str(output)])
    assert done.stdout.splitlines()[0] == "runs: 2 rows, 1 parameter"
    assert done.stderr == f"wrote {output}\n"
    assert output.read_text(encoding="utf-8").splitlines()[0].startswith("n,")
    assert EXAMPLE in " ".join(CliRunner().invoke(app, ["learn", "show", "--help"]).output.split())


# --- learn design -----------------------------------------------------------------------------


def design(**changed: object) -> Design:
    values: dict[str, object] = {
        "kind": "random", "parameters": (N, KIND), "rows": ((1, "a"), (4, "b")),
        "replicates": (1, 1),
    }  # fmt: skip
    return Design(**(values | changed))  # type: ignore[arg-type]


SPACE = DesignSpace(name="mm", source="mm.yaml, a config", parameters=(N, KIND))


def test_a_design_is_a_table_of_rows_to_measure() -> None:
    assert design_text.table(design()) == "n,kind\n1,a\n4,b\n"


def test_candidates_stand_first_in_the_table() -> None:
    assert design_text.table(design(), ["x@mm", "y,z@mm"]) == (
        'candidate,n,kind\nx@mm,1,a\n"y,z@mm",4,b\n'
    )


def test_values_with_commas_and_quotes_come_back_from_the_table() -> None:
    parameter = categorical("flags", ("-O3,-g", 'say "no"'))
    made = design(parameters=(parameter,), rows=(("-O3,-g",), ('say "no"',)))
    rows = list(csv.reader(io.StringIO(design_text.table(made))))
    assert rows == [["flags"], ["-O3,-g"], ['say "no"']]


def test_what_a_design_is_and_what_to_know_of_it() -> None:
    of = design(
        kind="d-optimal",
        settings={"rows": 2, "d_efficiency": 0.91234, "levels": None, "terms": "linear"},
        notes=("n is aliased with kind",),
    )
    space = replace(SPACE, notes=("mode is constant",))
    assert design_text.summary(of, space).splitlines() == [
        "d-optimal design of 2 parameters: 2 rows (rows 2, d efficiency 0.912, terms linear)",
        "space: mm.yaml, a config",
        "note: mode is constant",
        "note: n is aliased with kind",
    ]


def test_one_row_of_one_parameter_is_singular() -> None:
    of = design(parameters=(N,), rows=((1,),), replicates=(1,))
    assert design_text.summary(of, SPACE).splitlines()[0] == "random design of 1 parameter: 1 row"


# --- learn fit --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stated:
    """A fitted model that says what it was told."""

    formula: str | None = "0.001 n"
    terms: Sequence[ModelTerm] = ()
    notes: tuple[str, ...] = ()

    def predict(self, inputs: ParameterRows, level: float = 0.9) -> Forecast:
        raise NotImplementedError

    def explain(self) -> Explanation:
        return Explanation.of(self.terms, self.notes)


def error(**changed: float) -> HeldOutError:
    values = {"rows": 3, "answered": 3, "mean": 0.0312, "noise": 0.004, "median": 0.25}
    return HeldOutError(**(values | changed))  # type: ignore[arg-type]


def fits(*models: Fit, **changed: object) -> list[str]:
    values: dict[str, object] = {"table": table(), "models": models, "measured_again": None}
    return fit_text.fits(Fits(**(values | changed))).splitlines()  # type: ignore[arg-type]


def test_a_fit_has_its_formula_its_error_and_its_terms() -> None:
    terms = (
        ModelTerm(text="n", influence=0.75, coefficient=0.00123456),
        ModelTerm(text="kind=a", influence=0.25, coefficient=math.nan),
        ModelTerm(text="n^2", influence=0.0, coefficient=1.0),
    )
    model = Fit(
        model="influence", fitted=Stated(terms=terms, notes=("2 terms left out",)), error=error()
    )
    assert fits(model) == [
        "runs: time in s of 3 rows",
        "",
        "influence: 0.001 n",
        "  cross-validated error: mean 3.1 % +- 0.4 %, median 25 % of 3 rows",
        "  terms by influence:",
        "    n       75.0 %  0.0012346",
        "    kind=a  25.0 %",
        "  note: 2 terms left out",
    ]


@pytest.mark.parametrize(
    ("of", "words"),
    [
        (error(rows=1, answered=1, noise=math.nan), "mean 3.1 %, median 25 % of 1 row"),
        (error(answered=2), "mean 3.1 % +- 0.4 %, median 25 % of 2 of 3 rows"),
        (error(mean=1.5), "mean 150 % +- 0.4 %, median 25 % of 3 rows"),
        (
            None,
            "not known, for the model keeps no held-out rows (autotune learn compare scores it)",
        ),
    ],
)
def test_an_error_says_of_how_many_rows(of: HeldOutError | None, words: str) -> None:
    (line,) = [line for line in fits(Fit(model="m", fitted=Stated(), error=of)) if "error" in line]
    assert line == f"  cross-validated error: {words}"


def test_what_has_no_formula_or_no_fit_says_so() -> None:
    lines = fits(Fit(model="pool", fitted=Stated(formula=None)), Fit(model="pmnf", reason="text"))
    assert lines[2] == "pool: no formula"
    assert lines[-1] == "pmnf: not fitted: text"


def test_noise_and_treatment_are_told_last() -> None:
    lines = fits(table=table(unit="", treated=("1 row left out",)), measured_again=0.021)
    assert lines == [
        "runs: time of 3 rows",
        "",
        "measured again: 2.1 % mean error of half of the repetitions predicting the others",
        "",
        "note: 1 row left out",
    ]


def predicted(medians: Sequence[float], outside: Sequence[bool], separator: str = ",") -> Predicted:
    """Predictions with an interval of a factor of two either way."""
    cells = tuple((str(k + 1), f"host {k}") for k in range(len(medians)))
    inputs = ParameterRows(parameters=(N,), rows=tuple((k + 1,) for k in range(len(medians))))
    middle = np.array(medians)
    return Predicted(
        model="pool",
        level=0.9,
        rows=Rows(
            source="new.csv",
            separator=separator,
            header=("n", "where"),
            cells=cells,
            inputs=inputs,
            differ=np.zeros(len(medians), dtype=np.bool_),
        ),
        forecast=Forecast(
            median=middle,
            low=middle / 2,
            high=middle * 2,
            outside=np.array(outside, dtype=np.bool_),
        ),
        notes=("n = 9 was never measured",),
    )


def test_predictions_stand_behind_the_columns_that_were_read() -> None:
    assert fit_text.table(predicted([0.001, math.nan], [False, True])) == (
        "n,where,median,low,high,outside\n1,host 0,0.001,0.0005,0.002,false\n2,host 1,,,,true\n"
    )
    assert fit_text.table(predicted([1.0], [False], ";")).splitlines()[1] == (
        "1;host 0;1;0.5;2;false"
    )


@pytest.mark.parametrize(
    ("count", "unit", "words"),
    [
        (1, "s", "pool predicts 1 row in s, with 90 % intervals; 0 outside what was measured,"),
        (2, "", "pool predicts 2 rows, with 90 % intervals; 0 outside what was measured,"),
    ],
)
def test_predictions_are_counted(count: int, unit: str, words: str) -> None:
    lines = fit_text.summary(predicted([1.0] * count, [False] * count), unit).splitlines()
    assert lines == [f"{words} of which no interval is sure", "note: n = 9 was never measured"]


def test_rows_outside_what_was_measured_are_counted() -> None:
    shown = fit_text.summary(predicted([1.0, 2.0, 3.0], [True, False, True]), "s")
    assert "; 2 outside what was measured" in shown
