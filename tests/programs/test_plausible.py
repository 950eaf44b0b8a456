"""Times that cannot be true never win, and a rate that is read as the time is named."""

from pathlib import Path

import own_programs as own
import pytest

from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow as tune_flow
from autotune.domain.program import Program
from autotune.domain.results import Sample
from autotune.errors import InputError, WorkFailed
from autotune.toolchain.child_process import ProcessOutcome
from autotune.units import Seconds
from autotune.workloads.program.measuring.plausible_output import impossible_time, rate_as_time

CONFIG = own.CONFIG.replace("builds: [{compiler: gcc, flags: [-O1]}]\n", "").replace(
    "{n: 500}", "{}"
)
PROGRAM = """\
schema: autotune.program/1
title: Says what it likes
sources: [tiny.py]
run: ["{python}", "{source folder}/tiny.py", "{mode}"]
parameters: {mode: [honest, other, third, fourth, liar]}
time: {pattern: "time (\\\\S+)"}
"""


def outcome(text: str, seconds: float = 0.05) -> ProcessOutcome:
    return ProcessOutcome(
        code=0, signal=None, timed_out=False, flooded=False, out=text, err="",
        seconds=Seconds(seconds),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, ""),
        (0.051, ""),
        (0.06, "it printed a time of 60 ms, its process took 50 ms"),
        (1000.0, "its process took 50 ms; a rate, of which more is better, is a metric"),
        (1e-12, "below the resolution of the clock"),
        (2e-9, ""),
    ],
)
def test_a_time_lies_between_the_clock_and_the_life_of_its_process(
    seconds: float, words: str
) -> None:
    fault = impossible_time([{"time": 0.01}, {"time": seconds}], outcome(""))
    assert words in fault
    assert bool(words) == bool(fault)


@pytest.mark.parametrize(
    ("reading", "line", "rate"),
    [
        ('{pattern: "time (\\\\S+)"}', "time 412.5 MB/s", "412.5 MB/s"),
        ('{pattern: "(\\\\S+) G"}', "time 3.1 GFLOP/s", "3.1 GFLOP/s"),
        ('{pattern: "did (\\\\S+)"}', "did 99 iterations per second", "99 iterations per second"),
        ('{pattern: "did (\\\\S+)"}', "did 99 it/s, in 3 s", "99 it/s"),
        ('{pattern: "did (\\\\S+)"}', "did 99 GFLOPS", "99 GFLOPS"),
        ('{pattern: "time (\\\\S+)"}', "time 0.01 s, 400 MB/s", ""),
        ('{pattern: "time (\\\\S+)"}', "time 0.01 s/step", ""),
        ('{pattern: "time (\\\\S+)"}', "time 0.01\\r\\nMB/s", ""),
        ('{pattern: "rate (\\\\S+)"}', "rate 123.4 MB/s", "123.4 MB/s"),
        ('{pattern: "time (\\\\S+)"}', "time 0.15 gflops 0.7", ""),
        ('{pattern: "time=(\\\\S+)"}', "time=0.52 Gflops=3.8", ""),
        ('{pattern: "time: (\\\\S+)"}', "time: 0.52  MB/s: 120", ""),
        ("{json: bandwidth_test_seconds}", "", ""),
        ("{json: throughput_s}", "", ""),
        ("{json: seconds_per_s}", "", ""),
        ("{json: calls_per_s}", "", "calls_per_s"),
        ("{json: gbytes_s}", "", "gbytes_s"),
        ('{csv: "MB/s"}', "MB/s\\n4", "MB/s"),
        ("{json: result.bytes_per_second}", "", "bytes_per_second"),
        ('{pattern: "copy (\\\\S+)"}', "copy 412.3 MB/s 1034.2 MB/s", "412.3 MB/s"),
        ("{csv: throughput_time}", "", ""),
        ("{json: throughput}", "", "throughput"),
        ("{json: speed.mb_s}", "", "mb_s"),
        ("{json: bandwidth.time_s}", "", ""),
        ("{json: call_s}", "", ""),
        ("{json: result.seconds}", "", ""),
        ('{csv: "time/s"}', "", ""),
    ],
)
def test_a_rate_is_known_by_its_name_or_what_follows(
    tmp_path: Path, reading: str, line: str, rate: str
) -> None:
    text = PROGRAM.replace('{pattern: "time (\\\\S+)"}', reading)
    subject = own.opened(own.put(tmp_path, text, CONFIG, {"tiny.py": ""}))[0].subject
    assert isinstance(subject, Program)
    assert rate_as_time(subject, outcome(line.encode().decode("unicode_escape"))) == rate


