"""A recorded space is searched with the search of the tuner, from the command line too."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import Result
from documented import documented
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.replay.document import ReplayDocument
from autotune.commands.replay.flow import replay
from autotune.commands.replay.text import text
from autotune.domain.setup import Sampler
from autotune.files.recorded.read_recorded import read
from autotune.files.recorded.recorded_space import RecordedSpace

HEADER = "tile,pad,flags,predicted_s,status,time_s\n"


def quiet(stage: str, done: int, total: int, detail: str = "") -> None:
    """Progress that nobody watches."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    lines = []
    for tile in range(8):
        for pad in range(6):
            for flags in ("-O2", "-O3"):
                time = 1.0 + 0.3 * abs(tile - 5) + 0.1 * (pad == 0) + 0.2 * (flags == "-O2")
                failed = tile == 7 and pad == 3
                said = ("crashed", "") if failed else ("ok", f"{time}")
                lines.append(f"{2**tile},{pad},{flags},{time * 1.3:.3f},{said[0]},{said[1]}")
    path = tmp_path / "made.csv"
    path.write_text(HEADER + "\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def space(path: Path) -> RecordedSpace:
    return read(path)


def test_a_search_with_predictions_finds_the_best_at_once(space: RecordedSpace) -> None:
    found = replay(space, sampler="model", budget=20, seed=1, progress=quiet)
    assert found.predicted
    assert found.reached(0.05) == 1
    assert found.reached(0.01) == 1
    rows = [step.row for step in found.steps]
    assert len(set(rows)) == len(rows)


@pytest.mark.parametrize("sampler", ["model", "random", "tpe"])
def test_every_sampler_measures_each_candidate_once(sampler: Sampler, space: RecordedSpace) -> None:
    found = replay(space, sampler=sampler, budget=15, seed=3, progress=quiet)
    rows = [step.row for step in found.steps]
    assert 0 < len(rows) == len(set(rows)) <= 15
    assert found.stopped
    best = [step.best for step in found.steps if step.best is not None]
    assert best == sorted(best, reverse=True)


def test_the_same_seed_gives_the_same_search(space: RecordedSpace) -> None:
    runs = [replay(space, sampler="model", budget=12, seed=5, progress=quiet) for _ in range(2)]
    assert [s.row for s in runs[0].steps] == [s.row for s in runs[1].steps]


def test_the_text_says_how_soon(space: RecordedSpace) -> None:
    told = text(replay(space, sampler="model", budget=20, seed=1, progress=quiet))
    assert "96 recorded candidates, 2 failed; tile (8), pad (6), flags (2)" in told
    assert "within 1% of the recorded best (5 of 96): 1 evaluation\n" in told
    assert "with the predictions of the file" in told


def test_failures_are_nan(space: RecordedSpace) -> None:
    assert space.failures == 2
    assert np.isnan(space.seconds).sum() == 2


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["tune", *arguments])


def test_the_command_prints_one_documented_document(path: Path) -> None:
    done = run("--replay", str(path), "--budget-evaluations", "8", "--json")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["schema"] == "autotune.replay/1"
    documented(document, ReplayDocument, "replay")
    assert document["reached"][1] == {"share": 0.01, "evaluations": 1, "candidates": 5}
    assert document["candidates"] == 96


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--replay", "x.csv", "--exhaustive"], "does not go with --exhaustive"),
        (["--replay", "x.csv", "x.yaml"], "does not go with CONFIG"),
        (["x.yaml", "--exhaustive", "--sampler", "tpe"], "does not go with --sampler"),
        (["x.yaml", "--seed", "3"], "needs --replay"),
        ([], "is needed, or --replay FILE"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments: list[str], told: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert told in done.output


def test_the_first_candidates_are_those_of_a_study(space: RecordedSpace) -> None:
    """Five by prediction and two at random, in turn; then the search says why."""
    whys = [s.why for s in replay(space, sampler="model", budget=20, seed=1, progress=quiet).steps]
    drawn = "drawn at random from the other 91"
    assert [why.split(" of ")[0] for why in whys[:7]] == [
        "predicted place 1",
        drawn,
        "predicted place 2",
        drawn,
        *(f"predicted place {k}" for k in (3, 4, 5)),
    ]
    assert all(why.startswith(f"step {k}: ") for k, why in enumerate(whys[7:], 1))


def test_a_budget_ends_a_replay_as_it_ends_a_study(space: RecordedSpace) -> None:
    done = replay(space, sampler="random", budget=12, seed=1, progress=quiet)
    assert len(done.steps) == 12
    assert done.stopped == "the budget of 12 evaluations is used up"


def test_all_of_a_space_may_be_measured(space: RecordedSpace) -> None:
    done = replay(space, sampler="random", budget=200, seed=1, progress=quiet)
    assert sorted(step.row for step in done.steps) == list(range(96))
    assert done.stopped == "every candidate was measured"
