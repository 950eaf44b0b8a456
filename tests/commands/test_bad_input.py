"""Wrong input of every kind: exit code 2, where, what was found, what is allowed, no traceback."""

import re
import signal
import sys
import typing
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
import yaml

from autotune import commands

Cli = Callable[..., typing.Any]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("title:", "titel:", r"small.yaml:2:1: .*titel.*did you mean title"),
        ("ivp: heat2d", "ivp: heat2", r"small.yaml:7:.*heat2.*did you mean heat2d"),
        ("method: radau-iia-5", "method: radau-5", r"small.yaml:7:.*radau-5.*radau-iia-5"),
        ("space: pirk-orders", "space: pirk-order", r"small.yaml:5:8: .*did you mean pirk-orders"),
        ("machine: generic-x86-64", "machine: generic", r"small.yaml:3:10: .*generic-x86-64"),
        ("size: 40", "size: -40", r"small.yaml:7:.*-40"),
        ("size: 40", "size: 1", r"small.yaml:7:.*smallest"),
        ("min_sample: 1 ms", "min_sample: 1 MB", r"small.yaml:11:.*MB.*time"),
        ("min_sample: 1 ms", "min_sample: 1", r"small.yaml:11:"),
        ("threads: [1]", "threads: [999]", r"small.yaml:9:11: .*999.*expected at most 4"),
        ("threads: [1]", "threads: [0]", r"small.yaml:9:11: "),
        ("compiler: gcc", "compiler: gccc", r"small.yaml:8:.*gccc.*(install|PATH)"),
        ("flags: [-O2]", "flags: [-O2, --nonsense]", r"small.yaml:8:.*nonsense"),
        ("rounds: 3", "rounds: 3, rounds: 4", r"small.yaml:11:24: the key .rounds. is here again"),
        ("schema: autotune.config/1", "schema: autotune.config/9", r"small.yaml:1:.*config/1"),
        ("schema: autotune.config/1\n", "", r"small.yaml:1.*schema"),
    ],
)
def test_a_wrong_config_says_where_and_what(
    autotune: Cli, config: Path, old: str, new: str, said: str
) -> None:
    text = config.read_text(encoding="utf-8")
    assert old in text
    config.write_text(text.replace(old, new), encoding="utf-8")
    run = autotune(
        "rank" if "gcc" not in old and "-O2" not in old else "tune", "small.yaml", check=2
    )
    assert re.search(said, run.err), run.err
    assert run.out == ""


def test_a_source_file_in_place_of_a_config(autotune: Cli, tmp_path: Path) -> None:
    (tmp_path / "solver.c").write_text("int main(void) { return 0; }\n", encoding="utf-8")
    found = autotune("tune", "solver.c", check=2).err
    assert "autotune init solver.c" in found


