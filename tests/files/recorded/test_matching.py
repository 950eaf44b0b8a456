"""Rows of recorded files become the candidates that agree with them, or the error says why not."""

from collections.abc import Sequence

import fabricated
import numpy as np
import pytest

from autotune.domain.variant import Candidate
from autotune.errors import InputError
from autotune.files.recorded.matching import match
from autotune.files.recorded.recorded_space import Row, Setting, assemble

ROWS: list[dict[str, Setting]] = [
    {"order": order, "pad": pad, "gpu": 0} for order in ("jli", "ijl") for pad in (0, 5)
]


def space(rows: Sequence[dict[str, Setting]]):
    made = [
        Row(place=str(i), settings=settings, seconds=1.0 + i) for i, settings in enumerate(rows)
    ]
    return assemble(made, name="made", source="made.json (T4)", unit="s")


def candidates(threads: Sequence[int] = (2,), sizes: Sequence[int] = (256,)) -> list[Candidate]:
    return [
        fabricated.candidate(order, size=size, pad=pad, threads=count)
        for size in sizes
        for count in threads
        for order in ("jli", "ijl")
        for pad in (0, 5)
    ]


def test_rows_are_candidates_by_their_parameters() -> None:
    found = match(space(ROWS), candidates(), {})
    for row, candidate in found.pairs:
        values = candidate.variant.parameters
        assert (values["order"], values["pad"]) == (ROWS[row]["order"], ROWS[row]["pad"])
    assert len({candidate.identity for _, candidate in found.pairs}) == 4
    assert (found.strangers, found.ignored) == ((), ("gpu",))


def test_rows_that_are_no_candidate_are_left_out() -> None:
    found = match(space([*ROWS, {"order": "lij", "pad": 0, "gpu": 0}]), candidates(), {})
    assert (len(found.pairs), found.strangers) == (4, (4,))


def test_what_the_file_does_not_say_must_be_given() -> None:
    both = candidates(threads=(1, 2), sizes=(256, 512))
    with pytest.raises(InputError, match=r"4 candidates.*problem.*threads \(1, 2\).*--given"):
        match(space(ROWS), both, {})
    found = match(space(ROWS), both, {"threads": 2, "problem": "heat2d-N512"})
    assert {(c.threads, c.problem.label) for _, c in found.pairs} == {(2, "heat2d-N512")}


def test_what_the_file_says_of_a_run_counts() -> None:
    rows = [{**ROWS[0], "threads": t, "compiler": "gcc", "flags": " -O3  "} for t in (1, 2, 4)]
    flags = candidates()[0].build.flags
    for row in rows:
        row["flags"] = "  ".join(flags)
    found = match(space(rows), candidates(threads=(1, 2)), {})
    assert [candidate.threads for _, candidate in found.pairs] == [1, 2]
    assert found.strangers == (2,)


def test_wrong_names_and_values_are_told() -> None:
    with pytest.raises(InputError, match=r"rows differ in tiles.*did you mean tile\?"):
        match(space([{"tiles": 1}, {"tiles": 2}]), candidates(), {})
    with pytest.raises(InputError, match="--given: pad is in the file"):
        match(space(ROWS), candidates(), {"pad": 0})
    with pytest.raises(InputError, match=r"thread; .*did you mean threads\?"):
        match(space(ROWS), candidates(), {"thread": 1})
    with pytest.raises(InputError, match=r"none of 4 rows.*threads is 9, not one of 2"):
        match(space(ROWS), candidates(), {"threads": 9})


def test_forms_of_one_value_agree() -> None:
    rows: list[dict[str, Setting]] = [
        {"order": "jli", "pad": 0.0, "au": 0, "tile": "none"},
        {"order": "ijl", "pad": 5, "au": False, "tile": None},
    ]
    found = match(space(rows), candidates(), {})
    assert len(found.pairs) == 2
    assert np.isfinite(space(rows).seconds).all()
