"""A program of a user's through everything: ranked, tuned, stored, reported, exported."""

import re
from dataclasses import asdict
from pathlib import Path

import own_programs as own
import pytest

from autotune.commands.export import flow as export_flow
from autotune.commands.rank.command import RankOptions, rank
from autotune.commands.rank.ranked_space import load, rank_space
from autotune.commands.tune import flow as tune_flow
from autotune.errors import InputError
from autotune.files.store import Store
from autotune.workloads.program import program_words as words

MODEL = "model: {formula: 1e-5 * block}\n"


def tuned(path: Path, store: Path, **options: bool | str) -> tune_flow.TunedStudy:
    chosen = tune_flow.StudyOptions(**options)
    return tune_flow.tune(load(path), chosen, str(store), own.quiet)


def test_rank_tune_verify_store_report_export(tmp_path: Path):
    path = own.put(tmp_path, own.PROGRAM + MODEL)
    (ranking,) = rank_space(load(path), own.quiet).rankings
    order = [entry.candidate.variant.parameters["block"] for entry in ranking.entries]
    assert order == [1, 2, 4, 8]
    assert ranking.entries[0].prediction.seconds == pytest.approx(1e-5)

    store = tmp_path / "store.sqlite"
    (problem,) = tuned(path, store).evaluation.problems
    rows = {row.candidate.parameters["block"]: row for row in problem.evaluated}
    assert rows[1].status == rows[8].status == "ok"
    assert rows[1].measured == pytest.approx(1e-5)
    assert problem.best is not None
    assert problem.best.candidate.parameters["block"] == 1
    # the answer was compared with that of the baseline
    with Store.open(store) as kept:
        (run,) = kept.load_study("study").runs
    assert {made.error for made in run.builds} == {0.0}

    page = tune_flow.write_report(tune_flow.study("study", str(store)), tmp_path / "report.html")
    assert "tiny-n500" in page.read_text(encoding="utf-8")
    wanted = export_flow.ExportRequest(study="study", format="header", output=tmp_path / "choice.h")
    made = export_flow.export(wanted, str(store), own.quiet)
    assert re.search(r"\b500\b", made.file.read_text(encoding="utf-8"))


def test_a_prior_finds_what_the_predictions_have_last(tmp_path: Path):
    """The model orders the blocks backwards; a study of another size knows better."""
    backwards = own.PROGRAM + "model: {formula: 8e-5 / block}\n"
    store = tmp_path / "store.sqlite"
    tuned(own.put(tmp_path, backwards), store, exhaustive=True)
    few = own.CONFIG.replace("n: 500", "n: 700") + "selection: {top: 2, random: 0}\n"
    path = own.put(tmp_path, backwards, few + "search: {budget: 3}\n")
    (problem,) = tuned(path, store, prior="study").evaluation.problems
    assert problem.best is not None
    assert problem.best.candidate.parameters["block"] == 1
    with Store.open(store) as kept:
        (run,) = kept.load_study("study-2").runs
    assert run.conditions["prior"].startswith(
        "prior: study study, a model of its 4 candidates, orders 4 of 4 here; of 3 pairs"
    )
    assert "place 1 of 4 by the prior" in {choice.reason for choice in run.choices}


def test_without_a_model_nothing_is_ranked_and_all_is_tuned(tmp_path: Path):
    path = own.put(tmp_path)
    found = rank_space(load(path), own.quiet)
    assert {entry.rank for entry in found.rankings[0].entries} == {None}
    program = found.setup.subject
    assert program is not None
    told = words.unranked(program, found.rankings, found.machine)
    assert "4 candidates" in told
    assert "has no model" in told
    for name, why in (
        ("none such", "unknown 'none such'"),
        (found.rankings[0].entries[0].candidate.id, "no prediction"),
    ):
        options = asdict(RankOptions(config=path, why=name))
        with pytest.raises(InputError, match=why):
            rank(**options, **options["results"])
    (problem,) = tuned(path, tmp_path / "store.sqlite").evaluation.problems
    assert problem.best is not None
    assert problem.best.candidate.parameters["block"] == 1


def test_an_edited_source_is_built_and_measured_again(tmp_path: Path):
    path = own.put(tmp_path)
    _, measurer, named = own.opened(path)
    first = measurer.prepare(named["8"])
    assert first.status == "ok"
    (tmp_path / "tiny.c").write_text(own.TINY.replace("1e-5", "2e-5"), encoding="utf-8")
    assert "have changed since they were read" in measurer.prepare(named["4"]).detail
    _, again, renamed = own.opened(path)
    second = again.prepare(renamed["8"])
    assert second.status == "ok"
    assert second.build != first.build
    assert renamed["8"].identity != named["8"].identity
    # another name of the same thing is the same build
    moved = own.put(tmp_path / "elsewhere", sources={"tiny.c": (tmp_path / "tiny.c").read_text()})
    _, third, there = own.opened(moved)
    assert third.prepare(there["8"]).build == second.build


def test_verified_at_other_arguments_than_timed(tmp_path: Path):
    path = own.put(tmp_path, own.PROGRAM + "verify: {n: 30}\n")
    _, measurer, named = own.opened(path)
    prepared = measurer.prepare(named["2"])
    assert prepared.status == "ok"
    assert prepared.error == 0
    launch = measurer.launch(
        prepared, round_number=0, launch=0, expected=None, on_sample=lambda sample: None
    )
    assert launch.status == "ok"
    assert launch.checksum == pytest.approx((124750.0, 100 * 124750.0))  # of n = 500, to 1e-9


def test_make_is_a_build_tool(tmp_path: Path):
    import shutil

    if shutil.which("make") is None:
        pytest.skip("optional: make is not installed")
    makefile = "$(OUT): tiny.c\n\tcc -DBLOCK=$(BLOCK) $(VPATH)/tiny.c -o $@\n"
    build = (
        '["make", "-f", "{source folder}/Makefile", "VPATH={source folder}", "OUT={output}",'
        ' "BLOCK={block}"]'
    )
    program = re.sub("build: .*", lambda _: f"build: {build}", own.PROGRAM).replace(
        "sources: [tiny.c]", "sources: [tiny.c, Makefile]"
    )
    settings = re.sub("builds: .*\n", "", own.CONFIG)
    path = own.put(tmp_path, program, settings, {"tiny.c": own.TINY, "Makefile": makefile})
    _, measurer, named = own.opened(path)
    assert measurer.prepare(named["4"]).status == "ok"
