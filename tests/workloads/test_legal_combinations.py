"""Legal combinations are listed, counted and drawn without a look at all combinations."""

import random
import time
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from program_samples import read, written

from autotune.domain.parameter_domain import FlagSet, ParameterDomain
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import ProgramConstraint, Template
from autotune.domain.variant import Candidate, Variant
from autotune.errors import InputError
from autotune.language.constraint import Condition
from autotune.workloads.base import Count
from autotune.workloads.program.legal_combinations import LISTED, LegalCombinations
from autotune.workloads.program.partial_combination import UndecidedError
from autotune.workloads.program.program_source import BuiltWay, ProgramSource
from autotune.workloads.program.program_space import sift


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return read(written(tmp_path_factory.mktemp("program"), ""))


def program(sample, parameters, *constraints, baseline=None):
    """The sample program with these parameters, all of which its command line names."""
    made = {
        name: ParameterDomain(values=tuple(domain))
        if not isinstance(domain, ParameterDomain | FlagSet)
        else domain
        for name, domain in parameters.items()
    }
    domains = {}
    for name, domain in made.items():
        domains |= (
            dict.fromkeys(domain.flags)
            if isinstance(domain, FlagSet)
            else {name: domain.all_values[0]}
        )
    return replace(
        sample,
        parameters=made,
        constraints=tuple(ProgramConstraint(require=Condition(text)) for text in constraints),
        baseline={**domains, **(baseline or {})},
        build=(),
        run=(Template("true"), *(Template(f"{{{name}}}") for name in made), Template("{n}")),
    )


def space(sample, parameters, *constraints, **options):
    return LegalCombinations(program(sample, parameters, *constraints, **options), {"n": 512})


def flags(count, on):
    names = [f"f{k}" for k in range(count)]
    return dict.fromkeys(names, (0, 1)), f"{' + '.join(names)} <= {on}"


def test_twenty_flags_of_which_two_may_be_on(sample):
    parameters, rule = flags(20, 2)
    found = space(sample, parameters, rule)
    assert found.count == Count(211)
    assert found.product == 1 << 20
    assert all(sum(values.values()) <= 2 for values in found.listed)
    assert len({tuple(values.values()) for values in found.listed}) == 211


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "a * b <= 12",
                "a + c >= 4",
                "b % 2 == 0 or c == 1",
                "a != b",
                "max(a, c) < 6",
                "n > 1",
            ]
        ),
        max_size=4,
        unique=True,
    )
)
def test_the_same_as_looking_at_every_combination_in_the_same_order(sample, constraints):
    parameters = {"a": range(1, 8), "b": (5, 3, 2, 8), "c": range(6)}
    found = space(sample, parameters, *constraints)
    every = [dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())]
    assert list(found.listed) == [values for values in every if found.legal(values)]


def test_parts_that_no_constraint_joins_are_counted_apart(sample):
    parameters = {name: range(1, 101) for name in "abcdefgh"}
    found = space(sample, parameters, "a <= b", "c == d")
    assert found.listed is None
    assert found.count == Count(5050 * 100 * 100**4)
    chance = random.Random(1)
    for _ in range(50):
        values = found.draw(chance)
        assert found.legal(values)
        assert list(values) == list(parameters)


def test_what_is_listed_is_drawn_evenly(sample):
    found = space(sample, {"a": range(4), "b": range(4)}, "a <= b")
    chance = random.Random(3)
    drawn = Counter(tuple(found.draw(chance).values()) for _ in range(5000))
    assert len(drawn) == 10
    assert min(drawn.values()) > 400


def test_a_part_too_large_to_be_listed_is_drawn_almost_evenly(sample):
    """All sums of 24 flags that are at most 12: more than half of 2**24."""
    parameters, _ = flags(24, 12)
    found = space(sample, parameters, f"{' + '.join(f'1.0 * {name}' for name in parameters)} <= 12")
    true = sum(len_ for len_ in (_choose(24, k) for k in range(13)))
    assert found.count == Count(LISTED, exact=False)
    chance = random.Random(5)
    sums = [sum(found.draw(chance).values()) for _ in range(150)]
    expected = sum(k * _choose(24, k) for k in range(13)) / true
    assert abs(sum(sums) / len(sums) - expected) < 0.6
    assert max(sums) <= 12


def _choose(n, k):
    result = 1
    for i in range(k):
        result = result * (n - i) // (i + 1)
    return result


