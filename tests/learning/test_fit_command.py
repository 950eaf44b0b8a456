"""``autotune learn fit`` as a user runs it: formulas, held-out errors, predictions of new rows."""

import csv
import json
import math
import random
import shlex
from pathlib import Path

import pytest
from documented import documented
from typer.testing import CliRunner, Result

from autotune.commands.app import app
from autotune.commands.learn.fit import command as fit_command
from autotune.commands.learn.fit import document as documents
from autotune.errors import InputError
from autotune.files.tables import read_one
from autotune.learning.comparison import model_comparison
from autotune.learning.models import fits
from autotune.learning.models.rows_to_predict import read_rows

N, P = (256, 512, 1024, 2048, 4096), (1, 2, 4, 8, 16)


def law(n: float, p: float) -> float:
    return 3e-6 * n**1.5 / math.sqrt(p)


def grown(n: float) -> float:
    return 0.5 + 2e-6 * n**2


def fit(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["learn", "fit", *map(str, arguments)])


def predicted(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def evaluated(formula: str, values: dict[str, float]) -> float:
    """Of a formula that is a sum of products of powers."""

    def factor(text: str) -> float:
        base, _, exponent = text.partition("^")
        return float(values.get(base, base)) ** float(exponent or 1)

    terms = formula.partition(" = ")[2].split(" + ")
    return sum(math.prod(map(factor, term.split(" * "))) for term in terms)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A planted product, measured twice with 1 % noise, all of it by one compiler."""
    noise = random.Random(1)
    path = tmp_path / "runs.csv"
    lines = [
        f"{n},{p},gcc,{law(n, p) * (1 + noise.gauss(0, 0.01)):.6g}"
        for n in N
        for p in P
        for _ in range(2)
    ]
    path.write_text("\n".join(["n,p,compiler,time_s", *lines]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text('p,who,n\n3,"a, b",3000\n6,c,700\n2,d,90000\n', encoding="utf-8")
    return path


def test_the_printed_formula_is_the_planted_law(runs: Path) -> None:
    done = fit(runs, "--models", "ridge,gp")
    assert done.exit_code == 0
    assert done.stdout.startswith("runs: time in s of 25 rows\n\nridge: time = ")
    formula = done.stdout.splitlines()[2].removeprefix("ridge: ")
    for n, p in ((300, 3), (3000, 12)):
        assert evaluated(formula, {"n": n, "p": p}) == pytest.approx(law(n, p), rel=0.05)
    assert "cross-validated error: mean 0." in done.stdout
    assert "gp: no formula" in done.stdout
    assert "measured again: " in done.stdout
    assert "no parameter: compiler = gcc" in done.stdout


def test_the_usual_models_and_one_that_keeps_no_held_out_rows(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    lines = "".join(f"{n},{grown(n)}\n" for n in (*N, 8192))
    path.write_text(f"n,time_s\n{lines}", encoding="utf-8")
    assert fits.usual_models(read_one(path)) == ("pool", "influence", "pmnf")
    asked = tmp_path / "asked.csv"
    asked.write_text("n\n3000\n", encoding="utf-8")
    done = fit(path, "--predict", asked)
    lines_said = done.stderr.splitlines()
    (formula,) = [line for line in lines_said if line.startswith("pmnf: ")]
    assert evaluated(formula, {"n": 3000}) == pytest.approx(grown(3000), rel=1e-3)
    assert "cross-validated error: not known" in done.stderr
    (row,) = predicted(done.stdout)
    assert float(row["median"]) == pytest.approx(grown(3000), rel=0.3)
    assert (row["low"], row["high"]) == ("0", "inf")  # seven rows are too few for 90 %


def test_new_rows_are_predicted_within_their_interval(runs: Path, rows: Path) -> None:
    done = fit(runs, "--models", "ridge", "--predict", rows)
    said = predicted(done.stdout)
    assert list(said[0]) == ["p", "who", "n", "median", "low", "high", "outside"]
    assert [row["who"] for row in said] == ["a, b", "c", "d"]
    assert [row["outside"] for row in said] == ["false", "false", "true"]
    for row in said[:2]:
        truth = law(float(row["n"]), float(row["p"]))
        assert float(row["low"]) <= truth <= float(row["high"])
        assert float(row["high"]) < 1.1 * float(row["low"])
    assert "1 outside what was measured" in done.stderr
    wide = predicted(fit(runs, "--models=ridge", "--predict", rows, "--confidence=95 %").stdout)
    assert float(wide[0]["high"]) > float(said[0]["high"])


def test_what_never_varied_is_warned_of(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("n,p,compiler\n512,2,gcc\n512,2,clang\n", encoding="utf-8")
    done = fit(runs, "--models", "ridge", "--predict", path)
    known, other = predicted(done.stdout)
    assert (known["outside"], other["outside"]) == ("false", "true")
    assert (other["low"], other["high"], other["median"]) == ("0", "inf", known["median"])
    assert "compiler was gcc in every row learned from" in done.stderr


def test_a_category_that_was_not_measured_is_outside(tmp_path: Path) -> None:
    path, asked = tmp_path / "runs.csv", tmp_path / "asked.csv"
    lines = "".join(f"{n},{code},{n * (code + 1)}\n" for n in N for code in (0, 1, 3))
    path.write_text(f"n,solver,time_s\n{lines}", encoding="utf-8")
    asked.write_text("n,solver\n512,3.0\n512,2\n", encoding="utf-8")
    done = fit(path, "--models", "ridge", "--categorical", "solver", "--predict", asked)
    assert [row["outside"] for row in predicted(done.stdout)] == ["false", "true"]
    assert "solver = 2 was not seen in training" in done.stderr


def test_the_document_has_its_fields(runs: Path, rows: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    done = fit(runs, "--models=ridge,pmnf", "--predict", rows, "-o", target, "--json")
    found = json.loads(done.stdout)
    assert found["schema"] == "autotune.learn.fit/1"
    documented(found, documents.FitDocument, "fit")
    first, second = found["models"]
    assert (first["model"], second["error"]) == ("ridge", None)
    assert 0 < first["error"]["noise"] < first["error"]["mean"] < 0.02
    assert found["predicted"]["expected"][2]["forecast"]["outside"] is True
    said = predicted(target.read_text(encoding="utf-8"))
    expected = found["predicted"]["expected"][0]["forecast"]["median"]
    assert float(said[0]["median"]) == pytest.approx(expected, rel=1e-5)


def test_a_model_that_cannot_be_fitted_says_why(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    lines = "".join(f"{n},{o},{n}\n" for n in N for o in ("ij", "ji"))
    path.write_text(f"n,order,time_s\n{lines}", encoding="utf-8")
    assert "pmnf" not in fits.usual_models(read_one(path))
    assert "pmnf: not fitted: " in fit(path, "--models", "ridge,pmnf").stdout
    for more in ((), ("--predict", path)):
        refused = fit(path, "--models", "pmnf", *more)
        assert isinstance(refused.exception, InputError)
        assert "order is categorical" in str(refused.exception)
    refused = fit(path, "--models", "pmnf,ridge", "--predict", path)
    assert "pmnf could not be fitted" in str(refused.exception)


@pytest.mark.parametrize(
    ("title", "factor"), [("predicted_s", 1.0), ("predicted_ms", 1e3), ("predicted", None)]
)
def test_the_analytical_model_of_new_rows(tmp_path: Path, title: str, factor: float | None) -> None:
    path, asked = tmp_path / "runs.csv", tmp_path / "asked.csv"
    lines = "".join(f"{n},{n},{3 * n}\n" for n in N)
    path.write_text(f"n,predicted_s,time_s\n{lines}", encoding="utf-8")
    asked.write_text(f"n,{title}\n700,{700 * (factor or 1)}\n", encoding="utf-8")
    done = fit(path, "--models", "am-scaled", "--predict", asked)
    if factor is None:
        assert "predicted states no unit" in str(done.exception)
        return
    (row,) = predicted(done.stdout)
    assert float(row["median"]) == pytest.approx(2100)


def test_without_it_nothing_is_said_by_who_needs_it(tmp_path: Path) -> None:
    path, asked = tmp_path / "runs.csv", tmp_path / "asked.csv"
    lines = "".join(f"{n},{n},{3 * n}\n" for n in N)
    path.write_text(f"n,predicted_s,time_s\n{lines}", encoding="utf-8")
    asked.write_text("n\n700\n", encoding="utf-8")
    done = fit(path, "--models", "am-scaled", "--predict", asked)
    assert predicted(done.stdout)[0]["median"] == ""
    assert "no column predicted_s" in done.stderr
    assert "nothing can be said of 1 row" in done.stderr


def test_semicolons_and_decimal_commas(runs: Path, tmp_path: Path) -> None:
    path = tmp_path / "asked.csv"
    path.write_text("n;p;who\n512,0;2,5;x\n", encoding="utf-8")
    found = read_rows(path, read_one(runs))
    assert found.inputs.rows == ((512, 2.5),)
    assert fit(runs, "--models=ridge", "--predict", path).stdout.splitlines()[1][:13] == (
        "512,0;2,5;x;0"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no rows"),
        ("n,p\n", "no rows"),
        ("m,p\n1,2\n", "no column n"),
        ("n,p,p\n1,2,3\n", "two columns named p"),
        ("n,p,low\n1,2,3\n", "columns named low"),
        ("n,p\n1,2\nmany,2\n", "asked.csv:3: n is 'many'"),
        ("n,p\n1,\n", "p is 'empty'"),
        ("n,p\n1,2\n,\n", "asked.csv:3: n is 'empty'"),
        ("n,p\n1e999,1\n", "n is '1e999'"),
        ("n,p\nnan,1\n", "n is 'nan'"),
        ("n,p\n1\n", "asked.csv:2: 1 values"),
        ('n,p\n"1,2\n', "not CSV"),
    ],
)
def test_rows_that_cannot_be_predicted(runs: Path, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "asked.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_rows(path, read_one(runs))
    assert said in str(raised.value)


def test_inputs_are_never_written_over(runs: Path, rows: Path, tmp_path: Path) -> None:
    before = runs.read_text(encoding="utf-8"), rows.read_text(encoding="utf-8")
    linked = tmp_path / "linked.csv"
    linked.symlink_to(runs)
    for target in (runs, rows, linked):
        assert fit(runs, "--models=ridge", "--predict", rows, "-o", target).exit_code == 2
    assert before == (runs.read_text(encoding="utf-8"), rows.read_text(encoding="utf-8"))
    nowhere = fit(runs, "--predict", rows, "-o", tmp_path / "none" / "out.csv")
    assert isinstance(nowhere.exception, InputError)


@pytest.mark.parametrize(
    "arguments",
    [
        ("-o", "out.csv"),
        ("--constant", "a=1"),
        ("--confidence", "120 %"),
        ("--confidence", "sure"),
        ("--models", "rigde"),
        ("--formula", "fmm", "--analytical", "p"),
        ("--predict", "absent.csv"),
    ],
)
def test_options_that_do_not_go(runs: Path, arguments: tuple[str, ...]) -> None:
    done = fit(runs, *arguments)
    assert done.exit_code == 2 or isinstance(done.exception, InputError)


def test_interrupted_fits_keep_what_was_done(runs: Path) -> None:
    table = read_one(runs)
    entered = model_comparison.contenders(table, ["ridge", "pmnf"])

    def at_the_second(stage: str, done: int, total: int, detail: str = "") -> None:
        if done == 1 and total == 2:
            raise KeyboardInterrupt

    found = fits.fit_all(table, entered, at_the_second)
    assert found.interrupted
    assert [one.model for one in found.models] == ["ridge"]


@pytest.mark.usefixtures("runs")
def test_the_example_works_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = "".join(f"{n},{p},gcc\n" for n in N for p in P)
    (tmp_path / "new-rows.csv").write_text(f"n,p,compiler\n{new}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for command in fit_command.EXAMPLE.removeprefix("Example: ").split("; "):
        program, *arguments = shlex.split(command)
        assert program == "autotune"
        assert CliRunner().invoke(app, arguments).exit_code == 0
    said = predicted((tmp_path / "predicted.csv").read_text(encoding="utf-8"))
    assert len(said) == len(N) * len(P)
