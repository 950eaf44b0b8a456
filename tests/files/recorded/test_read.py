"""Files of every format become the same values; wrong ones say where and what."""

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autotune.errors import InputError
from autotune.files.recorded.read_recorded import read
from autotune.files.recorded.recorded_space import RecordedSpace

ROWS = [({"tile": 8, "flags": "-O2"}, 2.0), ({"tile": 16, "flags": "-O2"}, 1.0)]
DATA = Path(__file__).parents[4] / "shared" / "data" / "replay"


def t4(**changes: object) -> dict[str, object]:
    results = [
        {
            "configuration": {**settings, "fixed": 1},
            "times": {"runtimes": [time, time + 0.5]},
            "invalidity": "correct",
            "correctness": 1,
            "measurements": [{"name": "time", "value": time, "unit": ""}],
        }
        for settings, time in ROWS
    ]
    results.append(
        {
            "configuration": {"tile": 8, "flags": "-O3", "fixed": 1},
            "times": {},
            "invalidity": "compile",
            "correctness": 0,
            "measurements": [{"name": "time", "value": "CompilationFailedConfig", "unit": ""}],
        }
    )
    whole = {"schema_version": "1.0.0", "metadata": {"timeunit": "miliseconds"}}
    return {**whole, "results": results, **changes}


def cache(**changes: object) -> dict[str, object]:
    entries: dict[str, object] = {
        ",".join(map(str, s.values())): {**s, "time": time, "times": [time]} for s, time in ROWS
    }
    entries["8,-O3"] = {"tile": 8, "flags": "-O3", "time": "CompilationFailedConfig"}
    return {
        "device_name": "a", "kernel_name": "k", "problem_size": [1],
        "tune_params_keys": ["tile", "flags"],
        "tune_params": {"tile": [8, 16], "flags": ["-O2", "-O3"]},
        "objective": "time", "cache": entries, **changes,
    }  # fmt: skip


TABLE = "tile,flags,status,time_ms\n8,-O2,ok,2\n16,-O2,,1\n8,-O3,build-failed,\n"


@pytest.fixture
def put(tmp_path: Path) -> Callable[[object], Path]:
    def write(content: object) -> Path:
        path = tmp_path / "space.recorded"
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("content", [t4(), cache(), TABLE], ids=["t4", "cache", "csv"])
def test_every_format_gives_the_same_space(
    content: object, put: Callable[[object], Path], tmp_path: Path
) -> None:
    plain = put(content)
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        space = read(path)
        assert space.unit == "s"
        assert space.parameters == {"tile": (8, 16), "flags": ("-O2", "-O3")}
        assert space.rows == ((8, "-O2"), (16, "-O2"), (8, "-O3"))
        assert space.seconds[:2] == pytest.approx([2e-3, 1e-3])
        assert math.isnan(space.seconds[2])
        assert space.statuses == ("ok", "ok", "build-failed")
        assert space.best == pytest.approx(1e-3)
        assert space.within(0.5).tolist() == [False, True, False]
        assert np.isnan(space.predicted).all()


def test_t4_keeps_samples_constants_and_predictions(put: Callable[[object], Path]) -> None:
    content = t4()
    results = content["results"]
    assert isinstance(results, list)
    results[0]["measurements"].append({"name": "predicted", "value": 1.5, "unit": "seconds"})
    space = read(put(content))
    assert space.constants == {"fixed": 1}
    assert space.samples[0] == pytest.approx((2e-3, 2.5e-3))
    assert space.samples[2] == ()
    assert space.predicted[0] == 1.5
    assert math.isnan(space.predicted[1])


@pytest.mark.parametrize("end", [",", "", "\n", ",\n"])
def test_a_cache_that_its_tuner_left_open_is_read(end: str, put: Callable[[object], Path]) -> None:
    text = json.dumps(cache())
    assert len(read(put(text[:-2] + end))) == 3


