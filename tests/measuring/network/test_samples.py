"""Sample files: what is written comes back, what was cut is left out, the rest is refused."""

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_curves import RUN, planted

from autotune.errors import InputError
from autotune.measuring.network import samples
from autotune.measuring.network.samples import SCHEMA, BenchmarkSample, SampleWriter


def written(path, recorded):
    writer = SampleWriter(path)
    writer.begin(recorded.run)
    for sample in recorded.samples:
        writer(sample)
    writer.close()
    return path


@pytest.fixture
def recorded():
    return planted(lambda size: 1e-6 + size / 1e9, sizes=[8, 64], repeats=2)


def test_round_trip(tmp_path, recorded):
    (found,) = samples.read([written(tmp_path / "s.jsonl", recorded)])
    assert found == recorded


def test_a_run_that_does_not_say_how_many_buffers(tmp_path, recorded):
    path = written(tmp_path / "s.jsonl", recorded)
    head, rest = path.read_text().split("\n", 1)
    row = json.loads(head)
    assert row.pop("buffers") == 0
    path.write_text(json.dumps(row) + "\n" + rest)
    assert samples.read([path])[0] == recorded


def test_each_sample_is_there_when_it_is_taken(tmp_path, recorded):
    path = tmp_path / "s.jsonl"
    writer = SampleWriter(path)
    writer.begin(RUN)
    for count, sample in enumerate(recorded.samples, 1):
        writer(sample)
        assert len(samples.read([path])[0].samples) == count
    writer.close()


def test_runs_are_appended_and_files_may_be_joined(tmp_path, recorded):
    path = written(written(tmp_path / "s.jsonl", recorded), recorded)
    joined = tmp_path / "t.jsonl"
    joined.write_bytes(path.read_bytes() * 2)
    assert samples.read([path]) == [recorded] * 2
    assert samples.read([joined, path]) == [recorded] * 6


def test_a_line_that_a_kill_cut_short_is_left_out(tmp_path, recorded):
    path = written(tmp_path / "s.jsonl", recorded)
    text = path.read_text()
    path.write_text(text[:-20])
    assert samples.read([path])[0].samples == recorded.samples[:-1]
    written(path, recorded)  # and the next run begins on a line of its own
    first, second = samples.read([path])
    assert (first.samples, second) == (recorded.samples[:-1], recorded)


def test_a_new_file_that_nothing_came_into_is_removed(tmp_path):
    SampleWriter(tmp_path / "s.jsonl").close()
    assert not (tmp_path / "s.jsonl").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no samples"),
        (f'{{"schema": "{SCHEMA}"}}\n', "s.jsonl:1: lacks 'benchmark'"),
        ("# OSU MPI Latency Test v7.1\n8 1.0\n", "s.jsonl:1: not JSON.*autotune comm import"),
        ('{"schema": "autotune.machine/1"}\n', "s.jsonl:1: the schema is 'autotune.machine/1'"),
        ('{"operation": "barrier"}\n', "s.jsonl:1: the first line has no"),
        ("[1]\n", "s.jsonl:1: not a JSON object"),
        ("[" * 100_000, "s.jsonl:1: not JSON"),
    ],
)
def test_other_texts_are_refused_with_their_line(tmp_path, text, words):
    path = tmp_path / "s.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=words):
        samples.read([path])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"seconds": -1.0}, "not a positive time"),
        ({"seconds": "1"}, "not a finite number"),
        ({"operation": "ping"}, "operation 'ping'"),
        ({"bytes": 8.5}, "bytes is not a whole number"),
        ({"count": 0}, "0 operations"),
        ({"busy": 1}, "busy is not a list"),
    ],
)
def test_wrong_values_are_refused_with_their_line(tmp_path, recorded, change, words):
    path = written(tmp_path / "s.jsonl", recorded)
    lines = path.read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | change)
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=rf"s\.jsonl:3: .*{words}"):
        samples.read([path])


def test_nothing_is_appended_to_other_files(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("hello\n")
    with pytest.raises(InputError, match="holds something else"):
        SampleWriter(path)
    assert path.read_text() == "hello\n"
    with pytest.raises(InputError, match=r"a folder; expected a new file"):
        SampleWriter(tmp_path)


def test_absent_and_strange_files(tmp_path):
    (tmp_path / "b").write_bytes(b"\xff\xfe\x00")
    for name, words in (("a", "no such file"), ("b", "not UTF-8"), (".", "not a file")):
        with pytest.raises(InputError, match=words):
            samples.read([tmp_path / name])


@given(st.binary(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_read_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "s.jsonl"
    path.write_bytes(data)
    with pytest.raises(InputError):
        samples.read([path])


def test_a_sample_is_checked_at_construction():
    good = BenchmarkSample(operation="barrier", bytes=0, seconds=1e-6, count=1)
    for change in ({"seconds": 0.0}, {"seconds": float("nan")}, {"bytes": -1}, {"count": 0}):
        with pytest.raises(ValueError, match=r"positive|operations of"):
            dataclasses.replace(good, **change)
