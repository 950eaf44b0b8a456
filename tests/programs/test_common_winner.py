"""One winner over several inputs: geometric mean, worst, weights."""

from pathlib import Path

import own_programs as own
import pytest

from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow as tune_flow
from autotune.files import codec
from autotune.results.documents.study_document import study as document_of
from autotune.results.evaluate.common_winner import (
    CommonCandidate,
    CommonWinner,
    common_winner,
)
from autotune.results.report.study_table import study as table_of

PROGRAM = """\
schema: autotune.program/1
title: Rates of three modes with two inputs
sources: [tiny.py]
run: ["{python}", "{source folder}/tiny.py", "{mode}", "{input}"]
arguments: {input: a}
parameters: {mode: [x, y, z]}
metrics: {rate: {pattern: "rate (.*)", unit: it/s, better: more}}
objective: rate
"""
SCRIPT = """\
import sys
rates = {"xa": 100, "ya": 90, "za": 10, "xb": 10, "yb": 80, "zb": 100}
print("rate", rates[sys.argv[1] + sys.argv[2]])
"""
CONFIG = own.CONFIG.replace("builds: [{compiler: gcc, flags: [-O1]}]\n", "").replace(
    "[{arguments: {n: 500}}]", "[{arguments: {input: a}}, {arguments: {input: b}}]"
)


def tuned(folder: Path, search: str, *, exhaustive: bool = True) -> tune_flow.TunedStudy:
    path = own.put(folder, PROGRAM, CONFIG + f"search: {{{search}}}\n", {"tiny.py": SCRIPT})
    options = tune_flow.StudyOptions(exhaustive=exhaustive)
    return tune_flow.tune(load(path), options, str(folder / "store.sqlite"), own.quiet)


@pytest.mark.parametrize(
    ("search", "best", "score"),
    [
        ("winner: geometric mean", "y", (10 / 9 * 1.25) ** 0.5),
        ("winner: worst", "y", 1.25),
        ("winner: geometric mean, weights: [99, 1]", "x", 10**0.01),
    ],
)
def test_the_winner_over_all_may_win_no_problem(
    tmp_path: Path, search: str, best: str, score: float
) -> None:
    made = tuned(tmp_path, search)
    winners = [p.best.candidate.variant for p in made.evaluation.problems if p.best]
    assert winners == ["x", "z"]
    common = common_winner(made.evaluation.study, made.evaluation.problems)
    assert common is not None
    assert common.best.variant == best
    assert common.best.score == pytest.approx(score)
    assert len(common.candidates) == 3
    text = table_of(made.evaluation)
    assert "over all 2 problems: cost over the best of each problem" in text
    assert f"*  {best} 1 thread" in text
    page = tune_flow.write_report(made, tmp_path / "report.html")
    assert "Over all problems: " in page.read_text(encoding="utf-8")
    document = codec.document(document_of(made.evaluation, "autotune.tune/1", ""))
    assert isinstance(document, dict)
    assert document["common"]["candidates"][0]["variant"] == best


def test_the_best_of_one_problem_are_measured_in_the_others(tmp_path: Path) -> None:
    """With one candidate per problem only the finals know what the other problem liked."""
    search = "winner: worst, budget: 2"
    made = tuned(tmp_path, search, exhaustive=False)
    common = common_winner(made.evaluation.study, made.evaluation.problems)
    assert common is not None
    in_all = {candidate.variant for candidate in common.candidates}
    for problem in made.evaluation.problems:
        assert problem.best is not None
        assert problem.best.candidate.variant in in_all


def test_the_baseline_is_chosen_where_it_may_be_the_best() -> None:
    def candidate(variant: str, score: float) -> CommonCandidate:
        return CommonCandidate(
            variant=variant, layout="", compiler="", flags=(), ratios=(score, score), score=score,
            error=0.02, baseline=variant == "x",
        )  # fmt: skip

    ordered = (candidate("y", 1.0), candidate("x", 1.04), candidate("z", 1.3))
    common = CommonWinner(rule="geometric mean", weights=(0.5, 0.5), candidates=ordered)
    assert [rival.variant for rival in common.rivals] == ["x"]
    assert common.best.variant == "x"
    apart = CommonWinner(rule="worst", weights=(0.5, 0.5), candidates=(ordered[0], ordered[2]))
    assert apart.best.variant == "y"
    assert apart.rivals == ()


def test_a_winner_of_each_is_the_default(tmp_path: Path) -> None:
    made = tuned(tmp_path, "patience: 5")
    assert common_winner(made.evaluation.study, made.evaluation.problems) is None
    assert "over all" not in table_of(made.evaluation)


@pytest.mark.parametrize(
    ("search", "words"),
    [
        ("winner: mean", "'each', 'geometric mean' or 'worst'"),
        ("winner: geometric mean, weights: [1, 2, 3]", "3 weights for 2 problems"),
        ("winner: worst, weights: [1, 2]", "weights are for winner: geometric mean"),
        ("winner: geometric mean, weights: [1, 0]", "more than 0"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, search: str, words: str) -> None:
    path = own.put(tmp_path, PROGRAM, CONFIG + f"search: {{{search}}}\n", {"tiny.py": SCRIPT})
    assert words in "\n".join(own.faults(path))