def test_a_cache_that_nothing_was_entered_in_has_no_rows(put: Callable[[object], Path]) -> None:
    with pytest.raises(InputError, match="no rows"):
        read(put(json.dumps(cache(cache={}))[:-2]))


@pytest.mark.parametrize("version", [None, "1.0.0", "1.0.1", "1.1.0", "1.2.0"])
def test_caches_of_all_versions_1_are_read(version: str | None, put: Callable[..., Path]) -> None:
    space = read(put(cache(**({"schema_version": version} if version else {}))))
    assert (len(space), space.device) == (3, "a")


def test_times_are_read_whatever_the_objective_was(put: Callable[[object], Path]) -> None:
    content = cache(objective="GFLOP/s")
    entries = content["cache"]
    assert isinstance(entries, dict)
    for entry in entries.values():
        entry["GFLOP/s"] = 1.0
    del entries["8,-O3"]["time"]
    entries["8,-O3"] |= {"GFLOP/s": "RuntimeFailedConfig", "__error__": "RuntimeFailedConfig"}
    space = read(put(content))
    assert space.statuses == ("ok", "ok", "crashed")
    entries["16,-O2"].pop("time")
    with pytest.raises(InputError, match=r"no time, but times, GFLOP/s.*only times can be used"):
        read(put(content))


def test_configurations_outside_their_constraints_are_no_candidates(
    put: Callable[[object], Path],
) -> None:
    content = t4()
    results = content["results"]
    assert isinstance(results, list)
    results[2]["invalidity"] = "constraints"
    assert len(read(put(content))) == 2


def broken_t4(change: Callable[[dict[str, object]], object]) -> dict[str, object]:
    content = t4()
    results = content["results"]
    assert isinstance(results, list)
    change(results[1])
    return content


def setting(**values: object) -> Callable[[dict[str, object]], object]:
    return lambda row: row.update(values)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["empty"]),
        ("\x00\x01", ["columns: \\x00\\x01"]),
        ("[1, 2]", ["a list at its top"]),
        ("8,1\n16,2\n", [":1: no header"]),
        ("{}", ["JSON with the keys nothing", "`results`"]),
        (json.dumps(t4())[:200], ["1:", "not JSON", "cut off"]),
        (json.dumps(cache())[:-40], ["not JSON", "cut off"]),
        (t4(schema_version="2.0.0"), ["schema_version", "'2.0.0'", "1.0.0"]),
        (cache(schema_version="0.9"), ["schema_version", "'0.9'"]),
        (cache(tune_params_keys=[]), ["tune_params_keys"]),
        (cache(tune_params_keys=["tile", "pad"]), ["no pad", "all of tile, pad"]),
        (t4(metadata={"timeunit": "fortnights"}), ["metadata.timeunit", "'fortnights'"]),
        (t4(results=[]), ["no rows"]),
        (t4(results={}), ["results", "a list"]),
        (broken_t4(setting(configuration={"tile": 1})), ["results[1]", "no flags"]),
        (broken_t4(setting(configuration={"tile": [1]})), ["results[1].configuration"]),
        (broken_t4(setting(invalidity="odd")), ["results[1].invalidity", "'odd'"]),
        (
            broken_t4(setting(measurements=[{"name": "GFLOP/s", "value": 3}])),
            ["results[1]", "no measurement named 'time', but GFLOP/s"],
        ),
        (
            broken_t4(setting(measurements=[{"name": "time", "value": "fast"}])),
            ["results[1]", "the time is 'fast'"],
        ),
        (
            broken_t4(setting(configuration={"tile": 8, "flags": "-O2", "fixed": 1})),
            ["results[1]", "the same candidate as at results[0]"],
        ),
        ("tile,time\n8,1\n16\n", [":3: 1 values", "2, as the header"]),
        ("tile,time\n8,1\n16,fast\n", [":3:time", "'fast'", "a positive number"]),
        ("tile,time\n8,1\n16,-1\n", ["'-1'"]),
        ("tile,time\n8,1\n16,nan\n", ["'nan'"]),
        ("tile,time\n8,1\n8.0,2\n", ["the same candidate as at 2"]),
        ("tile,tile,time\n8,1,2\n", ["two columns named tile"]),
        ("tile,status,time\n8,okay,2\n", ["'okay'", "did you mean ok?"]),
        ("tile,status,time\n8,crashed,\n", ["all 1 candidates failed"]),
        ("tile,time\n8,1\n", ["one candidate"]),
        ('tile,time\n"8,1\n', ["not CSV"]),
    ],
)
def test_a_wrong_file_says_where_and_what(
    content: object, words: list[str], put: Callable[[object], Path]
) -> None:
    with pytest.raises(InputError) as caught:
        read(put(content))
    for word in [*words, "space.recorded"]:
        assert word in str(caught.value)


