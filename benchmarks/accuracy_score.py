"""Scores of benchmarks/accuracy.py: predictions of today against the times in a store."""

import math
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import accuracy_cells as cells
import numpy as np
import numpy.typing as npt

from autotune import config
from autotune.analysis.incore import OsacaAnalyser, assemble
from autotune.codegen.emit import sweep_code
from autotune.codegen.ir import Program
from autotune.codegen.programs import Programs
from autotune.machine import Machine
from autotune.measure import stats
from autotune.pipeline import machines, prospect
from autotune.prediction.reuse import ReuseEngine
from autotune.refine import Figure, Measured, figures, shifted
from autotune.refine.figures import held, prior
from autotune.refine.fit import fit
from autotune.refine.rows import data
from autotune.report.text import columns
from autotune.setup import Setup
from autotune.store import RunRecord, Store
from autotune.variant import Candidate

Floats = npt.NDArray[np.float64]
KS = (1, 3, 5)
_CACHE = (0.3e6, 10e6)
"""Bytes per thread."""
_SHORT = 100e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The measured candidates of one cell."""

    cell: cells.Cell
    candidates: tuple[Candidate, ...]
    seconds: Floats
    noise: Floats
    floor: float
    """Mean noise floor."""
    bytes: float
    """Working set of one thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """What the engine says of the candidates of a cell: seconds, and the 80 % interval."""

    seconds: Floats
    low: Floats
    high: Floats


def report(store: str, only: str, *, verbose: bool) -> None:
    """Print the tables."""
    machine = machines.host(_silent)
    found = list(_times(store, only, machine))
    if not found:
        raise SystemExit(f"no cell of {store} matches {only!r}")
    with _engines(machine) as predict:
        shipped = predict(machine, found)
        print("\nas calibrated")
        _print(found, shipped, machine, verbose=verbose)
        if len({times.cell.subject for times in found}) < 2:
            return
        print("\nleave-one-problem-out: constants refined on the other problems")
        learned = _left_out(machine, found, predict)
        _print(found, learned, machine, verbose=verbose)


# --- measured ---------------------------------------------------------------------------------


def _times(store: str, only: str, machine: Machine) -> Iterator[Times]:
    known = {cell.name: cell for make in cells.SETS.values() for cell in make()}
    with Store.open(store) as results, tempfile.TemporaryDirectory() as folder:
        for summary in results.studies():
            cell = known.get(summary.name)
            if cell is None or only not in cell.name:
                continue
            path = Path(folder) / f"{cell.name}.yaml"
            path.write_text(cell.config(5), encoding="utf-8")
            setup = prospect.load(path)
            made = _joined(cell, setup, machine, results.load_study(cell.name).runs[-1])
            if made is not None:
                yield made


def _joined(cell: cells.Cell, setup: Setup, machine: Machine, run: RunRecord) -> Times | None:
    programs = Programs(setup.skeleton)
    rounds: dict[str, dict[int, list[float]]] = {}
    chosen: dict[str, Candidate] = {}
    for candidate in prospect.enumerate_space(setup, machine, programs).legal:
        measured = run.measurement(candidate.identity)
        if measured is not None and measured.status == "ok":
            rounds[candidate.identity] = stats.by_round(measured.accepted)
            chosen[candidate.identity] = candidate
    whole = max((len(each) for each in rounds.values()), default=0)
    kept = [identity for identity, each in rounds.items() if len(each) == whole]
    if len(kept) < 2:
        return None
    samples = [[t for each in rounds[name].values() for t in each] for name in kept]
    floor = stats.noise_floor({name: rounds[name] for name in kept})
    candidates = tuple(chosen[name] for name in kept)
    return Times(
        cell=cell,
        candidates=candidates,
        seconds=np.array([stats.location(times) for times in samples]),
        noise=np.array([_noise(rounds[name]) for name in kept]),
        floor=floor.mean if floor else 0.0,
        bytes=_working_set(candidates[0]),
    )


def _noise(rounds: Mapping[int, Sequence[float]]) -> float:
    """Relative standard deviation of the location, from round to round."""
    places = [stats.location(times) for times in rounds.values()]
    if len(places) < 2:
        return 0.02
    return max(0.005, statistics.stdev(places) / statistics.fmean(places) / math.sqrt(len(places)))


def _working_set(candidate: Candidate) -> float:
    problem = candidate.problem
    rows = 2 if problem.family == "stencil" else 2 * _stages(candidate) + 2
    return 8.0 * rows * problem.n / candidate.threads


def _stages(candidate: Candidate) -> int:
    problem = candidate.problem
    return problem.method.stages if problem.family == "ivp" else 0


# --- predicted --------------------------------------------------------------------------------

Predict = Callable[[Machine, Sequence[Times]], list[Predicted]]


