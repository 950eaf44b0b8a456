"""The differences between two candidates of a problem, and the candidates between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from autotune.commands.compare.matching_candidates import CandidateSettings, settings_of
from autotune.domain.parameter_values import same
from autotune.domain.variant import Candidate, Value
from autotune.workloads.base import CandidateSource

BUILD = "compiler and flags"
"""The difference of two builds; no parameter of a program has such a name."""
LAYOUT = "threads and ranks"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedSetting:
    """A setting in which a candidate differs from the baseline."""

    name: str
    value: Value
    baseline: Value

    @property
    def words(self) -> str:
        """The setting for a person: a flag as it is, of another parameter both values."""
        if isinstance(self.value, str) and self.value.startswith("-"):
            return self.value
        return f"{self.name} = {_shown(self.value)}, not {_shown(self.baseline)}"


@dataclass(slots=True)
class CandidatesBetween:
    """The candidates that have some of the differences between a winner and the baseline."""

    winner: Candidate
    baseline: Candidate
    legal: Sequence[Candidate]
    """The listed ones of all problems."""
    source: CandidateSource | None
    """Gives others of the problem; None where all are listed."""
    differences: Mapping[str, ChangedSetting] = field(init=False)
    _listed: dict[CandidateSettings, Candidate] = field(init=False)
    _made: dict[frozenset[str], Candidate | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.differences = {d.name: d for d in _differences(self.winner, self.baseline)}
        problem = self.winner.problem.key
        self._listed = {settings_of(c): c for c in self.legal if c.problem.key == problem}

    def make(self, kept: frozenset[str]) -> Candidate | None:
        """The baseline with these differences; None where it is not legal."""
        if kept not in self._made:
            self._made[kept] = self._between(kept)
        return self._made[kept]

    def _between(self, kept: frozenset[str]) -> Candidate | None:
        if kept == self.differences.keys():
            return self.winner
        if not kept:
            return self.baseline
        first, second = self.winner.variant.parameters, self.baseline.variant.parameters
        names = dict.fromkeys([*first, *second])
        values = {name: (first if name in kept else second).get(name) for name in names}
        build = self.winner.build if BUILD in kept else self.baseline.build
        layout = self.winner.layout if LAYOUT in kept else self.baseline.layout
        variant = replace(self.winner.variant, parameters=values)
        wanted = replace(self.winner, variant=variant, build=build, layout=layout)
        listed = self._listed.get(settings_of(wanted))
        if listed is not None or self.source is None:
            return listed
        return self.source.recalled(values, build, layout)


def _differences(winner: Candidate, baseline: Candidate) -> list[ChangedSetting]:
    first, second = winner.variant.parameters, baseline.variant.parameters
    changed = [
        ChangedSetting(name=name, value=first.get(name), baseline=second.get(name))
        for name in dict.fromkeys([*first, *second])
        if not same(first.get(name), second.get(name))
    ]
    if winner.build != baseline.build:
        texts = [" ".join((b.compiler, *b.flags)) for b in (winner.build, baseline.build)]
        changed.append(ChangedSetting(name=BUILD, value=texts[0], baseline=texts[1]))
    if winner.layout != baseline.layout:
        texts = [candidate.layout.words for candidate in (winner, baseline)]
        changed.append(ChangedSetting(name=LAYOUT, value=texts[0], baseline=texts[1]))
    return changed


def _shown(value: Value) -> str:
    return (
        "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    )
