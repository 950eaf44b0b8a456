"""Evaluation: one run per statistic, a winner that could have lost, honest speed-ups."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace

import fabricated as fake
import pytest

from autotune.api.study_result import StudyResult
from autotune.commands.tune.study_run import TunedStudy
from autotune.domain.problem_facts import ProblemFacts, labels
from autotune.files import codec
from autotune.files.store import Store, StudyOrigin
from autotune.files.store.records import CUT, LOST, CutSearch, ProblemSpace
from autotune.results.documents import study_document
from autotune.results.evaluate import study_evaluation
from autotune.results.evaluate.study_evaluation import Speedup
from autotune.results.report import study_table, winner_decision, words
from autotune.statistics.estimators import NoiseFloor
from autotune.statistics.residual_scales import Residual


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "results.sqlite") as opened:
        yield opened


PADS = {"a": 1, "b": 2, "c": 3, "d": 4, "serial": 5}


def one(name: str) -> fake.Candidate:
    return fake.candidate(pad=PADS[name], threads=1 if name == "serial" else 2)


def begin(store, **predicted: float | None) -> None:
    store.begin_study("study", StudyOrigin(config="c", setup_text=""))
    everyone = [one(name) for name in predicted]
    store.add_candidates("study", everyone, baselines=[one("a").identity])
    pairs = [
        (one(name), fake.prediction(seconds, reason="-")) for name, seconds in predicted.items()
    ]
    store.add_predictions("study", fake.ranked(pairs))


def run(store, stage: str | None = None, **times: list[float]) -> str:
    """A run: each candidate's time in each round, three equal samples; 0 is no launch."""
    number = store.begin_run("study", fake.facts())
    staged = {"conditions": {"threads": 2, "stage": stage}} if stage else {}
    for name, rounds in times.items():
        for launch, seconds in enumerate(rounds):
            for place in range(3 if seconds else 0):
                sample = fake.sample(seconds, launch=launch, round=launch, **staged)
                store.add_sample(number, one(name).identity, place, sample)
        store.add_outcome(number, one(name).identity, "ok")
    return number


def result(store) -> study_evaluation.ProblemEvaluation:
    (problem,) = study_evaluation.evaluate(store.load_study("study")).problems
    return problem


def space(candidates: int) -> ProblemSpace:
    member = one("a")
    return ProblemSpace(
        problem=member.problem.key,
        candidates=candidates,
        predicted=candidates,
        layouts=(member.layout,),
        builds=(member.build,),
        parameters={"pad": (1, 2, 3, 4)},
    )


def test_a_candidate_that_is_no_longer_legal_counts_nowhere(store):
    begin(store, a=4.0, b=2.0, c=1.0)
    run(store, a=[4.0] * 4, b=[1.0] * 4, c=[2.0] * 4)
    entries = fake.ranked([(one(name), fake.prediction()) for name in "ac"])
    store.add_space("study", [space(2)], entries[:1])
    store.add_predictions("study", entries)
    store.mark_lost("study", [one("b").identity])
    after = result(store)
    (lost,) = after.lost
    assert (lost.candidate.identity, lost.note, lost.rank) == (one("b").identity, LOST, None)
    assert lost.measured == pytest.approx(1.0)
    assert not lost.compared
    assert after.best.candidate.identity == one("c").identity
    assert (after.compared, after.speedup.value) == (2, pytest.approx(2.0))
    row = study_document.problem_row(after)
    assert (row.measured, row.tried, row.candidates) == ("2 of 2", 2, 2)
    assert row.lost == (lost.candidate.id,)
    assert "is no longer legal: " in words.convergence(after)
    assert "of 2 of 2 candidates" in study_table.problem(after)


def test_more_tried_candidates_than_a_space_has_are_told(store):
    """As in a study that an earlier version continued."""
    begin(store, a=4.0, b=2.0, c=1.0)
    run(store, a=[4.0] * 4, b=[1.0] * 4, c=[2.0] * 4)
    store.add_space("study", [space(2)], [])
    after = result(store)
    assert (after.lost, after.surplus) == ((), 1)
    row = study_document.problem_row(after)
    assert (row.measured, row.tried, row.candidates) == ("up to 2 of 2", 2, 2)
    told = "up to 2 of 2 candidates were tried, 0 failed. Of the candidates that were tried, at"
    told += " least 1 is no longer legal; autotune tune --resume says which."
    assert words.convergence(after) == told
    store.add_space("study", [replace(space(2), exact=False)], [])
    assert words.convergence(result(store)) == "3 of more than 2 candidates were tried, 0 failed."


