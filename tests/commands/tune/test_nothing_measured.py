"""A study in which nothing was measured is a failure, with the reason."""

from pathlib import Path

import pytest
from fabricated import facts, fill

from autotune.commands.tune.flow import require_success, study
from autotune.errors import WorkFailed
from autotune.files.store import Store, StudyOrigin


def test_a_study_without_a_single_time_fails(tmp_path: Path) -> None:
    store = str(tmp_path / "results.sqlite")
    with Store.open(store) as results:
        results.begin_study("empty", StudyOrigin(config="empty", setup_text="", versions={}))
        results.end_run(results.begin_run("empty", facts()), state="budget", timings={})
    with pytest.raises(WorkFailed, match="nothing was measured: no time was left for it"):
        require_success(study("empty", store))


def test_the_reason_says_what_took_the_time(tmp_path: Path) -> None:
    store = str(tmp_path / "results.sqlite")
    with Store.open(store) as results:
        results.begin_study("empty", StudyOrigin(config="empty", setup_text="", versions={}))
        run = results.begin_run("empty", facts())
        results.end_run(run, state="budget", timings={"predict": 62.5, "wall": 70.0})
    with pytest.raises(WorkFailed, match=r"no time was left for it \(predictions took 62.50 s\)"):
        require_success(study("empty", store))


def test_one_candidate_that_ran_is_enough(tmp_path: Path) -> None:
    store = str(tmp_path / "results.sqlite")
    with Store.open(store) as results:
        fill(results)
    require_success(study("quick", store))
