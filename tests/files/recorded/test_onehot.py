"""One-hot groups are found by their values, whatever they are called."""

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from autotune.files.recorded.one_hot import NONE, decode


def flags(names: list[str], chosen: list[str | None]) -> dict[str, list[int]]:
    return {name: [int(name == each) for each in chosen] for name in names}


def test_flags_of_which_one_is_set_are_one_parameter() -> None:
    chosen: list[str | None] = ["x", "y", "z", "x"]
    found = decode({**flags(["x", "y", "z"], chosen), "size": [1, 2, 3, 4]})
    assert found == {"x/y/z": chosen, "size": [1, 2, 3, 4]}


def test_two_groups_are_told_apart() -> None:
    pairs = list(itertools.product("abc", "pq"))
    first = flags(list("abc"), [pair[0] for pair in pairs])
    second = flags(list("pq"), [pair[1] for pair in pairs])
    mixed = {name: {**first, **second}[name] for name in "paqbc"}
    found = decode(mixed)
    assert found == {"p/q": [p for _, p in pairs], "a/b/c": [a for a, _ in pairs]}


def test_flags_that_exclude_one_another_have_none() -> None:
    chosen = ["a", None, "b", "c", None]
    assert decode(flags(["a", "b", "c"], chosen)) == {"a/b/c": ["a", NONE, "b", "c", NONE]}


def test_two_flags_that_exclude_one_another_stay_apart() -> None:
    columns = flags(["a", "b"], ["a", None, "b"])
    assert decode(columns) == columns


def test_numbers_in_the_names_of_a_group_are_its_parameters() -> None:
    chosen: list[str | None] = ["bs_32x1", "bs_64x2", "bs_32x2"]
    assert decode(flags(["bs_32x1", "bs_64x2", "bs_32x2"], chosen)) == {
        "bs.1": [32, 64, 32],
        "bs.2": [1, 2, 2],
    }


def test_a_prefix_is_the_name_of_its_group() -> None:
    chosen: list[str | None] = ["solver_cg", "solver_gmres"]
    assert decode(flags(["solver_cg", "solver_gmres"], chosen)) == {"solver": ["cg", "gmres"]}


@given(st.integers(0, 10_000))
def test_nothing_is_lost(seed: int) -> None:
    generator = random.Random(seed)
    names = [f"f{i}" for i in range(generator.randint(1, 7))]
    rows = [[generator.randint(0, 1) for _ in names] for _ in range(generator.randint(2, 12))]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    found = list(zip(*decode(columns).values(), strict=True))
    same = [[a == b for b in found] for a in found]
    assert same == [[a == b for b in rows] for a in rows]
