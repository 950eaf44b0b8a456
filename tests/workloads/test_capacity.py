"""What does not fit into the memory of a node is illegal, with the figures."""

from dataclasses import replace

import pytest
from codegen_build import problem, setup
from stencil_samples import MACHINE

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.machine import Machine, Memory
from autotune.domain.setup import Layout
from autotune.errors import InputError
from autotune.files import config
from autotune.units import Bytes
from autotune.workloads import capacity
from autotune.workloads.base import Workload
from autotune.workloads.shipped import workload_of

GIB = 1 << 30


def machine(size: int | None, domain: int = 4) -> Machine:
    """A machine of four cores in domains of ``domain`` cores, each with ``size`` bytes."""
    stated = None if size is None else Bytes(size)
    return replace(MACHINE, cores=4, memory=Memory(cores=domain, capacity=stated))


def workload(*sizes: int, layout: Layout | None = None) -> Workload:
    study = setup(problem("wave1d", sizes[0]), space="pirk-orders")
    problems = tuple(problem("wave1d", size) for size in sizes)
    return workload_of(
        replace(study, problems=problems, layouts=(layout or Layout(ranks=1, threads=1),))
    )


def test_the_memory_of_a_node_is_that_of_all_its_domains() -> None:
    assert machine(GIB).memory_capacity == GIB
    assert machine(GIB, domain=2).memory_capacity == 2 * GIB
    assert machine(None).memory_capacity is None


def test_every_row_of_every_array_counts() -> None:
    study = workload(1_000_000)
    candidate = study.candidates(4).legal[0]
    program = SkeletonPrograms(study.setup.skeleton)(candidate)
    rows = sum(rows for _, rows in program.arrays)
    needed = study.stored_bytes(candidate)
    assert needed is not None
    assert needed == pytest.approx(8 * rows * candidate.problem.n, rel=0.01)


def test_ranks_share_rows_unless_they_gather_them() -> None:
    one = workload(1_000_000)
    two = workload(1_000_000, layout=Layout(nodes=2, ranks=1, threads=1))
    whole = one.stored_bytes(one.candidates(4).legal[0])
    by_way = {c.communication: two.stored_bytes(c) or Bytes(0) for c in two.candidates(4).legal}
    assert whole is not None
    assert by_way["neighbour"] == pytest.approx(whole / 2, rel=0.01)
    assert by_way["neighbour"] < by_way["allgather"] <= whole


def test_what_does_not_fit_is_illegal_with_both_figures() -> None:
    """5 TB vectors on a node of 1 GiB; the small problem stays."""
    study = workload(1_000_000, 640_000_000_000)
    space = capacity.candidates_on(study, machine(GIB))
    assert {c.problem.n for c in space.legal} == {1_000_000}
    reasons = {why for _, other, why in space.illegal.listed if other.n > 1e11}
    assert len(reasons) >= 1
    for why in reasons:
        assert "TiB on a node" in why
        assert "has 1 GiB (memory.capacity)" in why
    (line,) = capacity.capacity_notes(space, study, machine(GIB))
    assert "is left out: needs" in line


def test_where_nothing_fits_the_error_has_the_figures() -> None:
    with pytest.raises(InputError, match=r"no candidate fits into memory: needs .* on a node"):
        capacity.candidates_on(workload(640_000_000_000), machine(GIB))


def test_without_a_capacity_nothing_is_refused_and_a_note_says_so() -> None:
    study = workload(640_000_000_000)
    space = capacity.candidates_on(study, machine(None))
    assert len(space.legal) == len(study.candidates(4).legal)
    (line,) = capacity.capacity_notes(space, study, machine(None))
    assert "states no memory.capacity" in line


def test_grids_have_ghosts_and_padding() -> None:
    study = workload_of(config.load("configs/stencil7.yaml"))
    candidate = study.candidates(4).legal[0]
    needed = study.stored_bytes(candidate)
    assert needed is not None
    assert 1.0 < needed / (8 * 2 * candidate.problem.n) < 1.5
