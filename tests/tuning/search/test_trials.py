"""The trials of a study: candidates asked for, results told, the mirror in Optuna."""

import errno
import math
import os
from dataclasses import replace

import optuna
import pytest
from fabricated import candidate, prediction, sample
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from autotune.domain.results import Measurement
from autotune.domain.setup import Searching
from autotune.domain.variant import Candidate
from autotune.tuning.search import optuna_trials
from autotune.tuning.study_search import Hint, MirrorFile, StudySearch, study_search

ORDERS = ("ijl", "ilj", "jil", "jli", "lij", "lji")
CANDIDATES = [
    candidate(order, size, pad) for size in (256, 512) for order in ORDERS for pad in (0, 1, 5)
]
SETTINGS = Searching(first=3)


def time_of(one: Candidate) -> float:
    order, pad = one.variant.parameters["order"], one.variant.parameters["pad"]
    return 1e-3 * one.problem.n / 256**2 * (1 + 0.3 * ORDERS.index(order) + 0.1 * (pad == 0))


def measured(one: Candidate, status: str = "ok", **conditions) -> Measurement:
    samples = tuple(
        sample(time_of(one), launch=launch, conditions=conditions) for launch in range(3)
    )
    return Measurement(
        candidate=one.identity, run="r", status=status, samples=samples if status == "ok" else ()
    )


def trials(**fields) -> StudySearch:
    predictions = fields.pop("predictions", [prediction(None, reason="no model")] * len(CANDIDATES))
    settings = fields.pop("settings", SETTINGS)
    return study_search(CANDIDATES, predictions, settings=settings, **fields)


def test_problems_are_numbered_as_they_come_and_share_a_search() -> None:
    search = trials(first=[CANDIDATES[4].identity])
    assert search.ask(0)[0].candidate == CANDIDATES[4]
    for _ in range(12):
        (proposal,) = search.ask(0)
        assert proposal.candidate.problem == CANDIDATES[0].problem
        search.tell(proposal.candidate, measured(proposal.candidate), 0.01)
    (other,) = search.ask(1)
    assert other.candidate.problem == CANDIDATES[-1].problem
    assert "elsewhere" in other.why
    assert ORDERS.index(other.candidate.variant.parameters["order"]) <= 1
    assert search.ask(0)[0].expected_improvement > 0
    assert len(search.forecast(1).mean) == len(CANDIDATES) // 2


def test_problems_of_one_label_are_mirrored_apart(tmp_path) -> None:
    one = CANDIDATES[0]
    more = replace(one.problem, correctors=one.problem.correctors + 1)
    both = [one, replace(one, problem=more)]
    path = str(tmp_path / "study.journal")
    unknown = [prediction(None, reason="no model")] * 2
    search = study_search(both, unknown, settings=SETTINGS, mirror_file=MirrorFile(path, "quick"))
    names = [study.study_name for study in search.mirror.studies]
    assert names == [f"quick/{one.problem.label}-midpoint-m{m}-h0.1" for m in (1, 2)]


def test_every_candidate_is_asked_for_once() -> None:
    search = trials()
    found = [proposal.candidate.identity for proposal in search.ask(0, 50)]
    assert sorted(found) == sorted(c.identity for c in CANDIDATES[:18])
    assert search.ask(0) == []
    assert search.finished(0) == "every candidate was measured"
    assert search.finished(1) is None


def test_predictions_order_the_first_and_a_missing_one_is_allowed() -> None:
    predictions = [prediction(time_of(one)) for one in CANDIDATES]
    predictions[0] = prediction(None, reason="cannot say")
    search = trials(predictions=predictions)
    first = search.ask(0, 3)
    wanted = sorted(CANDIDATES[1:18], key=time_of)[:3]
    assert {p.candidate.identity for p in first} == {one.identity for one in wanted}
    assert first[0].posterior == pytest.approx(time_of(wanted[0]))


def test_the_mirror_shows_every_result_and_survives_a_second_run(tmp_path) -> None:
    path = str(tmp_path / "study.journal")
    search = trials(mirror_file=MirrorFile(path, "quick"))
    outcomes = ["ok", "ok", "build-failed", "contended", "ok"]
    for status in outcomes:
        (proposal,) = search.ask(0)
        search.tell(proposal.candidate, measured(proposal.candidate, status), 0.02)
    known = next(c for c in CANDIDATES[:18] if not _mirrored(path, c))
    search.tell(known, measured(known), 0.02)
    search.tell(known, measured(known), 0.01)
    shown = _study(path).trials
    assert [trial.user_attrs["status"] for trial in shown] == [*outcomes, "ok"]
    assert [trial.state.name for trial in shown] == [
        *("COMPLETE", "COMPLETE", "FAIL", "FAIL", "COMPLETE"),
        "COMPLETE",
    ]
    assert shown[0].value == pytest.approx(time_of(_named(shown[0].user_attrs["candidate"])))
    again = trials(mirror_file=MirrorFile(path, "quick"))
    again.tell(known, measured(known), 0.02)
    assert len(_study(path).trials) == 6
    assert again.fault == ""