def test_predicted_against_measured(store):
    begin(store, a=4.0, b=2.0, c=1.0, d=3.0)
    number = run(store, a=[4.0] * 4, b=[1.0] * 4, c=[2.0] * 4)
    found = result(store)
    assert [row.candidate.identity for row in found.rows] == [one(name).identity for name in "cbda"]
    assert [row.rank for row in found.rows] == [1, 2, 3, 4]
    assert found.run == number
    assert found.best.candidate.identity == one("b").identity
    assert found.compared == 3
    assert found.best.deviation == pytest.approx(1.0)
    assert found.rows[2].status is None
    assert found.rows[2].deviation is None
    assert found.speedup.value == pytest.approx(4.0)
    low, high = found.speedup.interval
    assert 3.7 < low < 4.0 < high < 4.3
    assert found.speedup.crossed == pytest.approx(4.0)
    assert found.contenders == (found.best,)
    assert [top.k for top in found.losses] == [1, 3, 5]
    assert [top.loss for top in found.losses] == pytest.approx([1.0, 0.0, 0.0])
    assert found.noise_floor.maximum == 0.0
    assert found.rank_correlation == pytest.approx(1 / 3)
    assert found.ordered_pairs == pytest.approx(2 / 3)
    assert found.evaluated[0] == found.best


def test_of_two_that_are_not_told_apart_the_baseline_is_chosen(store):
    """Each of two equal candidates is lucky once: choosing by luck would claim a speed-up of 2."""
    begin(store, a=1.0, b=1.0)
    run(store, a=[1.0, 0.5, 1.0, 1.0], b=[1.0, 1.0, 1.0, 0.5])
    found = result(store)
    assert len(found.contenders) == 2
    assert found.best is found.baseline
    assert found.speedup.value == 1.0
    assert "it is the baseline" in words.undecided(found)
    assert words.undecided(found).endswith(" % among the measured ones")


def test_a_baseline_that_alone_was_measured_decides_nothing(store):
    begin(store, a=1.0, b=0.5, c=0.7)
    run(store, a=[1.0, 1.0, 1.0])
    study = store.load_study("study")
    space = replace(study.space(study.candidates[0].problem.key), candidates=3)
    study = replace(study, spaces=(space,))
    evaluated = study_evaluation.evaluate(study)
    (found,) = evaluated.problems
    assert found.unopposed
    assert not found.decided
    assert found.speedup is None
    alone = "only 1 of 3 candidates was measured, the baseline alone"
    for text in (
        "\n".join(words.sentences_of(found)),
        winner_decision.decision(found, "c", "x").sure,
        str(StudyResult(TunedStudy(record=study, evaluation=evaluated))),
    ):
        assert alone in text
        assert "1.00x" not in text
    decision = winner_decision.decision(found, "c", "x")
    assert decision.state == "open"
    assert "--budget-seconds" in decision.advice
    assert not study_document.problem_row(found).decided


def test_lines_of_a_program_are_those_of_the_terminal(store):
    begin(store, a=1.0, b=0.5)
    run(store, a=[1.0, 1.0, 1.0], b=[0.5, 0.5, 0.5])
    row = result(store).best
    unstepped = replace(row.candidate.problem, ivp="", grid=())
    row = replace(row, candidate=replace(row.candidate, problem=unstepped))
    used = winner_decision.use(row, "c", ("make fast", "./fast"))
    assert [line.line for line in used.lines][-2:] == ["make fast", "./fast"]
    assert all(line.words != "build line" for line in used.lines)


