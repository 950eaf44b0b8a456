"""From a file that another tuner, or another machine, wrote to a study in the store.

Its times were measured elsewhere. Every later study of the same candidates uses them as hints,
never as results of its own.
"""

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autotune.commands.importing.document import FastestImported, ImportDocument
from autotune.commands.rank.host_machine import uncalibrated_machine
from autotune.commands.tune.provenance import content
from autotune.domain.machine import Machine
from autotune.domain.metric import Metric
from autotune.domain.ranking import Ranked, rank
from autotune.domain.results import Measurement, Prediction, Sample
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError
from autotune.files.parsing.separated_values import cell
from autotune.files.recorded.matching import Matched, match
from autotune.files.recorded.read_recorded import read
from autotune.files.recorded.recorded_space import RecordedSpace, Setting
from autotune.files.store import RunFacts, Store, StoredChoice, StudyOrigin
from autotune.progress import Progress
from autotune.statistics.estimators import location
from autotune.units import Seconds
from autotune.version import VERSION
from autotune.workloads.base import Workload

PREFIX = "imported-"
"""What the names of such studies begin with."""
_STAGE = "read the recorded file"
_SHOWN = 5


def given_settings(texts: Sequence[str]) -> dict[str, Setting]:
    """Settings from texts NAME=VALUE, typed as table cells are; InputError for other texts."""
    settings: dict[str, Setting] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not (name.strip() and sign):
            hint = "for example: --given threads=2"
            raise InputError(Fault(where="--given", found=text, expected="NAME=VALUE", hint=hint))
        settings[name.strip()] = cell(value)
    return settings


