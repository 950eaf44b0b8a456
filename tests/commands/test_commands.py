"""The commands as a user runs them: exit codes, one JSON document, no traceback."""

import json
import os
import signal
import subprocess
import sys
import time
import typing
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer
from documented import documented
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.documents import documents
from autotune.commands.measure.document import MeasureDocument
from autotune.commands.rank.document import PredictDocument, RankDocument
from autotune.commands.tune.document import EmitJobDocument
from autotune.files.store import Store
from autotune.results.documents.study_document import StudyDocument

Cli = Callable[..., typing.Any]


def _commands(group: typer.Typer, *before: str) -> Iterator[tuple[str, ...]]:
    """The words of every command, those of groups with the group's before them."""
    for one in group.registered_commands:
        assert one.callback is not None
        yield (*before, one.name or one.callback.__name__)
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from _commands(inner.typer_instance, *before, str(inner.name))


def test_help_of_every_command_has_an_example(autotune: Cli) -> None:
    """One is asked for as a user does, the others without a process."""
    named = list(_commands(app))
    assert {("tune",), ("scale",), ("learn", "compare"), ("machine", "refine")} <= set(named)
    for words in named:
        shown = CliRunner().invoke(app, [*words, "--help"], prog_name="autotune")
        assert shown.exit_code == 0, words
        example = f"Example: autotune {' '.join(words)}"
        assert example in " ".join(shown.output.split()), words
    assert example in " ".join(autotune(*words, "--help").out.split())


@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        (["doctor"], "autotune.doctor/1"),
        (["machine", "list"], "autotune.machine.list/1"),
        (["machine", "show", "haswell-e5-2630v3"], "autotune.machine.show/1"),
        (["machine", "check", "haswell-e5-2630v3"], "autotune.machine.check/1"),
        (["machine", "detect"], "autotune.machine.detect/1"),
        (["variants", "small.yaml", "--illegal"], "autotune.variants/1"),
        (["predict", "small.yaml"], "autotune.predict/1"),
        (["rank", "small.yaml"], "autotune.rank/1"),
    ],
)
def test_json_is_one_document_with_the_documented_fields(
    autotune: Cli, config: Path, arguments: list[str], schema: str
) -> None:
    result = autotune(*arguments, "--json").json()
    assert next(iter(result.items())) == ("schema", schema)
    documented(result, documents()[schema], schema)


def test_predict_gives_the_formula_of_a_candidate(autotune: Cli, config: Path) -> None:
    text = config.read_text(encoding="utf-8")
    problem = next(line for line in text.splitlines() if "size: 40" in line)
    config.write_text(
        text.replace(problem, f"{problem}\n{problem.replace('size: 40', 'size: 200')}"),
        encoding="utf-8",
    )
    found = autotune("predict", "small.yaml", "--formula", "ijl-pad5", "--json").json()
    documented(found, PredictDocument, "predict")
    (made,) = found["formulas"]
    assert (made["sizes"], len(made["candidates"])) == ([1600.0, 40000.0], 2)
    predicted = {row["candidate"]: row["predicted_s"] for row in found["predictions"]}
    largest = sum(t["coefficient"] * 40000.0 ** t["power"] for t in made["terms"])
    assert largest == pytest.approx(predicted[made["candidates"][1]])
    told = autotune("predict", "small.yaml", "--formula", made["candidates"][0]).out
    assert "T = (" in told
    assert made["candidates"][0] in told
    bad = autotune("predict", "small.yaml", "--formula", "ijl-pad55", check=2)
    assert "did you mean" in bad.err


def test_rank_explains_and_compares(autotune: Cli, config: Path) -> None:
    ranking = autotune("rank", "small.yaml", "--json").json()["ranking"]
    assert [row["rank"] for row in ranking] == list(range(1, 7))
    assert all(row["predicted_s"] > 0 and row["reason"] for row in ranking)
    first, last = ranking[0]["candidate"], ranking[-1]["candidate"]
    assert "T_nOL" in autotune("rank", "small.yaml", "--why", first).out
    text = autotune("rank", "small.yaml", "--why", last, "--against", first).out
    assert first.partition(":")[0] in text
    assert "x slower than" in text
    told = autotune(
        "rank", "small.yaml", "--why", "ijl", "--against", "jli", "--assembly", "--json"
    ).json()
    documented(told, RankDocument, "rank")
    why = told["explanations"][0]
    assert told["why"] == why
    assert why["candidate"].startswith("ijl-pad5@")
    assert why["words"][0].startswith(("Predicted: ijl-pad5 is", "Predicted: ijl-pad5 and"))
    assert why["measured"] is None
    assert {row["kernel"] for row in why["loops"]} >= {"lc", "approx", "update"}
    compiled = [row["result"] for row in why["loops"]]
    assert all(result["annotated"] for result in compiled if result["route"] != "ports")
    lost = autotune("rank", "small.yaml", "--why", "ijl", "--against", "jlj", check=2)
    assert "--against" in lost.err
    assert "did you mean" in lost.err
    bad = autotune("rank", "small.yaml", "--why", first[:-3] + "xyz", check=2)
    assert "did you mean" in bad.err
    variant = first.partition("@")[0]
    bad = autotune("rank", "small.yaml", "--why", f"{variant}@heat2d-N40-T77", check=2)
    assert f"did you mean {variant}@" in " ".join(bad.err.split())


