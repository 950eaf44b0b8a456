"""``autotune assert check`` and ``show`` as a user runs them."""

import json
import xml.etree.ElementTree as ElementTree

import pytest
from assertion_records import counted, figure_8, rank_record, written
from json_schema_check import faults

from autotune.commands.schema.flow import schema_of
from autotune.domain.assertion_record import UnevaluatedVisits


@pytest.fixture
def records(tmp_path):
    return written(tmp_path / "records", [figure_8(0), figure_8(1)])


def test_a_failing_assertion_is_exit_code_1(autotune, records):
    done = autotune("assert", "check", str(records), check=1)
    lines = done.out.splitlines()
    assert lines[0] == "cg, run r1, 2 ranks: FAIL (5 pass, 2 fail)"
    assert "flopbeta:ma_flop:7002:7001:1.4284E-4:PASS=12:FAIL=88" in lines
    cause = "overpredicts by 1 = the term l2npcols = the trips of the loop cj_rho"
    assert any(cause in line for line in lines)
    assert done.err == ""


def test_what_is_borne_is_exit_code_0(autotune, records):
    autotune("assert", "check", str(records), "--tolerance", "flop=20%")
    autotune("assert", "check", str(records), "--fail-if", "worst_error > 0.2 or missing > 0")
    autotune("assert", "check", str(records), "--fail-if", "failures > 1", check=1)


def test_a_condition_does_not_hide_a_rank_that_died(autotune, tmp_path):
    folder = written(tmp_path / "records", [figure_8(0)])
    done = autotune("assert", "check", str(folder), "--fail-if", "failures > 9", check=1)
    assert "fail: no record of rank 1 of 2" in done.out


def test_a_condition_does_not_hide_visits_without_a_value(autotune, tmp_path):
    no_value = [UnevaluatedVisits("division by zero", 1)]
    paths = [counted(0, "loop", "k", "n/m", [(2, 2)], no_value=no_value)]
    folder = written(tmp_path / "records", [rank_record(paths)])
    autotune("assert", "check", str(folder), "--fail-if", "worst_error > 0.05", check=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fail-if", "failure > 1"], "unknown figure 'failure'"),
        (["--fail-if", "failures"], "neither true nor false"),
        (["--fail-if", "failures >"], "--fail-if"),
        (["--tolerance", "5 %%"], "--tolerance"),
        (["--tolerance", "flips=5%"], "did you mean flop"),
        (["--junit", "a.xml", "--markdown", "a.xml"], "the same file for two outputs"),
        (["--rank", "7"], "no record of rank 7"),
    ],
)
def test_wrong_options_are_exit_code_2(autotune, records, options, words):
    done = autotune("assert", "check", str(records), *options, check=2)
    assert words in done.err
    assert done.out == ""


def test_the_document_keeps_to_its_schema(autotune, records):
    done = autotune("assert", "check", str(records), "--json", check=1)
    document = done.json()
    assert document["schema"] == "autotune.assert.check/1"
    assert faults(schema_of("assert.check"), json.loads(done.out)) == []
    assert document["check"]["figures"]["failures"] == 2
    assert document["fails"] is True
    shown = autotune("assert", "show", str(records), "--json").json()
    assert faults(schema_of("assert.show"), shown) == []


def test_files_for_ci_servers_and_people(autotune, records, tmp_path):
    options = ["--junit", "out/a.xml", "--markdown", "a.md", "--page", "a.html"]
    autotune("assert", "check", str(records), *options, check=1)
    suite = ElementTree.parse(tmp_path / "out" / "a.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("7", "2")
    failing = [
        case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None
    ]
    assert failing == ["flopbeta", "flopznx"]
    assert "| flopbeta | ma\\_flop | 7002 | 7001 | 1.4284E-4 | 12 | 88 | FAIL |" in (
        tmp_path / "a.md"
    ).read_text()  # fmt: skip
    page = (tmp_path / "a.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<script") == 1
    assert "src=" not in page
    assert page.count("overpredicts by 1 = the term l2npcols") == 2
    autotune("assert", "check", str(records), "--page", "a.md", check=2)


def test_names_of_the_program_are_only_text(autotune, tmp_path):
    name = "<b>|x_y\x1b[31m&\x01"
    record = rank_record([counted(0, "loop", name, "n", [(1, 2)])], program="<script>")
    folder = written(tmp_path / "records", [record])
    options = ["--junit", "a.xml", "--markdown", "a.md", "--page", "a.html"]
    done = autotune("assert", "check", str(folder), *options, check=1)
    assert "\x1b" not in done.out
    assert ElementTree.parse(tmp_path / "a.xml").getroot().get("failures") == "1"
    page = (tmp_path / "a.html").read_text()
    assert "<b>|" not in page
    assert "&lt;b&gt;|x_y" in page
    assert page.count("<script") == 1
    assert "\\<b\\>\\|x\\_y" in (tmp_path / "a.md").read_text()


def test_show_is_a_tree_with_counts(autotune, records):
    lines = autotune("assert", "show", str(records)).out.splitlines()
    assert "nprocs = 2" in lines
    assert any(line.startswith("  loop cgmain  ") and " 50 " in line for line in lines)
    few = autotune("assert", "show", str(records), "--top", "2").out
    assert "6 more paths: --top 0 shows all" in few


def test_show_names_the_ranks_that_differ(autotune, tmp_path):
    folder = written(
        tmp_path / "records",
        [
            rank_record([counted(0, "loop", "it", "n", [(5, 5 + rank // 2)])], rank=rank, ranks=4)
            for rank in range(4)
        ],
    )
    out = autotune("assert", "show", str(folder)).out
    assert "ranks 2-3: 1 visit, 5 asserted, 6 counted" in out


def test_bad_records_are_exit_code_2(autotune, records):
    path = records / "r1.1.json"
    path.write_text(path.read_text()[:100])
    done = autotune("assert", "check", str(records), check=2)
    assert "r1.1.json:1:" in done.err
    assert done.out == ""
