"""Profiles of Caliper as records: regions, visits, times, facts of the run."""

import sys

import pytest

from autotune.assertions.checking.check_run import check
from autotune.assertions.records import run_records
from autotune.errors import InputError
from autotune.results.assertion import path_tree

PROFILE = """\
__rec=node,id=13,attr=8,data=attribute.unit,parent=3
__rec=node,id=20,attr=10,data=268,parent=3
__rec=node,id=21,attr=8,data=function,parent=20
__rec=node,id=22,attr=8,data=loop,parent=20
__rec=node,id=23,attr=8,data=region,parent=20
__rec=node,id=30,attr=13,data=sec,parent=5
__rec=node,id=31,attr=10,data=65,parent=30
__rec=node,id=32,attr=8,data=sum#time.duration,parent=31
__rec=node,id=33,attr=10,data=65,parent=2
__rec=node,id=34,attr=8,data=sum#rc.count,parent=33
__rec=node,id=35,attr=8,data=mpi.rank,parent=33
__rec=node,id=40,attr=21,data=main
__rec=node,id=41,attr=22,data=steps,parent=40
__rec=node,id=42,attr=23,data=halo,parent=41
__rec=ctx,ref=40,attr=32=34=35,data=0.25=1=0
__rec=ctx,ref=41,attr=32=34=35,data=0.5=1=0
__rec=ctx,ref=42,attr=32=34=35,data=0.125=40=0
__rec=ctx,ref=40,attr=32=34=35,data=0.25=1=1
__rec=ctx,ref=41,attr=32=34=35,data=0.5=1=1
__rec=ctx,ref=42,attr=32=34=35,data=0.25=40=1
__rec=node,id=50,attr=10,data=1612,parent=1
__rec=node,id=51,attr=8,data=mpi.world.size,parent=50
__rec=node,id=52,attr=8,data=problem_size,parent=50
__rec=node,id=53,attr=10,data=1612,parent=3
__rec=node,id=54,attr=8,data=executablepath,parent=53
__rec=node,id=60,attr=51,data=2
__rec=node,id=61,attr=52,data=30,parent=60
__rec=node,id=62,attr=54,data=/opt/app/solver,parent=61
__rec=globals,ref=62
"""


@pytest.fixture
def profile(tmp_path):
    path = tmp_path / "profile.cali"
    path.write_text(PROFILE)
    return path


@pytest.fixture
def reader():
    return pytest.importorskip(
        "caliperreader", reason="optional: caliper-reader is not installed (extra caliper)"
    )


def test_regions_of_two_ranks(profile, reader):
    run = run_records.read([profile])
    assert [record.rank for record in run.records] == [0, 1]
    assert (run.missing, run.first.program, run.first.ranks) == ((), "solver", 2)
    assert [(p.kind, p.name, p.visits, p.parent) for p in run.first.paths] == [
        ("sub", "main", 1, -1), ("loop", "steps", 1, 0), ("region", "halo", 40, 1),
    ]  # fmt: skip
    assert [p.seconds for p in run.first.paths] == pytest.approx([0.875, 0.625, 0.125])
    assert [(v.variable.name, v.last) for v in run.first.variables] == [("problem_size", 30)]
    assert run.first.losses == ()


def test_a_profile_asserts_nothing(profile, reader):
    run = run_records.read([profile])
    assert check(run).outcome == "nothing asserted"
    assert "problem_size = 30" in path_tree.text(run)


def test_means_over_ranks_are_one_record_that_says_so(profile, reader):
    rows = [line for line in PROFILE.splitlines() if not line.endswith("=1") or "ctx" not in line]
    text = "\n".join(rows).replace("attr=32=34=35", "attr=32").replace("=1=0\n", "\n")
    profile.write_text(text.replace("=40=0", ""))
    run = run_records.read([profile])
    assert (len(run.records), run.first.ranks, run.missing) == (1, 1, ())
    assert {loss.what.split(":")[0] for loss in run.first.losses} == {
        "visits of regions", "peers and ranks",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["", "no profile\n", PROFILE[:-300], "__rec=ctx,ref=99\n", PROFILE.replace("=40=0", "=x=0"),
     PROFILE.replace("0.125", "-1"), "\x00\xff", "__rec=node\n"],
)  # fmt: skip
def test_what_is_no_profile_is_an_error(profile, reader, text):
    profile.write_text(text)
    with pytest.raises(InputError, match=r"profile\.cali"):
        run_records.read([profile])


def test_a_profile_that_is_cut_off_between_lines_says_so(profile, reader):
    profile.write_text(PROFILE.partition("__rec=ctx,ref=42,attr=32=34=35,data=0.25")[0])
    run = run_records.read([profile])
    assert any("cut off" in loss.what for loss in run.records[1].losses)
    assert check(run).outcome == "fail"


def test_without_the_reader_the_error_says_how_to_install_it(profile, monkeypatch):
    monkeypatch.setitem(sys.modules, "caliperreader", None)
    with pytest.raises(InputError, match=r"is not installed \(pip install caliper-reader"):
        run_records.read([profile])
