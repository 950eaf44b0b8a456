"""Names of candidates can be read, are unique among the candidates shown, and name them."""

import pytest
from fake_host import PROBLEM
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.candidate_names import (
    differing_first,
    in_order_of,
    is_shortened,
    matching,
    named,
    short_names,
)
from autotune.domain.variant import Build, Candidate, ExecutionLayout, Value, Variant


def made(
    flags: tuple[str, ...] = (), threads: int = 1, **parameters: str | int | float | bool | None
) -> Candidate:
    variant = Variant(skeleton="s", transformations=(), parameters=parameters)
    layout = ExecutionLayout(threads=threads)
    return Candidate(variant=variant, problem=PROBLEM, build=Build(flags=flags), layout=layout)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"l1": 65536}, "l1=65536"),
        ({"order": "ilj", "t": 256, "au": True, "pad": 0}, "ilj-t256-au"),
        ({"level": 5, "long": "--long"}, "level5-long"),
        ({"-fipa-pta": True, "-O": "-O3"}, "fipa-pta-O3"),
        ({"x": -5, "tolerance": 1e-06}, "x=-5-tolerance=1e-06"),
        ({"grid": "2x4", "preset": "-9"}, "grid=2x4-preset=-9"),
        ({"limit": "a b/c=d"}, "a_b_c=d"),
        ({"au": False, "none": None}, "plain"),
    ],
)
def test_labels_can_be_read(parameters, name):
    assert named(parameters) == name


def test_a_label_that_several_have_gets_the_first_digits_of_the_identity():
    first, second, other = made(l1=4), made(("-O2",), l1=4), made(l1=8)
    names = short_names([first, second, other])
    assert names[other.identity] == other.label == f"l1=8@{PROBLEM.label}-T1"
    assert names[first.identity] == f"{first.label}:{first.identity[:4]}"
    several = short_names([other], several=True)
    assert several[other.identity] == f"{other.label}:{other.identity[:4]}"


VALUES = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["1", "-a", "a"]))


CANDIDATES = st.lists(
    st.builds(
        lambda flags, threads, values: made(flags, threads, **values),
        st.sampled_from([(), ("-O2",), ("-O3",)]),
        st.sampled_from([1, 2]),
        st.dictionaries(st.sampled_from(["a", "l1", "b-"]), VALUES, min_size=1),
    ),
    max_size=40,
    unique_by=lambda candidate: candidate.identity,
)


@given(CANDIDATES)
def test_a_short_name_names_exactly_its_candidate(candidates):
    names = short_names(candidates)
    for candidate in candidates:
        assert matching(candidates, names[candidate.identity]) == [candidate]


NAMES = ("order", "au", "l1", "block", "options")
"""Not in the order of the alphabet."""
PLAIN = st.tuples(
    st.sampled_from(["ijl", "jli"]),
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from([0, 64, 65536]),
    st.sampled_from(["-O2", "-O3 -funroll-loops"]),
).map(lambda values: dict(zip(NAMES, values, strict=True)))


@settings(max_examples=50)
@given(
    st.lists(
        st.builds(
            lambda threads, values: made((), threads, **values), st.sampled_from([1, 2]), PLAIN
        ),
        min_size=1,
        max_size=6,
        unique_by=lambda candidate: candidate.identity,
    ),
    st.randoms(use_true_random=False),
)
def test_every_printed_form_names_its_candidate(candidates, chance):
    """Parts in any order, with or without equals signs; problem, digits, layout, build behind."""
    for candidate in candidates:
        parameters = list(candidate.parameters.items())
        chance.shuffle(parameters)
        labels = [candidate.variant.label, named(dict(parameters)), named(dict(sorted(parameters)))]
        case = candidate.label.removeprefix(candidate.variant.label)
        first = candidate.identity[:8]
        for label in [*labels, labels[1].replace("=", "")]:
            for name in (
                f"{label}{case}",
                f"{label}{case}:{first}",
                f"{label}:{first}",
                f"{label}{case} [{candidate.build.words}]",
                f"{label}{case}:{first} ({candidate.build.words})",
                f"{label}, {candidate.layout.words}",
            ):
                assert matching(candidates, name) == [candidate]
            assert candidate in matching(candidates, label)
            assert matching(candidates, f"{label}{case}:{candidate.identity}") == [candidate]
        assert matching(candidates, candidate.identity) == [candidate]
        assert matching(candidates, first) == [candidate]


def test_what_is_no_name_names_nothing():
    candidates = [made(order="jli", l1=4), made(order="ijl", l1=8)]
    wrong = ["l1=4-ijl", "4-jli", f"jli-l1=4@{PROBLEM.label}-T2", "l1=4-jli:0000", ":"]
    wrong += [f"@{PROBLEM.label}-T1", " [gcc]", ", 1 thread", "l1=4-jli, 2 threads"]
    for name in wrong:
        assert matching(candidates, name) == []


def test_values_that_several_parameters_take_are_not_swapped():
    candidates = [made(outer="x", inner="y", t=4), made(outer="y", inner="y", t=4)]
    candidates.append(made(outer="x", inner="x", t=4))
    assert matching(candidates, "y-x-t4") == []
    assert matching(candidates, "t4-x-y") == candidates[:1]


def test_a_long_label_sorted_by_name_is_found():
    values = {f"setting_{letter}{'z' * 12}": 7 for letter in "gfedcba"}
    long, other = made(**values), made(**{**values, "setting_a" + "z" * 12: 8})
    by_name = named(dict(sorted(values.items())))
    assert by_name.endswith("-more")
    assert by_name != long.variant.label
    assert matching([long, other], by_name) == [long]


@given(PLAIN, st.randoms(use_true_random=False))
def test_a_label_gives_its_parameters_their_order_back(values, chance):
    shuffled = list(values.items())
    chance.shuffle(shuffled)
    label = named(values)
    assert named(in_order_of(label, dict(shuffled))) == label
    assert in_order_of("another", values) is values


def test_a_shortened_label_begins_with_what_differs_from_the_baseline() -> None:
    usual: dict[str, Value] = {"nr": 1048576, "load": 2, **{f"f{i}": None for i in range(30)}}
    changed = {f"f{i}": f"-fno-optimization-{i}" for i in range(7, 19)}
    ordered = differing_first(usual | changed, usual, {"nr"})
    label = named(ordered)
    shown = "fno-optimization-7-fno-optimization-8-fno-optimization-9-fno-optimization-10"
    assert label == f"{shown}-and-10-more"
    assert list(ordered)[-1] == "nr"
    assert is_shortened(label, dict(sorted(ordered.items())))
    assert not is_shortened("nr1048576-load2", usual)
    assert differing_first(usual, usual, {"nr"}) == usual
    assert named(differing_first(usual, usual, {"nr"})) == "nr1048576-load2"
