"""Results in the store for a study's candidates: from its own runs and from other studies."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.commands.tune.provenance import identity_of, launching, versions
from autotune.domain.results import Measurement, Status
from autotune.domain.variant import Candidate, Value
from autotune.files.store import RunRecord, Store
from autotune.statistics.launch_times import time_of
from autotune.toolchain import compiler as compilers
from autotune.tuning import EarlierResult
from autotune.tuning.study_search import Hint

_LASTING: tuple[Status, ...] = ("ok", "wrong-result", "out-of-bounds")
"""What another study found out and this one would too; of builds and runs its time limits may have
been others, or a library was missing."""


@dataclass(slots=True, kw_only=True)
class EarlierResults:
    """Reads results of a study's candidates from the store, as other runs finished them.

    A result is used if machine, compiler, tools, MPI and the way of launching are the same. For
    results of another study the version of autotune must be the same too. All other times serve as
    hints.
    """

    results: Store
    study: str
    ranked: RankedSpace
    run: str = ""
    """The run that uses these results; its own results are never new ones."""
    hints: dict[str, Hint] = field(default_factory=dict)
    """Candidate to the latest time elsewhere."""
    sources: dict[str, int] = field(default_factory=dict)
    """Study to how many of its results are used."""
    _seen: dict[str, int] = field(default_factory=dict)
    _with_relatives: bool = False
    _candidates: Mapping[str, Candidate] = field(init=False)
    _machine: str = field(init=False)
    _now: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self._machine = identity_of(self.ranked.machine)
        self._now = versions(self.ranked.workload)
        self._candidates = {c.identity: c for c in self.ranked.enumerated.legal}

    def new_results(self) -> list[EarlierResult]:
        """Results that other runs have stored since the last call; at first, all of them."""
        counts = self.results.finished()
        counts.pop(self.run, None)
        changed = [run for run, count in counts.items() if self._seen.get(run) != count]
        self._seen = counts
        warm = self.ranked.setup.search.warm_start
        runs = self.results.runs_of(changed, self._candidates.keys()) if changed else ()
        results = [e for run in runs if warm or run.study == self.study for e in self._earlier(run)]
        if warm and not self._with_relatives:
            self._relatives()
        self._with_relatives = True
        return results

    def of_the_study(self) -> list[EarlierResult]:
        """The results of all runs of the study itself."""
        runs = [run.id for run in self.results.load_study(self.study).runs]
        with_ours = self.results.runs_of(runs, self._candidates.keys())
        return [result for run in with_ours for result in self._earlier(run)]

    def counted(self, run: RunRecord) -> list[Candidate]:
        """The candidates that a run of the study finished and whose results still hold."""
        finished = [c for i in sorted(run.finished) if (c := self._candidates.get(i)) is not None]
        return [candidate for candidate in finished if self._holds(run, candidate)]

    def _earlier(self, run: RunRecord) -> list[EarlierResult]:
        """The usable results of a run; its other times become hints."""
        results = []
        ours = run.study == self.study
        for m in run.measurements:
            candidate = self._candidates[m.candidate]
            if m.candidate not in run.finished:
                continue
            if not (self._holds(run, candidate) and (ours or self._taken_alike(run))):
                self._hint(candidate, m)
            elif ours or m.status in _LASTING:
                checksum = run.checksums.get(m.candidate)
                results.append(EarlierResult(candidate=candidate, measurement=m, checksum=checksum))
        if results and not ours:
            self.sources[run.study] = self.sources.get(run.study, 0) + len(results)
        return results

    def _holds(self, run: RunRecord, candidate: Candidate) -> bool:
        """Whether a result of a run holds: same machine, compiler, tools and MPI.

        The compiler must also resolve flags such as -march=native to the same processor.
        """
        now = self._now
        compiled = self.ranked.setup.compiled_builds
        there = run.versions.get("compilers", "").split("; ")
        compiler = not compiled or compilers.find(candidate.build).title in there
        mpi = candidate.ranks == 1 or run.versions.get("mpi") == now.get("mpi")
        tools = run.versions.get("tools") == now.get("tools")
        return run.machine_identity == self._machine and compiler and tools and mpi

    def _taken_alike(self, run: RunRecord) -> bool:
        same = run.conditions.get("launching") == launching(self.ranked.setup)
        return same and run.versions.get("autotune") == self._now["autotune"]

    def _hint(self, candidate: Candidate, measurement: Measurement) -> None:
        if measurement.status == "ok" and measurement.timed:
            seconds = time_of(measurement.samples)
            self.hints[candidate.identity] = Hint(candidate=candidate, seconds=seconds)

    def _relatives(self) -> None:
        """Add hints from candidates that differ only in their build.

        Such candidates belong to other studies and use a build that this study lacks.
        """
        relatives = self.results.other_candidates(self._candidates.keys())
        if not relatives:
            return
        theirs = [json.loads(record.canonical) for record, _ in relatives]
        settings = {_setting(form["skeleton"], form["parameters"]) for form in theirs}
        alike: dict[str, list[Candidate]] = {}
        for candidate in self._candidates.values():
            variant = candidate.variant
            if _setting(variant.skeleton, variant.parameters) in settings:
                alike.setdefault(_but_for_build(candidate.canonical()), []).append(candidate)
        for form, (_, measurement) in zip(theirs, relatives, strict=True):
            for candidate in alike.get(_but_for_build(form), []):
                if candidate.identity not in self.hints:
                    self._hint(candidate, measurement)

    @property
    def note(self) -> str:
        """In words, which results of other studies are used; empty if none."""
        parts = [
            f"{count} result{'s' if count > 1 else ''} of study {name}"
            for name, count in sorted(self.sources.items())
        ]
        text = f"used without measuring again: {', '.join(parts)}" if parts else ""
        hints = len(self.hints)
        if hints:
            text += ("; " if text else "") + (
                f"{hints} time{'s' if hints > 1 else ''} of other machines, compilers, flags,"
                " tools, versions or ways of launching as a hint"
            )
        return text


def _setting(skeleton: str, parameters: Mapping[str, Value]) -> tuple[object, ...]:
    """What two candidates that differ in their builds alone have in common, quick to compare."""
    return skeleton, frozenset(parameters.items())


def _but_for_build(canonical: Mapping[str, object]) -> str:
    kept = {name: value for name, value in canonical.items() if name not in ("compiler", "flags")}
    return json.dumps(kept, sort_keys=True)
