"""What others measured becomes a study in the store, and hints for the studies to come."""

import json
from pathlib import Path

import pytest

from autotune.commands.importing.flow import given_settings, import_file
from autotune.commands.rank.host_machine import uncalibrated_machine
from autotune.commands.rank.ranked_space import RankedSpace
from autotune.commands.tune.earlier_results import EarlierResults
from autotune.domain.setup import Setup
from autotune.errors import InputError
from autotune.files import config
from autotune.files.store import Store, StudyOrigin
from autotune.results.evaluate.study_evaluation import evaluate
from autotune.results.export import export_table
from autotune.results.export.choices import choices
from autotune.workloads.shipped import workload_of

CONFIG = """\
schema: autotune.config/1
title: matmul
machine: generic-x86-64
program: matmul
problems: [{arguments: {n: 256}}, {arguments: {n: 512}}]
builds: [{compiler: gcc, flags: [-O3]}]
"""
NAMES = ("bi", "bj", "bk", "order", "unroll", "n")
ROWS = {
    (8, 32, 8, "IKJ", 1, 512): 3.0,
    (16, 32, 8, "IKJ", 1, 512): 2.0,
    (32, 32, 8, "KIJ", 4, 512): "RuntimeFailedConfig",
    (7, 32, 8, "IKJ", 1, 512): 9.0,
}


def silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is shown."""


@pytest.fixture(scope="module")
def setup(tmp_path_factory: pytest.TempPathFactory) -> Setup:
    path = tmp_path_factory.mktemp("config") / "mm.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    return config.load(path)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache of Kernel Tuner that its tuner left open."""
    entries = {
        ",".join(map(str, row)): {**dict(zip(NAMES, row, strict=True)), "time": time}
        | ({"times": [time, time]} if isinstance(time, float) else {})
        for row, time in ROWS.items()
    }
    document = {
        "device_name": "another machine", "kernel_name": "mm", "problem_size": [512],
        "tune_params_keys": list(NAMES), "tune_params": {}, "objective": "time", "cache": entries,
    }  # fmt: skip
    path = tmp_path / "mm.json"
    path.write_text(json.dumps(document)[:-2] + ",", encoding="utf-8")
    return path


def test_a_cache_becomes_a_study(setup: Setup, cache: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "r.sqlite")
    given = given_settings(["fast_math=none"])
    done = import_file(cache, workload_of(setup), given, store, silent)
    assert (done.study, done.rows, done.entered, done.failed) == ("imported-mm", 4, 3, 1)
    assert done.strangers[0]["bi"] == 7
    assert (done.device, done.already) == ("another machine", False)
    again = import_file(cache, workload_of(setup), given, store, silent)
    assert (again.study, again.already) == ("imported-mm", True)
    with Store.open(store) as results:
        assert [summary.name for summary in results.studies()] == ["imported-mm"]
        assert results.latest_study(setup.name) is None  # --resume does not take it for its own
        result = evaluate(results.load_study("imported-mm"))
        (run,) = result.study.runs
        assert (run.machine.title, run.state) == ("another machine", "done")
        (problem,) = result.problems
        assert problem.label == "matmul-n512"
        assert problem.best is not None
        assert problem.best.measured == pytest.approx(2e-3)
        rows = export_table.table(result, result.problems)
        assert rows.column("verified") == [False] * 3
        assert sorted(map(str, rows.column("status"))) == ["crashed", "ok", "ok"]
        (note,) = choices(result).notes
        assert note == f"measured elsewhere, as recorded in {done.source}"


def test_imported_times_are_hints_and_no_results(setup: Setup, cache: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "r.sqlite")
    import_file(cache, workload_of(setup), {"fast_math": None}, store, silent)
    machine = uncalibrated_machine(setup)
    workload = workload_of(setup)
    found = RankedSpace(
        workload=workload,
        machine=machine,
        enumerated=workload.candidates(machine.cores),
        rankings=(),
    )
    with Store.open(store) as results:
        results.begin_study("mine", StudyOrigin(config=setup.name, setup_text="-"))
        mine = [c for c in found.enumerated.legal if c.variant.parameters["bk"] == 8]
        results.add_candidates("mine", mine)
        past = EarlierResults(results=results, study="mine", ranked=found)
        assert past.new_results() == []
        assert sorted(known.seconds for known in past.hints.values()) == pytest.approx([2e-3, 3e-3])


def test_what_cannot_be_entered_is_told(setup: Setup, cache: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "r.sqlite")
    for texts in (["threads"], ["=3"]):
        with pytest.raises(InputError, match="NAME=VALUE"):
            given_settings(texts)
    plain = tmp_path / "plain.csv"
    plain.write_text("bi,time\n8,1\n16,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="times without a unit"):
        import_file(plain, workload_of(setup), {}, store, silent)
    plain.write_text("bi,time_s\n8,1\n16,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="they do not say"):
        import_file(plain, workload_of(setup), {}, store, silent)
    assert not Path(store).exists()
