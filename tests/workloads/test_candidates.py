"""Candidates of generated code: which are legal, why the others are not, and what each is worth."""

from dataclasses import replace

import numpy as np
import pytest
from sample_nodes import KIB, MIB, calibrated, documented

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.problem import Problem
from autotune.domain.setup import Layout, Setup
from autotune.domain.variant import Build, ExecutionLayout
from autotune.errors import InputError
from autotune.files import config
from autotune.workloads.base import SAME_PROGRAM, IllegalCombinations
from autotune.workloads.generated import candidate_space, engines
from autotune.workloads.generated.base import GeneratedKind
from autotune.workloads.generated.generated_workload import GeneratedWorkload
from autotune.workloads.ivp.ivp_kind import IvpKind
from autotune.workloads.stencil.planes.access_cost import access_costs
from autotune.workloads.stencil.stencil_kind import StencilKind


def quiet(*_):
    """Nothing is shown."""


@pytest.fixture(scope="module")
def ivp(tmp_path_factory):
    path = tmp_path_factory.mktemp("ivp") / "study.yaml"
    path.write_text(
        "schema: autotune.config/1\nmachine: haswell-e5-2630v3\nspace: pirk-small\n"
        "problems:\n  - {ivp: heat2d, method: radau-iia-7, size: 64}\nthreads: [2]\n",
        encoding="utf-8",
    )
    return config.load(path)


@pytest.fixture(scope="module")
def stencil():
    setup = config.load("configs/stencil7.yaml")
    layouts = (Layout(threads=1), Layout(threads=4))
    return replace(setup, machine=config.machine("haswell-e5-2630v3"), layouts=layouts)


@pytest.fixture(scope="module")
def spaces(ivp, stencil):
    """The candidates of both setups on 16 cores."""
    return {"ivp": listed(ivp, KINDS["ivp"]), "stencil": listed(stencil, KINDS["stencil"])}


KINDS = {"ivp": IvpKind(), "stencil": StencilKind()}


def listed(setup: Setup, kind: GeneratedKind, cores: int = 16):
    programs = SkeletonPrograms(setup.skeleton)
    return candidate_space.enumerate_candidates(setup, kind, programs, cores)


# --- candidates -------------------------------------------------------------------------------


@pytest.mark.parametrize("family", list(KINDS))
def test_every_combination_is_legal_or_has_a_reason(family, request, spaces):
    setup, space = request.getfixturevalue(family), spaces[family]
    builds, layouts = len(setup.builds), len(setup.layouts)
    combinations = sum(1 for _ in setup.space.combinations())
    assert len(space.legal) + len(space.illegal) == (
        combinations * builds * layouts * len(setup.problems)
    )
    assert all(reason for _, _, reason in space.illegal)


def test_the_main_reason_is_told_where_few_candidates_are_legal(ivp, spaces):
    space, problem = spaces["ivp"], ivp.problems[0]
    assert space.refusal_notes == ()
    legal = space.legal[:2]
    same = [(f"s{i}", problem, f"{SAME_PROGRAM}jli") for i in range(40)]
    refused = [
        ("a", problem, "it is periodic"),
        *[(f"b{i}", problem, "too thin") for i in range(9)],
    ]
    few = replace(space, legal=legal, illegal=IllegalCombinations([*same, *refused]))
    assert few.refusal_notes == ()
    refused += [(f"c{i}", problem, "too thin") for i in range(10)]
    few = replace(space, legal=legal, illegal=IllegalCombinations([*same, *refused]))
    assert few.refusal_notes == (
        f"{problem.label}: 2 of 22 combinations that the space allows are legal; 19 are not because"
        " too thin (autotune variants --illegal)",
    )


@pytest.mark.parametrize("family", list(KINDS))
def test_the_baseline_is_the_first_and_on_most_threads(family, request, spaces):
    setup, space = request.getfixturevalue(family), spaces[family]
    assert dict(space.legal[0].variant.parameters) == dict(setup.space.baseline)
    problem, build = setup.problems[0], setup.builds[0]
    made = candidate_space.baseline(setup, KINDS[family], problem, 16, build)
    assert made.identity in {candidate.identity for candidate in space.legal}
    assert made.threads == max(layout.threads for layout in setup.layouts)


@pytest.mark.parametrize("family", list(KINDS))
def test_equal_programs_are_one_candidate(family, spaces):
    space = spaces[family]
    labels = {candidate.variant.label for candidate in space.legal}
    twins = [reason for _, _, reason in space.illegal if reason.startswith("same program as ")]
    assert all(reason.removeprefix("same program as ") in labels for reason in twins)


