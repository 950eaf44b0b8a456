"""``autotune reduce``: the winner of a study with planted effects, reduced, stored, shown."""

import json
from collections.abc import Callable
from pathlib import Path

import own_programs as own
import pytest
from command_line import Finished
from documented import documented
from refusals import usage_error

from autotune.commands.reduce.command import EXAMPLE
from autotune.commands.reduce.document import ReduceDocument
from autotune.commands.reduce.flow import reduce_winner
from autotune.commands.reduce.reduction_request import ReductionRequest
from autotune.commands.reduce.text import text
from autotune.errors import InputError, WorkFailed
from autotune.files.store import Store
from autotune.results.evaluate.study_evaluation import evaluate
from autotune.tuning.elimination import Elimination

SOURCE = """\
#include <stdio.h>
#include <time.h>
int main(void)
{
    double factor = 1;
    struct timespec now;
#ifndef QUICK
    factor *= 1.3;
#endif
#ifdef SLOW
    factor *= 1.15;
#endif
#if LEVEL == 2
    factor *= 0.9;
#endif
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("time %.17g s\\n", 1e-5 * factor * (1 + 1e-12 * now.tv_nsec));
    return 0;
}
"""
PROGRAM = """\
schema: autotune.program/1
title: A time that flags decide
sources: [planted.c]
build:
  - ["{compiler}", "{flags}", "{options}", "{level}", "{source folder}/planted.c", -o, "{output}"]
run: ["{output}"]
threads: one
parameters:
  options: {flags: [-DQUICK, -DSLOW, -DIDLE]}
  level: [-DLEVEL=1, -DLEVEL=2]
time: {pattern: "time (\\\\S+) s"}
"""
CONFIG = own.CONFIG.replace("problems: [{arguments: {n: 500}}]\n", "")


@pytest.fixture
def study(tmp_path: Path, autotune: Callable[..., Finished]) -> Path:
    """A study of all candidates, in the store of the folder."""
    config = own.put(tmp_path, PROGRAM, CONFIG, {"planted.c": SOURCE})
    autotune("tune", str(config), "--exhaustive")
    return config


def winner_with_idle(folder: Path) -> str:
    """The candidate that has all that is fast, and a flag that does nothing."""
    with Store.open(str(folder / "autotune-results.sqlite")) as store:
        record = store.load_study("study")
    (named,) = [
        c.identity
        for c in record.candidates
        if {k: v for k, v in c.parameters.items() if v is not None}
        == {"DQUICK": "-DQUICK", "DIDLE": "-DIDLE", "level": "-DLEVEL=2"}
    ]
    return named


def test_the_settings_that_matter_are_kept_and_all_is_shown(
    study: Path, autotune: Callable[..., Finished], tmp_path: Path
) -> None:
    whole = winner_with_idle(tmp_path)
    done = autotune("reduce", "study", "--config", str(study), "--candidate", whole)
    lines = done.out.splitlines()
    named = "candidate DQUICK-DIDLE-DLEVEL=2"
    assert lines[0].endswith(f" {named} differs from the baseline in 3 settings")
    rows = {line.split()[-1]: line for line in lines[2:5]}
    assert rows.keys() == {"kept", "dropped"}
    assert "-DIDLE" in rows["dropped"]
    assert "same program" in rows["dropped"]
    assert "kept: 2 of 3: " in done.out
    assert "level = -DLEVEL=2" not in done.out, "a flag says what it is"
    assert "speed-up over the baseline: 1.4" in done.out
    assert "the same program as the winner" in done.out
    assert "gcc -O1 -DQUICK -DLEVEL=2" in done.out
    with Store.open(str(tmp_path / "autotune-results.sqlite")) as store:
        record = store.load_study("study")
    last = record.runs[-1]
    assert (last.state, last.conditions["purpose"]) == ("done", "reduce")
    assert sum(len(m.samples) for m in last.measurements) > 30
    assert {s.stage for m in last.measurements for s in m.samples} == {"first", "final"}
    (problem,) = evaluate(record).problems
    assert problem.best is not None
    assert problem.best.candidate.parameters["DIDLE"] is None


