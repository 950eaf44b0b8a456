"""What engines say of problems that they are not for: nothing, and why."""

import pytest

from autotune.domain.problem import AnyProblem, Problem, StencilProblem
from autotune.domain.ranking import rank
from autotune.domain.variant import Candidate, Variant
from autotune.files import config
from autotune.workloads.stencil.planes.planes_engine import PlanesEngine

MACHINE = config.machine("haswell-e5-2630v3")


def candidate(problem: AnyProblem) -> Candidate:
    skeleton = "jacobi" if isinstance(problem, StencilProblem) else "pirk"
    return Candidate(
        variant=Variant(skeleton=skeleton, transformations=(), parameters={}), problem=problem
    )


@pytest.fixture
def stencil() -> Candidate:
    return candidate(StencilProblem(stencil=config.stencil("star3d-7pt"), extents=(8, 8, 8)))


def test_planes_is_for_stencils():
    method = config.method("radau-iia-5")
    ivp = candidate(Problem(ivp=config.ivp("heat2d"), method=method, correctors=4, size=16))
    (said,) = PlanesEngine(MACHINE).predict([ivp])
    assert said.seconds is None
    assert said.reason
    (ranking,) = rank([ivp], [said])
    assert ranking.entries[0].rank is None
    assert ranking.problem.label == "heat2d-N16"


def test_a_published_table_is_about_ivps(stencil):
    assert not config.reference("icpe19-table2").about(stencil.problem)
