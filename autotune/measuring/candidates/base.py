"""The interface of measurers: prepare a candidate, then launch it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from autotune.domain.results import Prepared, Sample, Status
from autotune.domain.variant import Candidate

CHECKSUM_TOLERANCE = 1e-11
"""Largest difference of the checksums of two candidates at the timed size, divided by the sum of
magnitudes. States agree within 1e-12; the rest is for rounding in the sum itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """The result of one process of a candidate: its status and its samples."""

    status: Status
    samples: tuple[Sample, ...] = ()
    detail: str = ""
    checksum: tuple[float, float] | None = None
    """Weighted sum of the state at the timed size after the check steps, and sum of magnitudes.

    For an external program: its check value, and the magnitude that ``CHECKSUM_TOLERANCE`` refers
    to."""


class Measurer(Protocol):
    """Builds and verifies candidates, and runs one launch at a time."""

    def prepare(self, candidate: Candidate) -> Prepared:
        """Build and verify a candidate; a candidate that fails is a result and raises nothing."""

    def interrupt(self) -> None:
        """End the builds, verifications and launches that other threads are running."""

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
