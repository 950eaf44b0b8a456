"""What is made of a study whose objective is a rate speaks of the rate, in its unit."""

import json
import re
from pathlib import Path

import optuna
import own_programs as own
import pandas
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.export import flow as export_flow
from autotune.commands.export import text as export_text
from autotune.commands.export.export_options import ExportRequest, Format
from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow as tune_flow
from autotune.errors import InputError
from autotune.files import codec
from autotune.results.export.readers import autotune_wisdom

PROGRAM = """\
schema: autotune.program/1
title: Rates and ratios of levels
sources: [tiny.py]
run: ["{python}", "{source folder}/tiny.py", "{level}"]
parameters: {level: [1, 2, 3, 4]}
metrics:
  rate: {json: rate, unit: MB/s, better: more}
  ratio: {json: ratio, unit: x, better: more}
objective: rate
bounds: [ratio >= 2]
"""
SCRIPT = """\
import json, sys
rates, ratios = (100, 200, 400, 800), (4.0, 3.0, 2.5, 1.0)
level = int(sys.argv[1])
print(json.dumps({"rate": rates[level - 1], "ratio": ratios[level - 1]}))
"""
CONFIG = own.CONFIG.replace("builds: [{compiler: gcc, flags: [-O1]}]\n", "").replace(
    "{n: 500}", "{}"
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one study, ``study``: level 3 has the best rate within the bound."""
    folder = tmp_path_factory.mktemp("rates")
    path = own.put(folder, PROGRAM, CONFIG, {"tiny.py": SCRIPT})
    options = tune_flow.StudyOptions(exhaustive=True)
    tune_flow.tune(load(path), options, str(folder / "store.sqlite"), own.quiet)
    return folder / "store.sqlite"


def exported(store: Path, folder: Path, kind: Format) -> tuple[Path, export_flow.ExportDocument]:
    path = folder / f"rates{export_flow.ENDINGS[kind]}"
    request = ExportRequest(study="", format=kind, output=path)
    return path, export_flow.export(request, str(store), own.quiet)


def test_tables_hold_values_with_units_and_true_times(store: Path, tmp_path: Path) -> None:
    path, _ = exported(store, tmp_path, "csv")
    frame = pandas.read_csv(path).set_index("parameter:level")
    assert frame.columns[-5:].tolist() == [
        "metric:rate:better", "metric:rate:low [MB/s]", "metric:rate:high [MB/s]",
        "metric:rate:samples [MB/s]", "metric:rate [MB/s]",
    ]  # fmt: skip
    best = frame.loc[3]
    assert best["best"]
    assert best["metric:rate [MB/s]"] == pytest.approx(400)
    assert best["metric:rate:low [MB/s]"] < 400 < best["metric:rate:high [MB/s]"]
    assert set(best["metric:rate:samples [MB/s]"].split()) == {"400.0"}
    assert best["metric:ratio [x]"] == 2.5
    assert best["metric:rate:better"] == "more"
    assert 1e-3 < best["measured_s"] < 60
    assert frame["measured_low_s"].isna().all()
    assert frame.loc[4, "status"] == "out-of-bounds"
    _, again = exported(store, tmp_path, "csv")  # it knows its own file
    assert again.rows == 4


def test_parquet_types_the_columns_of_metrics(store: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="optional: pyarrow is not installed")
    path, _ = exported(store, tmp_path, "parquet")
    frame = pandas.read_parquet(path).set_index("parameter:level")
    assert frame["metric:rate [MB/s]"].dropna().tolist() == pytest.approx([400, 200, 100])
    assert frame.loc[3, "metric:rate:samples [MB/s]"].tolist()[0] == 400
    assert frame.loc[3, "metric:rate:better"] == "more"


def test_t4_names_the_objective(store: Path, tmp_path: Path) -> None:
    path, _ = exported(store, tmp_path, "t4")
    document = json.loads(path.read_text())
    objective = {"name": "rate", "unit": "MB/s", "better": "more"}
    assert document["metadata"]["objective"] == objective
    best = next(r for r in document["results"] if r["configuration"]["level"] == 3)
    assert best["objectives"] == ["rate"]
    measured = {m["name"]: (m["value"], m["unit"]) for m in best["measurements"]}
    assert measured["rate"] == (pytest.approx(400), "MB/s")
    assert measured["ratio"] == (2.5, "x")
    bad = next(r for r in document["results"] if r["configuration"]["level"] == 4)
    assert (bad["invalidity"], bad["correctness"]) == ("correctness", 0)
    assert {"name": "status", "value": "out-of-bounds", "unit": ""} in bad["measurements"]
    assert measured["time"][0] == pytest.approx(best["times"]["runtimes"][0], rel=5)


def test_headers_and_wisdom_state_the_value(store: Path, tmp_path: Path) -> None:
    header, done = exported(store, tmp_path, "header")
    assert ", rate 400 MB/s (" in export_text.text(done)
    entry = codec.document(done)["choices"]["sections"][0]["entries"][0]  # type: ignore[index,call-overload]
    assert (entry["seconds"], entry["value"]) == (None, pytest.approx(400))
    text = header.read_text()
    assert "double value;          /* rate [MB/s]; more is better;" in text
    assert "value     rate 400 MB/s, 90 % interval" in text
    assert "seconds" not in text
    path, _ = exported(store, tmp_path, "wisdom")
    choice = autotune_wisdom.load(str(path)).lookup(1)
    assert (choice.metric, choice.unit, choice.better) == ("rate", "MB/s", "more")
    assert (choice.seconds, choice.value) == (None, pytest.approx(400))
    assert choice.interval is not None
    assert choice.interval[0] < 400 < choice.interval[1]


def test_learning_from_a_study_or_its_exports_speaks_of_the_rate(
    store: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.csv"
    shown = run("learn", "show", "--study", "", "--store", str(store), "-o", str(copy))
    assert "response     rate from 100 to 400 MB/s; more is better" in shown
    assert copy.read_text().splitlines()[0].endswith("rate [MB/s]")
    again = run("learn", "show", str(copy), "--better", "more")
    assert "response     rate from 100 to 400 MB/s; more is better" in again
    table, _ = exported(store, tmp_path, "csv")
    results, _ = exported(store, tmp_path, "t4")
    for path in (table, results):
        assert "rate from 100 to 400 MB/s; more is better" in run("learn", "show", str(path))
    document = json.loads(run("learn", "show", str(table), "--json"))
    assert document["tables"][0]["data"]["better"] == "more"
    fitted = run("learn", "fit", str(copy), "--models", "ridge", "--better", "more")
    assert "rate in MB/s, of which more is better, of 3 rows" in fitted


@pytest.mark.parametrize("kind", ["csv", "t4"])
def test_exports_are_imported_and_searched_as_rates(
    store: Path, tmp_path: Path, kind: Format
) -> None:
    path, _ = exported(store, tmp_path, kind)
    config = own.put(tmp_path, PROGRAM, CONFIG, {"tiny.py": SCRIPT})
    other = ("--store", str(tmp_path / "other.sqlite"))
    assert ", rate 400 MB/s\n" in run("import", str(path), str(config), *other)
    assert "400.0 MB/s" in run("compare", *other)
    replayed = run("tune", "--replay", str(path))
    assert "best over it" in replayed
    assert "400 MB/s" in replayed
    document = json.loads(run("tune", "--replay", str(path), "--json"))
    assert document["recorded_best"] == pytest.approx(400)
    assert document["metric"] == {"name": "rate", "unit": "MB/s", "better": "more"}


def test_a_plain_table_is_read_in_the_metric_of_the_config(tmp_path: Path) -> None:
    config = own.put(tmp_path, PROGRAM, CONFIG, {"tiny.py": SCRIPT})
    plain = tmp_path / "plain.csv"
    arguments = ("import", str(plain), str(config), "--store", str(tmp_path / "s.sqlite"))
    plain.write_text("level,rate [MB/s]\n1,100\n2,250\n")
    assert ", rate 250 MB/s\n" in run(*arguments)
    plain.write_text("level,rate [GB/s]\n1,100\n2,250\n")
    assert "rate [GB/s]; expected rate [MB/s]" in refused(*arguments)
    plain.write_text("level,time_s\n1,100\n2,250\n")
    assert "expected rate [MB/s], of which more is better, the objective" in refused(*arguments)


SIZED = """\
schema: autotune.program/1
title: Rates at sizes
sources: [tiny.py]
run: ["{python}", "{source folder}/tiny.py", "{level}", "{n}"]
arguments: {n: 10}
size: n
threads: one
parameters: {level: [1, 2]}
metrics: {rate: {pattern: "rate (.*)", unit: MB/s, better: more}}
objective: rate
"""


def test_a_map_shows_rates(tmp_path: Path) -> None:
    script = 'import sys\nprint("rate", 125 * int(sys.argv[1]))\n'
    config = own.put(
        tmp_path, SIZED, CONFIG.replace("arguments: {}", "arguments: {n: 10}"), {"tiny.py": script}
    )
    place = ("--store", str(tmp_path / "s.sqlite"))
    text = run("map", str(config), "--sizes", "10,20", "--threads", "1", *place)
    assert " rate " in text
    assert re.search(r" 2[0-9]{2}\.[0-9] MB/s", text)
    assert "values of rate change smoothly" in text
    assert " ms " not in text


def run(*arguments: str) -> str:
    """What a command prints."""
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: str) -> str:
    """Why a command refuses its input."""
    error = CliRunner().invoke(app, arguments).exception
    assert isinstance(error, InputError)
    return str(error)


def test_a_journal_maximises_the_rate(store: Path, tmp_path: Path) -> None:
    journal = tmp_path / "study.journal"
    run("mirror", "--store", str(store), "-o", str(journal))
    storage = JournalStorage(JournalFileBackend(str(journal)))
    study = optuna.load_study(study_name=None, storage=storage)
    assert (study.direction.name, study.metric_names) == ("MAXIMIZE", ["rate"])
    assert study.best_value == pytest.approx(400.0)


def test_the_page_has_columns_of_further_metrics(store: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run("report", "--store", str(store), "-o", str(page))
    text = page.read_text(encoding="utf-8")
    assert ">ratio</th>" in text
    assert ">2.5 x</td>" in text
