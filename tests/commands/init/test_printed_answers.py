"""What a first run printed that must not change."""

from autotune.commands.init.trying.printed_numbers import printed_answers


def test_a_limit_is_no_answer() -> None:
    legend = '(":" denotes aligned residue pairs of d < 5.0 A)'
    answers, differing = printed_answers(f"{legend}\nchecksum 0.75", f"{legend}\nchecksum 0.75")
    assert [(answer.line, answer.text) for answer in answers] == [("checksum 0.75", "0.75")]
    assert not differing
