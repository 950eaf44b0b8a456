"""The C source of one candidate."""

from pathlib import Path

from autotune.codegen import harness, space
from autotune.codegen.programs import Programs
from autotune.errors import Fault, InputError, nearest
from autotune.setup import Setup


def emit_sources(setup: Setup, enumerated: space.Enumerated, name: str, folder: Path) -> list[Path]:
    """Write the C sources of a candidate into a folder; the paths written."""
    matching = [
        c for c in enumerated.legal if name in (c.id, c.identity, c.label) or c.id.startswith(name)
    ]
    exact = [c for c in matching if name in (c.id, c.identity)] or matching
    if len(exact) != 1:
        found = f"{name!r} names {len(exact)} candidates" if exact else f"unknown {name!r}"
        known = [c.id for c in enumerated.legal]
        raise InputError(
            Fault(
                where="--emit",
                found=found,
                expected="an id, an identity or a label, as variants prints them",
                hint=", ".join(c.id for c in exact[:3]) or nearest(name, known),
            )
        )
    written = []
    chosen = exact[0]
    program = Programs(setup.skeleton)(chosen)
    units = harness.units(program, chosen.problem, distributed=chosen.ranks > 1)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file_name, text in units.items():
            path = folder / file_name
            path.write_text(text, encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise InputError(Fault(where=str(folder), found=f"cannot be written: {error}")) from error
    return written
