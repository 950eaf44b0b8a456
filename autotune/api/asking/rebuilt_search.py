"""The search of ``tune`` for a study of ask and tell; it is made anew when hints come later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autotune.api.asking.candidates_by_settings import AskedSpace
from autotune.api.asking.told_results import ToldResults
from autotune.commands.tune.moving import AnySearch, search_over
from autotune.domain.ranking import Ranked
from autotune.domain.results import Prediction
from autotune.domain.variant import Candidate
from autotune.tuning.base import Chosen, Proposal
from autotune.tuning.study_search import Hint, StudySearch, study_search


@dataclass(slots=True, kw_only=True)
class RebuiltSearch:
    """Proposals for the problems of a study, from everything that was told."""

    space: AskedSpace
    results: ToldResults
    taken: Mapping[str, Candidate]
    """Candidates that are not to be proposed: asked for, told, or running elsewhere."""
    hints: dict[str, Hint] = field(default_factory=dict)
    _search: AnySearch | None = None
    _exhausted: set[int] = field(default_factory=set)
    _entries: dict[str, Ranked] = field(default_factory=dict)

    def __post_init__(self) -> None:
        entries = (e for ranking in self.space.ranked.rankings for e in ranking.entries)
        self._entries = {entry.candidate.identity: entry for entry in entries}

    def hint(self, hint: Hint) -> None:
        """Add what a candidate took elsewhere."""
        self.hints[hint.candidate.identity] = hint
        self._search = None

    def propose(self, number: int) -> Chosen | None:
        """A candidate of a problem that was not taken before, the baseline first; None if there
        is none.
        """
        baseline = self.space.baseline(number)
        if baseline.identity not in self.taken:
            self._made().tell(baseline, None, 0.0)
            return self.chosen(baseline, "the baseline")
        while proposals := self._made().ask(number, 1):
            proposal = proposals[0]
            if proposal.candidate.identity not in self.taken:
                return self._chosen(proposal)
        self._exhausted.add(number)
        return None

    def finished(self, number: int) -> str | None:
        """Why no more of a problem is worth running; None while there is more."""
        if number in self._exhausted:
            return "every candidate was asked for"
        return self._made().finished(number)

    def learn(self, candidate: Candidate) -> None:
        """Take in what was told of a candidate, or that it is running."""
        if self._search is not None:
            self._tell(self._search, candidate)

    def chosen(self, candidate: Candidate, why: str) -> Chosen:
        """A candidate as one to run, with its prediction and place."""
        entry = self._entries.get(candidate.identity)
        if entry is None:
            entry = self._entries[candidate.identity] = Ranked(
                None, candidate, self.space.predicted(candidate)
            )
        return Chosen.of(entry, why)

    def _chosen(self, proposal: Proposal) -> Chosen:
        if proposal.prediction is not None:
            self._entries.setdefault(
                proposal.candidate.identity, Ranked(None, proposal.candidate, proposal.prediction)
            )
        return self.chosen(proposal.candidate, proposal.why)

    def _tell(self, search: AnySearch, candidate: Candidate) -> None:
        outcome = self.results.search_input(candidate.identity)
        if outcome is None:
            search.tell(candidate, None, 0.0)  # running: it is not proposed
        else:
            search.tell(candidate, outcome.measurement, outcome.sigma)

    def _made(self) -> AnySearch:
        if self._search is None:
            ranked, settings = self.space.ranked, self.space.ranked.setup
            entries = [entry for ranking in ranked.rankings for entry in ranking.entries]
            first = [self.space.baseline(number).identity for number in range(len(ranked.rankings))]

            def over(pool: Sequence[Candidate], predicted: Sequence[Prediction]) -> StudySearch:
                members = {candidate.identity for candidate in pool}
                return study_search(
                    pool,
                    predicted,
                    settings=settings.search,
                    first=[identity for identity in first if identity in members],
                    hints=[hint for i, hint in self.hints.items() if i in members],
                    seed=settings.selection.seed,
                )

            self._search = search_over(
                ranked,
                [entry.candidate for entry in entries],
                [entry.prediction for entry in entries],
                over,
                lambda: [hint.candidate for hint in self.hints.values()],
            )
            for candidate in self.taken.values():
                self._tell(self._search, candidate)
        return self._search
