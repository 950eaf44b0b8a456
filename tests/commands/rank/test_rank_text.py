"""What ``variants``, ``predict`` and ``rank`` print of stated predictions."""

from collections.abc import Sequence
from dataclasses import replace

import fabricated as made
import pytest

from autotune.commands.rank.candidate_formula import CandidateFormula
from autotune.commands.rank.text import formulas, predictions, rankings, variants
from autotune.domain.problem import AnyProblem
from autotune.domain.ranking import Ranking, rank
from autotune.domain.results import Part, Prediction, Uncertainty
from autotune.domain.variant import Build, Candidate
from autotune.learning.formulas.ecm_formula import ecm
from autotune.results.report.text_style import TextStyle, styled
from autotune.units import Seconds
from autotune.workloads.base import EnumeratedSpace, IllegalCombinations

MACHINE = made.machine()
ORDERS = ("jli", "ijl", "lij")


def predicted(seconds: float | None, *, unsure: float | None = None) -> Prediction:
    """A prediction whose interval is 20 % either way; ``unsure``: a relative standard deviation."""
    if seconds is None:
        return made.prediction(None, reason="no loop was found")
    return Prediction(
        seconds=Seconds(seconds),
        interval=(Seconds(0.8 * seconds), Seconds(1.2 * seconds)),
        parts=(
            Part(sweep="rhs", kind="sweep", seconds=Seconds(0.75 * seconds)),
            Part(sweep="lc", kind="sweep", seconds=Seconds(0.25 * seconds)),
            Part(sweep="rhs", kind="MEM", seconds=Seconds(0.5 * seconds)),
        ),
        engine="reuse",
        reason="rhs waits for memory",
        uncertainty=None if unsure is None else Uncertainty(shared={}, independent=unsure),
    )


def ranked(of: Sequence[tuple[Candidate, Prediction]]) -> list[Ranking]:
    return rank([c for c, _ in of], [p for _, p in of])


def shown(of: Sequence[tuple[Candidate, Prediction]], top: int = 0, illegal: int = 0) -> list[str]:
    """The lines of a ranking; ``illegal`` candidates of the first problem were left out."""
    problem: AnyProblem = made.problem()
    enumerated = EnumeratedSpace(
        legal=[c for c, _ in of],
        illegal=IllegalCombinations([(f"x{k}", problem, "no") for k in range(illegal)]),
    )
    return rankings(ranked(of), MACHINE, top=top, enumerated=enumerated).splitlines()


def test_identities_are_shown_where_they_are_asked_for() -> None:
    candidate, pair = made.candidate(), [(made.candidate(), predicted(1.0))]
    space = EnumeratedSpace(legal=[candidate], illegal=IllegalCombinations([]))
    texts = (
        variants(space, illegal=False, ids=True),
        rankings(ranked(pair), MACHINE, top=0, enumerated=space, ids=True),
        predictions(ranked(pair), ids=True),
    )
    assert all(candidate.identity in text for text in texts)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_a_ranking_fits_the_terminal(width: int) -> None:
    with styled(TextStyle(width=width)):
        lines = shown([(made.candidate(order), predicted(1e-3)) for order in ORDERS])
    assert max(map(len, lines[1:])) <= width
    assert sum("rhs waits for memory" in line for line in lines) == len(ORDERS)


# --- variants -----------------------------------------------------------------------------------


def test_the_candidates_are_listed_and_counted() -> None:
    legal = [made.candidate("jli"), made.candidate("ijl")]
    lines = variants(
        EnumeratedSpace(legal=legal, illegal=IllegalCombinations([])), illegal=False
    ).splitlines()
    assert lines == [legal[0].label, legal[1].label, "2 candidates, 0 illegal"]


def test_what_is_illegal_is_listed_with_its_reason_where_it_is_asked_for() -> None:
    illegal = [("ijl-au", made.problem(), "au needs order j"), ("l", made.problem(), "no")]
    space = EnumeratedSpace(legal=[made.candidate()], illegal=IllegalCombinations(illegal))
    assert variants(space, illegal=True).splitlines()[1:] == [
        "1 candidate, 2 illegal",
        "ijl-au  au needs order j",
        "l       no",
        "",
        "illegal  reason",
        "      1  au needs order j",
        "      1  no",
    ]
    assert variants(space, illegal=False).splitlines()[1:] == ["1 candidate, 2 illegal"]


def test_an_empty_space_is_one_line() -> None:
    nothing = EnumeratedSpace(legal=[], illegal=IllegalCombinations([]))
    assert variants(nothing, illegal=True) == "0 candidates, 0 illegal"


# --- rank ---------------------------------------------------------------------------------------


