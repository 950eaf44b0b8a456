"""What ``rank`` says to two candidates behind ``--why``."""

import pytest
from refusals import usage_error

HINT = "--why takes one candidate; --against names another to compare it with"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("c.yaml", "--why", "jli", "ijl"), f"argument (ijl). {HINT}."),
        (("--why", "jli", "ijl", "c.yaml"), f"argument (c.yaml). {HINT}."),
        (("a", "b"), "argument (b)"),
        (("a", "b", "c"), "arguments (b c)"),
    ],
)
def test_a_second_candidate_behind_why_is_told_its_option(
    words: tuple[str, ...], said: str
) -> None:
    assert usage_error("rank", *words) == f"Got unexpected extra {said}"
