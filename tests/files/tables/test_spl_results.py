"""Measurements of SPL Conqueror: options, properties, several values in a row."""

import math

import pytest

from autotune.domain.tables.parameter import numeric
from autotune.errors import InputError
from autotune.files.parsing.faults import Faults
from autotune.files.tables.spl import spl_results


def refusal(read, *arguments):
    with pytest.raises(InputError) as raised:
        read(*arguments)
    return str(raised.value)


def faulty(read, text, *arguments):
    """The message of a reader for a text."""
    return refusal(lambda: read(text, Faults("f"), *arguments))


def results(*rows, head=""):
    return f"<results {head}>{''.join(f'<row>{row}</row>' for row in rows)}</results>"


def data(column, text):
    return f'<data columname="{column}">{text}</data>'


def test_options_are_chosen_or_not_and_numbers_have_names():
    text = results(
        data("Configuration", "root, a,")
        + data("Variable Features", "n;4,m;2.5")
        + data("Performance", "1.5"),
        data("Configuration", "root,b")
        + data("Variable Features", "n;8")
        + data("Performance", "2"),
    )
    (series,) = spl_results.series(text, Faults("f"), {})
    assert (series.quantity, series.unit) == ("Performance", "")
    first, second = series.records
    assert first.settings == {"a": 1, "root": 1, "b": 0, "n": 4, "m": 2.5}
    assert second.settings == {"a": 0, "root": 1, "b": 1, "n": 8, "m": None}
    assert [r.times for r in series.records] == [(1.5,), (2.0,)]


def test_several_measurements_of_a_row_have_their_own_separators():
    inner = data("Performance", "1,5;2,5;x")
    text = (
        f'<results separator=";" decimalDelimiter=","><row several="TRUE">{inner}</row></results>'
    )
    (series,) = spl_results.series(text, Faults("f"), {})
    (record,) = series.records
    assert record.times[:2] == (1.5, 2.5)
    assert math.isnan(record.times[2])
    assert record.found == "1,5;2,5;x"


def test_a_property_that_a_row_lacks_has_no_time_there():
    text = results(data("A", "1"), data("B", "2"))
    first, second = spl_results.series(text, Faults("f"), {})
    assert [r.times for r in first.records] == [(1.0,), ()]
    assert [r.times for r in second.records] == [(), (2.0,)]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<vm/>", "f:1: <vm>; expected <results> with measurements"
         " (a variability model goes beside the measurements)"),
        ("<other/>", "f:1: <other>; expected <results> with measurements"),
        ("<results/>", "f: no rows; expected <row> with <data>"),
        (results(data("Configuration", "a")),
         "f: no property; expected a column such as Performance"),
        (results("<data>1</data>"),
         'f:1: <data> without a column; expected columname="Configuration" or a property'),
        (results(data("P", "1") + data("P", "2")), "f:1: P twice in a row; expected each column"
         " once"),
        (results(data("NumericOptions", "n;x") + data("P", "1")),
         "f:1: numeric option 'n;x'; expected name;value, with a number, each name once"),
        (results(data("NumericOptions", "n;1,n;2") + data("P", "1")),
         "f:1: numeric option 'n;2'; expected name;value, with a number, each name once"),
    ],
)  # fmt: skip
def test_wrong_measurements_are_refused_with_their_line(text, fault):
    assert faulty(spl_results.series, text, {}) == fault


def test_with_a_model_every_option_stands_in_every_row():
    domains = {"a": numeric("a", [0, 1]), "b": numeric("b", [0, 1]), "n": numeric("n", [1, 2, 4])}
    text = results(data("Configuration", "root,a") + data("NumericOptions", "n 4") + data("P", "1"))
    (series,) = spl_results.series(text, Faults("f"), domains)
    assert series.records[0].settings == {"a": 1, "b": 0, "n": 4}
    unknown = results(data("Configuration", "c,a") + data("P", "1"))
    message = faulty(spl_results.series, unknown, domains)
    assert message == "f: options c; expected options of the model: a, b, n, ..."
