"""Jobs for machines where autotune does not run: written out, and their results read back."""

import hashlib
import time
from pathlib import Path

import numpy as np

from autotune.codegen import harness
from autotune.codegen.programs import Programs
from autotune.errors import Fault, InputError
from autotune.measure import job, protocol, verify
from autotune.measure.collected import CollectedMeasurer
from autotune.measure.job import Job, JobTask
from autotune.measure.reference import integrate
from autotune.pipeline.prospect import prospect
from autotune.pipeline.study import Conduct, Options, Result, choose_candidates
from autotune.problem import Problem
from autotune.progress import Progress
from autotune.ranking import Ranking
from autotune.setup import Setup
from autotune.store import Store
from autotune.tuning import Chosen
from autotune.variant import Candidate

_OPENMP = {
    "OMP_PLACES": "cores",
    "OMP_PROC_BIND": "close",
    "OMP_WAIT_POLICY": "active",
    "OMP_DYNAMIC": "false",
}
"""On a machine that has the cores; how many it uses is set for each launch."""


def emit_job(setup: Setup, options: Options, folder: Path, progress: Progress) -> Path:
    """Write the job that measures what ``tune`` would measure; the path of its script."""
    found = prospect(setup, progress)
    programs = Programs(setup.skeleton)
    tasks: list[JobTask] = []
    for ranking in found.rankings:
        for choice in choose_candidates(found, ranking, options):
            progress("write the job", len(tasks), len(tasks) + 1, choice.candidate.label)
            tasks.append(_task(choice.candidate, setup, programs))
    return job.emit(
        Job(
            study=setup.name,
            tasks=tuple(tasks),
            rounds=setup.measuring.rounds,
            launcher=setup.launcher,
            environment={**_OPENMP, **setup.environment},
            compile_seconds=setup.limits.compile,
            run_seconds=setup.limits.run,
            seed=setup.selection.seed,
        ),
        folder,
    )


def _task(candidate: Candidate, setup: Setup, programs: Programs) -> JobTask:
    small = verify.verification_problem(candidate)
    steps = setup.measuring.verify_steps
    return JobTask(
        candidate=candidate,
        units=harness.units(programs(candidate), candidate.problem),
        timing=tuple(
            protocol.time_arguments(candidate.problem, candidate.threads, setup.measuring)
        ),
        check=tuple(protocol.time_arguments(small, candidate.threads, setup.measuring)),
        expected=_checksum(small, steps),
    )


def _checksum(problem: Problem, steps: int) -> tuple[float, float]:
    """What the generated program prints after ``steps`` steps, from the reference."""
    state = integrate(problem, steps)
    weights = 1 + (np.arange(state.size) % 7) / 8
    return float(np.sum(state * weights)), float(np.sum(np.abs(state)))


def collect(setup: Setup, path: Path, store: str, progress: Progress) -> Result:
    """Read a job's results into the store as a study of its own, as if they were taken now.

    A candidate that is not of this setup is an InputError: the config changed meanwhile.
    """
    started = time.monotonic()
    results = job.collect(path)
    found = prospect(setup, progress)
    known = {c.identity for c in found.enumerated.legal}
    for identity in results.expected:
        if identity not in known:
            raise InputError(
                Fault(
                    where=str(path),
                    found=f"candidate {identity} is not one of {setup.name}",
                    expected="results of a job that this config emitted",
                )
            )

    def of_the_job(ranking: Ranking) -> list[Chosen]:
        return [
            Chosen(entry.candidate, entry.prediction, "measured by a job")
            for entry in ranking.entries
            if entry.candidate.identity in results.expected
        ]

    facts = sorted((key, str(value)) for key, value in results.machine.items())
    with Store.open(store) as target:
        conduct = Conduct(
            results=target,
            study=target.unused_name(setup.name),
            found=found,
            measurer=CollectedMeasurer(results, setup.measuring),
            conditions={f"job_{key}": str(value) for key, value in results.machine.items()},
            deadline=float("inf"),
            started=started,
            machine_identity=f"job:{hashlib.sha256(repr(facts).encode()).hexdigest()[:12]}",
        )
        return conduct.run(of_the_job, progress)
