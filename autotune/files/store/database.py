"""The results store: every sample becomes a durable row as soon as it is taken.

    store = Store.open("studies/autotune.sqlite")
    store.begin_study("quickstart", StudyOrigin(config="quickstart", setup_text=text))
    store.add_space("quickstart", spaces, baselines)
    run = store.begin_run("quickstart", facts)
    store.add_proposals(run, entries, choices)
    store.add_prepared(run, prepared)
    store.add_sample(run, candidate, number, sample)
    store.end_run(run)
    record = store.load_study("quickstart")

A study's store holds what was proposed or measured, not all that it may choose from: of that only
a summary. Every writing method commits before it returns. Repeating a call does not double its row.
"""

import contextlib
import datetime
import uuid
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Self

import sqlalchemy as sa

from autotune.domain.decision_map import DecisionMap
from autotune.domain.ranking import Ranked
from autotune.domain.results import BuildOutcome, Measurement, Prepared, Sample, Status
from autotune.domain.variant import Candidate
from autotune.errors import Fault, StoreError, unknown_name
from autotune.files import codec
from autotune.files.store import store_reading, store_tables, store_writing
from autotune.files.store.records import (
    CandidateRecord,
    ProblemSpace,
    RunFacts,
    RunRecord,
    StoredBuild,
    StoredChoice,
    StoredOutcome,
    StudyOrigin,
    StudyRecord,
    StudySummary,
)
from autotune.files.store.setup_text import changed_keys
from autotune.files.store.store_engine import WRITES, connect, errors_in_words
from autotune.files.store.store_rows import Row, candidate_row, row_of, upsert

DEFAULT_WAIT = 30.0


_HEAD = 4096
"""Characters of a file in which its schema is looked for."""