def test_the_candidates_in_examples_of_help_depend_on_no_host(autotune: Cli) -> None:
    assert "@" not in autotune("rank", "--help").out


def test_summaries_of_commands_are_not_cut(autotune: Cli) -> None:
    for words in ((), ("machine",), ("comm",), ("learn",), ("assert",)):
        told = autotune(*words, "--help").out
        assert len(told.partition("Commands:")[2].splitlines()) >= 4
        assert "..." not in told.partition("Commands:")[2]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("rank", "c", "--engine", "x"), "Invalid value for '--engine': 'x' is not one of"),
        (("rank", "c", "--against", "x"), "Invalid value for '--against': needs --why"),
        (("comm", "show", "-o", "a.png"), "Invalid value for '-o': a.png does not end in"),
    ],
)
def test_a_wrong_option_is_named_in_quotes(
    autotune: Cli, words: tuple[str, ...], told: str
) -> None:
    assert f"Error: {told}" in autotune(*words, check=2).err


def test_variants_emits_sources_that_compile(autotune: Cli, config: Path, tmp_path: Path) -> None:
    rows = autotune("variants", "small.yaml", "--json").json()["variants"]
    autotune("variants", "small.yaml", "--emit", rows[0]["candidate"], "-o", "source")
    files = sorted((tmp_path / "source").glob("*.c"))
    assert files
    command = ["gcc", "-O1", "-fopenmp", *map(str, files), "-lm", "-o", str(tmp_path / "prog")]
    subprocess.run(command, check=True)


def test_tune_measures_verifies_and_reports(autotune: Cli, config: Path, tmp_path: Path) -> None:
    result = autotune("tune", "small.yaml", "--json", "--report", "page.html").json()
    documented(result, StudyDocument, "tune")
    problem = result["problems"][0]
    assert problem["problem"] == "heat2d-N40"
    assert {row["status"] for row in problem["evaluated"]} == {"ok"}
    assert all(row["verified_error"] <= 1e-12 for row in problem["evaluated"])
    samples = {row["candidate"]: row["samples"] for row in problem["evaluated"]}
    assert all(count >= 2 and count % 2 == 0 for count in samples.values())  # whole launches
    # three rounds of the race, and three of the finals
    assert min(samples[problem["best"]], samples[problem["baseline"]]) >= 2 * (3 + 3)
    assert problem["speedup"] is not None
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    compared = autotune("compare", "--json").json()
    assert compared["schema"] == "autotune.compare/1"
    assert compared["problems"] == result["problems"]
    assert problem["best"].split("@")[0] in autotune("compare").out
    autotune("report", "small", "-o", "again.html")
    assert (tmp_path / "again.html").exists()


def test_measure_with_phases(autotune: Cli, config: Path) -> None:
    ranking = autotune("rank", "small.yaml", "--json").json()["ranking"]
    result = autotune(
        "measure", "small.yaml", "--candidate", ranking[0]["candidate"], "--phases", "--json"
    ).json()
    documented(result, MeasureDocument, "measure")
    assert result["status"] == "ok"
    assert {"rhs", "lc", "barrier"} <= {name.lower() for name in result["phases_s"]}


def test_a_job_runs_without_autotune_and_its_results_are_read_back(
    autotune: Cli, config: Path, tmp_path: Path
) -> None:
    emitted = autotune("tune", "small.yaml", "--emit-job", "job", "--json").json()
    documented(emitted, EmitJobDocument, "emit-job")
    assert (emitted["folder"], emitted["script"]) == ("job", "job/job.sh")
    subprocess.run(["sh", "job/job.sh"], cwd=tmp_path, check=True, env={"PATH": os.environ["PATH"]})
    result = autotune("tune", "small.yaml", "--collect", "job/results.jsonl", "--json").json()
    rows = result["problems"][0]["evaluated"]
    assert {row["candidate"] for row in rows} == set(emitted["candidates"])
    assert {row["status"] for row in rows} == {"ok"}
    assert all(row["samples"] == 6 for row in rows)
    assert all(row["verified_error"] <= 1e-12 for row in rows)
    with Store.open(str(tmp_path / "autotune-results.sqlite")) as store:
        (run,) = store.load_study(result["study"]).runs
    assert run.machine_identity.startswith("job:")
    again = autotune("tune", "small.yaml", "--emit-job", "job", check=2)
    assert "exists already" in again.err


