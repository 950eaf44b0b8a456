"""Right-hand sides that the caller of a library gives: a function in the place of sweeps."""

from dataclasses import replace

from autotune.codegen.tree.loop_tree import (
    Assign,
    Statement,
    StoredRow,
    SumLoop,
    Sweep,
    SweepStretch,
)
from autotune.domain.problem import Ivp, Problem, Region
from autotune.language.expression import Bin, Expr, Num, Ref, Sym

ACCESSED = "accessed"
"""The constant that stands for the access distance that a caller states."""


def problem_of_caller(problem: Problem, *, limited: bool, autonomous: bool) -> Problem:
    """The problem with an IVP of N components of which no more is known than what the caller says:
    whether a component reads only others within a distance, and whether the time plays no part.
    """
    component = Ref("y", (Sym("j"),))
    ivp = Ivp(
        name="callback",
        title="a right-hand side of the caller",
        source="the caller of the library",
        dimension=Sym("N"),
        constants={ACCESSED: Num(1)} if limited else {},
        access_distance=Sym(ACCESSED) if limited else Sym("n"),
        limited=limited,
        regions=(_everywhere(component if autonomous else Bin("*", Sym("t"), component)),),
        initial=(_everywhere(Num(0.0)),),
        stability=Num(1.0),
    )
    return replace(problem, ivp=ivp, size=max(problem.n, ivp.minimum))


def _everywhere(body: Expr) -> Region:
    return Region(lower=Num(0), upper=Sym("n"), body=body)


def evaluation(ivp: Ivp, kernel: str, target: StoredRow, argument: StoredRow, time: Expr) -> Sweep:
    """The call that computes ``target = f(time, argument)`` for a range of components.

    Its statement is a stand-in: it reads the argument within the access distance or, where this is
    not limited, everywhere.
    """
    if ivp.limited:
        beside = Ref("y", (Bin("+", Sym("j"), Sym(ACCESSED)),))
        statements: tuple[Statement, ...] = (Assign("dy", beside),)
    else:
        every = SumLoop("every", "k", Num(0), Sym("n"), Ref("y", (Sym("k"),)))
        statements = (every, Assign("dy", Sym("every")))
    return Sweep(
        name="callback",
        kernel=kernel,
        rows=(("dy", target), ("y", argument)),
        scalars=(("t", time),),
        stretches=(SweepStretch(Num(0), Sym("n"), statements),),
        called=True,
    )
