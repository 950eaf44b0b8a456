"""Messages: foretold first in, first out; what is missing, unasserted, to oneself, too many."""

import pytest
from assertion_runs import SANITIZED, losses, main, path, record, run, with_library

BEFORE = '#include "internal.h"'
SEND = 'ma_message(MA_SEND, "MPI_Send", "", {size}, {messages}, {peer});'


def _rank(tmp_path, statements, *flags, **variables):
    program = with_library(main('ma_set_rank(1, 4, "");' + statements, BEFORE), *flags)
    outcome = run(program, tmp_path / "records", preload=False, **variables)
    assert outcome.returncode == 0, outcome.stderr
    return record(tmp_path / "records", "r.1.json")


def send(size, messages=1, peer=0):
    return SEND.format(size=size, messages=messages, peer=peer)


def test_messages_answer_assertions_in_their_order(tmp_path):
    rank = _rank(
        tmp_path,
        'ma_region_begin("r"); ma_var("l", 2); ma_send("a", "16"); ma_send_n("b", "8", "l");'
        + send(16) + send(8, peer=2) + send(9) + send(7) + 'ma_region_end("r");',
    )  # fmt: skip
    first, second = path(rank, "r", "a"), path(rank, "r", "b")
    assert (first.passes, first.failures, first.measured, first.counter) == (1, 0, 16, "mpi")
    assert (second.passes, second.failures, second.missing) == (1, 1, 0)
    assert (second.asserted, second.measured, second.differences) == (16, 17, ((-1, 1), (0, 1)))
    (call,) = path(rank, "r").calls
    assert (call.call, call.kind, call.messages, call.size) == ("MPI_Send", "send", 4, 40)
    assert call.sizes == ((7, 1), (8, 1), (9, 1), (16, 1))
    assert call.peers == ((0, 3, 32), (2, 1, 8))
    assert call.unasserted == 1
    assert (rank.rank, rank.ranks) == (1, 4)


def test_what_does_not_come_is_missing(tmp_path):
    rank = _rank(
        tmp_path,
        'for (int i = 0; i < 2; i++) { ma_region_begin("r"); ma_send_n("a", "16", "3");'
        + send(16) + 'ma_region_end("r"); }' + send(16) + 'ma_recv("open", "8");',
    )  # fmt: skip
    point = path(rank, "r", "a")
    assert (point.visits, point.passes, point.missing) == (2, 2, 4)
    assert rank.calls[0].unasserted == 1
    assert path(rank, "open").missing == 1


def test_directions_and_operations_are_apart(tmp_path):
    rank = _rank(
        tmp_path,
        """ma_recv("r", "8"); ma_coll("c", "allreduce", "8"); ma_coll("b", "bcast", "4");
           ma_message(MA_COLL, "MPI_Bcast", "bcast", 4, 1, -1);
           ma_message(MA_COLL, "MPI_Iallreduce", "allreduce", 8, 1, -1);
           ma_message(MA_SEND, "MPI_Send", "", 8, 1, 1);
           ma_message(MA_RECV, "MPI_Recv", "", 8, 1, 3);""",
    )
    assert [path(rank, name).passes for name in "rcb"] == [1, 1, 1]
    sent = next(call for call in rank.calls if call.call == "MPI_Send")
    assert (sent.to_self, sent.unasserted) == (1, 1)


def test_a_receive_is_compared_when_it_completes(tmp_path):
    rank = _rank(
        tmp_path,
        """struct ma_claim first, second, third;
           ma_region_begin("post"); ma_recv_n("a", "8", "3");
           first = ma_take_claim(MA_RECV, ""); second = ma_take_claim(MA_RECV, "");
           third = ma_take_claim(MA_RECV, "");
           ma_region_end("post");
           ma_region_begin("wait");
           ma_settle(&second, MA_RECV, "MPI_Irecv", "", 8, 0);
           ma_settle(&first, MA_RECV, "MPI_Irecv", "", 9, 0);
           ma_region_end("wait");
           (void)third;""",
    )
    point = path(rank, "post", "a")
    assert (point.passes, point.failures, point.missing) == (1, 1, 1)
    assert path(rank, "post").calls[0].messages == 2
    assert path(rank, "wait").calls == ()


def test_a_cancelled_receive_is_missing(tmp_path):
    rank = _rank(
        tmp_path,
        'ma_recv("a", "8"); { struct ma_claim claim = ma_take_claim(MA_RECV, "");'
        "ma_renounce(&claim); }",
    )
    assert (path(rank, "a").missing, path(rank, "a").passes) == (1, 0)


