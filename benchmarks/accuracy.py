"""How well does engine reuse predict and rank the variants of this host, against measuring all?

    python benchmarks/accuracy.py measure [--sets base,unseen,fresh,...]
                                          [--store FILE] [--only TEXT] [--rounds 5]
    python benchmarks/accuracy.py score   [--sets ...] [--store FILE] [--only TEXT] [--verbose]
    python benchmarks/accuracy.py phases  [--sets ...] [--store FILE] [--only TEXT] [--each 3]
    python benchmarks/accuracy.py page    [--sets ...] [--store FILE] [--only TEXT] -o FILE.html

`measure` runs an exhaustive study per cell (problem x size x threads x build) in interleaved
rounds, at least four; a cell that the store already holds is left out, so that it can be
interrupted and resumed, and so is one whose compiler is not installed, or builds no OpenMP
programs. The sets `unseen` and `unseen_stencils` (benchmarks/unseen) are of problems on which no
constant was set; prices were mended, or one of two rules was chosen, after looking at all twelve
right-hand sides and at biharmonic2d-13pt, so that these are no longer unseen. For
the problems of `fresh`, `fresh_stencils`, `fresh_builds` (gcc -O2, clang -O3) and `fresh_unpadded`
(sizes that are powers of two) no constant was set, though faults were found on five of them
(`accuracy_sets.FRESH`). `score` predicts every cell
with the engine and the calibration of today and prints, for the six loop orders alone, the whole
pool of PIRK variants and the stencils, by regime:

    mdev     median of abs((predicted - measured) / measured); p90 its 90th percentile; bias the
             mean without abs
    tau-b    rank correlation of predicted and measured times, mean over the cells
    pairs    share of the pairs measured more than 5 % apart that are predicted in that order
    top-k    loss of the best of the predicted k best, mean and maximum, by all rounds
    excess   the same, cross-fitted: over all ways to draw rounds that choose and as many others
             that score, against choosing among all by measurement; so the noise floor is
             subtracted. With its 95 % bound (bootstrap over problems and their cells)
    rule-k   cross-fitted loss of the best constant rule: the fixed list of k variants that does
             best on the cells of the *other* problems of the same class (regime and threads)
    skill    1 - mean excess-1 / mean rule-1, with its 90 % interval (bootstrap over problems)
    floor    noise floor: loss of choosing by some rounds, scored in others
    cover    share of the measured times inside the 80 % intervals; width is the median of
             (high - low) / predicted; score is the interval score of the logarithms: the width,
             and ten times what is missed (Gneiting, Raftery 2007), less is better

A second table has the mean signed errors by kind of transformation, a third the goals and what was
reached. Candidates that failed, lack rounds or have no prediction are named.

`as calibrated` has the engine as it ships; leave-one-problem-out: the constants of the calibration
are refined (as by `autotune machine refine`, the model linearised once) on the cells of all other
problems, and so is one factor of the width of all intervals. Regimes: *cache* 0.3 to 10 MB per
thread and steps above 100 us; *memory* a working set of more than twice the last cache; *other*
the rest.

`phases` runs, for some candidates of every measured cell (the predicted first, the measured best,
the plain program, and with more `--each` those that are predicted next), a build with timers
around its kernels and barriers, as `autotune measure --phases` does, three launches each. They are
kept beside the store, so that it can be interrupted and resumed. Then it prints, by regime and
threads and by term: the share of the measured step, the median deviation and the bias of the term,
and its mean signed error in parts of the whole step, which says what makes predictions wrong.

`page` draws predicted against measured times of all cells, and of the terms whose phases were
measured, into one HTML file that needs no network.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import accuracy_measure as studies
import accuracy_page as page
import accuracy_phases as phases
import accuracy_points as points
import accuracy_score as score
import accuracy_tables as tables
import accuracy_terms as terms
from accuracy_cells import Cell
from accuracy_folds import LEAST_ROUNDS
from accuracy_score import Times
from accuracy_sets import SETS

from autotune.commands.rank import host_machine
from autotune.domain.machine import Machine


def main() -> None:
    arguments = _arguments()
    wanted = [
        cell
        for name in arguments.sets.split(",")
        for cell in SETS[name]()
        if arguments.only in cell.name
    ]
    if arguments.task == "measure":
        studies.measure(wanted, arguments.store, arguments.rounds, _silent)
        return
    machine = host_machine.host(_silent)
    found = _measured(wanted, arguments.store, machine)
    if arguments.task == "score":
        _score(found, machine, verbose=arguments.verbose)
    elif arguments.task == "phases":
        _phases(found, machine, arguments.store, arguments.each)
    else:
        _page(found, machine, arguments.store, arguments.output)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("task", choices=("measure", "score", "phases", "page"))
    parser.add_argument("--store", default="accuracy.sqlite", help="where the samples are kept")
    parser.add_argument("--sets", default=",".join(SETS), help="which cells")
    parser.add_argument("--only", default="", help="cells whose name contains this text")
    parser.add_argument("--rounds", type=int, default=5, help="at least 4")
    parser.add_argument("--each", type=int, default=3, help="candidates of a cell, for phases")
    parser.add_argument("-o", "--output", type=Path, default=Path("accuracy.html"), help="of page")
    parser.add_argument("--verbose", action="store_true", help="a line for every cell")
    given = parser.parse_args()
    for name in given.sets.split(","):
        if name not in SETS:
            parser.error(f"--sets: no set {name!r}; there are {', '.join(SETS)}")
    if given.rounds < LEAST_ROUNDS:
        parser.error(f"--rounds: at least {LEAST_ROUNDS}, two that choose and two that score")
    if given.each < 1:
        parser.error("--each: at least 1")
    return given


def _measured(wanted: Sequence[Cell], store: str, machine: Machine) -> list[Times]:
    found = list(score.times_of(store, wanted, machine))
    if not found:
        raise SystemExit(f"{store} has no such cell")
    return found


def _score(found: Sequence[Times], machine: Machine, *, verbose: bool) -> None:
    with score.engine(machine) as reuse:
        predict = score.predictor(reuse)
        print("\nas calibrated")
        tables.show(found, predict(machine, found), machine, verbose=verbose)
        if len({times.cell.subject for times in found}) > 1:
            print("\nleave-one-problem-out")
            tables.show(found, score.left_out(machine, found, predict), machine, verbose=verbose)


def _phases(found: Sequence[Times], machine: Machine, store: str, each: int) -> None:
    with score.engine(machine) as reuse:
        said = score.predictor(reuse)(machine, found)
        phases.measure(found, said, machine, store, each, _silent)
        print(terms.table(terms.terms_of(found, phases.kept(store), machine, reuse)))


def _page(found: Sequence[Times], machine: Machine, store: str, output: Path) -> None:
    with score.engine(machine) as reuse:
        said = score.predictor(reuse)(machine, found)
        parts = terms.terms_of(found, phases.kept(store), machine, reuse)
    cells = points.cell_panels(found, said, machine)
    text = page.page(cells, points.term_panels(parts), terms.table(parts))
    output.write_text(text, encoding="utf-8")
    print(f"wrote {output}")


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Progress is one line per cell."""


if __name__ == "__main__":
    main()
