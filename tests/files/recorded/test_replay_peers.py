"""Peers of the replay benchmark: what they are told, what counts, and what the tables say."""

import dataclasses
import importlib
import json
import math
import os
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from autotune.commands.replay.recorded_candidates import candidates_of
from autotune.files.recorded.read_recorded import read
from autotune.files.recorded.recorded_space import RecordedSpace, Row, assemble
from autotune.tuning.search.model_search import ModelSearch

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
FOLDER = os.environ.get("AUTOTUNE_PEERS", "")
"""A folder of virtual environments of the peers; see the help of the benchmark."""

EVERY_ROW = """
import replay_worker

def run(space, evaluations, technique, seed):
    if technique == "broken":
        evaluations.row(space.rows[0])
        raise ValueError("it broke")
    for row in space.rows:
        evaluations.row(row)
        evaluations.row(row)
        evaluations.row([99] * len(row))

replay_worker.serve(run)
"""


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))

    def module(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield module
    for name in [name for name in sys.modules if name.startswith("replay_")]:
        del sys.modules[name]


@pytest.fixture
def space() -> RecordedSpace:
    """Twelve candidates of three samples, of which the last failed."""
    rows = [
        Row(
            place=str(tile),
            settings={"tile": tile, "flags": flags},
            seconds=seconds,
            samples=(0.5 * seconds, seconds, 1.5 * seconds),
        )
        for tile in range(6)
        for flags, seconds in (("-O2", 2.0 + tile), ("-O3", 1.0 + tile))
    ]
    failed = Row(place="x", settings={"tile": 9, "flags": "-O2"}, seconds=None, status="crashed")
    return assemble([*rows, failed], name="made", source="made", unit="s")


def run(load, **changes: object) -> object:
    score = load("replay_score")
    values = {
        "space": "a", "method": "model", "model": "cold", "seed": 1, "budget": 50, "to5": 5.0,
        "to1": math.inf, "stop": math.inf, "cpu": 0.0, "steps": 50, "performance": 0.5,
        "loss": 0.0, "launches": 50,
    }  # fmt: skip
    return score.Run(**{**values, **changes})


def installed(load, name: str) -> Path:
    peer = load("replay_peers").PEERS[name]
    if not FOLDER or not load("replay_peers").present(Path(FOLDER), peer):
        pytest.skip(f"optional: AUTOTUNE_PEERS={FOLDER!r} has no environment with {peer.package}")
    return Path(FOLDER)


# --- workers --------------------------------------------------------------------------------


@pytest.fixture
def worker(load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    peers = load("replay_peers")
    script = tmp_path / "every_row.py"
    script.write_text(EVERY_ROW, encoding="utf-8")
    python = tmp_path / "made" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    monkeypatch.setenv("PYTHONPATH", str(BENCHMARKS))
    with peers.Worker(tmp_path, peers.Peer("made", "json", str(script), "")) as child:
        yield child


def test_repeated_and_illegal_candidates_are_free(worker, space: RecordedSpace) -> None:
    assert worker.order(space, "", 5, 1) == [0, 1, 2, 3, 4]
    assert worker.order(space, "", 99, 1) == list(range(13))


def test_what_a_peer_evaluated_before_it_failed_counts(
    worker, space: RecordedSpace, capfd: pytest.CaptureFixture[str]
) -> None:
    assert worker.order(space, "broken", 5, 1) == [0]
    assert "it broke" in capfd.readouterr().err


def test_a_peer_without_an_environment_is_absent(load, tmp_path: Path) -> None:
    peers = load("replay_peers")
    assert not peers.present(tmp_path, peers.PEERS["pyatf"])


@pytest.mark.parametrize("name", ["kt-genetic", "kt-hybrid-vndx", "pyatf", "smac"])
def test_a_real_peer_evaluates_what_it_may_and_repeats_itself(name, load) -> None:
    folder = installed(load, name)
    peers = load("replay_peers")
    recorded = read(BENCHMARKS / "recorded" / "heat2d.json.gz")
    peer = peers.PEERS[name]
    with peers.Worker(folder, peer) as child:
        order = child.order(recorded, peer.technique, 8, 3)
        assert len(order) == len(set(order)) == 8
        assert order == child.order(recorded, peer.technique, 8, 3)


# --- drawn times ----------------------------------------------------------------------------


def test_drawn_times_are_means_of_samples(load, space: RecordedSpace) -> None:
    noise = load("replay_noise")
    assert noise.noisy(space)
    single = noise.drawn(space, 1, 1)
    for row, seconds in enumerate(single.seconds.tolist()):
        assert math.isnan(seconds) if row == 12 else seconds in space.samples[row]
    many = noise.drawn(space, 1, 20_000)
    assert many.seconds[:12] == pytest.approx(space.seconds[:12], rel=0.02)
    assert (noise.drawn(space, 2, 1).seconds[:12] != single.seconds[:12]).any()


def test_a_launch_takes_as_long_as_a_sample(load, space: RecordedSpace) -> None:
    recorded = candidates_of(space)
    measurer = load("replay_noise").measurer(recorded, 1)
    prepared = measurer.prepare(recorded.candidates[3])
    times = set()
    for launch in range(40):
        taken = measurer.launch(
            prepared, round_number=launch, launch=launch, expected=None, on_sample=lambda _: None
        )
        times |= {float(sample.seconds) for sample in taken.samples}
    assert times == set(space.samples[3])


def test_with_noise_our_search_goes_on_to_the_budget_and_names_one(load, tmp_path: Path) -> None:
    methods = load("replay_methods")
    public = load("replay_public")
    source = public.Source("made", "t", {"tile": range(9), "pad": (0, 1)}, ("one",))
    times = {
        f"{tile}{pad}": {"t": [seconds * noise for noise in (0.99, 1.0, 1.01)]}
        for tile in range(9)
        for pad in (0, 1)
        for seconds in (1 + abs(tile - 5) + 0.1 * pad,)
    }
    path = tmp_path / "made.json"
    path.write_text(json.dumps(public.t4(source, times)), encoding="utf-8")
    task = methods.Task(
        path=str(path), space="made", method="model", model="cold", seed=1, budget=12,
        horizon=12, peers="", noise=1,
    )  # fmt: skip
    noisy = methods.perform(task)
    assert noisy.steps == 12
    assert noisy.launches > 12
    assert noisy.model == "cold, noise 1"
    assert noisy.loss < 0.2


# --- failing candidates and P ---------------------------------------------------------------


def test_random_search_scores_nothing_where_candidates_fail(load) -> None:
    recorded = read(BENCHMARKS / "recorded" / "heat2d.json.gz")
    some = load("replay_failing").failing(recorded, 0.3, 1)
    performance = load("replay_performance").performance
    scores = [
        performance(some, np.random.default_rng(seed).permutation(len(some)).tolist(), 50)
        for seed in range(300)
    ]
    error = float(np.std(scores)) / math.sqrt(len(scores))
    assert abs(float(np.mean(scores))) < 4 * error


def test_so_large_a_share_fails_by_regions_or_beyond_a_limit(load) -> None:
    recorded = read(BENCHMARKS / "recorded" / "heat2d.json.gz")
    module = load("replay_failing")
    for kind in (module.failing, module.limited):
        some = kind(recorded, 0.3, 1)
        failed = np.array([status != "ok" for status in some.statuses])
        assert failed.mean() == pytest.approx(0.3, abs=1e-3)
        assert (np.isnan(some.seconds) == failed).all()
        assert some.statuses == kind(recorded, 0.3, 1).statuses != kind(recorded, 0.3, 2).statuses


def test_a_reliability_table_has_what_was_said_and_what_ran(load) -> None:
    calibration = load("replay_calibration")
    outcomes = [(0.04, False), (0.04, False), (0.6, True), (0.6, False), (1.0, True)]
    stated = [calibration.Stated(said, runs, True) for said, runs in outcomes]
    head, *rows = calibration.table(stated, "chosen")
    assert "chosen: 5, 0.400 ran" in head
    assert "calibration error 0.056, area under the curve 0.917" in head
    assert [row.split()[1:] for row in rows] == [
        ["0.04", "0.60", "1.00"], ["0.00", "0.50", "1.00"], ["2", "2", "1"]
    ]  # fmt: skip


def test_times_are_judged_by_their_standard_deviations(load) -> None:
    """z is 2, -0.5, 1 and 4: the root of 21.25 / 4 is 2.30, one lies beyond 3, two within 80 %."""
    calibration = load("replay_calibration")
    judged = [("a", 3, 0.2, 0.1), ("a", 9, -0.1, 0.2), ("b", 12, 0.3, 0.3), ("b", 30, 0.4, 0.1)]
    expected = [calibration.Expected(*values, True) for values in judged]
    head, *rows = calibration.times(expected, "chosen")
    assert "times, chosen" in head
    assert [row[:34].strip() for row in rows] == [
        "all", "after 3 to 7", "after 8 to 11", "after 12 to 24", "after 25 and more", "a", "b"
    ]  # fmt: skip
    assert rows[0].split()[1:5] == ["4", "2.30", "0.250", "0.500"]
    assert rows[0].split()[-1] == "0.274"


def test_one_run_says_where_each_patience_ends(load, space) -> None:
    """The proposals do not depend on the rule: a longer patience ends later, never worse."""
    module = load("replay_endings")
    recorded = candidates_of(space)
    case = module.Case(space="made", model="cold", seed=3, most=len(space))
    unknown = np.full(len(space), np.nan)
    short, long = module.endings(recorded, unknown, case, [1, 3])
    assert (short.patience, long.patience) == (1, 3)
    assert short.evaluations <= long.evaluations <= len(space)
    assert short.loss >= long.loss == 0.0
    (cut,) = module.endings(recorded, unknown, dataclasses.replace(case, most=4), [5])
    assert (cut.evaluations, cut.ended, cut.early(0.0)) == (4, False, False)


def test_predictions_that_order_wrongly_are_not_followed_to_their_end(load, space) -> None:
    module = load("replay_endings")
    recorded, orders = candidates_of(space), []
    for predicted in (space.seconds, 1 / space.seconds):
        search = ModelSearch(recorded.points(predicted), seed=1)
        course = module.Course(recorded=recorded, predicted=predicted, search=search)
        course.first(1, 200)
        orders.append(course.order)
    assert [len(order) for order in orders] == [7, 4]


@pytest.mark.parametrize(("name", "model", "seed"), [
    ("heat2d", "correlation 0.9", 176), ("box3d-27pt", "systematic 0.4", 166),
])  # fmt: skip
def test_a_good_model_does_not_end_the_search_of_many_candidates_early(
    load, name: str, model: str, seed: int
) -> None:
    """With the doubt of few candidates both ended after 33 evaluations, 2 % and 4 % off."""
    module, path = load("replay_endings"), BENCHMARKS / "recorded" / f"{name}.json.gz"
    recorded = candidates_of(read(path))
    case = module.Case(space=name, model=model, seed=seed, most=100)
    (end,) = module.endings(recorded, module.predicted(str(path), recorded.space, case), case, [5])
    assert not end.early(0.01)


def test_early_ends_are_counted_by_model_and_patience(load) -> None:
    """Cold, none of two ends early; with a model one of two, with more patience none."""
    module = load("replay_endings")

    def end(model: str, seed: int, patience: int, evaluations: int, loss: float) -> object:
        case = module.Case(space="a", model=model, seed=seed, most=90)
        return module.Ending(case, patience, evaluations, evaluations < 90, loss)

    ends = [
        end("cold", 1, 5, 40, 0.0), end("cold", 2, 5, 90, 0.2), end("cold", 1, 6, 44, 0.0),
        end("cold", 2, 6, 90, 0.2), end("engine", 1, 5, 20, 0.02), end("engine", 2, 5, 30, 0.01),
        end("engine", 1, 6, 50, 0.0), end("engine", 2, 6, 50, 0.01),
    ]  # fmt: skip
    lines = module.lines(ends, ["cold", "engine"], [5, 6])
    assert "cold             patience 5: 0.000 / 0.000, 65.0" in lines[1]
    assert "engine           patience 5: 0.500 / 0.000, 25.0; 1 % against cold +0.500" in lines[3]
    assert "against patience 5 -0.500 +- nan, +0.693 +- nan of the evaluations" in lines[4]
    assert " ".join(lines[-1].split()) == "a cold 0/0 of 2, engine 1/0 of 2"


def test_a_search_that_evaluates_nothing_is_behind_random_search(load, space) -> None:
    assert load("replay_performance").performance(space, [], 5) < 0


@pytest.mark.long
def test_performance_differs_from_the_package_by_its_random_curve_alone(load) -> None:
    if not FOLDER or not (Path(FOLDER) / "autotuning_methodology").exists():
        pytest.skip(
            f"optional: AUTOTUNE_PEERS={FOLDER!r} has no environment with autotuning_methodology"
        )
    path = os.environ.get("AUTOTUNE_T4", "")
    if not path:
        pytest.skip("optional: AUTOTUNE_T4 names no file of T4 results")
    recorded = read(Path(path))
    order = np.argsort(recorded.seconds).tolist()  # the best comes first
    python = Path(FOLDER) / "autotuning_methodology" / "bin" / "python"
    times = [float(s) * 1e3 for s in recorded.seconds[order[:1000]]]
    theirs = load("replay_methodology").asked(python, Path(path), [times])
    ours = load("replay_performance").performance(recorded, order, len(recorded))
    assert ours == pytest.approx(1.0)
    assert theirs["performances"] == pytest.approx([1.0])


# --- tables ---------------------------------------------------------------------------------


def test_a_peer_is_ahead_only_where_the_seeds_say_so(load) -> None:
    verdict = load("replay_tables").verdict
    assert verdict([0.5, 0.6, 0.55], [0.9, 0.95, 0.85]) == "behind"
    assert verdict([0.5, 0.9, 0.1], [0.6, 0.8, 0.3]) == "within noise"
    assert verdict([0.5], [0.9, 0.8]) == "too few runs"
    assert verdict([1.0, 1.0], [1.0, 1.0]) == "within noise"


def test_every_peer_has_a_verdict_over_all_spaces(load) -> None:
    runs = [
        run(load, space=space, method=method, seed=seed, performance=base + 0.01 * seed)
        for space in ("a", "b")
        for method, base in (("model", 0.8), ("pyatf", 0.2))
        for seed in (1, 2, 3)
    ]
    lines = load("replay_tables").peers(runs)
    assert "0.22 0.01 +" in next(line for line in lines if line.startswith("  a "))
    assert lines[-1].startswith("  against pyatf: ahead; mean difference of P over 2 spaces 0.600")


def test_settings_are_compared_on_the_spaces_that_have_all(load) -> None:
    runs = [
        run(load, space=space, model=model, performance=performance)
        for space, model, performance in (
            ("a", "cold", 0.5), ("a", "cold, 30% failing", 0.4), ("b", "cold", 0.9)
        )
    ]  # fmt: skip
    lines = load("replay_tables").beside(runs)
    assert lines[0].startswith("mean over 1 spaces")
    assert [line.split()[-3] for line in lines[2:]] == ["0.50", "0.40"]


def test_a_lucky_sample_is_not_the_fastest(load) -> None:
    runs = [run(load, model="cold, noise 1", loss=loss) for loss in (0.0, 0.2)]
    (_, said) = load("replay_tables").named(runs)
    assert "within 5% 0.500" in said
    assert "named another in 50%" in said


# --- public spaces --------------------------------------------------------------------------


def test_a_public_space_keeps_its_samples(load, tmp_path: Path) -> None:
    public = load("replay_public")
    source = public.Source("made", "latency", {"a": (1, 2), "b": ("x", "y")}, ("one",))
    rows = {"00": {"latency": [1.0, 3.0]}, "01": {"latency": [2.0]}, "11": {"latency": [-1.0]}}
    path = tmp_path / "made.json"
    path.write_text(json.dumps(public.t4(source, rows)), encoding="utf-8")
    recorded = read(path)
    assert recorded.rows == ((1, "x"), (1, "y"), (2, "y"))
    assert recorded.seconds[:2].tolist() == [2.0, 2.0]
    assert recorded.samples[0] == (1.0, 3.0)
    assert recorded.statuses == ("ok", "ok", "crashed")
