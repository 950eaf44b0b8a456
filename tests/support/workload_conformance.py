"""What every workload must do: inherit, and give ``workload`` as a fixture."""

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from autotune.domain.machine import Machine
from autotune.domain.ranking import rank
from autotune.domain.variant import NO_COMPILER
from autotune.errors import InputError
from autotune.files import config
from autotune.workloads.base import Workload, refuse


def quiet(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nothing is shown."""


class WorkloadConformance:
    """The promises of ``workloads.base.Workload``, without measuring anything."""

    @pytest.fixture
    def workload(self) -> Workload:
        """The workload under test."""
        raise NotImplementedError

    @pytest.fixture
    def machine(self, workload: Workload) -> Machine:
        """The machine that candidates are listed and predicted for."""
        return workload.setup.machine or config.machine("haswell-e5-2630v3")

    def test_candidates_are_of_the_problems_and_differ(
        self, workload: Workload, machine: Machine
    ) -> None:
        space = workload.candidates(machine.cores)
        assert space.legal
        keys = {problem.key for problem in workload.setup.problems}
        assert {candidate.problem.key for candidate in space.legal} == keys
        identities = [candidate.identity for candidate in space.legal]
        assert len(set(identities)) == len(identities)
        assert all(reason for _, _, reason in space.illegal)

    def test_candidates_are_the_same_each_time(self, workload: Workload, machine: Machine) -> None:
        again = workload.at(workload.setup).candidates(machine.cores)
        assert [c.id for c in workload.candidates(machine.cores).legal] == [
            c.id for c in again.legal
        ]

    def test_the_baseline_is_a_candidate(self, workload: Workload, machine: Machine) -> None:
        setup = workload.setup
        build = setup.builds[0] if setup.builds else NO_COMPILER
        legal = {c.identity for c in workload.candidates(machine.cores).legal}
        for problem in setup.problems:
            baseline = workload.baseline(problem, machine.cores, build)
            assert baseline.problem.key == problem.key
            assert baseline.identity in legal

    def test_a_candidate_has_sources(
        self, workload: Workload, machine: Machine, tmp_path: Path
    ) -> None:
        candidate = workload.candidates(machine.cores).legal[0]
        texts = workload.sources(candidate, tmp_path)
        assert texts
        assert all(name and text for name, text in texts.items())
        assert texts == workload.sources(candidate, tmp_path)

    def test_features_have_one_set_of_names(self, workload: Workload, machine: Machine) -> None:
        legal = workload.candidates(machine.cores).legal
        by_problem = {c.problem.key: [] for c in legal}
        for candidate in legal:
            features = workload.features(candidate)
            by_problem[candidate.problem.key].append(None if features is None else tuple(features))
        assert all(len(set(names)) == 1 for names in by_problem.values())

    def test_engines_are_its_own(self, workload: Workload) -> None:
        assert workload.engines
        assert workload.title
        with pytest.raises(InputError, match="does not predict"):
            workload.check_engine("no such engine")

    def test_a_predictor_answers_for_every_candidate(
        self, workload: Workload, machine: Machine
    ) -> None:
        legal = workload.candidates(machine.cores).legal
        made = workload.predictor(workload.engines[-1], machine, quiet)
        assert isinstance(made, AbstractContextManager)
        with made as engine:
            predictions = engine.predict(legal)
        assert len(predictions) == len(legal)
        assert all(p.reason for p in predictions if p.seconds is None)
        rankings = rank(legal, predictions)
        assert bool(workload.unpredicted(rankings, machine)) is not workload.predicted

    def test_what_is_refused_says_why(self, workload: Workload) -> None:
        for option in workload.refusals:
            with pytest.raises(InputError):
                refuse(workload, option)
        refuse(workload, "--no-such-option")

    def test_a_measurer_is_given(self, workload: Workload, machine: Machine) -> None:
        measurer = workload.measurer(machine)
        assert all(callable(getattr(measurer, n)) for n in ("prepare", "launch", "interrupt"))
