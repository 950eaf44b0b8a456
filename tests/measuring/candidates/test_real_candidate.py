"""One generated candidate from source to samples."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from autotune import paths
from autotune.codegen.c import harness
from autotune.codegen.tree import variant_program
from autotune.domain.results import Sample
from autotune.domain.setup import Setup
from autotune.domain.variant import Candidate
from autotune.files import config
from autotune.measuring.candidates.host_measurer import HostMeasurer
from autotune.workloads.shipped import workload_of

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


@pytest.fixture(scope="module")
def setup() -> Setup:
    return config.load(Path(paths.folder("configs") / "quickstart.yaml"))


@pytest.fixture(scope="module")
def candidate(setup: Setup) -> Candidate:
    problem = setup.problems[0].at(65)
    return workload_of(setup).baseline(problem, 1, setup.builds[0])


@pytest.fixture(scope="module")
def measurer(setup: Setup) -> HostMeasurer:
    def sources(candidate: Candidate) -> dict[str, str]:
        program = variant_program.program(candidate.variant, setup.skeleton, candidate.problem)
        return harness.units(program, candidate.problem)

    return HostMeasurer(
        measuring=replace(setup.measuring, min_sample=0.001, busy=0.0, samples=2),
        limits=setup.limits,
        sources=sources,
    )


def test_it_is_right_and_can_be_timed(measurer: HostMeasurer, candidate: Candidate):
    prepared = measurer.prepare(candidate)
    assert prepared.status == "ok", prepared.detail
    assert prepared.error is not None
    assert prepared.error <= 1e-12
    heard: list[Sample] = []
    launch = measurer.launch(
        prepared, round_number=0, launch=0, expected=1e-4, on_sample=heard.append
    )
    assert launch.status == "ok", launch.detail
    assert [s.warm_up for s in heard] == [True, False, False]
    assert launch.checksum is not None


def test_its_phases_are_its_kernels(measurer: HostMeasurer, candidate: Candidate):
    phases = measurer.phases(candidate)
    assert phases.status == "ok", phases.detail
    assert {"rhs", "lc", "barrier"} <= phases.seconds.keys()


def test_a_changed_coefficient_is_noticed(measurer: HostMeasurer, candidate: Candidate):
    """The last digits of one coefficient of the method: wrong by 1e-6 in the program only."""

    def spoiled(candidate: Candidate) -> dict[str, str]:
        method = candidate.problem.method
        text = repr(method.b[0])
        units = dict(measurer.sources(candidate))
        changed = {
            name: unit.replace(text, repr(method.b[0] + 1e-6)) for name, unit in units.items()
        }
        assert changed != units
        return changed

    prepared = replace(measurer, sources=spoiled).prepare(candidate)
    assert prepared.status == "wrong-result"
    assert "deviates" in prepared.detail