def test_blocks_that_hold_a_whole_pipeline_are_one_candidate(tmp_path):
    """Seven stages of radius 4 go over 256 components and at most 56 more: 512 hold all."""
    path = tmp_path / "study.yaml"
    path.write_text(
        "schema: autotune.config/1\nmachine: haswell-e5-2630v3\nskeleton: erk\nspace: erk-small\n"
        "problems:\n  - {ivp: wave1d, method: dormand-prince-5, size: 256}\nthreads: [1]\n",
        encoding="utf-8",
    )
    setup = config.load(path)
    space = listed(setup, KINDS["ivp"])
    assert {c.variant.parameters["block"] for c in space.legal} == {"none", 256, 512}
    same = {label: reason for label, _, reason in space.illegal if reason.startswith(SAME_PROGRAM)}
    for block in (1024, 2048):
        reason = same[f"ji-au-block{block}-reg-pad5@wave1d-N256-T1"]
        assert reason == f"{SAME_PROGRAM}ji-au-block512-reg-pad5"
    longer = replace(setup, problems=(replace(setup.problems[0], size=2048),))
    blocks = {c.variant.parameters["block"] for c in listed(longer, KINDS["ivp"]).legal}
    assert blocks == {"none", 256, 512, 1024, 2048}


def test_more_threads_than_cores_are_refused_with_their_place(ivp):
    with pytest.raises(InputError) as raised:
        listed(ivp, KINDS["ivp"], cores=1)
    text = str(raised.value)
    assert "2 threads; expected from 1 to 1, the cores of the machine" in text
    assert "study.yaml:6" in text


def test_ranks_of_a_grid_only_exchange_with_neighbours(stencil):
    ranks = replace(stencil, layouts=(Layout(threads=1, ranks=2),), communications=("allgather",))
    with pytest.raises(InputError) as raised:
        listed(ranks, KINDS["stencil"])
    text = str(raised.value)
    assert f"no candidate of space {stencil.space.name} is legal; expected at least one" in text
    assert "ranks of a grid exchange planes with their neighbours, so allgather" in text


# --- kinds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "title", "names"),
    [
        ("ivp", "an IVP", ("reuse", "kerncraft")),
        ("stencil", "a stencil", ("reuse", "planes", "kerncraft")),
    ],
)
def test_a_kind_names_itself_and_its_engines(family, title, names):
    kind = KINDS[family]
    assert (kind.title, kind.engines) == (title, names)
    assert set(names) <= set(engines.ENGINES)


def test_an_ivp_is_limited_where_its_file_says_so(ivp, stencil):
    assert KINDS["ivp"].limited(ivp.problems[0])
    assert KINDS["stencil"].limited(stencil.problems[0])
    with pytest.raises(ValueError, match="is no IVP"):
        KINDS["ivp"].limited(stencil.problems[0])
    with pytest.raises(ValueError, match="is no stencil: it has no grid"):
        KINDS["stencil"].largest_parts(None, ivp.problems[0], 1)  # type: ignore[arg-type]


def test_a_ring_is_near_but_not_limited(ivp, stencil):
    at = ivp.problems[0]
    ring = Problem(ivp=config.ivp("advection"), method=at.method, correctors=4, size=400)
    assert not KINDS["ivp"].limited(ring)
    assert KINDS["ivp"].near(ring)
    assert KINDS["stencil"].near(stencil.problems[0])
    layout = ExecutionLayout(threads=1, ranks=2, communication="neighbour")
    assert "not around the ends of y; advection is periodic" in KINDS["ivp"].misfit(ring, layout)
    assert KINDS["ivp"].misfit(ring, replace(layout, communication="sparse")) is None


def test_one_rank_needs_no_exchange(ivp):
    assert KINDS["ivp"].misfit(ivp.problems[0], ExecutionLayout(threads=16)) is None
    assert KINDS["stencil"].misfit(ivp.problems[0], ExecutionLayout(threads=16)) is None


