"""The published tables of Scherg et al. (ICPE 2019) beside our predictions.

    python benchmarks/icpe19.py [--engine kerncraft] [--tables 2,3,4,5,6] [--figures 4,7,10,14]

Nothing is measured: for each table and for figures 12 and 13 the config is predicted on the machine
file of the Haswell cluster. Printed are

    the differences between the orders, in ms per step: free of communication, so a check of traffic
              and bandwidth; beside them those of the paper (goal: within 10 %)
    node      time of ijl on a node at N = 5984, beside the paper's 0.30 s
    tau-b     rank correlation with the measured times, of our predictions and of the paper's
    top-k     loss of the best of the predicted k best; rule: always the order that is fastest for
              Heat2D; rule-k: the k orders with the smallest mean loss over the other groups

    one bandwidth
              the same differences where all kernels have the bandwidth of `copy`: kerncraft chooses
              the benchmark with the nearest ratio of reads to writes, and of those in the machine
              file only `load` was measured on this processor. What changes here is the choice
              alone, so it says which differences stem from the estimates of `update` and `triad`

    figures   4, 7, 10 and 14: predicted orders from fastest to slowest, and each claim of the text
              about these curves with its verdict (`icpe19_figures.py`); their points are only in
              images

Empty lists of tables or figures leave them out. Groups that a cost curve was fitted to are marked
and in no summary. The paper compiled with icc and predicted with kerncraft 0.7.0.
"""

import argparse
import dataclasses
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import icpe19_figures

from autotune import paths
from autotune.commands.compare.text import milliseconds
from autotune.commands.options import EngineName
from autotune.files import config
from autotune.results.evaluate.published_comparison import (
    TOPS,
    ColumnScore,
    CommunicationGroup,
    PublishedComparison,
    VariantDifference,
    overall,
)
from autotune.results.report import number_words
from autotune.results.report.text_table import columns
from autotune.statistics import estimators

_CONFIGS = {
    "2": "icpe19-inverterchain",
    "3": "icpe19-medakzo",
    "4": "icpe19-wave1d",
    "5": "icpe19-string-row",
    "6": "icpe19-string-mix",
}
_SPLIT = "icpe19-split"


def main() -> None:
    arguments = _arguments()
    if arguments.tables:
        _print_tables(
            [_CONFIGS[number] for number in arguments.tables.split(",")], arguments.engine
        )
    if arguments.figures:
        text = icpe19_figures.text(arguments.figures, arguments.engine)
        print(f"\nfigures, claims of the text\n{text}")


def _print_tables(names: Sequence[str], engine: EngineName) -> None:
    found = [_compare(name, engine) for name in names]
    tables = [table for table in found if table]
    split = _compare(_SPLIT, engine)
    if not tables:
        sys.exit("nothing could be predicted")
    reference = tables[0].reference
    print(f"\nthere: {reference.compiler}; {reference.model}; here: engine {engine}")
    flat = _compare(_with_copy_only(names[0]), engine)
    for title, text in (
        (f"differences to {reference.rule}, predicted", differences(tables)),
        (
            "the same with one bandwidth, that of copy, for all kernels",
            differences([flat], tables) if flat else "-",
        ),
        ("application and communication of a step", shares(split) if split else "-"),
        ("order of the measured times", scores(tables)),
    ):
        print(f"\n{title}\n{text}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--engine", choices=("kerncraft", "reuse"), default="kerncraft")
    parser.add_argument("--tables", default=",".join(_CONFIGS))
    every = ",".join(icpe19_figures.FIGURES)
    parser.add_argument("--figures", type=icpe19_figures.figures, default=every)
    return parser.parse_args()


