"""``tune --replay``: a recorded space as candidates, and a search of it in words."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from refusals import usage_error
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.replay.command import replay_command
from autotune.commands.replay.document import replay
from autotune.commands.replay.recorded_candidates import candidates_of
from autotune.commands.replay.text import text
from autotune.domain.results import Status
from autotune.files.recorded.recorded_space import RecordedSpace, Row, assemble
from autotune.files.recorded.replayed import Replay, Step


def space(*rows: tuple[int, float | None], unit: str = "s") -> RecordedSpace:
    """Rows of a tile and its time; None: the candidate crashed."""
    made = [
        Row(
            place=f"row {number}",
            settings={"tile": tile, "pad": 0},
            seconds=seconds,
            status="ok" if seconds is not None else "crashed",
        )
        for number, (tile, seconds) in enumerate(rows, 1)
    ]
    return assemble(made, name="mm", source="mm.csv (CSV)", unit=unit)


FOUR = space((8, 0.002), (16, 0.001), (32, None), (64, 0.00103))


def steps(of: RecordedSpace, rows: Sequence[int]) -> tuple[Step, ...]:
    """An evaluation of each of these rows."""
    made: list[Step] = []
    best: float | None = None
    for row in rows:
        seconds = None if math.isnan(of.seconds[row]) else float(of.seconds[row])
        best = min((value for value in (best, seconds) if value is not None), default=None)
        status: Status = of.statuses[row]
        why = f"step {len(made)}"
        made.append(Step(row=row, why=why, status=status, seconds=seconds, best=best))
    return tuple(made)


def replayed(rows: Sequence[int], of: RecordedSpace = FOUR, **changed: object) -> Replay:
    values: dict[str, object] = {
        "space": of, "sampler": "model", "seed": 1, "steps": steps(of, rows),
        "stopped": "all were measured", "predicted": False,
    }  # fmt: skip
    return Replay(**(values | changed))  # type: ignore[arg-type]


def test_the_steps_that_improved_and_how_soon() -> None:
    assert text(replayed((2, 0, 3, 1))).splitlines() == [
        "mm: 4 recorded candidates, 1 failed; tile (4)",
        "",
        "evaluation      time  above best  why     parameters",
        "         2  2.000 ms     +100.0%  step 1  tile=8",
        "         3  1.030 ms       +3.0%  step 2  tile=64",
        "         4  1.000 ms       +0.0%  step 3  tile=16",
        "",
        "within 5% of the recorded best (2 of 4): 3 evaluations",
        "within 1% of the recorded best (1 of 4): 4 evaluations",
        "sampler model, seed 1, without predictions",
        "stopped after 4 evaluations: all were measured",
    ]


def test_one_evaluation_is_singular() -> None:
    shown = text(replayed((1,), predicted=True, sampler="gp", seed=7)).splitlines()
    assert shown[-4:] == [
        "within 5% of the recorded best (2 of 4): 1 evaluation",
        "within 1% of the recorded best (1 of 4): 1 evaluation",
        "sampler gp, seed 7, with the predictions of the file",
        "stopped after 1 evaluation: all were measured",
    ]


def test_a_search_that_never_came_near_says_so() -> None:
    shown = text(replayed((0,)))
    assert "within 5% of the recorded best (2 of 4): not reached" in shown


def test_a_search_of_failures_has_no_step_that_improved() -> None:
    lines = text(replayed((2,))).splitlines()
    assert lines[2:4] == ["evaluation  time  above best  why  parameters", ""]


def test_times_without_a_unit_are_plain_numbers() -> None:
    of = space((8, 2.0), (16, 1.5), unit="")
    assert "1.5       +0.0%" in text(replayed((1,), of))


def test_a_space_of_one_candidate_is_singular() -> None:
    of = space((8, 2.0))
    assert text(replayed((0,), of)).splitlines()[0] == "mm: 1 recorded candidate"


def test_the_document_has_every_evaluation_and_null_for_failures() -> None:
    made = replay(replayed((2, 0, 1)))
    assert [(row.measured, row.best, row.status) for row in made.evaluated] == [
        (None, None, "crashed"),
        (0.002, 0.002, "ok"),
        (0.001, 0.001, "ok"),
    ]
    assert [(share.evaluations, share.candidates) for share in made.reached] == [(3, 2), (3, 1)]
    assert (made.candidates, made.failures, made.recorded_best) == (4, 1, 0.001)
    assert made.parameters == {"tile": (8, 16, 32, 64)}


# --- a recorded space as candidates -------------------------------------------------------------


def test_every_row_is_a_candidate_of_one_problem() -> None:
    recorded = candidates_of(FOUR)
    assert [c.variant.parameters for c in recorded.candidates] == [
        {"tile": 8}, {"tile": 16}, {"tile": 32}, {"tile": 64},
    ]  # fmt: skip
    assert len({c.problem.key for c in recorded.candidates}) == 1
    assert len(set(recorded.identities)) == 4


def test_candidates_are_ranked_by_the_predictions_of_the_file() -> None:
    recorded = candidates_of(FOUR)
    ranking = recorded.ranking(np.array([3.0, math.nan, 1.0, 2.0]))
    assert [e.candidate.variant.parameters["tile"] for e in ranking.entries] == [32, 64, 8, 16]
    assert [e.rank for e in ranking.entries] == [1, 2, 3, None]
    assert ranking.entries[-1].prediction.reason == "the file has no prediction of it"
    assert ranking.engine == "recorded"


def test_recorded_times_and_failures_are_what_is_measured() -> None:
    recorded = candidates_of(FOUR)
    measurer = recorded.measurer()
    launched = [
        measurer.launch(
            measurer.prepare(recorded.candidates[row]),
            round_number=0,
            launch=0,
            expected=None,
            on_sample=lambda sample: None,
        )
        for row in (1, 2)
    ]
    assert [launch.status for launch in launched] == ["ok", "crashed"]
    assert [[s.seconds for s in launch.samples] for launch in launched] == [[0.001], []]
    assert launched[1].detail == "as recorded"


def test_a_search_sees_the_parameters_that_vary() -> None:
    points = candidates_of(FOUR).points(FOUR.predicted)
    assert len(points) == 4


# --- the command --------------------------------------------------------------------------------


@pytest.fixture
def recorded_file(tmp_path: Path) -> Path:
    path = tmp_path / "mm.csv"
    settings = [(tile, pad) for tile in (8, 16, 32) for pad in (0, 1)]
    rows = [f"{tile},{pad},{1 + abs(tile - 16) / 16 + pad}" for tile, pad in settings]
    path.write_text("\n".join(["tile,pad,time_ms", *rows]) + "\n", encoding="utf-8")
    return path


def test_all_of_a_small_space_is_searched(
    recorded_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    replay_command(recorded_file, None, None, None, json=False)
    out = capsys.readouterr().out
    assert "6 recorded candidates; tile (3), pad (2)" in out
    assert "sampler model, seed 1, without predictions" in out
    assert "tile=16, pad=0" in out


def test_a_budget_a_seed_and_a_sampler_are_taken(recorded_file: Path) -> None:
    words = ["tune", "--replay", str(recorded_file), "--sampler", "random", "--seed", "3"]
    done = CliRunner().invoke(app, [*words, "--budget-evaluations", "2"])
    assert done.exit_code == 0, done.output
    assert "sampler random, seed 3" in done.stdout
    assert "stopped after 2 evaluations" in done.stdout


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("--sampler", "tp"), ("--sampler", "'tp'", "'tpe'", "'model'")),
        (("--seed", "-1"), ("--seed",)),
        (("--budget-evaluations", "0"), ("--budget-evaluations",)),
        (("--resume",), ("--replay", "does not go with --resume")),
        (("config.yaml",), ("--replay", "does not go with CONFIG")),
        (("--mirror", "j", "--prior", "s"), ("does not go with --prior, --mirror",)),
    ],
)
def test_what_does_not_go_with_a_replay_ends_with_code_2(
    words: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    told = usage_error("tune", "--replay", "mm.csv", *words)
    assert [part for part in parts if part not in told] == []