def test_hundreds_of_flags_few_of_them_on(sample):
    names = {f"f{k}": (f"-ffalse-{k}",) for k in range(200)}
    found = space(sample, {"opts": FlagSet(flags=names), "n_b": range(1, 9)}, "opts <= 5")
    chance = random.Random(2)
    values = found.draw(chance)
    assert sum(value is not None for value in values.values()) <= 6
    near = [next(found.neighbours(values, chance)) for _ in range(20)]
    for other in near:
        assert sum(other[name] != values[name] for name in values) == 1
        assert found.legal(other)
    assert found.count == Count(8 * sum(_choose(200, k) for k in range(6)))
    sums = [sum(v is not None for v in found.draw(chance).values()) - 1 for _ in range(50)]
    assert sums.count(5) > 40  # 97 % of them


@pytest.mark.parametrize("on", [3, 250])
def test_five_hundred_terms_are_counted_or_drawn(sample, on):
    parameters, rule = flags(500, on)
    found = space(sample, parameters, rule)
    assert found.count == (
        Count(sum(_choose(500, k) for k in range(4))) if on == 3 else Count(LISTED, exact=False)
    )
    chance = random.Random(1)
    sums = [sum(found.draw(chance).values()) for _ in range(20)]
    assert max(sums) <= on
    assert on - min(sums) < 50


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "a + b + c + d <= 9",
                "a * b + c - d >= 2",
                "a + b - (c + d) == 1 or a == 3",
                "2 * (a + b) <= c * d + 4",
                "a + 1 + (1 if m == 'x' else 0) + b + c + d + a + b + c <= 21",
                "min(a + b, c + d) >= 3",
                "a + b + a * c <= n - 500",
                "a / 2 + b / 2 + c / 2 <= 4.5",
            ]
        ),
        min_size=1,
        max_size=3,
        unique=True,
    )
)
def test_alike_branches_are_counted_once_and_none_is_left_out(sample, constraints):
    parameters = {"a": (1, 2, 3), "m": ("x", "y"), "b": range(4), "c": (4, 2), "d": range(1, 5)}
    found = space(sample, parameters, *constraints)
    every = [dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())]
    legal = [values for values in every if found.legal(values)]
    assert found.count == Count(len(legal))
    chance = random.Random(1)
    if legal:
        assert all(found.draw(chance) in legal for _ in range(20))


def test_a_product_of_many_values_with_few_legal_ones_takes_no_long(sample):
    parameters = {name: range(1, 65) for name in "abcdef"}  # 6.9e10
    began = time.process_time()
    found = space(sample, parameters, "a == b", "b == c", "c * d == 64", "e + f == a", "e <= 3")
    expected = sum(
        1 for a in range(1, 65) for d in range(1, 65) for e in range(1, 4)
        if a * d == 64 and 1 <= a - e <= 64
    )  # fmt: skip
    assert found.count == Count(expected)
    assert time.process_time() - began < 20  # hours, one by one


def test_conditional_parameters_have_values_only_where_their_condition_holds(sample):
    when = ParameterDomain(values=(10, 20), when=Condition("solver == 'gmres'"))
    inner = ParameterDomain(values=("a", "b"), when=Condition("restart == 20"))
    found = space(sample, {"solver": ("cg", "gmres"), "restart": when, "kind": inner})
    assert [tuple(values.values()) for values in found.listed] == [
        ("cg", None, None),
        ("gmres", 10, None),
        ("gmres", 20, "a"),
        ("gmres", 20, "b"),
    ]
    chance = random.Random(0)
    near = {tuple(v.values()) for v in found.neighbours(found.listed[0], chance)}
    assert near
    assert near <= {("gmres", 10, None), ("gmres", 20, "a"), ("gmres", 20, "b")}


def test_a_parameter_that_hangs_on_itself_is_refused(sample):
    first = ParameterDomain(values=(1,), when=Condition("b == 1"))
    second = ParameterDomain(values=(1,), when=Condition("a == 1"))
    with pytest.raises(ValueError, match="whether a has a value depends on its own value"):
        program(sample, {"a": first, "b": second})


def test_a_contradiction_in_a_large_space_names_its_constraint(sample):
    parameters = {name: range(1000) for name in "abcd"}
    made = program(sample, parameters, "a < b", "b + d > 3000", "c > 4")
    problem = ProgramProblem(program=made, arguments=dict(made.arguments))
    with pytest.raises(
        InputError, match=r"leave nothing of 1000000000000 .*'b \+ d > 3000' is never true"
    ):
        sift(problem, 1)


