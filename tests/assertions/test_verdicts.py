"""Verdicts: what passes, what fails, and what can never pass."""

from dataclasses import replace

import pytest
from assertion_records import (
    call,
    counted,
    figure_8,
    message,
    rank_record,
    region,
    uncounted,
    variable,
)

from autotune.assertions.checking.check_run import check
from autotune.assertions.checking.tolerances import Tolerances, judged, relative_error
from autotune.assertions.records.run_records import RunRecords
from autotune.domain.assertion_record import RecordLoss, UnevaluatedVisits
from autotune.errors import InputError
from autotune.results.assertion.verdict_words import published


def run_of(*records, missing=()):
    return RunRecords(records=records, missing=missing)


def checked(*paths, **facts):
    return check(run_of(rank_record(paths, **facts)))


def test_figure_8_of_the_paper():
    """Class W; 1.426E-4 as printed there is no quotient of its own counts: 1/7001 = 1.4284E-4."""
    result = check(RunRecords(records=(figure_8(0),), chosen=(0,)))
    assert [published(verdict) for verdict in result.verdicts] == [
        "cgmain:ma_loop:25:25:0.0:PASS=2:FAIL=0",
        "floprrhopq:ma_flop:21001:21001:0.0:PASS=50:FAIL=0",
        "cj_rho:ma_loop:1:1:0.0:PASS=50:FAIL=0",
        "l5rcv:ma_mpi_irecv:8:8:0.0:PASS=50:FAIL=0",
        "l5snd:ma_mpi_send:8:8:0.0:PASS=50:FAIL=0",
        "flopbeta:ma_flop:7002:7001:1.4284E-4:PASS=6:FAIL=44",
        "flopznx:ma_flop:3503:4347:-0.194:PASS=0:FAIL=2",
    ]
    assert result.outcome == "fail"
    assert [v.id for v in result.verdicts if v.outcome == "fail"] == ["flopbeta", "flopznx"]
    errors = {v.id: v.error for v in result.verdicts}
    assert errors["flopbeta"] == pytest.approx(1 / 7001)
    assert errors["flopznx"] == pytest.approx(-0.194, abs=5e-4)
    assert result.figures["worst_error"] == pytest.approx(0.1942, abs=5e-5)


def test_visits_of_all_ranks_are_added_and_the_worst_rank_is_named():
    worse = counted(0, "loop", "it", "n", [(5, 7)])
    records = [rank_record([counted(0, "loop", "it", "n", [(5, 5)])], rank=0, ranks=3)]
    records.append(rank_record([counted(0, "loop", "it", "n", [(5, 6)])], rank=1, ranks=3))
    records.append(rank_record([worse], rank=2, ranks=3))
    (verdict,) = check(run_of(*records)).verdicts
    assert (verdict.passes, verdict.failures, verdict.worst_rank) == (1, 2, 2)
    assert published(verdict) == "it:ma_loop:5:7:-0.286:PASS=1:FAIL=2"
    assert [(g.measured, g.ranks) for g in verdict.by_rank] == [(5, (0,)), (6, (1,)), (7, (2,))]


def test_an_assertion_on_two_call_paths_is_one_line():
    paths = [
        region(0, "first", 1),
        counted(1, "flop", "f", "n", [(4, 4)], parent=0),
        region(2, "second", 1),
        counted(3, "flop", "f", "n", [(4, 4)] * 2, parent=2),
    ]
    (verdict,) = checked(*paths).verdicts
    assert verdict.passes == 3
    assert verdict.call_paths == ("first > f", "second > f")


def test_visits_without_a_value_never_pass():
    reason = UnevaluatedVisits("variable 'm' has no value", 3)
    (verdict,) = checked(counted(0, "loop", "it", "m", [], no_value=[reason])).verdicts
    assert verdict.outcome == "fail"
    assert published(verdict) == "it:ma_loop:-:-:-:PASS=0:FAIL=3"
    mixed = checked(counted(0, "loop", "it", "m", [(1, 1)] * 9, no_value=[reason]))
    assert mixed.outcome == "fail"
    assert check(run_of(rank_record([counted(0, "loop", "i", "m", [], no_value=[reason])])),
                 Tolerances(0.99)).outcome == "fail"  # fmt: skip


def test_a_block_that_nobody_counted_is_neither_right_nor_wrong():
    result = checked(
        uncounted(0, "flop", "f", "2*n", 80, 4), counted(1, "loop", "i", "n", [(1, 1)])
    )
    assert [v.outcome for v in result.verdicts] == ["not measured", "pass"]
    assert result.outcome == "pass"
    assert result.figures["not_measured"] == 1
    alone = checked(uncounted(0, "flop", "f", "2*n", 80, 4))
    assert alone.outcome == "nothing asserted"
    assert alone.reasons == ("nothing that was asserted was counted",)


def test_a_program_without_assertions_does_not_pass():
    assert checked().outcome == "nothing asserted"
    assert checked(region(0, "setup", 1)).outcome == "nothing asserted"