def test_a_baseline_that_was_dropped_early_still_gives_a_speedup(store):
    """With one round of four it cannot win; the winner is compared with the round that it has."""
    begin(store, a=6.0, b=1.0, c=1.1)
    run(store, "first", a=[6.0], b=[1.0, 1.01, 0.99, 1.0], c=[1.1] * 4)
    found = result(store)
    assert found.baseline.candidate.identity == one("a").identity
    assert found.speedup.value == pytest.approx(6.0, rel=0.02)
    low, high = found.speedup.interval
    assert low < 6.0 < high
    assert found.speedup.crossed is None


def test_the_speedup_is_the_ratio_of_the_two_shown_times(store):
    begin(store, a=2.0, b=1.0)
    run(store, a=[2.0, 2.2, 1.9, 2.1], b=[1.0, 1.0, 1.1, 1.0])
    found = result(store)
    assert found.speedup.value == found.baseline.measured / found.best.measured
    low, high = found.speedup.interval
    assert low <= found.speedup.value <= high
    assert "where each round is scored with the winner of the others" in words.speedup(found)


def test_the_fastest_with_one_thread_stands_beside_a_winner_with_more(store):
    begin(store, a=2.0, b=1.0, serial=1.5)
    run(store, a=[2.0, 2.2, 1.9, 2.1], b=[1.0, 1.0, 1.1, 1.0], serial=[1.5, 1.6, 1.5, 1.5])
    found = result(store)
    assert found.serial.candidate.identity == one("serial").identity
    assert found.serial_speedup.value == found.serial.measured / found.best.measured
    row = study_document.problem_row(found)
    assert (row.serial, row.serial_speedup) == (one("serial").id, found.serial_speedup.value)
    text = "\n".join(words.sentences_of(found))
    assert "With one thread jli-pad5@heat2d-N256-T1 is the best of 1 measured: 1.5" in text
    assert re.search(r"the winner, 2 threads, is faster: 1\.[45]\dx \(1.* to 1.*\)\.$", text, re.M)
    assert "with one thread" in winner_decision.decision(found, "c", "why").sure.lower()


def test_a_winner_with_one_thread_has_no_other_beside_it(store):
    begin(store, a=2.0, b=1.6, serial=1.0)
    run(store, a=[2.0, 2.2, 1.9, 2.1], b=[1.6] * 4, serial=[1.0, 1.0, 1.1, 1.0])
    found = result(store)
    assert (found.serial, found.serial_speedup, words.serial(found)) == (None, None, "")


def test_a_floor_of_zero_is_no_figure_beside_what_is_undecided(store):
    """Both halves of the rounds choose a, and b may be as fast."""
    begin(store, a=1.0, b=1.0)
    run(store, a=[1.0, 1.2, 1.0, 1.2], b=[1.2, 1.1, 1.2, 1.1])
    found = result(store)
    assert found.noise_floor.maximum == 0.0
    width = found.contenders[1].measured / found.contenders[0].measured - 1
    assert words.floor(found) == (
        "noise floor unknown: both halves of the rounds choose the same candidate, but that may be"
        " chance;"
        f" the candidates that may be the fastest lie within {100 * width:.1f} %"
    )
    assert f"(within {100 * width:.1f} %)" in words.undecided(found)
    sure = replace(found, regret=0.0)
    assert "expected regret of below 0.1 %" in words.undecided(sure)
    assert "autotune noise CONFIG says what would tell them apart." in "\n".join(
        words.sentences_of(found)
    )


def test_a_decided_floor_of_zero_is_said_in_words(store):
    begin(store, a=4.0, b=2.0)
    run(store, a=[4.0] * 4, b=[1.0] * 4)
    found = result(store)
    assert words.floor(found).endswith("both halves of the rounds choose the same candidate")
    assert words.caution(found) == ""


@pytest.mark.parametrize(
    ("gain", "spread", "text"),
    [
        (Speedup(value=1.05, interval=(0.97, 1.1), run="r"), 0.0, "its interval holds 1.00x"),
        (Speedup(value=1.0, interval=None, run="r"), 0.0, "no speed-up in the rounds"),
        (Speedup(value=1.05, interval=(1.01, 1.1), run="r"), 0.08, "noise floor (8.0 %)"),
    ],
)
def test_a_caution_says_why_a_gain_is_not_sure(store, gain, spread, text):
    begin(store, a=4.0, b=2.0)
    run(store, a=[4.0] * 4, b=[1.0] * 4)
    found = replace(result(store), speedup=gain, noise_floor=NoiseFloor(spread / 2, spread))
    assert text in words.caution(found)
    assert "0.0 %" not in words.caution(found)