class Store:
    """A database of studies. Safe to use from several processes at once.

    All methods raise StoreError where the database cannot be used: locked for longer than the
    waiting time, corrupt, full, or no longer there.
    """

    def __init__(self, engine: sa.Engine, shown: str, wait: float) -> None:
        self._engine = engine
        self._wait = wait
        self.shown = shown
        """Where it lies, for messages."""

    @classmethod
    def open(
        cls, location: str | Path, *, create: bool = True, wait: float = DEFAULT_WAIT
    ) -> "Store":
        """The store at a path or URL; it is created where none exists and ``create`` is True.

        ``wait``: seconds to wait for another writer. StoreError names the file, its problem, and
        what to do.
        """
        engine, shown = connect(location, create=create, wait=wait)
        return cls(engine, shown, wait)

    def close(self) -> None:
        """Close all connections to the database."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _reading(self, what: str = "a row") -> Iterator[sa.Connection]:
        """A connection that reads; StoreError where ``what`` is stored in another form."""
        with errors_in_words(self.shown, self._wait), self._engine.connect() as connection:
            try:
                yield connection
            except ValueError as error:
                fault = Fault(where=self.shown, found=f"{what} cannot be read: {error}")
                raise StoreError(fault) from error

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes: durable when the block ends, undone when the block raises."""
        engine = self._engine.execution_options(**{WRITES: True})
        with errors_in_words(self.shown, self._wait), engine.begin() as connection:
            yield connection

    # --- writing ------------------------------------------------------------------------

    def begin_study(self, name: str, origin: StudyOrigin) -> None:
        """Create a study, or continue the one of the same name and configuration.

        Raises StoreError with the keys that differ where the study of that name has another
        configuration: its candidates would be mixed with those of this study. Titles and comments
        may differ.
        """
        self._add_study(name, origin)
        with self._reading() as connection:
            text = connection.execute(
                sa.select(store_tables.studies.c.setup_text).where(
                    store_tables.studies.c.name == name
                )
            ).scalar_one()
        keys = [] if text == origin.setup_text else changed_keys(text, origin.setup_text)
        if keys:
            raise StoreError(
                Fault(
                    where=self.shown,
                    found=f"study {name} was begun with another content of {', '.join(keys)}",
                    expected="the same configuration, or another name",
                    hint="run without --resume to begin a new study",
                )
            )

    def _add_study(self, name: str, origin: StudyOrigin) -> bool:
        row = row_of(origin, name=name, created=now())
        return self._write(store_tables.studies, [row], replace=False) > 0

    def unused_name(self, base: str) -> str:
        """The first of ``base``, ``base-2``, ``base-3``, ... that is not the name of a study."""
        taken = {summary.name for summary in self.studies()}
        names = (base if k == 1 else f"{base}-{k}" for k in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)

    def new_study(self, base: str, origin: StudyOrigin) -> str:
        """Create a study under a new name, the first free one of ``base``, ``base-2``, ...; returns
        the name.

        Of several processes that do this at the same time, each gets a different name.
        """
        while True:
            name = self.unused_name(base)
            if self._add_study(name, origin):
                return name

    def begin_run(self, study: str, facts: RunFacts) -> str:
        """Begin a run of a study; returns the new id of the run. Ids sort by time."""
        started = now()
        run = f"{started[:19].replace('-', '').replace(':', '')}-{uuid.uuid4().hex[:8]}"
        keys = {"id": run, "study": study, "started": started, "ended": None, "state": "running"}
        row = row_of(facts, **keys, timings="{}")
        self._write(store_tables.runs, [row], replace=False)
        return run

    def add_candidates(
        self, study: str, candidates: Sequence[Candidate], *, baselines: Collection[str] = ()
    ) -> None:
        """Store candidates as members of a study; ``baselines`` are identities of candidates."""
        with self._writing() as connection:
            store_writing.add_members(connection, study, candidates, baselines)

    def add_space(
        self, study: str, spaces: Sequence[ProblemSpace], baselines: Sequence[Ranked]
    ) -> None:
        """Store what a study chooses from: a summary of each problem, and the baselines with their
        predictions. They replace those that are stored.
        """
        rows = [row_of(space, study=study) for space in spaces]
        with self._writing() as connection:
            upsert(connection, store_tables.spaces, rows, replace=True)
            store_writing.add_baselines(connection, study, baselines)

    def add_proposals(
        self, run: str, entries: Sequence[Ranked], choices: Sequence[StoredChoice]
    ) -> None:
        """Store, in one step, candidates that a run is going to measure: as members of its study,
        with their predictions, their places by prediction, and the reasons for the choice.
        """
        with self._writing() as connection:
            study = store_writing.study_of(connection, run)
            store_writing.add_members(connection, study, [e.candidate for e in entries])
            store_writing.add_predictions(connection, study, entries)
            rows = [row_of(choice, run=run) for choice in choices]
            upsert(connection, store_tables.choices, rows, replace=True)

    def add_unchosen_candidates(self, candidates: Sequence[Candidate]) -> None:
        """Store candidates that may be measured although no study chooses from them."""
        self._write(store_tables.candidates, [candidate_row(c) for c in candidates], replace=False)

    def add_map(self, study: str, value: DecisionMap) -> None:
        """Store a decision map of a study, in place of one with the same label."""
        row: Row = {"study": study, "label": value.label, "record": codec.dump(value)}
        self._write(store_tables.maps, [row], replace=True)

    def add_predictions(self, study: str, entries: Sequence[Ranked]) -> None:
        """Store predictions of members of a study, with their places; a later prediction replaces
        an earlier one.
        """
        with self._writing() as connection:
            store_writing.add_predictions(connection, study, entries)

    def mark_lost(self, study: str, identities: Collection[str]) -> None:
        """Store that members of a study are no longer legal, in place of their predictions."""
        with self._writing() as connection:
            store_writing.mark_lost(connection, study, identities)

    def add_choices(self, run: str, choices: Sequence[StoredChoice]) -> None:
        """Store which candidates a run measures, in which order, and why."""
        self._write(store_tables.choices, [row_of(c, run=run) for c in choices], replace=True)

    def add_prepared(self, run: str, prepared: Prepared) -> None:
        """Store how the build and the verification of a candidate ended."""
        outcome = {field.name: getattr(prepared, field.name) for field in fields(BuildOutcome)}
        build = StoredBuild(candidate=prepared.candidate.identity, **outcome)
        self._write(store_tables.prepared, [row_of(build, run=run)], replace=True)

    def add_sample(self, run: str, candidate: str, number: int, sample: Sample) -> None:
        """Store one sample; it is on the disk when this returns.

        ``number`` counts the samples of a launch, including warm-ups. Raises ValueError where
        another sample has this number already.
        """
        row = row_of(sample, run=run, candidate=candidate, number=number)
        if self._write(store_tables.samples, [row], replace=False):
            return
        key = {c.name: row[c.name] for c in store_tables.samples.primary_key}
        with self._reading() as connection:
            query = sa.select(
                store_tables.samples.c.seconds, store_tables.samples.c.taken
            ).filter_by(**key)
            stored = connection.execute(query).one()
        if tuple(stored) != (sample.seconds, sample.taken):
            raise ValueError(f"another sample is stored as {key}")

    def add_measurements(self, run: str, measurements: Sequence[Measurement]) -> None:
        """Store, in one step, measurements made elsewhere, whose programs were neither built nor
        verified here.

        The run must have none of them yet. The samples of each are numbered as those of one launch.
        """
        samples = [
            row_of(sample, run=run, candidate=measurement.candidate, number=number)
            for measurement in measurements
            for number, sample in enumerate(measurement.samples)
        ]
        ends = [
            StoredOutcome(candidate=m.candidate, status=m.status, detail=m.detail)
            for m in measurements
        ]
        outcomes = [row_of(end, run=run) for end in ends]
        with self._writing() as connection:
            for table, new in ((store_tables.samples, samples), (store_tables.outcomes, outcomes)):
                if new:
                    connection.execute(sa.insert(table), new)

    def add_outcome(
        self,
        run: str,
        candidate: str,
        status: Status,
        detail: str = "",
        checksum: tuple[float, float] | None = None,
    ) -> None:
        """Store how measuring a candidate ended; the candidate then counts as finished
        in this run.
        """
        end = StoredOutcome(candidate=candidate, status=status, detail=detail, checksum=checksum)
        self._write(store_tables.outcomes, [row_of(end, run=run)], replace=True)

    def end_run(
        self, run: str, *, state: str = "done", timings: Mapping[str, float] | None = None
    ) -> None:
        """Close a run as ``done``, ``interrupted`` or ``failed``, with the seconds of
        each phase.
        """
        values = {"state": state, "ended": now(), "timings": codec.dump(dict(timings or {}))}
        with self._writing() as connection:
            connection.execute(
                sa.update(store_tables.runs).where(store_tables.runs.c.id == run).values(**values)
            )

    def add_conditions(self, run: str, conditions: Mapping[str, str]) -> None:
        """Store conditions of a run that are known only at its end."""
        with self._writing() as connection:
            where = store_tables.runs.c.id == run
            text = connection.execute(
                sa.select(store_tables.runs.c.conditions).where(where)
            ).scalar_one()
            conditions_before = codec.load(dict, text)
            together = codec.dump({**conditions_before, **conditions})
            connection.execute(
                sa.update(store_tables.runs).where(where).values(conditions=together)
            )

    def _write(self, table: sa.Table, new: Sequence[Row], *, replace: bool) -> int:
        """Store rows in one transaction and return how many were added or replaced.

        Rows that exist already are replaced where ``replace`` is True, else kept.
        """
        with self._writing() as connection:
            return upsert(connection, table, new, replace=replace)

    # --- reading ------------------------------------------------------------------------

    def studies(self) -> list[StudySummary]:
        """All studies, oldest first."""
        with self._reading() as connection:
            return store_reading.summaries(connection)

    def latest_study(self, config: str | None = None) -> str | None:
        """The name of the study that was begun last; with ``config`` the last one of that
        configuration.
        """
        names = [s.name for s in self.studies() if config in (None, s.config)]
        return names[-1] if names else None

    def load_study(self, name: str) -> StudyRecord:
        """All stored data of a study, or of the last one of a configuration that is named by its
        file; for an unknown name StoreError, which names the nearest study.
        """
        if Path(name).suffix in (".yaml", ".yml"):
            name = self.latest_study(Path(name).stem) or name
        with self._reading(f"study {name}") as connection:
            record = store_reading.study(connection, name)
        if record is None:
            _require_no_program(Path(name))
            names = [s.name for s in self.studies()]
            raise StoreError(unknown_name(self.shown, "study", name, names))
        return record

    def members(self, study: str) -> frozenset[str]:
        """The identities of the candidates of a study that are stored."""
        with self._reading() as connection:
            return store_reading.members(connection, study)

    def finished(self) -> dict[str, int]:
        """The number of candidates that each run of any study has finished, by run."""
        with self._reading() as connection:
            return store_reading.finished(connection)

    def runs_of(self, runs: Sequence[str], identities: Container[str]) -> tuple[RunRecord, ...]:
        """The given runs, of any study, restricted to the candidates with the given identities;
        oldest first. Runs with none of these are left out.
        """
        with self._reading("a run") as connection:
            return store_reading.runs_of(connection, runs, identities)

    def other_candidates(
        self, identities: Container[str]
    ) -> tuple[tuple[CandidateRecord, Measurement], ...]:
        """Candidates that were measured and have none of the given identities, each with its latest
        good result.
        """
        with self._reading("a result") as connection:
            return store_reading.other_candidates(connection, identities)

    def candidates(self, identities: Sequence[str]) -> tuple[CandidateRecord, ...]:
        """The stored candidates with these identities, of any study, in no particular order."""
        with self._reading("a candidate") as connection:
            return store_reading.candidates(connection, identities)

    def named_candidates(self, name: str) -> tuple[CandidateRecord, ...]:
        """The stored candidates, of any study, with this id, identity, label, or label of the
        variant.
        """
        with self._reading("a candidate") as connection:
            return store_reading.named_candidates(connection, name)


def now() -> str:
    """The current time in UTC as ISO 8601, to the microsecond."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")


def _require_no_program(path: Path) -> None:
    """StoreError where the name of a study is that of the file of a program."""
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        program = "autotune.program/" in file.read(_HEAD)
    if program:
        config = path.with_name(f"{path.stem}-tune{path.suffix}")
        hint = f"did you mean {config}?" if config.is_file() else "a config names it"
        found = "this file describes a program, not a study"
        fault = Fault(where=str(path), found=found, expected="a study or its config", hint=hint)
        raise StoreError(fault)
