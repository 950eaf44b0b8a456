"""``autotune learn show`` as a user runs it."""

import json
from pathlib import Path

import fabricated
import pytest
from documented import documented
from typer.testing import CliRunner, Result

from autotune.commands.app import app
from autotune.commands.learn.show import document as show_document
from autotune.errors import InputError
from autotune.files.store import Store

TEXT = "n,flags,predicted_s,time_s\n8,-O2,1,1.5\n8,-O2,1,1.6\n16,-O3,2,2.5\n32,-O3,4,0\n"


def show(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["learn", "show", *map(str, arguments)])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_table_in_words(file: Path) -> None:
    said = show(file).stdout
    assert "runs: 2 rows, 2 parameters" in said
    assert "time from 1.550 s to 2.500 s" in said
    assert "n      numeric      8, 16" in said
    assert "flags  categorical  -O2, -O3" in said
    assert "line 5 (0)" in said
    assert "1 row repeats" in said
    assert "analytical   2 of 2 rows" in said


def test_the_document_has_its_fields(file: Path) -> None:
    done = json.loads(show(file, "--json").stdout)
    assert next(iter(done.items())) == ("schema", "autotune.learn.show/1")
    documented(done, show_document.MeasurementsDocument, "show")
    (table,) = done["tables"]
    assert (table["data"]["rows"], table["analytical"], table["repetitions_most"]) == (2, 2, 2)


def test_several_responses_are_listed_and_one_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    parts = "".join(f"REGION {part}\nDATA 1\nDATA 2\n" for part in ("solve", "io"))
    path.write_text(f"PARAMETER p\nPOINTS (4) (8)\n{parts}", encoding="utf-8")
    said = show(path).stdout
    assert "2 responses over p" in said
    assert "solve: time  2 rows" in said
    assert "--response NAME" in said
    assert "part         io" in show(path, "--response", "io").stdout


def test_a_table_is_written_in_either_format(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    assert show(file, "--without", "flags", "-o", target, "--to", "extra-p").exit_code == 0
    assert target.read_text(encoding="utf-8").startswith("PARAMETER n\nPOINTS ( 8 )\n")
    assert show(file, "-o", tmp_path / "out.csv").exit_code == 0
    assert "n,flags,predicted_s,time_s" in (tmp_path / "out.csv").read_text(encoding="utf-8")
    refused = show(file, "-o", target, "--to", "extra-p")
    assert isinstance(refused.exception, InputError)
    assert "flags is categorical" in str(refused.exception)
    assert show(file, "-o", file).exit_code == 2
    assert file.read_text(encoding="utf-8") == TEXT


def test_a_study_of_the_store(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with Store.open(path) as results:
        fabricated.fill(results, sizes=(256,), rounds=1)
    said = show("--study", "quick", "--store", path).stdout
    assert "study quick, predicted by reuse" in said
    assert "order" in said


@pytest.mark.parametrize("arguments", [(), ("x.csv", "--study", "s"), ("x.csv", "--engine", "e")])
def test_a_file_or_a_study(arguments: tuple[str, ...]) -> None:
    assert show(*arguments).exit_code == 2
