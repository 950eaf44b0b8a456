"""What stops a run from outside: the end of the terminal, a store that vanishes, a kill."""

import os
import signal
import textwrap
import time
from pathlib import Path

import own_programs as own
import pytest
from command_line import CommandLine, Finished

from autotune.files.store import Store
from autotune.toolchain.guard_process import has_ended

PROGRAM = """\
schema: autotune.program/1
title: Does something to the tuner while it is timed
sources: [harm.sh]
run: [sh, "{folder}/harm.sh", "{{mode}}"]
threads: one
parameters: {{mode: [a, b, c]}}
time: {{pattern: "time (\\\\S+) s"}}
check: {{pattern: "sum (\\\\S+)"}}
"""
CONFIG = """\
schema: autotune.config/1
machine: generic-x86-64
program: tiny.yaml
problems: [{arguments: {}}]
measuring: {rounds: 2, samples: 1, busy: 0}
limits: {run: 20 s}
"""
HARM = textwrap.dedent(
    """\
    echo x >> {folder}/runs
    if [ $(wc -l < {folder}/runs) -eq 8 ]; then
        tuner=$PPID  # or the next of its ancestors that is one
        while ! grep -q command_server /proc/$tuner/cmdline; do
            tuner=$(cut -d' ' -f4 /proc/$tuner/stat)
        done
        {harm}
    fi
    echo "time 0.000$(wc -l < {folder}/runs) s"
    echo "sum 42"
    """
)


def tuned(command_line: CommandLine, folder: Path, harm: str) -> Finished:
    """The study whose program does harm in its eighth run."""
    script = HARM.format(folder=folder, harm=harm.format(folder=folder))
    own.put(folder, PROGRAM.format(folder=folder), CONFIG, {"harm.sh": script})
    arguments = ["tune", "study.yaml", "--exhaustive", "--store", "store.sqlite"]
    return command_line.run(arguments, folder=folder, environment=os.environ, timeout=120)


def test_the_end_of_the_terminal_is_a_ctrl_c(command_line: CommandLine, tmp_path: Path):
    finished = tuned(command_line, tmp_path, "kill -HUP $tuner; sleep 20")
    assert finished.code == 130, finished.err
    assert "interrupted" in finished.err
    assert "--resume" in finished.err
    with Store.open(tmp_path / "store.sqlite", create=False) as store:
        (run,) = store.load_study("study").runs
    assert run.state == "interrupted"


@pytest.mark.parametrize(
    "harm", ["rm {folder}/store.sqlite*", "mv {folder}/store.sqlite elsewhere"]
)
def test_a_store_that_vanishes_stops_the_run(command_line: CommandLine, tmp_path: Path, harm: str):
    finished = tuned(command_line, tmp_path, harm)
    assert finished.code == 1, finished.err
    assert "store.sqlite: was deleted or moved away while it was in use" in finished.err
    assert "Traceback" not in finished.err
    assert len((tmp_path / "runs").read_text().split()) == 8


def test_a_tuner_that_is_killed_leaves_no_process(command_line: CommandLine, tmp_path: Path):
    """Its program has a child, one in a session of its own, and one that hides and is orphaned."""
    harm = """
        sleep 300 & echo $! >> {folder}/pids
        setsid sleep 300 & echo $! >> {folder}/pids
        env -i sh -c 'setsid sleep 300 & echo $! >> {folder}/pids'
        echo $$ >> {folder}/pids
        kill -9 $tuner
        sleep 300"""
    finished = tuned(command_line, tmp_path, harm)
    assert finished.code == -signal.SIGKILL
    left = [int(word) for word in (tmp_path / "pids").read_text().split()]
    assert len(left) == 4
    until = time.monotonic() + 20
    while not all(map(has_ended, left)) and time.monotonic() < until:
        time.sleep(0.02)
    assert [pid for pid in left if not has_ended(pid)] == []