def test_listing_ends_where_there_are_too_many(sample):
    found = space(sample, {"a": range(400), "b": range(400)}, "a != b")
    assert found.listed is None
    assert found.count == Count(LISTED, exact=False)
    assert str(found.count) == "more than 50,000"


def test_hundreds_of_parameters_are_no_deeper_than_calls_go(sample):
    names = {f"f{k}": (f"-ffalse-{k}",) for k in range(1100)}
    found = space(sample, {"opts": FlagSet(flags=names)}, "opts <= 10")
    assert sum(v is not None for v in found.draw(random.Random(1)).values()) <= 10
    assert str(found.count).endswith("e+23")


def test_more_combinations_than_a_float_holds(sample):
    names = {f"f{k}": tuple(f"-ffalse-{k}={v}" for v in range(15)) for k in range(300)}
    found = space(sample, {"opts": FlagSet(flags=names)})
    assert str(found.count) == "1.7e+361"


def test_what_a_constraint_says_nothing_about_is_no_neighbour(sample):
    """Bounds decide before the division by zero is met."""
    found = space(sample, {"x": range(1, 300), "y": range(300)}, "x * n / y >= 0 and y > 0")
    values = found.draw(random.Random(1))
    assert all(near["y"] > 0 for near in found.neighbours({**values, "y": 1}, random.Random(1)))


def test_a_condition_that_is_no_truth_value_is_refused(sample):
    odd = ParameterDomain(values=(1, 2), when=Condition("y"))
    made = program(sample, {"y": (1, 2), "x": odd})
    problem = ProgramProblem(program=made, arguments=dict(made.arguments))
    with pytest.raises(InputError, match="neither true nor false"):
        sift(problem, 1)


def test_a_source_gives_none_of_what_a_constraint_says_nothing_about(sample, monkeypatch):
    """A division by zero so rare that neither a count nor the first draws meet it."""
    names = {name: range(1, 301) for name in "xyz"}
    made = program(sample, names, "n / (x * y * z - 64) > 0")
    problem = ProgramProblem(program=made, arguments=dict(made.arguments))

    def variant(values):
        return Variant(skeleton="s", definition="", transformations=(), parameters=dict(values))

    found = LegalCombinations(made, {"n": 512})
    example = Candidate(variant=variant(made.baseline), problem=problem)
    source = ProgramSource([BuiltWay(example, variant, found)])
    assert not found.count.exact
    turns = iter(range(20))
    usual = LegalCombinations.draw

    def draw(space, chance):
        if next(turns) % 2:
            raise UndecidedError({"x": 1, "y": 1, "z": 64}, ValueError("division by zero"))
        return usual(space, chance)

    monkeypatch.setattr(LegalCombinations, "draw", draw)
    drawn = source.draw(20, random.Random(1))
    assert len(drawn) == 10
    assert all(found.legal(candidate.variant.parameters) for candidate in drawn)


PARTIAL = [
    "1 / a > 0 or b == 2",
    "b == 2 or 1 / a > 0",
    "not (1 / a > 0 and b == 1)",
    "1 / (a + c) > 0 or b == 2",
    "(1 / a if b == 2 else 1) > 0",
    "b in (1 / a, 2)",
    "0 < b < 1 / a",
    "u <= 4 or b == 1",
    "u == null or u <= 4 or 1 / c > 0",
    "c % a == 0 or b >= 1",
    "log2(a) < 1 or c == 1",
    "a + b + c <= 4",
    "1 / a + b + c >= 2 or b == 0",
]
DOMAINS = {"a": (0, 1, 2), "b": (0, 1, 2), "c": (0, 1), "u": (None, 4, 8)}


@settings(max_examples=200, deadline=None)
@given(rules=st.lists(st.sampled_from(PARTIAL), min_size=1, max_size=3, unique=True))
def test_the_walk_has_what_is_legal_where_a_constraint_has_no_value_for_some(sample, rules):
    """What is counted is legal; a combination that no constraint before forbids, and for which one
    has no value, is refused with its values.
    """
    found = space(sample, DOMAINS, *rules)
    legal = [values for values in map(dict, found.program.combinations()) if found.legal(values)]
    refused = None
    try:
        assert list(found.walk()) == legal
        assert found.count == Count(len(legal))
    except UndecidedError as error:
        refused = error.values
    assert refused is None or any(_undefined(Condition(rule), refused) for rule in rules)


def _undefined(condition, values):
    if not set(condition.names) <= values.keys():
        return False
    try:
        condition.holds({name: values[name] for name in condition.names})
    except ValueError:
        return True
    return False