@contextmanager
def _engines(machine: Machine) -> Iterator[Predict]:
    """Predictions of all cells at once, with any calibration of the machine."""
    with OsacaAnalyser(machine, assemble=assemble) as analyser:
        made = {name: Programs(config.skeleton(name)) for name in ("pirk", "jacobi")}

        def programs(candidate: Candidate) -> Program:
            return made[candidate.variant.skeleton](candidate)

        engine = ReuseEngine(machine, programs, analyser, sweep_code)

        def predict(calibrated: Machine, wanted: Sequence[Times]) -> list[Predicted]:
            everything = [c for times in wanted for c in times.candidates]
            found = engine.on(calibrated).predict_arrays(everything)
            ends = np.cumsum([len(times.candidates) for times in wanted])[:-1]
            pieces = zip(
                np.split(found.seconds, ends),
                np.split(found.low, ends),
                np.split(found.high, ends),
                strict=True,
            )
            return [Predicted(seconds=s, low=low, high=high) for s, low, high in pieces]

        yield predict


def _left_out(machine: Machine, found: Sequence[Times], predict: Predict) -> list[Predicted]:
    """Every cell by constants that were refined on the cells of all other problems.

    The posterior is that of ``machine refine`` with the model linearised once around the
    calibration; the predictions are those of the full model with the refined constants.
    """
    assert machine.calibration is not None
    known, rows = figures(machine), _rows(found)
    start = _seconds(predict(machine, found))

    def logs(shift: Floats) -> Floats:
        changed = replace(machine, calibration=shifted(machine.calibration, known, shift.tolist()))
        return np.log(_seconds(predict(changed, found)))

    base, slopes = np.log(start), np.zeros((len(start), len(known)))
    for k, figure in enumerate(known):
        step = np.zeros(len(known))
        step[k] = figure.sigma
        slopes[:, k] = (logs(step) - base) / figure.sigma
    slopes = np.nan_to_num(slopes)
    subject = np.array([t.cell.subject for t in found for _ in t.candidates])
    made: dict[int, Predicted] = {}
    for name in dict.fromkeys(subject.tolist()):
        inside = (subject != name) & np.isfinite(base)

        def model(shift: Floats, rows_in: npt.NDArray[np.bool_] = inside) -> Floats:
            return base[rows_in] + slopes[rows_in] @ shift

        posterior = fit(
            model, data([r for r, k in zip(rows, inside, strict=True) if k]), prior(known)
        )
        shift = held(known, posterior.shift.tolist())
        refined = replace(machine, calibration=shifted(machine.calibration, known, shift))
        for k, said in enumerate(predict(refined, found)):
            if found[k].cell.subject == name:
                made[k] = said
        _tell(name, known, shift)
    return [made[k] for k in range(len(found))]


def _tell(name: str, known: Sequence[Figure], shift: Sequence[float]) -> None:
    """The constants that the others moved most, in deviations of what was measured."""
    moved = sorted(zip(known, shift, strict=True), key=lambda pair: -abs(pair[1] / pair[0].sigma))
    told = [f"{f.name} {f.value:.3g} -> {f.at(x):.3g}" for f, x in moved[:5] if x]
    print(f"without {name}: {', '.join(told)}")


def _seconds(said: Sequence[Predicted]) -> Floats:
    return np.concatenate([each.seconds for each in said])


def _rows(cases: Sequence[Times]) -> list[Measured]:
    return [
        Measured(candidate=candidate, seconds=float(seconds), noise=float(noise))
        for times in cases
        for candidate, seconds, noise in zip(
            times.candidates, times.seconds, times.noise, strict=True
        )
    ]


# --- tables -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The figures of one cell, over some of its candidates."""

    name: str
    group: str
    deviations: Floats
    tau: float | None
    pairs: float | None
    losses: Mapping[int, float]
    floor: float
    inside: float
    width: float


def _print(
    found: Sequence[Times], predicted: Sequence[Predicted], machine: Machine, *, verbose: bool
) -> None:
    for title, wanted in (
        ("six loop orders", _plain),
        ("all PIRK variants", lambda c: c.problem.family == "ivp"),
        ("stencils", lambda c: c.problem.family == "stencil"),
    ):
        lines, labels = [], {}
        for times, said in zip(found, predicted, strict=True):
            chosen = np.array([wanted(candidate) for candidate in times.candidates])
            if chosen.sum() < 2:
                continue
            lines.append(_line(times, said, chosen, machine))
            labels[lines[-1].name] = times
        if lines:
            print(f"\n{title}")
            print(_table(lines, _rules(lines, labels, wanted), verbose=verbose))


def _plain(candidate: Candidate) -> bool:
    if candidate.problem.family != "ivp":
        return False
    values = candidate.variant.parameters
    return not any(v for k, v in values.items() if k not in ("order", "pad") and v != "none")


