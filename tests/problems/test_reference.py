"""The reference against plain loops over numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest

from autotune.domain.problem import Ivp, Problem, Region
from autotune.files import config
from autotune.files.config.facts import altered
from autotune.language.expression import parse
from autotune.measuring.verification import ivp_reference


def region(bounds, body, columns=None):
    lower, upper = map(parse, bounds)
    return Region(
        lower=lower,
        upper=upper,
        body=parse(body),
        columns=None if columns is None else (parse(columns[0]), parse(columns[1])),
    )


def ivp(regions, *, dimension="N", row=None, initial="1.0 + j", **changes):
    fields = {
        "constants": {},
        "access_distance": parse("N"),
        "limited": False,
        "stability": parse("10.0"),
        "minimum": 4,
    } | changes
    return Ivp(
        name="made",
        title="",
        source="",
        dimension=parse(dimension),
        row=None if row is None else parse(row),
        regions=tuple(regions),
        initial=(region(("0", "n"), initial),),
        **fields,
    )


def plain_explicit(problem, steps):
    """An explicit Runge-Kutta method in plain Python, component by component."""
    A, b, c = problem.method.A, problem.method.b, problem.method.c
    n, h, t = problem.n, problem.h, problem.ivp.start
    f = ivp_reference.rhs(problem.ivp, problem.size)
    y = list(ivp_reference.initial(problem.ivp, problem.size))
    for _ in range(steps):
        F = []
        for row, node in zip(A, c, strict=True):
            Y = [
                y[j] + h * sum(a * F_i[j] for a, F_i in zip(row, F, strict=False)) for j in range(n)
            ]
            F.append(f(t + node * h, np.array(Y)))
        y = [y[j] + h * sum(w * F_i[j] for w, F_i in zip(b, F, strict=True)) for j in range(n)]
        t += h
    return y


def plain_pirk(problem, steps):
    """Listing 1 of Scherg et al. in plain Python, and the first evaluations on y."""
    A, b, c = problem.method.A, problem.method.b, problem.method.c
    s, n, h, t = len(b), problem.n, problem.h, problem.ivp.start
    f = ivp_reference.rhs(problem.ivp, problem.size)
    y = list(ivp_reference.initial(problem.ivp, problem.size))
    for _ in range(steps):
        F = [f(t + node * h, np.array(y)) for node in c]
        for _ in range(problem.correctors):
            Y = [
                [y[j] + h * sum(row[i] * F[i][j] for i in range(s)) for j in range(n)] for row in A
            ]
            F = [f(t + node * h, np.array(Y_l)) for node, Y_l in zip(c, Y, strict=True)]
        y = [y[j] + h * sum(b[i] * F[i][j] for i in range(s)) for j in range(n)]
        t += h
    return np.array(y)


@pytest.mark.parametrize("name", ["medakzo", "inverterchain", "string-mix"])
def test_integrate_is_the_scheme_of_the_paper(name):
    problem = Problem(
        ivp=config.ivp(name), method=config.method("radau-iia-7"), correctors=6, size=10
    )
    expected = plain_pirk(problem, 4)
    got = ivp_reference.integrate(problem, 4)
    assert np.abs(got - expected).max() <= 1e-14 * np.abs(expected).max()


@pytest.mark.parametrize("name", ["heat2d", "medakzo"])
@pytest.mark.parametrize(
    "method", ["bogacki-shampine-3", "dormand-prince-5", "verner-6", "dormand-prince-8"]
)
def test_explicit_methods_agree_with_plain_loops(name, method):
    problem = Problem(ivp=config.ivp(name), method=config.method(method), correctors=0, size=9)
    expected = plain_explicit(problem, 4)
    got = ivp_reference.integrate(problem, 4)
    assert np.abs(got - expected).max() <= 1e-14 * np.abs(expected).max()


def test_steps_continue_from_a_given_state_and_leave_it_alone():
    problem = Problem(
        ivp=config.ivp("heat2d"), method=config.method("radau-iia-5"), correctors=4, size=9
    )
    half = ivp_reference.integrate(problem, 2)
    kept = half.copy()
    assert np.array_equal(
        ivp_reference.integrate(problem, 2, y0=half), ivp_reference.integrate(problem, 4)
    )
    assert np.array_equal(half, kept)
    assert np.array_equal(
        ivp_reference.integrate(problem, 0), ivp_reference.initial(problem.ivp, problem.size)
    )
    with pytest.raises(ValueError, match="81 components"):
        ivp_reference.integrate(problem, 1, y0=np.ones(80))


def test_chunks_do_not_show(monkeypatch):
    problems = [
        Problem(ivp=config.ivp(n), method=config.method("radau-iia-7"), correctors=2, size=s)
        for n, s in (("heat2d", 14), ("medakzo", 40), ("string-mix", 40))
    ]
    whole = [ivp_reference.integrate(problem, 2) for problem in problems]
    monkeypatch.setattr(ivp_reference, "_CHUNK", 5)
    for problem, expected in zip(problems, whole, strict=True):
        assert np.array_equal(ivp_reference.integrate(problem, 2), expected)


def test_every_operation_and_function_of_the_language():
    body = (
        "(2*sin(t) + cos(j) - tan(0.1)*exp(-j) + log(y[j])*sqrt(y[j])/abs(0.5 - j)"
        " + tanh(j - 2)**3 + min(j, 2)*max(y[j], 3.0) + j % 3 - j // 2 + n/N)"
    )
    made = ivp([region(("0", "n"), body)])
    y = np.arange(1.0, 8.0)
    expected = [
        2 * math.sin(0.3) + math.cos(j) - math.tan(0.1) * math.exp(-j)
        + math.log(v) * math.sqrt(v) / abs(0.5 - j) + math.tanh(j - 2) ** 3
        + min(j, 2) * max(v, 3.0) + j % 3 - j // 2 + 1
        for j, v in enumerate(y)
    ]  # fmt: skip
    assert ivp_reference.rhs(made, 7)(0.3, y) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
def test_conditions_choose_per_component(op):
    made = ivp([region(("0", "n"), f"-y[j] if j {op} 2 else 2.0")])
    holds = {"<": [0, 1], "<=": [0, 1, 2], ">": [3, 4], ">=": [2, 3, 4]}[op]
    expected = [-1.0 if j in holds else 2.0 for j in range(5)]
    assert list(ivp_reference.rhs(made, 5)(0.0, np.ones(5))) == expected


def test_locals_may_use_those_before_them():
    made = ivp(
        [region(("0", "n"), "twice*y[j]")],
        constants={"two": parse("2.0")},
        locals={"z": parse("j + t"), "twice": parse("two*z")},
    )
    assert list(ivp_reference.rhs(made, 4)(0.5, np.ones(4))) == [1.0, 3.0, 5.0, 7.0]


def test_columns_with_ranges_that_begin_and_end_within_a_row():
    # Rows of 4; 100 where column 1 or 2 and 2 <= j < 11, else 0.
    middle = [region(("2", "11"), body, cols) for body, cols in
              (("0.0", ("0", "1")), ("100.0 + y[j]", ("1", "3")), ("0.0", ("3", "4")))]  # fmt: skip
    made = ivp(
        [region(("0", "2"), "0.0"), *middle, region(("11", "n"), "0.0")],
        dimension="4*N",
        row="4",
    )
    f = ivp_reference.rhs(made, 4)(0.0, np.arange(16.0))
    assert [j for j in range(16) if f[j]] == [2, 5, 6, 9, 10]
    assert f[9] == 109.0


def test_reading_outside_the_vector_is_an_error():
    outside = altered(ivp([region(("0", "n"), "y[j]")]), regions=(region(("0", "n"), "y[j+1]"),))
    f = ivp_reference.rhs(outside, 6)
    with pytest.raises(ValueError, match=r"components 1 \.\. 6 lie outside \[0, 6\)"):
        f(0.0, np.ones(6))


def test_a_state_that_overflows_is_returned_without_warning(recwarn):
    explosive = ivp([region(("0", "n"), "y[j]**8")], initial="1.0e40")
    problem = Problem(
        ivp=explosive, method=config.method("radau-iia-5"), correctors=4, size=4, step_fraction=1.0
    )
    assert not np.isfinite(ivp_reference.integrate(problem, 3)).any()
    assert not recwarn.list


def test_time_advances_by_h_and_stages_lie_at_their_nodes():
    # y' = 6 t^5 from t = 1: exact for every method of order 6 and more, whatever the correctors.
    powers = ivp([region(("0", "n"), "6*t**5")], initial="1.0", start=1.0)
    problem = Problem(
        ivp=powers, method=config.method("radau-iia-7"), correctors=1, size=4, step_fraction=1.0
    )
    assert ivp_reference.integrate(problem, 5) == pytest.approx([1.5**6] * 4, rel=1e-14)
    assert replace(problem, step_fraction=0.5).h == 0.05
