"""Which combinations of a program's parameters are legal, and whether a run had its cores."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from program_samples import candidates, read, written

from autotune.domain.parameter_domain import ParameterDomain
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import ProgramConstraint
from autotune.errors import InputError
from autotune.language.constraint import Condition
from autotune.toolchain.child_process import ChildUsage
from autotune.workloads.base import Count
from autotune.workloads.program import program_space
from autotune.workloads.program.measuring.contention import ContentionJudge
from autotune.workloads.program.program_space import check_baseline, sift


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Blocks of 8, 64 and 512 (the baseline: 64), modes fast and safe; n = 512."""
    return read(written(tmp_path_factory.mktemp("program"), ""))


def problem(program, *constraints, **change):
    rules = tuple(
        ProgramConstraint(require=Condition(text), reason=reason)
        for text, reason in (
            rule if isinstance(rule, tuple) else (rule, "") for rule in constraints
        )
    )
    changed = replace(program, constraints=rules, source="p.yaml", places={}, **change)
    return ProgramProblem(program=changed, arguments=dict(program.arguments))


def refusal(call, *arguments):
    with pytest.raises(InputError) as raised:
        call(*arguments)
    return str(raised.value)


# --- combinations -----------------------------------------------------------------------------


def test_without_constraints_every_combination_is_legal_the_baseline_first(program):
    space = sift(problem(program), 1)
    assert list(space.illegal()) == []
    assert space.illegal_count == 0
    assert len(space.legal) == 6
    assert space.legal[0] == {"block": 64, "mode": "fast"}
    assert [v["block"] for v in space.legal[1:]] == [8, 8, 64, 512, 512]


def test_a_combination_is_illegal_by_the_first_constraint_that_it_violates(program):
    space = sift(problem(program, ("block < 512", "too large"), "mode == 'fast' or block > 8"), 1)
    assert [(v["block"], v["mode"], rule.words) for v, rule in space.illegal()] == [
        (8, "safe", "mode == 'fast' or block > 8 does not hold"),
        (512, "fast", "too large"),
        (512, "safe", "too large"),
    ]
    assert len(space.legal) == 3


def test_a_constraint_may_name_arguments_and_threads(program):
    rule = "block * threads <= n / 2"
    assert {v["block"] for v in sift(problem(program, rule), 1).legal} == {8, 64}
    assert {v["block"] for v in sift(problem(program, rule), 8).legal} == {8}


def test_a_forbidden_baseline_is_only_missing_from_the_front(program):
    space = sift(problem(program, "block != 64"), 1)
    assert space.legal[0] == {"block": 8, "mode": "fast"}


@settings(max_examples=20)
@given(
    st.lists(st.sampled_from(["block < 512", "block > 8", "mode == 'fast'", "n > 1"]), max_size=4)
)
def test_legal_and_illegal_are_all_combinations_each_once(program, constraints):
    made = problem(program, *constraints)
    space = sift(made, 1)
    both = [*space.legal, *(values for values, _ in space.illegal())]
    assert len(both) == 6
    assert sorted(map(str, both)) == sorted(map(str, made.program.combinations()))
    for values in space.legal:
        assert all(rule.require.holds({**values, "n": 512}) for rule in made.program.constraints)


def test_constraints_that_leave_nothing_are_counted(program):
    message = refusal(sift, problem(program, "block > 8", "block < 64"), 1)
    assert message == (
        "p.yaml: the constraints leave nothing of 6 combinations with n = 512: 'block > 8' and"
        " 'block < 64' contradict one another;"
        " expected at least one combination that fulfils them all"
        " ('block > 8' leaves out 2; 'block < 64' leaves out 4)"
    )


def test_only_the_constraints_that_contradict_one_another_are_named(program):
    message = refusal(sift, problem(program, "block < 600", "block > 8", "n > 2", "block < 9"), 1)
    assert ": 'block > 8' and 'block < 9' contradict one another;" in message


def test_a_constraint_that_alone_leaves_nothing_is_named(program):
    message = refusal(sift, problem(program, "threads > 1"), 1)
    assert "with n = 512, threads = 1: 'threads > 1' is never true" in message


def test_a_constraint_that_says_nothing_is_an_error_with_the_values(program):
    message = refusal(sift, problem(program, "mode + 1 < 3"), 1)
    assert message.startswith("p.yaml: a constraint says nothing about mode = 'fast': ")
    assert "expected true or false for every combination" in message


