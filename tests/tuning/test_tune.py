"""The rounds: interleaving, statuses, deadline, checksums; with recorded times."""

import os
import signal
import threading
import time
from dataclasses import dataclass, field

import pytest

from autotune.domain.problem import Problem
from autotune.domain.results import Measurement, Prediction, Prepared, Sample
from autotune.domain.setup import Measuring
from autotune.domain.variant import Candidate, Variant
from autotune.files import config
from autotune.measuring.candidates.base import Launch
from autotune.measuring.candidates.replay_measurer import Recording, ReplayMeasurer
from autotune.statistics.launch_times import time_of
from autotune.toolchain import child_process
from autotune.tuning import Bench, Chosen, TuningPlan, odd_ones_out, tune_problem

PROBLEM = Problem(
    ivp=config.ivp("heat2d"), method=config.method("radau-iia-5"), correctors=4, size=32
)
MEASURING = Measuring(rounds=4, samples=2)


def chosen(number: int) -> Chosen:
    variant = Variant(skeleton="pirk", transformations=(), parameters={"order": f"v{number}"})
    prediction = Prediction(seconds=1.0, interval=None, parts=(), engine="reuse", reason="")
    return Chosen(Candidate(variant=variant, problem=PROBLEM), prediction, "predicted")


@dataclass
class Journal:
    prepared_: list[Prepared] = field(default_factory=list)
    samples: list[tuple[str, Sample]] = field(default_factory=list)
    outcomes: list[Measurement] = field(default_factory=list)

    def chosen(self, choices: list[Chosen]) -> None:
        """Not kept."""

    def prepared(self, prepared: Prepared) -> None:
        self.prepared_.append(prepared)

    def sample(self, candidate: Candidate, sample: Sample) -> None:
        self.samples.append((candidate.identity, sample))

    def outcome(self, measurement: Measurement, checksum: tuple[float, float] | None) -> None:
        self.outcomes.append(measurement)


def no_progress(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is shown."""


def run(
    recordings: list[Recording], deadline: float = float("inf")
) -> tuple[list[Measurement], Journal]:
    group = [chosen(number) for number in range(len(recordings))]
    measurer = ReplayMeasurer(
        {c.candidate.identity: r for c, r in zip(group, recordings, strict=True)}
    )
    journal = Journal()
    plan = TuningPlan(measuring=MEASURING, deadline=deadline)
    done = tune_problem(
        group, Bench(measurer=measurer, journal=journal, progress=no_progress), plan
    )
    return done, journal


def test_every_candidate_is_launched_once_per_round_and_every_sample_is_kept() -> None:
    done, journal = run([Recording(launches=[[1.0, 1.1]]), Recording(launches=[[2.0, 2.2]])])
    assert [m.status for m in done] == ["ok", "ok"]
    assert len(journal.samples) == 2 * 4 * 2
    rounds = [sample.round for _, sample in journal.samples]
    assert rounds == sorted(rounds), "a round is finished before the next begins"
    assert [len(m.samples) for m in done] == [8, 8]
    orders = [
        tuple(dict.fromkeys(i for i, s in journal.samples if s.round == number))
        for number in range(4)
    ]
    assert all(len(order) == 2 for order in orders)


@pytest.mark.parametrize("status", ["build-failed", "crashed", "timed-out", "wrong-result"])
def test_a_candidate_that_fails_is_a_row_and_the_others_go_on(status: str) -> None:
    bad = Recording(launches=[[1.0]], status=status, detail="why")  # type: ignore[arg-type]
    done, journal = run([Recording(launches=[[1.0, 1.0]]), bad])
    assert [m.status for m in done] == ["ok", status]
    assert done[1].detail == "why"
    assert len(journal.outcomes) == 2


def test_a_disturbed_candidate_is_not_slow() -> None:
    done, _ = run([Recording(launches=[[1.0, 1.0]]), Recording(launches=[[2.0, 2.0]], busy=0.5)])
    assert done[1].status == "ok"
    assert done[1].disturbed == len(done[1].timed) > 0
    assert time_of(done[1].samples) < 2.0


def test_another_checksum_than_the_majority_is_a_wrong_result() -> None:
    good = Recording(launches=[[1.0, 1.0]], checksum=(10.0, 10.0))
    near = Recording(launches=[[1.0, 1.0]], checksum=(10.0 + 1e-12, 10.0))
    bad = Recording(launches=[[0.1, 0.1]], checksum=(10.1, 10.0))
    done, _ = run([good, near, bad])
    assert [m.status for m in done] == ["ok", "ok", "wrong-result"]
    assert not done[2].verified


def test_after_the_deadline_nothing_starts_and_unmeasured_candidates_have_no_row() -> None:
    done, journal = run([Recording(launches=[[1.0]])], deadline=time.monotonic() - 1)
    assert done == []
    assert journal.outcomes == []


@dataclass
class Slow:
    """Prepares in a child that would take minutes."""

    ended: list[str | None] = field(default_factory=list)

    def prepare(self, candidate: Candidate) -> Prepared:
        outcome = child_process.run(["sleep", "300"], timeout=400)
        self.ended.append(outcome.signal)
        return Prepared(candidate=candidate, status="build-failed")

    def interrupt(self) -> None:
        child_process.end_all()

    def launch(self, prepared: Prepared, **_: object) -> Launch:
        raise AssertionError("nothing was built")


def test_an_interrupt_does_not_wait_for_what_is_being_built() -> None:
    """The signal comes while all that can be built at once is being built."""
    group = [chosen(number) for number in range(2 * (os.cpu_count() or 1) + 1)]
    measurer = Slow()
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.5, signal.pthread_kill, [main, signal.SIGINT]).start()
    bench = Bench(measurer=measurer, journal=Journal(), progress=no_progress)
    with pytest.raises(KeyboardInterrupt):
        tune_problem(group, bench, TuningPlan(measuring=MEASURING))
    assert measurer.ended
    assert set(measurer.ended) == {"SIGKILL"}
    assert len(measurer.ended) < len(group)


def test_a_wrong_majority_of_one_does_not_condemn_the_rest() -> None:
    wrong, right = (9.0, 10.0), (10.0, 10.0)
    assert odd_ones_out({"base": wrong, "a": right, "b": right}) == {"base"}
    assert odd_ones_out({"a": right, "b": wrong}) == {"a", "b"}, "nobody can tell which is right"
    assert odd_ones_out({"a": right}) == set()