def test_the_fastest_is_first_and_those_without_a_time_are_last() -> None:
    first, second, third = (made.candidate(order) for order in ORDERS)
    lines = shown([(first, predicted(None)), (second, predicted(0.002)), (third, predicted(1e-3))])
    assert lines == [
        "heat2d-N256: 3 candidates on host, time per step predicted by engine reuse",
        f"    predicted  interval              {'candidate':{len(first.label)}}  reason",
        f"1    1.000 ms  [800.0 us, 1.200 ms]  {third.label}  rhs waits for memory",
        f"2    2.000 ms  [1.600 ms, 2.400 ms]  {second.label}  rhs waits for memory",
        f" -          -                        {first.label}  no loop was found",
    ]


def test_a_single_candidate_is_singular() -> None:
    assert shown([(made.candidate(), predicted(1.0))])[0].startswith("heat2d-N256: 1 candidate on")


def test_the_best_are_shown_and_the_others_counted() -> None:
    pairs = [(made.candidate(order), predicted(1.0 + k)) for k, order in enumerate(made.ORDERS)]
    lines = shown(pairs, top=2)
    assert len(lines) == 5
    assert lines[-1] == "... and 4 more (--top 0 shows all)"
    assert shown(pairs, top=6)[-1].startswith("6")


def test_what_is_not_told_apart_from_the_first_is_marked_and_counted() -> None:
    times = (1.0, 1.01, 1.02, 9.0)
    pairs = [
        (made.candidate(order), predicted(time, unsure=0.1))
        for order, time in zip(made.ORDERS, times, strict=False)
    ]
    lines = shown(pairs)
    assert [line.split()[0] for line in lines[2:6]] == ["1~", "2~", "3~", "4"]
    assert lines[-1] == "~ not told apart from the first: 2 of the others"


def test_a_clear_winner_needs_no_remark() -> None:
    pairs = [(made.candidate(o), predicted(t, unsure=0.01)) for o, t in (("jli", 1), ("ijl", 9))]
    assert not [line for line in shown(pairs) if line.startswith("~")]


def test_builds_are_named_where_they_differ() -> None:
    plain = made.candidate("jli")
    fast = replace(plain, build=Build(compiler="clang", flags=("-Ofast",)))
    usual = " ".join((plain.build.compiler, *plain.build.flags))
    lines = shown([(plain, predicted(1.0)), (fast, predicted(2.0))])
    assert f"{plain.label}:{plain.identity[:4]} ({usual})" in lines[2]
    assert f"{fast.label}:{fast.identity[:4]} (clang -Ofast)" in lines[3]
    assert "clang" not in "\n".join(shown([(fast, predicted(2.0))]))


def test_illegal_candidates_of_the_problem_are_counted() -> None:
    of = [(made.candidate(), predicted(1.0))]
    assert shown(of, illegal=1)[0].endswith("(1 illegal one: autotune variants --illegal)")
    assert shown(of, illegal=6)[0].endswith("(6 illegal ones: autotune variants --illegal)")
    other = [(made.candidate(size=512), predicted(1.0))]
    assert "illegal" not in shown(other, illegal=6)[0]


def test_problems_are_blocks() -> None:
    pairs = [(made.candidate(size=size), predicted(1.0)) for size in (256, 512)]
    heads = [line for line in shown(pairs) if "candidate on host" in line]
    assert [head.partition(":")[0] for head in heads] == ["heat2d-N256", "heat2d-N512"]
    assert "" in shown(pairs)


# --- predict ------------------------------------------------------------------------------------


def test_predictions_have_their_parts_by_kind() -> None:
    candidate = made.candidate()
    assert predictions(ranked([(candidate, predicted(0.002))])).splitlines() == [
        "heat2d-N256, engine reuse",
        f"{'candidate':{len(candidate.label)}}  predicted  interval"
        "                   MEM     sweep",
        f"{candidate.label}  2.000 ms   [1.600 ms, 2.400 ms]  1.000 ms  2.000 ms",
    ]


def test_a_part_that_a_candidate_does_not_have_is_a_dash() -> None:
    bare = replace(predicted(0.001), parts=predicted(0.001).parts[:2])
    pairs = [(made.candidate("jli"), predicted(0.002)), (made.candidate("ijl"), bare)]
    lines = predictions(ranked(pairs)).splitlines()
    assert lines[2].split()[-3:] == ["-", "1.000", "ms"]


def test_a_formula_stands_below_its_candidates() -> None:
    formula = ecm({4.0: predicted(0.004)})
    text = formulas([CandidateFormula(candidates=("a@x", "b@x"), formula=formula)] * 2)
    assert text.splitlines() == ["a@x, b@x", f"  {formula}", "", "a@x, b@x", f"  {formula}"]
