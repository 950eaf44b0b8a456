"""Expressions in C have the value that they have in the expression language."""

import math
import subprocess

import pytest
from codegen_build import Workshop
from hypothesis import given
from hypothesis import strategies as st

from autotune.codegen.c import c_expressions
from autotune.language.expression import Expr, Num, Sym, number, parse

VALUES: dict[str, float | int] = {"N": 7, "n": 49, "j": 11, "t": 0.375, "K": 3.5, "half": 24}
KINDS: c_expressions.Kinds = {**c_expressions.SIZES, "half": "long"}

EXPRESSIONS = [
    "1/2",
    "N/2",
    "(N + 1)/(N - 2)*K",
    "j % N",
    "j // N",
    "(j % N + j // N) % 2",
    "N - (n - j)",
    "K - (t - K)",
    "K/(t*K)",
    "K/t/K",
    "-t**2",
    "(-t)**3",
    "-(t + K)",
    "t - -3",
    "2*-3*K",
    "(t + K)**2*(N - 1)**2",
    "K**0 + t**1",
    "N**3 - 2",
    "max(t, K) - min(t, K)",
    "max(N, 3)*t",
    "max(N, j) // 2",
    "abs(N - j)",
    "abs(-K)",
    "1.0 if j % 2 < 1 else 0.25*j",
    "2 if t <= K else 3",
    "(2.0 if t > 5.0 else N) - t",
    "sin(t) + cos(K)*exp(-t) + log(K) + sqrt(K) + tanh(t) + tan(t)",
    "1e-12*N",
    "half - N*half",
    "half/N",
    "100000*100000 + N",
    "7 // 2",
    "(j - 20) % 3",
    "(j - 20) // 3",
    "(j - 21) // 3",
    "(3 - j) % (-5)",
    "(3 - j) // (-5)",
    "j % (2 - N)",
    "half // (2 - N)",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_whole_subexpressions_stay_whole(text: str) -> None:
    expr = parse(text)
    value = number(expr, VALUES)
    if c_expressions.kind(expr, KINDS) == "long":
        assert isinstance(value, int)
    else:
        assert isinstance(c_expressions.real(expr, KINDS), str)


def evaluated(expressions: list[Expr], workshop: Workshop) -> list[float]:
    lines = [f'    printf("%.17g\\n", {c_expressions.real(e, KINDS)});' for e in expressions]
    wholes = [
        f'    printf("%ld\\n", (long)({c_expressions.whole(e, KINDS)}));' for e in expressions
    ]
    declared = [
        f"    const {KINDS.get(name, 'double')} {name} = {value};" for name, value in VALUES.items()
    ]
    used = [f"    (void){name};" for name in VALUES]
    text = "\n".join(
        [
            "#include <stdio.h>",
            *c_expressions.support("\n".join([*lines, *wholes])),
            "int main(void)",
            "{",
            *declared,
            *used,
            *lines,
            *wholes,
            "    return 0;",
            "}",
        ]
    )
    source = workshop.folder / "expressions.c"
    source.write_text(text)
    program = source.with_suffix("")
    workshop._gcc(str(source), "-o", str(program), "-lm")
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=60)
    return [float(line) for line in done.stdout.split()]


def test_printed_expressions_have_the_value_of_the_language(workshop: Workshop) -> None:
    expressions = [parse(text) for text in EXPRESSIONS]
    found = evaluated(expressions, workshop)
    for text, expr, value, whole in zip(
        EXPRESSIONS, expressions, found, found[len(expressions) :], strict=False
    ):
        expected = number(expr, VALUES)
        assert value == pytest.approx(expected, rel=1e-15), text
        assert whole == math.trunc(expected), text


def trees() -> st.SearchStrategy[Expr]:
    leaves = st.one_of(
        st.sampled_from([Sym(name) for name in VALUES]),
        st.integers(0, 9).map(Num),
        st.sampled_from([0.5, 2.0]).map(Num),
    )
    return st.recursive(
        leaves,
        lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(
            lambda parts: parse(f"({show(parts[0])}){parts[1]}({show(parts[2])})")
        ),
        max_leaves=8,
    )


def show(expr: Expr) -> str:
    from autotune.language.expression import show

    return show(expr)


@given(expr=trees())
def test_brackets_keep_the_order_of_operations(expr: Expr) -> None:
    """What C says, read as Python: the operators + - * have the same precedence there."""
    text = c_expressions.real(expr, KINDS).replace("(double)", "").replace("(int)", "")
    assert number(parse(text), VALUES) == number(expr, VALUES)


@pytest.mark.parametrize("text", ["t % 2", "K // 2"])
def test_remainders_need_whole_numbers(text: str) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        c_expressions.real(parse(text), KINDS)


def test_names_never_collide_with_c() -> None:
    assert c_expressions.real(parse("double + first*y0")) == "double_ + first_*y0_"
    assert c_expressions.real(parse("speed*K2")) == "speed*K2"


def test_numbers_that_c_cannot_write_are_refused() -> None:
    with pytest.raises(ValueError, match="inf"):
        c_expressions.real(Num(math.inf))