def test_a_baseline_that_failed_is_told(store):
    begin(store, a=1.0, b=1.0)
    number = run(store, b=[1.0] * 4)
    store.add_outcome(number, one("a").identity, "crashed", "exit code 3")
    found = result(store)
    assert found.best.candidate.identity == one("b").identity
    assert words.speedup(found) == "none, for the baseline has no time: crashed"
    assert "no baseline" in words.caution(found)


def test_runs_are_not_mixed(store):
    """After a resume the machine is twice as slow; the incumbent was measured again."""
    begin(store, a=4.0, b=2.0, c=1.0)
    run(store, a=[4.0] * 3, b=[2.0] * 3)
    second = run(store, b=[4.0] * 3, c=[3.0] * 3)
    found = result(store)
    assert found.run == second
    assert found.best.candidate.identity == one("c").identity
    by_pad = {row.candidate.parameters["pad"]: row for row in found.rows}
    assert by_pad[2].measured == pytest.approx(4.0)
    assert by_pad[1].measured == pytest.approx(4.0)
    assert not by_pad[1].compared
    assert "not compared" in by_pad[1].note
    assert found.compared == 2
    assert found.speedup is None  # no run measured c and the baseline
    assert "(measured: 2 of 3 in the run that decides, 1 more in others" in words.losses(found)
    assert "time per step of 3 of 3 candidates" in study_table.problem(found)


def test_a_time_of_another_run_is_judged_beside_the_others_of_that_run(store):
    """All processes waited before they printed their times, which are as they are: the others say
    so, the single launch of one candidate does not.
    """
    begin(store, a=4.0, b=2.0, c=1.0)
    number = store.begin_run("study", fake.facts())
    for name, waits in {"a": [2.8, 1.5, 0.7] * 3, "b": [0.7, 2.8, 1.5] * 3, "c": [2.8]}.items():
        for launch, lost in enumerate(waits):
            seconds = 3.0 if name == "c" else 2.0
            life = {"cpu_s": 3.2 * seconds, "waited_s": lost * seconds, "wall_s": 3.2 * seconds}
            accounts = {**life, "part_of_run": 0.31, "threads": 1}
            for place in range(3):
                sample = fake.sample(seconds, launch=launch, round=launch, conditions=accounts)
                disturbed = replace(sample, busy=max(0.1, 1 - lost / 3.2), undisturbed=False)
                store.add_sample(number, one(name).identity, place, disturbed)
        store.add_outcome(number, one(name).identity, "ok")
    run(store, a=[4.0] * 3, b=[2.0] * 3)
    found = result(store)
    by_pad = {row.candidate.parameters["pad"]: row for row in found.rows}
    assert not by_pad[3].compared
    assert by_pad[3].measured == pytest.approx(3.0, rel=0.05)


def test_a_winner_above_faster_rows_says_why(store):
    begin(store, a=4.0, b=2.0, c=1.0)
    run(store, a=[4.0] * 3, b=[2.0] * 3)
    assert words.above_faster(result(store)) == ""
    run(store, b=[8.0] * 3, c=[6.0] * 3)
    assert (
        "* is the winner, above 1 row with better times: 1 of other runs or of too few rounds,"
        " which do not compare"
    ) in study_table.problem(result(store))


def test_one_that_is_chosen_while_it_is_undecided_is_not_called_the_winner(store):
    begin(store, a=1.0, b=1.0, serial=2.0)
    near = {"a": [1.0, 1.2, 1.05, 1.0, 1.1, 1.2], "b": [0.995, 1.194, 1.045, 1.0, 1.09, 1.2]}
    run(store, **near, serial=[2.0, 2.4, 2.1, 2.0, 2.2, 2.4])
    above = words.above_faster(result(store))
    assert above == "* is chosen, above 1 row with better times: 1 not told apart from it"
    assert "; the chosen one, 2 threads, is faster: 2." in words.serial(result(store))


