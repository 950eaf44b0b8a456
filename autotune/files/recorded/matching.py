"""Matches the rows of a recorded space with candidates: a row is the candidate that agrees in all
its settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError, nearest
from autotune.files.recorded.recorded_space import RecordedSpace, Setting, ascending, whole

Settings = Mapping[str, Setting]
_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """The rows of a space that match a candidate, and the rows and names that were not used."""

    pairs: tuple[tuple[int, Candidate], ...]
    """Row and candidate; none twice."""
    strangers: tuple[int, ...]
    """Rows that are no candidate."""
    ignored: tuple[str, ...]
    """Columns that the candidates do not have. Each has the same value in all rows."""


def match(space: RecordedSpace, candidates: Sequence[Candidate], given: Settings) -> Matched:
    """Match the rows of a space with candidates.

    ``given``: settings that all rows share and the file does not state. Raises InputError where
    rows differ in a setting that no candidate has, where a row matches several candidates, and
    where no row matches any.
    """
    described = [_described(candidate) for candidate in candidates]
    names = dict.fromkeys(name for candidate_settings in described for name in candidate_settings)
    _check_names(space, given, names)
    fixed = {**space.constants, **given}
    used = [name for name in (*space.names, *fixed) if name in names]
    places: dict[tuple[Setting, ...], list[int]] = {}
    for place, candidate_settings in enumerate(described):
        places.setdefault(tuple(_plain(candidate_settings.get(name)) for name in used), []).append(
            place
        )
    pairs, strangers = [], []
    for row in range(len(space)):
        settings = {**fixed, **space.settings(row)}
        fitting = places.get(tuple(_plain(settings[name]) for name in used), [])
        if len(fitting) > 1:
            raise _unsure(space, [described[place] for place in fitting])
        if fitting:
            pairs.append((row, candidates[fitting[0]]))
        else:
            strangers.append(row)
    if not pairs:
        raise _none(space, {**fixed, **space.settings(0)}, described, used)
    ignored = tuple(name for name in space.constants if name not in names)
    return Matched(pairs=tuple(pairs), strangers=tuple(strangers), ignored=ignored)


def _described(candidate: Candidate) -> dict[str, Setting]:
    """All settings of a candidate that a file may state, by the names that ``autotune export``
    uses.
    """
    parameters = candidate.variant.parameters
    problem = candidate.problem
    run: dict[str, Setting] = {
        "problem": problem.label,
        "threads": candidate.threads,
        "ranks": candidate.ranks,
        "nodes": candidate.nodes,
        "communication": candidate.communication,
        "placement": candidate.placement,
        "compiler": candidate.build.compiler,
        "flags": " ".join(candidate.build.flags),
    }
    settings: dict[str, Setting] = {**run, **parameters}
    for name in parameters.keys() & run.keys():  # T4 and CSV have names of their own for both
        settings |= {f"autotune_{name}": run[name], f"{name} of run": run[name]}
    return {**problem.arguments, **settings}


def _plain(value: Setting) -> Setting:
    """A setting in a single form where formats differ: true as 1, null as ``none``, blanks in
    flags.
    """
    if isinstance(value, str):
        text = " ".join(value.split())
        return None if text == "none" else text
    return int(value) if isinstance(value, bool) else whole(value)


def _check_names(space: RecordedSpace, given: Settings, names: Mapping[str, None]) -> None:
    expected = ", ".join(names)
    faults = [
        Fault(
            where=space.source,
            found=f"rows differ in {name}",
            expected=f"only what candidates of the config differ in: {expected}",
            hint=nearest(name, list(names)),
        )
        for name in space.names
        if name not in names
    ]
    for name in given:
        if name in space.names or name in space.constants:
            found = f"{name} is in the file"
            faults.append(Fault(where="--given", found=found, expected="what it does not say"))
        elif name not in names:
            hint = nearest(name, list(names))
            faults.append(Fault(where="--given", found=name, expected=expected, hint=hint))
    if faults:
        raise InputError(*faults)


def _unsure(space: RecordedSpace, fitting: Sequence[Settings]) -> InputError:
    values = {
        name: ascending([_plain(settings.get(name)) for settings in fitting]) for name in fitting[0]
    }
    differing = {name: differences for name, differences in values.items() if len(differences) > 1}
    shown = "; ".join(f"{name} ({_listed(differences)})" for name, differences in differing.items())
    name, differences = next(iter(differing.items()))
    return InputError(
        Fault(
            where=space.source,
            found=f"rows that could be {len(fitting)} candidates: they do not say {shown}",
            expected="rows that are one candidate each",
            hint=f"say it for all of them: --given '{name}={_written(differences[0])}'",
        )
    )


def _none(
    space: RecordedSpace, first: Settings, described: Sequence[Settings], used: Sequence[str]
) -> InputError:
    apart = []
    for name in used:
        there = {_plain(settings.get(name)) for settings in described}
        if _plain(first[name]) not in there:
            apart.append(f"{name} is {_written(first[name])}, not one of {_listed(list(there))}")
    names = ", ".join(used)
    return InputError(
        Fault(
            where=space.source,
            found=f"none of {len(space)} rows is a legal candidate of the config"
            + (f"; of the first {', '.join(apart)}" if apart else ""),
            expected=f"rows that agree with a candidate in {names}" if names else "its parameters",
        )
    )


def _listed(values: Sequence[Setting]) -> str:
    shown = [_written(value) for value in ascending(values)]
    return ", ".join(shown[:_SHOWN]) + (", ..." if len(shown) > _SHOWN else "")


def _written(value: Setting) -> str:
    return "none" if value is None else str(value)