@pytest.mark.parametrize(
    "options",
    [
        ["--emit-job", "job", "--collect", "results.jsonl"],
        ["--emit-job", "job", "--resume"],
        ["--collect", "results.jsonl", "--resume"],
        ["--collect", "results.jsonl", "--exhaustive"],
        ["--collect", "results.jsonl", "--budget-seconds", "5"],
        ["--collect", "results.jsonl", "--budget-evaluations", "5"],
    ],
)
def test_options_of_jobs_that_exclude_each_other(
    autotune: Cli, config: Path, options: list[str]
) -> None:
    refused = autotune("tune", "small.yaml", *options, check=2)
    assert f"{options[0]}" in refused.err
    assert options[2] in refused.err


def _stopped_while_measuring(folder: Path, number: signal.Signals) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "autotune", "tune", "small.yaml"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stderr is not None
    for line in child.stderr:
        if line.startswith("measure"):
            break
    time.sleep(1.0)
    child.send_signal(number)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "--resume" in err
    assert "Traceback" not in err


def test_the_end_of_a_batch_job_is_a_ctrl_c(config: Path, tmp_path: Path) -> None:
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("rounds: 3", "rounds: 40"), encoding="utf-8")
    _stopped_while_measuring(tmp_path, signal.SIGTERM)


def test_ctrl_c_keeps_what_was_measured_and_resume_goes_on(
    autotune: Cli, config: Path, tmp_path: Path
) -> None:
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("rounds: 3", "rounds: 20"), encoding="utf-8")
    _stopped_while_measuring(tmp_path, signal.SIGINT)
    config.write_text(text, encoding="utf-8")
    changed = autotune("tune", "small.yaml", "--resume", check=2)
    assert "another content" in changed.err
    config.write_text(text.replace("rounds: 3", "rounds: 20"), encoding="utf-8")
    result = autotune("tune", "small.yaml", "--resume", "--json").json()
    assert result["runs"] == 2
    assert all(row["status"] == "ok" for row in result["problems"][0]["evaluated"])


def test_budget_of_evaluations_is_kept(autotune: Cli, config: Path) -> None:
    result = autotune("tune", "small.yaml", "--budget-evaluations", "2", "--json").json()
    assert len(result["problems"][0]["evaluated"]) <= 2


def test_exhaustive_measures_all(autotune: Cli, config: Path) -> None:
    result = autotune("tune", "small.yaml", "--exhaustive", "--json").json()
    assert result["problems"][0]["measured"] == "6 of 6"
    rows = result["problems"][0]["evaluated"]
    told = autotune("rank", "small.yaml", "--why", "ijl", "--against", "jli", "--json").json()
    why = told["explanations"][0]
    times = {row["candidate"]: row["measured_s"] for row in rows}
    assert why["measured"]["seconds"] == times[why["candidate"]]
    assert why["measured"]["seconds_against"] == times[why["against"]]
    assert [words.partition(":")[0] for words in why["words"][::2]][:2] == ["Measured", "Predicted"]


def test_stdout_is_json_only(autotune: Cli, config: Path) -> None:
    run = autotune("tune", "small.yaml", "--json")
    json.loads(run.out)
    assert "measure" in run.err


def test_two_problems_of_the_same_file_name_keep_apart(
    autotune: Cli, config: Path, tmp_path: Path
) -> None:
    ivps = Path(__file__).parents[2] / "kernels" / "ivp"
    for folder, source in (("a", "heat2d"), ("b", "wave1d")):
        (tmp_path / folder).mkdir()
        text = (ivps / f"{source}.yaml").read_text(encoding="utf-8")
        (tmp_path / folder / "mine.yaml").write_text(text, encoding="utf-8")
    text = config.read_text(encoding="utf-8")
    row = "  - {ivp: heat2d, method: radau-iia-5, correctors: 4, size: 40}\n"
    rows = row.replace("heat2d", "a/mine.yaml") + row.replace("heat2d", "b/mine.yaml")
    config.write_text(text.replace(row, rows), encoding="utf-8")
    problems = autotune("tune", "small.yaml", "--json").json()["problems"]
    assert len(problems) == 2
    assert all(row["status"] == "ok" for p in problems for row in p["evaluated"])


@pytest.mark.long
def test_a_budget_of_seconds_ends_and_a_resume_takes_up_what_is_left(
    autotune: Cli, config: Path
) -> None:
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("rounds: 3", "rounds: 30"), encoding="utf-8")
    # where others take the CPUs, nothing is measured in so little time
    first = autotune("tune", "small.yaml", "--budget-seconds", "2", "--json", check=None).json()
    taken = sum(row["samples"] for row in first["problems"][0]["evaluated"])
    assert taken < 3 * 60
    second = autotune("tune", "small.yaml", "--resume", "--json").json()
    assert second["runs"] == 2
    problem = second["problems"][0]
    assert {row["status"] for row in problem["evaluated"]} == {"ok"}
    samples = {row["candidate"]: row["samples"] for row in problem["evaluated"]}
    assert min(samples[problem["best"]], samples[problem["baseline"]]) >= 60
