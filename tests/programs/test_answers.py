"""Check values: numbers to a tolerance, text word for word, and the same from run to run."""

from pathlib import Path

import own_programs as own
import pytest

from autotune.domain.program import Check
from autotune.toolchain.child_process import ProcessOutcome
from autotune.tuning import agree
from autotune.units import Seconds
from autotune.workloads.program.measuring.check_answers import Answer, compare
from autotune.workloads.program.measuring.printed_output import answer

CHECK = Check(pattern=r"sum (\S+)")


def told(text: str) -> Answer:
    outcome = ProcessOutcome(
        code=0, signal=None, timed_out=False, flooded=False, out=f"sum {text}\n", err="",
        seconds=Seconds(1.0),
    )  # fmt: skip
    return answer(CHECK, outcome)


def test_numbers_are_numbers_and_all_else_is_text() -> None:
    assert told("1.5D+3") == 1500.0
    assert told("0af3") == "0af3"
    assert told("12e45678") == "12e45678", "a hash that reads like a number"
    assert not compare(told("12e45678"), "12e45678", 1e-9).fault
    assert compare(told("12e45678"), told("13e45678"), 1e-9).fault
    assert "is inf" in compare(told("inf"), 1.0, 1e-9).fault


SCRIPT = """\
import os
off = 1 + 5e-10 * os.path.exists("{mark}")
print("time 0.001 s")
print("sum", repr(41.0 * off))
"""


@pytest.mark.parametrize(("tolerance", "same"), [("1e-9", True), ("1e-10", False)])
def test_answers_of_two_runs_agree_to_the_tolerance(
    tmp_path: Path, tolerance: str, same: bool
) -> None:
    """As of sums whose order changes: what one run of a study found counts in the next."""
    mark = tmp_path / "second"
    program = f"""\
schema: autotune.program/1
title: A sum in any order
sources: [tiny.py]
run: ["{{python}}", "{{source folder}}/tiny.py", "{{block}}"]
parameters: {{block: [1, 2]}}
time: {{pattern: "time (\\\\S+) s"}}
check: {{pattern: "sum (\\\\S+)", tolerance: {tolerance}}}
"""
    settings = own.CONFIG.replace("builds: [{compiler: gcc, flags: [-O1]}]\n", "")
    sources = {"tiny.py": SCRIPT.replace("{mark}", str(mark))}
    path = own.put(tmp_path, program, settings.replace("{n: 500}", "{}"), sources)
    checksums = []
    for _ in range(2):
        _, measurer, named = own.opened(path)
        prepared = measurer.prepare(named["2"])
        assert prepared.status == "ok"
        launch = measurer.launch(
            prepared, round_number=0, launch=0, expected=None, on_sample=lambda sample: None
        )
        assert launch.checksum is not None
        checksums.append(launch.checksum)
        mark.touch()
    assert agree(*checksums) is same
