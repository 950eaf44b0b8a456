"""The comm commands as a user types them."""

import dataclasses
import json
import xml.etree.ElementTree as ET

import pytest
from documented import documented
from planted_curves import planted
from tool_texts import IMB as IMB_TEXT
from tool_texts import OSU_NEW as OSU_TEXT

from autotune.commands.comm.document import (
    CommBenchDocument,
    CommFitDocument,
    CommImportDocument,
    CommMergeDocument,
    CommShowDocument,
)
from autotune.files import config
from autotune.measuring.host import detect, stored_calibrations
from autotune.measuring.network.samples import SampleWriter


def cost(size):
    return 4e-7 + size / 5e9 if size < 4096 else 5e-6 + size / 2e9


@pytest.fixture
def measured(tmp_path):
    writer = SampleWriter(tmp_path / "s.jsonl")
    for operation in ("allgather", "pingpong"):
        recorded = planted(cost, operation=operation)
        writer.begin(recorded.run)
        for sample in recorded.samples:
            writer(sample)
    writer.close()
    return "s.jsonl"


def test_bench_fit_show_of_the_host(autotune, tmp_path):
    small = ("--sizes", "8 B,1 KiB,64 KiB,1 MiB", "--repeats", "2", "--budget-seconds", "60")
    ran = autotune("comm", "bench", "-o", "s.jsonl", *small, "--json")
    found = json.loads(ran.out)
    assert next(iter(found)) == "schema"
    assert found["schema"] == "autotune.comm.bench/1"
    documented(found, CommBenchDocument, "bench")
    assert found["result"]["samples"] > 30
    assert "measure 2 ranks" in ran.err

    fitted = json.loads(
        autotune("comm", "fit", "s.jsonl", "--machine", "host", "--contended", "--json").out
    )
    assert fitted["schema"] == "autotune.comm.fit/1"
    assert {row["curve"]["operation"] for row in fitted["curves"]} == {
        "barrier", "allgather", "neighbour", "sparse", "pingpong",
    }  # fmt: skip
    assert str(tmp_path / "data" / "networks") in fitted["written"]

    shown = json.loads(autotune("comm", "show", "--json").out)
    assert shown["schema"] == "autotune.comm.show/1"
    documented(shown, CommShowDocument, "show")
    assert [c["operation"] for c in shown["curves"]] == [
        row["curve"]["operation"] for row in fitted["curves"]
    ]


def test_fit_says_what_it_rests_on(autotune, measured):
    out = autotune("comm", "fit", measured).out
    assert "cross-validated" in out
    assert "allgather" in out
    assert "with outliers" in out
    assert "the same errors chose the number of pieces" in out
    assert "GB/s" in out
    document = json.loads(autotune("comm", "fit", measured, "--json").out)
    row = document["curves"][0]
    documented(document, CommFitDocument, "fit")
    validated = row["validated"]
    assert validated["errors"]["2"]["median"] < 0.05
    assert validated["plain"]["median"] > validated["errors"]["2"]["median"]
    assert row["repeats"] == 4
    assert validated["chosen"] == len(row["curve"]["segments"]) == 2
    assert set(validated["disturbed"]) == set(validated["errors"])
    assert document["written"] is None


def test_fit_updates_a_network_file(autotune, measured, tmp_path):
    (tmp_path / "n.yaml").write_text(
        "schema: autotune.network/1\ntitle: kept\ncurves:\n"
        "  - {operation: barrier, benchmark: osu, nodes: 2, ranks: 4, measured: [0 B, 0 B],"
        " segments: [{from: 0 B, latency: 2 us}]}\n"
    )
    autotune("comm", "fit", measured, "-o", "n.yaml")
    network = config.read_network(tmp_path / "n.yaml")
    assert network.title == "kept"
    assert [c.key for c in network.curves] == [
        ("barrier", 2, 4), ("allgather", 1, 2), ("pingpong", 1, 2),
    ]  # fmt: skip
    assert len(network.curves[1].points) == 41
    assert "kept" in autotune("comm", "show", "n.yaml").out


