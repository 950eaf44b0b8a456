"""One format of recorded spaces each: units, failed and missing rows, what is refused and where."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.results import STATUSES
from autotune.errors import InputError
from autotune.files.parsing.faults import Faults
from autotune.files.recorded import csv_table, kernel_tuner_cache, t4_results
from autotune.files.recorded.recorded_space import RecordedSpace, Row
from autotune.files.recorded.replayed import SHARES, Replay, Step
from autotune.files.tables import recorded_series


def read(rows, content):
    """The rows of a reader, their unit, and the faults as text without the name of the file."""
    faults = Faults("f")
    read_rows, unit = rows(content, faults)
    return read_rows, unit, [str(fault).removeprefix("f:") for fault in faults.faults]


def csv_rows(content, faults):
    """The rows of a table in CSV and their unit."""
    table = csv_table.candidate_rows(content, faults)
    return table.rows, table.unit


def refusal(rows, content):
    with pytest.raises(InputError) as raised:
        rows(content, Faults("f"))
    return str(raised.value)


def row(place, settings, seconds, status="ok", **more):
    return Row(place=place, settings=settings, seconds=seconds, status=status, **more)


# --- CSV --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "unit", "seconds"),
    [
        ("time_s", "s", 2.0), ("time_ms", "s", 2e-3), ("time [us]", "s", 2e-6),
        ("Time (ns)", "s", 2e-9), ("ms", "s", 2e-3), ("seconds", "s", 2.0), ("time", "", 2.0),
        ("GFLOPS", "", 2.0),
    ],
)  # fmt: skip
def test_the_last_column_states_the_unit_of_the_times(title, unit, seconds):
    rows, found, faults = read(csv_rows, f"tile,{title}\n8,2\n")
    assert (rows, found, faults) == ([row("2", {"tile": 8}, pytest.approx(seconds))], unit, [])


def test_a_failed_row_needs_no_time_and_gets_none():
    text = "tile,status,time_s\n8,ok,2\n16,build-failed,\n32,crashed,5\n64,,1\n"
    rows, _, faults = read(csv_rows, text)
    assert faults == []
    assert [(r.status, r.seconds) for r in rows] == [
        ("ok", 2.0), ("build-failed", None), ("crashed", None), ("ok", 1.0),
    ]  # fmt: skip


def test_a_prediction_is_in_seconds_whatever_the_unit_of_the_times():
    text = "tile,predicted_s,time_ms\n8,0.5,2\n16,,4\n"
    rows, _, _ = read(csv_rows, text)
    assert [r.predicted for r in rows] == [0.5, None]
    assert [r.seconds for r in rows] == [2e-3, 4e-3]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("tile,time_s\n8,\n", "2:time_s: ''; expected a positive number"
         " (leave failures out, or say so in a column status)"),
        ("tile,time_s\n8,-1\n", "2:time_s: '-1'; expected a positive number"
         " (leave failures out, or say so in a column status)"),
        ("tile,time_s\n8,nan\n", "2:time_s: 'nan'; expected a positive number"
         " (leave failures out, or say so in a column status)"),
        ("tile,status,time_s\n8,crash,\n", "2:status: 'crash'; expected one of"
         f" {', '.join(STATUSES)} (did you mean crashed?)"),
        ("tile,predicted_s,time_s\n8,x,1\n",
         "2:predicted_s: 'x'; expected a positive number or nothing"),
        ("tile,time_s\n8\n", "2: 1 values; expected 2, as the header (cut off?)"),
        ("tile,time_s\n8,1,2\n16,1\n", "2: 3 values; expected 2, as the header (cut off?)"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_left_out_with_a_fault(text, fault):
    rows, _, faults = read(csv_rows, text + "16,ok,1\n" * ("status" in text))
    assert faults[0] == fault
    assert all(r.settings["tile"] == 16 for r in rows)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("time_s\n1\n", "f:1: columns: time_s; expected parameters, and what was measured in"),
        ("8,1\n16,2\n", "f:1: no header; expected the names of the columns in the first line"),
        ("tile,,\n8,1,2\n", "f:1: columns: tile; expected parameters, and what was measured in"),
        ("a,a,b,b,t\n", "f:1: two columns named a, b; expected each name once"),
        ('a,"b\n', "f:1: not CSV: unexpected end of data; expected values between commas"),
    ],
)
def test_a_wrong_header_ends_the_reading(text, fault):
    assert refusal(csv_rows, text).startswith(fault)


def test_a_table_of_ours_names_its_parameters_and_its_runs():
    text = (
        "problem,rank,parameter:tile,parameter:threads,threads,status,time_s\n"
        "heat,1,8,x,2,ok,1\n"
        "heat,2,16,y,2,,\n"
        "heat,3,32,z,4,contended,\n"
    )
    rows, _, faults = read(csv_rows, text)
    assert faults == []
    assert [r.settings for r in rows] == [
        {"tile": 8, "threads": "x", "problem": "heat", "threads of run": 2},
        {"tile": 32, "threads": "z", "problem": "heat", "threads of run": 4},
    ]
    assert rows[1].status == "contended"


def test_a_byte_order_mark_is_no_part_of_a_name():
    rows, _, _ = read(csv_rows, "\ufefftile,time\n8,1\n")
    assert rows[0].settings == {"tile": 8}


# --- Kernel Tuner -----------------------------------------------------------------------------


def cache(*entries, names=("a", "b"), **more):
    return {
        "tune_params_keys": list(names),
        "cache": {str(i): entry for i, entry in enumerate(entries)},
        **more,
    }


def test_a_cache_is_in_milliseconds_with_its_samples():
    entry = {"a": 8, "b": "x", "time": 2.0, "times": [1.0, 2.0, 3.0], "GFLOP/s": 7}
    rows, unit, faults = read(kernel_tuner_cache.rows, cache(entry))
    assert (unit, faults) == ("s", [])
    (only,) = rows
    assert only.settings == {"a": 8, "b": "x"}
    assert only.seconds == pytest.approx(2e-3)
    assert only.samples == pytest.approx((1e-3, 2e-3, 3e-3))


@pytest.mark.parametrize("error", list(kernel_tuner_cache.FAILURES))
@pytest.mark.parametrize("key", ["time", "GFLOP/s", "__error__"])
def test_an_error_stands_for_a_failure_wherever_it_is(error, key):
    entry = {"a": 8, "b": 1, "time": 2.0, key: error}
    rows, _, faults = read(kernel_tuner_cache.rows, cache(entry))
    assert faults == []
    status = kernel_tuner_cache.FAILURES[error]
    assert [(r.status, r.seconds) for r in rows] == ([] if status is None else [(status, None)])


def test_the_name_of_an_error_as_a_parameter_is_no_failure():
    entry = {"a": "ErrorConfig", "b": 1, "time": 2.0}
    rows, _, _ = read(kernel_tuner_cache.rows, cache(entry))
    assert rows[0].status == "ok"


ALLOWED = (
    "a positive number or one of CompilationFailedConfig, RuntimeFailedConfig, ErrorConfig,"
    " InvalidConfig (only times can be used)"
)


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        (5, "cache['0']: int; expected a configuration with its time"),
        ({"a": 8, "time": 1}, "cache['0']: no b; expected all of a, b"),
        ({"a": [8], "b": 1, "time": 1},
         "cache['0']: a parameter that is not a scalar; expected numbers, text, true, false"),
        ({"a": 8, "b": 1, "GFLOP/s": 9},
         f"cache['0']: no time, but GFLOP/s; expected {ALLOWED}"),
        ({"a": 8, "b": 1, "time": -1}, f"cache['0']: the time is -1; expected {ALLOWED}"),
        ({"a": 8, "b": 1, "time": True}, f"cache['0']: the time is True; expected {ALLOWED}"),
        ({"a": 8, "b": 1, "time": "OtherError"},
         f"cache['0']: the time is 'OtherError'; expected {ALLOWED}"),
        ({"a": math.nan, "b": 1, "time": 1},
         "cache['0']: a parameter that is not a scalar; expected numbers, text, true, false"),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_left_out_with_a_fault(entry, fault):
    rows, _, faults = read(kernel_tuner_cache.rows, cache(entry))
    assert (rows, faults) == ([], [fault])


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"cache": [1]}, "f:cache: list; expected configurations by their keys"),
        ({"cache": {}}, "f:tune_params_keys: not a list of names; expected the tunable parameters"),
        ({"cache": {}, "tune_params_keys": []},
         "f:tune_params_keys: not a list of names; expected the tunable parameters"),
        ({"cache": {}, "tune_params_keys": [1]},
         "f:tune_params_keys: not a list of names; expected the tunable parameters"),
        (cache(schema_version="2.0.0"), "f:schema_version: '2.0.0'; expected 1.0.0 (any 1.x.y)"
         " (convert it with the tool that wrote it)"),
    ],
)  # fmt: skip
def test_a_wrong_cache_ends_the_reading(content, fault):
    assert refusal(kernel_tuner_cache.rows, content) == fault


@pytest.mark.parametrize("end", ["", ",", ",\n", "\n"])
def test_a_cache_that_is_still_written_is_closed(end):
    text = '{"tune_params_keys": ["a"], "cache": {"8": {"a": 8, "time": 1}' + end
    content = kernel_tuner_cache.closed(text, Faults("f"))
    assert content == {"tune_params_keys": ["a"], "cache": {"8": {"a": 8, "time": 1}}}


@pytest.mark.parametrize("text", ['{"a": {"b": 1', '{"cache": {"8": {"a": 8, "ti', "[", ""])
def test_what_is_no_open_cache_is_not_closed(text):
    assert kernel_tuner_cache.closed(text, Faults("f")) is None


# --- T4 ---------------------------------------------------------------------------------------


def result(**change):
    return {
        "configuration": {"a": 8},
        "times": {"runtimes": [1.0, 3.0]},
        "invalidity": "correct",
        "measurements": [{"name": "time", "value": 2.0, "unit": ""}],
    } | change


def t4(*results, **metadata):
    return {"schema_version": "1.0.0", "metadata": metadata, "results": list(results)}


@pytest.mark.parametrize(
    ("stated", "unit", "seconds", "sample"),
    [
        (None, "", 2e-3, 1e-3), ("seconds", "", 2.0, 1.0), ("miliseconds", "", 2e-3, 1e-3),
        ("us", "s", 2.0, 1e-6), ("s", "ns", 2e-9, 1.0), ("S", "MS", 2e-3, 1.0),
    ],
)  # fmt: skip
def test_a_time_has_its_own_unit_and_samples_that_of_the_file(stated, unit, seconds, sample):
    content = t4(result(measurements=[{"name": "time", "value": 2, "unit": unit}]))
    if stated is not None:
        content["metadata"] = {"timeunit": stated}
    rows, found, faults = read(t4_results.rows, content)
    assert (found, faults) == ("s", [])
    assert rows[0].seconds == pytest.approx(seconds)
    assert rows[0].samples == pytest.approx((sample, 3 * sample))


@pytest.mark.parametrize(("invalidity", "status"), list(t4_results.INVALIDITY.items()))
def test_an_invalidity_is_a_status(invalidity, status):
    rows, _, faults = read(t4_results.rows, t4(result(invalidity=invalidity)))
    assert faults == []
    assert (rows[0].status, rows[0].seconds is None) == (status, status != "ok")


def test_a_configuration_outside_its_constraints_is_no_candidate():
    rows, _, faults = read(t4_results.rows, t4(result(invalidity="constraints")))
    assert (rows, faults) == ([], [])


def test_a_measurement_named_status_says_more_than_the_invalidity():
    measurements = [{"name": "status", "value": "contended"}]
    content = t4(result(invalidity="runtime", measurements=measurements))
    assert read(t4_results.rows, content)[0][0].status == "contended"
    other = t4(result(invalidity="runtime", measurements=[{"name": "status", "value": "odd"}]))
    assert read(t4_results.rows, other)[0][0].status == "crashed"


def test_a_prediction_stands_beside_the_time():
    measurements = [
        {"name": "time", "value": 2.0, "unit": "s"},
        {"name": "predicted", "value": 1500, "unit": "us"},
    ]
    rows, _, _ = read(t4_results.rows, t4(result(measurements=measurements)))
    assert (rows[0].seconds, rows[0].predicted) == (2.0, pytest.approx(1.5e-3))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"configuration": {}},
         "results[0].configuration: none; expected parameters: numbers, text, true, false"),
        ({"configuration": {"a": [1]}}, "results[0].configuration: not names with scalar values;"
         " expected parameters: numbers, text, true, false"),
        ({"configuration": {"a": math.inf}},
         "results[0].configuration: not names with scalar values;"
         " expected parameters: numbers, text, true, false"),
        ({"invalidity": "odd"}, "results[0].invalidity: 'odd'; expected one of correct, compile,"
         " runtime, timeout, correctness, constraints"),
        ({"measurements": []}, "results[0]: no measurement named 'time', but nothing; expected a"
         " positive number (a failure has an invalidity)"),
        ({"measurements": [{"name": "energy", "value": 1}]},
         "results[0]: no measurement named 'time', but energy; expected a positive number"
         " (a failure has an invalidity)"),
        ({"measurements": [{"name": "time", "value": "x"}]},
         "results[0]: the time is 'x'; expected a positive number (a failure has an invalidity)"),
        ({"measurements": [{"name": "time", "value": 1, "unit": "W"}]},
         "results[0]: the time is 1 in 'W'; expected a positive number"
         " (a failure has an invalidity)"),
        ({"times": {"runtimes": [1, 0]}},
         "results[0].times.runtimes: not positive numbers; expected a list of times"),
        ({"times": {"runtimes": [1, True]}},
         "results[0].times.runtimes: not positive numbers; expected a list of times"),
        ({"times": {"runtimes": [1, math.nan]}},
         "results[0].times.runtimes: not positive numbers; expected a list of times"),
        ({"times": {"runtimes": "x"}},
         "results[0].times.runtimes: not positive numbers; expected a list of times"),
    ],
)  # fmt: skip
def test_a_wrong_result_is_left_out_with_a_fault(change, fault):
    rows, _, faults = read(t4_results.rows, t4(result(**change)))
    assert (rows, faults) == ([], [fault])


def test_a_wrong_t4_file_ends_the_reading():
    assert refusal(t4_results.rows, {"results": 5}) == (
        "f:results: int; expected a list of configurations"
    )
    assert refusal(t4_results.rows, t4(timeunit="hours")).startswith(
        "f:metadata.timeunit: 'hours'; expected one of s, second, seconds"
    )
    old = {**t4(), "schema_version": "2.1.0"}
    assert refusal(t4_results.rows, old).startswith("f:schema_version: '2.1.0'; expected 1.0.0")


@given(st.sampled_from(["1.0.0", "1.2.30", "1.0", "11.0.0", "1.0.0-rc1", "", "2.0.0"]))
def test_files_of_the_major_version_are_read(version):
    good = version in ("1.0.0", "1.2.30")
    try:
        t4_results.check_version({"schema_version": version}, Faults("f"))
    except InputError:
        assert not good
    else:
        assert good


# --- spaces as series, and replays of them ---------------------------------------------------


def space(seconds=(4.0, None, 1.0, 1.04, 2.0), predicted=None, samples=()):
    count = len(seconds)
    return RecordedSpace(
        name="s",
        source="f (T4)",
        unit="s",
        parameters={"tile": tuple(range(count)), "flag": (None, "x")},
        constants={"fixed": 1},
        rows=tuple((i, None if i % 2 else "x") for i in range(count)),
        seconds=np.array([math.nan if s is None else s for s in seconds]),
        statuses=tuple("crashed" if s is None else "ok" for s in seconds),
        predicted=np.array(predicted or [math.nan] * count),
        samples=samples,
    )


def test_the_candidates_of_a_space_are_records_but_for_the_failed_ones():
    series = recorded_series.series(space(predicted=[1.0, 2.0, 3.0, 4.0, 5.0]))
    assert series.treated == ("1 of 5 candidates failed (1 crashed): left out",)
    assert (series.unit, series.statistic, series.name) == ("s", "as given", "time")
    assert [r.place for r in series.records] == [f"candidate {i}" for i in (1, 3, 4, 5)]
    assert series.records[0].settings == {"fixed": 1, "tile": 0, "flag": "x"}
    assert series.records[2].settings["flag"] == "none"
    assert [r.location for r in series.records] == [4.0, 1.0, 1.04, 2.0]
    assert [r.times for r in series.records] == [(4.0,), (1.0,), (1.04,), (2.0,)]
    assert [r.predicted for r in series.records] == [1.0, 3.0, 4.0, 5.0]


def test_the_samples_of_a_candidate_are_its_repetitions():
    recorded = space((2.0, 3.0), samples=((1.0, 3.0), ()))
    records = recorded_series.series(recorded).records
    assert [(r.times, r.location) for r in records] == [((1.0, 3.0), 2.0), ((3.0,), 3.0)]


def replay(*rows, recorded=None):
    recorded = recorded or space()
    steps, best = [], None
    for i in rows:
        seconds = None if math.isnan(recorded.seconds[i]) else float(recorded.seconds[i])
        best = min((s for s in (best, seconds) if s is not None), default=None)
        steps.append(
            Step(row=i, why="next", status=recorded.statuses[i], seconds=seconds, best=best)
        )
    return Replay(
        space=recorded, sampler="random", seed=1, steps=tuple(steps), stopped="all", predicted=False
    )


@pytest.mark.parametrize(
    ("rows", "reached"),
    [((1, 0, 3, 2), (3, 4)), ((2,), (1, 1)), ((3, 2), (1, 2)), ((0, 1, 4), (None, None)),
     ((), (None, None))],
)  # fmt: skip
def test_a_replay_counts_how_soon_it_was_near_the_best(rows, reached):
    assert tuple(replay(*rows).reached(share) for share in SHARES) == reached


def test_the_best_of_a_replay_is_its_fastest_step():
    searched = replay(1, 0, 3, 4)
    assert searched.best == searched.steps[2]
    assert replay(1).best is None
    assert replay().best is None


@given(st.permutations(range(5)), st.floats(0, 3))
def test_a_wider_share_is_reached_no_later(order, share):
    searched = replay(*order)
    wide, exact = searched.reached(share), searched.reached(0.0)
    assert wide is not None
    assert exact is not None
    assert wide <= exact
