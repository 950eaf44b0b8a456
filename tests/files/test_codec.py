"""Frozen dataclasses to JSON and to rows, and back."""

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, NewType

import pytest

from autotune.domain.cost_curve import CostCurve, CurvePoint, Segment
from autotune.files import codec
from autotune.units import Bytes, Seconds

Metres = NewType("Metres", float)


class Point(NamedTuple):
    x: float
    y: Metres


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    name: str
    at: tuple[Point, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    kind: Literal["a", "b"]
    length: Metres
    count: int | None
    inner: Inner | None
    pair: tuple[int, str]
    by_number: Mapping[int, float]
    flags: frozenset[str] = frozenset()


VALUE = Outer(
    kind="b",
    length=Metres(2.5),
    count=None,
    inner=Inner(name="n", at=(Point(1.0, Metres(2.0)), Point(3.0, Metres(4.0)))),
    pair=(1, "one"),
    by_number={2: 0.5},
)


def test_a_value_comes_back_from_its_text() -> None:
    text = codec.dump(VALUE)
    assert codec.load(Outer, text) == VALUE
    loaded = codec.load(Outer, text).inner
    assert loaded is not None
    assert loaded.at[1].y == 4.0


def test_equal_values_have_equal_texts() -> None:
    one = dataclasses.replace(VALUE, flags=frozenset({"x", "y", "z"}))
    other = dataclasses.replace(VALUE, flags=frozenset({"z", "y", "x"}))
    assert codec.dump(one) == codec.dump(other)
    assert codec.fields(one)["flags"] == ["x", "y", "z"]


def test_a_row_has_numbers_and_texts_as_they_are_and_json_for_the_rest() -> None:
    row = codec.columns(VALUE)
    assert (row["kind"], row["length"], row["count"]) == ("b", 2.5, None)
    assert row["pair"] == '[1,"one"]'
    assert codec.read(Outer, {**row, "flags": VALUE.flags, "study": "not a field"}) == VALUE


def test_a_document_has_null_for_what_json_has_no_number_for() -> None:
    numbers = {"inf": math.inf, "nan": math.nan, "one": 1.0}
    assert codec.document(numbers) == {"inf": None, "nan": None, "one": 1.0}
    assert codec.document({"path": Path("a") / "b", 3: True}) == {"path": "a/b", "3": True}
    json.dumps(codec.document(VALUE), allow_nan=False)


def test_what_has_no_form_is_refused() -> None:
    with pytest.raises(TypeError, match="complex has no form in JSON"):
        codec.dump(1j)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[]", "needs a mapping, not list"),
        ('{"kind": "a"}', "missing"),
        ('{"other": 1}', "other"),
        ("not JSON", "Expecting value"),
    ],
)
def test_text_of_something_else_is_a_value_error(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        codec.load(Outer, text)


def test_points_of_a_cost_curve_come_back_as_such() -> None:
    curve = CostCurve(
        operation="pingpong",
        benchmark="osu",
        nodes=1,
        ranks=2,
        segments=(Segment(lower=Bytes(0), latency=Seconds(1e-6)),),
        measured=(Bytes(0), Bytes(8)),
        points=(CurvePoint(Bytes(8), Seconds(1e-6)),),
    )
    loaded = codec.load(CostCurve, codec.dump(curve))
    assert loaded == curve
    assert loaded.points[0].time == 1e-6
