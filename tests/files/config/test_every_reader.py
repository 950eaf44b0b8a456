"""Every kind of YAML file by its reader: what none of them accepts, and with which place and words.

What a reader accepts, the JSON Schema of its kind accepts too: an editor marks no good file.
"""

import json
from pathlib import Path

import pytest
import yaml
from json_schema_check import faults as schema_faults
from program_samples import HEAD, MATMUL
from sample_nodes import calibrated

from autotune import paths
from autotune.domain.setup import Generated
from autotune.domain.tables.parameter_space import DesignSpace
from autotune.errors import InputError
from autotune.files import config
from autotune.files.config import (
    design_spaces,
    kernel_files,
    machines,
    measured_files,
    references,
    skeletons,
    spaces,
    studies,
)
from autotune.files.config.kinds import FILES, SOURCED
from autotune.files.config.program import programs
from autotune.files.config.session import Session
from autotune.files.json_schema import file_schema
from autotune.files.parsing import yaml_document

NETWORK = """\
schema: autotune.network/1
title: a ring
curves:
  - operation: pingpong
    benchmark: osu
    nodes: 2
    ranks: 2
    measured: [8 B, 1 MiB]
    segments: [{from: 0 B, latency: 1 us, bandwidth: 1 GB/s}]
    points: [{size: 8 B, time: 1 us}]
"""
DESIGN = """\
schema: autotune.design/1
title: a design
parameters: {p: [1, 2, 4], n: {from: 1, to: 9, step: 2}, c: [a, b], x: {from: 0, to: 1.5}}
constraints: [p * n <= 16]
"""


def shipped(collection, name):
    return (paths.folder(collection) / f"{name}.yaml").read_text(encoding="utf-8")


KINDS = {
    "config": (studies, "read_study", lambda: shipped("configs", "quickstart")),
    "machine": (machines, "read_machine", lambda: shipped("machines", "haswell-e5-2630v3")),
    "network": (measured_files, "read_network", lambda: NETWORK),
    "calibration": (
        measured_files, "read_calibration",
        lambda: config.dump_calibration(calibrated().calibration),
    ),
    "ivp": (kernel_files, "read_ivp", lambda: shipped("kernels/ivp", "heat2d")),
    "method": (kernel_files, "read_method", lambda: shipped("kernels/method", "radau-iia-5")),
    "stencil": (kernel_files, "read_stencil", lambda: shipped("kernels/stencil", "star3d-7pt")),
    "skeleton": (skeletons, "read_skeleton", lambda: shipped("variants/skeleton", "pirk")),
    "space": (spaces, "read_generated", lambda: shipped("variants/space", "pirk-small")),
    "program": (programs, "read_program", lambda: HEAD),
    "reference": (references, "read_reference",
                  lambda: shipped("benchmarks/published", "icpe19-table2")),
    "design": (design_spaces, "read_design", lambda: DESIGN),
}  # fmt: skip


@pytest.fixture
def put(tmp_path):
    """Writes a file, beside it the source of the program; its path."""

    def write(text):
        (tmp_path / "mm.c").write_text(MATMUL, encoding="utf-8")
        path = tmp_path / "x.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def read(kind, path):
    """What the reader of a kind makes of a file, and the faults as text."""
    module, name, _ = KINDS[kind]
    session = Session()
    value = session.once(path, getattr(module, name))
    faults = [str(fault).replace(str(path), "x.yaml") for fault in session.faults]
    return value, faults


def good(kind):
    return KINDS[kind][2]()


def tree(kind):
    document = yaml_document.compose(good(kind), Path("x.yaml"), [])
    assert document is not None
    return document.root


def schema_of(kind):
    name = f"autotune.{kind}/1"
    return file_schema(name, FILES[name], sourced=name in SOURCED)


