"""The candidate space: legal or with a reason, no program twice, the baseline first."""

from dataclasses import replace

import pytest
from codegen_build import IVPS, problem, setup

from autotune.domain.setup import Layout
from autotune.domain.variant import EXCHANGES, Build, FuseTiles, Interchange, Pad
from autotune.errors import InputError
from autotune.workloads.layouts import execution_layouts
from autotune.workloads.shipped import workload_of


def test_full_space_has_24_programs_for_every_problem() -> None:
    for ivp in IVPS:
        at = problem(ivp, 20011 if ivp != "heat2d" else 151)
        found = workload_of(setup(at)).candidates(4)
        loops = {
            tuple(t for t in c.variant.transformations if not isinstance(t, Pad))
            for c in found.legal
        }
        assert len(loops) >= 24, ivp
        assert len({c.identity for c in found.legal}) == len(found.legal)
        assert all(reason for _, _, reason in found.illegal)


def test_every_combination_is_legal_or_has_a_reason() -> None:
    study = setup(problem("heat2d", 101), problem("medakzo", 3001), threads=(1, 2))
    found = workload_of(study).candidates(4)
    every = len(list(study.space.combinations())) * 2 * 2
    assert len(found.legal) + len(found.illegal) == every


def test_fused_tiles_need_a_limited_access_distance() -> None:
    found = workload_of(setup(problem("medakzo", 20011))).candidates(4)
    assert not any(isinstance(t, FuseTiles) for c in found.legal for t in c.variant.transformations)
    assert any("limited access distance" in reason for _, _, reason in found.illegal)


def test_small_space_has_the_27_variants_of_the_measured_pool() -> None:
    limited = workload_of(setup(problem("heat2d", 151), space="pirk-small")).candidates(4)
    assert len(limited.legal) == 27
    unlimited = workload_of(setup(problem("medakzo", 20011), space="pirk-small")).candidates(4)
    assert len(unlimited.legal) == 24


def test_tiles_as_large_as_the_blocks_are_no_other_program() -> None:
    found = workload_of(setup(problem("heat2d", 20))).candidates(4)
    reasons = {label: reason for label, _, reason in found.illegal}
    assert reasons["ilj-tile4096@heat2d-N20-T1"] == "same program as ilj"
    assert reasons["ilj-tile4096-rhslc@heat2d-N20-T1"] == "same program as ilj-tile1024-rhslc"
    assert "ilj-tile256@heat2d-N20-T1" not in reasons


def test_the_baseline_comes_first_and_is_legal() -> None:
    at = problem("heat2d", 101)
    study = setup(at)
    found = workload_of(study).candidates(4)
    base = workload_of(study).baseline(at, 4, Build())
    assert found.legal[0] == base
    assert base.variant.transformations == (Interchange("lc", ("j", "l", "i")), Pad(5))


def test_threads_are_counted_once_and_all_means_every_core() -> None:
    study = setup(problem("heat2d", 101), threads=(1, "all", 4))
    assert [spread.threads for spread in execution_layouts(study, 4)] == [1, 4]
    found = workload_of(study).candidates(4)
    assert {c.threads for c in found.legal} == {1, 4}


def test_more_threads_than_cores_name_the_place() -> None:
    study = replace(setup(problem(), threads=(1, 8)), places={"threads.1": "study.yaml:7:1"})
    with pytest.raises(InputError, match=r"study.yaml:7:1: 8 threads; expected from 1 to 4"):
        workload_of(study).candidates(4)


def test_builds_are_told_apart() -> None:
    builds = (Build(), Build(flags=("-O2",)))
    study = replace(setup(problem("heat2d", 101), space="pirk-orders"), builds=builds)
    assert len(workload_of(study).candidates(2).legal) == 12


def test_ranks_and_communications_make_candidates() -> None:
    layouts = (Layout(threads=2), Layout(ranks=2, threads=1), Layout(nodes=2, ranks=1, threads=2))
    study = replace(setup(problem("heat2d", 101), space="pirk-orders"), layouts=layouts)
    found = workload_of(study).candidates(2)
    spread = {(c.nodes, c.ranks, c.threads, c.communication) for c in found.legal}
    assert spread == {
        (1, 1, 2, "none"),
        *((1, 2, 1, way) for way in EXCHANGES),
        *((2, 2, 2, way) for way in EXCHANGES),
    }
    assert len({c.id for c in found.legal}) == len(found.legal) == 6 * 7
    labels = {c.label for c in found.legal}
    assert "jli-pad5@heat2d-N101-T2-P2-R2-sparse" in labels


def test_neighbours_need_a_limited_access_distance() -> None:
    at = problem("medakzo", 101)
    study = replace(setup(at, space="pirk-orders"), layouts=(Layout(ranks=2, threads=1),))
    found = workload_of(study).candidates(2)
    assert {c.communication for c in found.legal} == {"allgather", "sparse"}
    assert all("access distance" in reason for _, _, reason in found.illegal)


def test_ranks_with_more_threads_than_cores_name_the_place() -> None:
    study = replace(
        setup(problem()),
        layouts=(Layout(ranks=2, threads=2),),
        places={"layouts.0": "study.yaml:9:5"},
    )
    with pytest.raises(InputError, match=r"study.yaml:9:5: 2 x 2 threads on a node; expected"):
        workload_of(study).candidates(2)
