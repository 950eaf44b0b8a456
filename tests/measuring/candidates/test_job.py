"""Jobs: written out, run by a plain shell, read back."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from fake_program import fake_reference, make_candidate, sources

from autotune.domain.setup import Limits, Measuring
from autotune.domain.variant import Candidate
from autotune.errors import InputError
from autotune.measuring.candidates.host_measurer import ReferenceStates
from autotune.measuring.jobs.job import Job, JobTask, emit
from autotune.measuring.jobs.job_results import CollectedMeasurer, JobResults, collect
from autotune.units import Seconds

MEASURING = Measuring(rounds=2, samples=2, verify_steps=2, busy=0.0)
MACHINE = '{"kind":"machine","node":"a","system":"Linux 6","architecture":"x","model":"m"}'
GOOD = make_candidate("good")


def make_job(candidates: Sequence[Candidate], **changes) -> Job:
    settings = {
        "study": "fake",
        "tasks": tuple(JobTask(candidate=c, units=sources(c)) for c in candidates),
        "measuring": MEASURING,
        "limits": Limits(run=Seconds(5.0)),
        "launcher": "{command}",
        "environment": {},
    }
    return Job(**(settings | changes))


def run(script: Path, **environment: str) -> str:
    """Run a job; what it wrote to stderr."""
    done = subprocess.run(
        ["sh", str(script)],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stderr


def measurer(results: JobResults) -> CollectedMeasurer:
    return CollectedMeasurer(results, MEASURING, ReferenceStates(fake_reference))


def written(folder: Path, *lines: str) -> Path:
    """The results file of a job of ``GOOD`` with these lines; no states."""
    emit(make_job([GOOD]), folder)
    (folder / "states").mkdir()
    path = folder / "results.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def begun(kind: str = "launch", number: object = 0) -> str:
    name = "round" if kind == "launch" else "threads"
    return json.dumps({"kind": kind, "candidate": GOOD.identity, name: number})


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
class TestRun:
    def test_states_are_judged_as_on_the_host(self, tmp_path: Path):
        statuses = {
            "good": "ok", "wrong": "wrong-result", "nan": "wrong-result",
            "short": "wrong-result", "no_state": "crashed", "crash_verify": "crashed",
            "build": "build-failed",
        }  # fmt: skip
        candidates = {mode: make_candidate(mode, threads=2) for mode in statuses}
        run(emit(make_job(list(candidates.values())), tmp_path / "job"))
        replay = measurer(collect(tmp_path / "job" / "results.jsonl"))
        prepared = {mode: replay.prepare(c) for mode, c in candidates.items()}
        assert {mode: p.status for mode, p in prepared.items()} == statuses
        assert prepared["good"].error == 0.0
        assert "exit code 0" in prepared["no_state"].detail
        assert "exit code 134" in prepared["crash_verify"].detail
        assert "expected" not in (tmp_path / "job" / "job.json").read_text(encoding="utf-8")
        states = {file.name for file in (tmp_path / "job" / "states").iterdir()}
        assert {f"{candidates['good'].identity}-{threads}.bin" for threads in (1, 2)} <= states

    def test_a_state_that_is_gone_is_a_crash(self, tmp_path: Path):
        run(emit(make_job([GOOD]), tmp_path / "job"))
        results = tmp_path / "job" / "results.jsonl"
        (tmp_path / "job" / "states" / f"{GOOD.identity}-1.bin").unlink()
        assert measurer(collect(results)).prepare(GOOD).status == "crashed"
        (tmp_path / "job" / "states").rmdir()
        with pytest.raises(InputError, match="whole folder"):
            collect(results)

    def test_a_second_run_begins_new_results(self, tmp_path: Path):
        script = emit(make_job([GOOD]), tmp_path / "job")
        run(script)
        first = (tmp_path / "job" / "results.jsonl").read_text(encoding="utf-8")
        run(script)
        for name in ("results", "results-1"):
            results = collect(tmp_path / "job" / f"{name}.jsonl")
            assert len(results.processes) == 1 + MEASURING.rounds
            assert measurer(results).prepare(GOOD).status == "ok"
        assert (tmp_path / "job" / "results-1.jsonl").read_text(encoding="utf-8") == first

    def test_banners_and_half_lines_do_not_spoil_the_results(self, tmp_path: Path):
        launcher = tmp_path / "launcher"
        launcher.write_text(
            '#!/bin/sh\necho "Welcome to the cluster"\n"$@"\ncode=$?\nprintf bye\nexit $code\n'
        )
        launcher.chmod(0o755)
        run(emit(make_job([GOOD]), tmp_path / "job"), LAUNCH=str(launcher))
        results = collect(tmp_path / "job" / "results.jsonl")
        replay = measurer(results)
        prepared = replay.prepare(GOOD)
        assert prepared.status == "ok"
        recorded = results.find(GOOD, "launch", 1)
        assert recorded
        assert recorded.lines[0] == "Welcome to the cluster"
        assert recorded.lines[-1] == "bye"
        samples = []
        launch = replay.launch(
            prepared, round_number=1, launch=1, expected=None, on_sample=samples.append
        )
        assert launch.status == "ok"
        assert len([sample for sample in samples if not sample.warm_up]) == 2

    def test_openmp_is_set_for_the_machine_of_the_job(self, tmp_path: Path):
        candidate = make_candidate(threads=3)
        environment = {"OMP_PLACES": "threads"}
        script = emit(make_job([candidate], environment=environment), tmp_path / "job")
        tell = tmp_path / "tell"
        tell.write_text("#!/bin/sh\nenv | grep ^OMP_ | sort\n")
        tell.chmod(0o755)
        run(script, LAUNCH=str(tell), OMP_NUM_THREADS="7")
        results = collect(tmp_path / "job" / "results.jsonl")
        for kind, number, threads in (("verify", 1, 3), ("verify", 3, 3), ("launch", 0, 3)):
            recorded = results.find(candidate, kind, number)
            assert recorded
            wanted = number if kind == "verify" else threads
            assert recorded.lines == (
                "OMP_DYNAMIC=false",
                f"OMP_NUM_THREADS={wanted}",
                "OMP_PLACES=threads",
                "OMP_PROC_BIND=close",
                "OMP_WAIT_POLICY=active",
            )

    def test_too_few_cpus_are_warned_of(self, tmp_path: Path):
        candidate = make_candidate("build", threads=100_000)
        assert "100000 threads" in run(emit(make_job([candidate]), tmp_path / "many"))
        assert run(emit(make_job([make_candidate("build")]), tmp_path / "one")) == ""


class TestEmit:
    def test_what_cannot_be_written_is_named(self, tmp_path: Path):
        (tmp_path / "file").write_text("")
        with pytest.raises(InputError, match=r"file.*cannot be written"):
            emit(make_job([GOOD]), tmp_path / "file" / "job")

    def test_a_folder_in_use_is_left_alone(self, tmp_path: Path):
        (tmp_path / "mine").write_text("")
        with pytest.raises(InputError, match="exists already"):
            emit(make_job([GOOD]), tmp_path)


class TestCollect:
    def test_machines_that_are_alike_share_an_identity(self, tmp_path: Path):
        first = collect(written(tmp_path / "a", MACHINE)).machine_identity
        node = MACHINE.replace('"a"', '"b"')
        model = MACHINE.replace('"m"', '"n"')
        assert first.startswith("job:")
        assert collect(written(tmp_path / "b", node)).machine_identity == first
        assert collect(written(tmp_path / "c", model)).machine_identity != first

    def test_two_machines_in_a_file_are_refused(self, tmp_path: Path):
        other = MACHINE.replace('"a"', '"b"')
        assert collect(written(tmp_path / "a", MACHINE, MACHINE)).machine["node"] == "a"
        with pytest.raises(InputError, match=r"results\.jsonl:2: another machine"):
            collect(written(tmp_path / "b", MACHINE, other))

    @pytest.mark.parametrize(
        "lines",
        [
            [begun(number="x")],
            [begun(number=None)],
            [begun("verify", -1)],
            [begun("verify", True)],
            ['{"kind":"launch","candidate":["x"],"round":0}'],
            ['{"kind":"launch","candidate":"unknown","round":0}'],
            ['{"kind":"build","candidate":"' + GOOD.identity + '","code":"0"}'],
            ['{"kind":"build","candidate":"' + GOOD.identity + '"}'],
            ['{"kind":["launch"]}'],
            ['{"kind":"machine","node":1}'],
            ["{}"],
            ["[1]"],
            ["what is this"],
            ['{"kind":"exit","code":0}'],
        ],
    )
    def test_a_line_that_no_job_writes_is_an_error_with_its_place(
        self, tmp_path: Path, lines: list[str]
    ):
        path = written(tmp_path / "job", MACHINE, *lines, '{"kind":"done"}')
        with pytest.raises(InputError, match=r"results\.jsonl:2: "):
            collect(path)

    @pytest.mark.parametrize("code", ['"0"', "null", "0.5", "-1"])
    def test_an_exit_code_of_another_type(self, tmp_path: Path, code: str):
        path = written(tmp_path / "job", MACHINE, begun(), f'{{"kind":"exit","code":{code}}}')
        with pytest.raises(InputError, match=r"results\.jsonl:3: code"):
            collect(path)

    @pytest.mark.parametrize(
        "change",
        [{"tasks": []}, {"study": 1}, {"verify_steps": "2"}, {"schema": "other"}],
    )
    def test_a_description_of_another_form(self, tmp_path: Path, change: dict[str, object]):
        path = written(tmp_path / "job", MACHINE)
        file = path.with_name("job.json")
        file.write_text(json.dumps(json.loads(file.read_text()) | change), encoding="utf-8")
        with pytest.raises(InputError, match=r"job\.json: "):
            collect(path)

    def test_no_machine(self, tmp_path: Path):
        with pytest.raises(InputError, match="no line about the machine"):
            collect(written(tmp_path / "job"))

    def test_a_file_that_was_cut_off_is_read_up_to_there(self, tmp_path: Path):
        path = written(tmp_path / "job", MACHINE, begun(), "banner", '{"kind":"sam')
        path.write_text(path.read_text(encoding="utf-8")[:-1], encoding="utf-8")
        (process,) = collect(path).processes
        assert (process.lines, process.code) == (("banner",), None)
        path.write_bytes(path.read_bytes() + b"\n\xff\xfe cluster\n" + begun("launch", 1).encode())
        first, second = collect(path).processes
        assert len(first.lines) == 3
        assert (second.number, second.lines, second.code) == (1, (), None)