def test_all_mistakes_of_a_file_at_once(autotune: Cli, config: Path) -> None:
    text = config.read_text(encoding="utf-8")
    text = text.replace("title:", "titel:").replace("heat2d", "heat4d").replace("1 ms", "1 parsec")
    config.write_text(text, encoding="utf-8")
    err = autotune("rank", "small.yaml", check=2).err
    assert "3 mistakes" in err
    for part in ("titel", "heat4d", "parsec"):
        assert part in err


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\x01\xff\xfe\x80", b"- a\n- b\n", b"a: [1\n", b"%\n\t: x\n", b"a: &x 1\n"],
)
def test_an_empty_binary_or_malformed_file(autotune: Cli, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad.yaml").write_bytes(content)
    for command in (["rank", "bad.yaml"], ["machine", "check", "bad.yaml"]):
        err = autotune(*command, check=2).err
        assert "bad.yaml" in err


def test_a_missing_file_and_unknown_options(autotune: Cli, tmp_path: Path) -> None:
    assert "nowhere.yaml" in autotune("rank", "nowhere.yaml", check=2).err
    assert autotune("rank", check=2).err
    assert autotune("rnak", "x.yaml", check=2).err
    assert autotune("rank", str(tmp_path), check=2).err
    assert autotune("rank", "x.yaml", "--against", "y", check=2).err


@pytest.mark.parametrize(
    "content", [b"", b"not a database at all, but text" * 10, b"SQLite format 3\x00" + b"x" * 99]
)
def test_a_corrupt_store(autotune: Cli, config: Path, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.sqlite"
    path.write_bytes(content)
    for command in (["tune", "small.yaml"], ["compare", "small"], ["report", "small"]):
        err = autotune(*command, "--store", "bad.sqlite", check=2).err
        assert "bad.sqlite" in err
    assert path.read_bytes() == content, "a file that is not ours is left as it was"


def test_no_store_and_unknown_study(autotune: Cli, config: Path) -> None:
    assert "tune" in autotune("compare", check=2).err
    autotune("tune", "small.yaml")
    assert "did you mean small" in autotune("compare", "smal", check=2).err


def test_resume_without_a_study(autotune: Cli, config: Path) -> None:
    assert "--resume" in autotune("tune", "small.yaml", "--resume", check=2).err


def test_results_of_another_job(autotune: Cli, config: Path, tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text("{}\n", encoding="utf-8")
    run = autotune("tune", "small.yaml", "--collect", "results.jsonl", check=2)
    assert "job.json" in run.err


def test_a_report_that_cannot_be_written(autotune: Cli, config: Path, tmp_path: Path) -> None:
    autotune("tune", "small.yaml")
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "page.html" in autotune("report", "-o", "file/page.html", check=2).err


def test_a_machine_file_without_a_needed_figure(autotune: Cli, tmp_path: Path) -> None:
    text = autotune("machine", "detect", "-o", "here.yaml").err
    assert "here.yaml" in text
    whole = (tmp_path / "here.yaml").read_text(encoding="utf-8")
    broken = "\n".join(line for line in whole.splitlines() if not line.startswith("clock"))
    (tmp_path / "broken.yaml").write_text(broken, encoding="utf-8")
    err = autotune("machine", "check", "broken.yaml", check=2).err
    assert "broken.yaml" in err
    assert "clock" in err


def test_names_of_files_that_are_no_config_say_what_is_meant(
    autotune: Cli, config: Path, tmp_path: Path
) -> None:
    assert "did you mean small.yaml?" in autotune("tune", "small.yml", check=2).err
    assert "autotune init . writes a first config" in autotune("tune", ".", check=2).err
    err = autotune("compare", "--revisions", "HEAD", "small.yaml", check=2).err
    assert "two before the CONFIG small.yaml: only HEAD is one" in " ".join(err.split())


def test_a_program_in_place_of_a_study(autotune: Cli, config: Path, tmp_path: Path) -> None:
    autotune("tune", "small.yaml")
    (tmp_path / "sum.yaml").write_text("schema: autotune.program/1\n", encoding="utf-8")
    (tmp_path / "sum-tune.yaml").write_text("schema: autotune.config/1\n", encoding="utf-8")
    err = autotune("report", "sum.yaml", check=2).err
    assert "describes a program, not a study" in err
    assert "did you mean sum-tune.yaml?" in err


def test_a_range_in_another_notation_says_how_it_is_written_here(
    autotune: Cli, tmp_path: Path
) -> None:
    program = {"schema": "autotune.program/1", "parameters": {"block": "1..64"}}
    (tmp_path / "sum.yaml").write_text(yaml.safe_dump(program), encoding="utf-8")
    study = {"schema": "autotune.config/1", "program": "sum.yaml"}
    (tmp_path / "sum-tune.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    err = autotune("tune", "sum-tune.yaml", check=2).err
    assert "block: '1..64' is a text: a range is {from: 1, to: 64}" in err


def test_a_command_that_is_stopped_before_it_says_anything_says_that(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    app = typer.Typer()

    @app.command()
    def stopped() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "app", app)
    monkeypatch.setattr(sys, "argv", ["autotune"])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    with pytest.raises(SystemExit) as stop:
        commands.main()
    assert stop.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"
