"""The command lines of an external program: its templates with a candidate's values put in."""

import importlib.metadata
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune import paths
from autotune.domain.problem import ProgramProblem
from autotune.domain.program import Command, Flags, Program, digest, filled
from autotune.domain.variant import Build, Candidate, Value
from autotune.measuring.conditions import quiet
from autotune.toolchain import build_cache
from autotune.toolchain import compiler as compilers
from autotune.toolchain.compiler import Compiler
from autotune.toolchain.refused_flags import named_refusals


def program_problem(candidate: Candidate) -> ProgramProblem:
    """The problem of a candidate of a program; TypeError for generated code."""
    if not isinstance(candidate.problem, ProgramProblem):
        raise TypeError(f"{candidate.label} is generated code")
    return candidate.problem


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramBuild:
    """The result of a candidate's build."""

    key: str
    """Hash of everything that the build depends on."""
    output: Path | None
    """The built file; None where nothing is built, or the build failed."""
    detail: str = ""
    """Why the build failed; empty if it did not."""
    provenance: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramBuilder:
    """Builds candidates of programs; ``compiler`` fills ``{compiler}`` in templates."""

    compiler: Callable[[Build], Compiler]
    limit: float
    """Seconds of each command of a build."""

    def build(self, candidate: Candidate) -> ProgramBuild:
        """The build of a candidate, from the cache if possible.

        Raises MissingTool for a command that is not installed, and what ``compiler`` raises.
        """
        program = program_problem(candidate).program
        compiler = self.compiler(candidate.build) if program.compiled else None
        provenance = _provenance(program, compiler)
        parts = [*_symbolic(candidate, compiler), *provenance.values(), *_states(program.build)]
        if _digest(program) != program.digest:
            detail = f"the sources in {program.source_folder} have changed since they were read"
            return ProgramBuild(key="", output=None, detail=detail, provenance=provenance)
        if not program.build:
            return ProgramBuild(key=digest({"": "\0".join(parts).encode()}), output=None,
                        provenance=provenance)  # fmt: skip

        def commands(target: Path) -> list[list[str]]:
            values = places(candidate, str(target), compiler)
            flags = compiler.flags if compiler else ()
            return [filled(command, values, flags) for command in program.build]

        built = build_cache.by_commands(parts, commands, self.limit)
        detail = "\n".join(filter(None, (named_refusals(built.detail), built.detail)))
        return ProgramBuild(
            key=built.key, output=built.executable, detail=detail, provenance=provenance
        )

    def ready(self, candidate: Candidate, key: str) -> "PreparedCommand | None":
        """The command that runs a build; None if the built file no longer exists."""
        program = program_problem(candidate).program
        output = build_cache.executable(key, "command") if program.build else None
        if program.build and output is None:
            return None
        compiler = self.compiler(candidate.build) if program.compiled else None
        flags = compiler.flags if compiler else ()
        values = places(candidate, str(output or ""), compiler)
        variables = {
            name: template.fill({**values, "flags": " ".join(flags)})
            for name, template in program.environment.items()
        }
        check = program.check.command if program.check else None
        judge = filled(check or (), {**values, "printed": "{printed}"}, flags)
        return PreparedCommand(tuple(filled(program.run, values, flags)), variables, tuple(judge))

    def executed(self, candidate: Candidate, key: str) -> str:
        """Digest of the built file, the command line that runs it, its variables and the layout;
        empty where nothing is built.
        """
        ready = self.ready(candidate, key)
        output = build_cache.executable(key, "command")
        if ready is None or output is None:
            return ""
        words = [word.replace(str(output), "{output}") for word in ready.command]
        variables = [f"{name}={text}" for name, text in sorted(ready.variables.items())]
        run = "\0".join((*words, "", *variables, repr(candidate.layout)))
        return digest({"built": output.read_bytes(), "run": run.encode()})


