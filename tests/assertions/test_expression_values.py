"""The evaluator in C gives exactly what ``counts.exact`` gives, errors included."""

import math
import random
from fractions import Fraction
from pathlib import Path

import pytest
from assertion_values import Evaluator, expected
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.language import counts, expression
from autotune.language.expression import Bin, Call, Cond, Expr, Neg, Num, Sym

OPERATORS = ("+", "-", "*", "/", "%", "//", "**")
COMPARISONS = ("<", "<=", ">", ">=")
NAMES = ("n", "p", "x", "unset")
_EDGES = (0, 1, 2, 3, 63, 64, 2**31, 2**32, 2**53, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 10**19)
_FITTING = tuple(edge for edge in _EDGES if edge < 2**63)
_WHOLE = st.one_of(st.integers(0, 20), st.sampled_from(_EDGES))
_REAL = st.one_of(
    st.floats(0, 100),
    st.floats(allow_nan=False, allow_infinity=False, min_value=0),
    st.sampled_from((0.5, 2.0, 1e-9, 0.1, 1e300, 5e-324, 2.0**63, 2.0**53, 2.5, 1 / 3)),
)
_NUMBER = st.one_of(_WHOLE, _REAL).map(Num)
_LEAF = st.one_of(_NUMBER, st.sampled_from(NAMES).map(Sym))
_FRACTION = st.builds(Fraction, st.integers(-(2**63) + 1, 2**63 - 1), st.integers(1, 2**63 - 1))
_SMALL = st.fractions(-20, 20, max_denominator=12)
_VALUE = st.one_of(
    st.integers(-20, 20), st.integers(-(2**63) + 1, 2**63 - 1), _FRACTION, _SMALL,
    st.floats(-100, 100), st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([*_FITTING, *(-edge for edge in _FITTING)]),
)  # fmt: skip


