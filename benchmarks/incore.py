"""The signed error of families of PIRK variants in cache, with and without terms of calibration.

    python benchmarks/incore.py [--ivps heat2d,...] [--components 16384] [--without vector_]

Of every IVP a part of the space ``pirk-time`` is measured, interleaved in one run, with one thread.
A family is: blocked in time or not, F in registers or not, aligned loops or not, vectors of four
doubles or as the compiler chooses. Printed are the median of predicted / measured - 1 and its
extremes, without the constants whose names begin with ``--without`` and with them; their medians
over all programs; the median half-width of the 90 % intervals of the measured times; and by IVP the
losses of the first choice and of the best three by prediction. An IVP takes half a minute to two
minutes. Develop on some, judge on others.
"""

import argparse
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from accuracy_cells import size_of
from gain import quiet, seconds, width

from autotune.commands.rank.host_machine import resolve_machine
from autotune.commands.rank.ranked_space import load
from autotune.commands.tune import flow
from autotune.domain.machine import Machine
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate
from autotune.workloads.base import Workload

IVPS = "fitzhugh-nagumo,brusselator2d-mix,heat3d,string-mix,inverterchain"
SPACE = """\
schema: autotune.space/1
skeleton: pirk
title: in core
parameters:
  order: [jil, jli]
  au: [false, true]
  block: [none, 128, 512, 2048]
  reg: [false, true]
  align: [none, 8]
  simd: [none, 4]
  pad: [5]
rules:
  - {interchange: {kernel: lc, order: $order}}
  - {fuse: {first: approx, second: update}, when: {au: true}}
  - {pipeline: {loop: k, block: $block}, when: {block: [128, 512, 2048]}}
  - {contract: {array: F}, when: {reg: true}}
  - {align: {doubles: $align}, when: {align: [8]}}
  - {vectorize: {lanes: $simd}, when: {simd: [4]}}
  - {pad: {lines: $pad}}
constraints:
  - when: {block: [128, 512, 2048]}
    require: limited
    reason: corrector steps follow one another only with a limited access distance
  - {when: {reg: true, block: none}, require: never, reason: F stays in registers only in pipelines}
baseline: {order: jli, au: false, block: none, reg: false, align: none, simd: none, pad: 5}
"""
"""A part of the space ``pirk-time``."""


@dataclass(frozen=True, slots=True)
class MeasuredVariant:
    """A measured program with the two predictions of its time, in seconds."""

    family: str
    measured: float
    width: float
    """Half the width of the logarithm of the 90 % interval of the measured time; 0 without one."""
    before: float
    after: float


def predicted(workload: Workload, machine: Machine) -> dict[str, float]:
    """Predicted seconds by the label of the candidate."""
    candidates = workload.candidates(machine.cores).legal
    with workload.predictor("reuse", machine, quiet) as engine:
        predictions = engine.predict(candidates)
    pairs = zip(candidates, predictions, strict=True)
    return {c.label: p.seconds for c, p in pairs if p.seconds is not None}


def without(machine: Machine, prefix: str) -> Machine:
    """The machine without the calibrated constants whose names begin so."""
    calibration = machine.calibration
    assert calibration is not None, "the host is calibrated by the study"
    kept = {n: c for n, c in calibration.constants.items() if not n.startswith(prefix)}
    return replace(machine, calibration=replace(calibration, constants=kept))


def family(row: EvaluatedCandidate) -> str:
    """The family of a program."""
    values = {name: str(value) for name, value in row.candidate.parameters.items()}
    words = ["blocked" if values["block"] != "none" else "plain"]
    words += ["reg"] * (values["reg"].lower() == "true")
    words += [f"{name}{values[name]}" for name in ("align", "simd") if values[name] != "none"]
    return " ".join(words)


def measure(ivp: str, components: int, prefix: str) -> list[MeasuredVariant]:
    """All programs of one IVP."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "space.yaml").write_text(SPACE, encoding="utf-8")
        study = Path(folder, "incore.yaml")
        study.write_text(
            "schema: autotune.config/1\ntitle: in core\nmachine: host\nskeleton: pirk\n"
            f"space: space.yaml\nproblems:\n  - {{ivp: {ivp}, method: radau-iia-7, correctors: 6,"
            f" size: {size_of(ivp, components)}}}\nthreads: [1]\n"
            "measuring: {rounds: 4, samples: 2, min_sample: 10 ms}\n",
            encoding="utf-8",
        )
        workload = load(study)
        store = str(Path(folder, "results.sqlite"))
        tuned = flow.tune(workload, flow.StudyOptions(exhaustive=True), store, quiet)
        machine = resolve_machine(workload, quiet)
        after, before = (predicted(workload, m) for m in (machine, without(machine, prefix)))
    (problem,) = tuned.evaluation.problems
    return [
        MeasuredVariant(
            family(row), seconds(row), width(row),
            before[row.candidate.label], after[row.candidate.label],
        )
        for row in problem.rows
        if row.status == "ok" and row.measured is not None and row.candidate.label in after
    ]  # fmt: skip


def errors(ratios: Sequence[float]) -> str:
    """The median of predicted / measured - 1, and its extremes."""
    median, low, high = statistics.median(ratios) - 1, min(ratios) - 1, max(ratios) - 1
    return f"{median:+7.1%} [{low:+6.1%}, {high:+6.1%}]"


def report(ivp: str, variants: Sequence[MeasuredVariant]) -> None:
    """Print the families of one IVP, and the losses."""
    families: dict[str, list[MeasuredVariant]] = defaultdict(list)
    for variant in variants:
        families[variant.family].append(variant)
    print(f"{ivp:28} programs  {'without':26}{'with':26}noise")
    for name, members in sorted(families.items()):
        before = errors([v.before / v.measured for v in members])
        after = errors([v.after / v.measured for v in members])
        noise = statistics.median(v.width for v in members)
        print(f"  {name:26} {len(members):8}  {before:26}{after:26}{noise:5.1%}")
    for words, term in (("without", "before"), ("with", "after")):
        ratios = [getattr(v, term) / v.measured - 1 for v in variants]
        deviation = statistics.median(abs(ratio) for ratio in ratios)
        print(f"  {words}: median deviation {deviation:.1%}, bias {statistics.median(ratios):+.1%}")
    best = min(v.measured for v in variants)
    for words, term in (("without", "before"), ("with", "after")):
        ranked = [v.measured for v in sorted(variants, key=lambda v: getattr(v, term))]
        first, three = ranked[0] / best - 1, min(ranked[:3]) / best - 1
        print(
            f"  {words}: the first by prediction loses {first:.1%}, the best of three {three:.1%}"
        )


def main() -> None:
    """Measure the IVPs and report them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--ivps", default=IVPS)
    parser.add_argument("--components", type=int, default=16384)
    parser.add_argument("--without", default="vector_")
    given = parser.parse_args()
    for ivp in given.ivps.split(","):
        report(ivp, measure(ivp, given.components, given.without))


if __name__ == "__main__":
    main()
