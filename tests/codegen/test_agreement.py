"""Every program of the full space gives what the NumPy reference gives."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from codegen_build import (
    FURTHER,
    IVPS,
    Workshop,
    problem,
    reference,
    setup,
    sources,
    state,
    variant,
)

from autotune.codegen import communication
from autotune.domain.problem import IndexSum, Problem
from autotune.domain.variant import (
    Candidate,
    Contract,
    Fuse,
    FuseTiles,
    Interchange,
    Pad,
    Pipeline,
    Tile,
    Vectorize,
)
from autotune.language.expression import Bin, Sym, parse, references
from autotune.measuring.verification import ivp_reference, verify
from autotune.workloads.shipped import workload_of

STEPS = 3
SIZES = {
    "heat2d": 67,
    "inverterchain": 4501,
    "medakzo": 2251,
    "string-mix": 2251,
    "string-row": 2251,
    "wave1d": 4501,
}
"""Odd, with more components than the largest tile of the space."""


def pool(at: Problem) -> list[Candidate]:
    """All candidates of the full space, paddings taken in turn."""
    every = workload_of(setup(at)).candidates(3).legal
    by_loops: dict[object, list[Candidate]] = {}
    for candidate in every:
        loops = tuple(t for t in candidate.variant.transformations if not isinstance(t, Pad))
        by_loops.setdefault(loops, []).append(candidate)
    return [group[i % len(group)] for i, group in enumerate(by_loops.values())]


@pytest.mark.parametrize("ivp", IVPS)
def test_every_variant_agrees_with_the_reference_on_1_2_and_3_threads(
    ivp: str, workshop: Workshop
) -> None:
    at = problem(ivp, SIZES[ivp])
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    candidates = pool(at)
    texts = [sources(candidate, at) for candidate in candidates]
    distinct = {sha256(repr(sorted(t.items())).encode()).hexdigest() for t in texts}
    assert len(distinct) == len(candidates) >= 24

    def check(text: dict[str, str]) -> list[verify.Verification]:
        program = workshop.build(text)
        verdicts = [
            verify.judge(state(program, at, threads, STEPS), expected, fields)
            for threads in (1, 2, 3)
        ]
        program.unlink()
        return verdicts

    check(texts[0])
    with ThreadPoolExecutor(2) as workers:
        for candidate, verdicts in zip(candidates, workers.map(check, texts), strict=True):
            for verdict in verdicts:
                assert verdict.status == "ok", f"{candidate.label}: {verdict.detail}"


@pytest.mark.parametrize("ivp", FURTHER)
def test_further_problems_agree_on_1_and_3_threads(ivp: str, workshop: Workshop) -> None:
    at = problem(ivp, {"brusselator2d": 23, "brusselator2d-mix": 23, "heat3d": 11}.get(ivp, 501))
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    chosen = [
        variant(Interchange("lc", ("j", "i", "l")), FuseTiles("rhs", "lc", 64, "Y"), Pad(5)),
        variant(Interchange("lc", ("l", "i", "j")), Tile("lc", 32), Fuse("approx", "update")),
    ]
    for made in chosen:
        program = workshop.build(sources(made, at))
        for threads in (1, 3):
            verdict = verify.judge(state(program, at, threads, STEPS), expected, fields)
            assert verdict.status == "ok", verdict.detail


def test_regions_of_quotients_and_of_constants_named_like_c_agree_in_tiles(
    workshop: Workshop,
) -> None:
    at = problem("inverterchain", 301)
    edge, inner = at.ivp.regions
    limits = ("1", "first", "(N + first) // 2", "n")
    cut = [
        replace(inner, lower=parse(lower), upper=parse(upper))
        for lower, upper in itertools.pairwise(limits)
    ]
    constants = {**at.ivp.constants, "first": parse("N // 3 + 1")}
    cut_at = replace(at, ivp=replace(at.ivp, constants=constants, regions=(edge, *cut)))
    expected, fields = reference(at, STEPS), verify.fields(at.ivp, at.size)
    made = variant(Interchange("lc", ("j", "i", "l")), FuseTiles("rhs", "lc", 64, "Y"))
    program = workshop.build(sources(made, cut_at))
    for threads in (1, 3):
        verdict = verify.judge(state(program, cut_at, threads, STEPS), expected, fields)
        assert verdict.status == "ok", verdict.detail


def test_locals_that_read_y_agree(workshop: Workshop) -> None:
    """The Laplacian of the Brusselator's inner points by name."""
    at = problem("brusselator2d-mix", 15)
    inner = {"around": parse("y[j-R] + y[j+R] + y[j-2] + y[j+2]"),
             "spread": parse("D2*(around - 4.0*y[j])")}  # fmt: skip
    bodies = {8: "1.0 + y[j]**2*y[j+1] - 4.4*y[j] + spread",
              9: "3.4*y[j-1] - y[j-1]**2*y[j] + spread"}  # fmt: skip
    regions = tuple(
        replace(region, body=parse(bodies[i])) if i in bodies else region
        for i, region in enumerate(at.ivp.regions)
    )
    named = replace(at, ivp=replace(at.ivp, locals=inner, regions=regions))
    assert set(communication.readings(named.ivp)) == set(communication.readings(at.ivp))
    expected = reference(at, STEPS)
    assert np.abs(ivp_reference.integrate(named, STEPS) - expected).max() < 1e-13
    chosen = [
        variant(Interchange("lc", ("j", "i", "l")), FuseTiles("rhs", "lc", 64, "Y")),
        variant(Interchange("lc", ("j", "l", "i")), Pipeline("k", 64), Contract("F")),
    ]
    for made in chosen:
        program = workshop.build(sources(made, named))
        for threads in (1, 3):
            verdict = verify.judge(
                state(program, named, threads, STEPS), expected, verify.fields(at.ivp, at.size)
            )
            assert verdict.status == "ok", verdict.detail


