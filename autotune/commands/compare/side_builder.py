"""Candidates of one side of a comparison: built and verified, with answers of their own."""

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.commands.compare.matching_candidates import ListedSpace
from autotune.domain.results import Prepared
from autotune.domain.variant import Candidate
from autotune.measuring.conditions.host_lock import HostLock
from autotune.progress import Progress
from autotune.tuning.base import Bench, NoJournal
from autotune.tuning.building import prepare
from autotune.tuning.side_by_side import LaunchedProgram


@dataclass(frozen=True, slots=True)
class BuiltSide:
    """A program that may be launched, or why there is none."""

    program: LaunchedProgram | None
    fault: str = ""
    failed: bool = False
    """It is there and does not build, run or verify."""


@dataclass(frozen=True, slots=True)
class SideBuilder:
    """Builds and verifies candidates of one workload, with answers of their own to compare with."""

    space: ListedSpace
    progress: Progress
    deadline: float

    def build(self, candidate: Candidate) -> BuiltSide:
        """A candidate, built and verified."""
        measurer = self.space.workload.measurer(self.space.machine)
        bench = Bench(
            measurer=measurer,
            journal=NoJournal(),
            progress=self.progress,
            lock=HostLock(self.progress, self.deadline),
        )
        made: Sequence[Prepared] = prepare([candidate], bench, self.deadline)
        if not made:
            return BuiltSide(None, "no time was left to build it")
        if made[0].status != "ok":
            return BuiltSide(None, f"{made[0].status}: {made[0].detail}", failed=True)
        setup = self.space.workload.setup
        variables = sorted(f"{name}={text}" for name, text in setup.environment.items())
        settings = (setup.launcher, *variables)
        return BuiltSide(LaunchedProgram(prepared=made[0], measurer=measurer, settings=settings))
