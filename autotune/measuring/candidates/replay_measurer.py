"""A measurer that returns recorded times, so that studies run without compiler or timing."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from autotune.domain.results import Prepared, Sample, Status
from autotune.domain.variant import Candidate
from autotune.measuring.candidates.base import Launch
from autotune.units import Seconds

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_BEFORE_LAUNCH: tuple[Status, ...] = ("build-failed", "wrong-result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The recorded outcome of one candidate.

    A recorded build failure or wrong result shows when the candidate is prepared. A recorded crash
    or timeout shows when it is launched, after the samples of that launch.
    """

    launches: Sequence[Sequence[float]] = ()
    """Seconds per step of the samples of each launch; later launches start again with the first."""
    status: Status = "ok"
    detail: str = ""
    error: float | None = 1e-16
    checksum: tuple[float, float] | None = (1.0, 1.0)
    busy: float = 1.0
    """CPU time over (threads x wall time) of all samples."""


@dataclass(frozen=True, slots=True)
class ReplayMeasurer:
    """A deterministic measurer that replays recordings, keyed by the identity of the candidate.

    ``fallback`` gives the recording of a candidate that has none.
    """

    recordings: Mapping[str, Recording] = field(default_factory=dict)
    fallback: Callable[[Candidate], Recording] | None = None

    def prepare(self, candidate: Candidate) -> Prepared:
        """The recorded outcome of building and verifying the candidate."""
        recording = self._recording(candidate)
        failed = recording.status in _BEFORE_LAUNCH
        return Prepared(
            candidate=candidate,
            status=recording.status if failed else "ok",
            detail=recording.detail if failed else "",
            error=None if recording.status == "build-failed" else recording.error,
            build=hashlib.sha256(candidate.identity.encode()).hexdigest()[:32],
            provenance={"compiler": "replay"},
        )

    def interrupt(self) -> None:
        """Do nothing: a replay runs no process."""

    def launch(
        self,
        prepared: Prepared,
        *,
        round_number: int,
        launch: int,
        expected: float | None,  # noqa: ARG002 - nothing runs that could take too long
        on_sample: Callable[[Sample], None],
    ) -> Launch:
        """The recorded samples of one launch, with invented moments."""
        recording = self._recording(prepared.candidate)
        times = recording.launches[launch % len(recording.launches)] if recording.launches else ()
        samples = []
        for number, seconds in enumerate(times):
            moment = _EPOCH + timedelta(seconds=100 * round_number + number)
            sample = Sample(
                seconds=Seconds(seconds),
                steps=1,
                busy=recording.busy,
                undisturbed=recording.busy >= 0.95,
                launch=launch,
                round=round_number,
                taken=moment.isoformat(timespec="milliseconds"),
                conditions={"priority": "none", "threads": prepared.candidate.threads},
            )
            samples.append(sample)
            on_sample(sample)
        status = recording.status
        return Launch(
            status=status,
            samples=tuple(samples),
            detail=recording.detail,
            checksum=recording.checksum if status == "ok" else None,
        )

    def _recording(self, candidate: Candidate) -> Recording:
        if candidate.identity in self.recordings:
            return self.recordings[candidate.identity]
        if self.fallback is not None:
            return self.fallback(candidate)
        raise KeyError(f"nothing is recorded for {candidate.id}")
