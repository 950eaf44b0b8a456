"""What a first run printed: values that must not change, times by which clock."""

from autotune.commands.init.trying.printed_numbers import printed_answers, printed_numbers


def test_a_limit_is_no_answer() -> None:
    legend = '(":" denotes aligned residue pairs of d < 5.0 A)'
    answers, differing = printed_answers(f"{legend}\nchecksum 0.75", f"{legend}\nchecksum 0.75")
    assert [(answer.line, answer.text) for answer in answers] == [("checksum 0.75", "0.75")]
    assert not differing


def test_a_time_of_the_cpu_is_not_chosen() -> None:
    numbers = printed_numbers("cputime=0.320\nexit", 0.4)
    assert all(number.sure <= 0 for number in numbers)


def test_a_rate_by_real_time_comes_before_one_by_cpu_time() -> None:
    lines = ("product cpu   0.0050s  \t22.6 GFLOPS", "product real  0.0055s  \t20.5 GFLOPS")
    assert printed_numbers("\n".join(lines), 1.0)[0].value == 20.5
    assert printed_numbers("\n".join(reversed(lines)), 1.0)[0].value == 20.5
