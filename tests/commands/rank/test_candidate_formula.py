"""One formula of the size for a candidate that was predicted at several sizes."""

from dataclasses import replace
from pathlib import Path

import fabricated as made
import numpy as np
import pytest
from refusals import faults

from autotune.commands.rank.candidate_formula import candidate_formulas
from autotune.commands.rank.ranked_space import RankedSpace, load
from autotune.domain.ranking import rank
from autotune.domain.results import Part, Prediction
from autotune.domain.variant import Candidate, ExecutionLayout
from autotune.units import Seconds
from autotune.workloads.base import EnumeratedSpace, IllegalCombinations, Workload

CONFIG = """\
schema: autotune.config/1
title: heat
machine: generic-x86-64
skeleton: pirk
space: pirk-orders
problems: [{ivp: heat2d, method: radau-iia-5, correctors: 4, size: 40}]
builds: [{compiler: gcc, flags: [-O2]}]
threads: [1]
"""
PROGRAM = """\
schema: autotune.config/1
title: matmul
machine: generic-x86-64
program: matmul
problems: [{arguments: {n: 128}}]
builds: [{compiler: gcc, flags: [-O2]}]
"""


def workload(folder: Path, text: str = CONFIG) -> Workload:
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path)


def predicted(candidate: Candidate, engine: str = "reuse", factor: float = 1e-9) -> Prediction:
    """``factor`` seconds a component, and a barrier of 1 us."""
    seconds = factor * candidate.problem.n
    return Prediction(
        seconds=Seconds(seconds + 1e-6),
        interval=None,
        parts=(
            Part(sweep="rhs", kind="sweep", seconds=Seconds(seconds)),
            Part(sweep="barriers", kind="barrier", seconds=Seconds(1e-6)),
        ),
        engine=engine,
        reason="",
    )


def space(folder: Path, candidates: list[Candidate], *engines: str) -> RankedSpace:
    rankings = [
        ranking
        for number, engine in enumerate(engines or ("reuse",))
        for ranking in rank(candidates, [predicted(c, engine, 1e-9 + number) for c in candidates])
    ]
    return RankedSpace(
        workload=workload(folder),
        machine=made.machine(),
        enumerated=EnumeratedSpace(legal=candidates, illegal=IllegalCombinations([])),
        rankings=tuple(rankings),
    )


SIZES = [made.candidate("jli", size) for size in (512, 256)]


def test_a_formula_gives_the_predictions_back_at_its_sizes(tmp_path: Path) -> None:
    (found,) = candidate_formulas(space(tmp_path, SIZES), "jli-pad5")
    assert found.candidates == (SIZES[1].id, SIZES[0].id)
    sizes = np.array([256.0**2, 512.0**2])
    assert found.formula.sizes == tuple(sizes)
    assert found.formula.evaluate({"n": sizes}).tolist() == pytest.approx(
        (1e-9 * sizes + 1e-6).tolist()
    )


@pytest.mark.parametrize("kind", ["id", "identity", "label"])
def test_any_name_of_a_candidate_stands_for_it_at_all_sizes(tmp_path: Path, kind: str) -> None:
    (found,) = candidate_formulas(space(tmp_path, SIZES), getattr(SIZES[0], kind))
    assert len(found.candidates) == 2


def test_a_variant_stands_for_each_way_to_run_it(tmp_path: Path) -> None:
    alone = [replace(c, layout=ExecutionLayout(threads=1)) for c in SIZES]
    found = candidate_formulas(space(tmp_path, [*SIZES, *alone]), "jli-pad5")
    assert [len(formula.candidates) for formula in found] == [2, 2]
    assert {formula.candidates[0].partition(":")[0] for formula in found} == {
        "jli-pad5@heat2d-N256-T1",
        "jli-pad5@heat2d-N256-T2",
    }


def test_every_engine_has_a_formula_of_its_own(tmp_path: Path) -> None:
    found = candidate_formulas(space(tmp_path, SIZES, "reuse", "kerncraft"), "jli-pad5")
    assert [formula.formula.engine for formula in found] == ["reuse", "kerncraft"]


def test_another_variant_is_no_part_of_the_formula(tmp_path: Path) -> None:
    others = [made.candidate("ijl", size) for size in (256, 512)]
    (found,) = candidate_formulas(space(tmp_path, [*SIZES, *others]), "ijl-pad5")
    assert found.candidates == (others[0].id, others[1].id)


def test_an_unknown_name_is_told_with_the_nearest(tmp_path: Path) -> None:
    told = faults(lambda: candidate_formulas(space(tmp_path, SIZES), "jli-pad55"))
    assert told == (
        "--formula: unknown 'jli-pad55'; expected an id, an identity or a label, as rank prints"
        " them, or a variant (did you mean jli-pad5?)"
    )


def test_a_program_has_no_formula_of_its_size(tmp_path: Path) -> None:
    ranked = replace(space(tmp_path, SIZES), workload=workload(tmp_path, PROGRAM))
    assert faults(lambda: candidate_formulas(ranked, "jli-pad5")) == (
        "--formula: a program, whose size is no single number; expected a kernel of ours"
    )


def test_what_could_not_be_predicted_has_no_formula(tmp_path: Path) -> None:
    ranked = space(tmp_path, SIZES[:1])
    unknown = rank(SIZES[:1], [made.prediction(None, reason="no loop was found")])
    told = faults(lambda: candidate_formulas(replace(ranked, rankings=tuple(unknown)), "jli-pad5"))
    assert told == "prediction at 262144: no loop was found"
