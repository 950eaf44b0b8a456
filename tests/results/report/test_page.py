"""The page: its structure, escaping, self-containment; studies without a result; the text table."""

import dataclasses
import re
from html.parser import HTMLParser

import fabricated as fake
import pytest

from autotune.domain.results import Prepared
from autotune.domain.variant import ExecutionLayout
from autotune.errors import InputError
from autotune.files.store import Store, StudyOrigin
from autotune.results.documents import study_document
from autotune.results.evaluate.study_evaluation import evaluate
from autotune.results.report import (
    figure_records,
    number_words,
    study_page,
    study_table,
    winner_decision,
    words,
)

VOID = {"meta", "link", "br", "path", "use", "rect", "img"}
EVIL = "<script>alert('&')</script>"


class Page(HTMLParser):
    """Elements, ids, links and text of a page; unbalanced elements raise."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.references: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "xlink:href", "action", "data"):
                self.references.append((tag, value))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("store") / "x.sqlite") as store:
        fake.fill(store)
        return store.load_study("quick")


@pytest.fixture(scope="module")
def text(study):
    return study_page.render(evaluate(study))


def test_structure(text, study):
    found = Page(text)
    assert found.tags.count("h1") == 1
    # the study had one objective: no front is drawn; the pattern of hatched parts is a drawing too
    assert found.tags.count("svg") == 8 + 8 + 1 + 1
    assert "Pareto" not in found.text
    assert len(found.ids) == len(set(found.ids))
    for problem in evaluate(study).problems:
        assert problem.best.candidate.id in found.text
        for row in problem.rows:
            assert f"row-{row.candidate.identity}" in found.ids
    for phrase in ("speed-up over the baseline", "oise floor", "OMP_NUM_THREADS=2",
                   "How sure", "What to do", "build line", "1a2b3c", "schema: autotune.config/1",
                   "ended after 60 s", "x slower than"):  # fmt: skip
        assert phrase in found.text


def test_it_says_between_which_candidates_it_is_undecided(study):
    evaluation = evaluate(study)
    problem = evaluation.problems[0]
    close = tuple(row for row in problem.evaluated if row.compared)[:2]
    for contenders in (close, (problem.best,)):
        result = dataclasses.replace(problem, contenders=contenders)
        text = Page(study_page.render(dataclasses.replace(evaluation, problems=(result,)))).text
        sentence = words.undecided(result)
        assert sentence.startswith("undecided between ") == (len(contenders) > 1)
        assert sentence[1:] in text
        assert ("ndecided between" in text) == (len(contenders) > 1)


def test_self_contained(text):
    found = Page(text)
    assert found.tags.count("script") == 1
    for tag, target in found.references:
        assert target.startswith("#") or (tag, target) == ("link", "data:,")
        assert not target.startswith("#") or target[1:] in found.ids
    assert not re.search(r"@import|url\((?!#)", text)


def test_every_figure_says_what_it_shows(text):
    assert text.count('<svg class="plot"') == len(
        re.findall(r'role="img" aria-label="[^"]+"', text)
    )


def test_points_of_figures_lead_to_rows(text):
    found = Page(text)
    points = {target[1:] for tag, target in found.references if target.startswith("#row-")}
    assert points
    assert points <= set(found.ids)


def test_a_loop_has_one_colour_on_the_whole_page(text):
    """In legends and beside its name in tables, of all problems."""
    paints = {}
    for paint, name in re.findall(r'<i class="key bar (p\d)"[^>]*></i>([a-z_+]+)<', text):
        paints.setdefault(name, set()).add(paint)
    assert len(paints) >= 4
    assert all(len(kinds) == 1 for kinds in paints.values())
    assert len({paint for kinds in paints.values() for paint in kinds}) == len(paints)


def test_the_picture_of_core_and_levels_adds_up(study):
    """The parts of the figure are those of the stored prediction."""
    for problem in evaluate(study).problems:
        for times in figure_records.loop_times(problem):
            row = problem.best if times.shown.role == "winner" else problem.baseline
            parts = [p for p in row.prediction.parts if figure_records.loop(p) == times.loop]
            assert times.core == pytest.approx(sum(p.seconds for p in parts if p.kind == "T_OL"))
            assert [kind for kind, _ in times.rest] == ["L2", "MEM"]
            assert dict(times.rest)["MEM"] == pytest.approx(
                sum(p.seconds for p in parts if p.kind == "MEM")
            )


@pytest.mark.parametrize(
    ("rivals", "gain", "state", "verdict"),
    [
        (1, (1.2, 1.4), "decided", "{} wins"),
        (3, (1.2, 1.4), "decided", "Use {}; 2 others may be as good"),
        (2, (1.2, 1.4), "decided", "Use {}; 1 other may be as good"),
        (3, (0.9, 1.4), "open", "No decision between {} and 2 others"),
        (3, None, "open", "No decision between {} and 2 others"),
        (1, (0.9, 1.4), "open", "No decision: {} is not surely better than the baseline"),
    ],
)
def test_the_decision_says_what_to_use_and_how_sure_that_is(study, rivals, gain, state, verdict):
    problem = evaluate(study).problems[0]
    compared = tuple(row for row in problem.evaluated if row.compared)
    speedup = gain and dataclasses.replace(problem.speedup, interval=gain, value=1.3)
    result = dataclasses.replace(
        problem, speedup=speedup, contenders=compared[:rivals], noise_floor=None
    )
    decision = winner_decision.decision(result, "quickstart", "problem-1")
    name = words.name(result.best.candidate, result)
    assert (decision.state, decision.verdict) == (state, verdict.format(name))
    assert {line.words for line in decision.lines} >= {"build line", "run with"}


def test_a_baseline_among_those_that_may_be_the_fastest_is_kept(study):
    problem = evaluate(study).problems[0]
    compared = tuple(row for row in problem.evaluated if row.compared)[:3]
    kept = dataclasses.replace(problem, best=problem.baseline, contenders=compared)
    decision = winner_decision.decision(kept, "quickstart", "problem-1")
    assert decision.state == "open"
    assert decision.verdict.startswith("No gain shown: keep the baseline, ")
    assert decision.verdict.endswith("; 2 others may be as good")


def test_a_clock_that_changed_is_told_by_text_page_and_document(study):
    """Once each, beside the figures that it explains."""
    warning = "the clock is 3.77 GHz now, 4.12 GHz when the host was calibrated"
    conditions = {**study.runs[-1].conditions, "clock_ratio": 0.916, "warning": warning}
    run = dataclasses.replace(study.runs[-1], conditions=conditions)
    result = evaluate(dataclasses.replace(study, runs=(*study.runs[:-1], run)))
    assert study_table.study(result).count(f"warning: {warning}") == 1
    assert f'<p class="quiet">{warning}</p>' in study_page.render(result)
    document = study_document.study(result, "autotune.tune/1", "x.sqlite")
    assert (document.clock_ratio, document.warning) == (0.916, warning)
    same = study_document.study(evaluate(study), "autotune.tune/1", "x.sqlite")
    assert (same.clock_ratio, same.warning) == (None, None)


def with_predictions(study, ratio, **conditions):
    """The study with every measured candidate predicted at ``ratio`` times what it took."""
    times = {row.candidate.identity: row.measured for row in evaluate(study).problems[0].rows}
    predictions = tuple(
        dataclasses.replace(
            stored,
            prediction=dataclasses.replace(
                stored.prediction, seconds=ratio * times[stored.candidate], interval=None
            ),
        )
        for stored in study.predictions
        if times.get(stored.candidate)
    )
    run = dataclasses.replace(
        study.runs[-1], conditions={**study.runs[-1].conditions, **conditions}
    )
    return evaluate(
        dataclasses.replace(study, predictions=predictions, runs=(*study.runs[:-1], run))
    )


def test_times_that_speak_against_the_check_of_the_host_are_told_instead(study):
    """Text, page and document say by how much predictions miss, and explain it by no clock."""
    warning = "when the study began, the clock was 2.11 GHz: what is bound by the core would take"
    result = with_predictions(study, 1.6, clock_ratio=0.74, warning=warning)
    common = "All predictions are too slow by a factor of about 1.6 (median); their order may"
    text, document = study_table.study(result), study_document.study(result, "autotune.tune/1", "x")
    page = Page(study_page.render(result)).text
    for shown in (text, page):
        assert common in shown
        assert "a short check found the clock at 0.74 of the calibrated value" in shown
    assert warning not in text
    assert document.warning in text
    assert document.problems[0].common_deviation.ratio == pytest.approx(1.6)


def test_predictions_that_are_near_or_in_a_useless_order_are_told_so(study):
    assert "predictions are too" not in study_table.study(with_predictions(study, 1.1))
    problem = with_predictions(study, 0.5).problems[0]
    useless = dataclasses.replace(problem, rank_correlation=0.1)
    assert words.common_deviation(useless) == (
        "all predictions are too fast by a factor of about 2.0 (median); their order is of little"
        " use (Kendall's tau-b 0.10)"
    )
    unknown = dataclasses.replace(problem, rank_correlation=None)
    assert words.common_deviation(unknown).endswith("about 2.0 (median)")


def test_the_same_study_gives_the_same_page(text, study):
    assert study_page.render(evaluate(study)) == text


def test_everything_is_escaped(study):
    evil_candidates = tuple(
        dataclasses.replace(
            c,
            label=EVIL,
            variant=f"$x_1$ {EVIL}",
            parameters={EVIL: EVIL},
            build=dataclasses.replace(c.build, flags=(EVIL,)),
            problem=dataclasses.replace(c.problem, label=EVIL, title=EVIL),
        )
        for c in study.candidates
    )
    evil_runs = tuple(
        dataclasses.replace(
            run,
            versions={EVIL: EVIL},
            conditions={EVIL: EVIL},
            machine=dataclasses.replace(run.machine, title=EVIL),
            measurements=tuple(dataclasses.replace(m, detail=EVIL) for m in run.measurements),
        )
        for run in study.runs
    )
    evil = dataclasses.replace(
        study, name=EVIL, setup_text=EVIL, candidates=evil_candidates, runs=evil_runs
    )
    text = study_page.render(evaluate(evil))
    assert text.count("<script") == 1
    found = Page(text)
    assert found.tags.count("script") == 1
    assert EVIL in found.text


def empty(tmp_path, *, failed: bool, candidates: bool = True, run: bool = True):
    with Store.open(tmp_path / "x.sqlite") as store:
        store.begin_study("empty", StudyOrigin(config="quickstart", setup_text=""))
        one = fake.candidate()
        if candidates:
            store.add_candidates("empty", [one], baselines=[one.identity])
        if run:
            number = store.begin_run("empty", fake.facts(calibrated=False))
        if failed:
            store.add_prepared(
                number, Prepared(candidate=one, status="build-failed", detail="no x")
            )
        return evaluate(store.load_study("empty"))


def test_only_failures(tmp_path):
    result = empty(tmp_path, failed=True)
    found = Page(study_page.render(result))
    assert "no winner" in found.text
    assert "no x" in found.text
    assert "Not calibrated" not in found.text, "nothing was predicted, so nothing rests on it"
    assert "The machine as documented" in found.text
    assert "none of 1 tried candidates succeeded" in study_table.study(result)
    assert "build failed: no x" in study_table.study(result)


@pytest.mark.parametrize("run", [True, False])
@pytest.mark.parametrize("candidates", [True, False])
def test_nothing_measured(tmp_path, candidates, run):
    result = empty(tmp_path, failed=False, candidates=candidates, run=run)
    found = Page(study_page.render(result))
    assert ("Nothing was measured" if candidates else "no result") in found.text
    assert study_table.study(result)


def test_write_replaces_the_page_as_a_whole(tmp_path):
    target = tmp_path / "deep" / "report.html"
    for failed in (True, False):
        folder = tmp_path / str(failed)
        folder.mkdir()
        result = empty(folder, failed=failed)
        assert study_page.write(result, target) == target
        assert target.read_text(encoding="utf-8") == study_page.render(result)
    assert [p.name for p in target.parent.iterdir()] == ["report.html"]


def test_a_page_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as caught:
        study_page.write(empty(tmp_path, failed=False), tmp_path / "file" / "x.html")
    assert "cannot be written" in str(caught.value)


def test_text_table(study):
    result = evaluate(study)
    shown = study_table.study(result, store="results.sqlite")
    lines = shown.splitlines()
    best = result.problems[0].best
    assert lines[0] == "heat2d-N256: time per step of 10 of 12 candidates"
    assert lines[2].startswith("*")
    assert best.candidate.label in lines[2]
    assert best.candidate.identity not in shown
    assert best.candidate.identity in study_table.study(result, ids=True)
    for phrase in ("deviation", "status", "Speed-up over the baseline", "noise floor",
                  "build failed: sweep.c:12:3: error", "results.sqlite"):  # fmt: skip
        assert phrase in shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "-"), (0.0, "0 s"), (1.0, "1.000 s"), (1.234567e-3, "1.235 ms"), (3e-10, "0.3000 ns"),
     (123456.0, "1.235e+05 s"), (0.9999999, "1000. ms")],
)  # fmt: skip
def test_seconds(value, shown):
    assert number_words.seconds(value) == shown.replace(". ", " ")


def test_spans():
    assert number_words.span(None) == "-"
    assert number_words.span((0.0999, 0.1234)) == "99.9 to 123 ms"
    assert number_words.signed(-0.0312) == "-3.1 %"
    assert number_words.percent(0.5) == "50.0 %"


def test_candidates_of_several_layouts_are_told_apart(study):
    """Two ranks beside two threads: names, compile line and command line say so."""
    first, *rest = study.candidates
    layout = ExecutionLayout(ranks=4, nodes=2, communication="neighbour")
    ranks = dataclasses.replace(first, layout=layout)
    assert layout.words == "4 ranks x 1 thread on 2 nodes, neighbour"
    mixed = evaluate(dataclasses.replace(study, candidates=(ranks, *rest)))
    text = Page(study_page.render(mixed)).text
    assert f"{ranks.variant}, 4 ranks x 1 thread on 2 nodes, neighbour" in text
    row = next(r for r in mixed.problems[0].rows if r.candidate.layout.ranks == 4)
    use = winner_decision.use(row, "study")
    assert use.build.startswith(f"OMPI_CC={ranks.build.compiler}")
    assert use.environment == "OMP_NUM_THREADS=1 mpiexec -n 4"
    alike = evaluate(study).problems[0]
    assert words.name(alike.rows[0].candidate, alike) == alike.rows[0].candidate.variant
