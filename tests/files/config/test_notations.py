"""How values stand in YAML files: what each notation reads, what it refuses and in which words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.program import Template
from autotune.domain.reference import Figure
from autotune.files.config import notations, study_notations
from autotune.files.config.notations import DIMENSIONS, quantity
from autotune.files.config.program import program_notations
from autotune.language.constraint import Condition
from autotune.language.expression import Num, Ref, Sym
from autotune.units import Bytes, BytesPerCycle, BytesPerSecond, Cycles, Hertz, Seconds


def refusal(read, value):
    with pytest.raises(ValueError, match=r".") as raised:
        read(value)
    return str(raised.value)


# --- quantities ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (Bytes, "32 KiB", 32768),
        (Bytes, "32 kB", 32000),
        (Bytes, "1.5 KiB", 1536),
        (Hertz, "2.3 GHz", 2.3e9),
        (Seconds, "20 ms", 0.02),
        (Seconds, "1.5 min", 90.0),
        (BytesPerSecond, "51 GB/s", 51e9),
        (BytesPerCycle, "32 B/cy", 32.0),
        (Cycles, "4.5 cy", 4.5),
    ],
)
def test_a_quantity_is_read_in_si_units(kind, text, value):
    read = quantity(kind).read(text)
    assert read == value
    assert isinstance(read, int) == (kind is Bytes)


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (Bytes, 64, "the number 64 has no unit of size, such as 32 KiB"),
        (Seconds, None, "nothing has no unit of time, such as 20 ms"),
        (Bytes, "1.3 B", "'1.3 B' is not a whole number of bytes"),
        (Bytes, "0 B", "'0 B' is not positive"),
        (Hertz, "-1 GHz", "'-1 GHz' is not positive"),
        (Cycles, "4 ns", "'ns' is not a unit of cycles: one of cy"),
        (
            Hertz,
            "fast",
            "'fast' is not a number with a unit of frequency: one of Hz, kHz, MHz, GHz, THz",
        ),
        (Seconds, "1e308 h", "'1e308 h' is too large"),
    ],
)
def test_a_quantity_is_refused_with_its_text_and_the_units(kind, value, message):
    assert refusal(quantity(kind).read, value) == message


def test_zero_and_negative_quantities_are_read_where_they_are_allowed():
    assert quantity(Cycles, zero=True).read("0 cy") == 0
    assert quantity(Seconds, signed=True).read("-2 us") == -2e-6
    assert quantity(Seconds, signed=True).read("0 s") == 0
    refused = refusal(quantity(Cycles, zero=True).read, "-1 cy")
    assert refused == "'-1 cy' is not positive"


@pytest.mark.parametrize("kind", list(DIMENSIONS), ids=str)
@pytest.mark.parametrize("form", [{}, {"zero": True}, {"signed": True}], ids=str)
def test_what_stands_in_for_a_quantity_can_be_read(kind, form):
    if form == {"signed": True} and kind not in (Bytes, Seconds):
        return  # no other quantity of a file has a sign
    notation = quantity(kind, **form)
    if notation.stand_in is not None:
        assert notation.read(notation.stand_in) == 0


@given(st.floats(1e-9, 1e15))
def test_a_written_quantity_reads_back_as_the_same_number(value):
    for kind in (Hertz, Seconds, BytesPerSecond, BytesPerCycle, Cycles):
        notation = quantity(kind)
        assert notation.read(notation.write(value)) == value


@given(st.integers(1, 1 << 50))
def test_a_written_size_reads_back_as_the_same_number(value):
    assert quantity(Bytes).read(quantity(Bytes).write(value)) == value


# --- expressions -----------------------------------------------------------------------------


def test_an_expression_is_a_text_or_a_number():
    assert notations.expression(3) == Num(3)
    assert notations.expression("y") == Sym("y")
    assert refusal(notations.expression, True) == "true is not an expression"
    assert refusal(notations.expression, None) == "nothing is not an expression"


def test_a_reference_is_an_array_or_an_element_of_one():
    assert notations.reference("y") == Ref("y", ())
    assert notations.reference("Y[l]") == Ref("Y", (Sym("l"),))
    assert refusal(notations.reference, "a + b") == (
        "text 'a + b' is not an array or an element of one"
    )
    assert refusal(notations.reference, 5) == "the number 5 is not an array or an element of one"


def test_a_coefficient_is_the_number_that_its_expression_gives():
    assert notations.coefficient("(4 - sqrt(6))/10") == pytest.approx((4 - math.sqrt(6)) / 10)
    assert notations.coefficient(2) == 2.0
    assert notations.coefficient("1/3") == 1 / 3


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("[0, n)", Num(0), Sym("n")),
        ("  [a,b)  ", Sym("a"), Sym("b")),
        ("[f[i], n)", Ref("f", (Sym("i"),)), Sym("n")),
    ],
)
def test_a_range_is_two_expressions(text, low, high):
    assert notations.range_(text) == (low, high)


@pytest.mark.parametrize("text", ["[0, n]", "0, n", "[0 n)", "[0, n, m)", "", "[", ")", "(0, n)"])
def test_a_range_has_a_bracket_a_comma_and_a_parenthesis(text):
    assert refusal(notations.range_, text) == f'text {text!r} is not a range such as "[0, n)"'


def test_a_range_is_text():
    assert refusal(notations.range_, [0, 5]) == 'a list is not a range such as "[0, n)"'


# --- plain values ----------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["jli", 4, True, False, None])
def test_a_plain_value_is_itself_and_a_choice_of_one(value):
    assert notations.plain(value) is value
    assert notations.choices(value) == (value,)


def test_choices_keep_their_order():
    assert notations.choices(["b", 1, None]) == ("b", 1, None)
    message = "the number 0.5 is not text, a whole number, true or false"
    assert refusal(notations.choices, [1, 0.5]) == message


def test_a_port_is_named_by_text_or_number():
    assert notations.port(0) == "0"
    assert notations.port("2D") == "2D"
    for value, words in ((True, "true"), ("", "text ''"), (0.5, "the number 0.5")):
        assert refusal(notations.port, value) == f"{words} is not the name of a port"


def test_a_printed_number_stands_alone_or_with_its_erratum():
    read = notations.NOTATIONS["printed time"].read
    assert read("2.48 s") == Figure(printed=2.48)
    marked = {"printed": "2.48 s", "corrected": "2.84 s", "reason": "digits exchanged"}
    assert read(marked) == Figure(printed=2.48, corrected=2.84, reason="digits exchanged")
    assert read({"printed": "2 s", "suspect": True, "reason": "blurred"}).suspect


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            {"printed": "2 s", "corected": "3 s"},
            "unknown key 'corected'; one of printed, corrected, suspect, reason"
            " (did you mean corrected?)",
        ),
        ({"corrected": "3 s"}, "nothing has no unit of time, such as 20 ms"),
        ({"printed": "3 s", "suspect": "yes"}, "suspect is true or false, reason is text"),
        ({"printed": "3 s", "reason": 5}, "suspect is true or false, reason is text"),
        (2.5, "the number 2.5 has no unit of time, such as 20 ms"),
        ("0 s", "'0 s' is not positive"),
    ],
)
def test_a_printed_time_is_refused_in_words(value, message):
    assert refusal(notations.NOTATIONS["printed time"].read, value) == message


def test_a_printed_share_is_a_percentage_to_the_last_digit():
    read = notations.NOTATIONS["printed share"].read
    assert read("-3.6 %") == Figure(printed=-0.036)
    assert read("12%") == Figure(printed=0.12)
    for value in ("3.6", 0.036, "1e2 %", "3,6 %"):
        assert refusal(read, value).endswith("is not a percentage such as -3.6 %")


def test_what_stands_in_for_a_value_can_be_read():
    tables = (notations.NOTATIONS, program_notations.NOTATIONS, study_notations.NOTATIONS)
    for notation in [notation for table in tables for notation in table.values()]:
        if notation.stand_in is not None:
            notation.read(notation.stand_in)


# --- programs --------------------------------------------------------------------------------


def test_a_formula_is_a_number_or_an_expression():
    assert program_notations.formula(8) == Condition("8")
    assert program_notations.formula("8 * n").value({"n": 3}) == 24
    assert refusal(program_notations.formula, True) == "true is not a formula"
    assert refusal(program_notations.formula, ["n"]) == "a list is not a formula"
    assert "a formula" in refusal(program_notations.formula, "")


def test_formulas_have_names_or_are_one():
    assert program_notations.terms("n") == {"formula": Condition("n")}
    assert program_notations.terms({"read": "8*n", "write": 4}) == {
        "read": Condition("8*n"),
        "write": Condition("4"),
    }
    assert refusal(program_notations.terms, {}) == "no formula"
    assert refusal(program_notations.terms, {"read": None}) == "read: nothing is not a formula"


def test_a_formula_of_any_value_reads_words():
    read = program_notations.formula_of_any
    assert [read(value).text for value in (None, True, False, 3)] == ["null", "true", "false", "3"]
    assert program_notations.reuse("never") is None
    assert program_notations.reuse("8 * n") == Condition("8 * n")


@pytest.mark.parametrize(("text", "share"), [("30 %", 0.3), (0.3, 0.3), ("1000 %", 10), (10, 10)])
def test_a_share_of_accuracy_is_above_zero(text, share):
    assert program_notations.share(text) == pytest.approx(share)


@pytest.mark.parametrize("value", [0, "0 %", -0.1, 10.1, "x", True, None, "nan", "inf %"])
def test_a_share_of_accuracy_is_at_most_ten(value):
    assert refusal(program_notations.share, value).endswith("is not a share such as 30 %")


@pytest.mark.parametrize(("value", "size"), [("4 B", 4), (8, 8), (8.0, 8), ("64 B", 64)])
def test_an_element_has_some_bytes(value, size):
    assert program_notations.element(value) == size


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "an element has 1 to 64 B, not 0"),
        ("1 KiB", "an element has 1 to 64 B, not 1024"),
        (1.5, "the number 1.5 is not a whole number of bytes"),
        (True, "true is not a whole number of bytes"),
        (None, "nothing is not a whole number of bytes"),
        ("8", "'8' is not a number with a unit of size"),
    ],
)
def test_an_element_is_refused_in_words(value, message):
    assert refusal(program_notations.element, value).startswith(message)


def test_sizes_are_one_per_dimension_of_a_grid():
    assert program_notations.sizes("n") == (Condition("n"),)
    assert program_notations.sizes(["n", 4, "m"]) == (
        Condition("n"),
        Condition("4"),
        Condition("m"),
    )
    for value in ([], ["a"] * 4):
        message = f"{len(value)} sizes: one, or the points of each dimension of a grid"
        assert refusal(program_notations.sizes, value) == message


@pytest.mark.parametrize("value", ["static", 8, 0.5, True, None, -1e18])
def test_a_value_is_a_scalar(value):
    assert program_notations.value(value) == value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.1e18, "the number 1.1e+18 is beyond 1e+18"),
        (math.nan, "the number nan is beyond 1e+18"),
        ("a\0b", "'a\\x00b' holds the character 0, which no command line can"),
        ({"a": 1}, "keys and values is not text, a number, true, false or null"),
    ],
)
def test_a_value_is_refused_in_words(value, message):
    assert refusal(program_notations.value, value) == message


@pytest.mark.parametrize(
    ("stated", "values"),
    [
        ([4, "b", None], (4, "b", None)),
        ("b", ("b",)),
        ({"from": 8, "to": 64, "step": 28}, (8, 36, 64)),
        ({"from": 8, "to": 63, "step": 28}, (8, 36)),
        ({"from": 3, "to": 24, "times": 2}, (3, 6, 12, 24)),
        ({"from": -1, "to": 1, "step": 1}, (-1, 0, 1)),
        ({"from": 5, "to": 5, "step": 1}, (5,)),
        ([1, True], (1, True)),
    ],
)
def test_a_domain_is_a_list_or_steps(stated, values):
    assert program_notations.domain(stated) == values


FORM = "{from: 8, to: 64, step: 8}, {..., times: 2} or {from: 0.1, to: 10.0, log: true}"


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ([], "no values"),
        ([8, 8], "the number 8 is here twice"),
        ({"from": 8}, f"from is not of the form {FORM}"),
        ({}, f"nothing is not of the form {FORM}"),
        (
            {"from": 8, "to": 64, "step": 8, "times": 2},
            f"from, to, step, times is not of the form {FORM}",
        ),
        ({"from": 8, "to": 64, "logg": 8}, "unknown key 'logg': did you mean log?"),
        (
            {"from": 8, "to": 6.4, "step": 8},
            "to: the number 6.4 is not a whole number",
        ),
        ({"from": 8, "to": 4, "step": 1}, f"these values never go from 8 to 4: {FORM}"),
        ({"from": 8, "to": 9, "step": 0}, f"these values never go from 8 to 9: {FORM}"),
        ({"from": 8, "to": 9, "times": 1}, f"these values never go from 8 to 9: {FORM}"),
        ({"from": 0, "to": 9, "times": 2}, f"these values never go from 0 to 9: {FORM}"),
        (
            {"from": 0, "to": 10**9, "step": 1},
            "more than 4096 values: {from: 1, to: 1000000, log: true, values: 200} takes some of"
            " them",
        ),
    ],
)
def test_a_domain_is_refused_in_words(stated, message):
    assert refusal(program_notations.domain, stated) == message


@given(st.integers(-100, 100), st.integers(0, 400), st.integers(1, 50))
def test_the_values_of_steps_are_those_of_a_range(first, length, step):
    stated = {"from": first, "to": first + length, "step": step}
    assert program_notations.domain(stated) == tuple(range(first, first + length + 1, step))


def test_commands_are_one_list_or_several():
    read = program_notations.NOTATIONS["commands"].read
    gcc = (Template("gcc"), Template("-O{level}"))
    assert read(["gcc", "-O{level}"]) == (gcc,)
    assert read([["gcc", "-O{level}"], ["strip"]]) == (gcc, (Template("strip"),))
    assert program_notations.NOTATIONS["command"].read(["a", 1, 0.5]) == (
        *(Template("a"), Template("1"), Template("0.5")),
    )


@pytest.mark.parametrize(
    ("notation", "value", "message"),
    [
        ("command", "gcc -O2", "text 'gcc -O2' is not a list of arguments"),
        ("command", [], "a list is not a list of arguments"),
        ("command", [True], "true is not an argument of a command line"),
        ("commands", [["gcc"], []], "a build is a list of arguments, or a list of such lists"),
        ("commands", [["gcc"], "x"], "a build is a list of arguments, or a list of such lists"),
        ("commands", None, "nothing is not a list of arguments"),
        ("pattern", 5, "the number 5 is not a regular expression"),
        ("pattern", "time: .*", "'time: .*' has 0 groups; one is read: time: ([0-9.eE+-]+)"),
        ("pattern", "(a)(b)", "'(a)(b)' has 2 groups; one is read: time: ([0-9.eE+-]+)"),
        ("keys", "a..b", "text 'a..b' is not a key, or several joined by dots"),
        ("keys", 5, "the number 5 is not a key, or several joined by dots"),
        ("unit of time", 5, "the number 5 is not a unit of time"),
        ("unit of time", "GB", "'GB' is not a unit of time: one of s, ms, us, µs, ns, ps, min, h"),
    ],
)
def test_the_notations_of_programs_refuse_in_words(notation, value, message):
    assert refusal(program_notations.NOTATIONS[notation].read, value) == message


def test_a_broken_regular_expression_is_named_with_its_reason():
    message = refusal(program_notations.NOTATIONS["pattern"].read, "time: (")
    assert message.startswith("'time: (' is not a regular expression: ")


def test_keys_and_units_of_a_reading():
    assert program_notations.NOTATIONS["keys"].read("a.b.c") == ("a", "b", "c")
    assert program_notations.NOTATIONS["unit of time"].read("ms") == 1e-3


def test_a_constraint_has_a_reason_if_it_wants():
    read = program_notations._constraint
    assert read("a < b").require == Condition("a < b")
    constraint = read({"require": "a < b", "reason": "it must"})
    assert (constraint.require, constraint.reason) == (Condition("a < b"), "it must")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"require": "a", "why": "b"}, "unknown key 'why': a constraint has require and reason"),
        ({"reason": "b"}, "nothing is not a condition such as bi * bj <= 4096"),
        (5, "the number 5 is not a condition such as bi * bj <= 4096"),
    ],
)
def test_a_constraint_is_refused_in_words(value, message):
    assert refusal(program_notations._constraint, value) == message


# --- studies ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a", "quick-start", "9.2_b"])
def test_a_study_is_named_as_a_file(name):
    assert study_notations.study_name(name) == name


@pytest.mark.parametrize("name", ["", "-a", ".a", "a/b", "a b", 5, None, "a\n"])
def test_a_name_that_no_file_should_have_is_refused(name):
    message = refusal(study_notations.study_name, name)
    assert message.endswith("is not a name of letters, digits, and . _ - inside")


def test_threads_are_a_number_or_all():
    assert [study_notations.threads(value) for value in (1, 64, "all")] == [1, 64, "all"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "the number 0 is not a number of threads (at least 1) or all"),
        (True, "true is not a number of threads (at least 1) or all"),
        (
            "alll",
            "text 'alll' is not a number of threads (at least 1) or all (did you mean all?)",
        ),
        ("4", "text '4' is not a number of threads (at least 1) or all"),
    ],
)
def test_threads_are_refused_in_words(value, message):
    assert refusal(study_notations.threads, value) == message


def test_a_launcher_names_the_command_once():
    assert study_notations.launcher("taskset -c 0 {command}") == "taskset -c 0 {command}"
    template = "srun -N {nodes} -n {ranks} -c {threads} {command}"
    assert study_notations.mpi_launcher(template) == template


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["{command}"], "a list is not a command line"),
        ("run", "'run' must name {command} once, where the program goes"),
        (
            "{command} {command}",
            "'{command} {command}' must name {command} once, where the program goes",
        ),
        ("-n {ranks} {command}", "unknown placeholder {ranks}; known: {command}"),
        ("{} {a} {command}", "unknown placeholder {}, {a}; known: {command}"),
        ("a} {command}", "a brace stands alone in 'a} {command}'"),
        ("'a {command}", '"\'a {command}" is not a command line: No closing quotation'),
    ],
)
def test_a_launcher_is_refused_in_words(value, message):
    assert refusal(study_notations.launcher, value) == message


def test_a_launcher_of_ranks_lists_what_it_may_name():
    message = refusal(study_notations.mpi_launcher, "{rank} {command}")
    assert message == "unknown placeholder {rank}; known: {command}, {nodes}, {ranks}, {threads}"


@pytest.mark.parametrize(("value", "share"), [("1 %", 0.01), (0, 0), ("0 %", 0), (0.5, 0.5)])
def test_a_share_of_a_study_starts_at_zero(value, share):
    assert study_notations.share(value) == share


@pytest.mark.parametrize("value", [1, "100 %", -0.1, "x", True, "nan"])
def test_a_share_of_a_study_is_below_one(value):
    message = refusal(study_notations.share, value)
    assert message.endswith("is not a share from 0 up to 100 %, such as 1 %")


def test_objectives_stand_in_one_order():
    assert study_notations.objectives("time") == ("time",)
    stated = list(reversed(study_notations.OBJECTIVES))
    assert study_notations.objectives(stated) == study_notations.OBJECTIVES


def test_objectives_are_refused_in_words():
    read = study_notations.objectives
    assert refusal(read, []) == "at least one objective is needed, and each is named once"
    assert refusal(read, ["time", "time"]) == (
        "at least one objective is needed, and each is named once"
    )
    assert refusal(read, ["time", "a b"]) == "text 'a b' is not the name of an objective"


def test_metrics_of_a_program_come_after_the_objectives_that_all_have():
    assert study_notations.objectives(["speed", "memory", "time"]) == ("time", "memory", "speed")
