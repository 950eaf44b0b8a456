"""What one candidate is made of: its C source, or the commands that build and run a program."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from autotune.codegen.c import harness
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.program import filled
from autotune.domain.setup import Setup
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError, nearest
from autotune.toolchain import compiler as compilers
from autotune.workloads.generated import candidate_space
from autotune.workloads.program.measuring.command_line import openmp, places, program_problem

SCRIPT = "build-and-run.sh"


def emit_sources(
    setup: Setup, enumerated: candidate_space.EnumeratedSpace, name: str, folder: Path
) -> list[Path]:
    """Write what a candidate is made of into a folder; the paths written.

    Of generated code its C sources, of a program of the user's a shell script with the commands.
    """
    chosen = _find(enumerated, name)
    texts = _script(chosen, folder) if setup.program else _units(setup, chosen)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file_name, text in texts.items():
            path = folder / file_name
            path.write_text(text, encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise InputError(Fault(where=str(folder), found=f"cannot be written: {error}")) from error
    return written


def _find(enumerated: candidate_space.EnumeratedSpace, name: str) -> Candidate:
    matching = [
        c for c in enumerated.legal if name in (c.id, c.identity, c.label) or c.id.startswith(name)
    ]
    exact = [c for c in matching if name in (c.id, c.identity)] or matching
    if len(exact) == 1:
        return exact[0]
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


def _units(setup: Setup, candidate: Candidate) -> Mapping[str, str]:
    program = SkeletonPrograms(setup.skeleton)(candidate)
    return harness.units(program, candidate.problem, distributed=candidate.ranks > 1)


def _script(candidate: Candidate, folder: Path) -> Mapping[str, str]:
    """Every argument quoted; what is built goes into the folder."""
    program = program_problem(candidate).program
    compiler = compilers.find(candidate.build) if program.compiled else None
    flags = compiler.flags if compiler else ()
    output = str(folder.resolve() / program.name)
    values = places(candidate, output, compiler)
    told = {"flags": " ".join(flags), **values}
    variables = {n: t.fill(told) for n, t in program.environment.items()}
    exports = {**openmp(candidate), **variables}
    lines = ["#!/bin/sh", f"# {' '.join(candidate.id.split())}", "set -e"]
    lines += [shlex.join(filled(command, values, flags)) for command in program.build]
    lines += [f"export {n}={shlex.quote(t)}" for n, t in exports.items() if t is not None]
    lines += [f"cd {shlex.quote(program.folder)}"] if program.folder else []
    lines.append(shlex.join(filled(program.run, values, flags)))
    return {SCRIPT: "\n".join(lines) + "\n"}
