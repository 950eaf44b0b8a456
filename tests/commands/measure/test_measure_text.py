"""``autotune measure``: one candidate in words, as a document, and what its samples stand for."""

from dataclasses import replace
from pathlib import Path

import fabricated as made
import pytest
from program_samples import candidates as programs
from program_samples import read, written
from refusals import faults, usage_error
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.measure.command import EXAMPLE
from autotune.commands.measure.document import MeasureDocument
from autotune.commands.measure.measure_one import CandidateMeasurement, measure
from autotune.commands.measure.text import measured
from autotune.commands.rank.ranked_space import load
from autotune.domain.ranking import Ranked
from autotune.domain.results import Measurement, Sample, Status
from autotune.measuring.candidates.host_measurer import KernelSeconds
from autotune.units import Seconds

CANDIDATE = made.candidate()


def samples(*launches: tuple[float, ...]) -> tuple[Sample, ...]:
    """The samples of each launch."""
    return tuple(
        made.sample(seconds, launch=number, round=number)
        for number, times in enumerate(launches)
        for seconds in times
    )


def result(
    taken: tuple[Sample, ...] = (),
    status: Status = "ok",
    phases: KernelSeconds | None = None,
    predicted: float | None = 1e-3,
    **changed: object,
) -> CandidateMeasurement:
    values: dict[str, object] = {"candidate": CANDIDATE.identity, "run": "r", "samples": taken}
    return CandidateMeasurement(
        ranked=Ranked(1, CANDIDATE, made.prediction(predicted)),
        measurement=Measurement(status=status, **(values | changed)),  # type: ignore[arg-type]
        phases=phases,
    )


def lines(of: CandidateMeasurement) -> list[str]:
    return measured(of.ranked, of.measurement, of.location, of.phases).splitlines()


def kernels(status: Status = "ok", detail: str = "", **seconds: float) -> KernelSeconds:
    times = {name: Seconds(value) for name, value in seconds.items()}
    return KernelSeconds(status=status, seconds=times, detail=detail)


def test_a_candidate_that_ran_has_its_time_its_interval_and_its_samples() -> None:
    of = result(samples((1.0, 1.0), (1.1, 1.1), (1.2, 1.2)), error=3.1e-16)
    assert of.location is not None
    low, high = of.location[1] or (0.0, 0.0)
    assert lines(of) == [
        CANDIDATE.label,
        "status     ok",
        "predicted  1.000 ms per time step",
        f"measured   1.097 s per time step [{1e3 * low:#.4g} ms, {high:#.4g} s]",
        "samples    6, of which 0 were disturbed",
        "verified   deviation 3.1e-16 from the reference",
    ]


def test_two_launches_are_too_few_for_an_interval() -> None:
    of = result(samples((2e-3,), (2e-3,)))
    assert of.location == (pytest.approx(2e-3), None)
    assert lines(of)[3] == "measured   2.000 ms per time step"


def test_samples_that_warm_up_are_no_part_of_the_time() -> None:
    of = result((*samples((2e-3,)), made.sample(9.0, warm_up=True)))
    assert of.location == (pytest.approx(2e-3), None)
    assert lines(of)[4] == "samples    1, of which 0 were disturbed"


def test_of_disturbed_samples_the_time_is_what_they_would_have_taken() -> None:
    of = result((made.sample(4e-3, busy=0.5, undisturbed=False, conditions={"threads": 1}),))
    assert of.location is not None
    assert of.location[0] == pytest.approx(2e-3)
    assert lines(of)[3:5] == [
        "measured   2.000 ms per time step",
        "samples    1, of which 1 were disturbed",
    ]


@pytest.mark.parametrize("status", ["crashed", "contended", "wrong-result"])
def test_what_did_not_end_well_has_no_time(status: Status) -> None:
    of = result(samples((1.0,)), status=status, detail="exit code 2")
    assert of.location is None
    assert lines(of)[1:] == [
        f"status     {status}",
        "predicted  1.000 ms per time step",
        "exit code 2",
    ]


def test_without_a_prediction_there_is_a_dash() -> None:
    assert lines(result(samples((1.0,)), predicted=None))[2] == "predicted  -"


