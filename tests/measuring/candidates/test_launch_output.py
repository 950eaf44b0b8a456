"""What the lines of a launch become: samples as they come, and one status at the end."""

import json
import math
from typing import Any

import pytest

from autotune.domain.results import Sample
from autotune.measuring.candidates.launch_output import LaunchListener

START = {"kind": "start", "threads": 2, "affinity": [3, 1, 3], "ld": 40}
CHECK = {"kind": "check", "sum": 1.25, "magnitude": 3.5, "finite": True, "denormal": False}
SAMPLE = {
    "kind": "sample", "warm_up": False, "seconds": 0.25, "steps": 4, "busy": 0.99, "taken": 0.5,
    "voluntary": 7, "involuntary": 2, "undisturbed": True,
}  # fmt: skip
FINAL = {"kind": "final", "finite": True, "denormal": False}
END = {"kind": "end"}
WHOLE = (START, CHECK, SAMPLE, FINAL, END)


def listener(kept: list[Sample] | None = None, **changes: Any) -> LaunchListener:
    settings: dict[str, Any] = {
        "threads": 2,
        "busy": 0.95,
        "launch": 5,
        "round": 3,
        "on_sample": (kept if kept is not None else []).append,
        "conditions": {"priority": "nice"},
    }
    return LaunchListener(**(settings | changes))


def heard(*rows: dict[str, Any], **changes: Any) -> LaunchListener:
    ear = listener(**changes)
    for row in rows:
        ear.hear(json.dumps(row))
    return ear


# --- samples ------------------------------------------------------------------------------------


def test_a_sample_is_handed_on_as_soon_as_it_is_heard() -> None:
    kept: list[Sample] = []
    ear = listener(kept)
    assert not ear.hear(json.dumps(START))
    assert not ear.hear("Loading module gcc/12")
    assert ear.hear(json.dumps(SAMPLE))
    assert kept == ear.samples
    (sample,) = kept
    assert (sample.seconds, sample.steps, sample.launch, sample.round) == (0.25, 4, 5, 3)
    assert sample.taken == "1970-01-01T00:00:00.500+00:00"


def test_a_sample_carries_the_conditions_of_the_launch_and_its_own() -> None:
    (sample,) = heard(START, SAMPLE).samples
    expected = {"priority": "nice", "cpus": "1,3", "leading": 40, "voluntary": 7, "involuntary": 2}
    assert expected.items() <= sample.conditions.items()
    assert {"load", "stolen_s"} <= sample.conditions.keys()


@pytest.mark.parametrize(
    ("busy", "by_program", "undisturbed"),
    [(0.95, True, True), (0.9499, True, False), (0.99, False, False), (1.0, True, True)],
)
def test_a_sample_is_undisturbed_where_program_and_share_of_its_cores_agree(
    busy: float, by_program: bool, undisturbed: bool
) -> None:
    (sample,) = heard(START, {**SAMPLE, "busy": busy, "undisturbed": by_program}).samples
    assert sample.undisturbed is undisturbed
    assert sample.busy == busy


# --- how a launch ends --------------------------------------------------------------------------


def test_a_whole_launch_is_ok_with_its_checksum() -> None:
    launch = heard(*WHOLE).finish("ok", "")
    assert (launch.status, launch.detail, launch.checksum) == ("ok", "", (1.25, 3.5))
    assert len(launch.samples) == 1


def test_how_the_process_ended_comes_before_what_it_printed() -> None:
    launch = heard(START, SAMPLE).finish("timed-out", "ended after 60 s")
    assert (launch.status, launch.detail) == ("timed-out", "ended after 60 s")
    assert len(launch.samples) == 1, "samples are kept whatever happens"


