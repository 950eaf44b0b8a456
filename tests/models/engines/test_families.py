"""What engines say of problems that they are not for: nothing, and why."""

import pytest

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.problem import AnyProblem, Problem, StencilProblem
from autotune.domain.ranking import rank
from autotune.domain.variant import Candidate, Variant
from autotune.files import config
from autotune.models.engines.kerncraft.kerncraft_engine import KerncraftEngine
from autotune.workloads.stencil.planes.planes_engine import PlanesEngine

MACHINE = config.machine("haswell-e5-2630v3")


class NoAnalyser:
    def analyse(self, texts):
        raise AssertionError("there is nothing to analyse")


def candidate(problem: AnyProblem) -> Candidate:
    skeleton = "jacobi" if isinstance(problem, StencilProblem) else "pirk"
    return Candidate(
        variant=Variant(skeleton=skeleton, transformations=(), parameters={}), problem=problem
    )


@pytest.fixture
def stencil() -> Candidate:
    return candidate(StencilProblem(stencil=config.stencil("star3d-7pt"), extents=(8, 8, 8)))


def test_kerncraft_is_for_ivps(stencil):
    engine = KerncraftEngine(MACHINE, SkeletonPrograms(config.skeleton("jacobi")), NoAnalyser())
    (said,) = engine.predict([stencil])
    assert said.seconds is None
    assert said.reason == "engine kerncraft analyses IVPs only, not stencils"
    (ranking,) = rank([stencil], [said])
    assert ranking.entries[0].rank is None
    assert ranking.problem.label == "star3d-7pt-N8"


def test_planes_is_for_stencils():
    method = config.method("radau-iia-5")
    ivp = candidate(Problem(ivp=config.ivp("heat2d"), method=method, correctors=4, size=16))
    (said,) = PlanesEngine(MACHINE).predict([ivp])
    assert said.seconds is None
    assert said.reason


def test_a_published_table_is_about_ivps(stencil):
    assert not config.reference("icpe19-table2").about(stencil.problem)
