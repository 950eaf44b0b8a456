"""What ``autotune init`` prints."""

import shlex

from autotune.commands.init.document import InitDocument
from autotune.commands.init.trying.observed_run import ObservedRun
from autotune.units import counted, show
from autotune.workloads.base import Count

_MOST = 8
"""Printed lines that are shown."""
_NO_BUILD = 5e-3
"""Seconds in which nothing is compiled: the build was there."""
_NAMES = 16
"""Names that are not varied and shown for one reason."""


def text(document: InitDocument) -> str:
    """The files written, what was seen of the program, and the places to check."""
    lines = [f"wrote {document.program} and {document.config}", f"  {', '.join(_facts(document))}"]
    if document.observed is not None:
        lines += _printed(document.observed)
    lines += _varied(document)
    if document.absolute_files:
        lines.append(f"  names of files are absolute now: {', '.join(document.absolute_files)}")
    lines += [f"  {remark}" for remark in document.remarks]
    for title, notes in (("to fill in:", document.fill_in), ("to look at:", document.look_at)):
        if notes:
            lines += [title, *(f"  {note.file}:{note.line}  {note.text}" for note in notes)]
    lines.append(f"then: autotune tune {shlex.quote(str(document.config))}")
    return "\n".join(lines)


def _facts(document: InitDocument) -> list[str]:
    """What kind of program it is, and how its time is read."""
    scan, observed = document.seen, document.observed
    compiled = document.compiler or document.built_by
    facts = [f"a {scan.language} program" if compiled else f"{scan.language}, not compiled"]
    if compiled:
        by = [name for name in (document.built_by, document.compiler) if name]
        facts.append(f"built by {' with '.join(by)}")
    facts += [name for name, used in (("OpenMP", scan.openmp), ("MPI", scan.mpi)) if used]
    if observed is None:
        rate = f"prints a rate in {scan.rate.unit}" if scan.rate else "timed from start to end"
        facts.append("prints its time" if scan.time else rate)
        facts.append("prints a check value" if scan.check else "no check value")
    return facts


def _printed(observed: ObservedRun) -> list[str]:
    """How long it took, the lines with times and rates, and what is optimised and checked."""
    built = ""
    if observed.build_seconds:
        took = show(observed.build_seconds, "time")
        built = f"built in {took}, " if observed.build_seconds > _NO_BUILD else "built before, "
    walls = " and ".join(show(wall, "time") for wall in observed.walls)
    lines = [f"  {built}ran in {walls}"]
    chosen = observed.chosen
    if observed.numbers:
        lines.append("  printed times and rates (* is optimised; --metric WORD takes another):")
    for number in observed.numbers[:_MOST]:
        mark = "*" if number == chosen else " "
        lines.append(f"  {mark} {number.value:g} {number.unit} in: {number.line[:70]}")
    for line in observed.unread[:2]:
        lines.append(f"  not read, its digits are parted by commas or colons: {line[:70]}")
    if chosen is None:
        printed = "it is not chosen" if observed.numbers else "no time and no rate is printed"
        lines.append(f"  the time of the whole process is optimised: {printed}")
    if observed.answer is not None:
        lines.append(f"  checked: {observed.answer.text} in: {observed.answer.line[:70]}")
    else:
        lines.append("  no check value: nothing printed looks like an answer that stays the same")
    for line in observed.differing[:2]:
        lines.append(f"  not checked, it differs from run to run: {line}")
    return lines


def _shortened(names: list[str]) -> str:
    """The first names, and how many follow."""
    rest = len(names) - _NAMES
    return ", ".join([*names[:_NAMES], *([f"and {rest} more"] if rest > 0 else [])])


def _varied(document: InitDocument) -> list[str]:
    """What varies, in how many combinations, and the options of the compiler that do not."""
    names = [name for name, values in document.parameters.items() if len(values) > 1]
    names = names or [*document.parameters]
    if document.options:
        compiler = document.compiler or "the compiler"
        names.append(f"{counted(len(document.options), 'option')} of {compiler}")
    noun = "value" if len(names) == 1 and not document.options else "combination"
    number = Count(document.combinations)
    plural = "" if document.combinations == 1 else "s"
    lines = [f"  {number} {noun}{plural} of {', '.join(names)}"]
    reasons = dict[str, list[str]]()
    for kept, why in document.kept.items():
        reasons.setdefault(why, []).append(kept)
    lines += [f"  not varied, {why}: {_shortened(kept)}" for why, kept in reasons.items()]
    for reason, flags in document.left_out.items():
        lines.append(f"  left out, {reason}: {', '.join(flags)}")
    return lines
