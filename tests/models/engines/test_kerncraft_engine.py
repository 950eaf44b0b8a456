"""Engine kerncraft: iterations, Eq. 8 to 10 by hand, parts, notes and refusals."""

from dataclasses import replace

import numpy as np
import pytest
from codegen_build import IVPS
from hypothesis import given, settings
from hypothesis import strategies as st
from kerncraft_hand import ORDERS, Hand, HandAnalyser, candidate
from sample_nodes import documented

from autotune.codegen.c.kernel_values import KernelText
from autotune.codegen.tree import regions
from autotune.codegen.tree.loop_tree import SweepStretch
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.machine import CacheLevel, Machine, Memory, Overlap
from autotune.domain.results import Prediction
from autotune.domain.setup import Saturation
from autotune.domain.variant import Candidate, Fuse, FuseTiles, Pad, Tile
from autotune.files import config
from autotune.language.expression import Num
from autotune.models.engines.ecm_arithmetic import (
    domain_share,
    floor_cycles,
    paper_cycles,
    saturation_point,
)
from autotune.models.engines.kerncraft.kerncraft_engine import KerncraftEngine
from autotune.models.engines.kerncraft.node_plan import (
    KernelStretch,
    NodeKernel,
    NodePlan,
    components_within,
    node_blocks,
    plan,
)
from autotune.models.engines.kerncraft.node_stretches import StretchRequests
from autotune.models.kerncraft import EcmTimes

RULES: tuple[Saturation, ...] = ("paper", "kerncraft")


def machine(cores: int = 8, domain: int = 8) -> Machine:
    """Serial, 2 GHz, 40 GB/s per domain; a barrier of all cores takes 1 us."""
    made = documented()
    caches: list[CacheLevel] = [replace(c, cores=min(c.cores, domain)) for c in made.caches]
    memory: Memory = replace(made.memory, cores=domain)
    return replace(
        made, cores=cores, caches=tuple(caches), memory=memory, overlap=Overlap(rule="serial")
    )


def engine(
    analyser: HandAnalyser | None = None,
    rule: Saturation = "paper",
    on: Machine | None = None,
) -> KerncraftEngine:
    programs = SkeletonPrograms(config.skeleton("pirk"))
    return KerncraftEngine(on or machine(), programs, analyser or HandAnalyser(), rule)


def one(asked: Candidate, made: KerncraftEngine | None = None) -> Prediction:
    return (made or engine()).predict([asked])[0]


def planned(asked: Candidate) -> NodePlan:
    made = plan(SkeletonPrograms(config.skeleton("pirk"))(asked), asked.problem.ivp)
    assert isinstance(made, NodePlan), made
    return made


# --- iterations -----------------------------------------------------------------------------


@pytest.mark.parametrize("ivp", IVPS)
@pytest.mark.parametrize("size", [9, 16, 1000, 4801])
@pytest.mark.parametrize(("nodes", "ranks"), [(1, 1), (3, 1), (4, 2), (8, 1)])
def test_the_components_of_every_kernel_add_up_to_the_block(
    ivp: str, size: int, nodes: int, ranks: int
) -> None:
    asked = candidate(ivp, size)
    made, n = planned(asked), asked.problem.n
    blocks = node_blocks(n, regions.granule(asked.problem.ivp), nodes * ranks, nodes)
    assert blocks[0][0] == 0
    assert blocks[-1][1] == n
    values = asked.problem.ivp.values(size)
    for kernel in made.kernels:
        for block in blocks:
            counts = kernel.components(block, values)
            assert sum(counts) == pytest.approx(block[1] - block[0])
        whole = kernel.components((0, n), values)
        parts = [kernel.components(block, values) for block in blocks]
        assert sum(whole) == pytest.approx(sum(map(sum, parts)))


@pytest.mark.parametrize("order", ORDERS)
def test_the_calls_of_a_step_are_counted(order: str) -> None:
    """m = 6 correctors, s = 4 stages: 4 + 24 right-hand sides, 6 linear combinations."""
    made = planned(candidate(order=order))
    total: dict[str, int] = {}
    for kernel in made.kernels:
        name = kernel.stretches[0].kernel
        total[name] = total.get(name, 0) + kernel.executions
    expected = {"ijl": 30, "ilj": 102, "jil": 6, "jli": 6, "lij": 120, "lji": 24}[order]
    assert total == {"rhs_first": 4, "rhs": 24, "lc": expected, "approx": 1, "update": 1}
    assert made.barriers == 13