@pytest.mark.parametrize(
    ("missing", "name"), [(START, "start"), (CHECK, "check"), (SAMPLE, "samples"), (END, "end")]
)
def test_what_was_not_printed_is_named_with_the_last_lines(
    missing: dict[str, Any], name: str
) -> None:
    ear = heard(*(row for row in WHOLE if row is not missing))
    launch = ear.finish("ok", "", "  Bus error\n")
    assert launch.status == "crashed"
    assert launch.detail == f"the program printed no {name}; its last lines:\nBus error"
    assert ear.finish("ok", "").detail == f"the program printed no {name}"


def test_samples_that_only_warm_up_are_none() -> None:
    warm = {**SAMPLE, "warm_up": True}
    assert heard(START, CHECK, warm, FINAL, END).finish("ok", "").detail == (
        "the program printed no samples"
    )


@pytest.mark.parametrize("ranks", [1, 4])
def test_a_launch_of_which_every_sample_was_disturbed_is_ok_and_keeps_their_shares(
    ranks: int,
) -> None:
    shares = (0.5, 0.7312, 0.6)
    rows = [{**SAMPLE, "busy": busy, "undisturbed": False} for busy in shares]
    warm = {**SAMPLE, "warm_up": True}
    ear = heard({**START, "ranks": ranks}, CHECK, warm, *rows, FINAL, END, ranks=ranks)
    launch = ear.finish("ok", "")
    assert (launch.status, launch.detail, launch.checksum) == ("ok", "", (1.25, 3.5))
    timed = [sample for sample in launch.samples if not sample.warm_up]
    assert [(sample.busy, sample.undisturbed) for sample in timed] == [(s, False) for s in shares]


# --- what cannot be right -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "row", "detail"),
    [
        (1, {**CHECK, "finite": False, "sum": None}, "numbers that are not finite in the state at"
         " the timed size after the check steps"),
        (1, {**CHECK, "denormal": True}, "denormal numbers in the state at the timed size after"
         " the check steps"),
        (3, {**FINAL, "finite": False}, "numbers that are not finite in the state at the timed"
         " size after the last timed step"),
        (3, {**FINAL, "denormal": True}, "denormal numbers in the state at the timed size after"
         " the last timed step"),
    ],
)  # fmt: skip
def test_states_that_are_no_numbers_are_wrong_results(
    place: int, row: dict[str, Any], detail: str
) -> None:
    rows = [*WHOLE[:place], row, *WHOLE[place + 1 :]]
    launch = heard(*rows).finish("ok", "")
    assert (launch.status, launch.detail) == ("wrong-result", detail)


def test_a_state_that_is_not_finite_has_no_checksum() -> None:
    row = {**CHECK, "finite": False, "sum": math.nan}
    assert heard(START, row, SAMPLE, FINAL, END).finish("ok", "").checksum is None


@pytest.mark.parametrize(
    ("start", "detail"),
    [
        ({**START, "threads": 1}, "ran with 1, not 2 threads"),
        ({**START, "ranks": 3}, "ran with 3, not 1 ranks"),
        ({**START, "threads": 4, "ranks": 3}, "ran with 4, not 2 threads"),
    ],
)
def test_another_number_of_threads_or_ranks_is_wrong(start: dict[str, Any], detail: str) -> None:
    ear = heard(start, *WHOLE[1:])
    launch = ear.finish("ok", "")
    assert (launch.status, launch.detail) == ("crashed", detail)
    assert launch.samples == (), "times of another layout are not those of the candidate"


def test_the_first_fault_is_the_one_that_is_told() -> None:
    ear = listener()
    ear.hear(json.dumps(START))
    ear.hear('{"kind": "sample", "seconds"')
    ear.hear('{"kind": "other"}')
    launch = ear.finish("ok", "")
    assert launch.status == "crashed"
    assert launch.detail == """not a JSON object: '{"kind": "sample", "seconds"'"""


def test_a_time_that_is_not_positive_is_a_fault() -> None:
    assert heard(START, {**SAMPLE, "seconds": 0.0}).wrong == "seconds must be positive, not 0.0"