def test_every_kind_of_file_is_here():
    assert {f"autotune.{kind}/1" for kind in KINDS} == set(FILES)


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_good_file_is_read_without_a_fault_and_keeps_to_its_schema(kind, put):
    value, faults = read(kind, put(good(kind)))
    assert faults == []
    made = {"design": DesignSpace, "space": Generated}
    assert isinstance(value, made.get(kind, FILES[f"autotune.{kind}/1"]))
    assert schema_faults(schema_of(kind), tree(kind)) == []


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_file_is_read_once_in_a_session(kind, put):
    path, session = put(good(kind)), Session()
    reader = getattr(KINDS[kind][0], KINDS[kind][1])
    assert session.once(path, reader) is session.once(path, reader)


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_file_without_a_schema_is_told_which_line_to_write(kind, put):
    schema = f"autotune.{kind}/1"
    text = good(kind).replace(f"schema: {schema}\n", "", 1)
    value, faults = read(kind, put(text))
    assert value is None
    assert faults == [
        f"x.yaml:1:1: the key 'schema' is missing; expected schema: {schema}"
        f" (write `schema: {schema}` as first line)"
    ]


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ("autotune.{kind}/9", "version '9' of autotune.{kind} is not known; expected {schema}"),
        ("5", "the schema is the number 5; expected {schema}"),
        ("[a]", "the schema is a list; expected {schema}"),
        ("autotune.nothing/1", "the schema is text 'autotune.nothing/1'; expected {schema}"),
    ],
)
def test_a_file_of_another_schema_is_refused_with_the_one_that_is_read(kind, stated, words, put):
    schema = f"autotune.{kind}/1"
    text = good(kind).replace(f"schema: {schema}", f"schema: {stated.format(kind=kind)}", 1)
    value, faults = read(kind, put(text))
    assert value is None
    (fault,) = faults
    assert words.format(kind=kind, schema=schema) in fault
    assert fault.startswith("x.yaml:")


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_file_of_another_kind_is_told_what_it_is_for(kind, put):
    other = "method" if kind != "method" else "ivp"
    value, faults = read(kind, put(good(other)))
    assert value is None
    (fault,) = faults
    names = "ivp: NAME, method: FILE" if other == "method" else "ivp: FILE, method: NAME"
    assert fault.endswith(f"(a problem names it, `{{{names}, ...}}`)")


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize(
    ("content", "words"),
    [("", "the file is empty"), ("a: [1", "not YAML"), ("- 1\n", "the file holds a list")],
)
def test_what_is_no_mapping_is_one_fault(kind, content, words, put):
    value, faults = read(kind, put(content))
    assert value is None
    assert len(faults) == 1
    assert words in faults[0]


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_absent_file_is_one_fault(kind, tmp_path):
    value, faults = read(kind, tmp_path / "x.yaml")
    assert (value, len(faults)) == (None, 1)
    assert "there is no such file" in faults[0]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("g/w-tune.yaml", ""), ("quickstrat", "did you mean quickstart?"),
        ("configs/quikstart.yaml", "did you mean configs/quickstart.yaml?"),
        ("here/my-sort-tun.yaml", "did you mean here/my-sort-tune.yaml?"),
    ],
)  # fmt: skip
def test_only_a_file_with_a_name_near_to_an_absent_config_is_suggested(
    name, hint, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "my-sort-tune.yaml").touch()
    with pytest.raises(InputError) as absent:
        config.load(name)
    assert absent.value.hint == hint


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_unknown_key_is_named_with_its_place_and_the_nearest_one(kind, put):
    key = next(name for name in tree(kind) if name != "schema")
    wrong = f"{key}x"
    value, faults = read(kind, put(good(kind) + f"\n{wrong}: 1\n"))
    assert value is None
    (fault,) = [text for text in faults if "unknown key" in text]
    assert f"unknown key {wrong!r}; expected one of " in fault
    assert f"(did you mean {key}?)" in fault
    assert fault.startswith("x.yaml:")


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_key_that_stands_twice_is_refused(kind, put):
    key = next(name for name in tree(kind) if name != "schema")
    value, faults = read(kind, put(good(kind) + f"\n{key}: 1\n"))
    assert value is None
    assert any(f"the key {key!r} is here again; expected once (first at " in f for f in faults)


def required(kind):
    return [name for name in schema_of(kind).get("required", []) if name != "schema"]


@pytest.mark.parametrize("kind", list(KINDS))
def test_each_key_that_a_file_must_have_is_missed_by_name(kind, put):
    for name in required(kind):
        rest = {key: value for key, value in tree(kind).items() if key != name}
        value, faults = read(kind, put(yaml.safe_dump(rest, sort_keys=False)))
        assert value is None
        assert any(f"the key {name!r} is missing" in fault for fault in faults), (name, faults)


WRONG = (None, True, -1, 1.5, "", "x", "$", [], [None], ["x", 1], {}, {"a": 1}, {"from": 1})


@pytest.mark.parametrize("kind", list(KINDS))
def test_any_value_of_a_key_is_read_or_refused_with_a_place_as_the_schema_says(kind, put):
    schema = schema_of(kind)
    for i, name in enumerate(key for key in tree(kind) if key != "schema"):
        for wrong in (None, [], WRONG[i % len(WRONG)], WRONG[(2 * i + 5) % len(WRONG)]):
            changed = {**tree(kind), name: wrong}
            text = "".join(f"{key}: {json.dumps(value)}\n" for key, value in changed.items())
            value, faults = read(kind, put(text))
            assert (value is None) == bool(faults), (name, wrong)
            assert all(": " in fault and fault.split(":")[0] for fault in faults)
            if value is not None:
                assert schema_faults(schema, changed) == [], (name, wrong)


def test_a_build_without_commands_is_refused(put):
    text = HEAD.replace('build: ["{compiler}"', 'build: []\nenvironment: {X: "{compiler}"}\nx: [')
    assert "build: []" in text
    value, faults = read("program", put(text.replace("x: [", "#")))
    assert value is None
    assert any("build: a list is not a list of arguments" in fault for fault in faults)


@pytest.mark.parametrize("name", ["a" * 300, "a/" * 400, "[" * 300, "../" * 400])
def test_a_source_of_a_name_that_no_file_can_have_is_refused(put, name):
    value, faults = read("program", put(HEAD.replace('["*.c"]', json.dumps([name]))))
    assert value is None
    assert len(faults) == 1
    assert faults[0].startswith("x.yaml:3:11: ")
