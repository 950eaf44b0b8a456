"""A measurer that replays what a job measured on another machine."""

from collections.abc import Callable
from dataclasses import dataclass

from autotune.measure.base import Launch, Prepared
from autotune.measure.job import Collected, Results
from autotune.measure.listen import Listener
from autotune.measure.verify import TOLERANCE
from autotune.results import Sample, Status
from autotune.setup import Measuring
from autotune.variant import Candidate

_TIME_LIMIT = 124
"""Exit code of coreutils' timeout."""


@dataclass(frozen=True, slots=True)
class CollectedMeasurer:
    """Builds, verification and launches as they are recorded in the results of a job."""

    results: Results
    measuring: Measuring

    def prepare(self, candidate: Candidate) -> Prepared:
        """What became of the build and of the run at the verification size."""
        status, detail, error = self._verified(candidate)
        return Prepared(candidate=candidate, status=status, detail=detail, error=error, build="job")

    def launch(
        self,
        prepared: Prepared,
        *,
        round_number: int,
        launch: int,
        expected: float | None,  # noqa: ARG002 - of the protocol: nothing is run here
        on_sample: Callable[[Sample], None],
    ) -> Launch:
        """The recorded launch of a round; ``contended`` where the job has none."""
        candidate = prepared.candidate
        recorded = self._find(candidate, "launch", round_number)
        if recorded is None:
            return Launch(status="contended", detail="the job has no launch of this round")
        listener = Listener(
            threads=candidate.threads,
            busy=self.measuring.busy,
            launch=launch,
            round=round_number,
            on_sample=on_sample,
            conditions={"threads": candidate.threads, "priority": "unknown", "wait": "unknown"},
        )
        for line in recorded.lines:
            listener.hear(line)
        return listener.finish(*_ended(recorded))

    def _verified(self, candidate: Candidate) -> tuple[Status, str, float | None]:
        identity = candidate.identity
        if identity in self.results.failed_builds:
            return "build-failed", f"see log/{identity}.build of the job", None
        recorded = self._find(candidate, "verify", 0)
        if recorded is None:
            return "crashed", "the job ended before it ran this candidate", None
        listener = Listener(
            threads=candidate.threads,
            busy=0.0,
            launch=0,
            round=0,
            on_sample=lambda _sample: None,
            conditions={},
        )
        for line in recorded.lines:
            listener.hear(line)
        ended = listener.finish(*_ended(recorded))
        if ended.checksum is None:
            return ended.status if ended.status != "ok" else "crashed", ended.detail, None
        reference, magnitude = self.results.expected[identity]
        error = abs(ended.checksum[0] - reference) / magnitude
        if error > TOLERANCE:
            return "wrong-result", f"the checksum deviates by {error:.2e} of the reference", error
        return "ok", "", error

    def _find(self, candidate: Candidate, kind: str, number: int) -> Collected | None:
        matching = (
            launch
            for launch in self.results.launches
            if (launch.identity, launch.kind, launch.round) == (candidate.identity, kind, number)
        )
        return next(matching, None)


def _ended(recorded: Collected) -> tuple[Status, str]:
    if recorded.code == 0:
        return "ok", ""
    if recorded.code is None:
        return "crashed", "the job ended in the middle of it"
    if recorded.code == _TIME_LIMIT:
        return "timed-out", "ended at the time limit"
    return "crashed", f"exit code {recorded.code}"
