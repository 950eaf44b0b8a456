"""``autotune tune``: which options go together, and what a job needs."""

from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import own_programs as own
import pytest
from refusals import usage_error
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.tune import flow
from autotune.commands.tune.command import EXAMPLE, TuneOptions
from autotune.commands.tune.tune_options import StudyOptions
from autotune.files import config


def test_nothing_is_given_where_nothing_is_said() -> None:
    assert not any(TuneOptions().given.values())


def test_every_option_that_others_exclude_knows_whether_it_was_given() -> None:
    path = Path("x")
    every = TuneOptions(
        config=path, report=path, emit_job=path, collect=path, replay=path, seed=0,
        study=StudyOptions(
            budget_seconds=1.0, budget_evaluations=1, exhaustive=True, resume=True, sampler="gp",
            prior="s", mirror=path,
        ),
    )  # fmt: skip
    assert all(every.given.values())
    assert TuneOptions(seed=0).given["--seed"]


def test_the_limits_of_the_study_are_those_of_the_options(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Every option of the command line reaches the run of the study as it was given."""
    studies: list[StudyOptions] = []

    def tune(workload: object, options: StudyOptions, *others: object, began: float) -> None:
        studies.append(options)
        raise KeyboardInterrupt

    monkeypatch.setattr("autotune.commands.tune.flow.tune", tune)
    config = tmp_path / "grid.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    (tmp_path / "blocks.yaml").write_text(SPACE, encoding="utf-8")
    words = [
        *("--budget-seconds", "60", "--budget-evaluations", "5", "--resume"),
        *("--sampler", "model", "--prior", "old@store.sqlite", "--mirror", "x.journal"),
    ]
    for more in ([], words):
        assert CliRunner().invoke(app, ["tune", str(config), *more]).exit_code == 130
    names = [field.name for field in fields(StudyOptions)]
    usual, given = ({name: getattr(s, name) for name in names} for s in studies)
    assert usual == {name: getattr(StudyOptions(), name) for name in names}
    assert given == {
        "budget_seconds": 60.0,
        "budget_evaluations": 5,
        "exhaustive": False,
        "resume": True,
        "sampler": "model",
        "prior": "old@store.sqlite",
        "mirror": Path("x.journal"),
    }


@pytest.mark.parametrize(
    ("words", "option", "others"),
    [
        (("a.yaml", "--emit-job", "j", "--collect", "r"), "--emit-job", "--collect"),
        (("a.yaml", "--emit-job", "j", "--resume"), "--emit-job", "--resume"),
        (("a.yaml", "--emit-job", "j", "--prior", "s"), "--emit-job", "--prior"),
        (("a.yaml", "--collect", "r", "--exhaustive"), "--collect", "--exhaustive"),
        (
            ("a.yaml", "--collect", "r", "--budget-seconds", "5", "--budget-evaluations", "3"),
            "--collect",
            "--budget-seconds, --budget-evaluations",
        ),
        (("a.yaml", "--exhaustive", "--sampler", "gp"), "--exhaustive", "--sampler"),
        (("a.yaml", "--exhaustive", "--mirror", "m"), "--exhaustive", "--mirror"),
        (("a.yaml", "--replay", "r.csv", "--report", "p"), "--replay", "CONFIG, --report"),
    ],
)
def test_options_that_exclude_each_other_are_told(
    words: tuple[str, ...], option: str, others: str
) -> None:
    told = usage_error("tune", *words)
    assert told == f"Invalid value for '{option}': does not go with {others}"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Invalid value for 'CONFIG': is needed, or --replay FILE"),
        (("a.yaml", "--seed", "3"), "Invalid value for '--seed': needs --replay"),
        (
            ("a.yaml", "--prior", "s", "--sampler", "gp"),
            "Invalid value for '--prior': is for --sampler model",
        ),
    ],
)
def test_an_option_that_needs_another_says_which(words: tuple[str, ...], told: str) -> None:
    assert usage_error("tune", *words) == told


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("a.yaml", "--budget-seconds", "0"), ("--budget-seconds", "1")),
        (("a.yaml", "--budget-evaluations", "0"), ("--budget-evaluations", "1")),
        (("a.yaml", "--budget-evaluations", "few"), ("--budget-evaluations",)),
        (("a.yaml", "--sampler", "tp"), ("--sampler", "'tp'", "'tpe'")),
        (("a.yaml", "b.yaml"), ("b.yaml",)),
    ],
)
def test_wrong_values_end_with_code_2(words: tuple[str, ...], parts: tuple[str, ...]) -> None:
    told = usage_error("tune", *words)
    assert [part for part in parts if part not in told] == []


CONFIG = """\
schema: autotune.config/1
title: a grid
machine: generic-x86-64
space: blocks.yaml
engine: planes
problems: [{stencil: star3d-7pt, grid: {i: 60, j: 20, k: 9}}]
builds: [{compiler: gcc, flags: [-O2]}]
threads: [1]
selection: {top: 1, random: 0, seed: 3}
"""
SPACE = """\
schema: autotune.space/1
skeleton: jacobi
title: one dimension to block
parameters: {bk: [none, 4]}
rules:
  - {block: {kernel: sweep, dimension: k, size: $bk}, when: {bk: 4}}
baseline: {bk: none}
"""


def test_a_job_says_how_to_read_it_back_in_words_that_can_be_pasted(tmp_path: Path) -> None:
    config, folder = tmp_path / "my grid.yaml", tmp_path / "my job"
    config.write_text(CONFIG, encoding="utf-8")
    (tmp_path / "blocks.yaml").write_text(SPACE, encoding="utf-8")
    done = CliRunner().invoke(app, ["tune", str(config), "--emit-job", str(folder)])
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == (
        f"wrote {folder / 'job.sh'}; run it there, bring the folder back, then:"
        f" autotune tune '{config}' --collect '{folder / 'results.jsonl'}'"
    )


def test_a_page_is_never_written_over_a_config(tmp_path: Path) -> None:
    config = tmp_path / "grid.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    (tmp_path / "blocks.yaml").write_text(SPACE, encoding="utf-8")
    done = CliRunner().invoke(app, ["tune", str(config), "--report", str(config)])
    assert "a file that is not an HTML page" in str(done.exception)
    assert config.read_text(encoding="utf-8") == CONFIG


def test_the_help_has_the_example() -> None:
    assert EXAMPLE in " ".join(CliRunner().invoke(app, ["tune", "--help"]).output.split())


@pytest.mark.parametrize(
    ("size", "remark"), [(500, ""), (600, ", which was about tiny-n600 so far (a key name in")]
)
def test_a_study_of_other_problems_is_not_resumed_silently(
    tmp_path: Path, size: int, remark: str
) -> None:
    setup = config.load(own.put(tmp_path))
    facts = setup.problems[0].resized(size).facts()  # type: ignore[union-attr]
    study = SimpleNamespace(candidates=(SimpleNamespace(problem=facts),))
    words = flow._of_other_problems(setup, study)  # type: ignore[arg-type]
    assert words.startswith(remark) if remark else words == ""
