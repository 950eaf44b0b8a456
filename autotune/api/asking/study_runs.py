"""The runs of a study of ask and tell in the store: this process's own, and those of others."""

import os
import platform
import weakref
from collections.abc import Mapping
from dataclasses import dataclass

from autotune.api.asking.candidates_by_settings import AskedSpace
from autotune.commands.tune.problem_spaces import entries_of, problem_space
from autotune.commands.tune.provenance import identity_of
from autotune.commands.tune.study_run import StoreJournal
from autotune.errors import Fault, InputError
from autotune.files.store import RunFacts, RunRecord, Store, StudyOrigin, StudyRecord
from autotune.files.store.setup_text import changed_keys
from autotune.results.evaluate.study_evaluation import SEARCHED
from autotune.version import VERSION

Conditions = Mapping[str, float | int | str]


@dataclass(slots=True, kw_only=True, weakref_slot=True)
class StudyRuns:
    """The study in the store, the run of this process, and what other runs stored meanwhile."""

    store: Store
    name: str
    text: str
    """What the study is about; the same for all who work on it."""
    conditions: Conditions
    _journal: StoreJournal | None = None
    _seen: tuple[dict[str, int], frozenset[str]] = ({}, frozenset())
    """Runs of others with the number of their results, and what they chose, when last read."""
    _end: "weakref.finalize[..., StudyRuns] | None" = None

    def begin_study(self) -> None:
        """Enter the study into the store where it is new.

        InputError where the study of this name is about something else.
        """
        origin = StudyOrigin(config=self.name, setup_text=self.text, versions={"autotune": VERSION})
        stored = {summary.name for summary in self.store.studies()}
        if self.name in stored:
            record = self.store.load_study(self.name)
            keys = changed_keys(record.setup_text, self.text)
            if keys:
                raise InputError(
                    Fault(
                        where=f"at.Study {self.name} in {self.store.shown}",
                        found=f"the stored study has other {', '.join(keys)}",
                        expected="the same description, or a name of its own",
                        hint=f"name={self.store.unused_name(self.name)!r} is free",
                    )
                )
        self.store.begin_study(self.name, origin)

    def journal(self, space: AskedSpace) -> StoreJournal:
        """The journal of this process's run, which begins at the first call."""
        if self._journal is None:
            ranked = space.ranked
            rankings, sources = ranked.rankings, ranked.enumerated.sources
            safe = {space.baseline(number).identity for number in range(len(rankings))}
            spaces = [problem_space(r, sources.get(r.problem.key)) for r in rankings]
            self.store.add_space(self.name, spaces, entries_of(rankings, safe))
            objectives = ranked.setup.search.objectives
            searched = {SEARCHED: ", ".join(objectives)} if len(objectives) > 1 else {}
            run = self.store.begin_run(
                self.name,
                RunFacts(
                    machine=ranked.machine,
                    machine_identity=identity_of(ranked.machine),
                    versions={"autotune": VERSION, "python": platform.python_version()},
                    conditions={
                        **self.conditions,
                        **searched,
                        "timed": "by its user",
                        "process": os.getpid(),
                        "node": platform.node(),
                    },
                ),
            )
            self._journal = StoreJournal(self.store, run)
            self._end = weakref.finalize(self, self.store.end_run, run)
        return self._journal

    def news(self) -> tuple[StudyRecord, list[RunRecord]] | None:
        """The study, and its runs by others in which anything has changed since the last call; None
        where nothing has.
        """
        ours, chosen = "", frozenset[str]()
        if self._journal is not None:
            ours, chosen = self._journal.run, frozenset(self._journal.places)
        counts = {run: count for run, count in self.store.finished().items() if run != ours}
        members = self.store.members(self.name) - chosen
        if (counts, members) == self._seen:
            return None
        before, self._seen = self._seen, (counts, members)
        record = self.store.load_study(self.name)
        changed = [
            run
            for run in record.runs
            if run.id != ours
            and (members != before[1] or before[0].get(run.id) != counts.get(run.id))
        ]
        return record, changed

    def machine(self, space: AskedSpace) -> str:
        """The identity that the results of this process are filed under."""
        return identity_of(space.ranked.machine)

    def end(self) -> None:
        """End the run of this process, if one has begun."""
        if self._end is not None:
            self._end()


def still_running(run: RunRecord) -> bool:
    """Whether the process of a run may still tell something: it has not ended, as far as is known
    from here.
    """
    if run.ended is not None:
        return False
    if run.conditions.get("node") != platform.node():
        return True
    process = run.conditions.get("process")
    if not isinstance(process, int) or process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
