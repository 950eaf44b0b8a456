"""What is said where the flags of a build are not those of the machine that is predicted."""

import platform
import shlex
from collections.abc import Sequence
from dataclasses import replace

from autotune.domain.machine import Machine
from autotune.domain.results import Prediction
from autotune.domain.variant import Build, Candidate
from autotune.models.engines.base import CandidatePredictor
from autotune.toolchain.cross_compilers import CROSS_COMPILERS, is_host

_CHOICES = ("-march=", "-mcpu=")
_NATIVE = ("-march=native", "-mcpu=native", "-mtune=native")


class NotedBuilds:
    """Predictions of a named machine, with a note where a build is not for it."""

    def __init__(self, engine: CandidatePredictor, machine: Machine) -> None:
        self.name = engine.name
        self._engine = engine
        self._machine = machine

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        """One prediction per candidate, in order."""
        made = self._engine.predict(candidates)
        notes = {c.build: foreign_build(c.build, self._machine) for c in candidates}
        return [
            replace(prediction, notes=(*prediction.notes, note))
            if (note := notes[candidate.build]) and prediction.seconds is not None
            else prediction
            for candidate, prediction in zip(candidates, made, strict=True)
        ]


def foreign_build(build: Build, machine: Machine) -> str | None:
    """Why the code of a build is not that of a named machine; None if nothing says so."""
    if not is_host(machine.architecture):
        cross = CROSS_COMPILERS.get(machine.architecture)
        if cross is None or build.compiler != cross.program:
            here = platform.machine()
            return (
                f"the build's {build.compiler} makes code of this host ({here}), not of"
                f" {machine.name} ({machine.architecture})"
            )
        return None
    usual = machine.compilers.get(build.compiler, "")
    theirs = f"; its machine file: {build.compiler} {usual}" if usual else ""
    native = [flag for flag in build.flags if flag in _NATIVE]
    if native:
        flags = " ".join(native)
        return f"the build's {flags} is that of this host, not of {machine.name}{theirs}"
    wanted = [flag for flag in shlex.split(usual) if flag.startswith(_CHOICES)]
    chosen = [flag for flag in build.flags if flag.startswith(_CHOICES)]
    if wanted and chosen != wanted:
        flags = " ".join(chosen)
        named = f"the build's {flags} is" if flags else "the build names no processor, so it is"
        return f"{named} not for {machine.name}{theirs}"
    return None