@dataclass(frozen=True, slots=True)
class PreparedCommand:
    """A command line, and the variables that the program's description sets."""

    command: tuple[str, ...]
    variables: Mapping[str, str | None]
    """Variables of the program's description; None: the variable is removed."""
    check: tuple[str, ...] = ()
    """The command that judges a run; ``{printed}`` stands for a file with what the run printed."""

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        """The whole environment of a run: this process's, ``settings``, the program's own."""
        made = {**compilers.environment(), **settings, **self.variables}
        return {name: text for name, text in made.items() if text is not None}


def places(
    candidate: Candidate, output: str, compiler: Compiler | None
) -> dict[str, Value | Flags]:
    """The values of the names in templates, except ``{flags}``."""
    problem = program_problem(candidate)
    return {
        "output": output,
        "source folder": problem.program.source_folder,
        "compiler": compiler.path if compiler else "",
        "python": sys.executable,
        "threads": candidate.threads,
        **problem.arguments,
        **candidate.variant.parameters,
        **problem.program.present(candidate.variant.parameters),
    }


def openmp(candidate: Candidate) -> dict[str, str]:
    """OpenMP variables of a candidate; none where the program chooses its threads itself.

    They are those of timed runs also where a run is only verified, so that no variable tells a
    program which runs are timed.
    """
    program = program_problem(candidate).program
    if program.threads == "own" and not program.spread:
        return {}
    return quiet.openmp(candidate.threads, placement=candidate.placement)


def _symbolic(candidate: Candidate, compiler: Compiler | None) -> list[str]:
    """The commands of a build, independent of where its files lie."""
    problem = program_problem(candidate)
    values = {
        **places(candidate, "{output}", compiler),
        "source folder": "{source folder}",
        "compiler": "{compiler}",
    }
    flags = compiler.flags if compiler else ()
    words = [("--", *filled(command, values, flags)) for command in problem.program.build]
    return [problem.program.digest, *(word for command in words for word in command)]


def _digest(program: Program) -> str:
    """Hash of the present content of the program's sources; empty if one is unreadable."""
    contents: dict[str, bytes] = {}
    for name in program.sources:
        try:
            contents[name] = Path(program.source_folder, name).read_bytes()
        except OSError:
            return ""
    return digest(contents)


def _provenance(program: Program, compiler: Compiler | None) -> dict[str, str]:
    provenance = {"sources": program.digest}
    if compiler is not None:
        provenance |= {
            "compiler": compiler.path,
            "version": compiler.version,
            "flags": " ".join(compiler.flags),
            "resolved_flags": " ".join(compiler.resolved_flags),
            "identity": compiler.identity,
            "notes": "; ".join(compiler.notes),
        }
    return provenance | _python(program)


def _python(program: Program) -> dict[str, str]:
    versions = {}
    if "python" in program.named:
        versions["python"] = sys.version.split()[0]
    if program.packages:
        versions["packages"] = ", ".join(
            f"{name} {importlib.metadata.version(name)}" for name in program.packages
        )
    return versions


def tools(program: Program) -> str:
    """The versions of the tools that build and run a program, besides the config's compilers.

    These are the interpreter, its packages, and the tools that its commands name.
    """
    python = [f"{name} {version}" for name, version in _python(program).items()]
    return "; ".join([*python, *_states((*program.build, program.run))])


def _states(commands: tuple[Command, ...]) -> list[str]:
    """Descriptions of the installed tools of command lines, different for different versions."""
    states = []
    for tool in literal_tools(commands):
        path = shutil.which(tool)
        if path is not None:
            facts = os.stat(paths.absolute(Path(path)))  # noqa: PTH116 - of the file behind links
            states.append(f"{tool} {facts.st_size} {facts.st_mtime_ns}")
    return states


def literal_tools(commands: tuple[Command, ...]) -> list[str]:
    """The programs that command lines start, if they are found on PATH."""
    first = (command[0] for command in commands)
    return [t.text for t in first if not t.names and "/" not in t.text]
