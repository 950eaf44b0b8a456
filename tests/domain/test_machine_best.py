"""What a machine could do at best: operations, bytes and seconds counted by hand."""

from dataclasses import replace

import fabricated as made
import pytest

from autotune.domain.least_work import operations
from autotune.domain.machine import Machine
from autotune.domain.machine_best import MachineBest, machine_best
from autotune.domain.problem import Problem, StencilProblem
from autotune.domain.variant import ExecutionLayout
from autotune.files import config
from autotune.language.expression import parse

KIB, MIB = 2**10, 2**20


def ivp(name: str, size: int) -> Problem:
    """With Radau IIA(7): 4 stages, A and b without zeros; 6 corrector steps."""
    method = config.method("radau-iia-7")
    return Problem(ivp=config.ivp(name), method=method, correctors=6, size=size)


def seconds(best: MachineBest) -> dict[str, float]:
    return {bound.resource: bound.seconds for bound in best.bounds}


def at_best(problem: Problem | StencilProblem, machine: Machine, threads: int) -> MachineBest:
    return machine_best(problem, ExecutionLayout(threads=threads), machine)


COMBINED = 2 * (4 + 5 * 16 + 4)
"""Operations of a component in the linear combinations of Radau IIA(7) with m = 6."""


def test_the_work_of_heat2d() -> None:
    """Six operations at each interior point, none at the boundary; 25 evaluations."""
    work = ivp("heat2d", 10).least_work()
    assert work.operations == 8 * 8 * (25 * 6 + COMBINED)
    assert (work.read, work.written) == (800, 800)


def test_the_work_of_an_explicit_method() -> None:
    """Six of seven stages: 15 coefficients of A and five of b are not zero."""
    method = config.method("dormand-prince-5")
    problem = Problem(ivp=config.ivp("heat2d"), method=method, correctors=0, size=10)
    work = problem.least_work()
    assert work.operations == 8 * 8 * (6 * 6 + 2 * (15 + 5))


@pytest.mark.parametrize("name", ["heat2d", "heat3d", "brusselator2d-mix", "wave1d", "medakzo"])
@pytest.mark.parametrize("size", [9, 10, 25])
def test_the_components_of_a_region_are_counted_without_listing_them(name: str, size: int) -> None:
    rhs = config.ivp(name)
    for region in rhs.regions:
        listed = sum(len(part) for part in rhs.members(region, size))
        assert rhs.count(region, size) == listed


def test_the_work_of_wave1d() -> None:
    """Four differences, four products, three sums and the factor: 12; beside an end the same."""
    work = ivp("wave1d", 100).least_work()
    assert work.operations == 100 * (25 * 12 + COMBINED)
    assert (work.read, work.written) == (800, 800)


def test_the_work_of_a_stencil() -> None:
    """Seven products and six sums a point; seven coefficients of a point are read beside u."""
    stencil = config.stencil("star3d-7pt-variable")
    work = StencilProblem(stencil=stencil, extents=(4, 5, 6)).least_work()
    assert work.operations == 120 * 13
    assert work.read == 8 * 120 * 8
    assert work.written == 8 * 120


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("2*c + 1", 0),
        ("-y[j]", 0),
        ("(y[j] - y[j+1])*(y[j] - y[j+1])", 2),
        ("exp(y[j]) + a", 3),
        ("y[j]*2 if y[j] < 0 else y[j]", 0),
    ],
)
def test_operations_are_counted_once_and_only_on_elements(body: str, expected: int) -> None:
    assert operations(parse(body), {"a": parse("y[j+2]*c")}) == expected


def test_one_core_of_haswell() -> None:
    """16 operations per cycle at 2.3 GHz; 8.9 GB/s; the caches hold 8 x 288 KiB + 20 MiB."""
    best = seconds(at_best(ivp("heat2d", 4096), config.machine("haswell-e5-2630v3"), 1))
    flops = 4094**2 * (150 + COMBINED)
    held = 8 * (32 + 256) * KIB + 20 * MIB
    assert best["arithmetic"] == pytest.approx(flops / (16 * 2.3e9))
    assert best["memory"] == pytest.approx(2 * (8 * 4096**2 - held) / 8.9e9)


def test_all_cores_of_interlagos() -> None:
    """16 shared units of 2 fused vectors of 2 doubles; 4 domains of 20 GB/s."""
    best = seconds(at_best(ivp("wave1d", 2**26), config.machine("interlagos-6276"), 32))
    held = 32 * 16 * KIB + 16 * 2 * MIB + 4 * 6 * MIB
    assert best["arithmetic"] == pytest.approx(2**26 * (300 + COMBINED) / (16 * 2 * 2 * 2 * 2.3e9))
    assert best["memory"] == pytest.approx(2 * (8 * 2**26 - held) / 80e9)


def test_a_calibrated_host_needs_no_documented_bandwidth() -> None:
    """One thread loads 7, two 4.2 bytes a cycle each, at 3.65 GHz; the caches hold 34.06 MiB."""
    problem, host = ivp("heat2d", 4096), made.machine()
    moved = 2 * (8 * 4096**2 - (32 * MIB + 2 * MIB + 64 * KIB))
    single, both = (seconds(at_best(problem, host, threads)) for threads in (1, 2))
    assert single["memory"] == pytest.approx(moved / (7 * 3.65e9))
    assert both["memory"] == pytest.approx(moved / (2 * 4.2 * 3.65e9))


def test_a_calibrated_host_computes_at_its_measured_clock() -> None:
    """16 operations per cycle at 3.65 GHz; 3.7 GHz are documented."""
    haswell, problem = config.machine("haswell-e5-2630v3"), ivp("heat2d", 64)
    host = made.machine()
    host = replace(host, in_core=replace(host.in_core, ports=haswell.in_core.ports))
    best = seconds(at_best(problem, host, 1))
    assert best["arithmetic"] == pytest.approx(62**2 * (150 + COMBINED) / (16 * 3.65e9))


def test_memory_has_nothing_to_do_where_the_caches_hold_all() -> None:
    best = seconds(at_best(ivp("heat2d", 64), config.machine("haswell-e5-2630v3"), 1))
    assert best["memory"] == 0
    assert best["arithmetic"] > 0


def test_what_the_machine_file_lacks_is_said() -> None:
    haswell = config.machine("haswell-e5-2630v3")
    bare = replace(
        haswell,
        in_core=replace(haswell.in_core, ports=None),
        memory=replace(haswell.memory, saturated=None, single=None, benchmarks={}, duplex=None),
    )
    best = at_best(ivp("heat2d", 64), bare, 1)
    assert best.bounds == ()
    arithmetic, memory = best.missing
    assert "in_core.ports" in arithmetic
    assert "memory.saturated" in memory


def test_nodes_share_the_work() -> None:
    haswell, problem = config.machine("haswell-e5-2630v3"), made.candidate().problem
    single = seconds(machine_best(problem, ExecutionLayout(), haswell))
    layout = ExecutionLayout(ranks=4, nodes=4, communication="neighbour")
    four = seconds(machine_best(problem, layout, haswell))
    assert four["arithmetic"] == pytest.approx(single["arithmetic"] / 4)