@pytest.mark.parametrize(
    ("repeat", "reason"),
    [
        ("-1", "the number of messages is below 0"),
        ("1/2", "the number of messages is not whole"),
        ("l", "variable 'l' has no value"),
    ],
)
def test_a_number_of_messages_that_is_none(tmp_path, repeat, reason):
    rank = _rank(tmp_path, f'ma_send_n("a", "8", "{repeat}");' + send(8))
    assert path(rank, "a").unevaluated == ((reason, 1),)
    assert path(rank, "a").passes == 0
    assert rank.calls[0].unasserted == 1


def test_a_size_without_a_value_keeps_its_place(tmp_path):
    rank = _rank(tmp_path, 'ma_send("a", "8*q"); ma_send("b", "16");' + send(8) + send(16))
    assert (path(rank, "a").passes, path(rank, "a").failures) == (0, 0)
    assert path(rank, "b").passes == 1
    assert rank.calls[0].unasserted == 0


def test_sizes_peers_and_open_assertions_are_bounded(tmp_path):
    rank = _rank(
        tmp_path,
        """for (int i = 0; i < 1000; i++)
               ma_message(MA_SEND, "MPI_Send", "", i, 1, i);
           for (int i = 0; i < 300000; i++) { ma_recv("a", "8"); }""",
    )
    (call,) = rank.calls
    assert (len(call.sizes), call.other_sizes) == (256, 744)
    assert (len(call.peers), call.other_peers) == (256, 744)
    assert call.messages == 1000
    assert path(rank, "a").missing == 300_000
    assert set(losses(rank)) == {"foretold messages beyond 65,536 that are open at once"}


def test_without_mpi_messages_are_not_measured(tmp_path):
    program = with_library(main('ma_send("a", "16");', BEFORE))
    assert run(program, tmp_path / "records", preload=False).returncode == 0
    point = path(record(tmp_path / "records"), "a")
    assert (point.asserted, point.measured, point.counter, point.missing) == (16, None, "", 0)


def test_pcontrol_marks_regions(tmp_path):
    rank = _rank(
        tmp_path,
        'ma_pcontrol_region(1, 0);' + send(8) + "ma_pcontrol_region(2, 0);" + send(9)
        + 'ma_pcontrol_region(0, 0); ma_pcontrol_region(1, "named");' + send(10)
        + 'ma_pcontrol_region(-1, "named"); ma_pcontrol_region(1, 0); ma_pcontrol_region(0, 0);',
    )  # fmt: skip
    assert [(p.name, p.visits) for p in rank.paths] == [
        ("pcontrol 1", 2), ("pcontrol 2", 1), ("named", 1),
    ]  # fmt: skip
    assert [p.calls[0].size for p in rank.paths] == [8, 9, 10]
    assert losses(rank) == {}


@pytest.mark.parametrize("end", ["_exit(3)", "exit(3)"])
def test_an_aborted_rank_is_not_complete(tmp_path, end):
    program = with_library(
        main(
            f'ma_set_rank(0, 2, "x"); ma_region_begin("a"); ma_write_record(MA_ABORTED); {end};',
            BEFORE,
        )
    )
    assert run(program, tmp_path / "records", preload=False).returncode == 3
    rank = record(tmp_path / "records", "x.0.json")
    assert not rank.complete


def test_the_library_is_clean_under_sanitizers(tmp_path):
    rank = _rank(
        tmp_path,
        """char name[40];
           struct ma_site site = {0, 0, "f", name, "", "1", "", "", "", 0, 0};
           ma_var("n", 7); ma_var_in("p", 3, "u", "power of two; [1, 64]; [1"); ma_var("x", 0.5);
           ma_derive("m", "n*2"); ma_derive_check("m", "n*3", 2.5); ma_derive("bad", "1 +* (");
           for (int i = 0; i < 5000; i++) {
               site.parent = 0; site.path = 0; snprintf(name, sizeof name, "%d", i);
               ma_functions_1.begin(&site);
               ma_var("i", i); ma_flop_count("f", "max(i, n)**2 if i < 9 else -i//2", i * 1.5);
               ma_send_n("s", "8*i", "2"); ma_message(MA_SEND, "MPI_Send", "", 8 * i, 3, i % 300);
               if (i % 3) ma_functions_1.end(&site);
           }
           ma_flop_begin("g", "2**62*n/p"); ma_flop_end("g"); ma_flop_end("h");""",
        *SANITIZED,
        AUTOTUNE_ASSERT_EVENTS="1",
        ASAN_OPTIONS="detect_leaks=0",
    )
    assert len(rank.paths) == 4096


def test_messages_foretold_before_mpi_starts_are_missing(tmp_path):
    program = with_library(
        main(
            'ma_coll("b", "barrier", "0"); ma_set_rank(1, 4, ""); ma_send_n("s", "0", "0");', BEFORE
        )
    )
    assert run(program, tmp_path / "records", preload=False).returncode == 0
    rank = record(tmp_path / "records", "r.1.json")
    assert (path(rank, "b").missing, path(rank, "s").missing) == (1, 0)
