"""The grid of a map: problems at all sizes, the contenders of each cell, their predictions."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from autotune.commands.rank.ranked_space import RankedSpace
from autotune.domain.decision_map import Contender
from autotune.domain.problem import AnyProblem
from autotune.domain.results import Prediction
from autotune.domain.setup import Layout, Setup
from autotune.domain.variant import Build, Candidate, Placement
from autotune.errors import Fault, InputError, nearest
from autotune.measuring.host.host_facts import available_memory
from autotune.tuning.maps import axes
from autotune.tuning.maps.map_prior import Cells, MapPrior, prior
from autotune.units import show
from autotune.workloads.base import MOST_ILLEGAL

MOST = 256
"""Contenders that are looked at, those that are nearest to the fastest in any cell."""
_TWIN = "same program as "
"""How the reason of a candidate that is left out begins, when another one is the same program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapSubject:
    """The computation that a map is about, at all sizes of the map."""

    label: str
    problem: AnyProblem
    """At the size of the config."""
    size_name: str
    sizes: tuple[int, ...]

    def at(self, size: int) -> AnyProblem:
        """The problem at a size; InputError if the computation has no problem of that size."""
        try:
            return self.problem.resized(size)
        except ValueError as error:
            raise InputError(Fault(where="--sizes", found=str(error))) from error


def kinds(setup: Setup, sizes: Sequence[int] | None) -> list[MapSubject]:
    """The different computations of a config, whatever the sizes of their problems.

    ``sizes``: the sizes of the map; without them, sizes from the smallest to the largest of the
    config. InputError if the config has only one size, or if a program has no size.
    """
    groups: dict[tuple[object, ...], list[AnyProblem]] = {}
    for problem in setup.problems:
        groups.setdefault((problem.method_key, problem.shape), []).append(problem)
    names = [group[0].name for group in groups.values()]
    subjects: list[MapSubject] = []
    for group in groups.values():
        name = group[0].name
        same = names.count(name) > 1
        own_sizes = sorted({size_of(problem, setup) for problem in group})
        chosen = tuple(sizes or ())
        if not chosen:
            if len(own_sizes) < 2:
                raise InputError(
                    Fault(
                        where=setup.place("problems"),
                        found=f"{name} has one size only, {own_sizes[0]}",
                        expected="the sizes of the map",
                        hint=f"--sizes {max(1, own_sizes[0] // 4)}..{own_sizes[0] * 4}",
                    )
                )
            chosen = axes.spaced(own_sizes[0], own_sizes[-1], axes.COUNT)
        subjects.append(
            MapSubject(
                label=f"{name}-{len(subjects) + 1}" if same else name,
                problem=group[0],
                size_name=group[0].size_symbol,
                sizes=chosen,
            )
        )
    return subjects


def with_problem(setup: Setup, label: str) -> Setup:
    """The setup reduced to the problem of a label, unchanged for an empty label.

    InputError for an unknown label.
    """
    if not label:
        return setup
    matching = tuple(problem for problem in setup.problems if problem.label == label)
    if not matching:
        names = [problem.label for problem in setup.problems]
        raise InputError(
            Fault(
                where="--problem",
                found=label,
                expected=f"a problem of the config: {', '.join(names)}",
                hint=nearest(label, names),
            )
        )
    return dataclasses.replace(setup, problems=matching)


def check_memory(kind: MapSubject) -> None:
    """Raise InputError if input and output of the largest problem do not fit in free memory."""
    largest = kind.at(kind.sizes[-1])
    free = available_memory()
    need = 2 * largest.state_bytes
    if free and need > free:
        raise InputError(
            Fault(
                where="--sizes",
                found=f"{largest.label} needs more than {show(need, 'size')}",
                expected=f"a size that fits into memory; {show(free, 'size')} are free",
                hint="a grid keeps its shape: the size is that of the dimension with unit stride",
            )
        )


def teams(setup: Setup, threads: str | None, cores: int) -> tuple[int, ...]:
    """The numbers of threads of a map: from the option, else from layouts with one rank."""
    single = [
        of_one_rank for of_one_rank in setup.layouts if of_one_rank.nodes * of_one_rank.ranks == 1
    ]
    if not single:
        raise InputError(
            Fault(
                where=setup.place("layouts"),
                found="no layout has one rank on one node",
                expected="one: a map is over sizes and threads",
                hint="threads: [1, all]",
            )
        )
    if threads is not None:
        return axes.threads(threads, cores)
    return axes.teams([layout.threads for layout in single], cores)


