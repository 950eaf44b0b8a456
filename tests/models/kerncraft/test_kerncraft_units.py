"""Blocks of assembly whose cycles do not count the iterations that kerncraft takes them for.

The checks run in one process, as kerncraft does, for all cases of this file at once.
"""

import json
import subprocess
import sys

import kerncraft_units_cases as cases
import pytest


@pytest.fixture(scope="module")
def answers() -> dict[str, object]:
    """The answer of every case by its name."""
    every = {**cases.BLOCKS, **cases.POLYNOMIALS}
    done = subprocess.run(
        [sys.executable, cases.SCRIPT],
        input=json.dumps([case for case, _ in every.values()]),
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return dict(zip(every, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("name", cases.BLOCKS)
def test_a_block_is_refused_unless_it_does_as_many_iterations(
    name: str, answers: dict[str, object]
) -> None:
    expected = cases.BLOCKS[name][1]
    answer = answers[name]
    if expected is None:
        assert answer is None
    else:
        assert isinstance(answer, str)
        assert expected in answer


@pytest.mark.parametrize("name", cases.POLYNOMIALS)
def test_conditions_are_polynomials_of_whole_numbers(name: str, answers: dict[str, object]) -> None:
    assert answers[name] == cases.POLYNOMIALS[name][1]
