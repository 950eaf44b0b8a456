"""What must hold before a study starts, and what is kept of how it was started."""

from dataclasses import replace
from pathlib import Path

import fabricated as made
import pytest
from refusals import faults

from autotune.commands.rank.ranked_space import RankedSpace, load
from autotune.commands.tune.jobs import collect, emit_job
from autotune.commands.tune.preflight import check_launchers, check_objectives, conditions_of
from autotune.commands.tune.provenance import content, identity_of, launching, versions
from autotune.commands.tune.tune_options import StudyOptions
from autotune.domain.setup import Layout, Searching, Setup
from autotune.errors import MissingTool
from autotune.measuring.host import calibrate
from autotune.results.evaluate.study_evaluation import SEARCHED
from autotune.units import BytesPerSecond, Hertz
from autotune.version import VERSION
from autotune.workloads.base import EnumeratedSpace, IllegalCombinations, Workload

CONFIG = """\
schema: autotune.config/1
title: matmul
machine: generic-x86-64
program: matmul
problems: [{arguments: {n: 128}}]
builds: [{compiler: gcc, flags: [-O2]}]
threads: [1]
launcher: "sh -c {command}"
"""


@pytest.fixture
def workload(tmp_path: Path) -> Workload:
    path = tmp_path / "matmul.yaml"
    path.write_text(CONFIG, encoding="utf-8")
    return load(path)


@pytest.fixture
def setup(workload: Workload) -> Setup:
    return workload.setup


def quiet(stage: str, done: int, total: int, detail: str = "") -> None:
    """Show nothing."""


# --- launchers and objectives -----------------------------------------------------------------


def test_a_launcher_on_the_path_is_taken(setup: Setup) -> None:
    check_launchers(setup)


def test_a_launcher_that_is_not_installed_is_told_with_its_place(setup: Setup) -> None:
    with pytest.raises(MissingTool) as caught:
        check_launchers(replace(setup, launcher="no-such-launcher {command}"))
    place = setup.place("launcher")
    assert str(caught.value) == (
        f"{place}: the launcher 'no-such-launcher' is not installed; expected a program on PATH or"
        " a path to one"
    )
    assert place.endswith("matmul.yaml:8:11")


@pytest.mark.parametrize(
    ("launcher", "words"),
    [
        ("srun -n 1", "'srun -n 1' does not contain {command}"),
        ("sh -c '{command}", "is not a command line: No closing quotation"),
    ],
)
def test_a_launcher_that_starts_nothing_is_told(setup: Setup, launcher: str, words: str) -> None:
    assert words in faults(lambda: check_launchers(replace(setup, launcher=launcher)))


def test_time_alone_can_be_read_everywhere(setup: Setup) -> None:
    check_objectives(replace(setup, layouts=(Layout(nodes=4),)))


def test_memory_of_programs_on_several_nodes_cannot_be_read(setup: Setup) -> None:
    search = Searching(objectives=("time", "memory"))
    on_two = replace(setup, search=search, layouts=(Layout(), Layout(nodes=2)))
    assert faults(lambda: check_objectives(on_two)).endswith(
        "memory of programs on 2 nodes cannot be read; expected objectives: [time], or layouts of"
        " one node"
    )
    check_objectives(replace(on_two, layouts=(Layout(),)))


# --- conditions -------------------------------------------------------------------------------


def ranked(workload: Workload, **changed: object) -> RankedSpace:
    values: dict[str, object] = {
        "workload": workload,
        "machine": made.machine(),
        "enumerated": EnumeratedSpace(legal=[], illegal=IllegalCombinations([])),
        "rankings": (),
    }
    return RankedSpace(**(values | changed))  # type: ignore[arg-type]


def test_the_state_of_the_host_is_kept(workload: Workload) -> None:
    conditions = conditions_of(ranked(workload), quiet)
    assert set(conditions) >= {"priority", "others"}
    assert SEARCHED not in conditions


@pytest.mark.parametrize(("ratio", "told"), [(0.916, True), (0.98, False)])
def test_a_clock_that_is_another_than_the_calibrated_one_is_kept_and_told_at_the_end(
    monkeypatch: pytest.MonkeyPatch, ratio: float, told: bool
) -> None:
    check = calibrate.Recheck(
        clock=Hertz(4e9 * ratio), clock_ratio=ratio, clock_spread=0.037, threads=2,
        bandwidth=BytesPerSecond(1e10), bandwidth_ratio=1.0, contended=False,
    )  # fmt: skip
    monkeypatch.setattr(calibrate, "recheck", lambda _: check)
    on_host = load(Path("configs/quickstart.yaml"))
    assert on_host.setup.machine is None
    conditions = conditions_of(ranked(on_host), quiet)
    assert conditions["clock_ratio"] == ratio
    assert str(conditions.get("warning", "")) == (f"when the study began, {check}" if told else "")


# --- provenance -------------------------------------------------------------------------------


def test_the_versions_of_all_that_takes_part_are_kept(workload: Workload) -> None:
    found = versions(workload)
    assert found["autotune"] == VERSION
    assert "gcc" in found["compilers"]
    assert {"python", "numpy"} <= set(found)
    assert "mpi" not in found


def test_times_are_kept_under_the_calibration_of_a_host_or_the_name_of_a_machine() -> None:
    assert identity_of(made.machine()) == "abc123"
    documented = replace(made.machine(calibrated=False), name="haswell")
    assert identity_of(documented) == "haswell"
    host = made.machine(calibrated=False)
    assert identity_of(host) == identity_of(made.machine(calibrated=False))
    assert identity_of(host) != identity_of(replace(host, title="another processor"))


def test_the_config_is_kept_word_for_word_with_what_it_names(setup: Setup) -> None:
    text = content(setup)
    assert text.startswith(CONFIG + "\n# definitions: ")
    assert setup.problems[0].definition in text
    other = content(replace(setup, problems=(setup.problems[0].resized(256),)))
    assert other == text, "the size stands in the text of the config already"


def test_how_programs_are_started_has_a_digest(setup: Setup) -> None:
    digest = launching(setup)
    assert len(digest) == 12
    assert int(digest, 16) >= 0
    assert launching(replace(setup, title="another")) == digest
    changed = [
        replace(setup, launcher="{command}"),
        replace(setup, mpi_launcher="srun {command}"),
        replace(setup, environment={"A": "1"}),
        replace(setup, environment={"A": "2"}),
    ]
    assert len({digest, *map(launching, changed)}) == 5


def test_the_order_of_the_environment_does_not_matter(setup: Setup) -> None:
    first = replace(setup, environment={"A": "1", "B": "2"})
    assert launching(first) == launching(replace(setup, environment={"B": "2", "A": "1"}))


# --- jobs -------------------------------------------------------------------------------------


def test_a_job_needs_code_that_is_generated(workload: Workload, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    told = faults(lambda: emit_job(workload, StudyOptions(), folder, quiet))
    assert told.startswith(f"{workload.setup.place('program')}: this needs generated code")
    assert not folder.exists()


def test_results_that_are_not_there_are_told_and_no_store_is_made(
    workload: Workload, tmp_path: Path
) -> None:
    store, missing = tmp_path / "store.sqlite", tmp_path / "results.jsonl"
    assert faults(lambda: collect(workload, missing, str(store), quiet)) == (
        f"{tmp_path / 'job.json'}: cannot be read: No such file or directory; expected the"
        " job.json of the emitted job, beside the results file"
    )
    assert not store.exists()
