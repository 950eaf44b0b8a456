"""Output of OSU and Intel MPI Benchmarks: what is read, left out, refused with its line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_texts import (
    IMB,
    OSU_ANCIENT,
    OSU_BARRIER,
    OSU_BW,
    OSU_LATENCY,
    OSU_NEW,
    OSU_OLD,
)

from autotune.errors import InputError
from autotune.measuring.network import foreign_output


def load(tmp_path, text, name=None, ranks=None, nodes=1):
    path = tmp_path / "out.txt"
    path.write_text(text, encoding="utf-8")
    return foreign_output.load(path, name, ranks, nodes)


def rows(imported):
    return [
        (r.run.ranks, r.run.nodes, s.operation, s.bytes, pytest.approx(s.seconds * 1e6), s.count)
        for r in imported.recorded
        for s in r.samples
    ]


def test_osu_with_all_columns_gives_the_slowest_rank(tmp_path):
    found = load(tmp_path, OSU_NEW, ranks=8, nodes=2)
    assert found.tool == "osu"
    assert rows(found) == [
        (8, 2, "allgather", 1, 3.73, 1000),
        (8, 2, "allgather", 1024, 6.25, 1000),
        (8, 2, "allgather", 1 << 20, 104.33, 100),
    ]
    assert found.recorded[0].run.program == "7.4"
    assert found.recorded[0].run.benchmark == "osu"


@pytest.mark.parametrize(
    ("text", "expected", "version"),
    [
        (OSU_OLD, [(4, 2, "allgather", 1, 1.6, 1), (4, 2, "allgather", 8, 1.55, 1)], "5.6.3"),
        (
            OSU_LATENCY,
            [(2, 2, "pingpong", 1, 0.21, 1), (2, 2, "pingpong", 4194304, 412.77, 1)],
            "5.6.2",
        ),
        (OSU_ANCIENT, [(2, 2, "pingpong", 8, 1.05, 1)], "2.0"),
        (OSU_BARRIER, [(4, 2, "barrier", 0, 1.41, 1)], "7.3"),
    ],
)
def test_osu_of_all_ages(tmp_path, text, expected, version):
    """A ping-pong is one of two ranks, whatever else the job had; 0 B are left out."""
    found = load(tmp_path, text, "osu", ranks=4, nodes=2)
    assert rows(found) == expected
    assert found.recorded[0].run.program == version


def test_several_tests_in_one_text_and_what_is_left_out(tmp_path):
    text = "a banner\n" + OSU_OLD + OSU_BW + OSU_BARRIER + OSU_OLD
    found = load(tmp_path, text, ranks=4)
    assert [s.launch for r in found.recorded for s in r.samples if s.operation == "allgather"] == [
        0, 0, 1, 1,
    ]  # fmt: skip
    (note,) = found.notes
    assert "OSU MPI Bandwidth Test left out: a rate of many messages in flight" in note
    assert "out.txt:6" in note


def test_osu_bw_alone_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"rate of many messages.*expected osu_latency"):
        load(tmp_path, OSU_BW)


@pytest.mark.parametrize(
    ("title", "why"),
    [
        ("MPI_Put Latency Test v7.4", "one-sided"),
        ("MPI_Get-CUDA Latency Test v7.4", "one-sided"),
        ("One Sided MPI_Put latency Test v3.1", "one-sided"),
        ("OpenSHMEM Latency Test v5.6", "messages of OpenSHMEM, not of MPI"),
        ("MPI Multi Latency Test v5.6", "not an operation of ours"),
        ("MPI Latency", "its title is not of the form"),
    ],
)
def test_osu_of_other_messages_is_no_ping_pong(tmp_path, title, why):
    text = OSU_LATENCY.replace("MPI Latency Test v5.6.2", title)
    with pytest.raises(InputError, match=rf"out\.txt:2: OSU .* left out: {why}"):
        load(tmp_path, "a banner\n" + text)
    beside = load(tmp_path, OSU_BARRIER + text, ranks=4)
    assert {row[2] for row in rows(beside)} == {"barrier"}
    assert f"left out: {why}" in beside.notes[0]


def test_osu_for_accelerators_is_told_and_kept_apart(tmp_path):
    text = OSU_LATENCY.replace("# OSU MPI ", "# OSU MPI-CUDA ")
    found = load(tmp_path, text + OSU_LATENCY)
    assert [r.run.program for r in found.recorded] == ["5.6.2 MPI-CUDA", "5.6.2"]
    assert "a build for CUDA" in found.notes[0]


def test_osu_needs_the_number_of_ranks(tmp_path):
    with pytest.raises(InputError, match=r"--ranks: OSU Micro-Benchmarks does not print"):
        load(tmp_path, OSU_NEW)
    assert rows(load(tmp_path, OSU_LATENCY))[0][0] == 2


def test_imb(tmp_path):
    found = load(tmp_path, IMB)
    assert found.tool == "imb"
    assert sorted(rows(found), key=lambda row: row[:4]) == [
        (2, 1, "allgather", 8, 0.6, 1000),
        (2, 1, "pingpong", 8, 0.26, 1000),
        (2, 1, "pingpong", 4194304, 500.0, 10),
        (4, 1, "allgather", 8, 1.34, 1000),
        (4, 1, "allgather", 65536, 48.94, 640),
        (4, 1, "barrier", 0, 22.95, 1000),
        (4, 1, "neighbour", 8, 1.10, 1000),
    ]
    notes = "\n".join(found.notes)
    assert "IMB Uniband left out: a rate" in notes
    assert "time-out" in notes
    assert "on a ring" in notes


def test_imb_of_one_number_of_ranks_and_several_nodes(tmp_path):
    found = load(tmp_path, IMB, "imb", ranks=4, nodes=4)
    assert {(r.run.ranks, r.run.nodes) for r in found.recorded} == {(2, 2), (4, 4)}
    assert {s.operation for r in found.recorded if r.run.ranks == 2 for s in r.samples} == {
        "pingpong"
    }
    assert any("2 ranks left out: not 4" in note for note in found.notes)


def test_imb_on_a_part_of_the_ranks_fills_one_node_after_the_other(tmp_path):
    """64 ranks on 4 nodes, 16 on each."""
    tables = [
        f"# Benchmarking {name}\n# #processes = {count}\n"
        + (f"# ( {64 - count} additional processes waiting in MPI_Barrier)\n" if count < 64 else "")
        + "#bytes #repetitions t_min[usec] t_max[usec] t_avg[usec]\n8 1000 1.30 1.34 1.32\n"
        for name, count in (("PingPong", 2), *(("Allgather", n) for n in (4, 16, 24, 32, 64)))
    ]
    for text in ("".join(tables), "".join(tables[:-1])):
        found = load(tmp_path, text, nodes=4)
        layouts = {(r.run.ranks, r.run.nodes) for r in found.recorded}
        assert layouts - {(64, 4)} == {(2, 1), (4, 1), (16, 1), (32, 2)}
        notes = " ".join(found.notes)
        assert "24 of 64 ranks are not spread evenly over 4 nodes: left out" in notes
        assert "32 of 64 ranks are taken to be on 2 nodes" in notes
        assert "16 on each" in notes
    (alone,) = load(tmp_path, "".join(tables[1:]), ranks=4, nodes=4).recorded
    assert (alone.run.ranks, alone.run.nodes) == (4, 4)


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (IMB, "osu", r"out.txt:2: this is output of Intel MPI Benchmarks.*--tool imb"),
        (OSU_OLD, "imb", r"out.txt:1: this is output of OSU.*--tool osu"),
        ("hello\n", None, r"out.txt:1: no title.*OSU Micro-Benchmarks or Intel"),
        ("", None, "no title"),
        ("1 2\n", "osu", "no title"),
        (OSU_NEW[: OSU_NEW.rindex("104.33")], None, r"out.txt:7: 3 values for 5 columns.*cut off"),
        (OSU_OLD[: OSU_OLD.rindex(".55") + 2], None, r"out.txt:4: .*middle of a number, '1.5'"),
        (OSU_OLD[: OSU_OLD.index("1    ")], None, r"out.txt:1: .*no rows: the text is cut off"),
        (OSU_OLD.replace("1.60", "x"), None, r"out.txt:3: 'x' is not a time"),
        (OSU_OLD.replace("1.60", "-1"), None, r"out.txt:3: a time of -1 us is not positive"),
        (OSU_OLD.replace("8  ", "8.5"), None, r"out.txt:4: '8.5' is not a whole number"),
        (IMB[: IMB.index("# All")], None, r"ends without 'All processes entering MPI_Finalize'"),
        (IMB[: IMB.index("46.08") + 3], None, r"3 values for 5 columns"),
        (
            IMB.replace("         1000        22.93        22.95        22.94\n", ""),
            None,
            "no rows",
        ),
    ],
)
def test_wrong_and_truncated_texts(tmp_path, text, name, words):
    with pytest.raises(InputError, match=words):
        load(tmp_path, text, name, ranks=4)


@given(st.integers(0, len(IMB)), st.integers(0, len(OSU_NEW)))
@settings(max_examples=60, deadline=None)
def test_a_text_cut_anywhere_never_gives_a_wrong_number(tmp_path_factory, imb, osu):
    folder = tmp_path_factory.mktemp("cut")
    for text, end in ((IMB, imb), (OSU_NEW, osu)):
        whole = {
            (s.operation, r.run.ranks, s.bytes): s.seconds
            for r in load(folder, text, ranks=None if text is IMB else 4).recorded
            for s in r.samples
        }
        try:
            found = load(folder, text[:end], ranks=None if text is IMB else 4)
        except InputError:
            continue
        for r in found.recorded:
            for s in r.samples:
                assert whole[s.operation, r.run.ranks, s.bytes] == s.seconds


def test_an_error_repeats_only_the_first_remarks(tmp_path):
    title = "# OSU MPI Bcast Latency Test v7.4\n# Size       Avg Latency(us)\n8   2.81\n"
    with pytest.raises(InputError, match="and 2995 more; expected osu_latency") as error:
        load(tmp_path, 3000 * title, ranks=8)
    assert len(str(error.value)) < 1000
