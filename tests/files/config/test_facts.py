"""Frozen classes from YAML: values by their types, each mistake with its place and what is allowed.

The classes here are made up: what holds of them holds of every class that a file states.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.annotations import (
    Bounds,
    Count,
    Derived,
    FileColumn,
    FileHalf,
    FileKey,
    FileKeys,
    FileSection,
    Fraction,
    InNotation,
    OneKey,
    OneOf,
    Signed,
    Text,
)
from autotune.files.config.dump import tree_of
from autotune.files.config.facts import altered, draft, settle, subject, unchecked
from autotune.files.config.file_fields import (
    fields_of,
    is_keyed_by_name,
    is_record,
    keys_of,
    literals,
    notation_of,
    required,
    split,
)
from autotune.files.config.session import Session
from autotune.files.parsing import yaml_document
from autotune.language.expression import Expr, Num, Sym
from autotune.units import Bytes, Seconds


class Corner(NamedTuple):
    """Two numbers, one of which may be left out."""

    x: int
    y: int = 7


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a whole, by the key that it stands under."""

    name: Annotated[str, Derived()]
    weight: Count

    def __post_init__(self) -> None:
        if self.weight == 13:
            raise ValueError(f"{self.name}: a weight of 13 brings bad luck")


@dataclass(frozen=True, kw_only=True)
class Round:
    radius: Count


@dataclass(frozen=True, kw_only=True)
class Square:
    side: Count


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A class with a field of every kind."""

    name: Annotated[Text, FileKey(optional=True)]
    size: Annotated[Bytes, FileKey(about="a size such as 1 KiB")]
    title: str = ""
    flag: bool = False
    share: Fraction = 0.5
    count: Count = 1
    mode: Literal["fast", "slow"] = "fast"
    colour: Annotated[str, OneOf(("red", "blue"))] = "red"
    delay: Annotated[Seconds, Signed()] = Seconds(0.0)
    mark: Annotated[str, FileKey(name="label")] = ""
    corner: Corner = Corner(0)
    several: Annotated[tuple[Count, ...], Bounds(least=2, most=3)] = (1, 2)
    pair: tuple[Count, Text] = (1, "a")
    parts: Mapping[str, Part] = field(default_factory=dict)
    threads: Annotated[Mapping[int, Seconds], FileKey(entries="a number of threads")] = field(
        default_factory=dict
    )
    maybe: Annotated[Count | None, FileKey(about="a count")] = None
    formula: Expr | None = None
    sum: Annotated[float, Derived()] = 0.0


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Columns of a table, a pair in one text, a section, and one of several keys."""

    size: Annotated[tuple[Bytes, ...], FileColumn("points", "at"), FileKey(about="where")]
    time: Annotated[tuple[Seconds, ...], FileColumn("points", "took")]
    low: Annotated[Expr, FileHalf("range", 0), FileKey(about="the points")]
    high: Annotated[Expr, FileHalf("range", 1)]
    shape: Annotated[
        Round | Square | None, OneKey({"round": Round, "square": Square}, "round or square")
    ] = None
    node: Annotated[Count, FileSection("layout"), FileKey(about="where it ran")]
    rank: Annotated[Count, FileSection("layout", "ranks")] = 1


WHOLE = """\
size: 2 KiB
title: a whole
share: 0.25
label: x
delay: -2 ms
corner: {x: 3}
several: [4, 5, 6]
pair: [2, b]
parts: {left: {weight: 2}, right: {weight: 3}}
threads: {1: 1 us, 16: 4 us}
maybe: null
formula: n
"""
CURVE = """\
points: [{at: 1 KiB, took: 1 us}, {at: 2 KiB, took: 2 us}]
range: "[0, n)"
square: {side: 4}
layout: {node: 2, ranks: 8}
"""


def compose(text):
    session = Session()
    document = yaml_document.compose(text, Path("a.yaml"), session.faults)
    assert document is not None, session.faults
    return session, document


def read(kind, text, **given):
    """The instance that a text states, or None, and the faults as text."""
    session, document = compose(text)
    stated = draft(session, document, kind, **given)
    value = None
    if stated is not None and not session.faults:
        value = settle(session, document, stated)
    return value, [str(fault) for fault in session.faults]


