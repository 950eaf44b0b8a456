"""Names of candidates can be read, are unique among the candidates shown, and name them."""

import pytest
from fake_host import PROBLEM
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.candidate_names import named, short_names
from autotune.domain.variant import Build, Candidate, Variant, matching


def made(flags: tuple[str, ...] = (), **parameters: str | int | float | bool | None) -> Candidate:
    variant = Variant(skeleton="s", transformations=(), parameters=parameters)
    return Candidate(variant=variant, problem=PROBLEM, build=Build(flags=flags))


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


@given(
    st.lists(
        st.builds(
            lambda flags, values: made(flags, **values),
            st.sampled_from([(), ("-O2",), ("-O3",)]),
            st.dictionaries(st.sampled_from(["a", "l1", "b-"]), VALUES, min_size=1),
        ),
        max_size=40,
        unique_by=lambda candidate: candidate.identity,
    )
)
def test_a_short_name_names_exactly_its_candidate(candidates):
    names = short_names(candidates)
    for candidate in candidates:
        assert matching(candidates, names[candidate.identity]) == [candidate]
