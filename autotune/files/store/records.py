"""The values that a results store returns: studies with their runs, as frozen values.

Samples are grouped by run and never pooled: a statistic over two runs would mix two states of the
machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from autotune.domain.decision_map import DecisionMap
from autotune.domain.machine import Machine
from autotune.domain.parameter_values import values_of_parameters
from autotune.domain.problem_facts import ProblemFacts
from autotune.domain.results import BuildOutcome, Measurement, Prediction, Status
from autotune.domain.variant import Build, ExecutionLayout, Value
from autotune.files import codec

Conditions = Mapping[str, float | int | str]
CONFIG = "config"
"""Condition of runs: the file of the configuration, from the folder where they were started."""
CUT = "cut"
"""Condition of runs: the searches that a budget ended, as the JSON of ``CutSearch`` values."""
MAP = "map"
"""Condition ``purpose`` of runs that measured for a decision map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """The machine and the tools with which a run measures; fixed when the run begins."""

    machine: Machine
    """With its calibration, as it was used."""
    machine_identity: str
    """CPU model, cache topology and cores, as a hash; the key that results are filed under."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Name of a tool (``autotune``, ``commit``, ``python``, ``osaca``) to its version."""
    conditions: Conditions = field(default_factory=dict)
    """Load, priority method, huge pages, clock: as they were at the start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRecord:
    """A candidate as it was stored; its canonical form reproduces its identity."""

    identity: str
    label: str
    variant: str
    """Label of the variant: its parameter values, readable."""
    parameters: Mapping[str, Value]
    problem: ProblemFacts
    build: Build
    layout: ExecutionLayout
    canonical: str
    """JSON, sorted keys, as it is hashed."""
    baseline: bool = False

    @property
    def id(self) -> str:
        """``label:identity``, as users name a candidate."""
        return f"{self.label}:{self.identity}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemSpace:
    """The candidates that a study may choose from for one problem, as a summary.

    The store holds those of them that were proposed, and the baseline.
    """

    problem: str
    """Key of the problem."""
    candidates: int
    """How many there are that are legal."""
    predicted: int
    """How many of these have a predicted time, and so a place by prediction."""
    exact: bool = True
    """The numbers were counted; else they are estimates, of a space too large to be listed."""
    layouts: tuple[ExecutionLayout, ...]
    """All ways in which they are spread over nodes, ranks and threads."""
    builds: tuple[Build, ...]
    """All compilers with flags."""
    parameters: Mapping[str, tuple[Value, ...]]
    """All values of each parameter of their variants."""


LOST = "no longer legal"
"""Reason of the prediction of a candidate that its space had when it was proposed and, when the
study was last continued, had no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPrediction:
    """The prediction of one candidate in a study."""

    candidate: str
    prediction: Prediction
    rank: int | None = None
    """Place by prediction among all candidates of its problem, from 1; None without a predicted
    time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredChoice:
    """The reason why a candidate was chosen for measuring in a run."""

    candidate: str
    place: int
    """Order in which it was chosen, from 0."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBuild(BuildOutcome):
    """How the build and the verification of a candidate ended in a run."""

    candidate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOutcome:
    """How measuring a candidate ended in a run."""

    candidate: str
    status: Status
    detail: str = ""
    checksum: tuple[float, float] | None = None
    """The weighted sum of its state and the sum of magnitudes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutSearch:
    """The search of a problem that a budget ended, in place of its own rule."""

    problem: str
    """Key of the problem."""
    why: str
    """``the time is used up``."""
    promise: float | None
    """Greatest expected improvement of the untried candidates, relative to the best, by the last
    model; None where there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry(RunFacts):
    """One invocation of the tuner: its machine and tools, when it began, and how it ended."""

    id: str
    study: str
    started: str
    """ISO 8601, UTC."""
    ended: str | None
    """None: the run was killed, or still goes on."""
    state: str
    """``running``, ``done``, ``budget`` (one ended it), ``interrupted`` or ``failed``."""
    timings: Mapping[str, float]
    """Phase (``predict``, ``build``, ...) to seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord(RunEntry):
    """One invocation of the tuner, with everything that it measured."""

    choices: tuple[StoredChoice, ...]
    builds: tuple[StoredBuild, ...]
    measurements: tuple[Measurement, ...]
    checksums: Mapping[str, tuple[float, float]]
    """Candidate to the weighted sum of its state and the sum of magnitudes."""
    finished: frozenset[str]
    """Candidates whose outcome was recorded: a resumed run need not measure them again."""

    @property
    def for_map(self) -> bool:
        """Whether the run measured for a decision map: two or three candidates of a problem at a
        time.
        """
        return self.conditions.get("purpose") == MAP

    def cut(self, problem: str) -> CutSearch | None:
        """How a budget ended the search of the problem with this key; None where none did."""
        if CUT in self.conditions:
            searches = codec.load(tuple[CutSearch, ...], str(self.conditions[CUT]))
            return next((search for search in searches if search.problem == problem), None)
        if self.state != "budget":
            return None
        return CutSearch(problem=problem, why="the budget is used up", promise=None)

    def measurement(self, candidate: str) -> Measurement | None:
        """The measurement of a candidate in this run; None where the run did not get to it."""
        return next((m for m in self.measurements if m.candidate == candidate), None)

    def build(self, candidate: str) -> StoredBuild | None:
        """The build of a candidate in this run; None where the run did not get to it."""
        return next((b for b in self.builds if b.candidate == candidate), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySummary:
    """One line about a study in a list of studies."""

    name: str
    config: str
    created: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOrigin:
    """The configuration and the versions that a study is begun with."""

    config: str
    """Name of the configuration."""
    setup_text: str
    """The configuration, word for word."""
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyEntry(StudyOrigin):
    """A study as it was begun: its name, its origin, and when it was created."""

    name: str
    created: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRecord(StudyEntry):
    """All stored data of a study, enough to compare, to report and to resume."""

    candidates: tuple[CandidateRecord, ...]
    """Those that were proposed or measured, and the baselines."""
    predictions: tuple[StoredPrediction, ...]
    """Of these candidates."""
    runs: tuple[RunRecord, ...]
    """In the order in which they began."""
    maps: tuple[DecisionMap, ...] = ()
    """By label."""
    spaces: tuple[ProblemSpace, ...] = ()
    """What the candidates of each problem were chosen from; none for a study whose candidates are
    all stored, such as an imported one."""

    @property
    def tunings(self) -> tuple[RunRecord, ...]:
        """The runs of the study without those that measured for a decision map."""
        return tuple(run for run in self.runs if not run.for_map)

    @property
    def file(self) -> str:
        """The file of the configuration, from the folder where the study was last tuned; the word
        CONFIG where no run names one.
        """
        files = [str(run.conditions[CONFIG]) for run in self.runs if CONFIG in run.conditions]
        return files[-1] if files else "CONFIG"

    def space(self, problem: str) -> ProblemSpace:
        """The summary of all candidates of the problem with this key."""
        stored = next((space for space in self.spaces if space.problem == problem), None)
        return stored or self._space_of_stored(problem)

    def _space_of_stored(self, problem: str) -> ProblemSpace:
        """The summary of the stored candidates of a problem, where these are all."""
        stored = [c for c in self.candidates if c.problem.key == problem]
        ranked = {p.candidate for p in self.predictions if p.rank is not None}
        return ProblemSpace(
            problem=problem,
            candidates=len(stored),
            predicted=sum(c.identity in ranked for c in stored),
            layouts=tuple(dict.fromkeys(c.layout for c in stored)),
            builds=tuple(dict.fromkeys(c.build for c in stored)),
            parameters=values_of_parameters([c.parameters for c in stored]),
        )

    @property
    def lost(self) -> frozenset[str]:
        """The identities of the candidates that are no longer legal."""
        legal = {p.candidate for p in self.predictions if p.prediction.reason != LOST}
        return frozenset(p.candidate for p in self.predictions) - legal

    def candidate(self, identity: str) -> CandidateRecord | None:
        """The candidate with this identity; None where the study has none."""
        return next((c for c in self.candidates if c.identity == identity), None)

    def prediction(self, identity: str, engine: str | None = None) -> Prediction | None:
        """The prediction of a candidate by an engine, or by any engine where none is named; None
        where there is none.
        """
        for stored in self.predictions:
            if stored.candidate == identity and engine in (None, stored.prediction.engine):
                return stored.prediction
        return None
