"""What is made of a study whose objective is a rate speaks of the rate, in its unit."""

import io
import json
from pathlib import Path

import own_programs as own
import pandas
import pytest

from autotune.commands.export import flow as export_flow
from autotune.commands.export import text as export_text
from autotune.commands.export.export_options import ExportRequest, Format
from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow as tune_flow
from autotune.domain.metric import Metric
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