def import_file(
    path: Path, workload: Workload, given: Mapping[str, Setting], store: str, progress: Progress
) -> ImportDocument:
    """Enter the times of a recorded file as a study of the candidates of a workload.

    Raises InputError if the file cannot be read, if it states no unit of its times, or if its rows
    are not candidates of the workload.
    """
    progress(_STAGE, 0, 2)
    goal = _goal(workload)
    space = read(path, several=True, goal=goal)
    if space.metric != goal:
        raise InputError(
            Fault(
                where=space.source,
                found=_described(space.metric),
                expected=f"{_described(goal)}, the objective of the config",
            )
        )
    if goal.timed and not space.unit:
        raise InputError(
            Fault(
                where=space.source,
                found="times without a unit",
                expected="a name of the last column that states it",
                hint="time_s, time_ms, ...",
            )
        )
    machine = uncalibrated_machine(workload.setup)
    matched = match(space, workload.candidates(machine.cores).legal, given)
    progress(_STAGE, 1, 2)
    text = content(workload.setup)
    digest = hashlib.sha256(path.read_bytes() + f"{text}\n{sorted(given.items())}".encode())
    with Store.open(store) as results:
        study, done = _enter(
            results,
            matched,
            space,
            _Origin(
                identity=f"recorded:{digest.hexdigest()[:12]}",
                machine=_machine(machine, space),
                setup_text=text,
                taken=_changed(path),
            ),
        )
    progress(_STAGE, 2, 2)
    return ImportDocument(
        study=study,
        source=space.source,
        device=space.device,
        rows=len(space),
        entered=len(matched.pairs),
        failed=sum(space.statuses[row] != "ok" for row, _ in matched.pairs),
        strangers=tuple(space.settings(row) for row in matched.strangers[:_SHOWN]),
        ignored=matched.ignored,
        best=_best(space, matched),
        already=done,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Origin:
    """Where imported times come from: the identity of the file, its machine, setup and date."""

    identity: str
    """Of the file and the config; stands for the machine, which nobody here knows."""
    machine: Machine
    setup_text: str
    taken: str


def _goal(workload: Workload) -> Metric:
    """The objective of the problems of a workload."""
    return workload.setup.problems[0].facts().goal


def _described(metric: Metric) -> str:
    """A metric in words: its name, its unit, and which of two values is the better."""
    return f"{metric.title}, of which {metric.better} is better"


def _enter(
    results: Store, matched: Matched, space: RecordedSpace, origin: _Origin
) -> tuple[str, bool]:
    """Enter a recorded file into the store; the study, and whether it was complete before."""
    before = results.latest_study(origin.identity)
    if before and any(run.state == "done" for run in results.load_study(before).runs):
        return before, True
    versions = {"autotune": VERSION}
    begun_with = StudyOrigin(
        config=origin.identity,  # so that `tune --resume` does not take it for one of its own
        setup_text=origin.setup_text,
        versions=versions,
    )
    study = before or results.new_study(PREFIX + space.name, begun_with)
    candidates = [candidate for _, candidate in matched.pairs]
    results.add_candidates(study, candidates)
    results.add_predictions(study, _ranked(matched, space))
    run = results.begin_run(
        study,
        RunFacts(
            machine=origin.machine,
            machine_identity=origin.identity,
            versions=versions,
            conditions={"imported": space.source},
        ),
    )
    results.add_choices(
        run,
        [
            StoredChoice(candidate=candidate.identity, place=place, reason="recorded elsewhere")
            for place, candidate in enumerate(candidates)
        ],
    )
    results.add_measurements(
        run, [_measurement(run, *pair, space, origin.taken) for pair in matched.pairs]
    )
    results.end_run(run)
    return study, False


def _measurement(
    run: str, row: int, candidate: Candidate, space: RecordedSpace, taken: str
) -> Measurement:
    metric = space.metric
    return Measurement(
        candidate=candidate.identity,
        run=run,
        status=space.statuses[row],
        samples=tuple(
            Sample(
                seconds=Seconds(seconds),
                steps=1,
                busy=1.0,
                undisturbed=True,
                launch=0,
                round=0,
                taken=taken,
                metrics={} if space.metric.timed else {metric.name: metric.value(seconds)},
            )
            for seconds in _times(space, row)
        ),
        detail="" if space.statuses[row] == "ok" else f"as recorded in {space.source}",
    )


def _times(space: RecordedSpace, row: int) -> Sequence[float]:
    if space.statuses[row] != "ok":
        return ()
    return (space.samples[row] if space.samples else ()) or (float(space.seconds[row]),)


def _ranked(matched: Matched, space: RecordedSpace) -> list[Ranked]:
    """The candidates with the predictions that a recorded file holds beside its times, ranked."""
    pairs = [
        (
            candidate,
            Prediction(
                seconds=Seconds(float(space.predicted[row])), interval=None, parts=(),
                engine="recorded", reason=f"as recorded in {space.source}",
            ),
        )
        for row, candidate in matched.pairs
        if space.predicted[row] == space.predicted[row]  # not nan
    ]  # fmt: skip
    rankings = rank([c for c, _ in pairs], [prediction for _, prediction in pairs])
    return [entry for ranking in rankings for entry in ranking.entries]


def _machine(machine: Machine, space: RecordedSpace) -> Machine:
    """The machine of the setup, renamed to the device that the recorded file names."""
    title = space.device or f"not known (recorded in {space.name})"
    return dataclasses.replace(machine, name="recorded", title=title, calibration=None)


def _changed(path: Path) -> str:
    """When the file was last changed: an upper limit for the date of its times."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="microseconds")


def _best(space: RecordedSpace, matched: Matched) -> tuple[FastestImported, ...]:
    """The fastest imported candidate of each problem."""
    metric = space.metric
    least: dict[str, float] = {}
    fastest: dict[str, FastestImported] = {}
    for row, candidate in matched.pairs:
        if space.statuses[row] != "ok":
            continue
        label, cost = candidate.problem.label, location(_times(space, row))
        if label not in least or cost < least[label]:
            least[label] = cost
            fastest[label] = FastestImported(
                problem=label,
                candidate=candidate.id,
                seconds=cost if metric.timed else None,
                best_value=None if metric.timed else metric.value(cost),
                goal=metric,
            )
    return tuple(fastest.values())