def widened(setup: Setup, kind: MapSubject, threads: Sequence[int]) -> Setup:
    """The setup with the problems and layouts of a map."""
    single = [
        of_one_rank for of_one_rank in setup.layouts if of_one_rank.nodes * of_one_rank.ranks == 1
    ]
    placements = dict.fromkeys(layout.placement for layout in single)
    return dataclasses.replace(
        setup,
        problems=tuple(kind.at(size) for size in kind.sizes),
        layouts=tuple(
            Layout(threads=count, placement=placement)
            for count in threads
            for placement in placements
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MapGrid:
    """The contenders of a map in each of its cells, with their predictions."""

    kind: MapSubject
    cells: Cells
    contenders: tuple[Contender, ...]
    candidates: tuple[tuple[Candidate, ...], ...]
    """Each contender in each cell, also where it is not legal."""
    predictions: tuple[tuple[Prediction | None, ...], ...]
    """None where it is not legal."""
    prior: MapPrior
    left_out: int
    engine: str

    def places(self) -> dict[str, tuple[int, int]]:
        """The (contender, cell) of each legal candidate, by the candidate's identity."""
        return {
            candidate.identity: (k, c)
            for k, row in enumerate(self.candidates)
            for c, candidate in enumerate(row)
            if self.predictions[k][c] is not None
        }


_Key = tuple[str, Build, Placement]
_Row = Mapping[int, tuple[Candidate, Prediction]]
"""A contender where it is legal, by cells."""
_Predicted = Mapping[_Key, _Row]


def grid(kind: MapSubject, threads: Sequence[int], ranked: RankedSpace) -> MapGrid:
    """The grid of a map from the predictions for its widened setup."""
    cells = Cells(sizes=kind.sizes, threads=tuple(threads))
    problems = [kind.at(cells.at(c)[0]) for c in range(len(cells))]
    number = {(problems[c].key, cells.at(c)[1]): c for c in range(len(cells))}
    several = len({layout.placement for layout in ranked.setup.layouts}) > 1
    predicted: dict[_Key, dict[int, tuple[Candidate, Prediction]]] = {}
    for entry in (entry for ranking in ranked.rankings for entry in ranking.entries):
        candidate = entry.candidate
        cell = number[candidate.problem.key, candidate.threads]
        predicted.setdefault(_key(candidate, several), {})[cell] = candidate, entry.prediction
    for c in range(len(cells)):
        if not any(c in row for row in predicted.values()):
            _nothing(ranked, problems[c], cells.at(c)[1])
    keys = _nearest(predicted, len(cells))
    candidates = [
        [_candidate(predicted[key], problems[c], cells.at(c)[1], c) for c in range(len(cells))]
        for key in keys
    ]
    predictions = [
        [predicted[key][c][1] if c in predicted[key] else None for c in range(len(cells))]
        for key in keys
    ]
    contenders = _contenders(
        keys, [next(iter(predicted[key].values()))[0] for key in keys], several
    )
    parameters = [
        {
            **candidate.parameters,
            "build": f"{candidate.build.compiler} {' '.join(candidate.build.flags)}",
            "at": candidate.placement,
        }
        for candidate in contenders
    ]
    return MapGrid(
        kind=kind,
        cells=cells,
        contenders=contenders,
        candidates=tuple(map(tuple, candidates)),
        predictions=tuple(map(tuple, predictions)),
        prior=prior(cells, parameters, predictions, _twins(predicted, keys, ranked, number)),
        left_out=len(predicted) - len(keys),
        engine=next((p.engine for row in predictions for p in row if p and p.seconds), ""),
    )


def _key(candidate: Candidate, several: bool) -> _Key:
    values = json.dumps(dict(sorted(candidate.variant.parameters.items())))
    return values, candidate.build, candidate.placement if several else "compact"


def _candidate(row: _Row, problem: AnyProblem, threads: int, cell: int) -> Candidate:
    if cell in row:
        return row[cell][0]
    first = next(iter(row.values()))[0]
    layout = dataclasses.replace(first.layout, threads=threads)
    return dataclasses.replace(first, problem=problem, layout=layout)


def _nearest(predicted: _Predicted, cells: int) -> list[_Key]:
    """The contenders that may win some cell, in the order of the space.

    Without predictions, contenders evenly spaced in that order.
    """
    if len(predicted) <= MOST:
        return list(predicted)
    times = np.full((len(predicted), cells), np.inf)
    for k, row in enumerate(predicted.values()):
        for c, (_, prediction) in row.items():
            uncertainty = prediction.uncertainty
            if prediction.seconds is not None:
                times[k, c] = np.log(prediction.seconds) - (
                    uncertainty.sigma if uncertainty else 0.0
                )
    least = times.min(axis=0, initial=np.inf)
    behind = np.where(np.isfinite(times), times - np.where(np.isfinite(least), least, 0.0), np.inf)
    if np.isfinite(least).any():
        chosen = np.argsort(behind.min(axis=1), kind="stable")[:MOST]
    else:
        chosen = np.linspace(0, len(predicted) - 1, MOST).round().astype(np.intp)
    every = list(predicted)
    # a cell keeps somebody
    needed = {next(k for k, row in enumerate(predicted.values()) if c in row) for c in range(cells)}
    return [every[k] for k in sorted({*chosen.tolist(), *needed})]


def _contenders(
    keys: Sequence[_Key], examples: Sequence[Candidate], several: bool
) -> tuple[Contender, ...]:
    """Contenders with distinct labels, which name build and placement only where these differ."""
    builds = list(dict.fromkeys(build for _, build, _ in keys))
    contenders = []
    for (_, build, placement), example in zip(keys, examples, strict=True):
        label = example.variant.label
        if len(builds) > 1:
            label += f" {_build_name(build, builds)}"
        if several:
            label += f" {placement}"
        contenders.append(
            Contender(
                label=label,
                variant=example.variant.label,
                parameters=dict(example.variant.parameters),
                build=build,
                placement=placement if several else example.placement,
            )
        )
    return tuple(contenders)


def _build_name(build: Build, builds: Sequence[Build]) -> str:
    """The name of a build: the parts in which it differs from the other builds."""
    common = set.intersection(*(set(other.flags) for other in builds))
    words = [flag for flag in build.flags if flag not in common]
    if len({other.compiler for other in builds}) > 1:
        words.insert(0, build.compiler)
    return " ".join(words) or build.compiler


def _twins(
    predicted: _Predicted,
    keys: Sequence[_Key],
    ranked: RankedSpace,
    number: Mapping[tuple[str, int], int],
) -> dict[tuple[int, int], int]:
    """For each (contender, cell), the other contender that is the same program in that cell."""
    place = {(_variant(predicted[key]), key[1], key[2]): k for k, key in enumerate(keys)}
    named: dict[str, list[int]] = {}
    for (variant, _, _), k in place.items():
        named.setdefault(variant, []).append(k)
    twins: dict[tuple[int, int], int] = {}
    for label, problem, reason in ranked.enumerated.illegal.listed:
        variant, _, rest = label.partition("@")
        if not reason.startswith(_TWIN) or variant not in named:
            continue
        threads = int(rest.removeprefix(f"{problem.label}-T").partition("-")[0])
        cell = number[problem.key, threads]
        for k in named[variant]:
            other = place.get((reason.removeprefix(_TWIN), *keys[k][1:]))
            if other is not None and cell in predicted[keys[other]]:
                twins[k, cell] = other
    for k, (values, build, placement) in enumerate(keys):
        other = place.get((_variant(predicted[values, build, placement]), build, "compact"))
        for cell in number.values():
            # one thread, or one on every core, is placed the same in any way
            if placement != "compact" and other is not None and cell in predicted[keys[other]]:
                twins[k, cell] = other
    return {(k, c): other for (k, c), other in twins.items() if c not in predicted[keys[k]]}


def _variant(row: _Row) -> str:
    return next(iter(row.values()))[0].variant.label


def _nothing(ranked: RankedSpace, problem: AnyProblem, threads: int) -> None:
    """Raise InputError because a cell has no legal candidate."""
    reasons = sorted(
        {
            why
            for _, problem_refused, why in islice(ranked.enumerated.illegal, MOST_ILLEGAL)
            if problem_refused.key == problem.key
        }
    )
    raise InputError(
        Fault(
            where="--sizes",
            found=f"{problem.label} with {threads} thread(s) has no legal candidate",
            expected="sizes with at least one",
            hint="; ".join(reasons[:3]),
        )
    )


# --- sizes ------------------------------------------------------------------------------------


def size_of(problem: AnyProblem, setup: Setup) -> int:
    """The size of a problem on the axis of a map; InputError for a program without a size."""
    if problem.map_size is None:
        raise InputError(
            Fault(
                where=setup.place("program"),
                found=f"{problem.name} does not say which argument is its size",
                expected="size: NAME in its file",
                hint=f"one of {', '.join(problem.arguments)}" if problem.arguments else "",
            )
        )
    return problem.map_size