@pytest.mark.parametrize(("threads", "components"), [(1, 4096), (2, 2048), (3, 1368), (64, 64)])
def test_the_largest_part_of_an_ivp_is_a_whole_number_of_granules(ivp, spaces, threads, components):
    problem = ivp.problems[0]
    assert problem.n == 4096
    program = SkeletonPrograms(ivp.skeleton)(spaces["ivp"].legal[0])
    (largest,) = KINDS["ivp"].largest_parts(program, problem, threads).values()
    assert largest % program.granule == 0
    assert largest * threads >= problem.n
    assert largest == -(-problem.n // program.granule // threads) * program.granule
    assert program.granule == 8
    assert largest == components


def test_the_slowest_dimension_of_a_grid_is_spread(stencil, spaces):
    problem = stencil.problems[0]
    k, j, i = problem.extents
    program = SkeletonPrograms(stencil.skeleton)(spaces["stencil"].legal[0])
    parts = KINDS["stencil"].largest_parts(program, problem, 4)
    assert list(parts.values()) == [-(-k // 4), j, i]


def test_only_stencils_have_a_modelling_vector(spaces):
    assert KINDS["ivp"].features(spaces["ivp"].legal[0]) is None
    candidate = spaces["stencil"].legal[0]
    vector = KINDS["stencil"].features(candidate)
    assert vector is not None
    assert list(vector) == ["I", "J", "K", "bi", "bj", "bk", "u", "t"]
    assert vector["t"] == candidate.threads
    assert (vector["K"], vector["J"], vector["I"]) == candidate.problem.extents
    assert all(vector[f"b{d}"] <= vector[d.upper()] for d in "ijk")


# --- the workload -----------------------------------------------------------------------------


@pytest.mark.parametrize("family", list(KINDS))
def test_a_workload_of_generated_code_says_what_its_kind_says(family, request):
    setup = request.getfixturevalue(family)
    workload = GeneratedWorkload(setup, KINDS[family])
    assert (workload.title, workload.engines) == (KINDS[family].title, KINDS[family].engines)
    assert workload.predicted
    assert workload.refusals == {}
    assert workload.versions() == {}
    assert workload.unpredicted([], config.machine("haswell-e5-2630v3")) == ""


def test_an_engine_of_programs_is_refused_with_those_that_there_are(stencil):
    workload = GeneratedWorkload(stencil, KINDS["stencil"])
    with pytest.raises(InputError) as raised:
        workload.check_engine("program")
    assert str(raised.value) == (
        "--engine: engine program does not predict a stencil;"
        " expected one of reuse, planes, kerncraft"
    )
    workload.check_engine("planes")


def test_the_same_kind_serves_another_setup(stencil):
    workload = GeneratedWorkload(stencil, KINDS["stencil"])
    smaller = workload.at(replace(stencil, layouts=(Layout(threads=1),)))
    assert smaller.kind is workload.kind
    assert len(smaller.candidates(16).legal) < len(workload.candidates(16).legal)


def test_the_sources_of_a_candidate_are_its_c_text_wherever_it_lies(stencil, tmp_path):
    workload = GeneratedWorkload(stencil, KINDS["stencil"])
    candidate = workload.candidates(16).legal[0]
    texts = workload.sources(candidate, tmp_path)
    assert texts == workload.units(candidate)
    assert all(name.endswith((".c", ".h")) for name in texts)


def test_an_engine_is_given_by_name_for_as_long_as_it_is_needed(stencil):
    machine = config.machine("haswell-e5-2630v3")
    workload = GeneratedWorkload(stencil, KINDS["stencil"])
    asked = workload.candidates(16).legal[:3]
    with workload.predictor("planes", machine, quiet) as engine:
        made = engine.predict(asked)
    assert len(made) == 3
    assert all(m.seconds is not None and m.seconds > 0 for m in made)
    assert {m.engine for m in made} == {"planes"}


def test_a_compiler_that_is_missing_is_told_with_its_place(stencil):
    absent = replace(stencil, builds=(Build(compiler="no-such-cc"),))
    with pytest.raises(InputError, match="no-such-cc"):
        GeneratedWorkload(absent, KINDS["stencil"]).check()


# --- the cost of a line -----------------------------------------------------------------------


def test_a_line_costs_its_size_over_the_bandwidth_of_its_level():
    costs = access_costs(documented(), 1)
    assert costs.names == ("L1", "L2", "L3", "MEM")
    assert costs.line == 64
    assert costs.cycles[0] == 0.0
    assert costs.cycles[1] == pytest.approx(64 / 64)
    assert costs.cycles[3] > costs.cycles[2] > costs.cycles[1]
    assert costs.notes[-1] == "hits in L1 are not counted: the machine has no figure of it"


def test_shared_caches_are_divided_among_the_threads():
    one, four = access_costs(documented(), 1), access_costs(documented(), 4)
    assert one.capacity.tolist() == [32 * KIB, 256 * KIB, 8 * MIB]
    assert four.capacity.tolist() == [32 * KIB, 256 * KIB, 2 * MIB]
    assert (four.cycles >= one.cycles).all()


def test_a_calibrated_machine_counts_hits_in_the_innermost_cache_too():
    costs = access_costs(calibrated(), 1)
    assert costs.cycles[0] == pytest.approx(1.0, rel=0.1)
    assert costs.cycles[3] == pytest.approx(16.0, rel=0.1)
    assert not any("hits in L1" in note for note in costs.notes)
    assert costs.unsure == ()
    assert access_costs(calibrated(), 3).unsure


def test_a_level_without_a_figure_is_nan_and_named():
    machine = documented()
    caches = (machine.caches[0], replace(machine.caches[1], inbound=None), machine.caches[2])
    costs = access_costs(replace(machine, caches=caches), 1)
    assert np.isnan(costs.cycles[1])
    assert costs.missing(1) == "the machine has no bandwidth of L2 and no calibration"


def test_ranks_of_a_flock_gather_all_of_y(ivp):
    at = ivp.problems[0]
    flock = Problem(ivp=config.ivp("flock"), method=at.method, correctors=4, size=400)
    layout = ExecutionLayout(threads=1, ranks=2, communication="sparse")
    assert "a sum of flock reads elements of y wherever" in KINDS["ivp"].misfit(flock, layout)
    assert "limited access distance" in KINDS["ivp"].misfit(
        flock, replace(layout, communication="neighbour")
    )
    assert KINDS["ivp"].misfit(flock, replace(layout, communication="allgather")) is None
