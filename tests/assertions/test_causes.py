"""Blame: which term or count explains a difference, and which only seems to."""

from fractions import Fraction

import pytest
from assertion_records import call, counted, figure_8, message, rank_record, region, variable

from autotune.assertions.checking.cause_search import CountCase, NamedCounts, search
from autotune.assertions.checking.check_run import check
from autotune.assertions.records.run_records import RunRecords


def words(*records):
    """The causes of the first failing assertion of a run."""
    result = check(RunRecords(records=records))
    failing = next(verdict for verdict in result.verdicts if verdict.outcome == "fail")
    return [cause.words for cause in failing.causes]


def test_flopbeta_overpredicts_by_the_trips_of_a_loop():
    first = words(figure_8(0), figure_8(1))[0]
    assert first == "overpredicts by 1 = the term l2npcols = the trips of the loop cj_rho"


def test_what_no_count_explains_has_no_cause():
    result = check(RunRecords(records=(figure_8(0),), chosen=(0,)))
    assert [v.causes for v in result.verdicts if v.id == "flopznx"] == [()]


def test_a_term_that_is_not_counted():
    path = counted(
        0, "flop", "f", "2*n + 3*m", [(2 * 700 + 3 * 90, 3 * 90)], binding={"n": 700, "m": 90}
    )
    assert words(rank_record([path]))[0] == "overpredicts by 1400 = the term 2 * n"


def test_a_term_that_is_missing_in_the_expression():
    paths = [
        counted(0, "loop", "rows", "m", [(37, 37)]),
        counted(1, "flop", "f", "2*n", [(1400, 1437)], binding={"n": 700}),
    ]
    assert words(rank_record(paths))[0] == "underpredicts by 37 = the trips of the loop rows"


def test_a_number_that_is_one_too_small():
    paths = [
        counted(0, "loop", "cgit", "25", [(25, 25)]),
        counted(1, "flop", "f", "25*n", [(25 * 3500, 26 * 3500)], binding={"n": 3500}),
    ]
    causes = words(rank_record(paths))
    assert causes[0] == "counted is as asserted with 26 in place of 25"
    assert "underpredicts by 3500 = n" in causes


def test_a_variable_that_is_one_too_small():
    path = counted(
        0, "flop", "f", "8*n*m", [(8 * 100 * 7, 8 * 101 * 7)], binding={"n": 100, "m": 7}
    )
    assert words(rank_record([path]))[0] == "counted is as asserted with n + 1 in place of n"


def test_a_cause_that_holds_on_all_ranks_is_preferred_to_one_by_chance():
    """On rank 0 the difference is also nprocs; only the trips of the loop fit rank 1."""
    records = []
    for rank, trips in enumerate((2, 5)):
        paths = [
            counted(0, "loop", "exchange", "k", [(trips, trips)]),
            counted(1, "flop", "f", "8*n", [(800 + trips, 800)], binding={"n": 100}),
        ]
        variables = [variable("nprocs", 2)]
        records.append(rank_record(paths, rank=rank, ranks=2, variables=variables))
    result = check(RunRecords(records=tuple(records)))
    (verdict,) = [v for v in result.verdicts if v.outcome == "fail"]
    assert [(c.holds, c.cases) for c in verdict.causes] == [(2, 2)] * len(verdict.causes)
    assert "the trips of the loop exchange" in verdict.causes[0].words
    assert not any(c.words.rpartition(" = ")[2] == "nprocs" for c in verdict.causes)


def test_a_rank_that_passes_speaks_against_a_cause():
    """Only the root does two flops more: the number of ranks, 2 everywhere, is no cause."""
    records = []
    for rank in range(2):
        visits = [(100, 102 if rank == 0 else 100)]
        paths = [counted(0, "flop", "f", "n", visits, binding={"n": 100})]
        variables = [variable("nprocs", 2)]
        records.append(rank_record(paths, rank=rank, ranks=2, variables=variables))
    result = check(RunRecords(records=tuple(records)))
    (verdict,) = result.verdicts
    assert all(cause.holds < cause.cases for cause in verdict.causes)


def test_vector_messages_of_the_product_after_the_loop():
    """A flat loop of 25 without the product A z behind it: 26/25 of the vectors are sent."""
    around = [call("MPI_Send", "send", [(28000, 52), (8, 25)], unasserted=2)]
    paths = [
        region(0, "conj_grad", 1),
        counted(1, "loop", "cgit", "cgitmax", [(25, 25)], parent=0),
        message(2, "send", "vector", "8*n", [(28000, 50)], parent=0),
        message(3, "send", "rho", "8", [(8, 25)], parent=0),
    ]
    paths[0] = region(0, "conj_grad", 1, calls=around)
    result = check(RunRecords(records=(rank_record(paths, variables=[variable("cgitmax", 25)]),)))
    (comparison,) = [c for c in result.sizes if c.messages == "send"]
    assert comparison.differences == ((28000, 50, 52),)
    texts = [cause.words for cause in comparison.causes]
    assert any(
        "26/25 = (the trips of the loop cgit + 1) / the trips of the loop cgit" in text
        for text in texts
    )


def test_an_expression_that_cannot_be_parsed_has_no_terms_but_other_causes():
    paths = [
        counted(0, "loop", "k", "n", [(7, 7)]),
        counted(1, "flop", "f", "2*(n", [(107, 100)]),
    ]
    assert words(rank_record(paths)) == ["overpredicts by 7 = the trips of the loop k"]


@pytest.mark.parametrize(
    ("asserted", "measured", "expected"),
    [
        (150, 100, "overpredicts by 50 = a * b"),
        (115, 100, "overpredicts by 15 = a + b"),
        (95, 100, "underpredicts by 5 = b"),
        (1000, 100, "counted is asserted times 1/10 = 1 / a"),
        (100, 110, "underpredicts by 10 = a"),
        (120, 100, "overpredicts by 20 = 2 * a"),
        (109, 100, "overpredicts by 9 = a - 1"),
    ],
)
def test_forms_of_causes(asserted, measured, expected):
    named = [NamedCounts("a", (Fraction(10),), 1.0), NamedCounts("b", (Fraction(5),), 1.0)]
    causes = search([CountCase(Fraction(asserted), Fraction(measured))], named)
    assert expected in [cause.words for cause in causes]


def test_equal_counts_have_no_cause():
    assert search([CountCase(Fraction(3), Fraction(3))], []) == ()
    assert search([], []) == ()


def test_many_blocks_take_no_longer_than_a_moment():
    paths = [counted(k, "loop", f"l{k}", f"{k}", [(k, k)]) for k in range(1500)]
    paths.append(counted(1500, "flop", "f", "n", [(10**6 + 77777, 10**6)], binding={"n": 1}))
    assert len(words(rank_record(paths))) <= 4
