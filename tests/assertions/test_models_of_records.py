"""Models made of the records of a run, by hand."""

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
)  # fmt: skip

from autotune.assertions.modelling import parsed_model
from autotune.assertions.modelling.binding import bind
from autotune.assertions.modelling.records_to_model import model_from_records, peer_formula
from autotune.assertions.modelling.tree_walk import rank_counts
from autotune.domain.assertion_record import AssertionRecord, PeerCount, RecordLoss
from autotune.errors import InputError


def figure_8_ranks() -> list[AssertionRecord]:
    return [figure_8(0), figure_8(1)]


def test_the_run_of_figure_8_becomes_a_model() -> None:
    recorded = model_from_records(figure_8_ranks())
    model = recorded.model
    assert (model.name, model.ranks) == ("cg", "nprocs")
    assert model.values == {"na": 7000, "nprocs": 2, "cgitmax": 25, "n": 3500}
    (gradient,) = model.nodes
    assert (gradient.kind, gradient.repeat, gradient.repeat_measured) == ("sub", "2", True)
    loop, rest = gradient.inner
    assert (loop.name, loop.expression, loop.repeat) == ("cgmain", "cgitmax", "1")
    assert rest.name == "flopznx"
    assert [node.name for node in loop.inner] == ["floprrhopq", "cj_rho", "flopbeta"]
    assert not any(node.repeat_measured for node in loop.walk())
    receive, send = loop.inner[1].inner
    assert (receive.nonblocking, send.nonblocking) == (True, False)
    assert recorded.notes == (
        "conj_grad: visited 2 times for each of what is above it (measured, not asserted)",
    )


def test_the_model_counts_what_the_run_asserted() -> None:
    parsed = parsed_model.parse(model_from_records(figure_8_ranks()).model)
    counts = rank_counts(bind(parsed, {}))
    asserted = sum(path.asserted for path in figure_8().paths if path.kind == "flop")
    assert counts["flops"] == asserted
    assert counts.sizes("send") == {8: 50}


def test_an_early_exit_becomes_a_measured_repeat() -> None:
    """A loop that says 10 trips and turns 4 times: what is inside is visited 2/5 of the trips."""
    loop = counted(0, "loop", "outer", "n", [(10, 4)])
    inner = uncounted(1, "flop", "f", "2*n", 80, 4, parent=0)
    recorded = model_from_records([rank_record([loop, inner], variables=[variable("n", 10)])])
    assert recorded.model.nodes[0].inner[0].repeat == "2/5"
    assert recorded.model.nodes[0].inner[0].repeat_measured
    parsed = parsed_model.parse(recorded.model)
    assert rank_counts(bind(parsed, {}))["flops"] == 80


def test_ranks_that_differ_are_named_and_become_conditions() -> None:
    def of_rank(rank: int) -> AssertionRecord:
        paths = [region(0, "step", 3), uncounted(1, "flop", "f", "n", 30, 3, parent=0)]
        if rank == 0:
            paths.append(uncounted(2, "flop", "root", "5", 5, 1))
        elif rank == 2:
            paths[1] = replace(paths[1], visits=6)
        numbers = [variable("n", 10), variable("me", rank), variable("size", 4, unit="processes")]
        return rank_record(paths, rank=rank, ranks=4, variables=numbers)

    recorded = model_from_records([of_rank(rank) for rank in (2, 0, 3, 1)])
    model = recorded.model
    assert (model.rank, model.ranks) == ("me", "size")
    _, root = model.nodes
    assert root.repeat == "1 if me < 1 else 0"
    assert "root: ranks differ (measured): 1 on rank 0; 0 on ranks 1-3" in recorded.notes
    assert any(n.startswith("step/f: ranks differ (measured): 1 on ranks 0-1, 3; 2 on rank 2")
               for n in recorded.notes)  # fmt: skip
    binding = bind(parsed_model.parse(model), {})
    flops = [rank_counts(binding, rank)["flops"] for rank in range(4)]
    assert flops == [35, 30, 60, 30]


