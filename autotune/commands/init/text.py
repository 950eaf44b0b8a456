"""What ``autotune init`` prints."""

import shlex

from autotune.commands.init.document import InitDocument


def text(made: InitDocument) -> str:
    """The files that were written, what was seen of the program, and the places to review."""
    scan = made.seen
    lines = [f"wrote {made.program} and {made.config}"]
    facts = [f"a {scan.language} program" if made.compiler else f"{scan.language}, not compiled"]
    if made.compiler:
        facts.append(f"built by {made.compiler}")
    facts += [name for name, used in (("OpenMP", scan.openmp), ("MPI", scan.mpi)) if used]
    facts.append("prints its time" if scan.time else "timed from start to end")
    facts.append("prints a check value" if scan.check else "no check value")
    lines.append(f"  {', '.join(facts)}")
    lines.append(f"  {made.combinations} combinations of {', '.join(made.parameters)}")
    for title, notes in (("to fill in:", made.fill_in), ("to look at:", made.look_at)):
        if notes:
            lines += [title, *(f"  {note.file}:{note.line}  {note.text}" for note in notes)]
    lines.append(f"then: autotune tune {shlex.quote(str(made.config))}")
    return "\n".join(lines)
