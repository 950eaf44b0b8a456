"""How well does engine reuse predict and rank the variants of this host, against measuring all?

    python benchmarks/accuracy.py measure [--sets base,unseen,fresh,...]
                                          [--store FILE] [--only TEXT] [--rounds 5]
    python benchmarks/accuracy.py score   [--sets ...] [--store FILE] [--only TEXT] [--verbose]

`measure` runs an exhaustive study per cell (problem x size x threads x build) in interleaved
rounds, at least four; a cell that the store already holds is left out, so that it can be
interrupted and resumed, and so is one whose compiler is
not installed, or builds no OpenMP programs. The sets `unseen` and
`unseen_stencils` (benchmarks/unseen) are of problems on which no constant was set; prices in core
were mended after looking at nine-taps and burgers, so that these two are no longer unseen. On the
problems of `fresh`, `fresh_stencils`, `fresh_builds` (gcc -O2, clang -O3) and `fresh_unpadded`
(sizes that are powers of two) nothing was set, and nothing was looked at. `score` predicts every
cell with the engine and the calibration of today and prints, for the six loop orders alone, the
whole pool of PIRK variants and the stencils, by regime:

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
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import accuracy_score as score
import accuracy_tables as tables
from accuracy_cells import Cell
from accuracy_folds import LEAST_ROUNDS
from accuracy_sets import SETS

from autotune.commands.rank import host_machine, ranked_space
from autotune.commands.tune import flow as tune_flow
from autotune.errors import MissingTool
from autotune.files.store import Store, StudyRecord
from autotune.toolchain import compiler as compilers


def main() -> None:
    arguments = _arguments()
    wanted = [
        cell
        for name in arguments.sets.split(",")
        for cell in SETS[name]()
        if arguments.only in cell.name
    ]
    if arguments.task == "measure":
        _measure(list(_buildable(wanted)), arguments.store, arguments.rounds)
    else:
        _score(wanted, arguments.store, verbose=arguments.verbose)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("task", choices=("measure", "score"))
    parser.add_argument("--store", default="accuracy.sqlite", help="where the samples are kept")
    parser.add_argument("--sets", default=",".join(SETS), help="which cells")
    parser.add_argument("--only", default="", help="cells whose name contains this text")
    parser.add_argument("--rounds", type=int, default=5, help="at least 4")
    parser.add_argument("--verbose", action="store_true", help="a line for every cell")
    given = parser.parse_args()
    for name in given.sets.split(","):
        if name not in SETS:
            parser.error(f"--sets: no set {name!r}; there are {', '.join(SETS)}")
    if given.rounds < LEAST_ROUNDS:
        parser.error(f"--rounds: at least {LEAST_ROUNDS}, two that choose and two that score")
    return given


def _buildable(wanted: Sequence[Cell]) -> Iterator[Cell]:
    """The cells whose compiler builds OpenMP programs on this host."""
    for cell in wanted:
        try:
            compilers.require_openmp(compilers.find(cell.build))
        except MissingTool as error:
            print(f"{cell.name}: left out: {error}")
        else:
            yield cell


def _measure(wanted: Sequence[Cell], store: str, rounds: int) -> None:
    begun, ended = _known(store)
    folder = Path(tempfile.mkdtemp())
    for number, cell in enumerate(wanted, start=1):
        if cell.name in ended:
            continue
        path = folder / f"{cell.name}.yaml"
        path.write_text(cell.config(rounds), encoding="utf-8")
        options = tune_flow.StudyOptions(exhaustive=True, resume=cell.name in begun)
        result = tune_flow.tune(ranked_space.load(path), options, store, _silent)
        compared = sum(problem.compared for problem in result.evaluation.problems)
        print(f"{number}/{len(wanted)} {cell.name}: {compared} candidates", flush=True)
    print(f"every sample is in {store}")


def _score(wanted: Sequence[Cell], store: str, *, verbose: bool) -> None:
    machine = host_machine.host(_silent)
    found = list(score.times_of(store, wanted, machine))
    if not found:
        raise SystemExit(f"{store} has no such cell")
    with score.engines(machine) as predict:
        print("\nas calibrated")
        tables.show(found, predict(machine, found), machine, verbose=verbose)
        if len({times.cell.subject for times in found}) > 1:
            print("\nleave-one-problem-out")
            tables.show(found, score.left_out(machine, found, predict), machine, verbose=verbose)


def _known(store: str) -> tuple[set[str], set[str]]:
    """The cells that were begun, and those that were measured to their end."""
    if not Path(store).exists():
        return set(), set()
    with Store.open(store) as results:
        begun = {found.name for found in results.studies()}
        return begun, {name for name in begun if _ended(results.load_study(name))}


def _ended(record: StudyRecord) -> bool:
    return bool(record.runs) and record.runs[-1].state == "done"


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Progress is one line per cell."""


if __name__ == "__main__":
    main()
