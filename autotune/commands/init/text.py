"""What ``autotune init`` prints."""

import shlex

from autotune.commands.init.document import InitDocument
from autotune.units import counted


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
    noun = "value" if len(document.parameters) == 1 else "combination"
    combinations = counted(document.combinations, noun)
    lines.append(f"  {combinations} of {', '.join(document.parameters)}")
    for title, notes in (("to fill in:", document.fill_in), ("to look at:", document.look_at)):
        if notes:
            lines += [title, *(f"  {note.file}:{note.line}  {note.text}" for note in notes)]
    lines.append(f"then: autotune tune {shlex.quote(str(document.config))}")
    return "\n".join(lines)