def test_many_faults_are_named_and_counted(put: Callable[[object], Path]) -> None:
    rows = "\n".join(f"{i},slow" for i in range(30))
    with pytest.raises(InputError, match="22 more faults"):
        read(put(f"tile,time\n{rows}\n"))


def test_a_packed_file_that_is_cut_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(gzip.compress(TABLE.encode() * 50)[:40])
    with pytest.raises(InputError, match="cut off or damaged"):
        read(path)


@pytest.mark.parametrize("name", ["missing.csv", "."])
def test_no_file_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        read(tmp_path / name)


def test_a_table_of_an_exported_study_is_read(put: Callable[[object], Path]) -> None:
    head = "study,problem,parameter:tile,threads,flags,predicted_s,status,detail,measured_s\n"
    body = (
        's,heat,8,1,-O2,0.5,ok,"two\nlines",1.0\ns,heat,none,2,-O2,0.6,ok,,2.0\n'
        "s,heat,16,2,-O2,0.7,,,\n"
    )
    space = read(put(head + body))
    assert space.unit == "s"
    assert space.rows == ((8, 1), ("none", 2))
    assert space.names == ("tile", "threads")
    assert space.predicted.tolist() == [0.5, 0.6]
    two = put(head + body.replace("s,heat,none", "s,wave,none"))
    with pytest.raises(InputError, match="2 problems"):
        read(two)
    assert read(two, several=True).parameters["problem"] == ("heat", "wave")


@pytest.mark.parametrize(
    ("file", "count", "failed", "domain", "near"),
    [
        ("dune.csv", 2304, 0, [2, 4, 6, 7, 7], (1, 2)),
        ("hipacc.csv.gz", 13485, 0, [2, 2, 2, 4, 5, 6, 6, 17], (108, 990)),
        ("conv_A4000_T4.json.gz", 4362, 161, [2, 2, 2, 4, 4, 5, 16], (2, 11)),
    ],
)
def test_published_spaces_are_what_is_known_of_them(
    file: str, count: int, failed: int, domain: list[int], near: tuple[int, int]
) -> None:
    if not (DATA / file).exists():
        pytest.skip(f"optional: {DATA / file} is not here")
    space = read(DATA / file)
    assert (len(space), space.failures) == (count, failed)
    assert sorted(len(values) for values in space.parameters.values()) == domain
    assert (space.within(0.01).sum(), space.within(0.05).sum()) == near


def test_the_recorded_space_of_this_project() -> None:
    space = read(Path(__file__).parents[3] / "benchmarks" / "recorded" / "star3d-7pt.json.gz")
    assert len(space) >= 300
    assert {"bi", "bj", "bk", "u", "pad", "threads", "flags"} == set(space.parameters)
    assert not np.isnan(space.predicted).any()


def test_a_space_is_checked_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="same values"):
        RecordedSpace(
            name="a", source="a", unit="s", parameters={"x": (1, 2)}, constants={},
            rows=((1,), (1,)), seconds=np.ones(2), statuses=("ok", "ok"), predicted=np.ones(2),
        )  # fmt: skip
