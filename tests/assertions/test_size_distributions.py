"""Sizes of messages as distributions: totals hide wrong sizes."""

import pytest
from assertion_records import call, message, rank_record
from hypothesis import given
from hypothesis import strategies as st

from autotune.assertions.checking.check_run import check
from autotune.assertions.checking.size_distributions import (
    differences,
    earth_mover,
    operation_of,
    total_variation,
)
from autotune.assertions.records.run_records import RunRecords
from autotune.results.assertion import figure

sizes = st.dictionaries(st.integers(0, 10**6), st.integers(1, 50), max_size=8)


def sent(asserted, measured, rank=0, ranks=1, to_self=0):
    record = message(0, "send", "s", "8*n", asserted)
    calls = [call("MPI_Send", "send", measured, to_self=to_self)]
    return rank_record([record], rank=rank, ranks=ranks, calls=calls)


def comparison(*records):
    (compared,) = check(RunRecords(records=records)).sizes
    return compared


def test_equal_totals_with_other_sizes_differ():
    compared = comparison(sent([(100, 2)], [(50, 1), (150, 1)]))
    assert compared.total_variation == 1.0
    assert compared.earth_mover == pytest.approx(50.0)
    assert {tuple(d) for d in compared.differences} == {(50, 0, 1), (100, 2, 0), (150, 0, 1)}


def test_equal_sizes_in_another_order_are_the_same_distribution():
    compared = comparison(sent([(8, 3), (16, 1)], [(16, 1), (8, 3)]))
    assert (compared.rank, compared.total_variation, compared.differences) == (None, 0.0, ())


def test_the_rank_that_differs_most_is_shown():
    compared = comparison(
        sent([(8, 4)], [(8, 4)], 0, 3),
        sent([(8, 4)], [(8, 3), (16, 1)], 1, 3, to_self=2),
        sent([(8, 4)], [(8, 1), (16, 3)], 2, 3),
    )
    assert (compared.rank, compared.total_variation, compared.to_self) == (2, 0.75, 2)
    assert compared.measured == ((8, 8), (16, 4))


def test_operations_of_calls():
    named = ["MPI_Iallreduce", "MPI_Allreduce_init", "MPI_Neighbor_alltoall", "MPI_Barrier"]
    assert [operation_of(call(name, "coll", [])) for name in named] == [
        "allreduce", "allreduce", "neighbor_alltoall", "barrier",
    ]  # fmt: skip
    assert operation_of(call("MPI_Isend", "send", [])) == "send"


def test_collectives_are_compared_by_operation():
    paths = [message(0, "coll", "c", "8", [(8, 2)], operation="allreduce")]
    calls = [call("MPI_Iallreduce", "coll", [(8, 2)]), call("MPI_Bcast", "coll", [(4, 1)])]
    (compared,) = check(RunRecords(records=(rank_record(paths, calls=calls),))).sizes
    assert (compared.messages, compared.rank) == ("allreduce", None)


@given(sizes, sizes)
def test_distances_are_distances(first, second):
    for distance in (total_variation, earth_mover):
        assert distance(first, first) == pytest.approx(0.0, abs=1e-9)
        assert distance(first, second) == pytest.approx(distance(second, first))
        assert distance(first, second) >= 0
    assert total_variation(first, second) <= 1 + 1e-12
    assert bool(differences(first, second)) == (first != second)


@given(sizes.filter(bool), st.integers(1, 10**6))
def test_messages_that_all_grow_by_some_bytes_move_by_that(first, more):
    grown = {size + more: count for size, count in first.items()}
    assert earth_mover(first, grown) == pytest.approx(more)


def test_sizes_are_drawn_with_bytes_on_their_axis():
    compared = comparison(sent([(8, 3), (1024, 1)], [(8, 2), (1024, 2)]))
    drawn = figure.size_curves([compared], "sizes")
    assert "mathdefault" not in drawn
    for place in ("0 B", "1 KiB", "asserted", "counted"):
        assert f">{place}<" in drawn
    figure.size_curves([comparison(sent([(0, 1)], [(0, 1)]))], "of empty messages")