def test_boundaries_belong_to_the_long_stretches() -> None:
    kernels = planned(candidate("heat2d")).kernels
    assert [len(kernel.stretches) for kernel in kernels] == [1] * len(kernels)
    long = [k for k in planned(candidate("medakzo")).kernels if len(k.stretches) > 1]
    assert [s.sweep for s in long[0].stretches] == ["f_medakzo_1", "f_medakzo_3"]


def test_a_block_of_nothing_but_boundary_is_shared_as_the_whole() -> None:
    asked = candidate("medakzo", 16)
    right_hand_side = planned(asked).kernels[0]
    assert right_hand_side.components((0, 1), asked.problem.ivp.values(16)) == pytest.approx(
        [14 / 30, 16 / 30]
    )


@pytest.mark.parametrize(
    ("block", "counts"),
    [
        ((0, 8), [6.0, 2.0]),
        ((4, 8), [2.0, 2.0]),
        ((0, 10), [7.5, 2.5]),  # two of boundary, shared as the others are
        ((8, 10), [1.5, 0.5]),  # nothing but boundary
    ],
)
def test_boundaries_are_shared_in_proportion_to_the_long_stretches(
    block: tuple[int, int], counts: list[float]
) -> None:
    """Stretches of components 0 to 5 and 6 and 7 of 10."""
    stretches = tuple(
        KernelStretch(
            sweep="s", kernel="rhs", text=KernelText(text="", constants=()),
            region=SweepStretch(Num(lower), Num(upper), ()),
        )
        for lower, upper in ((0, 6), (6, 8))
    )  # fmt: skip
    kernel = NodeKernel(stretches=stretches, executions=1)
    assert kernel.components(block, {"n": 10}) == pytest.approx(counts)
    alone = NodeKernel(stretches=stretches[:1], executions=1)
    assert alone.components(block, {"n": 10}) == [float(block[1] - block[0])]


def test_columns_of_long_rows_are_counted_exactly() -> None:
    asked = candidate("heat2d", 10)
    interior = planned(asked).kernels[0].stretches[0].region
    values = asked.problem.ivp.values(10)
    inside = [10 < j < 90 and 0 < j % 10 < 9 for j in range(100)]
    for first in range(0, 100, 7):
        for last in range(first, 101, 3):
            counted = components_within(interior, (first, last), values)
            assert counted == sum(inside[first:last])


# --- Eq. 8 to 10 by hand ----------------------------------------------------------------------


def cycles(lines: int, threads: int) -> float:
    """Per line of work: 8 || 5 + lines x (1 + 2 + 3.2), saturated at 3.2 per line."""
    return max(max(8, 5 + 6.2 * lines) / threads, 3.2 * lines)


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize(
    ("order", "lc"),
    [
        ("jil", [(6, 13)]),
        ("jli", [(6, 13)]),
        ("ijl", [(30, 9)]),
        ("ilj", [(96, 3), (6, 9)]),
        ("lij", [(120, 3)]),
        ("lji", [(24, 7)]),
    ],
)
def test_a_step_by_hand(order: str, lc: list[tuple[int, int]], threads: int) -> None:
    found = one(candidate("wave1d", 1_000_000, order, threads=threads))
    work = [(28, 3), (1, 6), (1, 3), *lc]
    expected = sum(count * cycles(lines, threads) for count, lines in work) * 125_000 / 2e9
    barriers = 0 if threads == 1 else 13 * 1e-6 * threads / 8
    assert found.seconds == pytest.approx(expected + barriers)


def test_the_slowest_node_counts() -> None:
    """The first half of the string reads one row, the other half another: alike; heat is not."""
    whole, halves = candidate("heat2d", 100), candidate("heat2d", 100, nodes=2)
    thirds = candidate("heat2d", 100, nodes=3)
    seconds = [one(c).seconds or 0.0 for c in (whole, halves, thirds)]
    barriers = 13e-6
    assert seconds[1] - barriers == pytest.approx((seconds[0] - barriers) / 2, rel=1e-3)
    # 1250 lines: 417 on the largest node
    assert seconds[2] - barriers == pytest.approx((seconds[0] - barriers) * 417 / 1250, rel=1e-3)


def test_the_node_of_the_dearer_field_counts() -> None:
    """medakzo: the first field needs 5 arrays and a store, the second 4."""
    asked = candidate("medakzo", 80_000, nodes=2)
    first = one(asked)
    sweeps = {part.sweep for part in first.parts}
    assert first.seconds is not None
    assert ("f_medakzo_1" in sweeps) != ("f_medakzo_3" in sweeps)