def ended_by_budget(store, promise: float | None, **times: list[float]) -> str:
    """A run that its time budget ended after it had built for 10 s and run for 20 s."""
    number = run(store, **times)
    key = one("a").problem.key
    ended = CutSearch(problem=key, why="the time is used up", promise=promise)
    store.add_conditions(number, {CUT: codec.dump((ended,))})
    store.end_run(number, state="budget", timings={"build": 10.0, "run": 20.0, "predict": 9.0})
    return number


def test_a_search_that_a_budget_ended_says_what_is_left(store):
    begin(store, a=1.0, b=1.0)
    store.add_space("study", [space(480)], [])
    ended_by_budget(store, 0.048, a=[1.0] * 4, b=[1.1] * 4)
    problem = result(store)
    told = (
        "the time is used up after 2 of 480 candidates: untried ones still promise about 4.8 % by"
        " the last model; some 48 more, about 12 min, are usually enough to come within 5 % of the"
        " best; autotune tune --resume with a larger budget goes on"
    )
    assert words.cut_short(problem) == told
    assert f"  T{told[1:]}." in words.sentences_of(problem)
    assert f"T{told[1:]}." in winner_decision.decision(problem, "", "").sure
    row = study_document.problem_row(problem).cut
    assert (row.promise, row.further, row.seconds) == (0.048, 48, pytest.approx(720.0))


def test_what_is_not_known_of_a_search_that_a_budget_ended_is_not_said(store):
    """As in studies of earlier versions, which stored no more than that a budget ended a run."""
    begin(store, a=1.0, b=1.0)
    store.add_space("study", [space(9)], [])
    store.end_run(run(store, a=[1.0] * 4, b=[1.1] * 4), state="budget")
    assert words.cut_short(result(store)) == (
        "the budget is used up after 2 of 9 candidates: what untried ones promise is not known;"
        " some 7 more are usually enough to come within 5 % of the best; autotune tune --resume"
        " with a larger budget goes on"
    )
    ended_by_budget(store, 0.002, a=[1.0] * 4, b=[1.1] * 4)
    assert words.cut_short(result(store)) == (
        "the time is used up after 2 of 9 candidates: untried ones promise 0.2 % by the last"
        " model, too little to search on"
    )


def test_a_search_that_ended_by_itself_says_nothing_of_a_budget(store):
    begin(store, a=1.0, b=1.0)
    store.add_space("study", [space(9)], [])
    ended_by_budget(store, 0.1, a=[1.0] * 4, b=[1.1] * 4)
    run(store, a=[1.0] * 4, b=[1.1] * 4)
    assert words.cut_short(result(store)) == "", "the last run was ended by none"
    store.add_space("study", [space(2)], [])
    ended_by_budget(store, 0.1, a=[1.0] * 4, b=[1.1] * 4)
    assert words.cut_short(result(store)) == "", "all were tried"


def test_winner_and_baseline_of_two_builds_are_said_to_be(store):
    begin(store, a=4.0, b=2.0)
    run(store, a=[4.0] * 3, b=[2.0] * 3)
    found = result(store)
    assert words.speedup(found).startswith("2.00x (1.")
    other = replace(found.best.candidate.build, flags=("-O2",))
    best = replace(found.best, candidate=replace(found.best.candidate, build=other))
    said = words.speedup(replace(found, best=best))
    before, now = found.baseline.candidate.build.words, other.words
    assert said.startswith(f"2.00x ({now} against {before}: the build is part of it) (1.")
    assert words.losses(found).endswith("; rank correlation (Kendall's tau-b) 1.00")


def test_other_runs_of_the_winner_say_how_far_an_interval_is_from_the_next_day(store):
    begin(store, a=4.0, b=2.0)
    run(store, a=[4.0] * 3, b=[2.0] * 3)
    said = "\n".join(words.sentences_of(result(store)))
    assert "other run" not in said
    run(store, a=[5.0] * 3, b=[2.5] * 3)
    found = result(store)
    assert found.other_runs == (pytest.approx(2.0),)
    said = "\n".join(words.sentences_of(found, "a b.yaml"))
    assert "In 1 other run of this study it had 2.000 s: intervals are of one run." in said
    run(store, a=[8.0] * 3, b=[4.0] * 3)
    assert "in 2 other runs of this study it had 2.000 s to 2.500 s:" in words.in_other_runs(
        result(store)
    )


