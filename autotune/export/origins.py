"""What a stored candidate computes, where it ran, and with what it was built."""

from autotune.export.entries import Origin, Place, Subject
from autotune.store.records import CandidateRecord, ProblemFacts, RunRecord, StudyRecord

SIZES = {"ivp": "n, the number of components", "stencil": "n, the number of interior points"}


def subject(candidate: CandidateRecord) -> Subject:
    """What a candidate computes, whatever its size."""
    problem = candidate.problem
    return Subject(
        id=_id(problem),
        name=problem.ivp or problem.stencil or problem.program or problem.label,
        family=problem.family,
        definition=problem.key.split()[0],
        size=SIZES.get(problem.family) or (problem.size_argument or "none: always 1"),
    )


def _id(problem: ProblemFacts) -> str:
    if problem.family == "ivp":
        return f"{problem.ivp} {problem.method} m{problem.correctors} h{problem.step_fraction:g}"
    if problem.family == "stencil":
        return problem.stencil
    rest = [f"{k}={v}" for k, v in problem.arguments.items() if k != problem.size_argument]
    return " ".join([problem.program, *rest])


def place(run: RunRecord) -> Place:
    """The machine of a run."""
    return Place(identity=run.machine_identity, name=run.machine.name, title=run.machine.title)


def origin(study: StudyRecord, run: RunRecord, identity: str) -> Origin:
    """Where the times of a candidate in a run come from."""
    build = run.build(identity)
    provenance = build.provenance if build else {}
    return Origin(
        study=study.name,
        run=run.id,
        taken=run.started,
        compiler=provenance.get("compiler", ""),
        flags=provenance.get("flags", ""),
    )