def test_ranks_of_a_node_are_one_block() -> None:
    together = one(candidate("wave1d", 80_000, nodes=2, ranks=1, threads=8))
    apart = one(candidate("wave1d", 80_000, nodes=2, ranks=4, threads=2))
    assert together.seconds is not None
    assert apart.seconds is not None
    assert together.seconds - 13e-6 == pytest.approx(apart.seconds - 13e-6 / 4)


def test_domains_saturate_on_their_own() -> None:
    """Two domains move twice as much as one; a third of the threads on the second is no half."""
    alone = one(candidate("wave1d", 800_000, threads=4), engine(on=machine(8, 4)))
    both = one(candidate("wave1d", 800_000, threads=8), engine(on=machine(8, 4)))
    uneven = one(candidate("wave1d", 800_000, threads=6), engine(on=machine(8, 4)))
    for prediction, part, threads in ((alone, 1, 4), (both, 0.5, 8), (uneven, 4 / 6, 6)):
        assert prediction.seconds is not None
        rest = prediction.seconds - 13 * 1e-6 * threads / 8
        assert rest == pytest.approx(part * ((alone.seconds or 0) - 13 * 1e-6 * 0.5))
    assert domain_share(6, 4) == (4, pytest.approx(4 / 6))


def test_the_recursion_of_kerncraft_by_name() -> None:
    paper, recursion = (
        one(candidate(threads=2)),
        one(candidate(threads=2), engine(None, "kerncraft")),
    )
    assert recursion.seconds is not None
    assert recursion.seconds > (paper.seconds or 0)
    assert any("saturation rule kerncraft" in note for note in recursion.notes)
    assert any("saturation rule paper" in note for note in paper.notes)


CYCLES = st.floats(0.0, 1e4)


@given(T=CYCLES, memory=CYCLES, threads=st.integers(1, 64))
def test_rule_paper_is_equation_9(T: float, memory: float, threads: int) -> None:
    """alpha / min(tau, sigma), and saturated exactly T_Mem."""
    T = max(T, memory)
    alpha, beneath = np.array([T]), np.array([memory])
    sigma = saturation_point(alpha, beneath)
    found = float(paper_cycles(alpha, beneath, threads)[0])
    if T > 0:
        assert found == pytest.approx(T / min(threads, float(sigma[0])))
    if sigma[0] <= threads:
        assert found == memory