def test_the_config_is_named_where_candidates_are_not_told_apart(store):
    begin(store, a=1.0, b=1.0)
    number = run(store, a=[1.0, 1.2, 1.0, 1.2], b=[1.2, 1.1, 1.2, 1.1])
    store.add_conditions(number, {"config": "a b/quick.yaml"})
    study = study_evaluation.evaluate(store.load_study("study"))
    advice = "autotune noise 'a b/quick.yaml' says what would tell them apart."
    assert advice in study_table.study(study)
    decision = winner_decision.decision(study.problems[0], study.study.file, "x")
    assert advice in decision.advice


@pytest.mark.parametrize("candidates", [2, 4, 5])
def test_few_measured_candidates_do_not_judge_the_predictions(store, candidates):
    names = dict(zip(PADS, range(1, candidates + 1), strict=False))
    begin(store, **names)
    run(store, **{name: [float(seconds)] * 4 for name, seconds in names.items()})
    said = words.losses(result(store))
    assert said.startswith("too few were measured to judge them; top 1 0.0 %") == (candidates < 5)
    assert f"(measured: {candidates} of {candidates}; " in said


def test_where_the_model_is_wrong_names_a_parameter_as_the_config_does():
    wrong = Residual(
        parameter="reg", value=True, mean=0.3, interval=None, candidates=8, excess=math.log(1.3),
        chance=0.0, clear=True,
    )  # fmt: skip
    said = words.errors(SimpleNamespace(residuals=(wrong,), compared=16))
    assert said == "reg true takes 1.30 times what the others suggest (8 candidates)."


def test_a_smaller_run_without_the_winner_does_not_replace_it(store):
    begin(store, a=4.0, b=2.0, c=1.0)
    first = run(store, a=[4.0] * 3, b=[2.0] * 3)
    run(store, c=[1.0] * 3)
    found = result(store)
    assert found.run == first
    assert found.best.candidate.identity == one("b").identity


def test_a_larger_run_without_the_winner_replaces_it(store):
    begin(store, a=4.0, b=2.0, c=1.0)
    run(store, b=[2.0] * 3)
    second = run(store, a=[4.0] * 3, c=[5.0] * 3)
    found = result(store)
    assert (found.run, found.best.candidate.identity) == (second, one("a").identity)
    assert found.speedup.value == 1.0
    assert "baseline" in found.speedup.note


def test_too_few_samples_are_not_compared(store):
    begin(store, a=4.0, b=2.0)
    run(store, a=[4.0] * 4, b=[2.0, 0, 0, 0])
    found = result(store)
    assert found.best.candidate.identity == one("a").identity
    assert found.rows[0].measured == 2.0
    assert found.rows[0].note == "too few samples to compare"


def test_samples_under_changed_conditions_make_no_number(store):
    begin(store, a=4.0)
    number = store.begin_run("study", fake.facts())
    for launch, threads in enumerate((1, 2)):
        sample = fake.sample(launch=launch, conditions={"threads": threads})
        store.add_sample(number, one("a").identity, 0, sample)
    found = result(store)
    assert found.best is None
    assert found.rows[0].measured is None
    assert "threads" in found.rows[0].note


def test_nothing_measured(store):
    begin(store, a=None, b=2.0)
    found = result(store)
    assert (found.run, found.best, found.speedup, found.losses) == (None, None, None, ())
    assert (found.noise_floor, found.rank_correlation, found.compared) == (None, None, 0)
    assert found.rows[-1].rank is None
    assert found.baseline is found.rows[-1]


def test_only_failures(store):
    begin(store, a=1.0)
    number = store.begin_run("study", fake.facts())
    store.add_outcome(number, one("a").identity, "crashed", "signal 11")
    found = result(store)
    assert found.best is None
    assert found.failures[0].measurement.detail == "signal 11"
    assert found.failures[0].status == "crashed"


def test_engines_are_not_mixed(store):
    begin(store, a=4.0, b=2.0)
    store.add_predictions(
        "study", fake.ranked([(one("a"), fake.prediction(9.0, engine="kerncraft"))])
    )
    study = store.load_study("study")
    (problem,) = study_evaluation.evaluate(study, "reuse").problems
    assert [row.predicted for row in problem.rows] == [2.0, 4.0]
    (problem,) = study_evaluation.evaluate(study, "kerncraft").problems
    assert [row.predicted for row in problem.rows] == [9.0, None]