def test_two_counters_are_two_verdicts():
    records = [
        rank_record([counted(0, "flop", "f", "n", [(4, 4)], counter="papi:PAPI_FP_OPS")], ranks=2),
        rank_record([counted(0, "flop", "f", "n", [(4, 9)], counter="program")], rank=1, ranks=2),
    ]
    result = check(run_of(*records))
    assert {(v.counter, v.outcome) for v in result.verdicts} == {
        ("papi:PAPI_FP_OPS", "pass"), ("program", "fail"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"complete": False}, "rank 0: the program ended before its end"),
        ({"losses": [RecordLoss("paths", 17)]}, "the record of rank 0 is not whole: paths, 17"),
    ],
)
def test_what_is_not_recorded_keeps_a_run_from_passing(facts, reason):
    result = checked(counted(0, "loop", "it", "n", [(5, 5)]), **facts)
    assert result.outcome == "fail"
    assert result.reasons[0].startswith(reason)


def test_a_missing_rank_keeps_a_run_from_passing():
    record = rank_record([counted(0, "loop", "it", "n", [(5, 5)])], ranks=2)
    result = check(run_of(record, missing=(1,)))
    assert (result.outcome, result.reasons) == ("fail", ("no record of rank 1 of 2",))


def test_losses_that_hide_no_failure_are_only_stated():
    result = checked(counted(0, "loop", "i", "n", [(5, 5)]), losses=[RecordLoss("peers", 90)])
    assert result.outcome == "pass"
    assert result.losses[0].loss.number == 90


# --- tolerances ----------------------------------------------------------------------------------


def test_a_tolerance_is_a_share_of_what_was_counted():
    path = counted(0, "flop", "f", "n", [(103, 100), (106, 100), (100, 100)])
    assert judged(path, 0.05) == (2, 1, 0)
    assert judged(path, 0.0) == (1, 2, 0)


def test_where_counts_of_visits_were_not_kept_a_visit_passes_only_where_that_is_sure():
    path = counted(0, "flop", "f", "n", [(104, 100), (1000, 1000), (10, 10)])
    assert judged(path, 0.05) == (2, 1, 1)
    result = check(run_of(rank_record([path])), Tolerances(0.05))
    assert "may be within the tolerance" in result.verdicts[0].notes[0]


def test_differences_that_did_not_fit_are_bounded_by_the_worst():
    path = counted(0, "flop", "f", "n", [(101, 100), (102, 100), (103, 100)])
    cut = replace(path, differences=path.differences[:1], other_differences=2)
    assert judged(cut, 0.05) == (3, 0, 0)
    assert judged(cut, 0.02) == (1, 2, 0)


def test_tolerances_go_by_kind():
    tolerances = Tolerances.of(["1%", "flop=0.2"])
    assert (tolerances.share("loop"), tolerances.share("flop")) == (0.01, 0.2)
    result = check(RunRecords(records=(figure_8(0),), chosen=(0,)), Tolerances.of(["flop=20%"]))
    assert result.outcome == "pass"


@pytest.mark.parametrize("text", ["5 per cent", "flops=5%", "-1%", "100%", "=5%", "nan"])
def test_a_wrong_tolerance_is_refused(text):
    with pytest.raises(InputError, match="--tolerance"):
        Tolerances.of([text])


def test_the_error_convention():
    assert relative_error(3503, 4347) == pytest.approx(-0.19416, abs=1e-5)
    assert relative_error(0, 0) == 0.0
    assert relative_error(3, 0) is None


# --- messages ------------------------------------------------------------------------------------


def norm(*, asserted=2, counted_messages=2, missing=0, unasserted=0, kind="send"):
    around = [call("MPI_Send", "send", [(16, counted_messages)], unasserted=unasserted)]
    return [
        region(0, "norm", 1, kind="region", calls=around),
        message(1, kind, "nsend", "16", [(16, asserted)], parent=0, missing=missing),
    ]


def test_a_message_that_did_not_come_fails():
    result = checked(*norm(asserted=3, missing=1))
    assert (result.outcome, result.figures["missing"]) == ("fail", 1)
    assert published(result.verdicts[0]).endswith("PASS=2:FAIL=1")
    assert (
        check(run_of(rank_record(norm(asserted=3, missing=1))), Tolerances(0.9)).outcome == "fail"
    )


def test_a_message_that_nothing_foretold_fails_unless_that_is_borne():
    record = rank_record(norm(counted_messages=5, unasserted=3))
    result = check(run_of(record))
    assert result.reasons == ("3 messages that no assertion foretold",)
    assert result.unasserted[0][:3] == ("norm", "MPI_Send", 3)
    assert check(run_of(record), partial=True).outcome == "pass"


def test_a_program_that_asserts_no_message_may_send_any():
    paths = [counted(0, "loop", "it", "n", [(5, 5)])]
    calls = [call("MPI_Barrier", "coll", [(0, 4)], unasserted=4)]
    result = check(run_of(rank_record(paths, calls=calls)))
    assert (result.outcome, result.figures["unasserted"]) == ("pass", 4)
    assert result.unasserted[0].path == "(outside of every path)"