def test_every_kind_of_field_is_read_in_its_type():
    whole, faults = read(Whole, WHOLE, name="w")
    assert faults == []
    assert whole == Whole(
        name="w",
        size=Bytes(2048),
        title="a whole",
        share=0.25,
        mark="x",
        delay=Seconds(-0.002),
        corner=Corner(3, 7),
        several=(4, 5, 6),
        pair=(2, "b"),
        parts={"left": Part(name="left", weight=2), "right": Part(name="right", weight=3)},
        threads={1: Seconds(1e-6), 16: Seconds(4e-6)},
        formula=Sym("n"),
    )
    assert isinstance(whole.size, int)
    assert isinstance(whole.share, float)


def test_columns_halves_sections_and_choices_of_keys():
    curve, faults = read(Curve, CURVE)
    assert faults == []
    assert curve == Curve(
        size=(Bytes(1024), Bytes(2048)),
        time=(Seconds(1e-6), Seconds(2e-6)),
        low=Num(0),
        high=Sym("n"),
        shape=Square(side=4),
        node=2,
        rank=8,
    )


def test_a_name_in_the_file_goes_before_the_one_that_is_given():
    whole, _ = read(Whole, WHOLE + "name: other\n", name="w")
    assert whole is not None
    assert whole.name == "other"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("size: 2 KiB\n", "",
         "a.yaml:1:1: the key 'size' is missing; expected a size such as 1 KiB"),
        ("size: 2 KiB", "size: 2", "a.yaml:1:7: size: the number 2 has no unit of size"),
        ("size: 2 KiB", "size:", "a.yaml:1:6: size: nothing has no unit of size"),
        ("title: a whole", "title: 5", "a.yaml:2:8: title: the number 5; expected text"),
        ("title: a whole", "titel: a", "a.yaml:2:1: unknown key 'titel'; expected one of colour,"
         " corner, count, delay, flag, formula, label, maybe, mode, name, pair, parts, several,"
         " share, size, threads, title (did you mean title?)"),
        ("title: a whole", "sum: 5", "a.yaml:2:1: unknown key 'sum'; expected one of colour,"),
        ("title: a whole", "flag: 1", "a.yaml:2:7: flag: the number 1; expected true or false"),
        ("title: a whole", "flag: yes", "flag: text 'yes'; expected true or false"),
        ("title: a whole", "count: true", "a.yaml:2:8: count: true; expected a whole number"),
        ("title: a whole", "count: 1.5", "count: the number 1.5; expected a whole number"),
        ("title: a whole", "count: 0", "a.yaml:2:8: count: the number 0; expected at least 1"),
        ("share: 0.25", "share: 1.5", "a.yaml:3:8: share: the number 1.5; expected at most 1"),
        ("share: 0.25", "share: 25 %", "share: text '25 %'; expected a number"),
        ("title: a whole", "mode: fats",
         "a.yaml:2:7: mode: text 'fats'; expected 'fast' or 'slow' (did you mean fast?)"),
        ("title: a whole", "mode: 1", "mode: the number 1; expected 'fast' or 'slow'"),
        ("title: a whole", "colour: rod",
         "colour: text 'rod'; expected 'red' or 'blue' (did you mean red?)"),
        ("title: a whole", "name: \"\"", "name: text ''; expected text that is not empty"),
        ("corner: {x: 3}", "corner: {y: 3}", "a.yaml:6:1: the key 'x' is missing"),
        ("corner: {x: 3}", "corner: {x: 3, z: 1}",
         "a.yaml:6:16: unknown key 'z'; expected one of x, y"),
        ("corner: {x: 3}", "corner: [3]", "corner: a list; expected keys and values"),
        ("[4, 5, 6]", "[4]", "a.yaml:7:1: several: 1 values; expected at least 2"),
        ("[4, 5, 6]", "[4, 5, 6, 7]", "several: 4 values; expected at most 3"),
        ("[4, 5, 6]", "[4, x]", "a.yaml:7:14: several: text 'x'; expected a whole number"),
        ("[4, 5, 6]", "4", "a.yaml:7:10: several: the number 4; expected a list"),
        ("[2, b]", "[2]", "a.yaml:8:1: pair: 1 values; expected at least 2"),
        ("[2, b]", "[2, b, c]", "pair: 3 values; expected at most 2"),
        ("{weight: 2}", "5", "a.yaml:9:15: left: the number 5; expected keys and values"),
        ("{weight: 2}", "{weight: 2, name: x}", "unknown key 'name'; expected one of weight"),
        ("{weight: 2}", "{weight: 13}", "a.yaml:9:9: left: a weight of 13 brings bad luck"),
        ("{1: 1 us", "{0: 1 us", "a.yaml:10:11: '0' is not a number of threads; expected at least"),
        ("{1: 1 us", "{two: 1 us", "'two' is not a number of threads; expected at least 1"),
        ("16: 4 us", "16: 4", "a.yaml:10:24: 16: the number 4 has no unit of time"),
        ("maybe: null", "maybe: 0", "a.yaml:11:8: maybe: the number 0; expected at least 1"),
        ("formula: n", "formula: [n]", "a.yaml:12:1: formula: a list is not an expression"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_fault_with_its_place(old, new, fault):
    assert old in WHOLE
    whole, faults = read(Whole, WHOLE.replace(old, new, 1), name="w")
    assert whole is None
    assert len(faults) == 1, faults
    assert fault in faults[0]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('range: "[0, n)"\n', "", "a.yaml:1:1: the key 'range' is missing; expected the points"),
        ('"[0, n)"', '"0, n"',
         "a.yaml:2:8: range: text '0, n' is not a range such as \"[0, n)\""),
        ("layout: {node: 2, ranks: 8}\n", "", "the key 'layout' is missing; expected where it ran"),
        ("{node: 2, ranks: 8}", "[2]", "a.yaml:4:1: layout: a list; expected keys and values"),
        ("node: 2, ", "", "a.yaml:4:1: the key 'node' is missing; expected where it ran"),
        ("ranks: 8", "rank: 8",
         "a.yaml:4:19: unknown key 'rank'; expected one of node, ranks (did you mean ranks?)"),
        ("{side: 4}", "{side: 4}\nround: {radius: 1}", "a.yaml:1:1: round or square"),
        ("{side: 4}", "{radius: 4}", "unknown key 'radius'; expected one of side"),
        ("[{at: 1 KiB, took: 1 us}, {at: 2 KiB, took: 2 us}]", "[]",
         "a.yaml:1:1: points: 0 values; expected at least 1"),
        ("[{at: 1 KiB, took: 1 us}, {at: 2 KiB, took: 2 us}]", "{at: 1 KiB}",
         "a.yaml:1:1: points: keys and values; expected a list"),
        (", took: 2 us", "", "a.yaml:1:35: the key 'took' is missing"),
        ("took: 2 us", "took: 2 us, x: 1", "unknown key 'x'; expected one of at, took"),
        ("at: 2 KiB", "at: big", "at: 'big' is not a number with a unit of size"),
        ("points: [{at: 1 KiB, took: 1 us}, {at: 2 KiB, took: 2 us}]\n", "",
         "the key 'points' is missing; expected where"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_table_or_a_section_has_its_place(old, new, fault):
    assert old in CURVE
    curve, faults = read(Curve, CURVE.replace(old, new, 1))
    assert curve is None
    texts = [text for text in faults if fault in text]
    assert len(texts) == 1, faults


def test_all_mistakes_are_found_at_once():
    text = WHOLE.replace("2 KiB", "2").replace("0.25", "x").replace("{weight: 2}", "{weight: 0}")
    _, faults = read(Whole, text + "unknown: 1\n", name="w")
    assert [fault.split(": ")[0] for fault in faults] == [
        "a.yaml:1:7", "a.yaml:3:8", "a.yaml:9:24", "a.yaml:13:1",
    ]  # fmt: skip


def test_a_draft_without_optional_values_stands_beside_their_faults():
    session, document = compose(WHOLE.replace("0.25", "x"))
    stated = draft(session, document, Whole, name="w")
    assert len(session.faults) == 1
    assert stated is not None
    assert stated.share == 0.5


def test_without_a_value_that_must_be_there_is_no_draft():
    session, document = compose(WHOLE.replace("2 KiB", "2"))
    assert draft(session, document, Whole, name="w") is None


def test_a_draft_of_a_part_of_a_file():
    session, document = compose("a: {b: [{side: 3}]}\n")
    assert draft(session, document, Square, ("a", "b", 0)) == Square(side=3)


def test_settling_checks_what_the_draft_did_not():
    session, document = compose(WHOLE.replace("weight: 3", "weight: 13"))
    stated = draft(session, document, Whole, name="w")
    assert stated is not None
    assert session.faults == []
    assert settle(session, document, stated) is None
    assert [str(fault) for fault in session.faults] == [
        "a.yaml:9:28: right: a weight of 13 brings bad luck"
    ]


def test_a_fault_of_the_outermost_class_stands_where_its_reader_says():
    session, document = compose("weight: 13\nother: 1\n")
    part = unchecked(Part, "p", 13)
    assert settle(session, document, part, at=("other",)) is None
    assert str(session.faults[0]) == "a.yaml:2:8: p: a weight of 13 brings bad luck"


def test_an_altered_draft_is_not_checked():
    part = altered(Part(name="p", weight=1), weight=13)
    assert (part.name, part.weight) == ("p", 13)
    assert subject(("parts", "left", 2)) == "left: "
    assert subject((0,)) == ""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A class whose reader makes one field of several keys."""

    what: Annotated[object, FileKeys({"skeleton": Text, "limit": Count})] = None


def test_several_keys_are_read_each_by_its_type():
    session, document = compose("skeleton: pirk\n")
    stated = draft(session, document, Subject)
    assert session.faults == []
    assert stated is not None
    assert stated.what == {"skeleton": "pirk", "limit": None}
    session, document = compose("limit: 0\n")
    draft(session, document, Subject)
    assert [str(fault) for fault in session.faults] == [
        "a.yaml:1:8: limit: the number 0; expected at least 1"
    ]


# --- fields and dumps --------------------------------------------------------------------------


def test_the_keys_of_a_class_are_those_that_a_file_may_have():
    assert keys_of(Curve) == ("points", "range", "round", "square", "layout")
    assert keys_of(Subject) == ("skeleton", "limit")
    assert keys_of(Part) == ("weight",)
    assert keys_of(Corner) == ("x", "y")
    assert "label" in keys_of(Whole)
    assert "mark" not in keys_of(Whole)
    assert "sum" not in keys_of(Whole)


def test_a_field_knows_whether_a_file_must_have_it():
    fields = {field.name: field for field in fields_of(Whole)}
    assert fields["size"].required
    assert not fields["title"].required
    assert not fields["name"].required
    assert fields["name"].optional
    assert fields["sum"].derived
    assert fields["size"].about == "a size such as 1 KiB"
    assert fields["parts"].default == {}


def test_types_are_told_apart():
    assert is_record(Corner)
    assert is_record(Part)
    assert not is_record(int)
    assert not is_record(Mapping[str, int])
    assert is_keyed_by_name(Part)
    assert not is_keyed_by_name(Whole)
    assert split(Count) == (int, (Bounds(least=1),))
    assert split(int) == (int, ())
    assert required(Count | None) == (int, (Bounds(least=1),))
    assert required(int | str | None)[0] == int | str
    assert literals((Literal["a"], Literal["b", 3])) == ("a", "b", 3)
    assert literals((Literal["a"], int)) == ()


def test_a_notation_goes_with_its_type_or_its_name():
    named_notation = notation_of(float, (InNotation("coefficient"),))
    assert named_notation is not None
    assert named_notation.read("1/4") == 0.25
    size = notation_of(Bytes, (Bounds(least=0),))
    assert size is not None
    assert size.read("0 B") == 0
    assert notation_of(int, ()) is None
    assert notation_of(tuple[int, ...], ()) is None


def test_what_is_empty_or_as_usual_is_not_written():
    assert tree_of(Whole(name="w", size=Bytes(64))) == {
        "name": "w", "size": "64 B", "flag": False, "share": 0.5, "count": 1, "mode": "fast",
        "colour": "red", "delay": "0 ns", "corner": {"x": 0, "y": 7}, "several": [1, 2],
        "pair": [1, "a"],
    }  # fmt: skip


@given(
    size=st.integers(1, 1 << 40),
    share=st.floats(0, 1),
    delay=st.floats(-1e3, 1e3),
    several=st.lists(st.integers(1, 99), min_size=2, max_size=3),
    weights=st.dictionaries(st.text("abc", min_size=1), st.integers(1, 12), max_size=3),
)
def test_a_written_value_reads_back_as_the_same(size, share, delay, several, weights):
    parts = {name: Part(name=name, weight=weight) for name, weight in weights.items()}
    whole = Whole(
        name="w",
        size=Bytes(size),
        share=share,
        delay=Seconds(delay),
        several=tuple(several),
        parts=parts,
    )
    session = Session()
    document = yaml_document.Document(Path("a.yaml"), tree_of(whole))
    stated = draft(session, document, Whole)
    assert session.faults == []
    assert stated is not None
    assert settle(session, document, stated) == whole


def test_columns_are_written_as_rows():
    tree = tree_of(
        Curve(size=(Bytes(8), Bytes(64)), time=(Seconds(1e-6), Seconds(2e-6)), low=Num(0),
              high=Sym("n"), node=1)
    )  # fmt: skip
    assert tree["points"] == [{"at": "8 B", "took": "1 us"}, {"at": "64 B", "took": "2 us"}]
