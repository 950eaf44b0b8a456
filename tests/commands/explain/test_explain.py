"""Every word and every message with which autotune stops has an explanation."""

import ast
import dataclasses
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import fabricated
import pytest
from typer.testing import CliRunner

import autotune
from autotune import paths
from autotune.commands.app import app
from autotune.commands.explain.explanations import (
    GlossaryWord,
    MessageKind,
    glossary,
    meaning,
    message_kind,
    message_kinds,
    sentence_word,
)
from autotune.commands.machine import calibration_text
from autotune.domain.calibration import CONSTANTS, Constant
from autotune.domain.candidate_names import named
from autotune.domain.results import STATUSES
from autotune.domain.variant import EXCHANGES, PLACEMENTS, ExecutionLayout, case_label
from autotune.errors import InputError
from autotune.files import config
from autotune.files.store import Store
from autotune.results.evaluate.study_evaluation import SEARCHED, evaluate
from autotune.results.report import study_table, winner_decision
from autotune.results.report.words import STATUS_WORDS

PACKAGE = Path(autotune.__file__).parent
EXPECTED = "; expected "
"""What an explanation by its form alone needs: the kind "exit code 2" fits it."""


def templates() -> Iterator[str]:
    """The texts of all faults and failures in the source; what is filled in is ``x``."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "Fault(" not in text and "WorkFailed(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id == "Fault":
                    keys = {k.arg: _text(k.value) for k in node.keywords}
                    if found := keys.get("found"):
                        hint = f" ({keys['hint']})" if keys.get("hint") else ""
                        expected = f"{EXPECTED}{keys['expected']}" if keys.get("expected") else ""
                        yield found + expected + hint
                elif node.func.id == "WorkFailed" and node.args and _text(node.args[0]):
                    yield f"failed: {_text(node.args[0])}"


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) for part in node.values)
    return "x" if isinstance(node, ast.FormattedValue) else ""


def test_the_glossary_has_many_words_each_once_with_related_ones() -> None:
    words = glossary()
    assert len(words) >= 60
    spellings = list(itertools.chain.from_iterable(word.spellings for word in words))
    assert len(spellings) == len(set(spellings))
    names = {word.name for word in words}
    assert not {other for word in words for other in word.see} - names
    for word in ("ECM", "T_OL", "T_nOL", "noise floor", "skill", "loss", "deviation", "undecided",
                 "contended", "residual", "layer condition", "saturation"):  # fmt: skip
        assert isinstance(meaning(word), GlossaryWord)


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_has_a_word(status: str) -> None:
    assert isinstance(meaning(status), GlossaryWord)
    assert meaning(status) is meaning(STATUS_WORDS[status])


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("across", "store across lines"),
        ("crossing_stores", "store across lines"),
        ("UP, 81 % of the step: stores across lines take 40 % of it", "store across lines"),
        ("library_call", "library call"),
        ("calls exp: priced as measured, with other arguments +- 20 %", "library call"),
        ("calls log: priced by common figures, +- 50 %", "library call"),
    ],
)
def test_parts_and_notes_of_a_prediction_have_words(query: str, word: str) -> None:
    assert meaning(query).name == word


def parts_of_names() -> Iterator[str]:
    """The parameters of the spaces that come along, the parts of names that their values make, and
    those of layouts.
    """
    for space in (config.generated(name).space for name in paths.names("variants/space")):
        for parameter, values in space.parameters.items():
            yield parameter
            yield from (named({parameter: value}) for value in values)
    for way in EXCHANGES:
        layout = ExecutionLayout(ranks=4, nodes=2, threads=2, communication=way)
        yield from case_label(fabricated.problem(), layout).split("-")[1:]
    yield from PLACEMENTS


@pytest.mark.parametrize("part", sorted(set(parts_of_names())))
def test_every_part_of_a_name_of_a_candidate_has_a_word(part: str) -> None:
    assert isinstance(meaning(part), GlossaryWord)


def test_a_part_of_a_name_says_what_the_parameter_does() -> None:
    words = {part: meaning(part).name for part in ("align8", "lines1", "t4", "T4", "jil", "bj32")}
    assert words == {
        "align8": "aligned loops",
        "lines1": "whole lines",
        "t4": "sweeps of one pass",
        "T4": "threads",
        "jil": "loop order",
        "bj32": "block",
    }
    assert meaning("jli-au-block1024-reg@heat2d-N256-T2").name == "name"


@pytest.mark.parametrize("constant", CONSTANTS)
def test_every_constant_of_a_calibration_has_a_word_by_name_and_as_it_is_printed(
    constant: str,
) -> None:
    value = Constant(value=2.0, low=1.0, high=3.0, unit="cy", source="x", samples=4)
    word = meaning(constant)
    assert isinstance(word, GlossaryWord)
    for name in (constant, f"{constant}.L3", f"{constant}.64@2", f"{constant}@2"):
        assert meaning(name) is word
        calibration = dataclasses.replace(fabricated.calibration(), constants={name: value})
        (line,) = calibration_text.constants(calibration)
        assert meaning(line) is word


def test_every_message_of_the_source_has_a_kind() -> None:
    texts = sorted({text for text in templates() if re.search("[a-z]{2}", text)})
    assert len(texts) > 200
    unexplained = [text for text in texts if message_kind(text) is None]
    assert not unexplained


def test_patterns_compile_and_every_kind_says_what_helps() -> None:
    names = [kind.name for kind in message_kinds()]
    assert len(names) == len(set(names))
    for kind in message_kinds():
        re.compile(kind.pattern)
        assert kind.means.endswith(".")
        assert kind.advice.endswith(".")


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("failed: no candidate ran: build-failed, crashed", "no candidate ran"),
        ("error: candidate: unknown 'jl'; expected an id (did you mean jli?)", "an unknown name"),
        ("error: --store: has schema 3; expected schema 4", "the store cannot be used"),
        ("error: the compiler 'icc' is not installed", "a program is not installed"),
        ("error: a.yaml:3:5: the number 0; expected at least 1", "a wrong value"),
        ("error: 'jli' names 3 candidates", "a name of several candidates"),
        ("interrupted", "interrupted"),
        ("130", "exit code 130"),
        ("failed: nothing was measured: the budget is too short", "nothing was measured"),
    ],
)
def test_a_pasted_message_finds_its_kind(message: str, kind: str) -> None:
    found = meaning(message)
    assert isinstance(found, MessageKind)
    assert found.name == kind


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("is not a unit of time", "a wrong unit"),
        ("error: a.yaml:7:3: text 'min' is not a unit of time", "a wrong unit"),
        ("error: budget: the number 3 without a unit; expected a time", "a wrong unit"),
        ("a.yaml:3:4: the grid is crooked", "a mistake in a file"),
    ],
)
def test_faults_of_a_config_have_kinds(message: str, kind: str) -> None:
    assert meaning(message).name == kind


@pytest.mark.parametrize(
    "sentence", ["the time that it takes to measure memory", "builds of compilers and candidates"]
)
def test_a_sentence_that_only_shares_words_with_a_kind_is_refused(sentence: str) -> None:
    with pytest.raises(InputError, match="no word or message"):
        meaning(sentence)


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("It is undecided between O3@mm-T1, O2@mm-T1 (within 8.3 %)", "undecided"),
        ("187 of 196 samples disturbed", "noisy"),
        ("predicted place 3 of 112, not told apart from the first", "undecided"),
        ("drawn at random from the other 106", "search"),
        ("step 1: doubted surface, expected improvement 6.5 %", "doubted surface"),
        ("doubted surface", "doubted surface"),
        ("predictions order wrongly", "predictions order wrongly"),
        ("p: the predictions order wrongly: 4 of them are left", "predictions order wrongly"),
        ("no check value", "check value"),
        ("no check value: nothing printed looks like an answer", "check value"),
        ("  b8-T1  18.99 ms  -  5  doubted surface, expected improvement 6 %", "doubted surface"),
        ("own overhead 9.8 s", "own overhead"),
        (
            "Noise floor 0 %: both halves of the rounds choose the same candidate; the candidates"
            " that may be the fastest lie within 6.6 %.",
            "noise floor",
        ),
        ("Caution: the speed-up is not above the noise floor (2 %): a choice by", "speed-up"),
        ("~ not told apart from the first: 3 of the others", "undecided"),
        ("heat2d-N256: 112 candidates on host, time per step predicted", "candidate"),
        ("No decision between jli and 2 others", "undecided"),
        ("Use jli; 2 others may be as good", "undecided"),
        ("  With one thread a-T1 is the best of 3 measured: 12 ms; the winner", "threads"),
        ("No gain shown: keep the baseline, jli; 1 other may be as good", "undecided"),
        ("chunk = 16384 is the largest of its values: values beyond may be", "parameter"),
        ("Keep the baseline, jli", "baseline"),
        ("samples  120 in 10 rounds, 30 % disturbed", "noisy"),
        ("  Undecided between jli and jil.", "undecided"),
        ("over all 2 problems: cost over the best of each problem, mean", "problem"),
        ("  - instead of an interval: launched too few times for one", "interval"),
        ("wall time 12.0 s: predict 1.0 s, measure 9.0 s, own overhead 2.0 s", "study"),
        ("regression: slower by more than 3 % in 1 problem of 1", "slowdown"),
        ("no regression of more than 3 % is provable", "slowdown"),
        ("  slower by +45.8 % (+22 % to +73 %) in 5 rounds: more than 3 % is proven", "slowdown"),
        ("  a slowdown of 28.5 % would have been proven (in 4 of 5 cases)", "slowdown"),
        ("nothing was compared: the check proves nothing", "not compared"),
        ("  both are one program: nothing that it is built of changed", "not compared"),
    ],
)
def test_sentences_of_results_are_about_a_word(sentence: str, word: str) -> None:
    assert meaning(sentence).name == word


@pytest.mark.parametrize(
    ("printed_word", "word"),
    [
        ("work in core", "in-core time"),
        ("not told apart", "undecided"),
        ("Told apart: 99.9 % sure that jil is the slower one.", "undecided"),
        ("Not told apart by the prediction: 60 % sure that jil is the slower one.", "undecided"),
        ("RHS, 20 %: work in core (port 5) takes 70 % of it", "in-core time"),
        ("work in core (vector operations) takes", "vector operations"),
        ("window", "window"),
        ("front end", "front end"),
        ("RHS", "RHS"),
        ("LC", "LC"),
        ("APPROX", "APPROX"),
        ("UPDATE", "APPROX"),
        ("rows", "row"),
        ("entry", "entry"),
        ("data port", "data port"),
        ("port 7 8", "data port"),
        ("bound by", "bottleneck"),
        ("osaca:SPR (nearest)", "OSACA"),
        ("port 0DV", "data port"),
        ("port 2D 3D", "data port"),
        ("spread", "spread"),
        ("bandwidth curve", "bandwidth"),
        ("inbound", "bandwidth"),
        ("overlap levels", "overlap"),
        ("furthest off: T_OL is predicted 42 % too slow (1.25 for 0.882 cy)", "probe"),
        ("transfer", "transfer"),
        ("probe", "probe"),
        ("phases", "phase"),
        ("in the real time step (its measured time, shared out", "phase"),
        ("predicted", "predicted"),
        ("measured", "measured"),
        ("chosen as", "chosen as"),
        ("reason", "reason"),
        ("illegal ones", "illegal"),
        ("L3", "L1"),
        ("L2 loads", "probe"),
        ("the baseline", "baseline"),
        ("engine reuse: in-core by osaca:SPR (nearest)", "OSACA"),
        ("2 line-crossing vector loads a line", "cache line"),
        (
            "Interval 1.86 ms to 7.22 ms: unsure of how much of the caches is ours (+- 45 %)",
            "interval",
        ),
        (
            "host was calibrated while other processes ran, so that intervals are wider",
            "calibration",
        ),
        ("warning: the clock is 3.77 GHz now, 4.12 GHz when the host was calibrated", "clock"),
        (
            "when the study began, the clock was 3.77 GHz, 4.12 GHz when the host was calibrated",
            "clock",
        ),
        ("verified   deviation 3.9e-16 from the reference", "verification"),
        ("samples    15, of which 0 were disturbed", "noisy"),
        ("note: loops that call functions are not modelled well", "note"),
    ],
)
def test_words_of_reasons_and_dissections_are_explained(printed_word: str, word: str) -> None:
    assert meaning(printed_word).name == word


def headings() -> Iterator[str]:
    """The headings of tables of studies, rankings, comparisons and the live view, as the sources
    name them.
    """
    places = {
        "results/report/study_table.py": "_HEAD",
        "results/comparison/side_words.py": "HEAD",
        "commands/rank/text.py": "_HEAD",
        "commands/live.py": "_COLUMNS",
    }
    for file, name in places.items():
        for node in ast.parse((PACKAGE / file).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                value = node.value
                cells = value.keys if isinstance(value, ast.Dict) else value.elts  # type: ignore[attr-defined]
                yield from (cell.value for cell in cells if isinstance(cell, ast.Constant))
    yield from ("sweeps", "part", "this", "other", "this - other", "rows", "difference")


def test_headings_of_tables_have_words() -> None:
    named = sorted({heading for heading in headings() if heading})
    assert {"chosen as", "predicted", "noisy", "reason", "over its baseline"} <= set(named)
    assert all(isinstance(meaning(heading), GlossaryWord) for heading in named)


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("~", "undecided"),
        ("*", "winner"),
        ("so far", "so far"),
        ("clearly slower", "contender"),
        ("1.36 times the best", "contender"),
        ("A over B 1.0003, 99 % interval [0.99, 1.01] holds 1, as it should", "A over B"),
        ("The 4 rounds of a/b.yaml tell apart what differs by 2 %; close", "A over B"),
        ("top 1", "loss"),
        ("speed-up over the baseline", "speed-up"),
        ("Predicted: jil is 1.62 x slower than jli (1.38 ms against 0.851 ms).", "predicted"),
        ("Measured: jil is 1.62 x slower than jli (1.38 ms against 0.851 ms; 90 %", "measured"),
        ("Measured: jil and jli are not told apart (1.38 ms against 1.37 ms; 90 %", "measured"),
        ("The measurement contradicts the prediction, which has the other one", "measured"),
        ("In 2 other runs of this study it had 1 ms: intervals are of one run.", "interval"),
        ("LC takes 810 us against 310 us: it streams 12 rows from L2", "reason"),
    ],
)
def test_terms_of_progress_noise_and_reasons_have_words(sentence: str, word: str) -> None:
    assert meaning(sentence).name == word


def test_an_unknown_word_is_refused_by_itself_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"^no word or message 'nose floor'.*did you mean noise"):
        meaning("nose floor")


def test_no_message_of_an_error_is_taken_for_a_sentence_of_a_result() -> None:
    assert not [text for text in templates() if sentence_word(text)]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of a study with a front, without the rows of its tables."""
    with Store.open(tmp_path_factory.mktemp("store") / "x.sqlite") as store:
        fabricated.fill(store)
        study = store.load_study("quick")
    runs = tuple(
        dataclasses.replace(run, conditions={**run.conditions, SEARCHED: "time, memory"})
        for run in study.runs
    )
    evaluation = evaluate(dataclasses.replace(study, runs=runs))
    lines = study_table.study(evaluation, top=3).splitlines()
    decisions = [
        winner_decision.decision(problem, "quick", "x").verdict for problem in evaluation.problems
    ]
    rows = re.compile(r"^(\*| {2,})\s*\S+@|^ +candidate |^ +\S+@\S+ +\d|^\W*\S+( \d\.\d{3})+$")
    return [*decisions, *(line for line in lines if line.strip() and not rows.search(line))]


