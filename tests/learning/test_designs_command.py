"""``autotune learn design``: its files, its output, its faults."""

import csv
import gzip
import io
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import Result
from documented import documented
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.learn.design import document as documents
from autotune.commands.learn.design.command import EXAMPLE
from autotune.commands.learn.design.flow import designed
from autotune.domain.tables.parameter import Value, numeric
from autotune.errors import ConfigError, InputError
from autotune.files import config
from autotune.learning.designs import DesignPlan
from autotune.learning.designs.base import Kind

SPACE = """\
schema: autotune.design/1
title: blocks
parameters:
  bi: {from: 8, to: 64, factor: 2}
  bj: {from: 10, to: 50, step: 10}
  weight: {from: 0.1, to: 0.5, step: 0.1}
  order: [ijk, kij]
constraints:
  - bi * bj <= 1600
"""

STUDY = """\
schema: autotune.config/1
title: orders
machine: generic-x86-64
skeleton: pirk
space: pirk-small
problems:
  - {ivp: heat2d, method: radau-iia-5, correctors: 4, size: 40}
  - {ivp: heat2d, method: radau-iia-5, correctors: 4, size: 80}
threads: [1]
"""

MODEL = """\
<vm name="solver">
  <binaryOptions>
    <configurationOption><name>root</name><parent/><optional>False</optional></configurationOption>
    <configurationOption><name>fast</name><parent>root</parent><optional>True</optional>
    </configurationOption>
  </binaryOptions>
  <numericOptions>
    <configurationOption><name>cells</name><minValue>50</minValue><maxValue>55</maxValue>
      <stepFunction>cells + 1</stepFunction></configurationOption>
    <configurationOption><name>pre</name><minValue>0</minValue><maxValue>6</maxValue>
      <stepFunction>pre + 1</stepFunction></configurationOption>
  </numericOptions>
</vm>
"""


@pytest.fixture
def space(tmp_path: Path) -> Path:
    path = tmp_path / "space.yaml"
    path.write_text(SPACE, encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["learn", "design", *map(str, arguments)])


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_file_that_is_not_there_comes_before_missing_options(tmp_path: Path) -> None:
    done = run(tmp_path / "no", "--kind", "sobol")
    assert "there is no such file" in str(done.exception)


def test_rows_go_to_stdout_and_what_to_know_to_stderr(space: Path) -> None:
    done = run(space, "--kind", "plackett-burman", "--rows", 9, "--levels", 3)
    assert done.exit_code == 0
    found = rows(done.stdout)
    assert list(found[0]) == ["bi", "bj", "weight", "order"]
    assert all(int(row["bi"]) * int(row["bj"]) <= 1600 for row in found)
    assert {row["weight"] for row in found} <= {"0.1", "0.3", "0.5"}
    assert "note: constraints forbid" in done.stderr
    assert "moved to the nearest allowed row" in done.stderr


def test_the_document_is_whole_and_repeatable(space: Path, tmp_path: Path) -> None:
    table = tmp_path / "rows.csv"
    arguments = (space, "--kind", "random", "--rows", 7, "--seed", 3, "--json")
    done = run(*arguments, "-o", table)
    document = json.loads(done.stdout)
    documented(document, documents.DesignDocument, "design")
    assert next(iter(document.items())) == ("schema", "autotune.learn.design/1")
    written = rows(table.read_text(encoding="utf-8"))
    design = document["design"]
    names = [parameter["name"] for parameter in design["parameters"]]
    assert written == [dict(zip(names, map(str, row), strict=True)) for row in design["rows"]]
    assert json.loads(run(*arguments).stdout) == document


