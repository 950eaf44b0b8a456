"""``machine refine`` on a store: found, scored, applied, taken back; wrong input told plainly."""

import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import fabricated
import numpy as np
import pytest
from documented import documented

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.commands.machine.refine import flow as refine_flow
from autotune.commands.machine.refine.document import RefineDocument
from autotune.commands.machine.refine.repredict import RefinementSource, predicting
from autotune.commands.machine.refine.text import refinement
from autotune.domain.machine import Machine
from autotune.errors import InputError
from autotune.files import codec, config
from autotune.files.store import RunFacts, Store, StudyOrigin
from autotune.measuring.host import detect, stored_calibrations
from autotune.models.refinement import (
    MeasuredCandidate,
    Predict,
    Refinement,
    shiftable_constants,
    shifted,
)
from autotune.workloads.shipped import workload_of

CONFIG = """\
schema: autotune.config/1
machine: host
skeleton: pirk
space: pirk-orders
problems:
  - {ivp: heat2d, method: radau-iia-5, correctors: 4, size: 180}
  - {ivp: wave1d, method: radau-iia-5, correctors: 4, size: 30000}
builds: [{compiler: gcc, flags: [-O3, -march=native]}]
threads: [1]
"""


def quiet(stage: str, done: int, total: int, detail: str = "") -> None:
    """Progress that nobody follows."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """This host with a fabricated calibration: no measuring."""
    found = detect.detect()
    made = fabricated.calibration()
    made = replace(made, identity=stored_calibrations.identity(found))
    curves = tuple(replace(c, spread=(0.2,) * len(c.spread)) for c in made.curves)
    return replace(found, calibration=replace(made, curves=curves))


@pytest.fixture(scope="module")
def database(host: Machine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose times are what the engine says with other constants, and some noise."""
    folder = tmp_path_factory.mktemp("refine")
    text = folder / "small.yaml"
    text.write_text(CONFIG, encoding="utf-8")
    setup = config.load(text)
    programs = SkeletonPrograms(setup.skeleton)
    candidates = workload_of(setup).candidates(host.cores).legal
    constants = shiftable_constants(host)
    planted = {f"inbound.{level}@1": np.log(1.25) for level in ("L2", "L3")}
    true = shifted(host.calibration, constants, [planted.get(f.name, 0.0) for f in constants])
    rows = tuple(MeasuredCandidate(candidate=c, seconds=1.0, noise=0.01) for c in candidates)
    with predicting(
        host, [RefinementSource(setup=setup, rows=rows, programs=programs)], quiet
    ) as predict:
        times = predict(true, 1.0)
        guesses = predict(host.calibration, 1.0)
    generator = random.Random(3)
    path = folder / "r.sqlite"
    with Store.open(str(path)) as store:
        for name, identity in (
            ("small", stored_calibrations.identity(host)),
            ("elsewhere", "0123456789abcdef"),
        ):
            store.begin_study(name, StudyOrigin(config="small", setup_text=CONFIG))
            store.add_candidates(name, candidates)
            pairs = [
                (c, fabricated.prediction(float(s)))
                for c, s in zip(candidates, guesses, strict=True)
            ]
            store.add_predictions(name, fabricated.ranked(pairs))
            run = store.begin_run(name, RunFacts(machine=host, machine_identity=identity))
            for one, seconds in zip(candidates, times, strict=True):
                fate = fabricated.Fate(float(seconds), None)
                fabricated.measure(store, run, one, fate, 3, generator)
            store.end_run(run, timings={})
        store.begin_study("empty", StudyOrigin(config="small", setup_text=CONFIG))
    return path


