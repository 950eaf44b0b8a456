"""``autotune doctor``: what is installed, what is missing, and the exit code."""

import json

import pytest
from typer.testing import CliRunner

from autotune.commands.app import app
from autotune.commands.doctor.command import EXAMPLE
from autotune.commands.doctor.text import doctor
from autotune.measuring.host import doctor as host
from autotune.measuring.host.doctor import Prerequisite, State

GCC = Prerequisite(name="gcc", state="ok", found="12.2.0", needed_for="building candidates")
MPI = Prerequisite(
    name="mpicc", state="missing", found="", needed_for="several ranks", install="apt install mpich"
)


def of(state: State, name: str = "optuna", install: str = "pip install optuna") -> Prerequisite:
    return Prerequisite(name=name, state=state, found="", needed_for="it", install=install)


def test_what_is_there_is_a_table_and_a_sentence() -> None:
    assert doctor([GCC]).splitlines() == [
        "ok  gcc  12.2.0  building candidates",
        "everything that is needed is there",
    ]


def test_what_is_missing_comes_with_the_command_that_installs_it() -> None:
    assert doctor([GCC, MPI]).splitlines() == [
        "ok       gcc    12.2.0  building candidates",
        "missing  mpicc  -       several ranks",
        "missing, mpicc: apt install mpich",
    ]


def test_what_is_there_needs_no_command() -> None:
    assert "pip" not in doctor([of("ok")])


def test_without_a_command_nothing_is_proposed() -> None:
    shown = doctor([of("missing", install="")])
    assert shown == "missing  optuna  -  it"


@pytest.mark.parametrize(("state", "code"), [("ok", 0), ("missing", 2)])
def test_the_exit_code_says_whether_something_is_missing(
    monkeypatch: pytest.MonkeyPatch, state: State, code: int
) -> None:
    monkeypatch.setattr(host, "examine", lambda load: [GCC, of(state)])
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == code
    assert ("everything that is needed is there" in done.stdout) == (code == 0)
    document = CliRunner().invoke(app, ["doctor", "--json"])
    assert document.exit_code == code
    told = json.loads(document.stdout)
    findings = told["findings"]
    assert told["load"].keys() == {"cores", "others", "load", "pressure"}
    assert told["load"]["others"].keys() == {"cpus", "names"}
    assert [finding["state"] for finding in findings] == ["ok", state]
    assert EXAMPLE in CliRunner().invoke(app, ["doctor", "--help"]).output
