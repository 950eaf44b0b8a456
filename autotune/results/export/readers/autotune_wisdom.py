"""Reads the wisdom files of autotune: what to run at a size and a number of threads.

One file, standard library only, Python 3.9 or newer: copy it into an application.

    import autotune_wisdom

    wisdom = autotune_wisdom.load("heat2d.wisdom.json")
    choice = wisdom.lookup(65536, threads=2)
    choice.parameters["tile"], choice.compiler, choice.flags, choice.seconds

A file holds sections, one per machine, problem and number of ranks; ``select`` takes one of
several:

    part = wisdom.select(machine="1a2b3c", problem="heat2d", ranks=1)

The rule of ``lookup`` is that of the C reader, ``autotune_wisdom.h``, to the last bit:

1. Two sizes (or numbers of threads) are as far apart as the larger over the smaller, in IEEE 754
   double precision: the distance of their logarithms. Of two that are equally near the smaller
   one is taken.
2. The entries with the asked number of threads are considered; where there are none, those with
   the nearest number.
3. Of these the one of the nearest size is taken; of several at that size the first.
4. 0 threads asks for any number: of all entries those of the nearest size are considered, and the
   fastest is taken; of equally fast ones that with fewer threads, then the first. An entry
   without a time is slower than any other. Where the objective is another metric, such as a rate
   in MB/s, the entry with the best value counts as the fastest.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Union

SCHEMA = "autotune.wisdom/1"
"""The only version that this file reads."""
LARGEST = 2**53
"""The largest size and number of threads: whole numbers up to here are exact as doubles."""

Value = Union[str, int, float, bool, None]  # noqa: UP007 - Python before 3.10


class WisdomError(Exception):
    """The root of the errors of this file."""


class UnreadableWisdom(WisdomError):
    """The file cannot be read."""


class Malformed(WisdomError):
    """The file is not JSON, or a field is missing or of a wrong type."""


class OtherVersion(WisdomError):
    """The file is not a wisdom file, or is one of another version."""


class NoSection(WisdomError):
    """No section matches the machine, problem and number of ranks."""


class SeveralSections(WisdomError):
    """Several sections match; ``select`` needs more arguments."""


class OutOfRange(WisdomError):
    """A size is below 1 or above 2**53, or a number of threads is negative."""


@dataclass(frozen=True)
class WisdomChoice:
    """One entry of a wisdom file: the variant to run, tuned at ``size`` and ``threads``."""

    size: int
    threads: int
    candidate: str
    """Id in the study that it comes from."""
    parameters: Mapping[str, Value]
    compiler: str
    flags: Sequence[str]
    seconds: float | None
    """Per time step, or per run of an external program, at ``size`` and ``threads``; None where
    the objective is another metric."""
    interval: tuple[float, float] | None
    """90 % interval of ``seconds``, or of ``value``."""
    loss_bound: float | None
    """Of entries of a decision map: following it loses at most this share of the best time."""
    verified: bool
    """Its result was compared with a reference."""
    metric: str = ""
    """The objective, such as speed; empty where it is the time."""
    unit: str = ""
    better: str = "less"
    """Which of two values is the better: less or more."""
    value: float | None = None
    """Of ``metric``, in ``unit``, at ``size`` and ``threads``."""

    @property
    def cost(self) -> float | None:
        """A number that is smaller for better entries; None where nothing was measured."""
        if not self.metric or self.value is None:
            return None if self.metric else self.seconds
        return -self.value if self.better == "more" else self.value


@dataclass(frozen=True)
class Section:
    """The entries of one machine, problem and number of ranks."""

    machine: Mapping[str, Value]
    problem: Mapping[str, Value]
    ranks: int
    entries: Sequence[WisdomChoice]

    def lookup(self, size: int, threads: int = 0) -> WisdomChoice:
        """The entry for a size and a number of threads, by the rule of this module.

        Raises OutOfRange for a size below 1 or above 2**53, and for threads below 0.
        """
        keys = [(entry.size, entry.threads, entry.cost) for entry in self.entries]
        return self.entries[choose(keys, size, threads)]


@dataclass(frozen=True)
class Wisdom:
    """The content of a wisdom file."""

    sections: Sequence[Section]

    def select(
        self, machine: str | None = None, problem: str | None = None, ranks: int = 0
    ) -> Section:
        """The one section that matches; None and 0 match everything.

        ``machine`` is an identity, name or title, ``problem`` an id, name or definition. Raises
        NoSection if none matches, SeveralSections if more than one does.
        """
        fitting = [
            section
            for section in self.sections
            if _names(section.machine, ("identity", "name", "title"), machine)
            and _names(section.problem, ("id", "name", "definition"), problem)
            and ranks in (0, section.ranks)
        ]
        if not fitting:
            known = "; ".join(_shown(section) for section in self.sections)
            raise NoSection(f"no section of machine {machine}, problem {problem}; there is {known}")
        if len(fitting) > 1:
            raise SeveralSections(f"several fit: {'; '.join(map(_shown, fitting))}")
        return fitting[0]

    def lookup(self, size: int, threads: int = 0) -> WisdomChoice:
        """The entry for a size and threads in the only section of the file.

        Raises as ``select`` and ``Section.lookup``.
        """
        return self.select().lookup(size, threads)


def distance(a: int, b: int) -> float:
    """How far apart two positive numbers are: the larger over the smaller."""
    return float(max(a, b)) / float(min(a, b))


def nearest(values: Iterable[int], wanted: int) -> int:
    """The value nearest to ``wanted``, the smaller of two that are equally near."""
    return min(sorted(set(values)), key=lambda value: distance(value, wanted))


def choose(keys: Sequence[tuple[int, int, float | None]], size: int, threads: int) -> int:
    """The index of the entry that the rule selects from a list of (size, threads, cost).

    The cost is the seconds, or smaller for better values of another metric. The list must not be
    empty. Raises OutOfRange as ``Section.lookup``.
    """
    if not 1 <= size <= LARGEST:
        raise OutOfRange(f"a size is from 1 to 2**53, not {size}")
    if not 0 <= threads <= LARGEST:
        raise OutOfRange(f"a number of threads is from 0 to 2**53, not {threads}")
    indices = range(len(keys))
    if threads == 0:
        there = nearest((key[0] for key in keys), size)
        fitting = [i for i in indices if keys[i][0] == there]
        return min(fitting, key=lambda i: (_slow(keys[i][2]), keys[i][1], i))
    taken = nearest((key[1] for key in keys), threads)
    there = nearest((key[0] for key in keys if key[1] == taken), size)
    return next(i for i in indices if keys[i][1] == taken and keys[i][0] == there)


def _slow(cost: float | None) -> float:
    return float("inf") if cost is None else cost


# --- reading ----------------------------------------------------------------------------------


def load(path: str) -> Wisdom:
    """The wisdom of a file; raises Unreadable, Malformed or OtherVersion."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as short as it can be
            data = file.read()
    except OSError as error:
        raise UnreadableWisdom(f"{path}: {error.strerror}") from error
    return parse(data)