@pytest.fixture
def own_data(host: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A user data folder of its own, with the fabricated calibration."""
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path / "data"))
    return stored_calibrations.save(host.calibration)


_DRY: list[RefineDocument] = []


@pytest.fixture
def dry(database: Path, own_data: Path) -> RefineDocument:
    """What the study says; nothing is applied. Found once."""
    if not _DRY:
        before = own_data.read_text(encoding="utf-8")
        _DRY.append(
            refine_flow.refine(refine_flow.RefinementOptions(study="small"), str(database), quiet)
        )
        assert own_data.read_text(encoding="utf-8") == before
    return _DRY[0]


def test_planted_bandwidths_are_found_and_scored_on_the_other_kernel(
    dry: RefineDocument,
) -> None:
    assert dry.applied is None
    found = {change.figure.name: change for change in dry.refinement.changes}
    told = [name for name, change in found.items() if change.informed]
    assert any(name.startswith("inbound.L") for name in told)
    assert all(change.after == change.before for name, change in found.items() if name not in told)
    assert dry.refinement.total.after.deviation < dry.refinement.total.before.deviation
    assert dry.refinement.verdict == "better"
    assert {each.name for each in dry.refinement.outside} == {"heat2d", "wave1d"}
    text = refinement(dry.refinement, dry.rows, dry.notes)
    assert "each kernel left out in turn" in text
    assert "the study says nothing of: " in text
    assert max(map(len, text.splitlines())) <= 120
    document = json.loads(json.dumps(codec.document(dry)))
    documented(document, RefineDocument, "refine")
    assert document["refinement"]["verdict"] == "better"


def known(monkeypatch: pytest.MonkeyPatch, found: Refinement) -> None:
    """What a study says is known beforehand: nothing is predicted or fitted."""

    @contextmanager
    def predicting(
        host: Machine, sources: list[RefinementSource], progress: object
    ) -> Iterator[Predict]:
        yield lambda calibration, core: np.ones(sum(len(each.rows) for each in sources))

    monkeypatch.setattr(refine_flow, "predicting", predicting)
    monkeypatch.setattr(refine_flow, "posterior", lambda *_: found)


def test_it_is_applied_once_and_taken_back(
    host: Machine,
    database: Path,
    own_data: Path,
    dry: RefineDocument,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known(monkeypatch, dry.refinement)
    wanted = refine_flow.RefinementOptions(study="small", apply=True)
    assert refine_flow.refine(wanted, str(database), quiet).applied == own_data
    kept = stored_calibrations.stored(host)
    name = next(name for name in kept.refined if name.startswith("inbound."))
    change = next(c for c in dry.refinement.changes if c.figure.name == name)
    assert kept.refined[name].study == "small"
    assert kept.refined[name].before == pytest.approx(change.before[0])
    again = {f.name: f for f in shiftable_constants(replace(host, calibration=kept))}[name]
    assert again.value == pytest.approx(kept.refined[name].after)
    with pytest.raises(InputError, match="has refined this calibration already"):
        refine_flow.refine(wanted, str(database), quiet)

    machine, _ = refine_flow.undo()
    assert not machine.calibration.refined
    for old, new in zip(host.calibration.curves, machine.calibration.curves, strict=True):
        assert new.bandwidth == pytest.approx(old.bandwidth)
    with pytest.raises(InputError, match="no study has refined"):
        refine_flow.undo()


def test_what_is_worse_or_not_scored_is_applied_by_force_only(
    database: Path, own_data: Path, dry: RefineDocument, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = replace(dry.refinement, verdict="worse", reasons=("pairs in order worse by 9 points",))
    known(monkeypatch, found)
    before = own_data.read_text(encoding="utf-8")
    wanted = refine_flow.RefinementOptions(study="small", apply=True)
    done = refine_flow.refine(wanted, str(database), quiet)
    assert done.applied is None
    assert "pairs in order worse" in done.refused
    assert own_data.read_text(encoding="utf-8") == before
    known(monkeypatch, replace(found, verdict="unscored"))
    forced = refine_flow.refine(replace(wanted, force=True), str(database), quiet)
    assert forced.applied == own_data


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (refine_flow.RefinementOptions(study="smal"), "did you mean small"),
        (
            refine_flow.RefinementOptions(study="elsewhere"),
            "measured on another machine, 0123456789abcdef",
        ),
        (refine_flow.RefinementOptions(study="empty"), "nothing was measured"),
        (
            refine_flow.RefinementOptions(study="small", score="small"),
            "no measured problem outside",
        ),
    ],
)
def test_wrong_input_is_told_plainly(
    database: Path, own_data: Path, wanted: refine_flow.RefinementOptions, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        refine_flow.refine(wanted, str(database), quiet)


def test_without_a_calibration_there_is_nothing_to_refine(
    database: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path))
    with pytest.raises(InputError, match="machine calibrate"):
        refine_flow.refine(refine_flow.RefinementOptions(study="small"), str(database), quiet)
