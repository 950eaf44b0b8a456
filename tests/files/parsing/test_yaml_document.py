"""YAML text to plain values with places, and what is refused."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import Fault
from autotune.files.parsing import yaml_document


def compose(text):
    faults: list[Fault] = []
    return yaml_document.compose(text, Path("a.yaml"), faults), [str(fault) for fault in faults]


def read(tmp_path, data):
    path = tmp_path / "a.yaml"
    path.write_bytes(data)
    faults: list[Fault] = []
    return yaml_document.read(path, faults), [str(fault) for fault in faults]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e6", 1e6),
        ("1.5", 1.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("-3", -3),
        ("+3", 3),
        ("010", 10),
        ("true", True),
        ("false", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("no", "no"),
        ("on", "on"),
        ("yes", "yes"),
        ("0x10", "0x10"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"),
        (".nan", ".nan"),
        ("2.3 GHz", "2.3 GHz"),
        ('"5"', "5"),
        ("'true'", "true"),
        ("|\n  5", "5\n"),
    ],
)
def test_scalars_are_what_they_look_like(text, value):
    read, faults = compose(f"a: {text}\n")
    assert faults == []
    assert read is not None
    assert read.root == {"a": value}
    assert type(read.root["a"]) is type(value)


def test_every_value_has_its_place():
    read, _ = compose("a: 1\nb:\n  - x\n  - {c: 2}\n")
    assert read is not None
    assert read.place(("a",)) == "a.yaml:1:4"
    assert read.place(("b",)) == "a.yaml:2:1"
    assert read.place(("b", 0)) == "a.yaml:3:5"
    assert read.place(("b", 1, "c")) == "a.yaml:4:9"
    assert read.key(("b", 1, "c")) == "a.yaml:4:6"
    assert read.place(("b", 1, "missing")) == "a.yaml:4:5"


def test_all_duplicate_keys_are_faults():
    read, faults = compose("a: 1\nb: {c: 1, c: 2}\na: 3\na: {d: 1}\n")
    assert faults == [
        "a.yaml:2:11: the key 'c' is here again; expected once (first at a.yaml:2:5)",
        "a.yaml:3:1: the key 'a' is here again; expected once (first at a.yaml:1:1)",
        "a.yaml:4:1: the key 'a' is here again; expected once (first at a.yaml:1:1)",
    ]
    assert read is not None
    assert read.root == {"a": 1, "b": {"c": 1}}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "a.yaml: the file is empty; expected keys and values"),
        ("# a comment\n", "a.yaml: the file is empty; expected keys and values"),
        ("- 1\n", "a.yaml:1:1: the file holds a list; expected keys and values at its top"),
        ("text\n", "a.yaml:1:1: the file holds text 'text'; expected keys and values at its top"),
        ("a: &x 1\n", "a.yaml:1:4: the anchor &x; expected values written out: no anchors"),
        ("a: *x\n", "a.yaml:1:4: the alias *x; expected values written out: no aliases"),
        ("a: 1\n---\nb: 1\n", "a.yaml:2:1: a second document begins here"),
        ("a: !!python/name:os.system\n", "a.yaml:1:4: the tag tag:yaml.org,2002:python/name:os"),
        ("!x a: 1\n", "a.yaml:1:1: the tag !x"),
        ("? [a]\n: 1\n", "a.yaml:1:3: this key is not plain text"),
        ("a:\n\tb: 1\n", "indent with spaces"),
        ("a: {range: [0, n), b: 1}\n", 'put quotes around a range: "[0, n)"'),
        ("a: [1, 2\n", "a.yaml:2:1: not YAML"),
        ("a: 'b\n", "not YAML"),
        ("a: b: c\n", "a.yaml:1:5: not YAML"),
        ("a: " + "[" * 100 + "]" * 100, "a.yaml:1:43: nested more than 40 levels deep"),
    ],
)
def test_what_is_refused(text, fault):
    _, faults = compose(text)
    assert len(faults) == 1
    assert fault in faults[0]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"a: 1\nb: \xff\n", "a.yaml:2: byte 8 is not UTF-8 text"),
        (b"a: 1\nb: \x00\n", "a.yaml:2:4: the character '\\x00' is not text"),
        (b"\x7fELF\x02\x01\x01", "the character '\\x7f' is not text: this looks like a binary"),
        (b"\xff\xfea\x00:\x00", "byte 0 is not UTF-8 text"),
        (b"a: 1\n" * (1 << 18), "the file has 1310720 B; expected at most 1048576 B"),
    ],
)
def test_files_that_are_not_text(tmp_path, data, fault):
    found, faults = read(tmp_path, data)
    assert found is None
    assert len(faults) == 1
    assert fault in faults[0]


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    found, faults = read(tmp_path, b"\xef\xbb\xbfa: 1\n")
    assert faults == []
    assert found is not None
    assert found.root == {"a": 1}


def test_absent_files_and_folders(tmp_path):
    faults: list[Fault] = []
    assert yaml_document.read(tmp_path / "none.yaml", faults) is None
    assert yaml_document.read(tmp_path, faults) is None
    assert yaml_document.read(Path("a\0b"), faults) is None
    assert [fault.found.split(":")[0] for fault in faults] == [
        "there is no such file",
        "a folder",
        "cannot be read",
    ]


@given(st.text(max_size=200))
def test_no_text_raises(text):
    compose(text)


@given(st.binary(max_size=100))
def test_no_bytes_raise(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "a.yaml"
    path.write_bytes(data)
    faults: list[Fault] = []
    assert yaml_document.read(path, faults) is not None or faults


def test_the_slow_parser_reads_the_same(monkeypatch):
    text = "a: [1, no, 'x']\nb: {c: 1e3, c: 2}\nd: &x 5\n"
    fast, faults = compose(text)
    monkeypatch.setattr(yaml_document, "_PARSER", yaml.SafeLoader)
    slow, slow_faults = compose(text)
    assert fast is not None
    assert slow is not None
    assert slow.root == fast.root
    assert slow.places == fast.places
    assert slow_faults == faults
