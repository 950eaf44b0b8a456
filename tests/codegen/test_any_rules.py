"""Any sequence of rules gives the right result or a reason, whatever their order."""

import random
from collections.abc import Callable

import pytest
from codegen_build import FURTHER, IVPS, Workshop, sources, state, variant

from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Problem
from autotune.domain.variant import (
    Align,
    Contract,
    Fuse,
    FuseTiles,
    Hoist,
    InPlace,
    Interchange,
    Jam,
    NeighbourSync,
    Pad,
    Pipeline,
    StreamStores,
    Tile,
    Transformation,
    Vectorize,
)
from autotune.files import config
from autotune.measuring.verification import ivp_reference, verify

STEPS = 3
PROGRAMS = 8
METHODS = ["radau-iia-3", "radau-iia-5", "radau-iia-7", "lobatto-iiic-6"]


def rules(draw: random.Random) -> list[Transformation]:
    """Up to six rules in any order, most of which apply to something."""
    one = draw.choice
    kinds: list[Callable[[], Transformation]] = [
        lambda: Hoist("rhs_first", "l"),
        lambda: Pipeline("k", one([8, 16, 24, 64, 1000])),
        lambda: Contract("F"),
        lambda: InPlace(one(["y", "y", "Y"])),
        lambda: StreamStores(one(["update", "lc", "rhs"])),
        lambda: NeighbourSync("neighbours"),
        lambda: Jam(one(["lc", "rhs"]), one("il"), one([2, 3])),
        lambda: Vectorize(one([2, 4, 8])),
        lambda: Align(one([2, 4, 8])),
        lambda: Tile(one(["lc", "rhs", "rhs_first"]), one([8, 64])),
        lambda: FuseTiles("rhs", "lc", one([8, 64, 128]), "Y"),
        lambda: Fuse("approx", "update"),
        lambda: Pad(one([0, 1, 5])),
        lambda: Interchange(one(["rhs", "rhs_first"]), ("j", "l")),
    ]
    order = Interchange("lc", tuple(draw.sample("ijl", 3)))
    return [order, *(one(kinds)() for _ in range(draw.randint(1, 5)))]


def random_problem(draw: random.Random) -> Problem:
    ivp = config.ivp(draw.choice(IVPS + FURTHER))
    method = config.method(draw.choice(METHODS))
    size = ivp.minimum + draw.choice([0, 1, draw.randint(2, 12)])
    correctors = draw.choice([1, 2, 3, method.order - 1])
    return Problem(ivp=ivp, method=method, correctors=correctors, size=size)


@pytest.mark.parametrize("seed", range(6))
def test_right_or_refused(seed: int, workshop: Workshop) -> None:
    draw = random.Random(seed)
    done = 0
    while done < PROGRAMS:
        at, chosen = random_problem(draw), rules(draw)
        try:
            units = sources(variant(*chosen), at)
        except IllegalTransformation:
            continue
        program = workshop.build(units)
        expected = ivp_reference.integrate(at, STEPS)
        fields = verify.fields(at.ivp, at.size)
        for threads in (1, draw.choice([2, 3, 9])):
            verdict = verify.judge(state(program, at, threads, STEPS), expected, fields)
            assert verdict.status == "ok", f"{at.label} T{threads} {chosen}: {verdict.detail}"
        done += 1
