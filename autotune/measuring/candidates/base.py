"""What a measurer does, for everything above it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from autotune.domain.results import Prepared, Sample, Status
from autotune.domain.variant import Candidate

CHECKSUM_TOLERANCE = 1e-11
"""Largest difference of the checksums of two candidates at the timed size, over the sum of
magnitudes: the agreement of the states, 1e-12, and room for the sum itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What one process of a candidate gave."""

    status: Status
    samples: tuple[Sample, ...] = ()
    detail: str = ""
    checksum: tuple[float, float] | None = None
    """Weighted sum of the state at the timed size after the check steps, and sum of magnitudes.

    Of a program the check value, and what its tolerance is ``CHECKSUM_TOLERANCE`` of."""


class Measurer(Protocol):
    """Builds and verifies candidates, and runs one launch at a time."""

    def prepare(self, candidate: Candidate) -> Prepared:
        """Build and verify; never raises for a candidate that fails."""

    def interrupt(self) -> None:
        """End what other threads build, verify or launch at this moment."""

    def launch(
        self,
        prepared: Prepared,
        *,
        round_number: int,
        launch: int,
        expected: float | None,
        on_sample: Callable[[Sample], None],
    ) -> Launch:
        """Run one process; ``on_sample`` is called for every sample as soon as it is taken.

        ``expected`` is the time of one step in seconds, predicted or measured, for the time limit.
        """
