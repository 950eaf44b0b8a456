"""Several responses of one file: each has a name of its own, and can be asked for by it."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.domain.tables.table import Tables
from autotune.errors import InputError
from autotune.files.tables import read, read_one


def put(folder, text, name="m.txt"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def lines(*entries):
    return "".join(
        json.dumps({"params": {"p": p}, "value": v, **more}) + "\n" for p, v, more in entries
    )


def refusal(*arguments, **options):
    with pytest.raises(InputError) as raised:
        read(*arguments, **options)
    return str(raised.value)


def test_the_names_that_extra_p_gives_by_itself_are_those_without_a_name(tmp_path):
    text = lines(
        (1, 1.0, {}), (2, 2.0, {}),
        (1, 3.0, {"metric": "time"}), (2, 4.0, {"callpath": "<root>", "metric": "<default>"}),
    )  # fmt: skip
    table = read_one(put(tmp_path, text))
    assert (table.quantity, table.part) == ("time", "")
    assert table.repetitions == ((1.0, 3.0), (2.0, 4.0))


@pytest.mark.parametrize("kind", ["text", "json", "lines"])
def test_two_responses_of_one_name_are_an_error(tmp_path, kind):
    pairs = (("a", "b: c"), ("a: b", "c"))
    if kind == "text":
        text = "PARAMETER p\nPOINTS 1 2\n" + "".join(
            f"REGION {part}\nMETRIC {metric}\nDATA 1\nDATA 2\n" for part, metric in pairs
        )
    elif kind == "json":
        points = [{"point": [p], "values": [1]} for p in (1, 2)]
        tree = {part: {metric: points} for part, metric in pairs}
        text = json.dumps({"parameters": ["p"], "measurements": tree})
    else:
        text = lines(
            *((p, 1.0, {"callpath": part, "metric": metric}) for part, metric in pairs
              for p in (1, 2))
        )  # fmt: skip
    path = put(tmp_path, text)
    assert refusal(path) == (
        f"{path}: two responses named a: b: c;"
        " expected names of call path and metric that differ when they are joined"
    )


def test_a_response_is_asked_for_by_its_name_or_by_part_of_it(tmp_path):
    text = lines(
        *((p, 1.0 * p, {"callpath": part, "metric": "time"}) for part in ("main", "io")
          for p in (1, 2)),
        *((p, 5.0 * p, {"callpath": "main", "metric": "flops"}) for p in (1, 2)),
    )  # fmt: skip
    path = put(tmp_path, text)
    every = read(path)
    assert isinstance(every, Tables)
    assert every.names == ("main: time", "io: time", "main: flops")
    assert read_one(path, response="main: time").response.tolist() == [1.0, 2.0]
    assert read_one(path, response="flops").response.tolist() == [5.0, 10.0]
    assert read_one(path, response="io").name == "m"
    both = read(path, response="main")
    assert isinstance(both, Tables)
    assert both.names == ("main: time", "main: flops")
    message = refusal(path, response="main: tim")
    assert "no response 'main: tim'" in message
    assert "(did you mean main: time?)" in message


def test_a_response_that_no_model_can_use_is_named_by_the_others(tmp_path):
    text = lines(
        (1, 1.0, {"metric": "good"}), (2, 2.0, {"metric": "good"}),
        (1, 0.0, {"metric": "bad"}), (2, -1.0, {"metric": "bad"}),
    )  # fmt: skip
    tables = read(put(tmp_path, text))
    assert isinstance(tables, Tables)
    assert tables.names == ("good",)
    assert tables.table("good").treated[-1].startswith("bad left out: ")
    with pytest.raises(InputError, match=r"no row|without a positive"):
        read(put(tmp_path, lines((1, 0.0, {"metric": "a"}), (1, 0.0, {"metric": "b"}))))


@settings(max_examples=20)
@given(
    st.lists(
        st.tuples(st.text("ab: ", max_size=4), st.text("ab: <>", max_size=4)),
        min_size=1, max_size=4, unique=True,
    )
)  # fmt: skip
def test_whatever_parts_and_metrics_are_called_there_are_tables_or_an_error(
    tmp_path_factory, pairs
):
    text = lines(
        *((p, 1.0 * p, {"callpath": part, "metric": metric}) for part, metric in pairs
          for p in (1, 2))
    )  # fmt: skip
    try:
        read(put(tmp_path_factory.getbasetemp(), text))
    except InputError as error:
        names = {": ".join(filter(None, pair)) for pair in pairs}
        if len(names) == len(pairs):
            raise AssertionError(pairs) from error
