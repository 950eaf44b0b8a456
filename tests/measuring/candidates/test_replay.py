"""Recorded times in place of a machine."""

import pytest
from fake_program import make_candidate
from measurer_conformance import MeasurerConformance

from autotune.domain.results import STATUSES
from autotune.domain.variant import Candidate
from autotune.measuring.candidates.replay_measurer import Recording, ReplayMeasurer


class TestReplay(MeasurerConformance):
    @pytest.fixture
    def measurer(self) -> ReplayMeasurer:
        recordings = {
            self.candidate(status).identity: Recording(
                launches=((1.0, 1.1), (1.2, 1.3)),
                status="ok" if status == "contended" else status,
                detail="" if status == "ok" else "as recorded",
                busy=0.5 if status == "contended" else 1.0,
            )
            for status in STATUSES
        }
        return ReplayMeasurer(recordings)

    def candidate(self, status: str) -> Candidate:
        return make_candidate(status)

    def test_launches_start_again(self, measurer: ReplayMeasurer):
        prepared = measurer.prepare(self.candidate("ok"))
        times = [
            [s.seconds for s in self.launch(measurer, prepared, number)[0].samples]
            for number in range(3)
        ]
        assert times == [[1.0, 1.1], [1.2, 1.3], [1.0, 1.1]]

    def test_fallback_and_unknown_candidates(self):
        measurer = ReplayMeasurer(fallback=lambda candidate: Recording(launches=((2.0,),)))
        assert measurer.prepare(make_candidate()).status == "ok"
        with pytest.raises(KeyError, match="nothing is recorded"):
            ReplayMeasurer().prepare(make_candidate())
