"""A fixed draw of commands with wrong values; ``benchmarks/fuzz.py`` draws many more."""

from pathlib import Path

import pytest
from command_line import CommandLine, Finished
from fuzz_cases import Case, draw
from fuzz_run import Fuzzer, judge

SEED = 20
CASES = 60


@pytest.fixture(scope="module")
def fuzzer(tmp_path_factory: pytest.TempPathFactory, command_line: CommandLine) -> Fuzzer:
    return Fuzzer(tmp_path_factory.mktemp("fuzz"), command_line)


@pytest.mark.parametrize("part", range(6))
def test_wrong_values_have_an_answer_in_words(fuzzer: Fuzzer, part: int) -> None:
    cases = (draw(number, SEED) for number in range(part, CASES, 6))
    judged = [fuzzer.run(case) for case in cases]
    assert [(j.case.number, j.faults, j.case.title) for j in judged if j.faults] == []


@pytest.mark.parametrize(
    ("finished", "fault"),
    [
        (Finished(2, "", "error: x"), ()),
        (Finished(1, "", "failed: x"), ()),
        (Finished(-9, "", ""), ("hang",)),
        (Finished(3, "", "x"), ("exit code 3",)),
        (Finished(1, "", ""), ("no words",)),
        (Finished(1, "", "Traceback (most recent call last)"), ("traceback",)),
        (Finished(0, '{"a": NaN}', ""), ("JSON: NaN is no JSON",)),
        (Finished(2, "", "\x1b[2J"), ("control characters",)),
    ],
)
def test_faults_of_an_answer(finished: Finished, fault: tuple[str, ...]) -> None:
    assert judge(Case(0, "", ("rank", "x.yaml", "--json"), {}), finished) == fault


def test_a_draw_is_the_same_for_the_same_seed() -> None:
    assert draw(7, 3) == draw(7, 3)
    assert len({draw(number, 3).title for number in range(40)}) > 35


def test_the_scene_is_valid(fuzzer: Fuzzer) -> None:
    words = [("rank", "ivp.yaml"), ("rank", "stencil.yaml"), ("variants", "study.yaml")]
    words += [("comm", "show", "network.yaml"), ("learn", "show", "results.xml")]
    for number, command in enumerate(words):
        judged = fuzzer.run(Case(1000 + number, "", command, {}))
        assert judged.finished.code == 0, (command, judged.finished.err)


def test_a_command_runs_within_its_limits(command_line: CommandLine, tmp_path: Path) -> None:
    words = ["machine", "list"]
    done = command_line.run(words, folder=tmp_path, environment={}, limits={"RLIMIT_FSIZE": 10})
    assert len(done.out) == 10