def test_a_mirror_that_cannot_be_written_does_not_end_the_search(tmp_path) -> None:
    search = trials(mirror_file=MirrorFile(str(tmp_path / "nowhere" / "study.journal")))
    assert "not kept" in search.fault
    assert len(search.ask(0, 4)) == 4
    path = tmp_path / "study.journal"
    search = trials(mirror_file=MirrorFile(str(path)))
    search.ask(0)
    path.unlink()
    path.mkdir()  # as out of reach as a full disk
    for proposal in search.ask(0, 3):
        search.tell(proposal.candidate, measured(proposal.candidate), 0.0)
    assert "not kept" in search.fault
    assert len(search.ask(0, 50)) == 14


def test_a_mirror_that_cannot_be_locked_does_not_end_the_search(tmp_path, monkeypatch) -> None:
    def full(*_names: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    search = trials(mirror_file=MirrorFile(str(tmp_path / "study.journal")))
    monkeypatch.setattr(os, "symlink", full)
    for proposal in search.ask(0, 3):
        search.tell(proposal.candidate, measured(proposal.candidate), 0.0)
    assert "not kept" in search.fault
    assert len(search.ask(0, 50)) == 15


def test_hints_from_elsewhere_order_the_first_candidates_and_leave_all_to_be_measured() -> None:
    hints = [Hint(candidate=one, seconds=5 * time_of(one)) for one in CANDIDATES[:18]]
    search = trials(hints=hints)
    (first,) = search.ask(0)
    assert ORDERS.index(first.candidate.variant.parameters["order"]) <= 1
    assert len(search.ask(0, 50)) == 17


def test_energy_and_memory_are_objectives_as_far_as_they_are_read(tmp_path) -> None:
    settings = Searching(first=3, objectives=("time", "memory", "energy"))
    search = trials(settings=settings, mirror_file=MirrorFile(str(tmp_path / "study.journal")))
    for number in range(8):
        (proposal,) = search.ask(0)
        conditions = {"memory_bytes": 1e6 + number, "energy_j": 0.5} if number != 2 else {}
        search.tell(proposal.candidate, measured(proposal.candidate, **conditions), 0.0)
    states = [trial.state.name for trial in search.mirror.studies[0].trials]
    assert states.count("FAIL") == 1
    assert search.mirror.studies[0].trials[0].values[1:] == [1e6, 0.5]


def test_wrong_identities_are_refused() -> None:
    with pytest.raises(ValueError, match="not among the 36"):
        trials(first=["000000000000"])
    with pytest.raises(ValueError, match="not among the 36"):
        trials(hints=[Hint(candidate=candidate("ijl", 128, 0), seconds=1.0)])


def _study(path: str) -> optuna.Study:
    storage = JournalStorage(JournalFileBackend(path))
    return optuna.load_study(study_name=f"quick/{CANDIDATES[0].problem.label}", storage=storage)


def _mirrored(path: str, one: Candidate) -> bool:
    return any(trial.user_attrs.get("candidate") == one.id for trial in _study(path).trials)


def _named(identity: str) -> Candidate:
    return next(one for one in CANDIDATES if one.id == identity)


def test_parameters_are_categories_of_their_values_texts_first() -> None:
    rows = [(8, "b", True), (16, "none", False), ("none", "a", True), (4, "a", True)]
    domains = optuna_trials.domains(rows, ("tile", "order", "fuse"))
    categories = {name: domain.choices for name, domain in domains.items()}  # type: ignore[attr-defined]
    assert categories == {
        "tile": ("none", 4, 8, 16),
        "order": ("a", "b", "none"),
        "fuse": (False, True),
    }


@pytest.mark.parametrize(
    ("seconds", "others", "values"),
    [
        (None, {"energy": 2.0}, None),
        (0.5, {"energy": 2.0, "bytes": 3.0}, [0.5, 2.0]),
        (0.5, {}, None),
        (0.5, {"energy": math.nan}, None),
    ],
)
def test_a_trial_has_a_value_for_every_objective_or_none(
    seconds: float | None, others: dict[str, float], values: list[float] | None
) -> None:
    assert optuna_trials.objective_values(("time", "energy"), seconds, others) == values


def test_a_finished_trial_is_complete_with_values_and_failed_without() -> None:
    domains = optuna_trials.domains([(1,), (2,)], ("tile",))
    complete = optuna_trials.finished_trial({"tile": 2}, domains, [0.5], number=3)
    assert (complete.state, complete.values, complete.number) == (TrialState.COMPLETE, [0.5], 3)
    assert complete.params == {"tile": 2}
    failed = optuna_trials.finished_trial({"tile": 1}, domains, None)
    assert (failed.state, failed.values) == (TrialState.FAIL, None)


def test_a_study_is_opened_again_only_where_it_has_as_many_objectives(tmp_path) -> None:
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "journal")))
    first = optuna_trials.open_study(("time",), storage=storage, name="s")
    assert [direction.name for direction in first.directions] == ["MINIMIZE"]
    with pytest.raises(optuna.exceptions.DuplicatedStudyError):
        optuna_trials.open_study(("time",), storage=storage, name="s")
    again = optuna_trials.open_study(("time",), storage=storage, name="s", resume=True)
    assert again.study_name == "s"
    with pytest.raises(ValueError, match="study s there has 1 objectives"):
        optuna_trials.open_study(("time", "energy"), storage=storage, name="s", resume=True)
