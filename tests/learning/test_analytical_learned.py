"""The benchmark of analytical, learned and hybrid models: resumed, tabulated, answered."""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    """The command; its parts are found beside it."""
    sys.path.insert(0, str(FOLDER))
    import analytical_learned

    yield analytical_learned
    sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A space of 96 candidates: time = 3 b / t, and what engine and rounds say of it."""
    chance = np.random.default_rng(3)
    results, halves = [], []
    for block in (8, 16, 32, 64):
        for threads in (1, 2, 4):
            for order in ("ij", "ji"):
                for unroll in (1, 2, 4, 8):
                    law = 1e-3 * block / threads * (1.5 if order == "ji" else 1.0) * unroll**0.1
                    early, late = law * chance.lognormal(0, 0.02, 2)
                    halves.append([early, late])
                    results.append(
                        {
                            "configuration": {
                                "bj": block, "threads": threads, "order": order, "u": unroll
                            },
                            "times": {},
                            "invalidity": "correct",
                            "correctness": 1,
                            "measurements": [
                                {"name": "time", "value": (early + late) / 2, "unit": "seconds"},
                                {"name": "predicted", "value": 2e-3 * block / threads,
                                 "unit": "seconds"},
                            ],
                            "objectives": ["time"],
                        }
                    )  # fmt: skip
    folder = tmp_path_factory.mktemp("recorded")
    path = folder / "planted.json.gz"
    whole = {"schema_version": "1.0.0", "metadata": {"timeunit": "seconds"}, "results": results}
    path.write_bytes(gzip.compress(json.dumps(whole).encode()))
    (folder / "halves").mkdir()
    beside = json.dumps({"unit": "seconds", "halves": halves})
    (folder / "halves" / path.name).write_bytes(gzip.compress(beside.encode()))
    return path


def run(
    benchmark: ModuleType, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[str, str]:
    """The first line of what it prints, and all of it."""
    before, sys.argv = sys.argv, ["analytical_learned.py", *arguments]
    try:
        benchmark.main()
    finally:
        sys.argv = before
    said = capsys.readouterr().out
    return said.splitlines()[0], said


def test_figures_answers_and_going_on(
    benchmark: ModuleType,
    recorded: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(benchmark.tasks, "MODELS", ("analytical", "ridge", "am-scaled"))
    results = tmp_path / "fits.jsonl"
    common = (str(recorded), "--sizes", "8,16", "--results", str(results))
    monkeypatch.setattr(benchmark, "_APART", "8,16")
    head, _ = run(benchmark, capsys, *common, "--repeats", "1")
    assert "0 of them done before" in head
    lines = results.read_text().splitlines()
    results.write_text("\n".join([*lines[:-1], lines[-1][:20]]))  # killed while writing
    head, said = run(benchmark, capsys, *common, "--repeats", "1")
    assert f"{len(lines)} fits, {len(lines) - 1} of them done before" in head
    assert "## planted, threads left out" in said
    assert "measured again" in said
    for number in range(1, 6):
        assert f"RQ{number} " in said
    assert said.count("Answer") == 5
    assert "Central composite designs cross" in said
    head, _ = run(benchmark, capsys, *common, "--repeats", "1")
    assert f"{len(lines)} of them done before" in head
    summary = said.partition("## Where learning starts to pay")[2].partition("## Research")[0]
    (error, loss) = (x for x in summary.splitlines() if x.startswith("planted "))
    assert "from 8" in error
    assert "%" in loss


def test_results_of_other_code_do_not_count(
    benchmark: ModuleType, recorded: Path, tmp_path: Path
) -> None:
    (task,) = [t for t in benchmark.tasks.designs(recorded, 0) if t.design == "full factorial"][:1]
    key = benchmark._key(task)
    row = {"key": key, "code": "of before", "reason": "none"}
    results = tmp_path / "fits.jsonl"
    results.write_text(json.dumps(row) + "\n")
    assert benchmark._done(results, {key: task}, stale=False) == {}
    assert benchmark._done(results, {key: task}, stale=True)[key].reason == "none"


def test_a_full_factorial_of_a_law_finds_the_engines_influences(
    benchmark: ModuleType, recorded: Path
) -> None:
    tasks = benchmark.tasks
    task = next(t for t in tasks.designs(recorded, 0) if t.design == tasks.FULL)
    found = tasks.outcome(task, json.loads(json.dumps(tasks.perform(task))))
    assert found.rows == 96
    assert found.share > 0.8
    assert found.measured.error_rate < 0.2
    assert found.analytical.reference == "influence-raw"
