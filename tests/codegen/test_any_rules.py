"""Any sequence of rules gives the right result or a reason, whatever their order."""

import random
from collections.abc import Callable

import numpy as np
import pytest
from codegen_build import FURTHER, IVPS, Workshop, reference, run, sources, state, variant

from autotune.codegen.c import harness
from autotune.codegen.tree import variant_program
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Problem, StencilProblem
from autotune.domain.stencil import Stencil
from autotune.domain.variant import (
    Align,
    Block,
    Contract,
    Fuse,
    FuseTiles,
    Hoist,
    InPlace,
    Interchange,
    Jam,
    NeighbourSync,
    OverlappedTiles,
    Pad,
    Pipeline,
    Prefetch,
    StreamStores,
    StripPlanes,
    Tile,
    Transformation,
    Unroll,
    Variant,
    Vectorize,
    Wavefront,
    WholeLines,
)
from autotune.files import config
from autotune.language.expression import parse
from autotune.measuring.verification import grid_reference, verify

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
        lambda: StripPlanes(one([1, 2, 3, 5, 100])),
        lambda: InPlace(one(["y", "y", "Y"])),
        lambda: StreamStores(one(["update", "lc", "rhs"])),
        lambda: NeighbourSync("neighbours"),
        lambda: Jam(one(["lc", "rhs"]), one("il"), one([2, 3])),
        lambda: Vectorize(one([2, 4, 8])),
        lambda: Align(one([2, 4, 8])),
        lambda: WholeLines(one([1, 2, 4])),
        lambda: Prefetch(one([1, 8, 100])),
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
        expected = reference(at, STEPS)
        fields = verify.fields(at.ivp, at.size)
        for threads in (1, draw.choice([2, 3, 9])):
            verdict = verify.judge(state(program, at, threads, STEPS), expected, fields)
            assert verdict.status == "ok", f"{at.label} T{threads} {chosen}: {verdict.detail}"
        done += 1


def random_stencil(draw: random.Random) -> Stencil:
    """A stencil of two or three dimensions and radius 1 to 3, some with a coefficient array."""
    dimensions = ("k", "j", "i")[draw.choice([0, 0, 1]) :]
    reach = draw.choice([1, 1, 2, 3])

    def element(array: str) -> str:
        steps = [draw.randint(-reach, reach) for _ in dimensions]
        return array + "".join(f"[{d}{s:+d}]" for d, s in zip(dimensions, steps, strict=True))

    weighted = draw.random() < 0.4
    terms = [f"{draw.uniform(0.05, 0.15):.3f}*{element('u')}" for _ in range(draw.randint(2, 6))]
    if weighted:
        terms[0] += f"*{element('C')}"
    place = " + ".join(f"{p}*({d} + 16)" for p, d in zip((3, 5, 7), dimensions, strict=False))
    return Stencil(
        name="random",
        title="",
        source="",
        dimensions=dimensions,
        coefficients={"C": parse(f"0.5 + 0.05*(({place}) % 7)")} if weighted else {},
        body=parse(" + ".join([f"0.2*u[{']['.join(dimensions)}]", *terms])),
        initial=parse(f"1.0 + 0.1*(({place}) % 11)"),
    )


def grid_rules(draw: random.Random, stencil: Stencil) -> list[Transformation]:
    """Blocks in some dimensions, several sweeps mostly, and others, in any order."""
    rules: list[Transformation] = [
        Block("sweep", d, draw.choice([1, 3, 5, 8, 16]))
        for d in stencil.dimensions
        if draw.random() < 0.6
    ]
    several = draw.choice([Wavefront, OverlappedTiles, OverlappedTiles])
    if draw.random() < 0.85:
        rules.append(several("sweep", draw.randint(2, 5)))
    if draw.random() < 0.3:
        rules.append(Unroll("sweep", stencil.dimensions[-1], draw.randint(2, 4)))
    if draw.random() < 0.15:
        rules.append(StreamStores("sweep"))
    rules.append(Pad(draw.choice([0, 1, 3])))
    draw.shuffle(rules)
    return rules


@pytest.mark.parametrize("seed", range(6))
def test_stencils_are_right_or_refused(seed: int, workshop: Workshop) -> None:
    draw = random.Random(f"stencils {seed}")
    done = 0
    while done < PROGRAMS:
        stencil = random_stencil(draw)
        rules = tuple(grid_rules(draw, stencil))
        chosen = Variant(skeleton="jacobi", transformations=rules, parameters={})

        def grid(low: int, high: int, of: Stencil = stencil) -> StencilProblem:
            extents = tuple(draw.randint(max(low, of.radius), high) for _ in of.dimensions)
            return StencilProblem(stencil=of, extents=extents)

        try:
            made = variant_program.program(chosen, config.skeleton("jacobi"), grid(8, 20))
        except IllegalTransformation:
            continue
        built = workshop.build(harness.units(made, grid(8, 20)))
        for at in (grid(1, 3), grid(4, 24)):
            steps, threads = draw.randint(1, 9), draw.choice([1, 2, 3, 9])
            out = built.with_suffix(".bin")
            size = ["--size", at.size_text, "--n", str(at.n), "--threads", str(threads)]
            ended = run(built, "verify", *size, "--steps", str(steps), "--out", str(out))
            assert ended.returncode == 0, ended.stderr
            wrong = float(np.max(np.abs(np.fromfile(out) - grid_reference.sweeps(at, steps))))
            case = f"{at.extents} T{threads} {steps} steps of {stencil.body} {chosen}"
            assert wrong <= 1e-12, case
        done += 1