def _line(times: Times, said: Predicted, chosen: npt.NDArray[np.bool_], machine: Machine) -> Line:
    measured, predicted = times.seconds[chosen], said.seconds[chosen]
    low, high = said.low[chosen], said.high[chosen]
    known = np.where(np.isnan(predicted), np.inf, predicted)
    a, b = known.tolist(), measured.tolist()
    return Line(
        name=times.cell.name,
        group=f"{_regime(times, machine)} T{times.cell.threads}",
        deviations=predicted / measured - 1,
        tau=stats.kendall(a, b),
        pairs=stats.ordered_pairs(a, b),
        losses={k: stats.top_loss(a, b, k) or 0.0 for k in KS},
        floor=times.floor,
        inside=float(np.mean((low <= measured) & (measured <= high))),
        width=float(np.nanmedian((high - low) / predicted)),
    )


def _regime(times: Times, machine: Machine) -> str:
    least, most = _CACHE
    if times.bytes * times.cell.threads > 2 * machine.caches[-1].size:
        return "memory"
    if least <= times.bytes <= most and float(np.min(times.seconds)) >= _SHORT:
        return "cache"
    return "other"


def _rules(
    lines: Sequence[Line], cases: Mapping[str, Times], wanted: Callable[[Candidate], bool]
) -> dict[int, dict[str, float]]:
    """k to the loss on each cell of the best list of k variants chosen on other problems."""
    found: dict[int, dict[str, float]] = {k: {} for k in KS}
    table = {
        line.name: {
            c.variant.label: float(t)
            for c, t in zip(cases[line.name].candidates, cases[line.name].seconds, strict=True)
            if wanted(c)
        }
        for line in lines
    }
    for subject in {cases[line.name].cell.subject for line in lines}:
        for name in [line.name for line in lines if cases[line.name].cell.subject == subject]:
            alike = {
                other: times
                for other, times in table.items()
                if cases[other].cell.subject != subject and times.keys() == table[name].keys()
            }
            if not alike:
                continue
            for k in KS:
                chosen = stats.constant_rule({**alike, name: table[name]}, k, leave_out=name)
                best = min(table[name].values())
                found[k][name] = min(table[name][v] for v in chosen) / best - 1
    return found


def _table(
    lines: Sequence[Line], rules: Mapping[int, Mapping[str, float]], *, verbose: bool
) -> str:
    head = ["cells", "n", "mdev", "tau-b", "pairs"]
    head += [f"top-{k} mean/max" for k in KS]
    head += ["excess-1 (95 %)", "excess-5", *(f"rule-{k}" for k in KS), "skill-1", "floor"]
    head += ["cover", "width"]
    rows = [head]
    if verbose:
        rows += [_summary(line.name, [line], rules) for line in lines]
    for group in sorted({line.group for line in lines}):
        rows.append(_summary(group, [line for line in lines if line.group == group], rules))
    rows.append(_summary("all", lines, rules))
    return columns(rows, right=range(1, len(head)))


def _summary(
    name: str, lines: Sequence[Line], rules: Mapping[int, Mapping[str, float]]
) -> list[str]:
    deviations = np.concatenate([line.deviations for line in lines])
    excess = {k: [max(0.0, line.losses[k] - line.floor) for line in lines] for k in KS}
    ruled = {k: [rules[k][x.name] for x in lines if x.name in rules[k]] for k in KS}
    ours = [line.losses[1] for line in lines if line.name in rules[1]]
    return [
        name,
        f"{len(lines)}/{len(deviations)}",
        _percent(float(np.nanmedian(np.abs(deviations)))),
        _number(_mean(line.tau for line in lines)),
        _percent(_mean(line.pairs for line in lines)),
        *(
            f"{_percent(_mean(x.losses[k] for x in lines))}/"
            f"{_percent(max(x.losses[k] for x in lines))}"
            for k in KS
        ),
        f"{_percent(_mean(excess[1]))} ({_percent(_bound(excess[1]))})",
        _percent(_mean(excess[5])),
        *(_percent(_mean(ruled[k])) for k in KS),
        _number(stats.skill(ours, ruled[1])) if ours else "-",
        _percent(_mean(line.floor for line in lines)),
        _percent(_mean(line.inside for line in lines)),
        _percent(statistics.median(line.width for line in lines)),
    ]


def _bound(values: Sequence[float], draws: int = 2000) -> float:
    """Upper end of the 95 % interval of the mean, by a bootstrap over the cells."""
    generator = np.random.default_rng(1)
    drawn = generator.choice(np.array(values), size=(draws, len(values)))
    return float(np.quantile(drawn.mean(axis=1), 0.975))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None and not math.isnan(value)]
    return statistics.fmean(known) if known else None


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}%"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Nobody follows."""
