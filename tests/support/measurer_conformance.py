"""What every measurer must do: inherited by the tests of each implementation."""

import pytest

from autotune.domain.results import STATUSES, Prepared, Sample
from autotune.domain.variant import Candidate
from autotune.measuring.candidates.base import Launch, Measurer


class MeasurerConformance:
    """Subclasses give a measurer and candidates of known fate."""

    before_launch = ("build-failed", "wrong-result")
    at_launch = ("crashed", "timed-out")

    @pytest.fixture
    def measurer(self) -> Measurer:
        raise NotImplementedError

    def candidate(self, status: str) -> Candidate:
        """A candidate that ends with this status."""
        raise NotImplementedError

    @staticmethod
    def launch(
        measurer: Measurer, prepared: Prepared, number: int = 0
    ) -> tuple[Launch, list[Sample]]:
        heard: list[Sample] = []
        launch = measurer.launch(
            prepared, round_number=number + 5, launch=number, expected=None, on_sample=heard.append
        )
        return launch, heard

    def test_a_good_candidate_is_prepared(self, measurer: Measurer):
        candidate = self.candidate("ok")
        prepared = measurer.prepare(candidate)
        assert prepared.status == "ok", prepared.detail
        assert prepared.candidate == candidate
        assert prepared.error is not None
        assert prepared.error <= 1e-12
        assert prepared.build
        assert prepared.provenance

    def test_preparing_twice_gives_the_same_build(self, measurer: Measurer):
        first, second = (measurer.prepare(self.candidate("ok")) for _ in range(2))
        assert first.build == second.build

    def test_every_sample_is_heard_in_order(self, measurer: Measurer):
        prepared = measurer.prepare(self.candidate("ok"))
        launch, heard = self.launch(measurer, prepared, 2)
        assert launch.status == "ok", launch.detail
        assert launch.samples == tuple(heard)
        assert any(s.undisturbed and not s.warm_up for s in heard)
        assert {s.launch for s in heard} == {2}
        assert {s.round for s in heard} == {7}
        assert all(s.seconds > 0 for s in heard)
        assert [s.taken for s in heard] == sorted(s.taken for s in heard)

    def test_the_checksum_is_the_same_in_every_launch(self, measurer: Measurer):
        prepared = measurer.prepare(self.candidate("ok"))
        sums = {self.launch(measurer, prepared, number)[0].checksum for number in range(2)}
        assert len(sums) == 1
        assert sums != {None}

    @pytest.mark.parametrize("status", before_launch)
    def test_failures_before_the_launch_are_results(self, measurer: Measurer, status: str):
        prepared = measurer.prepare(self.candidate(status))
        assert prepared.status == status
        assert prepared.detail

    @pytest.mark.parametrize("status", at_launch)
    def test_failures_of_a_launch_are_results(self, measurer: Measurer, status: str):
        prepared = measurer.prepare(self.candidate(status))
        assert prepared.status == "ok", prepared.detail
        launch, heard = self.launch(measurer, prepared)
        assert launch.status == status, launch.detail
        assert launch.status in STATUSES
        assert launch.detail
        assert launch.samples == tuple(heard)

    def test_disturbed_samples_are_kept_and_say_so(self, measurer: Measurer):
        launch, heard = self.launch(measurer, measurer.prepare(self.candidate("contended")))
        assert heard
        assert not any(s.undisturbed for s in launch.samples if not s.warm_up)

    def test_an_interruption_gets_through(self, measurer: Measurer):
        def interrupt(sample: Sample) -> None:
            raise KeyboardInterrupt

        prepared = measurer.prepare(self.candidate("ok"))
        with pytest.raises(KeyboardInterrupt):
            measurer.launch(prepared, round_number=0, launch=0, expected=None, on_sample=interrupt)
