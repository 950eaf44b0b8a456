"""``autotune scale`` as a user runs it."""

import json
import shlex
from pathlib import Path

import planted_scaling as made
import pytest
from documented import documented
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.scale import document as scale_document
from autotune.errors import InputError


def run(*arguments: object, expect: int = 0) -> str:
    found = CliRunner().invoke(app, ["scale", *map(str, arguments)])
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    assert found.exit_code == expect, found.output
    return found.stdout


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """Runs with a cube's edge, two conditions, components and a grid of processors."""
    runs = made.split(noise=0.01)
    lines = ["ranks,nx,ny,nz,px,py,nz_per_row,comp_s,comm_s,total_s"]
    for i in range(len(runs)):
        p = int(runs.points.processors[i])
        py = 2 ** ((p.bit_length() - 1) // 2)
        edge = runs.points.size[i] ** (1 / 3)
        for factor, name in ((1.0, 14), (1.3, 16)):
            cells = [f"{edge:.9g}"] * 3
            times = [runs.parts["computation"][i], runs.parts["communication"][i], runs.time[i]]
            parts = ",".join(f"{factor * t:.9g}" for t in times)
            lines.append(f"{p},{','.join(cells)},{p // py},{py},{name},{parts}")
    path = tmp_path / "runs.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


COLUMNS = ("--processors", "ranks", "--size", "nx*ny*nz", "--time", "total_s")


def test_the_example_of_the_help_runs_as_it_stands(tmp_path: Path, monkeypatch):
    words = " ".join(run("--help").split())
    example = shlex.split(words[words.index("Example: autotune scale ") :])[1:]
    assert "'nx*ny*nz'" in words  # a bare one is a pattern of files to zsh
    rows = [(p, *[s ** (1 / 3)] * 3, t) for p, s, t in _planted(256, 512, 1024)]
    _runs(tmp_path / "runs.csv", rows, "ranks,nx,ny,nz,time_s")
    monkeypatch.chdir(tmp_path)
    assert "sizes that take 100 s" in run(*example[2:])


def test_a_page_has_the_size_first_and_refuses_other_files(csv: Path, tmp_path: Path):
    page = tmp_path / "scale.html"
    run(csv, *COLUMNS, "--condition", "nz_per_row=14", "-o", page)
    text = page.read_text(encoding="utf-8")
    for words in ("Take size ", "median error in the back-test", "Sizes that keep the time"):
        assert words in text
    assert text.index("Take size ") < text.index("Model and back-tests")
    with pytest.raises(InputError, match="not an HTML page"):
        run(csv, *COLUMNS, "--page", csv)


def test_the_size_that_keeps_the_time(csv: Path):
    text = run(csv, *COLUMNS, "--size-unit", "cells", "--condition", "nz_per_row=14")
    assert "SIZE = nx*ny*nz [cells]" in text
    assert "28 of 56 runs: nz_per_row = 14" in text
    assert "back-test: runs on P = 1024 forecast from those on fewer" in text
    assert "extrapolated: log2(P)" in text
    for method in ("complete *", "levels", "focal", "weighted"):
        assert method in text


@pytest.mark.parametrize("method", ["complete", "levels", "focal", "weighted", "self-generated"])
def test_every_method_makes_its_documented_document(csv: Path, method: str):
    options = ("--method", method, "--keep", "20", "--at", "1e8,2e8", "--tolerance", "60 %")
    only = ("--condition", "nz_per_row=14", "--spread", "30 %")
    found = json.loads(run(csv, *COLUMNS, *options, *only, "--json"))
    documented(found, scale_document.ScaleDocument, "document")
    (region,) = found["regions"]
    assert region["method"] == method
    symbols = {v["symbol"]: v for v in region["variables"]}
    assert symbols["SIZE"]["formula"] == "nx*ny*nz"
    assert symbols["T"]["transformation"] == "log2"
    if region["sizes"]:
        inverse = region["sizes"][0]["inverse"]
        assert inverse["processors"] == 2048
        assert inverse["low"] < inverse["size"] < inverse["high"]


def test_components_with_a_ratio_of_their_own(csv: Path):
    options = ("--computation", "comp_s", "--communication", "comm_s", "--components", "always")
    only = ("--condition", "nz_per_row=14")
    found = json.loads(run(csv, *COLUMNS, *options, *only, "--json"))
    responses = {q["fit"]["response"] for q in found["regions"][0]["quality"]}
    assert responses == {"computation", "communication", "time over their sum"}
    assert "sum to 2.0% less than the time" in run(csv, *COLUMNS, *options, *only)


def test_one_model_for_each_value_of_a_column(csv: Path):
    found = json.loads(run(csv, *COLUMNS, "--each", "nz_per_row", "--keep", "20", "--json"))
    first, second = found["regions"]
    assert (first["label"], second["label"]) == ("nz_per_row = 14", "nz_per_row = 16")
    assert second["sizes"][0]["inverse"]["size"] < first["sizes"][0]["inverse"]["size"]


def test_a_covariate_and_its_value(csv: Path):
    found = json.loads(
        run(csv, *COLUMNS, "--covariate", "nz_per_row", "--given", "nz_per_row=15", "--json")
    )
    (region,) = found["regions"]
    columns = [c["column"] for c in region["coefficients"]]
    assert columns == ["1", "log2(P)", "log2(SIZE)", "log2(X)"]
    assert not any(
        "median on the most" in note and "nz_per_row" in note for note in region["notes"]
    )


def test_grids_of_processors_near_a_ratio(csv: Path):
    only = ("--condition", "nz_per_row=14")
    all_of_them = run(csv, *COLUMNS, *only, "--grid", "px,py", "--ratio", "0")
    assert "28 of 28 runs: log2(px/py) = 0 +- 1" in all_of_them
    with pytest.raises(InputError, match="expected a ratio from 0 to 1"):
        run(csv, *COLUMNS, *only, "--grid", "px,py", "--ratio", "8")


def test_a_hidden_index_is_answered_in_its_own_column(tmp_path: Path):
    lines = ["P,K,time_s"]
    runs = made.planted(noise=0.0)
    for p, size, time in zip(runs.points.processors, runs.points.size, runs.time, strict=True):
        lines.append(f"{int(p)},{60 * size - 50:.12g},{time:.12g}")
    path = tmp_path / "index.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = json.loads(run(path, "--size", "(K + 50)/60", "--time", "time_s", "--json"))
    (kept,) = found["regions"][0]["sizes"]
    assert kept["column"] == pytest.approx(60 * kept["inverse"]["size"] - 50)


def test_a_back_test_far_worse_than_the_fit_is_told(tmp_path: Path):
    """A knee at the most processors: no fit to the others can know of it."""
    runs = made.planted(noise=0.005)
    lines = ["P,SIZE,time_s"]
    for p, size, time in zip(runs.points.processors, runs.points.size, runs.time, strict=True):
        lines.append(f"{int(p)},{size:.12g},{time * (1.4 if p == 1024 else 1.0):.12g}")
    path = tmp_path / "knee.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = run(path, "--time", "time_s", "--keep", "120", "--tolerance", "60 %")
    assert "the fit lets expect" in text


def test_the_next_runs_of_a_self_generated_region(tmp_path: Path):
    path = tmp_path / "two.csv"
    path.write_text("SIZE,P,time_s\n1060,1024,101.1\n850,484,101.98\n", encoding="utf-8")
    text = run(path, "--time", "time_s", "--method", "self-generated", "--keep", "101")
    assert "bracket: run these, add them, ask again" in text
    for cell in ("954", "1166", "765", "935"):
        assert cell in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--processors", "rank"), "did you mean ranks"),
        (("--size", "nx*"), "--size"),
        (("--condition", "colour=3"), "unknown column 'colour'"),
        (("--condition", "nz_per_row=15"), "no run has nz_per_row=15"),
        (("--keep", "-1"), "above zero"),
        (("--method", "focal", "--keep", "1e9"), "in the focal region"),
        (("--components", "always"), "name the columns"),
        (("--each", "colour"), "unknown column 'colour'"),
        (("--grid", "px,pq"), "unknown column 'pq'"),
    ],
)
def test_wrong_input_is_told_with_what_to_do(csv: Path, options: tuple[str, ...], words: str):
    with pytest.raises(InputError) as caught:
        run(csv, *COLUMNS, *options)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        ("--condition", "colour"),
        ("--to", "many"),
        ("--to", "0"),
        ("--tolerance", "wide"),
        ("--confidence", "100 %"),
        ("--grid", "px"),
        ("--size-grid", "10"),
        ("--given", "NZ"),
    ],
)
def test_malformed_options_are_refused(csv: Path, options: tuple[str, ...]):
    run(csv, *COLUMNS, *options, expect=2)


