"""A search whose pool moves through a space that cannot be listed."""

import math
import random
from dataclasses import replace

import pytest
from fabricated import prediction, sample
from program_samples import read, written

from autotune.domain.parameter_domain import FlagSet, ParameterDomain
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Template
from autotune.domain.results import Measurement
from autotune.domain.setup import Searching
from autotune.domain.variant import Candidate, Variant
from autotune.language.constraint import Condition
from autotune.tuning.moving_search import MovingSearch
from autotune.tuning.study_search import study_search
from autotune.workloads.program.program_source import BuiltWay, ProgramSource
from autotune.workloads.program.program_space import sift

NAMES = "abcdef"
FLAGS = {f"f{number}": (f"-f{number}",) for number in range(30)}
FLAGGED = tuple(enumerate(FLAGS))
UNKNOWN = prediction(None, reason="no model")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Six parameters of 30 values each: 7.3e8 candidates."""
    sample_program = read(written(tmp_path_factory.mktemp("program"), ""))
    program = replace(
        sample_program,
        parameters={name: ParameterDomain(values=tuple(range(1, 31))) for name in NAMES},
        baseline=dict.fromkeys(NAMES, 1),
        build=(),
        run=(Template("true"), *(Template(f"{{{name}}}") for name in NAMES), Template("{n}")),
    )
    problem = ProgramProblem(program=program, arguments=dict(program.arguments))

    def variant(values):
        return Variant(
            skeleton=program.name,
            definition=program.definition,
            transformations=(),
            parameters=dict(values),
        )

    drawn = sift(problem, 1)
    example = Candidate(variant=variant(program.baseline), problem=problem)
    way = BuiltWay(example, variant, drawn.space)
    return ProgramSource([way]), [way.candidate(values) for values in drawn.legal[:200]]


def seconds(candidate):
    values = candidate.variant.parameters
    return 1e-3 * (
        1 + sum(0.1 * math.log(values[n] / (2 * k + 3)) ** 2 for k, n in enumerate(NAMES))
    )


def measured(candidate, status="ok"):
    samples = tuple(sample(seconds(candidate), launch=launch) for launch in range(3))
    return Measurement(
        candidate=candidate.identity,
        run="r",
        status=status,
        samples=samples if status == "ok" else (),
    )


def moving(source, predict=None, made=None, hinted=tuple, seed=1):
    candidates = source[1]

    def make(pool, predictions):
        if made is not None:
            made.append(list(pool))
        first = [candidates[0].identity]
        return study_search(pool, predictions, settings=Searching(first=3), first=first, seed=seed)

    given = predict or (lambda pool: [UNKNOWN] * len(pool))
    return MovingSearch(
        make,
        candidates,
        given(candidates),
        sources={candidates[0].problem.key: source[0]},
        predict=given,
        hinted=hinted,
        seed=seed,
    )


def test_what_is_hinted_at_stays_in_every_pool(source):
    made = []
    strangers = source[0].draw(3, random.Random(7))
    search = moving(source, made=made, hinted=lambda: strangers)
    for _ in range(12):
        (proposal,) = search.ask(0)
        search.tell(proposal.candidate, measured(proposal.candidate), 0.001)
    assert len(made) > 2
    for pool in made[1:]:
        assert {c.identity for c in strangers} <= {c.identity for c in pool}


def test_predictions_lead_every_pool_before_anything_good_was_measured(source):
    """All measured ones fail: only predictions say where to look."""
    made = []

    def predict(pool):
        return [prediction(seconds(candidate)) for candidate in pool]

    search = moving(source, predict=predict, made=made)
    for _ in range(24):
        (proposal,) = search.ask(0)
        search.tell(proposal.candidate, measured(proposal.candidate, "crashed"), 0.001)
    best = [min(map(seconds, pool)) for pool in made]
    assert best[-1] < 0.5 * (best[0] + 1e-3)


def test_it_leaves_the_pool_that_it_began_with_and_finds_better(source):
    search = moving(source)
    began = {candidate.identity for candidate in source[1]}
    proposed = []
    for _ in range(45):
        (proposal,) = search.ask(0)
        proposed.append(proposal.candidate)
        assert proposal.prediction == UNKNOWN
        search.tell(proposal.candidate, measured(proposal.candidate), 0.001)
    assert proposed[0] == source[1][0]
    assert len({candidate.identity for candidate in proposed}) == 45
    assert any(candidate.identity not in began for candidate in proposed)
    drawn = [min(map(seconds, source[1][k : k + 45])) for k in range(0, 180, 45)]
    assert min(map(seconds, proposed)) < sorted(drawn)[2]  # better than most draws of as many


def test_what_was_measured_or_runs_stays_in_every_pool(source):
    made = []
    search = moving(source, made=made)
    first = [search.ask(0)[0].candidate for _ in range(2)]
    search.tell(first[0], measured(first[0]), 0.001)
    later = search.ask(0)[0].candidate  # a better one was found: the pool is new
    assert len(made) == 2
    identities = {candidate.identity for candidate in made[-1]}
    assert {candidate.identity for candidate in first} <= identities
    assert later.identity not in {candidate.identity for candidate in first}


def test_failures_are_told_to_the_new_pool_too(source):
    search = moving(source)
    for number in range(12):
        (proposal,) = search.ask(0)
        status = "crashed" if number % 3 else "ok"
        search.tell(proposal.candidate, measured(proposal.candidate, status), 0.001)
    assert len(search.ask(0)) == 1


def test_a_result_from_elsewhere_enters_the_pool(source):
    search = moving(source)
    stranger = source[0].draw(1, random.Random(99))[0]
    search.tell(stranger, measured(stranger), 0.001)
    for _ in range(5):
        assert search.ask(0)[0].candidate != stranger


def test_candidates_that_enter_are_predicted(source):
    asked = []

    def predict(pool):
        asked.extend(pool)
        return [prediction(seconds(candidate)) for candidate in pool]

    search = moving(source, predict=predict)
    for _ in range(15):
        (proposal,) = search.ask(0)
        assert proposal.prediction.seconds == seconds(proposal.candidate)
        search.tell(proposal.candidate, measured(proposal.candidate), 0.001)
    assert len(asked) > len(source[1])


def test_it_ends_only_after_a_pool_around_the_best(source):
    search = moving(source)
    assert search.finished(0) is None


@pytest.fixture(scope="module")
def branched(tmp_path_factory):
    """A branch of 2^30 candidates, and one of two."""
    sample_program = read(written(tmp_path_factory.mktemp("program"), ""))
    parameters = {
        "mode": ParameterDomain(values=("wide", "small")),
        "opts": FlagSet(flags=FLAGS, when=Condition("mode == 'wide'")),
        "x": ParameterDomain(values=(1, 2), when=Condition("mode == 'small'")),
    }
    program = replace(
        sample_program,
        parameters=parameters,
        baseline={"mode": "wide", **dict.fromkeys(FLAGS), "x": None},
        build=(),
        run=(Template("true"), *(Template(f"{{{name}}}") for name in parameters), Template("{n}")),
    )
    problem = ProgramProblem(program=program, arguments=dict(program.arguments))

    def variant(values):
        return Variant(
            skeleton=program.name,
            definition=program.definition,
            transformations=(),
            parameters=dict(values),
            coordinates=program.coordinates(values),
        )

    drawn = sift(problem, 1)
    example = Candidate(variant=variant(program.baseline), problem=problem)
    way = BuiltWay(example, variant, drawn.space)
    return ProgramSource([way]), [way.candidate(values) for values in drawn.legal[:200]]


def branch_seconds(candidate):
    """Least, by a third, in one candidate of the small branch."""
    values = candidate.variant.parameters
    if values["mode"] == "small":
        return 7e-4 if values["x"] == 2 else 1.2e-3
    return 1e-3 * (1 + sum(0.02 * ((values[flag] is None) == (k % 3 > 0)) for k, flag in FLAGGED))


@pytest.mark.parametrize("seed", [1, 2])
def test_an_optimum_in_a_branch_of_few_candidates_is_found(branched, seed):
    source, began = branched
    assert {c.variant.parameters["mode"] for c in source.draw(300, random.Random(seed))} == {"wide"}
    rare = source.draw_rare(50, random.Random(seed))
    assert {c.variant.parameters["x"] for c in rare if c.variant.parameters["x"]} == {1, 2}
    search = moving((source, began), seed=seed)
    best = math.inf
    for _ in range(22):
        (proposal,) = search.ask(0)
        took = branch_seconds(proposal.candidate)
        best = min(best, took)
        outcome = Measurement(
            candidate=proposal.candidate.identity,
            run="",
            status="ok",
            samples=(sample(seconds=took),),
        )
        search.tell(proposal.candidate, outcome, 0.001)
    assert best == 7e-4