def test_whole_study(store):
    fake.fill(store)
    found = study_evaluation.evaluate(store.load_study("quick"))
    assert [p.label for p in found.problems] == ["heat2d-N256", "heat2d-N2048"]
    for problem in found.problems:
        assert len(problem.rows) == 12
        assert problem.baseline.candidate.baseline
        assert problem.best.interval[0] <= problem.best.measured <= problem.best.interval[1]
        assert {row.status for row in problem.failures} == {"build-failed", "timed-out"}
        assert problem.noise_floor.maximum < 0.2
        assert problem.speedup.value >= 0.95


def test_problems_of_one_label_are_told_apart() -> None:
    def facts(label: str, key: str) -> ProblemFacts:
        return ProblemFacts(label=label, title="", components=1, key=key, family="program")

    same = [facts("p-a_b", "d1 in=a/b"), facts("q", "d2"), facts("p-a_b", "d1 in=a b")]
    assert labels(same) == ["p-a_b-d1-1", "q", "p-a_b-d1-2"]
    assert labels([*same[:2], facts("q", "d3")]) == ["p-a_b", "q-d2", "q-d3"]


def test_a_candidate_that_is_hardly_told_apart_but_far_slower_is_not_chosen(store):
    """Noise hides who wins; all differ from the baseline in as much."""
    begin(store, a=1.0, b=1.0, c=1.0)
    run(store, a=[9.0] * 3, b=[0.5, 2.0, 1.0], c=[0.7, 2.8, 1.4])
    problem = result(store)
    assert len(problem.contenders) == 2
    assert problem.best.candidate.identity == one("b").identity
    assert " is chosen because it was the fastest, with an expected" in words.undecided(problem)


def test_one_of_few_rounds_may_be_faster_than_the_chosen_one(store):
    begin(store, a=1.0, b=1.0, c=1.0)
    slow = [2.0, 2.1, 2.05, 2.0, 2.1, 2.05, 2.0, 2.1]
    run(store, "first", a=slow, b=[t / 2 for t in slow], c=[0.9, 0.95])
    problem = result(store)
    assert problem.best.candidate.identity == one("b").identity
    assert one("c").identity in {row.candidate.identity for row in problem.contenders}
    words_of_it = words.undecided(problem)
    assert "is chosen because it was the fastest of those that were measured in" in words_of_it


def test_of_those_not_told_apart_the_one_of_least_expected_regret_is_chosen(store):
    """The baseline may be as fast, but is expected to lose some per cent."""
    begin(store, a=1.0, b=1.0)
    run(store, a=[1.0, 1.2, 1.05, 1.0, 1.1, 1.2], b=[1.0, 1.0, 1.0, 1.05, 1.0, 1.05])
    problem = result(store)
    assert len(problem.contenders) == 2
    assert problem.best is not problem.baseline
    assert 0 < problem.regret < 0.02


def test_of_choices_that_are_expected_to_lose_as_much_the_baseline_is_taken(store):
    begin(store, a=1.0, b=1.0)
    run(store, a=[1.0, 1.2, 1.05, 1.0, 1.1, 1.2], b=[0.995, 1.194, 1.045, 1.0, 1.09, 1.2])
    problem = result(store)
    assert len(problem.contenders) == 2
    assert problem.contenders[0].measured < problem.baseline.measured
    assert problem.best is problem.baseline


def test_a_baseline_that_left_the_finals_as_undecidable_can_be_chosen(store):
    """Further rounds could not tell it from the fastest, so that only the others went on."""
    begin(store, a=1.0, b=1.0, c=1.2)
    fast, slow = [1.0, 1.03, 0.98, 1.02] * 5, [1.2, 1.25, 1.17, 1.22] * 5
    run(store, "final", a=[time * 1.004 for time in fast[:5]], b=fast, c=slow)
    problem = result(store)
    assert problem.contenders[0] is not problem.baseline
    assert problem.best is problem.baseline
