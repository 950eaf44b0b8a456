"""Jobs for machines without autotune: writing them, and reading their results."""

import time
from pathlib import Path

from autotune.commands.rank.ranked_space import rank_space
from autotune.commands.tune.document import EmitJobDocument
from autotune.commands.tune.flow import StudyOptions, StudyRun, TunedStudy, choose_candidates
from autotune.commands.tune.provenance import config_file
from autotune.domain.ranking import Ranking
from autotune.errors import Fault, InputError
from autotune.files.store import Store
from autotune.measuring.jobs import job, job_results
from autotune.measuring.jobs.job import Job, JobTask
from autotune.measuring.jobs.job_results import CollectedMeasurer
from autotune.progress import Progress
from autotune.tuning import Chosen
from autotune.workloads.base import Workload, refuse


def emit_job(
    workload: Workload, options: StudyOptions, folder: Path, progress: Progress
) -> EmitJobDocument:
    """Write a job that measures what ``tune`` would measure.

    InputError if the folder is not empty or cannot be written.
    """
    refuse(workload, "--emit-job")
    setup = workload.setup
    ranked = rank_space(workload, progress)
    for line in (*ranked.machine_notes, *ranked.candidate_notes):
        progress(line, 0, 1)
    tasks: list[JobTask] = []
    for ranking in ranked.rankings:
        for choice in choose_candidates(ranked, ranking, options):
            candidate = choice.candidate
            progress("write the job", len(tasks), len(tasks) + 1, candidate.label)
            units = workload.sources(candidate, folder)
            tasks.append(JobTask(candidate=candidate, units=units))
    script = job.emit(
        Job(
            study=setup.name,
            tasks=tuple(tasks),
            measuring=setup.measuring,
            limits=setup.limits,
            launcher=setup.launcher,
            mpi_launcher=setup.mpi_launcher,
            environment=setup.environment,
            seed=setup.selection.seed,
        ),
        folder,
    )
    return EmitJobDocument(
        study=setup.name,
        folder=folder,
        script=script,
        candidates=tuple(task.candidate.id for task in tasks),
    )


def collect(workload: Workload, path: Path, store: str, progress: Progress) -> TunedStudy:
    """Read the results of a job into the store as a new study, as if they were measured now.

    A candidate outside this workload is an InputError: the config changed after the job was
    written.
    """
    started = time.monotonic()
    results = job_results.collect(path)
    setup = workload.setup
    ranked = rank_space(workload, progress)
    identities = {c.identity for c in ranked.enumerated.legal}
    for identity in results.candidates:
        if identity not in identities:
            raise InputError(
                Fault(
                    where=str(path),
                    found=f"candidate {identity} is not one of {setup.name}",
                    expected="results of a job that this config emitted",
                )
            )

    def of_the_job(ranking: Ranking) -> list[Chosen]:
        return [
            Chosen.of(entry, "measured by a job")
            for entry in ranking.entries
            if entry.candidate.identity in results.candidates
        ]

    with Store.open(store) as target:
        study_run = StudyRun(
            results=target,
            study=target.unused_name(setup.name),
            ranked=ranked,
            measurer=CollectedMeasurer(results, setup.measuring),
            conditions={
                **{f"job_{key}": value for key, value in results.machine.items()},
                **config_file(setup),
            },
            deadline=float("inf"),
            started=started,
            machine_identity=results.machine_identity,
        )
        return study_run.run(of_the_job, progress)
