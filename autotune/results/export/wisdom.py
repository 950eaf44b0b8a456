"""Wisdom files: choices of several studies, machines and problems as one JSON document.

    schema       autotune.wisdom/1
    rule         how a reader looks up, in words
    sections     by machine, problem and number of ranks
      machine    identity, name, title
      problem    id, name, family, definition, size (what counts as size)
      ranks
      entries    by threads, then size
        metric, unit, better, value, interval (where the objective is not the time, of which
        ``seconds`` and ``interval_s`` are then null)
        size, threads, problem, candidate, variant, parameters, compiler, flags, nodes,
        communication, placement, seconds, interval_s, samples, verified, verified_error, ties,
        speedup, loss_bound, source (measured, map), study, run, taken, compiler_version,
        resolved_flags
    notes        which entries were replaced by other ones, and when they had been taken

The same choices give the same bytes. Readers: ``autotune.results.export.readers``.
"""

import json
from dataclasses import dataclass
from typing import cast

from autotune.domain.metric import Metric
from autotune.errors import Fault, InputError
from autotune.results.export.entries import Choices, ExportEntry, SectionKey
from autotune.results.export.readers import autotune_wisdom

RULE = (
    "Two sizes, or numbers of threads, are as far apart as the larger over the smaller (IEEE 754"
    " double precision; the distance of logarithms); of two equally near ones the smaller is taken."
    " Entries with the asked number of threads are considered, else those with the nearest number;"
    " of these the one of the nearest size is taken. 0 threads asks for any number: of all entries"
    " those of the nearest size are considered and the fastest is taken, of equally fast ones that"
    " with fewer threads."
)

Item = dict[str, object]
_NOTES = 200
"""How many notes a file keeps, the last ones."""
SectionId = tuple[str, str, str, int]


@dataclass(frozen=True, slots=True)
class Written:
    """The text of a wisdom file, and the numbers of entries added, replaced and kept."""

    text: str
    added: int
    replaced: tuple[str, ...]
    """One line for each entry that gave way to another one."""
    kept: int
    """Entries of other studies that stay."""


def write(choices: Choices, before: str = "") -> Written:
    """The wisdom file of choices, merged into the text of an existing file.

    An entry with the same machine, problem, ranks, size and threads is replaced. Raises InputError
    if the existing text is not a wisdom file of this version.
    """
    old = _read(before) if before else {"sections": [], "notes": []}
    sections: dict[SectionId, Item] = {}
    for item in cast("list[Item]", old["sections"]):
        sections[_id(item)] = item
    added, replaced = 0, []
    for section in choices.sections:
        section_text = sections.setdefault(section.key.identity, _section(section.key))
        section_text |= {
            name: value for name, value in _section(section.key).items() if name != "entries"
        }
        entries = cast("list[Item]", section_text["entries"])
        for entry in section.entries:
            note = _put(entries, _entry(entry, section.key.subject.goal))
            added += not note
            replaced += [note] if note and note != _SAME else []
    count = sum(len(cast("list[Item]", item["entries"])) for item in sections.values())
    notes = [*cast("list[str]", old.get("notes", [])), *replaced]
    document = {
        "schema": autotune_wisdom.SCHEMA,
        "rule": RULE,
        "sections": [sections[key] for key in sorted(sections)],
        "notes": list(dict.fromkeys(notes))[-_NOTES:],
    }
    return Written(
        text=json.dumps(document, indent=1, allow_nan=False) + "\n",
        added=added,
        replaced=tuple(replaced),
        kept=count - choices.entries,
    )


_SAME = "same"


def _put(entries: list[Item], new: Item) -> str:
    """Insert an entry; a note if it replaces another one of the same size and threads."""
    place = (new["threads"], new["size"])
    for i, old in enumerate(entries):
        if (old["threads"], old["size"]) == place:
            entries[i] = new
            if old == new:
                return _SAME
            return (
                f"{new['problem']} at {new['threads']} threads: {old['candidate']} of study"
                f" {old.get('study', '?')} ({old.get('taken', '?')}) gave way to"
                f" {new['candidate']} of study {new['study']} ({new['taken']})"
            )
    entries.append(new)
    entries.sort(key=lambda item: (cast(int, item["threads"]), cast(int, item["size"])))
    return ""


def is_wisdom(text: str) -> bool:
    """Whether a text is a wisdom file of this version."""
    try:
        autotune_wisdom.parse(text.encode("utf-8", "surrogateescape"))
    except autotune_wisdom.WisdomError:
        return False
    return True


def _read(text: str) -> Item:
    try:
        autotune_wisdom.parse(text.encode("utf-8", "surrogateescape"))
    except autotune_wisdom.WisdomError as error:
        raise InputError(
            Fault(
                where="wisdom file",
                found=str(error),
                expected=f"schema {autotune_wisdom.SCHEMA}",
                hint="name another file with -o, or replace it with --force",
            )
        ) from error
    return cast(Item, json.loads(text))


def _id(item: Item) -> SectionId:
    machine, problem = (
        cast("dict[str, str]", item["machine"]),
        cast("dict[str, str]", item["problem"]),
    )
    return (
        machine["identity"],
        problem["id"],
        problem.get("definition", ""),
        cast(int, item["ranks"]),
    )


def _section(key: SectionKey) -> Item:
    place, subject = key.place, key.subject
    return {
        "machine": {"identity": place.identity, "name": place.name, "title": place.title},
        "problem": {
            "id": subject.id,
            "name": subject.name,
            "family": subject.family,
            "definition": subject.definition,
            "size": subject.size,
        },
        "ranks": key.ranks,
        "entries": [],
    }


def _entry(entry: ExportEntry, goal: Metric) -> Item:
    origin = entry.origin
    interval = list(entry.interval) if entry.interval else None
    objective: Item = {}
    if not goal.timed:
        objective = {"metric": goal.name, "unit": goal.unit, "better": goal.better}
        objective |= {"value": entry.value, "interval": interval}
    return {
        "size": entry.size,
        "threads": entry.threads,
        "problem": entry.problem,
        "candidate": entry.candidate,
        "variant": entry.variant,
        "parameters": dict(entry.parameters),
        "compiler": entry.build.compiler,
        "flags": list(entry.build.flags),
        "nodes": entry.layout.nodes,
        "communication": entry.layout.communication,
        "placement": entry.layout.placement,
        "seconds": entry.seconds,
        "interval_s": interval if goal.timed else None,
        **objective,
        "samples": entry.samples,
        "verified": entry.verified,
        "verified_error": entry.error,
        "ties": list(entry.ties),
        "speedup": entry.speedup,
        "loss_bound": entry.loss_bound,
        "source": entry.source,
        "study": origin.study,
        "run": origin.run,
        "taken": origin.taken,
        "compiler_version": origin.compiler,
        "resolved_flags": origin.flags,
    }