def parse(data: bytes) -> Wisdom:
    """The wisdom of a text; raises Malformed or OtherVersion."""
    if re.search(rb"(?<!\\)(?:\\\\)*\\u0000", data):
        raise Malformed("a text holds the character 0")
    try:
        content = json.loads(data.decode("utf-8", "replace"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not JSON: {error}") from error
    if not isinstance(content, dict) or not isinstance(content.get("schema"), str):
        raise OtherVersion("no wisdom file: it has no schema")
    if content["schema"] != SCHEMA:
        raise OtherVersion(f"schema {content['schema']}; this reader knows {SCHEMA}")
    sections = _list(content, "sections", "file")
    if not sections:
        raise Malformed("the file has no section")
    return Wisdom(tuple(_section(item, f"section {i}") for i, item in enumerate(sections)))


def _section(item: object, where: str) -> Section:
    section = _object(item, where)
    machine = _object(section.get("machine"), f"machine of {where}")
    problem = _object(section.get("problem"), f"problem of {where}")
    _text(machine, "identity", where)
    _text(problem, "id", where)
    entries = _list(section, "entries", where)
    if not entries:
        raise Malformed(f"{where} has no entry")
    return Section(
        machine=_scalars(machine),
        problem=_scalars(problem),
        ranks=_whole(section, "ranks", where),
        entries=tuple(_entry(e, f"entry {i} of {where}") for i, e in enumerate(entries)),
    )


def _entry(item: object, where: str) -> WisdomChoice:
    entry = _object(item, where)
    parameters = _object(entry.get("parameters"), f"parameters of {where}")
    for name in parameters.keys() - _scalars(parameters).keys():
        raise Malformed(f"parameter {name} of {where} is neither text nor number nor flag")
    flags = _list(entry, "flags", where)
    if not all(isinstance(flag, str) for flag in flags):
        raise Malformed(f"a flag of {where} is not text")
    if not isinstance(entry.get("verified"), bool):
        raise Malformed(f"verified of {where} is not true or false")
    metric, unit, better, value = _objective(entry, where)
    return WisdomChoice(
        size=_whole(entry, "size", where),
        threads=_whole(entry, "threads", where),
        candidate=_text(entry, "candidate", where),
        parameters=_scalars(parameters),
        compiler=_text(entry, "compiler", where),
        flags=tuple(str(flag) for flag in flags),
        seconds=_optional(entry, "seconds", where),
        interval=_interval(entry, where),
        loss_bound=_optional(entry, "loss_bound", where),
        verified=bool(entry["verified"]),
        metric=metric,
        unit=unit,
        better=better,
        value=value,
    )


def _objective(entry: Mapping[str, object], where: str) -> tuple[str, str, str, float | None]:
    """The name, unit and direction of an objective that is not the time, and its value."""
    if "metric" not in entry:
        return "", "", "less", None
    better = _text(entry, "better", where)
    if better not in ("less", "more"):
        raise Malformed(f"better of {where} is neither less nor more")
    value = _optional(entry, "value", where)
    return _text(entry, "metric", where), _text(entry, "unit", where), better, value


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _interval(entry: Mapping[str, object], where: str) -> tuple[float, float] | None:
    name = "interval" if "metric" in entry else "interval_s"
    if entry.get(name) is None:
        return None
    ends = dict(enumerate(_list(entry, name, where)))
    low, high = (_optional({name: ends.get(i)}, name, where) for i in (0, 1))
    if low is None or high is None or len(ends) != 2:
        raise Malformed(f"{name} of {where} is not two numbers")
    return low, high


def _scalars(values: Mapping[str, object]) -> dict[str, Value]:
    return {k: v for k, v in values.items() if v is None or isinstance(v, (str, int, float, bool))}


def _object(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Malformed(f"{where} is not an object")
    return value


def _list(value: Mapping[str, object], name: str, where: str) -> list[object]:
    entry = value.get(name)
    if not isinstance(entry, list):
        raise Malformed(f"{name} of {where} is not a list")
    return entry


def _text(value: Mapping[str, object], name: str, where: str) -> str:
    entry = value.get(name)
    if not isinstance(entry, str):
        raise Malformed(f"{name} of {where} is not text")
    return entry


def _whole(value: Mapping[str, object], name: str, where: str) -> int:
    entry = value.get(name)
    if not isinstance(entry, int) or isinstance(entry, bool) or not 1 <= entry <= LARGEST:
        raise Malformed(f"{name} of {where} is not a whole number from 1 to 2**53")
    return entry


def _optional(value: Mapping[str, object], name: str, where: str) -> float | None:
    entry = value.get(name)
    if entry is None:
        return None
    if not isinstance(entry, (int, float)) or isinstance(entry, bool):
        raise Malformed(f"{name} of {where} is neither a number nor null")
    try:
        number = float(entry)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise Malformed(f"{name} of {where} is not finite")
    return number


def _names(item: Mapping[str, Value], keys: Sequence[str], wanted: str | None) -> bool:
    return wanted is None or any(item.get(key) == wanted for key in keys)


def _shown(section: Section) -> str:
    machine = f"{section.machine['identity']} ({section.machine.get('title', '')})"
    return f"machine {machine}, problem {section.problem['id']}, {section.ranks} ranks"
