"""What shells complete: by the protocol, and in bash, zsh and fish where they are installed."""

import os
import pty
import select
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from autotune.commands import completion
from autotune.commands.app import app


def environment(folder: Path) -> dict[str, str]:
    """The environment of a shell that finds this autotune under its name."""
    program = folder / "bin" / "autotune"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m autotune "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "TERM": "dumb",
    }


def script(env: dict[str, str], shell: str) -> str:
    """What ``autotune --install-completion`` puts into the shell."""
    return subprocess.run(
        ["autotune"],
        env={**env, "_AUTOTUNE_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def store(folder: Path) -> Path:
    path = folder / "results.sqlite"
    with sqlite3.connect(path) as base:
        base.executescript("""
            create table studies (name text);
            create table members (study text, candidate text, place int);
            create table candidates (identity text, record text);
            insert into studies values ('quick'), ('slow');
            insert into members values ('quick', 'a', 0), ('slow', 'b', 0);
            insert into candidates values
              ('a', '{"label": "l1=64@p-T1", "parameters": {"l1": 64}}'),
              ('b', '{"label": "jli@p-T1", "parameters": {"order": "jli"}}');
        """)
    base.close()
    return path


def context(**params: object) -> SimpleNamespace:
    return SimpleNamespace(params=params)


def test_studies_and_candidates_come_from_the_store(tmp_path):
    path = str(store(tmp_path))
    assert completion.studies(context(store=path), "q") == ["quick"]
    assert completion.candidates(context(store=path), "") == ["l1=64", "jli"]
    assert completion.candidates(context(store=path, config="a/slow.yaml"), "") == ["jli"]
    assert completion.candidates(context(store=path), "jli@") == ["jli@p-T1"]


@pytest.mark.parametrize("place", ["nowhere.sqlite", "postgresql://host/base", "damaged.sqlite"])
def test_a_store_that_cannot_be_read_completes_nothing(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    Path("damaged.sqlite").write_text("no database", encoding="utf-8")
    assert completion.studies(context(store=place), "") == []
    assert not Path("nowhere.sqlite").exists()


def test_configs_are_completed_and_other_files_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("more").mkdir()
    Path("more/a.yaml").write_text("schema: autotune.config/1\n", encoding="utf-8")
    Path("more/b.yaml").write_text("schema: autotune.space/1\n", encoding="utf-8")
    assert completion.configs("m") == ["more/"]
    assert completion.configs("more/") == ["more/a.yaml"]
    assert completion.configs("nowhere/") == []


def test_machines_and_words_have_names():
    assert completion.machines("haswell") == ["haswell-e5-2630v3"]
    assert "noise floor" in completion.explained_words("noi")


def test_completion_needs_no_numpy():
    code = (
        "import sys; from autotune.commands import completion, app;"
        " completion.machines(''); completion.explained_words('');"
        " sys.exit('numpy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.skipif(not shutil.which("bash"), reason="optional: bash is not installed")
def test_bash_completes(tmp_path):
    env = environment(tmp_path)
    code = (
        f"{script(env, 'bash')}\nCOMP_WORDS=(autotune machine show has); COMP_CWORD=3\n"
        '_autotune_completion autotune; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["haswell-e5-2630v3"]


@pytest.mark.skipif(not shutil.which("fish"), reason="optional: fish is not installed")
def test_fish_completes(tmp_path):
    env = environment(tmp_path)
    code = f"{script(env, 'fish')}\ncomplete --do-complete 'autotune machine show has'"
    done = subprocess.run(
        ["fish", "--no-config", "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["haswell-e5-2630v3"]


@pytest.mark.skipif(not shutil.which("zsh"), reason="optional: zsh is not installed")
def test_zsh_completes(tmp_path):
    env = environment(tmp_path)
    (tmp_path / "completion.zsh").write_text(script(env, "zsh"), encoding="utf-8")
    setup = "autoload -Uz compinit; compinit -u; source ~/completion.zsh; echo rea''dy\n"
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe("zsh", ["zsh", "-f"], env)
    try:
        os.write(terminal, setup.encode())
        _until(terminal, "ready")
        os.write(terminal, b"autotune machine show has\t")
        assert "haswell-e5-2630v3" in _until(terminal, "haswell-e5-2630v3")
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


def _until(terminal: int, wanted: str, longest: float = 60.0) -> str:
    """What a terminal shows until it shows ``wanted``, or for too long."""
    text, end = "", time.monotonic() + longest
    while wanted not in text and time.monotonic() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            text += os.read(terminal, 4096).decode(errors="replace")
    return text


def test_who_looks_for_a_command_is_sent_to_the_option() -> None:
    refused = CliRunner().invoke(app, ["completion"])
    assert refused.exit_code == 2
    assert "autotune --install-completion" in refused.output
