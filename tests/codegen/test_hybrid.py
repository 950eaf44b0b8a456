"""Programs of several ranks, with real MPI: right everywhere, and they send what is derived
and what they state.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import stated_messages
from codegen_build import FURTHER, IVPS, Workshop, common, problem, reference, variant
from hypothesis import given, settings
from hypothesis import strategies as st
from stated_messages import launch

from autotune.codegen import communication
from autotune.codegen.c import harness
from autotune.codegen.tree import loop_tree, regions, variant_program
from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.problem import Problem, offset
from autotune.domain.setup import Measuring
from autotune.domain.skeleton import CommStep, LoopStep, Skeleton, Step, SyncStep
from autotune.domain.variant import (
    EXCHANGES,
    Candidate,
    Communication,
    Contract,
    ExecutionLayout,
    Fuse,
    FuseTiles,
    Hoist,
    InPlace,
    Interchange,
    Pad,
    Pipeline,
    StreamStores,
    StripPlanes,
    Tile,
    Variant,
)
from autotune.files import config
from autotune.language.expression import references
from autotune.measuring.candidates import protocol
from autotune.measuring.verification import verify

SKELETON = config.skeleton("pirk")
STEPS = 2
SIZES = {
    "heat2d": 29, "inverterchain": 1201, "medakzo": 601, "string-mix": 601, "string-row": 601,
    "wave1d": 1201,
}  # fmt: skip
"""Odd, several tiles on every thread, no multiple of a cache line."""
ONCE = Hoist("rhs_first", "l")
VARIANTS = (
    variant(Interchange("lc", ("i", "l", "j")), FuseTiles("rhs", "lc", 16, "Y"), ONCE, Pad(5)),
    variant(Interchange("lc", ("j", "l", "i")), Pad(5)),
    variant(Interchange("lc", ("l", "i", "j")), Tile("lc", 32), Fuse("approx", "update")),
    variant(Interchange("lc", ("j", "i", "l")), FuseTiles("rhs", "lc", 64, "Y")),
    variant(Interchange("lc", ("i", "j", "l")), Fuse("approx", "update"), Pad(9)),
    variant(Interchange("lc", ("l", "j", "i")), ONCE, FuseTiles("rhs", "lc", 32, "Y")),
)
BUILT: dict[tuple[str, str], Path] = {}
LAYOUTS = ((1, 2), (2, 1), (3, 2), (4, 1)), ((1, 1), (2, 2), (3, 1), (4, 2))
"""Ranks and threads of the communications in turn."""


def build(workshop: Workshop, chosen: Variant, at: Problem) -> Path:
    key = (repr(chosen.transformations), at.definition)
    if key not in BUILT:
        BUILT[key] = workshop.build(stated_messages.units(program(chosen, at), at))
    return BUILT[key]


def program(chosen: Variant, at: Problem) -> loop_tree.StepProgram:
    return variant_program.program(chosen, SKELETON, at)


def candidate(
    chosen: Variant, at: Problem, ranks: int, threads: int, way: Communication
) -> Candidate:
    return Candidate(
        variant=chosen,
        problem=at,
        layout=ExecutionLayout(threads=threads, ranks=ranks, communication=way),
    )


def state(path: Path, at: Problem, ranks: int, threads: int, way: str) -> np.ndarray:
    out = path.with_suffix(".bin")
    words = ["verify", *common(at, threads), "--ranks", str(ranks), "--communication", way]
    done = launch(path, ranks, threads, [*words, "--steps", str(STEPS), "--out", str(out)])
    assert done.returncode == 0, done.stderr
    found = np.fromfile(out, dtype="<f8")
    out.unlink()
    return found


def ways(at: Problem, ranks: int) -> list[Communication]:
    granule = regions.granule(at.ivp)
    return [
        way
        for way in EXCHANGES
        if communication.legal(at.ivp, at.size, granule, ranks, way) is None
    ]


# --- executed -------------------------------------------------------------------------------


@pytest.mark.parametrize("ivp", IVPS)
def test_every_communication_agrees_with_the_reference(ivp: str, mpi_workshop: Workshop) -> None:
    """1 to 4 ranks, 1 and 2 threads; each problem with a variant of its own."""
    at = problem(ivp, SIZES[ivp])
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    path = build(mpi_workshop, VARIANTS[IVPS.index(ivp)], at)
    assert ways(at, 4) == (["allgather", "neighbour", "sparse"] if at.ivp.limited
                           else ["allgather", "sparse"])  # fmt: skip
    for number, way in enumerate(ways(at, 4)):
        for ranks, threads in LAYOUTS[number % 2]:
            found = state(path, at, ranks, threads, way)
            verdict = verify.judge(found, expected, fields)
            assert verdict.status == "ok", f"{way} on {ranks} x {threads}: {verdict.detail}"


PIPELINES = (
    variant(Interchange("lc", ("j", "l", "i")), Pipeline("k", 48), Contract("F"), Pad(5)),
    variant(Interchange("lc", ("l", "i", "j")), Pipeline("k", 240)),
    variant(Fuse("approx", "update"), Pipeline("k", 48), ONCE, StreamStores("update")),
    variant(Fuse("approx", "update"), Pipeline("k", 48), InPlace("y")),
)


@pytest.mark.parametrize(("ivp", "size"), [("heat2d", 47), ("wave1d", 1201), ("string-mix", 601)])
@pytest.mark.parametrize("chosen", PIPELINES)
def test_pipelines_of_ranks_fetch_their_borders_once_a_step(
    ivp: str, size: int, chosen: Variant, mpi_workshop: Workshop
) -> None:
    at = problem(ivp, size)
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    path = build(mpi_workshop, chosen, at)
    for way, ranks, threads in (("neighbour", 3, 1), ("neighbour", 2, 2), ("allgather", 4, 2)):
        found = state(path, at, ranks, threads, way)
        verdict = verify.judge(found, expected, fields)
        assert verdict.status == "ok", f"{way} on {ranks} x {threads}: {verdict.detail}"
        several = candidate(chosen, at, ranks, threads, way)
        (phase,) = communication.phases(program(chosen, at), at, several)
        assert (phase.array, phase.times) == ("y", 1)


def test_strips_of_a_pipeline_agree_on_ranks(mpi_workshop: Workshop) -> None:
    at = problem("heat3d", 23)
    chosen = variant(Fuse("approx", "update"), Pipeline("k", 64), StripPlanes(5))
    expected = reference(at, STEPS)
    path = build(mpi_workshop, chosen, at)
    for way, ranks, threads in (("neighbour", 2, 2), ("allgather", 3, 1)):
        verdict = verify.judge(
            state(path, at, ranks, threads, way), expected, verify.fields(at.ivp, at.size)
        )
        assert verdict.status == "ok", f"{way} on {ranks} x {threads}: {verdict.detail}"


def test_ranks_smaller_than_the_borders_of_a_pipeline_are_refused() -> None:
    at = problem("heat2d", 47)
    assert communication.legal(at.ivp, 47, 8, 5, "neighbour") is None
    reason = communication.legal(at.ivp, 47, 8, 7, "neighbour", stages=7)
    assert reason is not None
    assert "what a pipeline computes around it, 336," in reason
    assert "sparse" in str(communication.legal(at.ivp, 47, 8, 2, "sparse", stages=7))


@pytest.mark.parametrize("ivp", FURTHER)
def test_further_problems_agree_on_3_ranks(ivp: str, mpi_workshop: Workshop) -> None:
    at = problem(ivp, {"brusselator2d": 15, "brusselator2d-mix": 15, "heat3d": 9}.get(ivp, 301))
    expected = reference(at, STEPS)
    path = build(mpi_workshop, VARIANTS[0], at)
    for way in ways(at, 3):
        verdict = verify.judge(state(path, at, 3, 1, way), expected, verify.fields(at.ivp, at.size))
        assert verdict.status == "ok", f"{way}: {verdict.detail}"


@pytest.mark.parametrize("ivp", IVPS)
def test_messages_and_bytes_are_those_that_are_derived(ivp: str, mpi_workshop: Workshop) -> None:
    at = problem(ivp, SIZES[ivp])
    chosen = VARIANTS[IVPS.index(ivp)]
    path = build(mpi_workshop, chosen, at)
    ranks = 3
    for way in ways(at, 4):
        several = candidate(chosen, at, ranks, 1, way)
        quick = Measuring(samples=1, min_sample=1e-4, busy=0.0, attempts=1, verify_steps=1)  # type: ignore[arg-type]
        done = launch(path, ranks, 1, protocol.time_arguments(several, quick))
        assert done.returncode == 0, done.stderr
        lines = [protocol.parse(line) for line in done.stdout.splitlines()]
        (start,) = [line for line in lines if isinstance(line, protocol.ProgramStart)]
        assert (start.ranks, start.threads, len(start.affinity)) == (ranks, 1, ranks)
        end = lines[-1]
        assert isinstance(end, protocol.ProgramEnd)
        phases = communication.phases(program(chosen, at), at, several)
        assert sum(p.times for p in phases) == end.exchanges == 25
        for rank in range(ranks):
            messages, size = (sum(p.times * p.sent[rank][i] for p in phases) for i in (0, 1))
            assert (messages, size) == (end.messages[rank], end.bytes[rank])
        if way == "sparse" and ivp == "inverterchain":
            assert end.messages[-1] == 0  # nobody stands behind the last inverter
            assert end.bytes[0] == 25 * 8


def test_more_ranks_than_cache_lines(mpi_workshop: Workshop) -> None:
    for ivp in ("heat2d", "string-row"):
        smallest = problem(ivp, problem(ivp, 50).ivp.minimum)
        path = build(mpi_workshop, VARIANTS[IVPS.index(ivp)], smallest)
        expected = reference(smallest, STEPS)
        for way in ("allgather", "sparse"):
            found = state(path, smallest, 4, 2, way)
            assert np.max(np.abs(found - expected)) <= 1e-12 * np.max(np.abs(expected)), (ivp, way)


def test_a_forgotten_communication_is_noticed(mpi_workshop: Workshop) -> None:
    at = problem("heat2d", SIZES["heat2d"])
    units = stated_messages.units(program(VARIANTS[1], at), at)
    text = units["step.c"]
    for array in ("y", "Y"):  # the corrector steps would damp a wrong y below the tolerance
        call = f"communicate(me, ARRAY_{array});"
        assert call in text
        path = mpi_workshop.build(units | {"step.c": text.replace(call, ";")})
        found = state(path, at, 2, 1, "neighbour")
        expected = reference(at, STEPS)
        verdict = verify.judge(found, expected, verify.fields(at.ivp, at.size))
        assert verdict.status == "wrong-result"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--ranks": "3"}, "asked for 3 ranks, got 2"),
        ({"--communication": "smoke"}, "unknown communication 'smoke'"),
        ({"--size": "9", "--n": "81"}, "reaches beyond the neighbours"),
    ],
)
def test_what_cannot_be_ends_every_rank_with_2(
    changes: dict[str, str], message: str, mpi_workshop: Workshop
) -> None:
    at = problem("heat2d", SIZES["heat2d"])
    path = build(mpi_workshop, VARIANTS[IVPS.index("heat2d")], at)
    ranks = 7 if "--size" in changes else 2
    words = ["verify", *common(at, 1), "--ranks", str(ranks), "--communication", "neighbour"]
    for option, value in changes.items():
        words[words.index(option) + 1] = value
    done = launch(path, ranks, 1, [*words, "--steps", "1", "--out", "/dev/null"])
    assert done.returncode == 2
    assert message in done.stderr


def test_programs_of_one_rank_know_nothing_of_it() -> None:
    at = problem("heat2d", SIZES["heat2d"])
    made = program(VARIANTS[0], at)
    one, several = harness.units(made, at), harness.units(made, at, distributed=True)
    assert "mpi.h" not in "".join(one.values())
    assert "communicate" not in one["step.c"]
    assert several.keys() - one.keys() == {"exchange.h", "ranks.c", "reading.h"}
    same = {name for name in one if one[name] == several[name]}
    assert one.keys() - same == {"step.c", "ranks.h"}


# --- derived --------------------------------------------------------------------------------


NEAR = tuple(name for name in IVPS + FURTHER if not config.ivp(name).reads_anywhere)
"""IVPs that allow sparse communication."""


@settings(max_examples=60, deadline=None)
@given(ivp=st.sampled_from(NEAR), extra=st.integers(0, 40), ranks=st.integers(1, 9))
def test_sparse_fetches_what_is_read_and_nothing_else(ivp: str, extra: int, ranks: int) -> None:
    """Component by component, straight from the regions; with planes, hardly anything else."""
    at = problem(ivp, problem(ivp, 50).ivp.minimum + extra)
    values = at.ivp.values(at.size)
    read: dict[int, set[int]] = {}
    for region in at.ivp.regions:
        shifts = {offset(ref, values) for ref in references(region.body)}
        for part in at.ivp.members(region, at.size):
            for j in part:
                read[j] = {j + shift for shift in shifts}
    for first, last in communication.blocks(at.n, regions.granule(at.ivp), ranks):
        wanted = set().union(*(read[j] for j in range(first, last))) - set(range(first, last))
        found = communication.wanted(at.ivp, at.size, (first, last), "sparse")
        fetched = [j for a, b in found for j in range(a, b)]
        near = communication.wanted(at.ivp, at.size, (first, last), "neighbour")
        reached = {j for a, b in near for j in range(a, b)}
        assert at.ivp.periodic or wanted <= reached  # around the ends are no neighbours
        if at.ivp.plane is None:
            assert sorted(wanted) == fetched
        else:  # rows that regions leave out may be among them
            assert wanted <= set(fetched) <= reached


@settings(max_examples=200, deadline=None)
@given(n=st.integers(1, 500), granule=st.integers(1, 24), ranks=st.integers(1, 20))
def test_blocks_cover_everything_in_whole_granules(n: int, granule: int, ranks: int) -> None:
    found = communication.blocks(n, granule, ranks)
    assert len(found) == ranks
    assert found[0][0] == 0
    assert found[-1][1] == n
    assert all(a[1] == b[0] and a[1] % granule in (0, n % granule)
               for a, b in itertools.pairwise(found))  # fmt: skip
    sizes = [-(-(last - first) // granule) for first, last in found]
    assert max(sizes) - min(sizes) <= 1


def test_a_step_of_the_paper_has_25_communications() -> None:
    """4 stages, 6 corrector steps, 8 nodes (Scherg et al. 2019, section 5.2)."""
    at = problem("heat2d", 5984)
    way: Communication
    for way, size in (
        ("allgather", 8 * 5984 * 5984 // 8),
        ("neighbour", 8 * 5984),
        ("sparse", 2 * 8 * 5982),
    ):
        for chosen in (VARIANTS[0], VARIANTS[1]):
            phases = communication.phases(program(chosen, at), at, candidate(chosen, at, 8, 1, way))
            assert [(p.array, p.times, p.rows) for p in phases] == [("y", 1, 1), ("Y", 24, 4)]
            assert {(p.operation, p.bytes) for p in phases} == {(way, size)}
    one = Candidate(variant=VARIANTS[0], problem=at, layout=ExecutionLayout(threads=8))
    assert communication.phases(program(VARIANTS[0], at), at, one) == []


def test_what_ranks_cannot_do_is_said() -> None:
    unlimited = problem("medakzo", 601)
    reason = communication.legal(unlimited.ivp, 601, 8, 2, "neighbour")
    assert reason == (
        "neighbour communication needs a limited access distance; that of medakzo is 601 of 1202"
        " components"
    )
    chain = problem("wave1d", 40).ivp
    assert communication.legal(chain, 40, 8, 5, "neighbour") is None
    assert "rank 0 of 6 has no components" in str(communication.legal(chain, 40, 8, 6, "neighbour"))
    grid = problem("heat2d", 9).ivp
    assert "reaches beyond the neighbours" in str(communication.legal(grid, 9, 8, 7, "neighbour"))
    assert communication.legal(grid, 9, 8, 7, "sparse") is None


def steps_without(steps: tuple[Step, ...], unwanted: type, array: str = "") -> tuple[Step, ...]:
    def kept() -> Iterator[Step]:
        for step in steps:
            if isinstance(step, LoopStep):
                yield replace(step, body=steps_without(step.body, unwanted, array))
            elif not (
                isinstance(step, unwanted)
                and (not isinstance(step, CommStep) or step.array == array)
            ):
                yield step

    return tuple(kept())


@pytest.mark.parametrize("array", ["y", "Y"])
@pytest.mark.parametrize("chosen", VARIANTS[:2])
def test_a_program_without_a_communication_is_refused(array: str, chosen: Variant) -> None:
    at = problem()
    assert communication.refusal(program(chosen, at)) is None
    skeleton: Skeleton = replace(SKELETON, steps=steps_without(SKELETON.steps, CommStep, array))
    reason = communication.refusal(variant_program.program(chosen, skeleton, at))
    assert reason
    assert f"remote components of {array}" in reason
    assert "without a communication" in reason


def test_a_communication_beside_its_writers_is_refused() -> None:
    at = problem()
    skeleton = replace(SKELETON, steps=steps_without(SKELETON.steps, SyncStep))
    with pytest.raises(IllegalTransformation):
        variant_program.program(VARIANTS[1], skeleton, at)
    made = program(VARIANTS[1], at)

    def early(block: loop_tree.NodeBlock) -> loop_tree.NodeBlock:
        """Every communication before the barrier that it follows."""
        nodes: list[loop_tree.Node] = []
        for node in block.nodes:
            if isinstance(node, loop_tree.Repeat):
                node = replace(node, body=early(node.body))
            if isinstance(node, loop_tree.Comm) and nodes and isinstance(nodes[-1], loop_tree.Sync):
                nodes.insert(-1, node)
            else:
                nodes.append(node)
        return loop_tree.NodeBlock(tuple(nodes))

    reason = communication.refusal(replace(made, body=early(made.body)))
    assert reason
    assert reason.startswith("the communication reads")