def test_of_too_many_combinations_some_are_drawn_the_baseline_first(program):
    wide = {name: ParameterDomain(values=tuple(range(1000))) for name in ("block", "mode")}
    baseline = dict.fromkeys(wide, 0)
    space = sift(problem(program, parameters=wide, baseline=baseline), 1)
    assert space.legal[0] == baseline
    assert space.space.count == Count(1_000_000)
    assert 0.99 * program_space.DRAWN < len(space.legal) <= program_space.DRAWN + 1


def test_a_baseline_that_a_constraint_forbids_is_an_error(program):
    check_baseline(problem(program, "block < 512"), 1)
    message = refusal(check_baseline, problem(program, "n > 1", ("block > 64", "too small")), 1)
    assert message == (
        "p.yaml: the baseline is forbidden with n = 512: too small;"
        " expected values that fulfil the constraint at p.yaml"
    )


# --- contention -------------------------------------------------------------------------------


def usage(wall=1.0, cpu=1.0, waited=0.0, voluntary=0):
    return ChildUsage(wall=wall, cpu=cpu, waited=waited, voluntary=voluntary, involuntary=0)


def candidate(program, count=1, **change):
    made = candidates(program, count)[0]
    changed = replace(program, **change)
    return replace(made, problem=replace(made.problem, program=changed))


@pytest.mark.parametrize(
    ("run", "busy"),
    [
        (usage(), 1.0), (usage(waited=0.25), 0.75), (usage(waited=2.0), 0.0),
        (usage(wall=5.0, cpu=1.0, waited=1.0), 0.5), (usage(wall=9.0, waited=1e-9), 1.0),
        (usage(wall=5.0, waited=1.0, voluntary=17), 0.8),
        (usage(wall=5.0, cpu=0.0, waited=0.0), 1.0),
        (usage(cpu=0.5, waited=None), 0.5), (usage(cpu=1.5, waited=None), 1.0),
    ],
)  # fmt: skip
def test_one_thread_was_disturbed_while_it_waited(program, run, busy):
    """Without voluntary switches it was there for as long as it ran and waited; else for its wall
    time."""
    judged = ContentionJudge().busy(candidate(program, threads="one"), run)
    assert judged == pytest.approx(busy)


def test_several_threads_are_judged_by_the_largest_share_of_any_run(program):
    judge, made = ContentionJudge(), candidate(program, 4)
    assert judge.busy(made, usage(cpu=2.0)) == 1.0
    assert judge.busy(made, usage(cpu=1.0)) == 0.5
    assert judge.busy(made, usage(cpu=4.0)) == 1.0
    assert judge.busy(made, usage(cpu=1.0)) == 0.25
    assert judge.busy(made, usage(cpu=4.0, waited=0.5)) == 0.5


def test_candidates_are_judged_apart(program):
    judge = ContentionJudge()
    judge.busy(candidate(program, 4), usage(cpu=4.0))
    assert judge.busy(candidate(program, 2), usage(cpu=1.0)) == 1.0


def test_a_short_run_is_judged_by_its_first_thread_alone(program):
    judge, made = ContentionJudge(), candidate(program, 4)
    judge.busy(made, usage(wall=1.0, cpu=4.0))
    assert judge.busy(made, usage(wall=0.05, cpu=0.01)) == 1.0
    assert judge.busy(made, usage(wall=0.05, cpu=0.01, waited=0.01)) == pytest.approx(0.8)
    assert judge.busy(made, usage(wall=0.05, cpu=0.01, waited=None)) == 1.0


@settings(max_examples=20)
@given(st.lists(st.tuples(st.floats(0.2, 9), st.floats(0, 9), st.floats(0, 9)), max_size=6))
def test_a_share_lies_between_nothing_and_all(program, runs):
    judge, made = ContentionJudge(), candidate(program, 4)
    for wall, cpu, waited in runs:
        assert 0 <= judge.busy(made, usage(wall, cpu, waited)) <= 1


def test_further_runs_are_hopeless_where_all_the_latest_were_disturbed() -> None:
    judge = ContentionJudge()
    for _ in range(12):
        assert not judge.hopeless
        judge.enter(undisturbed=False)
    assert judge.hopeless
    judge.enter(undisturbed=True)
    assert not judge.hopeless