def test_weak_scaling_alone_cannot_be_told_from_more_processors(tmp_path: Path):
    lines = ["P,SIZE,time_s"] + [f"{2**k},{1000 * 2**k},{100 + k}" for k in range(4, 11)]
    path = tmp_path / "weak.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="sizes grow with P: the runs do not tell"):
        run(path, "--time", "time_s")


def _runs(path: Path, rows: list[tuple[float, ...]], head: str = "P,SIZE,time_s") -> Path:
    lines = [",".join(f"{value:.9g}" for value in row) for row in rows]
    path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    return path


def _planted(*levels: int) -> list[tuple[float, ...]]:
    """Perfect speed-up, with a nonsensical wiggle so that it is not exact."""
    sizes = (1e6, 2e6, 4e6)
    return [
        (p, s, 1e-5 * s / p * (1 + 0.01 * ((3 * i + j) % 4)))
        for i, p in enumerate(levels)
        for j, s in enumerate(sizes)
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--given", "NZ=3"), "--given: NZ is given, and there is no covariate"),
        (("--keep", "1e300"), "in reach of the runs"),
        (("--method", "self-generated", "--lower", "5000"), "--lower: 5000 processors"),
        (("--condition", "P=3"), "expected 1, 2, 4, 16"),
        (("--grid", "P,SIZE", "--ratio", "9"), "--ratio: no run has"),
        (("--method", "focal", "--keep", "1e5"), "widen the region"),
    ],
)
def test_what_makes_no_sense_is_told(tmp_path: Path, options: tuple[str, ...], message: str):
    runs = _runs(tmp_path / "runs.csv", _planted(1, 2, 4, 16))
    with pytest.raises(InputError, match=message):
        run(runs, *options)


