"""The benchmark of foreign programs: what counts as an answer, what is refused, what it prints."""

import argparse
import importlib
from pathlib import Path
from types import ModuleType

import pytest

from autotune.errors import InputError

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


@pytest.fixture
def tries(load) -> ModuleType:
    return load("foreign_tries")


@pytest.fixture
def fetch(load) -> ModuleType:
    return load("foreign_fetch")


def _begun(tries: ModuleType):
    return tries.ForeignResult(
        name="sum",
        kind="C",
        command="autotune init",
        verdict="failed",
        seconds=20.0,
        cpu_s=9.0,
        init_s=5.0,
    )


def _study(rows: list[tuple[str, str]], best: str | None, **more) -> dict:
    problem = {
        "best": best,
        "baseline": "plain",
        "contenders": ["fast"],
        "speedup": 1.2,
        "speedup_interval": [1.1, 1.3],
        "candidates": 8,
        "objective": {"name": "time"},
        "evaluated": [{"candidate": c, "status": s, "detail": "why"} for c, s in rows],
    }
    return {"problems": [problem | more]}


@pytest.mark.parametrize(
    ("best", "contenders", "verdict"),
    [
        ("fast", ["fast"], "winner"),
        ("plain", ["plain"], "baseline"),
        ("fast", ["fast", "third"], "gain"),
        ("plain", ["plain", "fast"], "undecided"),
    ],
)
def test_a_compared_best_is_an_answer(tries, best, contenders, verdict) -> None:
    study = _study([("plain", "ok"), ("fast", "ok")], best, contenders=contenders)
    result = tries.judged(_begun(tries), study)
    assert result.verdict == verdict
    assert result.trusted
    assert result.in_time
    assert result.statuses == {"ok": 2}


def test_nothing_that_ran_is_no_answer(tries) -> None:
    result = tries.judged(_begun(tries), _study([("plain", "crashed")], None))
    assert not result.trusted
    assert result.reason == "tune: crashed: why"


def test_one_that_ran_is_no_comparison(tries) -> None:
    study = _study([("plain", "ok"), ("fast", "build-failed")], "plain")
    result = tries.judged(_begun(tries), study)
    assert not result.trusted
    assert result.reason == "tune: nothing was compared"


def test_an_answer_after_the_goal_is_late(tries) -> None:
    study = _study([("plain", "ok"), ("fast", "ok")], "fast")
    late = tries.dataclasses.replace(_begun(tries), seconds=tries.GOAL_S + 1)
    result = tries.judged(late, study)
    assert result.trusted
    assert not result.in_time


def test_a_failing_init_is_told_in_its_own_words(load, tries, fetch, tmp_path: Path) -> None:
    sources = fetch.Sources(tmp_path / "cache", lambda text: None)
    program = load("foreign_programs").ForeignProgram(
        name="absent", kind="C", words=("{folder}/absent.c",)
    )
    result = tries.Trial(sources, tmp_path, 30.0).tried(program)
    assert result.verdict == "failed"
    assert result.reason.startswith("init: error")
    assert "absent.c" in result.reason


def test_another_checksum_is_refused_and_the_file_removed(fetch, tmp_path: Path) -> None:
    archive = tmp_path / "sum.tar.gz"
    archive.write_bytes(b"changed")
    with pytest.raises(InputError, match=r"sum\.tar\.gz: its SHA256 is .*; expected 00"):
        fetch.checked(archive, "00")
    assert not archive.exists()


def test_an_archive_of_the_cache_is_unpacked_once(load, fetch, tmp_path: Path) -> None:
    import hashlib
    import tarfile

    source = tmp_path / "sum.c"
    source.write_text("int main(void) { return 0; }\n")
    archives = tmp_path / "cache" / "archives"
    archives.mkdir(parents=True)
    with tarfile.open(archives / "sum.tar.gz", "w:gz") as packed:
        packed.add(source, "sum/sum.c")
        packed.add(source, "other/sum.c")
    digest = hashlib.sha256((archives / "sum.tar.gz").read_bytes()).hexdigest()
    programs = load("foreign_programs")
    program = programs.ForeignProgram(
        name="sum",
        kind="C",
        words=("{folder}/sum/sum.c",),
        debian=programs.DebianFile(package="sum", file="sum.tar.gz", sha256=digest, only="sum"),
    )
    told = list[str]()
    sources = fetch.Sources(tmp_path / "cache", told.append)
    sources.fetch(program)
    sources.fetch(program)
    assert told == ["unpacking sum.tar.gz"]
    assert (sources.folder(program) / "sum" / "sum.c").exists()
    assert not (sources.folder(program) / "other").exists()


def test_a_chain_has_the_columns_of_the_format(fetch) -> None:
    lines = fetch.chain(20, 100.0).splitlines()
    assert len(lines) == 21
    assert {len(line) for line in lines[:-1]} == {78}
    assert [float(lines[0][place : place + 8]) for place in (30, 38, 46)] == [2.3, 0.0, 0.0]


def test_an_unknown_program_is_named_with_the_nearest(load) -> None:
    with pytest.raises(InputError, match=r"zstt.*zstd"):
        load("foreign_programs").chosen(["zstt"])


def test_ten_kinds_of_program_are_listed(load, capsys, monkeypatch) -> None:
    foreign = load("foreign")
    arguments = argparse.Namespace(list=True)
    monkeypatch.setattr(foreign, "_arguments", lambda: arguments)
    foreign.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    assert all("autotune init" in line for line in lines)


def test_the_table_says_why_one_failed(load, tries) -> None:
    study = _study([("plain", "ok"), ("fast", "ok")], "fast")
    failed = tries.dataclasses.replace(_begun(tries), reason="init: error: no time")
    table = load("foreign").table([tries.judged(_begun(tries), study), failed])
    assert "1.20x (1.10 to 1.30)" in table[1]
    assert "    init: error: no time" in table
    assert table[-1] == "1 of 2 programs: a trusted answer within 180 s"
