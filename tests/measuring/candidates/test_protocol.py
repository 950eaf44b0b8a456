"""The lines and the command line of generated programs."""

import contextlib
import math
from pathlib import Path

import pytest
from fake_program import PROBLEM, make_candidate
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.results import Sample
from autotune.domain.setup import Measuring
from autotune.measuring.candidates import protocol

SAMPLE = (
    '{"kind":"sample","warm_up":false,"seconds":0.5,"steps":3,"busy":0.99,"taken":1.5e9,'
    '"voluntary":1,"involuntary":2,"undisturbed":true}'
)


def test_good_lines():
    start = protocol.parse('{"kind":"start","threads":2,"affinity":[0,1],"ld":1032,"pid":7}')
    assert start == protocol.ProgramStart(2, (0, 1), 1032)
    assert protocol.parse(SAMPLE) == Sample(
        seconds=0.5,
        steps=3,
        busy=0.99,
        undisturbed=True,
        launch=0,
        round=0,
        taken="2017-07-14T02:40:00.000+00:00",
        conditions={"voluntary": 1, "involuntary": 2},
    )
    phase = protocol.parse('{"kind":"phase","name":"lc","seconds":0}')
    assert phase == protocol.PhaseTime("lc", 0.0)
    final = protocol.parse('{"kind":"final","finite":true,"denormal":true}')
    assert final == protocol.FinalState(finite=True, denormal=True)
    assert protocol.parse('{"kind":"end"}') == protocol.ProgramEnd()


def test_a_state_that_is_not_finite_can_be_told():
    line = protocol.parse(
        '{"kind":"check","steps":3,"sum":null,"magnitude":null,"max":null,'
        '"finite":false,"denormal":false}'
    )
    assert isinstance(line, protocol.StateCheck)
    assert math.isnan(line.sum)
    assert not line.finite


@pytest.mark.parametrize("text", ["", "srun: job 7 queued", "[1, 2]"])
def test_other_text_is_not_ours(text: str):
    assert protocol.parse(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}",
        '{"kind":"other"}',
        '{"kind":"start","threads":"2","affinity":[0],"ld":1}',
        '{"kind":"start","threads":2,"affinity":0,"ld":1}',
        '{"kind":"start","threads":2,"affinity":["a"],"ld":1}',
        SAMPLE.replace("0.5", "0"),
        SAMPLE.replace("0.5", "Infinity"),
        SAMPLE.replace("0.5", "true"),
        SAMPLE.replace(":3", ":3.5"),
        SAMPLE.replace('"steps"', '"stops"'),
    ],
)
def test_broken_lines_are_refused(text: str):
    with pytest.raises(ValueError, match=r"JSON|line|positive|literal"):
        protocol.parse(text)


@given(st.text(max_size=40))
def test_nothing_else_than_a_value_error(text: str):
    with contextlib.suppress(ValueError):
        protocol.parse("{" + text)


def test_the_step_size_is_passed_exactly():
    words = protocol.time_arguments(make_candidate(threads=2), Measuring(min_sample=0.02))
    options = dict(zip(words[1::2], words[2::2], strict=True))
    assert words[0] == "time"
    assert float.fromhex(options["--h"]) == PROBLEM.h
    assert options["--n"] == "1000"
    assert options["--threads"] == "2"
    assert float(options["--min-seconds"]) == 0.02
    words = protocol.verify_arguments(make_candidate(), 3, Path("/tmp/out"))
    assert words[:1] + words[-4:] == ["verify", "--steps", "3", "--out", "/tmp/out"]