def test_one_number_of_processors_carries_no_model(tmp_path: Path):
    runs = _runs(tmp_path / "runs.csv", _planted(1))
    with pytest.raises(InputError, match="all runs are on 1; expected runs on at least two"):
        run(runs)


def test_two_numbers_of_processors_are_a_model_that_nothing_tests(tmp_path: Path):
    text = run(_runs(tmp_path / "runs.csv", _planted(1, 2)))
    assert "no method could be tried on known runs" in text
    assert "the intervals are of the regression alone" in text
    assert "extrapolated: log2(P)" in text


def test_half_of_a_covariate_is_refused(csv: Path):
    with pytest.raises(InputError, match="px/py without py"):
        run(csv, *COLUMNS, "--covariate", "px/py", "--given", "px=4")


def test_components_that_are_zero_everywhere_are_told(tmp_path: Path):
    rows = [(*row, row[2], 0.0) for row in _planted(1, 2, 4, 16)]
    runs = _runs(tmp_path / "runs.csv", rows, "P,SIZE,time_s,comp_s,comm_s")
    names = ("--time", "time_s", "--computation", "comp_s", "--communication", "comm_s")
    with pytest.raises(InputError, match="a component is zero in every run"):
        run(runs, *names, "--components", "always")


@pytest.mark.parametrize("size", ["__import__('os')", "SIZE**999999999", "SIZE.real", "lambda: 0"])
def test_a_size_is_arithmetic_only(tmp_path: Path, size: str):
    with pytest.raises(InputError, match="--size"):
        run(_runs(tmp_path / "runs.csv", _planted(1, 2, 4)), "--size", size)


def _serial(path: Path, *, time: str = "time_s", factor: float = 1.0) -> Path:
    """7e-5 SIZE/P + 1e-7 SIZE: no power law of the processors."""
    rows = [
        (p, s * p, factor * (7e-5 * s + 1e-7 * s * p) * (1 + 0.004 * ((3 * i + 2 * j) % 5)))
        for i, p in enumerate((4, 8, 16, 32, 64))
        for j, s in enumerate(2e6 * 2.0 ** (k / 2.5) for k in range(6))
    ]
    return _runs(path, rows, f"P,SIZE,{time}")


def test_a_wrong_law_is_told_by_width_drift_and_recommendation(tmp_path: Path):
    runs = _serial(tmp_path / "runs.csv")
    options = ("--time", "time_s", "--to", "512", "--keep", "100 s", "--at", "4e8")
    (region,) = json.loads(run(runs, *options, "--json"))["regions"]
    (kept,) = region["sizes"]
    low, high = kept["inverse"]["regression"]
    assert kept["inverse"]["low"] < 4.22e8 < low < high
    (time,) = region["times"]
    forecast, alone = time["forecast"], time["regression"]
    assert forecast["low"] < alone["low"] < alone["high"] < forecast["high"]
    assert forecast["high"] > 4e8 * (7e-5 / 512 + 1e-7) > alone["high"]
    tests = {t["method"]: t["test"] for t in region["back_tests"]}
    assert tests["complete"]["drift"] < 0 < region["discrepancy"]["error"]
    least = min((t["errors"]["mdape"], m) for m, t in tests.items() if t)
    assert (region["recommended"]["mdape"], region["recommended"]["method"]) == least
    text = run(runs, *options)
    assert "widened by the back-test: log2 error" in text
    drift = text.rstrip().splitlines()[-2]
    assert drift.startswith("drift: complete forecast the known runs on P = 64 too short by")
    assert "expect the sizes above to be too large" in drift
    other = next(m for m in ("levels", "complete") if m != least[1])
    used, unused = (
        run(runs, *options, "--method", m).rstrip().splitlines()[-1] for m in (least[1], other)
    )
    assert used.startswith(f"recommended: {least[1]}, which was used: least error")
    assert unused.startswith(f"recommended: --method {least[1]} ({other}, which was used: ")
    assert "no proof farther out" in unused