def test_a_rate_read_as_the_time_stops_the_study_before_its_search(tmp_path: Path) -> None:
    path = own.put(tmp_path, PROGRAM, CONFIG, {"tiny.py": 'print("time 0.002 MB/s")\n'})
    with pytest.raises(InputError, match=r"tiny.yaml:6:\d+: time: '0.002 MB/s' is a rate"):
        tune_flow.tune(
            load(path), tune_flow.StudyOptions(), str(tmp_path / "store.sqlite"), own.quiet
        )


LIAR = """\
import sys, time
began = time.perf_counter()
while time.perf_counter() - began < 0.05:
    pass
taken = time.perf_counter() - began
print("time", {lie} if sys.argv[1] == "liar" else taken)
"""


@pytest.mark.parametrize(
    ("lie", "words"),
    [
        ("1000 * taken", "its process took"),
        ("1e-12", "resolution of the clock"),
        ("0.001", "it printed 1 ms in each of"),
        ("1e-3 * taken", "of the life of its process"),
    ],
)
def test_a_liar_does_not_win(tmp_path: Path, lie: str, words: str) -> None:
    settings = CONFIG.replace("rounds: 2, samples: 1", "rounds: 3, samples: 2")
    path = own.put(tmp_path, PROGRAM, settings, {"tiny.py": LIAR.replace("{lie}", lie)})
    options = tune_flow.StudyOptions(exhaustive=True)
    made = tune_flow.tune(load(path), options, str(tmp_path / "store.sqlite"), own.quiet)
    (problem,) = made.evaluation.problems
    liar = next(row for row in problem.rows if row.candidate.parameters["mode"] == "liar")
    assert problem.best is not None
    assert problem.best is not liar
    assert liar.status == "implausible"
    assert liar.measurement is not None
    assert words in liar.measurement.detail


def test_a_pattern_that_takes_for_ever_is_named(tmp_path: Path) -> None:
    text = PROGRAM.replace('{pattern: "time (\\\\S+)"}', "{pattern: '^((?:a|aa)+)$'}")
    path = own.put(tmp_path, text, CONFIG, {"tiny.py": 'print("a" * 4000 + "!")\n'})
    with pytest.raises(WorkFailed, match=r"takes more than 2 s to search the line 'aaa"):
        tune_flow.tune(
            load(path), tune_flow.StudyOptions(), str(tmp_path / "store.sqlite"), own.quiet
        )


CUT = """\
import os, resource, sys, time
ends = {"honest": "", "other": "kill", "third": "flood", "fourth": "file", "liar": "exit"}
sys.stdout.write("time 0.00123\\ntime 0.001" if ends[sys.argv[1]] else "time 0.00123")
sys.stdout.flush()
if ends[sys.argv[1]] == "kill":
    os.kill(os.getpid(), 9)
elif ends[sys.argv[1]] == "flood":
    sys.stderr.write("x" * 70_000)
elif ends[sys.argv[1]] == "file":
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    open("large", "wb").write(bytes(3 << 20))
elif ends[sys.argv[1]] == "exit":
    sys.exit(1)
"""


def test_no_time_is_taken_from_a_line_that_was_cut(tmp_path: Path) -> None:
    settings = CONFIG.replace("run: 20 s", "run: 20 s, output: 64 KiB, file: 1 MiB")
    _, measurer, named = own.opened(own.put(tmp_path, PROGRAM, settings, {"tiny.py": CUT}))
    words = {
        "other": "SIGKILL",
        "third": "printed more",
        "fourth": "SIGXFSZ",
        "liar": "exit code 1",
    }
    for mode, candidate in named.items():
        prepared = measurer.prepare(candidate)
        taken: list[Sample] = []
        launch = measurer.launch(
            prepared, round_number=0, launch=0, expected=None, on_sample=taken.append
        )
        if mode == "honest":
            assert {sample.seconds for sample in taken} == {0.00123}
        else:
            assert words[mode] in launch.detail
            assert not launch.samples
            assert not taken
