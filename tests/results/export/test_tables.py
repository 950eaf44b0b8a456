"""CSV, Parquet and T4: what a study holds is read back, by others and by ourselves."""

import dataclasses
import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest

from autotune.errors import InputError, MissingTool
from autotune.files.recorded.read_recorded import read
from autotune.results.evaluate.study_evaluation import StudyEvaluation, evaluate
from autotune.results.export import csv_export, export_table, parquet_export, t4_export
from autotune.results.export.choices import selected


def rows_of(result: StudyEvaluation) -> dict[str, object]:
    return {row.candidate.id: row for problem in result.problems for row in problem.rows}


def test_csv_holds_every_candidate(result: StudyEvaluation) -> None:
    made = export_table.table(result, result.problems)
    text = csv_export.write(made)
    assert csv_export.is_table_file(text)
    assert not csv_export.is_table_file("a,b\n1,2\n")
    frame = pandas.read_csv(io.StringIO(text))
    rows = rows_of(result)
    assert list(frame.columns) == list(made.columns)
    assert set(frame["candidate"]) == set(rows)
    for line in frame.to_dict("records"):
        row = rows[line["candidate"]]
        assert line["parameter:order"] == row.candidate.parameters["order"]
        assert line["parameter:tile"] == "none"
        assert line["parameter:au"] is False
        assert line["compared"] is row.compared
        for name, value in (("measured_s", row.measured), ("predicted_s", row.predicted)):
            assert line[name] == value or (value is None and np.isnan(line[name]))
        if row.measured is not None:
            assert [line["measured_low_s"], line["measured_high_s"]] == list(row.interval)
            samples = [float(text) for text in line["samples_s"].split()]
            assert samples == [s.seconds for s in row.measurement.timed]
    assert frame["best"].sum() == len(result.problems)
    assert "undeclared" in frame.loc[frame["status"] == "build-failed", "detail"].iloc[0]


def test_columns_are_documented(result: StudyEvaluation) -> None:
    documented = export_table.__doc__ or ""
    for name in (*export_table.BEFORE, *export_table.AFTER):
        assert name in documented


def test_parquet_keeps_types(result: StudyEvaluation, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="optional: pyarrow is not installed")
    made = export_table.table(result, result.problems)
    path = tmp_path / "study.parquet"
    path.write_bytes(parquet_export.write(made))
    assert parquet_export.is_table_file(path)
    frame = pandas.read_parquet(path)
    assert list(frame.columns) == list(made.columns)
    assert frame["parameter:pad"].dtype == np.int64
    assert frame["parameter:au"].dtype == bool
    assert frame["parameter:tile"].isna().all()
    text = pandas.read_csv(io.StringIO(csv_export.write(made)))
    for name in ("measured_s", "predicted_s", "verified_error", "size", "samples"):
        np.testing.assert_array_equal(frame[name].to_numpy(float), text[name].to_numpy(float))
    lists = [list(cell) for cell in frame["samples_s"]]
    assert lists == [list(cell) for cell in made.column("samples_s")]
    (tmp_path / "other").write_bytes(b"PAR1 no")
    assert not parquet_export.is_table_file(tmp_path / "other")


def test_parquet_without_pyarrow_names_the_extra(
    result: StudyEvaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingTool, match=r"extra parquet.*pip install pyarrow"):
        parquet_export.write(export_table.table(result, result.problems))


def test_t4_is_valid_and_read_back(result: StudyEvaluation, tmp_path: Path) -> None:
    problems = result.problems[:1]
    text, notes = t4_export.write(result, problems)
    assert notes == []
    document = json.loads(text)
    assert document["schema_version"] == "1.0.0"
    assert document["metadata"]["timeunit"] == "seconds"
    for each in document["results"]:
        assert {"configuration", "times", "invalidity", "correctness"} <= set(each)
        assert each["invalidity"] in ("timeout", "compile", "runtime", "correctness", "correct")
        assert each["correctness"] == (each["invalidity"] == "correct")
    (tmp_path / "study_T4.json").write_text(text, encoding="utf-8")
    space = read(tmp_path / "study_T4.json")
    check(space, problems[0])
    assert space.constants["threads"] == 2
    assert len(space.samples[0]) == 9
    assert t4_export.is_own(text)
    assert not t4_export.is_own('{"results": [], "metadata": {"autotuner": "KernelTuner"}}')
    assert not t4_export.is_own("[")


def test_csv_is_read_back(result: StudyEvaluation, tmp_path: Path) -> None:
    path = tmp_path / "study.csv"
    path.write_text(
        csv_export.write(export_table.table(result, result.problems[:1])), encoding="utf-8"
    )
    check(read(path), result.problems[0])


def check(space, problem) -> None:
    """A recorded space holds the tried candidates of a problem, and nothing else."""
    tried = {
        (row.candidate.parameters["order"], row.candidate.parameters["pad"]): row
        for row in problem.rows
        if row.measurement is not None
    }
    assert space.unit == "s"
    assert set(space.names) == {"order", "pad"}
    assert len(space) == len(tried)
    for i in range(len(space)):
        settings = space.settings(i)
        row = tried[settings["order"], settings["pad"]]
        assert space.statuses[i] == row.status
        assert space.seconds[i] == row.measured or (row.measured is None)
        if row.predicted is not None:
            assert space.predicted[i] == row.predicted


def test_t4_of_several_problems_tells_them_apart(result: StudyEvaluation, tmp_path: Path) -> None:
    path = tmp_path / "study.json"
    path.write_text(t4_export.write(result, result.problems)[0], encoding="utf-8")
    found = {r["configuration"]["problem"] for r in json.loads(path.read_text())["results"]}
    assert found == {"heat2d-N2048", "heat2d-N256"}
    with pytest.raises(InputError, match=r"2 problems.*--problem LABEL"):
        read(path)


def test_nothing_measured_is_refused(result: StudyEvaluation) -> None:
    empty = evaluate(dataclasses.replace(result.study, runs=()))
    with pytest.raises(InputError, match="nothing was measured"):
        selected(empty)