def test_figures(autotune, measured, tmp_path):
    autotune("comm", "show", measured, "-o", "c.svg")
    root = ET.fromstring((tmp_path / "c.svg").read_text(encoding="utf-8"))
    text = "".join(root.itertext())
    assert root.tag.endswith("svg")
    for words in ("allgather, 2 ranks on 1 node", "extrapolated", "pieces change", "fitted", "MiB"):
        assert words in text
    autotune("comm", "show", measured, "-o", "c.html")
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "http://www.w3.org/2000/svg" in page
    assert "<script src" not in page


def test_import(autotune, tmp_path):
    (tmp_path / "osu.txt").write_text(OSU_TEXT)
    (tmp_path / "imb.txt").write_text(IMB_TEXT)
    document = json.loads(
        autotune(
            "comm", "import", "osu.txt", "--ranks", "8", "--nodes", "2", "-o", "o.jsonl", "--json"
        ).out
    )
    assert document["schema"] == "autotune.comm.import/1"
    documented(document, CommImportDocument, "import")
    assert document["imported"][0]["operations"] == ["allgather"]
    autotune("comm", "import", "imb.txt", "--tool", "imb", "-o", "i.jsonl")
    autotune("comm", "fit", "o.jsonl", "-o", "n.yaml")
    (curve,) = config.read_network(tmp_path / "n.yaml").curves
    assert (curve.benchmark, curve.nodes, curve.ranks) == ("osu", 2, 8)
    assert curve.at(1024) == pytest.approx(6.25e-6, rel=0.4)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "absent.jsonl"], "there is no such file"),
        (["fit", "osu.txt"], "osu.txt:2: not JSON"),
        (["fit", "s.jsonl", "-o", "n.yaml", "--machine", "host"], "does not go with --machine"),
        (["fit", "s.jsonl", "-o", "osu.txt"], "osu.txt"),
        (["fit", "s.jsonl", "--machine", "cray"], "cray"),
        (["show"], "this machine has no network curves"),
        (["show", "absent.jsonl"], "there is no such file"),
        (["show", "haswel"], "did you mean haswell"),
        (["show", "s.jsonl", "-o", "c.png"], ".svg or .html"),
        (["show", "osu.txt"], "not JSON"),
        (["import", "s.jsonl"], "no title of a benchmark"),
        (["import", "osu.txt"], "--ranks"),
        (["import", "osu.txt", "--ranks", "8", "--nodes", "3"], "not spread evenly"),
        (["import", "osu.txt", "--tool", "imb"], "--tool osu"),
        (["import", "osu.txt", "--ranks", "8", "-o", "osu.txt"], "holds something else"),
        (["bench", "--operations", "bcast"], "unknown operation 'bcast'"),
        (["bench", "--sizes", "8 B:big"], "--sizes"),
        (["bench", "-o", "osu.txt"], "holds something else"),
    ],
)
def test_wrong_input_is_exit_2_with_what_to_do(autotune, measured, tmp_path, arguments, words):
    (tmp_path / "osu.txt").write_text(OSU_TEXT)
    ran = autotune("comm", *arguments, code=2)
    assert words in " ".join(ran.err.split())
    assert ran.out == ""
    assert (tmp_path / "osu.txt").read_text() == OSU_TEXT


def test_samples_of_another_machine_do_not_become_this_host_s(autotune, tmp_path):
    recorded = planted(cost)
    writer = SampleWriter(tmp_path / "s.jsonl")
    writer.begin(dataclasses.replace(recorded.run, machine="another"))
    for sample in recorded.samples:
        writer(sample)
    writer.close()
    ran = autotune("comm", "fit", "s.jsonl", "--machine", "host", code=2)
    assert "samples of another machine" in ran.err


@pytest.mark.parametrize("command", ["bench", "fit", "show", "import", "merge"])
def test_help_has_an_example(autotune, command):
    assert f"Example: autotune comm {command}" in " ".join(
        autotune("comm", command, "--help").out.split()
    )