def _with_copy_only(name: str) -> str:
    """The path of a config that is like another one, on its machine with the benchmark ``copy``
    as the only one beside ``load``.
    """
    setup = config.load(Path(name))
    assert setup.machine is not None, "a config of the paper names its machine"
    memory = setup.machine.memory
    one = dataclasses.replace(memory, benchmarks={"copy": memory.benchmarks["copy"]})
    folder = Path(tempfile.mkdtemp())
    machine = folder / "copy.yaml"
    flat = dataclasses.replace(setup.machine, memory=one)
    machine.write_text(config.dump_machine(flat), encoding="utf-8")
    text = (paths.folder("configs") / f"{name}.yaml").read_text(encoding="utf-8")
    made = folder / f"{name}.yaml"
    made.write_text(re.sub(r"(?m)^machine:.*", f"machine: {machine}", text), encoding="utf-8")
    return str(made)


def _compare(name: str, engine: EngineName) -> PublishedComparison | None:
    from autotune.commands.compare.flow import compare_published
    from autotune.errors import WorkFailed

    started = time.perf_counter()
    try:
        _, (found,) = compare_published(Path(name), _silent, engine)
    except WorkFailed as error:
        print(f"{name}: {error}", flush=True)
        return None
    print(f"{name}: {time.perf_counter() - started:.1f} s", flush=True)
    return found


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    pass


# --- differences between the orders -----------------------------------------------------------


def differences(
    tables: Sequence[PublishedComparison], theirs_of: Sequence[PublishedComparison] = ()
) -> str:
    """Ours and theirs, group by group; at the end ours against the paper's common figures.

    ``theirs_of``: the tables that the common figures are taken from; none: the same.
    """
    groups = [(c, group) for c in tables for group in c.groups]
    variants = [gap.variant for gap in groups[0][1].differences]
    lines = [["", *(f"{v}: ours, theirs" for v in variants)]]
    for found, group in groups:
        gaps = {gap.variant: gap for gap in group.differences}
        lines.append([_name(found, group), *(_gap(gaps[v]) for v in variants)])
    theirs = {v: common(theirs_of or tables, v) for v in variants}
    ours = {v: _known([_find(group, v).predicted for _, group in groups]) for v in variants}
    lines.append(["theirs, in common", *(milliseconds(theirs[v]) for v in variants)])
    lines.append(["ours, smallest", *(milliseconds(min(ours[v], default=None)) for v in variants)])
    lines.append(["ours, largest", *(milliseconds(max(ours[v], default=None)) for v in variants)])
    table = columns(lines, right=range(1, len(lines[0])))
    return f"{table}\n{_verdict(groups, variants, theirs)}\n?: a published prediction is doubted"


def _verdict(
    groups: Sequence[tuple[PublishedComparison, CommunicationGroup]],
    variants: Sequence[str],
    theirs: dict[str, float | None],
) -> str:
    """How many differences lie within the goal of the paper's common figure.

    Without those that are too small for the digits that the paper prints.
    """
    smallest = 2 * max(group.published.resolution for _, group in groups)
    ratios = [
        (deviation, f"{variant} of {_name(found, group)}")
        for found, group in groups
        for variant in variants
        if (gap := _find(group, variant).predicted) is not None
        and (figure := theirs[variant]) is not None
        and abs(figure) > smallest
        for deviation in [estimators.deviation(gap, figure)]
    ]
    if not ratios:
        return "no difference is predicted"
    within = sum(abs(value) <= icpe19_figures.GOAL for value, _ in ratios)
    worst, where = max(ratios, key=lambda pair: abs(pair[0]))
    return (
        f"{within} of {len(ratios)} within {icpe19_figures.GOAL:.0%} of the paper's common figure;"
        f" worst {number_words.signed(worst)}, {where}"
    )


def common(tables: Sequence[PublishedComparison], variant: str) -> float | None:
    """The paper's difference that its tables have in common: the median over those that print most
    digits, without what is doubted."""
    groups = [group for found in tables for group in found.groups]
    finest = min(group.published.resolution for group in groups)
    gaps = [_find(g, variant) for g in groups if g.published.resolution == finest]
    values = [gap.published for gap in gaps if not gap.suspect]
    return statistics.median(values) if values else None