@pytest.mark.parametrize("method", ["radau-iia-5", "lobatto-iiic-6"])
def test_other_methods_agree(method: str, workshop: Workshop) -> None:
    at = problem("heat2d", 11, method)
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    for order in ("ijl", "lij", "jil"):
        made = variant(
            Interchange("lc", tuple(order)),
            Fuse("approx", "update"),
            FuseTiles("rhs", "lc", 16, "Y"),
        )
        program = workshop.build(sources(made, at))
        assert verify.judge(state(program, at, 2, STEPS), expected, fields).status == "ok"


@pytest.mark.parametrize("ivp", IVPS)
def test_optimised_builds_agree(ivp: str, workshop: Workshop) -> None:
    at = problem(ivp, {"heat2d": 21}.get(ivp, 333))
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    flags = ("-O3", "-march=native") if _native(workshop) else ("-O3",)
    made = variant(Interchange("lc", ("j", "l", "i")), FuseTiles("rhs", "lc", 64, "Y"))
    program = workshop.build(sources(made, at), *flags)
    assert verify.judge(state(program, at, 2, STEPS), expected, fields).status == "ok"


def test_smallest_sizes_and_more_threads_than_lines(workshop: Workshop) -> None:
    for ivp in IVPS:
        smallest = problem(ivp, problem(ivp, 50).ivp.minimum)
        program = workshop.build(sources(variant(Pad(5)), smallest))
        expected = reference(smallest, STEPS)
        for threads in (1, 7):
            found = state(program, smallest, threads, STEPS)
            assert np.max(np.abs(found - expected)) <= 1e-12 * np.max(np.abs(expected)), ivp


def test_a_wrong_coefficient_is_noticed(workshop: Workshop) -> None:
    at = problem("heat2d", 13)
    texts = sources(variant(Interchange("lc", ("j", "l", "i"))), at)
    name = "sweep_lc_jli.c"
    assert "0.0625" in texts[name]
    broken = texts | {name: texts[name].replace("0.0625", "0.0624")}
    found = state(workshop.build(broken), at, 1, STEPS)
    expected = reference(at, STEPS)
    assert verify.judge(found, expected, verify.fields(at.ivp, at.size)).status == "wrong-result"


def _native(workshop: Workshop) -> bool:
    probe = Path(workshop.folder) / "probe.c"
    probe.write_text("int main(void) { return 0; }\n")
    try:
        workshop._gcc("-march=native", str(probe), "-o", str(probe.with_suffix("")))
    except AssertionError:
        return False
    return True


def test_sums_that_read_no_index_agree_in_a_pipeline_with_values_in_registers(
    workshop: Workshop,
) -> None:
    """Heat2D with a sum of four terms of y[j] beside it."""
    at = problem("heat2d", 13)
    total = IndexSum(index="q", lower=parse("0"), upper=parse("4"), body=parse("(q + y[j])*0.01"))
    regions = tuple(
        replace(region, body=Bin("+", region.body, Sym("quarters"))) if references(region.body)
        else region
        for region in at.ivp.regions
    )  # fmt: skip
    summed = replace(at, ivp=replace(at.ivp, sums={"quarters": total}, regions=regions))
    expected = reference(summed, STEPS)
    assert np.abs(reference(at, STEPS) - expected).max() > 1e-6
    fields = verify.fields(summed.ivp, summed.size)
    for made in (
        variant(Interchange("lc", ("j", "l", "i")), Pipeline("k", 64), Contract("F")),
        variant(Interchange("lc", ("j", "i", "l")), FuseTiles("rhs", "lc", 64, "Y"), Vectorize(4)),
    ):
        program = workshop.build(sources(made, summed))
        verdict = verify.judge(state(program, summed, 3, STEPS), expected, fields)
        assert verdict.status == "ok", verdict.detail
