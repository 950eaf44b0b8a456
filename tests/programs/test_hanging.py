"""Programs that run for far too long: their time is limited by that of the baseline."""

import math
import os
import time
from pathlib import Path

import own_programs as own
import pytest
from command_line import CommandLine
from fake_host import Notebook

from autotune.domain.variant import Candidate
from autotune.files.store import Store
from autotune.tuning import Bench
from autotune.tuning.building import prepare

LONG = own.TINY.replace(
    "    struct timespec now;",
    "    volatile int spins = BLOCK == 1;\n    while (spins);\n    struct timespec now;",
)
"""With block 1 it never ends; the baseline, block 8, takes milliseconds."""
CONFIG = own.CONFIG.replace("run: 20 s", "run: 600 s")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return own.put(tmp_path, own.PROGRAM, CONFIG, {"tiny.c": LONG})


def on_bench(study: Path) -> tuple[Bench, Notebook, dict[str, Candidate]]:
    """A bench on which the baseline was verified."""
    _, measurer, candidates = own.opened(study)
    journal = Notebook()
    bench = Bench(measurer=measurer, journal=journal, progress=own.quiet)
    (baseline,) = prepare([candidates["8"]], bench, math.inf)
    assert baseline.status == "ok"
    return bench, journal, candidates


def test_the_first_run_of_a_candidate_is_limited_by_that_of_the_baseline(study: Path) -> None:
    bench, _, candidates = on_bench(study)
    hanging, good = prepare([candidates["1"], candidates["4"]], bench, math.inf)
    assert (hanging.status, good.status) == ("timed-out", "ok")
    assert "ended after its time limit" in hanging.detail
    assert "; the baseline takes 0.0" in hanging.detail
    assert bench.clock.stages["build"] > 0
    assert bench.clock.stages["verify"] > 0.5, "of two seconds of one of two"


def test_what_was_running_for_too_long_when_the_time_was_used_up_is_entered(study: Path) -> None:
    bench, journal, candidates = on_bench(study)
    prepare([candidates["1"]], bench, time.monotonic() + 1.5)
    entered = journal.prepared_[candidates["1"].identity]
    assert entered.status == "timed-out"
    assert entered.detail.startswith("ran for at least 1.")


def test_where_the_time_is_not_the_objective_a_longer_run_may_be_the_better_one(
    study: Path,
) -> None:
    metric = "metrics: {sum: {pattern: 'sum (\\S+)', better: more}}\nobjective: sum\n"
    (study.parent / "tiny.yaml").write_text(own.PROGRAM + metric, encoding="utf-8")
    bench, journal, candidates = on_bench(study)
    assert prepare([candidates["1"]], bench, time.monotonic() + 1.5) == []
    assert candidates["1"].identity not in journal.prepared_


def test_what_was_not_running_for_longer_than_the_baseline_is_left_out(study: Path) -> None:
    """Without a run of the baseline nobody knows whether it was too long."""
    _, measurer, candidates = own.opened(study)
    journal = Notebook()
    bench = Bench(measurer=measurer, journal=journal, progress=own.quiet)
    assert prepare([candidates["1"]], bench, time.monotonic() + 1.5) == []
    assert not journal.prepared_


def test_a_hanging_candidate_is_a_result_of_the_study_and_met_only_once(
    study: Path, command_line: CommandLine, tmp_path: Path
) -> None:
    words = ["tune", "study.yaml", "--store", "s.sqlite", "--budget-seconds", "60"]
    done = command_line.run(words, folder=tmp_path, environment=os.environ, timeout=200)
    assert done.code == 0, done.err
    assert "timed out" in done.out
    assert "verify " in done.out
    with Store.open(tmp_path / "s.sqlite", create=False) as store:
        record = store.load_study("study")
    (run,) = record.runs
    statuses = {m.candidate: m.status for m in run.measurements}
    assert sorted(statuses.values()) == ["ok", "ok", "ok", "timed-out"]
    (hanging,) = (i for i, status in statuses.items() if status == "timed-out")
    assert hanging in run.finished