def test_a_damaged_network_of_the_host_names_the_remedy(autotune, measured, tmp_path):
    autotune("comm", "fit", measured, "-o", "n.yaml")
    kept = tmp_path / "data" / "networks" / f"{stored_calibrations.identity(detect.detect())}.yaml"
    kept.parent.mkdir(parents=True)
    kept.write_text((tmp_path / "n.yaml").read_text().replace("GB/s", "GB"))
    ran = autotune("comm", "show", "host", code=2)
    assert f"networks/{kept.name}:" in ran.err
    assert "fit it anew" in ran.err


def test_a_text_imported_twice_counts_once(autotune, tmp_path):
    (tmp_path / "osu.txt").write_text(OSU_TEXT)
    osu = ("comm", "import", "osu.txt", "--ranks", "8")
    autotune(*osu, "-o", "o.jsonl")
    once = (tmp_path / "o.jsonl").read_text()
    (tmp_path / "osu.txt").write_text(OSU_TEXT.replace("\n", " \r\n") + "\n")
    again = autotune(*osu, "-o", "o.jsonl")
    assert "osu.txt was imported into o.jsonl already" in again.out
    assert (tmp_path / "o.jsonl").read_text() == once
    autotune("comm", "import", "osu.txt", "osu.txt", "--ranks", "8", "-o", "twice.jsonl")
    fits = [
        json.loads(autotune("comm", "fit", *files, "--json").out)["curves"]
        for files in (["o.jsonl"], ["twice.jsonl"], ["o.jsonl", "o.jsonl"])
    ]
    assert fits[0] == fits[1] == fits[2]


def test_osu_and_imb_are_fitted_together_and_their_difference_is_shown(autotune, tmp_path):
    (tmp_path / "osu.txt").write_text(OSU_TEXT)
    (tmp_path / "imb.txt").write_text(IMB_TEXT)
    autotune("comm", "import", "osu.txt", "--ranks", "4", "-o", "both.jsonl")
    autotune("comm", "import", "imb.txt", "--ranks", "4", "-o", "both.jsonl")
    out = autotune("comm", "fit", "both.jsonl", "-o", "n.yaml").out
    assert "sources: allgather of 4 ranks: times of imb are" in out
    assert "sources: allgather of 4 ranks: times of osu are" in out
    curve = config.read_network(tmp_path / "n.yaml").exactly(("allgather", 1, 4))
    assert curve.benchmark == "imb+osu"
    assert curve.residual[0] < 0.8
    assert curve.residual[1] > 1.25


def test_networks_are_merged(autotune, measured, tmp_path):
    autotune("comm", "fit", measured, "-o", "a.yaml")
    head = "schema: autotune.network/1\ntitle: of a paper\ncurves:\n"
    barrier = (
        "  - {operation: barrier, benchmark: osu, nodes: 2, ranks: 4, measured: [0 B, 0 B],"
        " segments: [{from: 0 B, latency: %s}]}\n"
    )
    (tmp_path / "b.yaml").write_text(head + barrier % "2 us")
    (tmp_path / "c.yaml").write_text(head + barrier % "3 us")
    document = json.loads(
        autotune("comm", "merge", "a.yaml", "b.yaml", "-o", "m.yaml", "--json").out
    )
    documented(document, CommMergeDocument, "merge")
    merged = config.read_network(tmp_path / "m.yaml")
    assert [c.operation for c in merged.curves] == ["barrier", "allgather", "pingpong"]
    assert merged.title == "of a paper"
    again = autotune("comm", "merge", "m.yaml", "b.yaml", "-o", "m.yaml", "--last-wins")
    assert "replaces" not in again.err
    assert config.read_network(tmp_path / "m.yaml").curves == merged.curves
    refused = autotune("comm", "merge", "b.yaml", "c.yaml", "-o", "no.yaml", code=2)
    assert "c.yaml: barrier of 4 ranks on 2 nodes: b.yaml has another curve" in " ".join(
        refused.err.split()
    )
    assert not (tmp_path / "no.yaml").exists()
    last = autotune("comm", "merge", "b.yaml", "c.yaml", "-o", "c2.yaml", "--last-wins", "--json")
    assert json.loads(last.out)["notes"] == [
        "barrier of 4 ranks on 2 nodes: that of c.yaml replaces that of b.yaml"
    ]
    assert config.read_network(tmp_path / "c2.yaml").curves[0].at(0) == pytest.approx(3e-6)