def test_the_document_has_every_figure(
    study: Path, autotune: Callable[..., Finished], tmp_path: Path
) -> None:
    whole = winner_with_idle(tmp_path)
    words = ("--config", str(study), "--candidate", whole, "--rounds", "3", "--json")
    done = json.loads(autotune("reduce", *words).out)
    documented(done, ReduceDocument, "reduce")
    settings = {setting["name"]: setting for setting in done["settings"]}
    assert [setting["name"] for setting in done["settings"]][:2] == ["DQUICK", "level"]
    assert settings["DQUICK"]["without"]["value"] == pytest.approx(1.3, rel=0.01)
    assert settings["level"]["without"]["value"] == pytest.approx(1 / 0.9, rel=0.01)
    assert settings["level"]["baseline"] == "-DLEVEL=1"
    assert settings["DQUICK"]["influence"] == pytest.approx(0.3, abs=0.05)
    assert (settings["DIDLE"]["kept"], settings["DIDLE"]["fate"]) == (False, "same program")
    assert done["speedup"]["value"] == pytest.approx(1.3 / 0.9, rel=0.01)
    assert done["reduced_over_winner"] is None


def test_what_cannot_be_reduced_is_refused(study: Path, tmp_path: Path) -> None:
    store = str(tmp_path / "autotune-results.sqlite")

    def refused(**request: object) -> str:
        with pytest.raises((InputError, WorkFailed)) as caught:
            reduce_winner(ReductionRequest(**request), store, own.quiet)  # type: ignore[arg-type]
        return str(caught.value)

    assert "name the config file of the study: --config FILE" in refused()
    assert "no problem other; expected one of tiny" in refused(problem="other", config=study)
    assert "has no candidate 'x'" in refused(candidate="x", config=study)
    with Store.open(store) as results:
        record = results.load_study("study")
    baseline = next(c.identity for c in record.candidates if c.baseline)
    assert "the baseline itself" in refused(candidate=baseline, config=study)
    (tmp_path / "tiny.yaml").write_text(PROGRAM.replace("-DIDLE", "-DOTHER"), encoding="utf-8")
    other = winner_with_idle(tmp_path)
    assert "does not have it any more" in refused(candidate=other, config=study)


def test_the_config_is_found_by_the_path_that_was_tuned(
    tmp_path: Path, autotune: Callable[..., Finished]
) -> None:
    """From another folder than that of the config; the program is named from there."""
    (tmp_path / "flags").mkdir()
    own.put(tmp_path / "flags", PROGRAM, CONFIG, {"planted.c": SOURCE})
    store = ("--store", "flags/r.sqlite")
    autotune("tune", "flags/study.yaml", "--exhaustive", *store)
    done = autotune("reduce", "study", *store, "--rounds", "3")
    assert "kept: 2 of 2" in done.out


def test_after_an_interrupt_all_samples_are_kept_and_what_is_known_is_said(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: Elimination) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Elimination, "_compare", interrupted)
    store = str(tmp_path / "autotune-results.sqlite")
    request = ReductionRequest(config=study, candidate=winner_with_idle(tmp_path), rounds=3)
    result = reduce_winner(request, store, own.quiet)
    assert result.interrupted
    assert result.reduction.kept == ("DQUICK", "level")
    assert "it was interrupted: this is what was known by then" in text(result)
    with Store.open(store) as results:
        last = results.load_study("study").runs[-1]
    assert last.state == "interrupted"
    assert sum(len(m.samples) for m in last.measurements) >= 3 * 4


def test_help_and_options(autotune: Callable[..., Finished]) -> None:
    assert EXAMPLE in " ".join(autotune("reduce", "--help").out.split())
    assert "--rounds" in usage_error("reduce", "--rounds", "2")
    done = autotune("reduce", check=2)
    assert "autotune-results.sqlite" in done.err
