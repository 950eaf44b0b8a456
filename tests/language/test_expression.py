"""The language of kernel bodies: what it accepts, refuses, shows and computes."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.language.expression import (
    FUNCTIONS,
    Bin,
    Call,
    Cond,
    Neg,
    Num,
    Ref,
    Sym,
    children,
    constant_parts,
    number,
    parse,
    rebuild,
    references,
    show,
    substitute,
    symbols,
    walk,
)

names = st.sampled_from(["N", "n", "j", "t", "c"])
numbers = st.one_of(
    st.integers(min_value=0, max_value=10**9),
    st.floats(min_value=0, allow_nan=False, allow_infinity=False),
).map(Num)


def grow(inner):
    comparison = st.builds(
        Cond, inner, st.sampled_from(["<", "<=", ">", ">="]), inner, inner, inner
    )
    power = st.builds(
        lambda base, k: Bin("**", base, Num(k)), inner, st.integers(min_value=0, max_value=8)
    )
    calls = st.sampled_from(sorted(FUNCTIONS)).flatmap(
        lambda f: st.tuples(*[inner] * FUNCTIONS[f]).map(lambda a: Call(f, a))
    )
    return st.one_of(
        st.builds(Neg, inner),
        st.builds(Bin, st.sampled_from(["+", "-", "*", "/", "%", "//"]), inner, inner),
        power,
        calls,
        comparison,
        st.builds(
            lambda a, i: Ref(a, tuple(i)),
            st.sampled_from("yAF"),
            st.lists(inner, min_size=1, max_size=2),
        ),
    )


expressions = st.recursive(st.one_of(numbers, names.map(Sym)), grow, max_leaves=12)


@given(expressions)
def test_shown_expressions_read_back_the_same(expr):
    assert parse(show(expr)) == expr


@given(expressions)
def test_rebuilding_without_a_change_changes_nothing(expr):
    assert rebuild(expr, lambda node: node) == expr
    assert substitute(expr, {}) == expr


@given(expressions)
def test_walking_meets_every_node(expr):
    nodes = list(walk(expr))
    assert nodes[0] == expr
    assert sum(len(children(node)) for node in nodes) == len(nodes) - 1
    assert symbols(expr) == {node.name for node in nodes if isinstance(node, Sym)}


@given(expressions)
def test_a_number_comes_out_or_a_reason(expr):
    try:
        value = number(expr, {"N": 5, "n": 25, "j": 3, "t": 0.5, "c": 2})
    except ValueError:
        return
    assert isinstance(value, int | float)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("N*N - 1", 15),
        ("-N**2", -16),
        ("(N - 1)**2", 9),
        ("7 // 2", 3),
        ("7 % 4", 3),
        ("N/8", 0.5),
        ("(4 - sqrt(6))/10", (4 - math.sqrt(6)) / 10),
        ("1 if N < 4 else 2", 2),
        ("min(N, 2) + max(N, 9) + abs(-1)", 12),
        ("+N", 4),
        ("2 - 3 - 4", -5),
    ],
)
def test_numbers(text, value):
    assert number(parse(text), {"N": 4}) == pytest.approx(value)


def test_whole_numbers_stay_whole():
    assert isinstance(number(parse("3*(N - 1)//2"), {"N": 4}), int)


def test_references_in_reading_order():
    body = parse("c*(y[j-N] - 2*y[j] + A[l][i])")
    assert [show(ref) for ref in references(body)] == ["y[j - N]", "y[j]", "A[l][i]"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 +",
        "__import__('os')",
        "open('x')",
        "(lambda: 1)()",
        "y.real",
        "[1, 2]",
        "y[1:2]",
        "y[1, 2]",
        "f(x)[0]",
        "'text'",
        "True",
        "x := 1",
        "a and b",
        "a == b",
        "1 < 2",
        "1 if a < b < c else 2",
        "x**N",
        "x**9",
        "x**-1",
        "x**True",
        "~x",
        "min(1)",
        "sin(1, 2)",
        "sin(x=1)",
        "min(*a)",
        "1j",
        "1e999",
        "\0",
        "(" * 500 + "1" + ")" * 500,
        "+".join(["1"] * 1000),
        "9" * 5000,
        "9" * 400,
        "1 << 10**9",
        "9**9**9**9",
        "10**10**8",
        "x" * 30_000,
    ],
)
def test_anything_outside_the_language_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse(text)


def test_refusals_name_the_part_and_its_column():
    with pytest.raises(ValueError, match=r"'foo\(j\)' \(column 5\): unknown function 'foo'"):
        parse("2 + foo(j)")
    with pytest.raises(ValueError, match=r"'N \^ 2' \(column 6\): a power is written \*\*"):
        parse("2 - (N^2)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1/0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("sqrt(-1)", "has no value"),
        ("log(0)", "has no value"),
        ("exp(1e6)", "has no value"),
        ("1e300**8", "too large"),
        ("1e300*1e300", "too large"),
        ("M", "unknown symbol 'M'; known: N"),
        ("y[0]", "array element"),
    ],
)
def test_numbers_that_do_not_exist(text, message):
    with pytest.raises(ValueError, match=message):
        number(parse(text), {"N": 1})


def test_towers_of_powers_and_long_products_are_refused_at_once():
    tower = "9"
    for _ in range(60):
        tower = f"({tower})**8"
    for text in (tower, "*".join(["9" * 300] * 60), "(N**8)**8"):
        with pytest.raises(ValueError, match="too large"):
            number(parse(text), {"N": 10**200})


def test_an_error_about_a_long_text_is_short():
    with pytest.raises(ValueError, match="too large") as error:
        parse("1 + " + "9" * 4000)
    assert "(column 5)" in str(error.value)
    assert len(str(error.value)) < 300


def test_constant_parts_of_a_long_sum_are_judged_once():
    """The parts of a sum of 65 terms; its depth must not enter as a square."""
    calls = []

    class Names(set):
        def __contains__(self, name):
            calls.append(name)
            return super().__contains__(name)

    text = " + ".join(f"y[j+{k}]*(c + {k})" for k in range(65))
    parts = list(constant_parts(parse(text), Names({"c"})))
    assert [show(part) for part in parts[:2]] == ["c + 0", "c + 1"]
    assert len(parts) == 65
    assert len(calls) <= 2 * 65