def test_sizes_that_hardly_differ_from_weak_scaling_are_refused_where_nothing_is_excluded(
    tmp_path: Path,
):
    wobbles = [0.02 * ((7 * i) % 5 - 2) for i in range(15)]
    levels = [4 * 2 ** (i // 3) for i in range(15)]
    times = [100 + 3 * i % 7 for i in range(15)]
    rows = [(p, 1e6 * p * (1 + w), t) for p, w, t in zip(levels, wobbles, times, strict=True)]
    runs = _runs(tmp_path / "weak.csv", rows)
    with pytest.raises(InputError, match="sizes grow with P") as caught:
        run(runs, "--time", "time_s")
    assert "below 10" in str(caught.value)


def test_a_time_in_milliseconds_is_told_and_asked_for_in_its_unit(tmp_path: Path):
    runs = _serial(tmp_path / "runs.csv", time="time_ms", factor=1e3)
    text = run(runs, "--time", "time_ms", "--keep", "100 s")
    assert "T = time_ms, in s" in text
    assert "the time to keep is 100 s" in text
    same = [
        json.loads(run(runs, "--time", "time_ms", "--keep", keep, "--json"))["regions"][0]
        for keep in ("100 s", "100000 ms", "100")
    ]
    assert {region["time_to_keep"] for region in same} == {100.0}
    assert "is its unit right?" in run(runs, "--time", "time_ms", "--keep", "100000")
    assert "is its unit right?" not in text
    run(runs, "--time", "time_ms", "--keep", "100 miles", expect=2)


def test_a_time_without_a_unit_takes_no_unit(tmp_path: Path):
    runs = _serial(tmp_path / "runs.csv", time="wall")
    assert "the time to keep is 100\n" in run(runs, "--time", "wall", "--keep", "100")
    with pytest.raises(InputError, match="the unit of wall is not stated"):
        run(runs, "--time", "wall", "--keep", "100 s")


def test_components_come_to_the_unit_of_the_time(tmp_path: Path):
    rows = [(p, s, t, 900 * t, 0.08 * t) for p, s, t in _planted(4, 8, 16, 32)]
    runs = _runs(tmp_path / "runs.csv", rows, "P,SIZE,time_s,comp_ms,comm_s")
    names = ("--time", "time_s", "--computation", "comp_ms", "--communication", "comm_s")
    assert "sum to 2.0% less than the time" in run(runs, *names, "--components", "always")


def test_deleted_runs_are_listed_and_no_degrees_of_freedom(tmp_path: Path):
    rows = _planted(4, 8, 16, 32)
    rows[0] = (*rows[0][:2], 3 * rows[0][2])
    runs = _runs(tmp_path / "runs.csv", rows)
    (region,) = json.loads(run(runs, "--json"))["regions"]
    (quality,) = region["quality"]
    gone = {(d["processors"], d["size"]) for d in region["deleted"]}
    assert (4.0, 1e6) in gone
    assert quality["fit"]["count"] == len(rows) - len(gone)
    assert quality["fit"]["freedom"] == quality["fit"]["count"] - 3
    assert f"deleted from T: P = 4, SIZE = 1e+06: {rows[0][2]:.6g}" in run(runs)


@pytest.mark.parametrize("method", ["levels", "focal", "weighted"])
def test_every_method_lists_what_it_deleted(tmp_path: Path, method: str):
    sizes = [1e6 * 2.0 ** (k / 4) for k in range(8)]
    rows = [
        (p, s * p, 1e-4 * s * (3 if (p, k) == (8, 7) else 1 + 0.01 * ((3 * p + k) % 4)))
        for p in (4, 8, 16, 32)
        for k, s in enumerate(sizes)
    ]
    runs = _runs(tmp_path / "runs.csv", rows)
    options = ("--method", method, "--keep", "200", "--tolerance", "200 %", "--json")
    (region,) = json.loads(run(runs, *options))["regions"]
    largest = max(d["size"] for d in region["deleted"] if d["processors"] == 8)
    assert largest == pytest.approx(8 * sizes[7])


def test_warnings_of_several_numbers_of_processors_name_theirs(tmp_path: Path):
    runs = _serial(tmp_path / "runs.csv")
    text = run(runs, "--time", "time_s", "--to", "128,512")
    assert "warning: P = 128: extrapolated: log2(P) lies 1 above" in text
    assert "warning: P = 512: extrapolated: log2(P) lies 3 above" in text
    assert "warning: P = 128: more than one doubling" not in text


def test_the_help_says_what_self_generated_lists():
    assert "lists the further runs to make" in " ".join(run("--help").replace("│", " ").split())
