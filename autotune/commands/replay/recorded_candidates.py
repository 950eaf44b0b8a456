"""A recorded space as the tuner sees it: candidates, their ranking and recorded times."""

import math
from dataclasses import dataclass

from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Program, Template
from autotune.domain.ranking import Ranking, rank
from autotune.domain.results import Prediction
from autotune.domain.variant import NO_COMPILER, Candidate, Variant
from autotune.files.recorded.recorded_space import Floats, RecordedSpace
from autotune.measuring.candidates.replay_measurer import Recording, ReplayMeasurer
from autotune.tuning.search.points import Points, points
from autotune.units import Seconds


@dataclass(frozen=True, slots=True)
class RecordedCandidates:
    """The rows of a recorded space as candidates of one problem, in the order of the rows."""

    space: RecordedSpace
    candidates: tuple[Candidate, ...]
    identities: tuple[str, ...]

    def points(self, predicted: Floats) -> Points:
        """The candidates as a search sees them; ``predicted``: seconds, (n,), nan for none."""
        return points(self.space.names, self.space.rows, predicted=predicted)

    def ranking(self, predicted: Floats) -> Ranking:
        """The candidates by predicted time; ``predicted``: seconds, (n,), nan for none."""
        return rank(self.candidates, [_prediction(seconds) for seconds in predicted.tolist()])[0]

    def measurer(self) -> ReplayMeasurer:
        """A measurer that gives the recorded time or failure of a candidate at each launch."""
        space = self.space
        recordings = {
            identity: Recording(
                launches=((seconds,),) if status == "ok" else ((),),
                status=status,
                detail="" if status == "ok" else "as recorded",
            )
            for identity, seconds, status in zip(
                self.identities, space.seconds.tolist(), space.statuses, strict=True
            )
        }
        return ReplayMeasurer(recordings)


def candidates_of(space: RecordedSpace) -> RecordedCandidates:
    """The candidates of a recorded space, all of one problem; they cannot be built or run."""
    program = Program(
        name=space.name,
        title=space.source,
        source=space.source,
        source_folder="",
        sources=(),
        digest="",
        run=(Template("recorded"),),
        parameters={},
        baseline={},
    )
    problem = ProgramProblem(program=program, arguments={})
    candidates = tuple(
        Candidate(
            variant=Variant(skeleton="", transformations=(), parameters=space.settings(row)),
            problem=problem,
            build=NO_COMPILER,
        )
        for row in range(len(space))
    )
    return RecordedCandidates(space, candidates, tuple(c.identity for c in candidates))


def _prediction(seconds: float) -> Prediction:
    missing = math.isnan(seconds)
    return Prediction(
        seconds=None if missing else Seconds(seconds),
        interval=None,
        parts=(),
        engine="recorded",
        reason="the file has no prediction of it" if missing else "",
    )