def test_every_sentence_of_a_printed_study_is_explained(printed: list[str]) -> None:
    assert len(printed) >= 15
    unexplained = []
    for line in printed:
        try:
            meaning(line)
        except InputError:
            unexplained.append(line)
    assert not unexplained


@pytest.mark.parametrize("query", ["contended", "contended calibration", "contended sample"])
def test_contention_is_explained_of_candidates_of_calibrations_and_of_samples(query: str) -> None:
    word = meaning(query)
    assert word.name == "contended"
    for part in ("status of a candidate", "Of a calibration", "samples of MPI"):
        assert part in word.text


def test_an_unknown_word_has_a_nearest_one() -> None:
    with pytest.raises(InputError, match="did you mean skill"):
        meaning("skil")


def test_the_command_prints_a_word_a_message_a_list_and_a_document() -> None:
    run = CliRunner().invoke
    assert "noise alone causes" in run(app, ["explain", "noise", "floor"]).output
    assert "What helps:" in run(app, ["explain", "--why:", "unknown 'x'"]).output
    assert "no candidate ran" in run(app, ["explain", "-"], input="no candidate ran\n").output
    assert "T_nOL" in run(app, ["explain"]).output
    shown = json.loads(run(app, ["explain", "ECM", "--json"]).output)
    assert (shown["schema"], shown["name"]) == ("autotune.explain/1", "ECM")
