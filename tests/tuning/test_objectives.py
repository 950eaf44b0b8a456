"""Several objectives from a config to the front, the store and the mirror; energy from a folder."""

import json
import threading
import urllib.request
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

import own_programs as own
import pytest

from autotune.commands import live
from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow as tune_flow
from autotune.commands.tune.study_run import TunedStudy
from autotune.commands.tune.tune_options import StudyOptions
from autotune.errors import InputError
from autotune.measuring.conditions import energy
from autotune.results.evaluate.study_evaluation import ProblemEvaluation
from autotune.results.export import optuna_journal
from autotune.results.report import study_page, study_table

MIB = 1 << 20
HOLDS = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
    const size_t size = (32u << 20) / BLOCK;
    char *held = malloc(size);
    memset(held, BLOCK, size);
    usleep(BLOCK == 4 ? 120000 : 20000);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("time %.17g s\\n", (BLOCK == 4 ? 0.1 : 0.001 * BLOCK) * (1 + 1e-16 * now.tv_nsec));
    printf("sum %d\\n", held[1] - BLOCK);
    return 0;
}
"""
"""The larger the block the slower and the smaller, but for 4, which is slowest."""


@pytest.fixture
def powercap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A package that takes 50 W, as the kernel would tell."""
    folder = tmp_path / "powercap" / "intel-rapl:0"
    folder.mkdir(parents=True)
    (folder / "name").write_text("package-0\n")
    (folder / "max_energy_range_uj").write_text("262143328850\n")
    counter = folder / "energy_uj"
    counter.write_text("0\n")
    monkeypatch.setattr(energy, "POWERCAP", folder.parent)
    begun, read = energy.time.monotonic(), energy.EnergyMeter.read

    def at_this_moment(meter: energy.EnergyMeter) -> energy.EnergyReading:
        counter.write_text(f"{int(50e6 * (energy.time.monotonic() - begun))}\n")
        return read(meter)

    monkeypatch.setattr(energy.EnergyMeter, "read", at_this_moment)


def config(folder: Path, objectives: str) -> Path:
    settings = f"{own.CONFIG}search: {{objectives: {objectives}, warm_start: false}}\n"
    return own.put(folder, own.PROGRAM, settings, {"tiny.c": HOLDS})


def tuned(
    folder: Path, monkeypatch: pytest.MonkeyPatch, objectives: str, **more: str
) -> TunedStudy:
    monkeypatch.setenv("AUTOTUNE_CACHE", str(folder / "cache"))
    setup = load(config(folder, objectives))
    lines = live.LineScreen()
    return tune_flow.tune(setup, StudyOptions(**more), str(folder / "x.sqlite"), lines, lines.watch)


def block(problem: ProblemEvaluation) -> list[object]:
    return [row.candidate.parameters["block"] for row in problem.front]


@pytest.mark.usefixtures("powercap")
def test_time_energy_and_memory_from_the_config_to_the_front(tmp_path, monkeypatch, capsys):
    result = tuned(tmp_path, monkeypatch, "[memory, time, energy]")
    (problem,) = result.evaluation.problems
    assert problem.objectives == ("time", "energy", "memory")
    assert block(problem) == [1, 2, 8]
    for row in problem.front:
        assert row.energy == pytest.approx(50 * row.measured, rel=0.5)
    held = [row.memory / MIB for row in problem.front]
    assert held == pytest.approx([32, 16, 4], abs=3)
    assert result.record.runs[-1].conditions["objectives"] == "time, energy, memory"
    assert "Pareto front of time, energy and memory: " in study_table.study(result.evaluation)
    assert "Pareto front of time, energy and memory" in study_page.render(result.evaluation)
    out, err = capsys.readouterr()
    assert out == ""
    assert "finished: every candidate was measured" in err


def test_energy_that_cannot_be_read_is_said_at_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(energy, "POWERCAP", tmp_path / "none")
    with pytest.raises(InputError) as caught:
        tuned(tmp_path, monkeypatch, "[time, energy]")
    (fault,) = caught.value.faults
    line = own.CONFIG.count("\n") + 1
    assert fault.where.endswith(f"study.yaml:{line}:10")
    assert "energy cannot be read on this host" in fault.found
    assert not list(tmp_path.glob("x.sqlite-wal"))


@pytest.mark.parametrize("objectives", ["[energy]", "[time, time]", "[time, power]", "[]"])
def test_objectives_that_make_no_sense(tmp_path, objectives):
    (fault,) = own.faults(config(tmp_path, objectives))
    assert "study.yaml" in fault
    assert "objective" in fault


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None: ...


def test_the_dashboard_of_optuna_shows_the_trials(tmp_path, monkeypatch):
    """Written while it went on, and from the store afterwards, asked for by real requests."""
    dashboard = pytest.importorskip("optuna_dashboard", reason="optional: no optuna-dashboard")
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    journal = tmp_path / "live.journal"
    result = tuned(tmp_path, monkeypatch, "[time, memory]", mirror=journal)
    (problem,) = result.evaluation.problems
    later = tmp_path / "later.journal"
    assert optuna_journal.write(result.evaluation, later, ("time", "memory")) == 4
    for path in (journal, later):
        app = dashboard.wsgi(JournalStorage(JournalFileBackend(str(path))))
        with make_server("127.0.0.1", 0, app, handler_class=_Quiet) as server:
            threading.Thread(target=server.serve_forever).start()
            try:
                found = _trials(f"http://127.0.0.1:{server.server_port}/api/studies")
            finally:
                server.shutdown()
        assert found.keys() == {row.candidate.id for row in problem.rows}
        for row in problem.rows:
            params, values = found[row.candidate.id]
            assert params["block"] == str(row.candidate.parameters["block"])
            assert values[0] == pytest.approx(row.measured, rel=0.01)
            # what was written while it went on had seen fewer launches
            assert values[1] == pytest.approx(row.memory, rel=0.1 if path == journal else 1e-9)


def _trials(place: str) -> dict[str, tuple[dict[str, str], list[float]]]:
    """Candidate to parameters and values, of the only study."""

    def get(url: str) -> dict[str, object]:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)

    (summary,) = get(place)["study_summaries"]
    assert summary["directions"] == ["minimize", "minimize"]
    told = get(f"{place}/{summary['study_id']}")
    found = {}
    for trial in told["trials"]:
        assert trial["state"] == "Complete"
        attributes = {each["key"]: each["value"] for each in trial["user_attrs"]}
        params = {each["name"]: each["param_external_value"] for each in trial["params"]}
        found[attributes["candidate"]] = (params, trial["values"])
    return found