def test_the_times_of_a_program_are_those_of_a_run(tmp_path: Path) -> None:
    candidate = programs(read(written(tmp_path, "")))[0]
    of = replace(result(samples((1.0,))), ranked=Ranked(1, candidate, made.prediction(2.0)))
    assert lines(of)[2:4] == ["predicted  2.000 s per run", "measured   1.000 s per run"]


def test_a_program_with_a_rate_has_its_value_and_no_time(tmp_path: Path) -> None:
    rate = """\
metrics: {rate: {pattern: "rate (\\\\S+)", unit: MB/s, better: more}}
objective: rate
"""
    candidate = programs(read(written(tmp_path, rate)))[0]
    taken = samples((0.002,), (0.0025,), (0.002,))
    of = replace(result(taken), ranked=Ranked(1, candidate, made.prediction(None)))
    assert lines(of)[3].startswith("measured   ")
    assert lines(of)[3].endswith(" MB/s], rate: the more the better")
    document = MeasureDocument.of(of)
    assert document.objective.name == "rate"
    assert document.samples == pytest.approx((500.0, 400.0, 500.0))
    assert document.measured is not None
    assert 400 < document.measured < 500


def test_phases_have_their_share_of_all_phases() -> None:
    of = result(samples((1.0,)), phases=kernels(rhs=0.0075, barrier=0.0025))
    assert lines(of)[-3:] == [
        "phases, per time step, in an instrumented run of its own, whose timers make it longer:"
        " 10.00 ms in all",
        "rhs      7.500 ms  75 %",
        "barrier  2.500 ms  25 %",
    ]


def test_phases_too_short_for_the_timer_have_no_share() -> None:
    of = result(samples((1.0,)), phases=kernels(rhs=0.0))
    assert lines(of)[-1] == "rhs  0 s  -"


def test_phases_that_could_not_be_timed_say_why() -> None:
    of = result(samples((1.0,)), phases=kernels("timed-out", "ended after 60 s"))
    assert lines(of)[-1] == "phases: timed-out: ended after 60 s"


def test_the_document_has_every_sample_as_it_was_taken() -> None:
    lost = made.sample(9.0, busy=0.5, undisturbed=False)
    taken = (*samples((2e-3, 3e-3)), lost, made.sample(1e-3, warm_up=True))
    document = MeasureDocument.of(result(taken, phases=kernels(rhs=1e-3), error=1e-15))
    assert document.samples == (2e-3, 3e-3, 9.0)
    assert document.disturbed == 1
    assert document.measured == pytest.approx(2e-3), "the lower quartile of its one launch"
    assert document.interval is None
    assert (document.verified_error, document.phases_s) == (1e-15, {"rhs": 1e-3})
    assert document.candidate == CANDIDATE.id


def test_the_document_of_a_failure_has_no_time() -> None:
    document = MeasureDocument.of(result(status="build-failed", detail="error: no y"))
    assert (document.measured, document.phases_s, document.samples) == (None, None, ())
    assert (document.status, document.detail) == ("build-failed", "error: no y")


# --- the command --------------------------------------------------------------------------------

PROGRAM = """\
schema: autotune.config/1
title: matmul
machine: generic-x86-64
program: matmul
problems: [{arguments: {n: 128}}]
builds: [{compiler: gcc, flags: [-O2]}]
"""


@pytest.mark.parametrize("option", ["phases", "dissect"])
def test_the_parts_of_a_program_are_not_known(tmp_path: Path, option: str) -> None:
    path = tmp_path / "matmul.yaml"
    path.write_text(PROGRAM, encoding="utf-8")
    asked = {"phases": option == "phases", "dissect": option == "dissect"}
    told = faults(lambda: measure(load(path), "x", progress=lambda *_: None, **asked))
    assert told == (
        f"--{option}: matmul is a program of its own: its parts are not known; expected a config"
        " with a space of generated code"
    )


def test_a_config_and_a_candidate_are_needed() -> None:
    assert "CONFIG" in usage_error("measure")
    assert "--candidate" in usage_error("measure", "small.yaml")
    assert EXAMPLE in " ".join(CliRunner().invoke(app, ["measure", "--help"]).output.split())
