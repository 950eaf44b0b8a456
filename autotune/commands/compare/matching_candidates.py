"""Candidates of a config as it reads now that are what a study, or another revision, has."""

from dataclasses import dataclass

from autotune.commands.rank.host_machine import uncalibrated_machine
from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem
from autotune.domain.variant import Build, Candidate, ExecutionLayout
from autotune.files.store.records import CandidateRecord
from autotune.language.constraint import Value
from autotune.results.evaluate.problem_difference import comparable_with
from autotune.workloads.base import EnumeratedSpace, Workload
from autotune.workloads.capacity import candidates_on
from autotune.workloads.legal_baseline import legal_baseline


@dataclass(frozen=True, slots=True)
class ListedSpace:
    """The candidates of a workload on this host; nothing is predicted."""

    workload: Workload
    machine: Machine
    enumerated: EnumeratedSpace

    @classmethod
    def of(cls, workload: Workload) -> "ListedSpace":
        """The candidates of a workload; InputError if none is legal."""
        machine = uncalibrated_machine(workload.setup)
        return cls(workload, machine, candidates_on(workload, machine))

    def problem(self, record: CandidateRecord) -> tuple[AnyProblem | None, str]:
        """The problem whose times are comparable with those of a record; else why none is."""
        problems = {problem.facts().key: problem for problem in self.workload.setup.problems}
        facts = [problem.facts() for problem in problems.values()]
        match, why = comparable_with(record.problem, facts)
        return (problems[match.key] if match else None), why

    def candidate(self, record: CandidateRecord) -> tuple[Candidate | None, str]:
        """The candidate with the settings of a record, whatever its sources; else why none is."""
        problem, why = self.problem(record)
        if problem is None:
            return None, why
        wanted = _settings(dict(record.parameters), record.build, record.layout)
        source = self.enumerated.sources.get(problem.key)
        listed = [c for c in self.enumerated.legal if c.problem.key == problem.key]
        for candidate in (*listed, self.baseline(problem)):
            if settings_of(candidate) == wanted:
                return candidate, ""
        if source is not None:
            recalled = source.recalled(record.parameters, record.build, record.layout)
            if recalled is not None:
                return recalled, ""
        return None, f"the config does not have {record.label} any more"

    def baseline(self, problem: AnyProblem) -> Candidate:
        """The baseline of a problem, or what stands in its place where that is illegal."""
        legal = [c for c in self.enumerated.legal if c.problem.key == problem.key]
        build = self.workload.setup.builds[0]
        if not legal:
            return self.workload.baseline(problem, self.machine.cores, build)
        return legal_baseline(self.workload, self.machine, legal, build)


CandidateSettings = tuple[tuple[tuple[str, str], ...], Build, ExecutionLayout]
"""What tells candidates of a problem apart, whatever their sources."""


def settings_of(candidate: Candidate) -> CandidateSettings:
    """The settings of a candidate; a value of null counts as none."""
    return _settings(dict(candidate.variant.parameters), candidate.build, candidate.layout)


def _settings(values: dict[str, Value], build: Build, layout: ExecutionLayout) -> CandidateSettings:
    present = sorted((n, repr(value)) for n, value in values.items() if value is not None)
    return tuple(present), build, layout
