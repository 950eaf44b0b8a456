"""What a study says about what to run: the winners of evaluate, at each number of threads."""

import dataclasses
import random
from pathlib import Path

import fabricated
import pytest
import stencil_samples
from fabricated import Fate

from autotune.domain.decision_map import Choice as MapChoice
from autotune.domain.decision_map import Contender, DecisionMap, MapCell, Summary
from autotune.domain.parameter_domain import ParameterDomain
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Program, Template
from autotune.domain.readings import TimeReading
from autotune.domain.results import Measurement
from autotune.domain.variant import Build, Candidate, Variant
from autotune.errors import InputError
from autotune.files.store import Store, StoredChoice, StudyOrigin
from autotune.files.store import store_rows as rows
from autotune.results.evaluate.study_evaluation import StudyEvaluation, evaluate
from autotune.results.export.choices import choices, selected
from autotune.results.export.origins import subject


def teams(path: Path, times: dict[tuple[str, int], Fate]) -> StudyEvaluation:
    """A study of one problem: (order, threads) to what becomes of it; None seconds: not chosen."""
    with Store.open(path) as store:
        store.begin_study("teams", StudyOrigin(config="teams", setup_text="-"))
        run = store.begin_run("teams", fabricated.facts())
        members = {k: fabricated.candidate(k[0], threads=k[1]) for k in times}
        store.add_candidates("teams", list(members.values()), baselines=[])
        generator = random.Random(1)
        for place, (key, fate) in enumerate(times.items()):
            if not fate.status:
                continue
            one = members[key]
            choice = StoredChoice(candidate=one.identity, place=place, reason="test")
            store.add_choices(run, [choice])
            fabricated.measure(store, run, one, fate, 3, generator)
        store.end_run(run, timings={})
        return evaluate(store.load_study("teams"))


def test_the_choice_is_the_winner_of_evaluate(result: StudyEvaluation) -> None:
    made = choices(result)
    (section,) = made.sections
    assert (section.key.place.identity, section.key.ranks) == ("abc123", 1)
    assert section.key.subject.name == "heat2d"
    assert [entry.size for entry in section.entries] == [256**2, 2048**2]
    for entry, problem in zip(section.entries, result.problems, strict=True):
        best = problem.best
        assert best is not None
        assert entry.candidate == best.candidate.id
        assert (entry.seconds, entry.interval) == (best.measured, best.interval)
        assert entry.speedup == problem.speedup.value
        assert (entry.verified, entry.error, entry.samples) == (True, 3.1e-16, 9)
        assert entry.origin.compiler == "gcc 12.2.0"
    assert not made.skipped
    assert section.domains["order"] == tuple(sorted(fabricated.ORDERS))


def test_ties_are_those_that_noise_does_not_tell_apart(result: StudyEvaluation) -> None:
    for entry, problem in zip(choices(result).sections[0].entries, result.problems, strict=True):
        rows = {row.candidate.id: row for row in problem.rows}
        assert entry.candidate not in entry.ties
        for tie in entry.ties:
            assert rows[tie].interval[0] <= entry.interval[1]
        apart = [r for r in problem.evaluated if r.interval and r.candidate.id not in entry.ties]
        assert all(
            r.interval[0] > entry.interval[1] for r in apart if r.candidate.id != entry.candidate
        )


def test_each_number_of_threads_has_its_own_winner(tmp_path: Path) -> None:
    result = teams(
        tmp_path / "r.sqlite",
        {
            ("jli", 1): Fate(2.0e-3, None), ("ijl", 1): Fate(3e-3, None),
            ("jli", 2): Fate(1.5e-3, None), ("ijl", 2): Fate(1e-3, None),
            ("jli", 4): Fate(1e-3, None, "crashed", "signal 11"),
            ("jli", 8): Fate(1e-3, None, ""),
        },
    )  # fmt: skip
    made = choices(result)
    found = {e.threads: e.parameters["order"] for e in made.sections[0].entries}
    assert found == {1: "jli", 2: "ijl"}
    assert result.problems[0].best.candidate.layout.threads == 2
    told = {one.threads: one.reason for one in made.skipped}
    assert told == {
        4: "no candidate has a time that compares (1 crashed)",
        8: "none of its candidates was measured",
    }