def _find(group: CommunicationGroup, variant: str) -> VariantDifference:
    return next(gap for gap in group.differences if gap.variant == variant)


def _gap(gap: VariantDifference) -> str:
    doubt = "?" if gap.suspect else ""
    return f"{milliseconds(gap.predicted)}, {milliseconds(gap.published)}{doubt}"


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None]


# --- shares -----------------------------------------------------------------------------------


def shares(found: PublishedComparison) -> str:
    """Node time and communication, ours beside theirs."""
    lines = [("", "ours", "theirs", "measured", "ours against theirs")]
    for group in found.groups:
        for row in group.rows:
            name = f"{row.published.variant}, {_name(found, group)}"
            both = {
                "node": (row.application, row.published.application),
                "communication": (row.communication, row.published.communication),
            }
            for part, (ours, share) in both.items():
                if share is None:
                    continue
                theirs = share.predicted.value
                apart = None if ours is None else estimators.deviation(ours, theirs)
                lines.append(
                    (
                        f"{name}, {part}",
                        number_words.seconds(ours),
                        f"{theirs:g} s",
                        f"{share.measured.value:g} s",
                        number_words.signed(apart),
                    )
                )
    return columns(lines, right=range(1, 5))


# --- order ------------------------------------------------------------------------------------


def scores(tables: Sequence[PublishedComparison]) -> str:
    """tau-b and losses of ours, theirs and the constant rules, group by group and over all."""
    head = ["", "mdev ours", "theirs", "tau-b ours", "theirs"]
    head += [f"top-{k} {who}" for k in TOPS for who in ("ours", "theirs")]
    head += [f"always {tables[0].reference.rule}", *(f"rule-{k}" for k in TOPS)]
    counted = [(c, group) for c in tables for group in c.headline]
    rules = _rules(counted)
    lines = [head]
    for found in tables:
        for group in found.groups:
            name = _name(found, group)
            own = [rules[k].get(name) for k in TOPS]
            lines.append(_line(name, group.predicted, group.theirs, group.rule, own))
    ours = overall([(g.predicted, [r.deviation for r in g.scored]) for _, g in counted])
    theirs = overall([(g.theirs, [r.published_deviation for r in g.scored]) for _, g in counted])
    always = _known([g.rule for _, g in counted])
    means = [list(rules[k].values()) for k in TOPS]
    lines.append(
        _line(
            f"over {len(counted)} groups",
            ours,
            theirs,
            statistics.fmean(always) if always else None,
            [statistics.fmean(values) if values else None for values in means],
        )
    )
    return columns(lines, right=range(1, len(head)))


def _rules(
    counted: Sequence[tuple[PublishedComparison, CommunicationGroup]],
) -> dict[int, dict[str, float]]:
    """The best constant rules, each chosen on the other groups."""
    times = {
        _name(found, group): {r.published.variant: r.published.measured.value for r in group.scored}
        for found, group in counted
    }
    return {k: estimators.constant_losses(times, k) for k in TOPS}


def _line(
    name: str,
    ours: ColumnScore | None,
    theirs: ColumnScore | None,
    rule: float | None,
    rules: Sequence[float | None],
) -> list[str]:
    def of(score: ColumnScore | None, what: str, i: int = 0) -> str:
        if score is None:
            return "-"
        if what == "tau":
            return "-" if score.tau is None else f"{score.tau:.2f}"
        return number_words.percent(score.deviation if what == "mdev" else score.losses[i])

    both = (ours, theirs)
    cells = [of(score, what) for what in ("mdev", "tau") for score in both]
    cells += [of(score, "loss", i) for i in range(len(TOPS)) for score in both]
    return [
        name,
        *cells,
        number_words.percent(rule),
        *(number_words.percent(value) for value in rules),
    ]


def _name(found: PublishedComparison, group: CommunicationGroup) -> str:
    mark = " (fitted)" if group.fitted else ""
    return f"{found.reference.ivp} {group.published.communication}{mark}"


if __name__ == "__main__":
    main()