def _larger(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    single = sorted(name for name, count in counts.COUNT_FUNCTIONS.items() if count == 1)
    return st.one_of(
        inner.map(Neg),
        st.builds(Bin, st.sampled_from(OPERATORS), inner, inner),
        st.builds(Bin, st.just("**"), inner, st.integers(-4, 70).map(_whole)),
        st.builds(lambda f, a: Call(f, (a,)), st.sampled_from(single), inner),
        st.builds(lambda f, a, b: Call(f, (a, b)), st.sampled_from(("min", "max")), inner, inner),
        st.builds(Cond, inner, st.sampled_from(COMPARISONS), inner, inner, inner),
    )


def _whole(number: int) -> Expr:
    return Num(number) if number >= 0 else Neg(Num(-number))


_EXPRESSION = st.recursive(_LEAF, _larger, max_leaves=10)
_BINDING = st.fixed_dictionaries({"n": _VALUE, "p": _VALUE, "x": _VALUE})


@pytest.fixture(scope="session")
def evaluator(tmp_path_factory: pytest.TempPathFactory) -> Evaluator:
    return Evaluator(tmp_path_factory.mktemp("values"))


def _same(first: object, second: object) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return first == second
    return type(first) is type(second) and first == second


@settings(max_examples=300)
@given(_EXPRESSION, _BINDING)
def test_random_expressions_have_the_same_values(evaluator, expr, values):
    text = expression.show(expr)
    assert _same(evaluator.value(text, values), expected(text, values)), text


def _random_expression(draw: random.Random, levels: int) -> Expr:
    """An expression of few small numbers, whose parts often have a value."""
    if levels == 0 or draw.random() < 0.2:
        number = draw.choice((0, 1, 2, 3, 5, 64, 0.5, 1.5, 2**62))
        return draw.choice((Num(number), *map(Sym, NAMES[:3])))
    parts = [_random_expression(draw, levels - 1) for _ in range(4)]
    kind = draw.randrange(8)
    if kind < 4:
        return Bin(draw.choice(OPERATORS), parts[0], parts[1])
    if kind == 4:
        return Neg(parts[0])
    if kind == 5:
        return Cond(parts[0], draw.choice(COMPARISONS), *parts[1:])
    function, arguments = draw.choice(sorted(counts.COUNT_FUNCTIONS.items()))
    return Call(function, tuple(parts[:arguments]))


def test_thousands_of_expressions_have_the_same_values(evaluator):
    draw = random.Random(20)
    with_value = 0
    for _ in range(3000):
        values = {
            "n": draw.choice((0, 1, 7, 64, 1400, -3, 2**40, 2**63 - 1)),
            "p": Fraction(draw.randint(-30, 30), draw.randint(1, 12)),
            "x": draw.choice((0.0, 0.25, -1.5, 1e10, 3.0000000001)),
        }
        text = expression.show(_random_expression(draw, 3))
        value = evaluator.value(text, values)
        assert _same(value, expected(text, values)), (text, values)
        with_value += not isinstance(value, str)
    assert with_value > 1500


@pytest.mark.parametrize("function", sorted(counts.COUNT_FUNCTIONS))
@settings(max_examples=50)
@given(_VALUE, _VALUE)
def test_functions_have_the_same_values(evaluator, function, n, p):
    arguments = ", ".join("np"[: counts.COUNT_FUNCTIONS[function]])
    text = f"{function}({arguments})"
    values = {"n": n, "p": p}
    assert _same(evaluator.value(text, values), expected(text, values)), values


@pytest.mark.parametrize("operator", OPERATORS)
@settings(max_examples=60)
@given(_VALUE, _VALUE)
def test_operators_have_the_same_values(evaluator, operator, n, p):
    text, values = f"n {operator} p", {"n": n, "p": p}
    assert _same(evaluator.value(text, values), expected(text, values)), values


@pytest.mark.parametrize("comparison", COMPARISONS)
@settings(max_examples=60)
@given(_VALUE, st.sampled_from(("n", "x", "p")), _VALUE)
def test_comparisons_are_exact(evaluator, comparison, n, other, p):
    near = float(n) if abs(n) < 1e300 else n
    values = {"n": n, "p": p, "x": near}
    text = f"1 if n {comparison} {other} else 0"
    assert _same(evaluator.value(text, values), expected(text, values)), values


@pytest.mark.parametrize(
    "text",
    [
        "2**ceil(log2(n)/2)", "-2**2", "2**-1", "2**3**2", "-n**-2", "1_000*n", "n//4 % 3",
        "1 if (n > 1) else 0", "1 if n < 2 else 2 if n < 5 else 3", "(1 if n<2 else 2)*3",
        "+n", "--n", "1.5e1", ".5", "5.", "1e3", "max(n, p,)", "  n + 1\n", "(n +\n 1)", "00",
        "abs(-n)", "n if p < n+1 else p*2 + 1", "1 if n < 1 else 99999999999999999999",
        "+".join(["n"] * 201), "(" * 60 + "n" + ")" * 60,
    ],
)  # fmt: skip
def test_texts_are_read_as_python_reads_them(evaluator, text):
    values = {"n": 7, "p": 9}
    assert _same(evaluator.value(text, values), expected(text, values))


@pytest.mark.parametrize(
    "text",
    [
        "", "n +", "n p", "foo(n)", "max(n)", "log(n, p)", "n < 2", "(n < 2) + 1", "a[1]", "n == 2",
        "1 if n else 2", "1 if n < 2", "1 < n < 3", "n and p", "n.real", "True", "if", "007",
        "1j", "'n'", "n ^ 2", "1e999", "n;p", "(n", "n)", "()", "n,", "*n", "not n", "1if n<2 else",
        "+".join(["n"] * 202), "(" * 300 + "n" + ")" * 300, "n" * 20_001, "-" * 400 + "n",
        "lambda: 1", "n @ p", "n << 2", "5..", "max((n, p))", "1 if n is 2 else 3", "@", "1__0",
    ],
)  # fmt: skip
def test_texts_outside_the_language_are_refused_with_their_column(evaluator, text):
    with pytest.raises(ValueError, match=r"\S"):
        counts.parse(text)
    answer = evaluator.value(text, {"n": 7, "p": 9})
    assert isinstance(answer, str)
    assert answer.startswith("column ")


def test_the_logarithm_that_floating_point_gets_wrong(evaluator):
    values = {"n": 2**29}
    assert math.log(2**29) / math.log(2) != 29
    assert evaluator.value("log2(n)", values) == 29
    assert "too near" in str(evaluator.value("ceil(log(n)/log(2))", values))


def test_a_fraction_is_rounded_once(evaluator, tmp_path: Path):
    values = {"n": Fraction(2**62 + 2**9 + 1, 3), "p": 0.5}
    assert evaluator.value("n + 0.0*p", values) == float(values["n"])
