"""``autotune assert model`` and the other commands on models, as a user runs them."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from assertion_records import counted, figure_8, rank_record, variable, written
from documented import documented

from autotune.commands.documents import documents

Cli = Callable[..., Any]
MODELS = Path(__file__).parents[2] / "examples" / "assertions" / "models"
CG, SP = str(MODELS / "cg.json"), str(MODELS / "sp.json")


def test_a_run_becomes_a_model_and_its_forms(autotune: Cli, tmp_path: Path) -> None:
    folder = written(tmp_path / "records", [figure_8(0), figure_8(1)])
    files = {
        "--output": "cg.json", "--octave": "cg.m", "--python": "cg_totals.py", "--latex": "cg.tex",
        "--control-flow": "cg.flow", "--text": "cg.txt", "--hatchet": "cg.hatchet",
        "--extra-p": "cg.jsonl",
    }  # fmt: skip
    options = [word for pair in files.items() for word in pair]
    shown = autotune("assert", "model", str(folder), *options)
    assert "flops = 2 * (" in shown.out
    assert "note: conj_grad: visited 2 times" in shown.out
    assert "wrote cg.json" in shown.out
    for name in files.values():
        assert (tmp_path / name).stat().st_size > 20, name
    again = autotune("assert", "model", "cg.json", "--json").json()
    documented(again, documents()["autotune.assert.model/1"], "model")
    assert again["inputs"] == {"na": 7000, "nprocs": 2, "cgitmax": 25, "n": 3500}
    flops = next(total for total in again["totals"] if total["name"] == "flops")
    asserted = sum(path.asserted for path in figure_8().paths if path.kind == "flop")
    assert flops["value"] == asserted
    text = autotune("assert", "model", "--from-text", "cg.txt", "--json").json()
    assert [t["formula"] for t in text["totals"]] == [t["formula"] for t in again["totals"]]
    node = autotune("assert", "model", CG, "--node", "conj_loop/norm", "--json").json()
    assert {t["name"]: t["formula"] for t in node["totals"]}["volume"] == "16 * l"


def test_scaling_over_valid_numbers_of_ranks(autotune: Cli, tmp_path: Path) -> None:
    options = ("--set", "na=150000", "--set", "nonzer=15", "--set", "niter=75")
    table = autotune("assert", "scale", CG, "--over", "nprocs=4,16,1024", *options).out
    assert [line.split()[0] for line in table.splitlines()[2:]] == ["4", "16", "1,024"]
    result = autotune(
        "assert", "scale", SP, "--over", "nprocs=4,9", "--extra-p", "sp.jsonl", "--json"
    ).json()
    documented(result, documents()["autotune.assert.scale/1"], "scale")
    messages = [
        next(t for t in point["totals"] if t["metric"] == "messages") for point in result["points"]
    ]
    assert [total["most"] for total in messages] == [101 * 12 + 6, 101 * 18 + 6]
    assert len((tmp_path / "sp.jsonl").read_text().splitlines()) == 2 * 5
    refused = autotune("assert", "scale", SP, "--over", "nprocs=4,10", check=2)
    assert "nearest valid nprocs: 9, 16" in refused.err
    weak = autotune("assert", "scale", CG, "--over", "nprocs=1,4", "--weak", "na", "--json").json()
    assert [point["values"]["na"] for point in weak["points"]] == [1400, 5600]


def test_sensitivity_with_ranges(autotune: Cli) -> None:
    result = autotune(
        "assert", "sensitivity", CG, "--range", "na=1400:14000", "--range", "nonzer=7:11",
        "--samples", "32", "--json",
    ).json()  # fmt: skip
    documented(result, documents()["autotune.assert.sensitivity/1"], "sensitivity")
    assert {item["variable"] for item in result["elasticities"]} == {
        "na", "nonzer", "niter", "nprocs",
    }  # fmt: skip
    volume = next(item for item in result["shares"] if item["metric"] == "volume")
    assert volume["shares"][0]["variable"] == "na"
    assert volume["shares"][1]["total"] == 0
    assert "d ln f / d ln x" in autotune("assert", "sensitivity", CG).out
    wrong = autotune("assert", "sensitivity", CG, "--range", "n=1:2", check=2)
    assert "unknown variable 'n'" in wrong.err


def test_a_skeleton_and_a_trace_are_written(autotune: Cli, tmp_path: Path) -> None:
    result = autotune(
        "assert",
        "skeleton",
        CG,
        "-o",
        "cg.c",
        "--trace",
        "cg.jsonl",
        "--most-events",
        "9",
        "--json",
    ).json()
    documented(result, documents()["autotune.assert.skeleton/1"], "skeleton")
    assert result["posted"]
    assert "ma_send(run" in (tmp_path / "cg.c").read_text()
    assert len((tmp_path / "cg.jsonl").read_text().splitlines()) == 1 + 4 * 10
    text = autotune("assert", "skeleton", SP, "-o", "sp.py", "--set", "niter=0").out
    assert "receives match the sends" in text
    assert (
        "does not end in .py or .c" in autotune("assert", "skeleton", SP, "-o", "a.f", check=2).err
    )
    assert "nothing to write" in autotune("assert", "skeleton", SP, check=2).err


def test_sizes_and_time_on_a_machine(autotune: Cli) -> None:
    result = autotune(
        "assert", "sizes", CG, "--set", "nprocs=64", "--machine", "power4-1.3", "--json"
    ).json()
    documented(result, documents()["autotune.assert.sizes/1"], "sizes")
    assert result["distribution"]["half_size"] == pytest.approx(9800)
    assert "n_1/2 = 9,800 B" in autotune(
        "assert", "sizes", CG, "--machine", "power4-1.3"
    ).out.replace("9800", "9,800")
    assert (
        "has no network"
        in autotune("assert", "sizes", CG, "--machine", "generic-x86-64", check=2).err
    )
    result = autotune(
        "assert", "time", CG, "--machine", "power4-1.3", "--on-nodes", "2", "--json"
    ).json()
    documented(result, documents()["autotune.assert.time/1"], "time")
    assert result["predicted"]["low"] < result["predicted"]["seconds"]
    text = autotune(
        "assert", "time", CG, "--machine", "power4-1.3", "--on-nodes", "2", "--peak", "1"
    ).out
    assert "peak 1 GFlop/s as given" in text


def test_residuals_of_several_runs(autotune: Cli, tmp_path: Path) -> None:
    runs = []
    for number, n in enumerate((1000, 2000, 4000)):
        block = counted(0, "flop", "f", "2*n", [(2 * n, 2 * n + 30)] * 3)
        loop = replace(counted(1, "loop", "g", "5", [(5, 5)]))
        variables = [variable("n", n), variable("nprocs", 1)]
        runs.append(rank_record([block, loop], run=f"r{number}", variables=variables))
    folder = written(tmp_path / "runs", runs)
    first = written(tmp_path / "one", runs[:1])
    autotune("assert", "model", str(first), "-o", "m.json")
    result = autotune("assert", "fit", "m.json", str(folder), "--json").json()
    documented(result, documents()["autotune.assert.fit/1"], "fit")
    f, g = result["fits"]
    assert (f["path"], f["exact"], g["path"], g["exact"]) == ("f", False, "g", True)
    assert 1.004 < f["ratio"] < 1.012
    text = autotune("assert", "fit", "m.json", str(folder)).out
    assert "least sure at n = " in text
    assert "equal" in text


def test_of_several_runs_one_is_chosen(autotune: Cli, tmp_path: Path) -> None:
    runs = [rank_record([counted(0, "loop", "g", "5", [(5, 5)])], run=run) for run in ("a", "b")]
    folder = str(written(tmp_path / "runs", runs))
    assert "--run" in autotune("assert", "model", folder, check=2).err
    assert "nprocs = 1" in autotune("assert", "model", folder, "--run", "b").out
    for study in ("scale", "sensitivity", "sizes"):
        refused = autotune("assert", study, folder, check=2).err
        assert "chooses the one that began last" in refused
        autotune("assert", study, folder, "--run", "b")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("model", "nothing.json"), "nothing.json"),
        (("model", "--from-text", "nothing.txt"), "cannot be read"),
        (("scale", CG, "--over", "nprocs"), "expected NAME=VALUE,VALUE"),
        (("scale", CG, "--over", "nprocs=four"), "expected a number"),
        (("scale", CG, "--set", "na"), "expected NAME=VALUE"),
        (("scale", CG, "--set", "nz=4"), "unknown variable 'nz'"),
        (("scale", CG, "--set", "na=1", "--set", "na=2"), "na twice"),
        (("model", CG, "--node", "conj_lop"), "did you mean conj_loop?"),
        (("sensitivity", CG, "--range", "na=5"), "expected NAME=LOW:HIGH"),
        (("time", CG, "--machine", "power4"), "power4"),
        (("sensitivity", CG, "--of-rank", "4"), "expected a rank from 0 to 3"),
    ],
)
def test_wrong_input_is_refused(autotune: Cli, arguments: tuple[str, ...], message: str) -> None:
    refused = autotune("assert", *arguments, check=2)
    assert message in refused.err
    assert not refused.out


def test_a_wrong_model_names_every_mistake(autotune: Cli, tmp_path: Path) -> None:
    content = json.loads(Path(CG).read_text())
    content["nodes"][0]["expression"] = "nitter + 1"
    content["variables"][3]["domain"] = "power of three"
    (tmp_path / "m.json").write_text(json.dumps(content))
    refused = autotune("assert", "scale", "m.json", "--over", "nprocs=4", check=2).err
    assert "did you mean niter?" in refused
    assert "'power of three' is no domain" in refused
