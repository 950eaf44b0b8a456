"""JSON that somebody else wrote: each key once, whole numbers of any length, faults with places."""

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.errors import InputError
from autotune.files.parsing.faults import Faults
from autotune.files.parsing.strict_json import document, loads


def refusal(text, closed=lambda _: None):
    with pytest.raises(InputError) as raised:
        document(text, Faults("a.json"), "T4 results", closed)
    return str(raised.value)


def test_an_object_is_read():
    assert document('{"a": [1, 2.5, null, true]}', Faults("a.json"), "") == {
        "a": [1, 2.5, None, True]
    }


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[1]", "a.json: JSON, but a list at its top; expected T4 results"),
        (
            '{"a": 1, "b": {"c": 1, "c": 2}}',
            "a.json: the key 'c' twice in one object; expected each key once",
        ),
        (
            '{"a": 1, "a": 1}',
            "a.json: the key 'a' twice in one object; expected each key once",
        ),
        (
            '{"a": 1,\n "b": }',
            "a.json:2:7: not JSON: Expecting value; expected a whole JSON document"
            " (cut off? copy or download it again)",
        ),
        (
            '{"a": [1, 2',
            "a.json:1:12: not JSON: Expecting ',' delimiter; the file ends here;"
            " expected a whole JSON document (cut off? copy or download it again)",
        ),
        (
            "[" * 100_000,
            "a.json: nested too deeply; expected T4 results",
        ),
    ],
    ids=range(6),
)
def test_what_is_no_object_is_refused_with_its_place(text, fault):
    assert refusal(text) == fault


def test_a_text_that_its_writer_has_not_finished_may_be_closed():
    content = document('{"a": 1', Faults("a.json"), "", lambda cut: loads(cut + "}", Faults("")))
    assert content == {"a": 1}


def test_whole_numbers_keep_every_digit_until_no_float_holds_them():
    assert loads("9" * 300, Faults("")) == int("9" * 300)
    assert loads("9" * 301, Faults("")) == float("9" * 301)
    assert loads("-" + "9" * 5000, Faults("")) == -math.inf


def test_the_first_key_that_is_there_again_is_named():
    with pytest.raises(InputError, match="the key 'b' twice"):
        loads('{"a": 1, "b": 2, "c": 3, "b": 4, "c": 5}', Faults("x"))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False)
        | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=10,
    )
)  # fmt: skip
def test_whatever_python_writes_is_read_back(value):
    assert loads(json.dumps(value), Faults("")) == value


@given(st.text(max_size=40))
def test_no_text_gives_another_error(text):
    with contextlib.suppress(InputError):
        assert isinstance(document("{" + text, Faults("a"), "JSON"), dict)