def test_candidates_of_a_config_are_named(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(STUDY, encoding="utf-8")
    found = designed(path, DesignPlan(kind="d-optimal", rows=14, terms="linear"))
    names = found.design.names
    assert "threads" not in names  # the same for all
    assert len(found.candidates) == len(set(found.candidates)) == len(found.design)
    place = names.index("order")
    for row, candidate in zip(found.design.rows, found.candidates, strict=True):
        assert candidate.startswith(str(row[place]))
    done = run(path, "--kind", "random", "--rows", 2)
    assert next(iter(rows(done.stdout)[0])) == "candidate"


def test_a_variability_model_is_designed_over(tmp_path: Path) -> None:
    path = tmp_path / "solver.xml"
    path.write_text(MODEL, encoding="utf-8")
    plan = DesignPlan(kind="central-composite", compatibility="spl-conqueror")
    found = designed(path, plan)
    assert found.space.source.endswith("(variability model)")
    assert len(found.design) == 2 * 9  # with and without the option
    assert found.design.names[-2:] == ("cells", "pre")


def test_the_rows_of_a_table_are_the_allowed_ones(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    lines = [f"{a},{b},{a + b + 1}" for a in range(5) for b in range(5) if (a + b) % 2 == 0]
    path.write_text("\n".join(["a,b,time_s", *lines]) + "\n", encoding="utf-8")
    within = designed(path, DesignPlan(kind="full-factorial")).design
    assert len(within) == len(lines)
    assert len(designed(path, DesignPlan(kind="full-factorial"), beyond=True).design) == 25


def test_every_fault_of_a_space_is_told_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        """\
schema: autotune.design/1
parameters:
  a: {from: 1, to: 8, stp: 2}
  b: [1, two]
  c: [true, false]
  d: {from: 1, to: 9, step: -1}
  e: {from: 0, to: 1e9, step: 1}
  f: []
constraints:
  - a * bb < 3
  - a <
""",
        encoding="utf-8",
    )
    with pytest.raises(ConfigError) as caught:
        config.design(path)
    faults = {fault.where.rsplit("wrong.yaml:")[1]: str(fault) for fault in caught.value.faults}
    assert [int(place.split(":")[0]) for place in faults] == [3, 4, 5, 6, 7, 8, 10, 11]
    texts = list(faults.values())
    assert "did you mean step?" in texts[0]
    assert "numbers or text as values, not both" in texts[1]
    assert "write 0 and 1" in texts[2]
    assert "not positive" in texts[3]
    assert "at most 100000" in texts[4]
    assert "at least one value" in texts[5]
    assert "did you mean b?" in texts[6]
    assert "not a condition" in texts[7]


def test_ranges_hold_their_ends(tmp_path: Path) -> None:
    path = tmp_path / "ranges.yaml"
    text = "schema: autotune.design/1\nparameters:\n  a: {from: 0.1, to: 0.7, step: 0.1}\n"
    text += "  b: {from: 1, to: 1000, factor: 10}\n  c: {from: 0, to: 1}\n  d: [z, a]\n"
    path.write_text(text, encoding="utf-8")
    a, b, c, d = config.design(path).parameters
    assert a.values == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
    assert b.values == (1, 10, 100, 1000)
    assert (c.continuous, c.low, c.high) == (True, 0.0, 1.0)
    assert d.values == ("a", "z")


def test_options_that_do_not_go_together_are_refused(space: Path) -> None:
    with pytest.raises(InputError, match=r"--beyond with a space.*a table"):
        designed(space, DesignPlan(kind="random", rows=3), beyond=True)
    failed = run(space, "--kind", "plackett-burman", "--rows", 10, "--levels", 3)
    assert isinstance(failed.exception, InputError)
    assert "(9, 3), (27, 3)" in str(failed.exception)
    assert "Example: autotune learn design" in run("--help").stdout


def test_a_design_over_dune_is_found_in_its_measurements() -> None:
    data = Path(__file__).parents[3] / "shared" / "data" / "replay" / "dune.csv"
    if not data.is_file():
        pytest.skip("optional: the published Dune table is not on this machine")
    found = designed(data, DesignPlan(kind="plackett-burman", rows=49, levels=7)).design
    assert found.points == 49
    assert len(found) + found.repeated + found.dropped == 49


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ("{from: 1, to: 1e308, step: 1e-300}", "at most 100000 values"),
        ("{from: 1e17, to: 100000000000000100, step: .1}", "lost in the digits"),
        ("{from: -1e308, to: 1e308}", "too wide for floats"),
        ("[1e999]", "neither a finite number nor printable text"),
        ('["a\\e[31m", b]', "neither a finite number nor printable text"),
    ],
)
def test_values_that_are_none_are_refused(tmp_path: Path, values: str, match: str) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(f"schema: autotune.design/1\nparameters:\n  a: {values}\n")
    with pytest.raises(ConfigError, match=match):
        config.design(path)


def test_a_file_is_never_replaced_silently(tmp_path: Path) -> None:
    space, rows = tmp_path / "space.yaml", tmp_path / "rows.csv"
    space.write_text(SPACE)
    call = ["learn", "design", str(space), "--rows", "4", "-o"]
    runner = CliRunner()
    assert f"wrote {rows}" in runner.invoke(app, [*call, str(rows)]).stderr
    assert f"replaced {rows}" in runner.invoke(app, [*call, str(rows)]).stderr
    refused = runner.invoke(app, [*call, str(space)])
    assert refused.exit_code == 2
    assert "is the file that was read" in refused.output
    assert space.read_text() == SPACE
    failed = runner.invoke(app, [*call, str(tmp_path)])
    assert isinstance(failed.exception, InputError)
    assert "a folder; expected a new file" in str(failed.exception)


def test_a_packed_variability_model_is_known_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "model.xml.gz"
    path.write_bytes(gzip.compress(MODEL.encode()))
    found = designed(path, DesignPlan(kind="random", rows=3))
    assert found.design.names == ("root", "fast", "cells", "pre")
    path.write_bytes(gzip.compress(MODEL.encode())[:40])
    with pytest.raises(InputError, match="cut off or damaged"):
        designed(path, DesignPlan(kind="random", rows=3))


def test_the_examples_of_the_help_work_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space.yaml").write_text(SPACE)
    for line in EXAMPLE.removeprefix("Example: ").split(";"):
        result = CliRunner().invoke(app, line.split()[1:])
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("kind", ["full-factorial", "random", "sobol", "d-optimal"])
def test_what_may_take_long_tells_how_far_it_is(kind: Kind) -> None:
    told: list[str] = []

    def progress(stage: str, done: int, total: int, detail: str = "") -> None:
        assert 0 <= done <= total
        told.append(stage)

    parameters = [numeric(name, range(1, 33)) for name in "abc"]
    rules = [Forbidding()]
    rows = None if kind == "full-factorial" else 40
    DesignPlan(kind=kind, rows=rows).design(parameters, rules, progress)
    assert "list the allowed combinations" in told
    assert ("sobol design" in told) == (kind == "sobol")


class Forbidding:
    """Allows a row in 64 or so; a constraint of all three parameters."""

    names = ("a", "b", "c")

    def holds(self, values: Mapping[str, Value]) -> bool:
        return sum(int(values[name]) for name in self.names) % 64 == 7
