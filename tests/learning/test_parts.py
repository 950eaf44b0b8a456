import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from model_conformance import inputs, planted
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.domain.tables.table import Tables
from autotune.errors import InputError
from autotune.files.tables import read
from autotune.learning.models.conformal import Conformal
from autotune.learning.models.parts import ByPart, Sum, whole_and_parts
from autotune.learning.models.ridge import Ridge

RIDGE = Conformal(regressor=Ridge())


def parts(count: int, seed: int = 0) -> dict:
    """A part that grows with n and one that is nothing but order."""
    smooth = planted(count, seed)
    noise = np.random.default_rng([seed, 2]).normal(0, 0.02, count)
    costs = {"jil": 1e-3, "jli": 2e-3, "lij": 4e-3}
    fixed = np.array([costs[row[2]] for row in smooth.inputs.rows]) * np.exp(noise)
    return {"smooth": smooth, "fixed": replace(smooth, response=fixed, repetitions=())}


def test_the_sum_is_better_than_a_model_of_the_whole() -> None:
    train, fresh = parts(40), parts(60, 5)
    total = sum(table.response for table in train.values())
    truth = sum(table.response for table in fresh.values())
    whole = RIDGE.fit(replace(train["smooth"], response=total, repetitions=()))
    summed = Sum(model=RIDGE).fit(train)

    def error(median: np.ndarray) -> float:
        return float(np.mean(np.abs(median / truth - 1)))

    asked = fresh["smooth"].inputs
    assert error(summed.predict(asked).median) < 0.03 < error(whole.predict(asked).median)


def test_its_interval_covers_the_whole() -> None:
    fitted, fresh = Sum(model=RIDGE).fit(parts(60)), parts(200, 5)
    truth = sum(table.response for table in fresh.values())
    forecast = fitted.predict({name: table.inputs for name, table in fresh.items()}, 0.8)
    covered = ((forecast.low <= truth) & (truth <= forecast.high)).mean()
    assert 0.7 < covered < 0.95
    assert np.isinf(Sum(model=RIDGE).fit(parts(6)).predict(fresh["fixed"].inputs).high).all()


def test_parts_of_a_whole_that_was_measured_with_more_than_them() -> None:
    train = parts(40)
    alone = Sum(model=RIDGE).fit(train)
    total = 1.5 * sum(table.response for table in train.values())
    scaled = Sum(model=RIDGE).fit(train, whole=total)
    asked = train["smooth"].inputs
    assert scaled.scale == pytest.approx(1.5)
    assert scaled.predict(asked).median == pytest.approx(1.5 * alone.predict(asked).median)
    assert "the whole is 1.5 times its parts" in scaled.explain().notes


def test_outside_is_outside_of_any_part() -> None:
    found = Sum(model=RIDGE).fit(parts(40)).predict(inputs(((9999, 1, "jil"), (128, 1, "jil"))))
    assert found.outside.tolist() == [True, False]


def test_terms_are_named_by_part_and_formulas_add_up() -> None:
    fitted = Sum(model=RIDGE).fit(parts(40))
    assert fitted.explain().terms[0].text.split(": ")[0] in ("smooth", "fixed")
    assert sum(term.influence for term in fitted.explain().terms) == pytest.approx(1)
    assert fitted.formula is not None
    assert ") + (" in fitted.formula


def test_rows_must_be_the_same_in_all_parts() -> None:
    with pytest.raises(InputError, match="the rows of b are not those of a"):
        Sum(model=RIDGE).fit({"a": planted(10), "b": planted(10, 1)})
    with pytest.raises(InputError, match="at least one table"):
        Sum(model=RIDGE).fit({})
    fitted = Sum(model=RIDGE).fit(parts(20))
    with pytest.raises(InputError, match="nothing is given for fixed"):
        fitted.predict({"smooth": planted(3).inputs})


# --- of a file ------------------------------------------------------------------------------


def regions(path: Path, whole: float = 0.0, metric: str = "") -> Path:
    """Two regions over 25 points; ``whole``: also a program that takes so much more than they."""
    points = [(n, p) for n in (64, 128, 256, 512, 1024) for p in (1, 2, 4, 8, 16)]
    times = {"solve": [1e-4 * n**1.5 / p for n, p in points], "send": [0.3 * p for _, p in points]}
    lines = [
        {"params": {"n": n, "p": p}, "callpath": part, "metric": "time", "value": value}
        for part, values in times.items()
        for (n, p), value in zip(points, values, strict=True)
    ]
    if whole:
        sums = map(sum, zip(*times.values(), strict=True))
        lines += [
            {"params": {"n": n, "p": p}, "metric": "time", "value": whole * value}
            for (n, p), value in zip(points, sums, strict=True)
        ]
    if metric:
        lines += [{**line, "metric": metric} for line in lines]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def test_the_whole_is_the_sum_of_the_parts_or_what_was_measured_of_it(tmp_path: Path) -> None:
    total, by_part = whole_and_parts(tables(regions(tmp_path / "a.jsonl")))
    assert list(by_part) == ["solve", "send"]
    assert total.name == "2 parts of time"
    np.testing.assert_allclose(total.response, sum(t.response for t in by_part.values()))
    measured, by_part = whole_and_parts(tables(regions(tmp_path / "b.jsonl", whole=1.5)))
    np.testing.assert_allclose(measured.response, 1.5 * total.response)
    fitted = ByPart(parts=by_part, model=RIDGE).fit(measured.take(range(20)))
    assert fitted.scale == pytest.approx(1.5)


def test_rows_that_not_all_parts_have_are_left_out(tmp_path: Path) -> None:
    found = tables(regions(tmp_path / "a.jsonl"))
    solve, send = found
    total, by_part = whole_and_parts(Tables(tables=(solve.take(range(3, 25)), send)))
    assert [len(table) for table in (total, *by_part.values())] == [22, 22, 22]
    assert "3 rows that not all parts have left out" in total.treated
    with pytest.raises(InputError, match="no row of which all parts were measured"):
        whole_and_parts(Tables(tables=(solve.take([0]), send.take([1]))))
    with pytest.raises(InputError, match="1 parts of the program; expected two regions"):
        whole_and_parts(Tables(tables=(solve,)))
    with pytest.raises(InputError, match="power, time; expected one of them"):
        whole_and_parts(tables(regions(tmp_path / "b.jsonl", metric="power")))


def test_the_command_puts_the_sum_of_the_parts_beside_the_whole(tmp_path: Path) -> None:
    file = regions(tmp_path / "a.jsonl")
    arguments = ("--models", "ridge", "--sizes", "12", "--repeats", "2", "--by-part")
    done = CliRunner().invoke(app, ["learn", "compare", str(file), *arguments, "--json"])
    points = json.loads(done.stdout)["curves"]["points"]
    error = {point["model"]: point["measures"]["error_rate"]["median"] for point in points}
    assert error["ridge-by-part"] < 0.01 < error["ridge"]
    for wrong, said in ((["--response", "solve"], "one response"), (["--models", "pmnf"], "pmnf")):
        refused = CliRunner().invoke(app, ["learn", "compare", str(file), *arguments, *wrong])
        assert isinstance(refused.exception, InputError)
        assert said in str(refused.exception)


def tables(path: Path) -> Tables:
    found = read(path)
    assert isinstance(found, Tables)
    return found
