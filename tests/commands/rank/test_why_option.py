"""What ``rank`` says to two candidates behind ``--why``."""

import pytest
from refusals import usage_error


@pytest.mark.parametrize(
    "words", [("c.yaml", "--why", "jli", "ijl"), ("--why", "jli", "ijl", "c.yaml")]
)
def test_a_second_candidate_behind_why_is_told_its_option(words: tuple[str, ...]) -> None:
    said = usage_error("rank", *words)
    assert said.startswith(f"Got unexpected extra argument ({words[-1]}). ")
    assert "--against names another to compare it with" in said


def test_other_words_too_many_are_refused_as_everywhere() -> None:
    assert usage_error("rank", "a", "b") == "Got unexpected extra argument (b)"
    assert usage_error("rank", "a", "b", "c") == "Got unexpected extra arguments (b c)"
