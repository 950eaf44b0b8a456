"""Samplers of Optuna over a space that cannot be listed."""

import random
from dataclasses import replace

import pytest
from fabricated import prediction, sample
from program_samples import read, written

from autotune.domain.parameter_domain import ParameterDomain
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import ProgramConstraint, Template
from autotune.domain.results import Measurement
from autotune.domain.setup import Searching
from autotune.domain.variant import Candidate, Variant
from autotune.language.constraint import Condition
from autotune.tuning.sampled_search import SampledSearch
from autotune.workloads.program.program_source import BuiltWay, ProgramSource
from autotune.workloads.program.program_space import sift

NAMES = "abcd"
UNKNOWN = prediction(None, reason="no model")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Four parameters of 60 values and one of three, a quarter of whose combinations are legal."""
    sample_program = read(written(tmp_path_factory.mktemp("program"), ""))
    parameters = {
        **{name: ParameterDomain(values=tuple(range(1, 61))) for name in NAMES},
        "mode": ParameterDomain(values=("x", "y", "z")),
    }
    program = replace(
        sample_program,
        parameters=parameters,
        constraints=(
            ProgramConstraint(require=Condition("a <= b")),
            ProgramConstraint(require=Condition("c <= d")),
        ),
        baseline={**dict.fromkeys(NAMES, 1), "mode": "x"},
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
        )

    example = Candidate(variant=variant(program.baseline), problem=problem)
    return ProgramSource([BuiltWay(example, variant, sift(problem, 1).space)]), example


def cost(candidate):
    values = candidate.variant.parameters
    off = sum(
        abs(values[name] - target) for name, target in zip(NAMES, (9, 50, 20, 33), strict=True)
    )
    return 1e-3 * (1 + 0.02 * off + (0.0 if values["mode"] == "y" else 0.3))


def searched(source, name, evaluations, seed):
    candidates, example = source
    search = SampledSearch(
        [example],
        sources={example.problem.key: candidates},
        settings=Searching(sampler=name),
        predict=lambda pool: [UNKNOWN] * len(pool),
        listed=None,
        seed=seed,
    )
    tried = []
    for number in range(evaluations):
        (proposal,) = search.ask(0)
        tried.append(proposal.candidate)
        failed = number == 3
        outcome = Measurement(
            candidate=proposal.candidate.identity,
            run="",
            status="crashed" if failed else "ok",
            samples=() if failed else (sample(cost(proposal.candidate)),),
        )
        search.tell(proposal.candidate, outcome, 0.01)
    return tried


@pytest.mark.parametrize("name", ["random", "tpe"])
def test_legal_candidates_are_proposed_once_each(source, name):
    tried = searched(source, name, 30, 1)
    assert len({candidate.identity for candidate in tried}) == 30
    for candidate in tried:
        values = candidate.variant.parameters
        assert values["a"] <= values["b"]
        assert values["c"] <= values["d"]


def test_tpe_learns_where_candidates_are_fast(source):
    late, drawn = [], []
    for seed in (1, 2, 3):
        late += [cost(c) for c in searched(source, "tpe", 60, seed)[40:]]
        drawn += [cost(c) for c in source[0].draw(20, random.Random(seed))]
    assert sum(late) / len(late) < 0.75 * sum(drawn) / len(drawn)
