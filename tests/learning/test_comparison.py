"""Models compared by their predictions and by their terms, and the command that does it."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from documented import documented
from typer.testing import CliRunner, Result

from autotune.commands.app import app
from autotune.commands.learn.compare import document as documents
from autotune.commands.learn.compare.text import advice
from autotune.domain.tables.table import MeasurementTable, ParameterRows, numeric
from autotune.errors import InputError
from autotune.learning.comparison.curve_fits import Scoring
from autotune.learning.comparison.model_comparison import (
    ComparisonRequest,
    ModelComparison,
    compare,
    contenders,
    default_models,
)
from autotune.learning.comparison.splits import SplitPlan
from autotune.learning.formulas.named_formulas import make
from autotune.learning.models.formula_predictions import with_analytical

FORMULA = make("smg2000-1d", {"alpha": 1e-3, "beta": 1e-3, "f": 1e-4})


def lawful(factor: float = 1.0) -> MeasurementTable:
    """Times that the formula gives exactly, but for a factor."""
    n, p = (16, 32, 64, 128, 256, 512), (1, 2, 4, 8, 16, 32)
    rows = tuple((a, b) for a in n for b in p)
    inputs = ParameterRows(parameters=(numeric("nx", n), numeric("px", p)), rows=rows)
    values = {name: inputs.numbers(name) for name in inputs.names}
    bare = MeasurementTable(name="law", inputs=inputs, response=factor * FORMULA.evaluate(values))
    return with_analytical(bare, FORMULA)


def compared(table: MeasurementTable, names: list[str], **settings: object) -> ModelComparison:
    request = ComparisonRequest(
        split_plan=SplitPlan(sizes=(24,), repeats=1), formula=FORMULA, **settings
    )  # type: ignore[arg-type]
    return compare(contenders(table, names), request)


def test_a_right_analytical_model_has_no_error() -> None:
    found = compared(lawful(), ["analytical", "am-scaled"])
    first = found.matches[0].semantics
    assert (found.matches[0].model, first.reference, first.n) == ("analytical", "measured", 12)
    assert first.error_rate == pytest.approx(0, abs=1e-12)
    assert first.cosine == pytest.approx(1)
    whole = found.matches[-1].semantics
    assert (found.matches[-1].model, whole.reference, whole.n) == ("analytical", "am-scaled", 36)
    assert whole.error_rate == pytest.approx(0, abs=1e-9)


def test_the_last_lines_say_what_to_take() -> None:
    right = advice(compared(lawful(), ["analytical", "ridge"]).curve)
    assert right[0] == "to predict times: analytical (error rate 0.0 %)"
    assert right[1].startswith("to choose the fastest: analytical (top-3 loss 0.0 %")
    wrong = advice(compared(lawful(3.0), ["analytical", "am-scaled"]).curve)
    assert wrong[0] == "to predict times: am-scaled (error rate 0.0 % after 24 rows)"
    few = ComparisonRequest(split_plan=SplitPlan(sizes=(32,), repeats=1))
    found = compare(contenders(lawful(), ["analytical"]), few)
    assert advice(found.curve)[-1].startswith("scored on 4 rows only")


def test_the_convention_is_that_asked_for() -> None:
    textbook = compared(lawful(2.0), ["analytical"]).matches[0].semantics
    published = compared(lawful(2.0), ["analytical"], convention="kaltenecker").matches[0].semantics
    assert published.error_rate == textbook.error_rate == pytest.approx(0.5)
    assert published.manhattan == pytest.approx(textbook.manhattan / textbook.n)
    assert published.euclidean == pytest.approx(textbook.euclidean**2 / textbook.n)


def test_learned_sums_are_scored_against_the_formula() -> None:
    found = compared(lawful(), ["influence-raw", "ridge"])
    ((name, score),) = found.syntactic
    assert name == "influence-raw"
    assert -1 <= score.normalised <= 1
    assert {t.side for t in score.terms} <= {"both", "analytical", "empirical"}
    without = compared(lawful(), ["ridge"])
    assert without.syntactic == ()
    assert any("sum of terms" in note for note in without.notes)
    assert [one.model for one in found.learned] == ["influence-raw", "ridge"]


def test_the_usual_models_are_those_that_apply() -> None:
    table = lawful()
    assert {"analytical", "pool", "pmnf", "am-scaled"} <= set(default_models(table))
    assert "influence-raw" in default_models(table, FORMULA)
    inputs = ParameterRows(parameters=table.parameters, rows=table.inputs.rows)
    bare = MeasurementTable(name="b", inputs=inputs, response=np.array(table.response))
    assert not any(name.startswith(("am-", "analytical")) for name in default_models(bare))


def test_requests_are_checked() -> None:
    with pytest.raises(InputError, match="top: 0"):
        Scoring(tops=(0,))
    with pytest.raises(InputError, match="level: 1"):
        Scoring(level=1.0)


# --- the command ----------------------------------------------------------------------------


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["learn", "compare", *map(str, arguments)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    table = lawful(1.5)
    guess = table.inputs.analytical
    assert guess is not None
    lines = [
        f"{n},{p},{g},{t}"
        for (n, p), g, t in zip(table.inputs.rows, guess, table.response, strict=True)
    ]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(["nx,px,predicted_s,time_s", *lines]) + "\n", encoding="utf-8")
    return path


QUICK = ("--models", "analytical,ridge,am-scaled", "--repeats", 2)


def test_a_page_never_replaces_the_measurements(file: Path) -> None:
    before = file.read_bytes()
    done = run(file, *QUICK, "--sizes", "8", "-o", file)
    assert isinstance(done.exception, InputError)
    assert "not an HTML page" in str(done.exception)
    assert file.read_bytes() == before


def test_curves_and_measures_in_words(file: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run(file, *QUICK, "--sizes", "8,16", "-o", page)
    assert done.exit_code == 0
    assert re.search(r"error rate \(MAPE\) +8 rows  16 rows", done.stdout)
    for part in ("top-3 loss", "Chebyshev", "textbook", "beats analytical in error"):
        assert part in done.stdout
    assert "error: learning alone pays" in done.stdout
    assert page.read_text(encoding="utf-8").count("<svg") == 2


def test_the_document_has_its_fields(file: Path) -> None:
    constants = ("alpha=1e-3", "beta=1e-3", "f=1e-4")
    options = [part for one in constants for part in ("--constant", one)]
    done = run(
        file, "--without", "predicted_s", "--formula", "smg2000-1d", *options,
        "--models", "analytical,influence-raw", "--repeats", 1, "--sizes", 20,
        "--convention", "kaltenecker", "--json",
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["schema"] == "autotune.learn.compare/1"
    documented(found, documents.ModelComparisonDocument, "compare")
    assert found["curves"]["points"]
    assert found["semantic"]
    assert found["convention"] == "kaltenecker"
    assert found["syntactic"][0]["model"] == "influence-raw"
    pays = found["curves"]["pays"][0]
    assert pays["against"] == "analytical"
    assert pays["error"]["gains"]
    first = found["curves"]["first"][0]
    assert (first["kind"], first["measure"], first["up_to"]) == ("learned", "error_rate", 20)
    assert found["curves"]["floor"] is None
    assert not found["curves"]["interrupted"]


def test_values_are_left_out_in_turn(file: Path) -> None:
    found = json.loads(run(file, *QUICK, "--leave-out", "px", "--json").stdout)
    groups = {point["group"] for point in found["curves"]["points"]}
    assert groups == {None, 1, 2, 4, 8, 16, 32}
    assert found["curves"]["split_plan"]["sizes"] == [8, 16]
    documented(found, documents.ModelComparisonDocument, "compare")
    left = [p for p in found["curves"]["points"] if p["group"] is not None]
    assert all(
        point["measures"]["outside"]["median"] == 1.0 for point in left if point["group"] in (1, 32)
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--sizes", "8,many"),
        ("--constant", "alpha=1"),
        ("--formula", "fmm", "--constant", "t_c"),
        ("--formula", "fmm", "--analytical", "predicted_s"),
    ],
)
def test_wrong_options_are_refused(file: Path, arguments: tuple[str, ...]) -> None:
    assert run(file, *arguments).exit_code == 2


def test_too_many_rows_asked_for(file: Path) -> None:
    error = run(file, *QUICK, "--sizes", 36).exception
    assert isinstance(error, InputError)
    assert "36 rows" in str(error)