def test_no_messages_asserted_and_none_sent_is_a_pass():
    empty = replace(message(0, "send", "s", "8", [(8, 1)]), asserted=0, passes=0, failures=0,
                    measured=0, asserted_sizes=())  # fmt: skip
    assert checked(empty).outcome == "pass"


# --- variables -----------------------------------------------------------------------------------


def test_a_derived_value_is_compared_with_the_programs():
    variables = [
        variable("nprocs", 8),
        variable("npcols", 2, expression="2**ceil(log2(nprocs)/2)", failures=1),
        variable("l", 1, expression="log2(npcols)", passes=1),
    ]
    result = checked(variables=variables)
    lines = [published(verdict) for verdict in result.verdicts]
    assert lines == [
        "npcols:ma_derive:4:2:1:PASS=0:FAIL=1",
        "l:ma_derive:1:1:0.0:PASS=1:FAIL=0",
    ]


def test_a_value_outside_of_its_domain_fails():
    record = variable("nprocs", 6, domain="power of two", violations=1, worst_value=6)
    (verdict,) = checked(variables=[record]).verdicts
    assert verdict.outcome == "fail"
    assert verdict.notes == ("6 is outside of its domain, power of two",)


# --- counts that are sums ------------------------------------------------------------------------


def summed(number, asserted, measured, visits):
    """A block that a counter of lines counted: it knows sums over all visits only."""
    path = uncounted(number, "flop", "f", "6*n + 1", asserted, visits, file="cg.c", lines=(10, 12))
    equal = asserted == measured
    return replace(path, measured=measured, counter="source-operators",
                   passes=visits * equal, failures=visits * (not equal))  # fmt: skip


def test_sums_over_visits_are_compared_where_nothing_else_is_known():
    result = checked(summed(0, 50 * 21001, 50 * 21001, 50))
    (verdict,) = result.verdicts
    assert published(verdict) == "f:ma_flop:21001:21001:0.0:PASS=50:FAIL=0"
    assert (verdict.counter, verdict.summed, result.outcome) == ("source-operators", True, "pass")


def test_a_sum_that_differs_fails_all_visits_unless_it_is_borne():
    run = run_of(rank_record([summed(0, 1000, 1020, 10)]))
    (verdict,) = check(run).verdicts
    assert published(verdict) == "f:ma_flop:100:102:-0.0196:PASS=0:FAIL=10"
    assert "compared as the sum over 10 visits" in verdict.notes
    assert check(run, Tolerances(0.02)).outcome == "pass"


def test_sums_of_call_paths_and_ranks_that_share_lines_are_added():
    """Each path gets a part of what its lines did, and only the sum of the parts is known."""
    parts = [summed(0, 100, 103, 10), summed(1, 30, 27, 3)]
    records = [rank_record(parts, rank=rank, ranks=2) for rank in (0, 1)]
    result = check(run_of(*records))
    assert (result.outcome, result.verdicts[0].passes) == ("pass", 26)


def test_ranks_that_counted_apart_do_not_make_up_for_one_another():
    records = [
        rank_record([summed(0, 100, 100 + surplus, 10)], rank=rank, ranks=3)
        for rank, surplus in enumerate((3, -4, 1))
    ]
    (verdict,) = check(run_of(*records)).verdicts
    assert (verdict.outcome, verdict.failures, verdict.worst_rank) == ("fail", 30, 1)
    assert published(verdict) == "f:ma_flop:10:9.6:0.0417:PASS=0:FAIL=30"
    assert check(run_of(*records), Tolerances(0.05)).outcome == "pass"


def test_ranks_that_were_counted_together_are_compared_together():
    paths = [replace(summed(0, 100, 103, 10), counter="source-operators:all-ranks"),
             replace(summed(0, 100, 97, 10), counter="source-operators:all-ranks")]  # fmt: skip
    records = [rank_record([path], rank=rank, ranks=2) for rank, path in enumerate(paths)]
    assert check(run_of(*records)).outcome == "pass"


def test_messages_that_nobody_watched_have_no_sizes_to_compare():
    asserted = message(0, "send", "x", "8", [(8, 3)])
    unwatched = replace(asserted, measured=None, counter="", passes=0, least=None, most=None)
    result = checked(unwatched, counted(1, "loop", "it", "n", [(5, 5)]))
    assert (result.outcome, result.figures["not_measured"], result.sizes) == ("pass", 1, ())
    assert "calls of MPI were not recorded" in result.verdicts[0].notes[0]


def test_an_unknown_collective_is_named_with_the_nearest():
    result = checked(message(0, "coll", "x", "8", [(8, 2)], operation="alreduce", missing=2))
    assert result.outcome == "fail"
    assert "no collective of MPI is named 'alreduce' (did you mean allreduce?)" in (
        result.verdicts[0].notes
    )
    known = checked(message(0, "coll", "x", "8", [(8, 2)], operation="allreduce"))
    assert known.verdicts[0].notes == ()