def test_the_time_of_a_choice_is_the_one_that_tables_show(tmp_path: Path) -> None:
    """The candidates of one thread were not measured again when the machine had become slower."""
    seconds = {("jli", 1): 2.0, ("ijl", 1): 2.4, ("jli", 2): 1.1, ("ijl", 2): 1.0}
    study = teams(
        tmp_path / "r.sqlite", {key: Fate(time * 1e-3, None) for key, time in seconds.items()}
    ).study
    threads = {one.identity: one.layout.threads for one in study.candidates}
    (run,) = study.runs

    def launches(measurement: Measurement) -> Measurement:
        rounds = range(3) if threads[measurement.candidate] == 1 else range(9)
        samples = [
            dataclasses.replace(
                measurement.timed[0],
                seconds=measurement.timed[0].seconds * (1.0 if number < 3 else 1.2),
                launch=number,
                round=number,
                conditions={"stage": "search" if number < 3 else "final"},
            )
            for number in rounds
        ]
        return dataclasses.replace(measurement, samples=tuple(samples))

    slower = dataclasses.replace(run, measurements=tuple(map(launches, run.measurements)))
    again = dataclasses.replace(
        slower,
        id="again",
        measurements=tuple(
            dataclasses.replace(m, run="again")
            for m in slower.measurements
            if threads[m.candidate] == 2
        ),
    )
    _same_times(evaluate(dataclasses.replace(study, runs=(slower,))))
    _same_times(evaluate(dataclasses.replace(study, runs=(slower, again))))


def _same_times(result: StudyEvaluation) -> None:
    (problem,) = result.problems
    shown = {row.candidate.id: row for row in problem.rows}
    entries = {entry.threads: entry for entry in choices(result).sections[0].entries}
    assert set(entries) == {1, 2}
    for entry in entries.values():
        row = shown[entry.candidate]
        assert (entry.seconds, entry.interval) == (row.measured, row.interval)
    if problem.serial is not None:
        assert entries[1].candidate == problem.serial.candidate.id
        assert problem.serial_speedup.value == entries[1].seconds / entries[2].seconds


def test_a_problem_without_a_time_is_told_and_the_others_are_exported(tmp_path: Path) -> None:
    with Store.open(tmp_path / "r.sqlite") as store:
        fabricated.fill(store, sizes=(256,), rounds=3)
        run = store.begin_run("quick", fabricated.facts())
        one = fabricated.candidate("jli", size=512)
        store.add_candidates("quick", [one], baselines=[])
        store.add_choices(run, [StoredChoice(candidate=one.identity, place=0, reason="test")])
        fate = Fate(1e-3, None, "build-failed", "error: no")
        fabricated.measure(store, run, one, fate, 3, random.Random(1))
        store.end_run(run, timings={})
        result = evaluate(store.load_study("quick"))
    made = choices(result)
    assert [entry.problem for entry in made.sections[0].entries] == ["heat2d-N256"]
    (left,) = made.skipped
    assert (left.problem, left.threads) == ("heat2d-N512", None)
    assert "1 build-failed" in left.reason
    with pytest.raises(InputError, match=r"no candidate ran: heat2d-N512.*build-failed"):
        choices(result, "heat2d-N512")


def test_nothing_measured_and_unknown_problems(result: StudyEvaluation) -> None:
    empty = evaluate(dataclasses.replace(result.study, runs=()))
    with pytest.raises(InputError, match="nothing was measured"):
        choices(empty)
    with pytest.raises(InputError, match="did you mean heat2d-N256"):
        choices(result, "heat2d-N265")
    assert choices(result, "heat2d-N256").entries == 1