@settings(max_examples=60)
@given(
    lines=st.floats(0.1, 20),
    scaling=CYCLES,
    alone=CYCLES,
    memory=CYCLES,
    threads=st.integers(1, 8),
    bandwidth=st.floats(1e9, 1e12),
)
@pytest.mark.parametrize("rule", RULES)
def test_nothing_is_faster_than_bytes_over_bandwidth(
    rule: Saturation,
    lines: float,
    scaling: float,
    alone: float,
    memory: float,
    threads: int,
    bandwidth: float,
) -> None:
    """Whatever the analysis says of scaling and memory time."""
    some = np.ones((1, 1))

    class Any(Hand):
        def evaluate(self, *_: object) -> EcmTimes:
            return EcmTimes(
                levels=("MEM",), T_OL=0.0, T_nOL=0.0, transfers=memory * some[:, :, None],
                T_ECM=alone * some, memory=memory * some, memory_lines=lines * some,
                bandwidth=bandwidth * some, saturation=np.ones(1), saturation_at=some,
                scaling=scaling * some, iterations_per_line=8.0,
            )  # fmt: skip

    batch = StretchRequests(machine(), rule)
    batch.add("[N]", {"N": 1}, threads, 800.0)
    found = batch.evaluate({"[N]": Any("[N]")})
    assert found.seconds[0] >= 100 * lines * 64 / bandwidth * (1 - 1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_a_step_moves_its_bytes(rule: Saturation) -> None:
    n = 1_000_000
    for order in ORDERS:
        found = one(candidate("wave1d", n, order), engine(None, rule))
        least = sum(
            kernel.executions * Hand(stretch.text.text).lines
            for kernel in planned(candidate("wave1d", n, order)).kernels
            for stretch in kernel.stretches
        )
        assert found.seconds is not None
        assert found.seconds >= least * 8 * n / 40e9


def test_no_lines_no_floor() -> None:
    assert floor_cycles(np.zeros(1), 64, np.array([np.nan]), 1e9)[0] == 0


# --- parts, notes, refusals -------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("threads", [1, 3, 8])
@pytest.mark.parametrize("ivp", IVPS)
def test_parts_add_up(rule: Saturation, threads: int, ivp: str) -> None:
    found = one(candidate(ivp, 2000, threads=threads), engine(None, rule))
    assert found.seconds is not None
    whole = sum(p.seconds for p in found.parts if p.kind in ("sweep", "barrier"))
    assert whole == pytest.approx(found.seconds)
    for name in {part.sweep for part in found.parts} - {"barrier"}:
        parts = {p.kind: p.seconds for p in found.parts if p.sweep == name}
        combined = parts.pop("sweep")
        assert set(parts) == {"T_OL", "T_nOL", "L2", "L3", "MEM"}
        assert max(parts.values()) <= combined * (1 + 1e-9)
        assert combined <= sum(parts.values()) * (1 + 1e-9)


def test_reasons_name_what_bounds() -> None:
    memory = one(candidate("wave1d", 800_000, "lij"))
    assert memory.reason.startswith("LC bound by MEM, saturated from 2.5 of 8 cores: 79 %")
    core = one(candidate("wave1d", 800_000), engine(HandAnalyser(T_OL=1000)))
    assert core.reason.startswith("RHS bound in core (T_OL): 67 % of the step; LC bound in core")


def test_tiles_are_nothing_for_kerncraft_and_everything_else_is_predicted() -> None:
    made = engine()
    asked = [
        candidate(order="lij"),
        candidate("heat2d", 1000, "lij", Tile("lc", 256)),
        candidate("heat2d", 1000, "jli", FuseTiles("rhs", "lc", 256, "Y")),
        candidate("heat2d", 1000, "jli", Fuse("approx", "update")),
    ]
    found = made.predict(asked)
    assert [prediction.seconds is None for prediction in found] == [False, True, True, False]
    assert "no tiles" in found[1].reason
    assert found[2].reason == found[1].reason


def test_what_kerncraft_cannot_analyse_has_its_reason() -> None:
    found = one(candidate("medakzo"), engine(HandAnalyser(refused="Cx")))
    assert found.seconds is None
    assert found.reason == "sweep f_medakzo_1: no assembly block found"
    assert one(candidate("wave1d"), engine(HandAnalyser(refused="Cx"))).seconds is not None


def test_texts_are_analysed_once_and_equal_candidates_are_equal() -> None:
    analyser = HandAnalyser()
    made = engine(analyser)
    asked = [candidate(order=order, size=size) for order in ORDERS for size in (100, 200)]
    first = made.predict(asked)
    assert len(analyser.asked) == len(set(analyser.asked))
    count = len(analyser.asked)
    again = made.predict([*reversed(asked)])
    assert len(analyser.asked) == count
    assert first == again[::-1]
    assert [engine().predict([c])[0] for c in asked] == first


def test_notes_say_what_stands_for_what() -> None:
    assert any("stand as additions" in note for note in one(candidate("inverterchain")).notes)
    assert any("field away" in note for note in one(candidate("string-row")).notes)
    assert any("short rows" in note for note in one(candidate("string-mix")).notes)
    assert "in-core by hand" in one(candidate()).notes


def test_rows_on_the_same_sets_are_noted_not_counted() -> None:
    padded, bare = candidate("heat2d", 256), candidate("heat2d", 256, "jli", Pad(0))
    first, second = engine().predict([padded, bare])
    assert first.seconds == second.seconds
    assert not any("no conflicts" in note for note in first.notes)
    assert any("no conflicts" in note for note in second.notes)


@pytest.mark.parametrize(
    ("rows", "pad", "noted"), [(488, 3, False), (488, 0, False), (512, 0, True)]
)
def test_the_distance_of_padded_rows_is_whole_pages_and_the_padding(
    rows: int, pad: int, noted: bool
) -> None:
    """488 components are 61 lines; padded by 3 they lie 67 lines apart, not 64."""
    found = one(candidate("wave1d", rows, "jli", Pad(pad)))
    assert any("no conflicts" in note for note in found.notes) == noted


def test_a_machine_without_a_barrier_says_so() -> None:
    found = one(candidate(), engine(on=replace(machine(), barrier=None)))
    assert any("barriers are not counted" in note for note in found.notes)
    assert not any(part.kind == "barrier" for part in found.parts)


def test_a_machine_without_measured_figures_gives_no_certain_time() -> None:
    """Documented as serial or not: what documents state is unsure, as for engine reuse."""
    for on in (machine(), documented(exposed=0.5)):
        for threads in (1, 4):
            found = one(candidate(threads=threads), engine(on=on))
            assert found.interval is not None
            assert found.seconds is not None
            assert found.uncertainty is not None
            assert found.interval[0] < 0.8 * found.seconds
            assert found.interval[1] > 1.25 * found.seconds
            assert ("threads" in found.uncertainty.shared) == (threads > 1)
