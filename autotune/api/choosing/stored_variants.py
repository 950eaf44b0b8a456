"""What a study in a store, or a wisdom file, says to run at a size and a number of threads.

The rule is that of ``docs/export.md``: the reader of wisdom files looks up.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autotune.errors import Fault, InputError, one_of
from autotune.results.export.readers import autotune_wisdom
from autotune.results.export.readers.autotune_wisdom import (
    Section,
    Value,
    Wisdom,
    WisdomChoice,
    distance,
)

WISDOM = ".json"
"""What the names of wisdom files end in; other sources are stores."""
_TOP = 8
"""Candidates of a size and number of threads that are read from a study."""
Parameters = Mapping[str, Value]
Case = tuple[int, int]
"""A size and a number of threads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredVariants:
    """The choices of a computation on a machine, and good candidates beside them."""

    section: Section
    beside: Mapping[Case, Sequence[Parameters]] = field(default_factory=dict)
    """Candidates that are not much slower than the choice of a case, fastest first."""

    def near(self, choice: WisdomChoice, count: int) -> list[Parameters]:
        """The parameters of a choice and of others, at most ``count``, none twice: candidates of
        its size and threads, fastest first, then the choices of the nearest sizes and threads.
        """
        nearest = sorted(
            self.section.entries,
            key=lambda e: distance(e.size, choice.size) * distance(e.threads, choice.threads),
        )
        distinct: list[Parameters] = []
        for parameters in (
            choice.parameters,
            *self.beside.get((choice.size, choice.threads), ()),
            *(entry.parameters for entry in nearest),
        ):
            if parameters not in distinct:
                distinct.append(parameters)
        return distinct[:count]


def stored_variants(
    source: str | Path, *, study: str = "", problem: str | None = None, machine: str | None = None
) -> StoredVariants:
    """The choices of a study, the latest if none is named, or of a wisdom file.

    ``machine``: an identity, name or title; None: this host where the source has it, else the only
    one. InputError for a source that cannot be read, or that is about several computations where
    ``problem`` does not name one.
    """
    if not str(source).endswith(WISDOM):
        return _of_study(str(source), study, problem, machine)
    if study:
        raise InputError(
            Fault(
                where="study",
                found=f"study {study!r} of the wisdom file {source}",
                expected="the name of a study with a store only",
                hint="leave study out; problem= names one of several computations",
            )
        )
    try:
        wisdom = autotune_wisdom.load(str(source))
    except autotune_wisdom.WisdomError as error:
        raise InputError(
            Fault(
                where=str(source),
                found=str(error),
                expected=f"a wisdom file, {autotune_wisdom.SCHEMA}",
                hint="autotune export STUDY --format wisdom writes one",
            )
        ) from error
    return StoredVariants(section=_section(wisdom, str(source), problem, machine))


def _of_study(store: str, study: str, problem: str | None, machine: str | None) -> StoredVariants:
    from autotune.commands.export.flow import charted
    from autotune.commands.tune.flow import study as load_study
    from autotune.results.export import wisdom
    from autotune.results.export.choices import choices

    result = load_study(study, store).evaluation
    chosen = choices(result, "", charted(result, store), _TOP)
    text = wisdom.write(chosen).text
    section = _section(autotune_wisdom.parse(text.encode()), store, problem, machine)
    beside: defaultdict[Case, list[Parameters]] = defaultdict(list)
    for stored in chosen.sections:
        key = stored.key
        if (key.place.identity, key.subject.id, key.ranks) == _key(section):
            for entry in stored.alternatives:
                beside[entry.size, entry.threads].append(entry.parameters)
    return StoredVariants(section=section, beside=beside)


def _key(section: Section) -> tuple[Value, Value, int]:
    return section.machine["identity"], section.problem["id"], section.ranks


def _section(wisdom: Wisdom, source: str, problem: str | None, machine: str | None) -> Section:
    """The one section that fits; of several machines this host's where none is named."""
    try:
        try:
            return wisdom.select(machine=machine, problem=problem)
        except autotune_wisdom.SeveralSections:
            if machine is not None:
                raise
            return wisdom.select(machine=_host(), problem=problem)
    except autotune_wisdom.WisdomError as error:
        machines = dict.fromkeys(str(s.machine["identity"]) for s in wisdom.sections)
        problems = dict.fromkeys(str(s.problem["id"]) for s in wisdom.sections)
        raise InputError(
            Fault(
                where=source,
                found=str(error),
                expected=f"one computation: problem {one_of([*problems])}",
                hint=f"machine= names {one_of([*machines])}",
            )
        ) from error


def _host() -> str:
    """The identity of this host, as studies are filed under."""
    from autotune.measuring.host import detect, stored_calibrations

    return stored_calibrations.identity(detect.detect())