def test_families_have_their_own_subjects_and_sizes() -> None:
    grid = rows.candidate_record(stencil_samples.candidate(stencil_samples.problem(8, 20, 30)))
    found = subject(grid)
    assert (found.id, found.name, found.family) == ("star3d-r1", "star3d-r1", "stencil")
    assert (found.size, grid.problem.components) == ("n, the number of interior points", 4800)

    program = Program(
        name="matmul",
        title="C = A B",
        source="matmul.yaml",
        source_folder="/",
        sources=(),
        digest="",
        run=(Template("./matmul"), Template("{n}"), Template("{kind}"), Template("{tile}")),
        arguments={"n": 512, "kind": 512},
        parameters={"tile": ParameterDomain(values=(8, 16))},
        baseline={"tile": 8},
        time=TimeReading(wall=True),
        size="n",
    )
    for size in (512, 1024):
        problem = ProgramProblem(program=program, arguments={"n": size, "kind": 512})
        variant = Variant(skeleton="matmul", transformations=(), parameters={"tile": 8})
        record = rows.candidate_record(Candidate(variant=variant, problem=problem))
        found = subject(record)
        assert (found.id, found.name, found.size) == ("matmul kind=512", "matmul", "n")
        assert found.definition == program.definition
        assert record.problem.components == size


def test_the_cells_of_a_decision_map_come_with_their_bounds(result: StudyEvaluation) -> None:
    contender = Contender(
        label="a",
        variant="jli-pad9",
        parameters={"pad": 9},
        build=Build(compiler="gcc", flags=("-O3",)),
    )
    cells, known = [], []
    for size, threads in ((256, 2), (256, 4), (1000, 2), (1000, 4)):
        one = rows.candidate_record(fabricated.candidate("jli", size, 9, threads))
        known.append(one)
        here = MapChoice(contender=0, candidate=one.identity, seconds=1e-3, loss=0.01, bound=0.04)
        cells.append(
            MapCell(
                size=size, n=size**2, threads=threads, problem=f"heat2d-N{size}", winner=here,
                probability=0.9, second=None, merged=here, measured={}, failed={},
            )
        )  # fmt: skip
    nothing = Summary(mean=0.0, mean_bound=0.0, max_bound=0.0)
    made = DecisionMap(
        label="heat2d", title="", size_name="N", engine="reuse", level=0.95, tolerance=0.05,
        contenders=(contender,), left_out=0, sizes=(256, 1000), threads=(2, 4), cells=tuple(cells),
        whole=nothing, merged=nothing, price=(0.0, 0.0), evaluations=4, pairs=4, stopped="",
    )  # fmt: skip
    study = dataclasses.replace(result.study, maps=(made,))
    with_map = dataclasses.replace(result, study=study)
    (section,) = choices(with_map, candidates=known).sections
    found = {(e.size, e.threads): (e.source, e.loss_bound) for e in section.entries}
    assert found == {
        (256**2, 2): ("map", 0.04),
        (256**2, 4): ("map", 0.04),
        (1000**2, 2): ("map", 0.04),
        (1000**2, 4): ("map", 0.04),
        (2048**2, 2): ("measured", None),
    }
    assert section.entries[0].candidate == known[0].id
    assert section.domains["pad"] == (0, 5, 9)
    charted = choices(with_map, "heat2d-N1000", known).sections[0].entries
    assert [entry.threads for entry in charted] == [2, 4]
    alone = dataclasses.replace(with_map, problems=())
    assert choices(alone, candidates=known).entries == 4
    with pytest.raises(InputError, match="a decision map only"):
        selected(alone)


def test_the_store_knows_candidates_of_no_study(filled: Path) -> None:
    with Store.open(filled) as store:
        found = store.candidates([fabricated.candidate("jli", 256, 5).identity, "unknown"])
    assert [one.label for one in found] == ["jli-pad5@heat2d-N256-T2"]


def test_the_next_fastest_are_alternatives(tmp_path: Path) -> None:
    times = {("jli", 1): 1.0, ("lji", 1): 1.2, ("ilj", 1): 1.4, ("lij", 1): 1.7, ("jli", 2): 0.6}
    fates = {key: Fate(seconds, None) for key, seconds in times.items()}
    result = teams(tmp_path / "s.sqlite", fates)
    (section,) = choices(result, top=3).sections
    assert [entry.parameters["order"] for entry in section.alternatives] == ["lji", "ilj"]
    assert {entry.threads for entry in section.alternatives} == {1}
    assert len(choices(result, top=2).sections[0].alternatives) == 1
    assert choices(result).sections[0].alternatives == ()