def test_irregular_ranks_get_their_mean() -> None:
    records = [
        rank_record([region(0, "part", 1 + rank % 2)], rank=rank, ranks=40) for rank in range(40)
    ]
    recorded = model_from_records(records)
    assert recorded.model.nodes[0].repeat == "3/2"
    assert "the mean, 3/2, is taken" in recorded.notes[0]


def test_variables_that_change_or_differ_are_named() -> None:
    def of_rank(rank: int) -> AssertionRecord:
        numbers = [variable("k", 3, changes=7), variable("mine", 5 + rank)]
        return rank_record([], rank=rank, ranks=2, variables=numbers)

    notes = model_from_records([of_rank(0), of_rank(1)]).notes
    assert "variable k changed 7 times in the run: its first value, 3, is taken" in notes
    assert "variable mine differs between ranks: 5 on rank 0 is taken" in notes


def test_what_records_do_not_hold_is_named() -> None:
    records = [
        rank_record([region(0, "part", 1)], rank=rank, ranks=2, losses=[RecordLoss("paths", 3)],
                    complete=rank == 0)
        for rank in range(2)
    ]  # fmt: skip
    notes = model_from_records(records).notes
    assert "rank 1 did not end by itself: the counts end where it died" in notes
    assert "not recorded: 6 paths" in notes


def test_peers_and_repeats_of_messages() -> None:
    def of_rank(rank: int) -> AssertionRecord:
        sends = call("MPI_Isend", "send", [(8, 6)])
        sends = replace(sends, peers=(PeerCount((rank + 1) % 3, 6, 48),))
        outer = region(0, "exchange", 2, calls=[sends])
        sent = replace(message(1, "send", "s", "8", [(8, 2)], parent=0), repeat="n")
        return rank_record([outer, sent], rank=rank, ranks=3, variables=[variable("n", 3)])

    model = model_from_records([of_rank(rank) for rank in range(3)]).model
    (sent,) = model.nodes[0].inner
    assert (sent.peer, sent.nonblocking, sent.repeat) == ("(rank + 1) % nprocs", True, "n")
    assert rank_counts(bind(parsed_model.parse(model), {}))["messages"] == 6


@pytest.mark.parametrize(
    ("peers", "ranks", "formula"),
    [
        ({0: 3, 1: 0, 2: 1, 3: 2}, 4, "(rank - 1) % nprocs"),
        ({0: 1, 1: 0, 2: 3, 3: 2}, 4, "rank + 1 - 2*(rank % 2)"),
        ({0: 0, 1: 0, 2: 0}, 3, "0"),
        ({0: 0, 1: 1}, 2, "rank"),
        ({0: 2, 1: 0, 2: 3, 3: 1}, 4, ""),
        ({}, 4, ""),
    ],
)
def test_simple_patterns_of_peers(peers: dict[int, int], ranks: int, formula: str) -> None:
    assert peer_formula(peers, ranks, "rank", "nprocs") == formula


def test_records_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(InputError, match="expected one of every rank"):
        model_from_records([])
    with pytest.raises(InputError, match="records of 2 runs"):
        model_from_records([figure_8(0), replace(figure_8(1), run="r2")])
    with pytest.raises(InputError, match="no record of rank 1"):
        model_from_records([figure_8(0)])
    with pytest.raises(InputError, match="rank 0 twice"):
        model_from_records([figure_8(0), figure_8(0)])


def test_a_variable_without_a_value_becomes_an_input() -> None:
    loop = counted(0, "loop", "outer", "trips", [])
    model = model_from_records([rank_record([replace(loop, visits=1)])]).model
    assert [v.name for v in model.variables] == ["nprocs", "trips"]
    with pytest.raises(InputError, match="trips: no value"):
        bind(parsed_model.parse(model), {})
