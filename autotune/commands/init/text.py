"""What ``autotune init`` prints."""

import shlex

from autotune.commands.init.document import InitDocument
from autotune.units import counted
from autotune.workloads.base import Count


def text(document: InitDocument) -> str:
    """The files written, what was found in the program, and the places to check."""
    scan = document.seen
    lines = [f"wrote {document.program} and {document.config}"]
    facts = [
        f"a {scan.language} program" if document.compiler else f"{scan.language}, not compiled"
    ]
    if document.compiler:
        facts.append(f"built by {document.compiler}")
    facts += [name for name, used in (("OpenMP", scan.openmp), ("MPI", scan.mpi)) if used]
    rate = f"prints a rate in {scan.rate.unit}" if scan.rate else "timed from start to end"
    facts.append("prints its time" if scan.time else rate)
    facts.append("prints a check value" if scan.check else "no check value")
    lines.append(f"  {', '.join(facts)}")
    lines += _varied(document)
    for title, notes in (("to fill in:", document.fill_in), ("to look at:", document.look_at)):
        if notes:
            lines += [title, *(f"  {note.file}:{note.line}  {note.text}" for note in notes)]
    lines.append(f"then: autotune tune {shlex.quote(str(document.config))}")
    return "\n".join(lines)


def _varied(document: InitDocument) -> list[str]:
    """What varies, in how many combinations, and the options of the compiler that do not."""
    names = [*document.parameters]
    if document.options:
        names.append(f"{counted(len(document.options), 'option')} of {document.compiler}")
    noun = "value" if len(names) == 1 and not document.options else "combination"
    number = Count(document.combinations)
    plural = "" if document.combinations == 1 else "s"
    lines = [f"  {number} {noun}{plural} of {', '.join(names)}"]
    for reason, flags in document.left_out.items():
        lines.append(f"  left out, {reason}: {', '.join(flags)}")
    return lines
