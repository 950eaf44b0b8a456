"""A first description, loaded as the tuner loads it, built and run."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from autotune.commands.init.first_draft import Draft
from autotune.commands.rank.host_machine import uncalibrated_machine
from autotune.domain.program import Program
from autotune.domain.variant import Candidate, Value
from autotune.errors import ConfigError, Fault, InputError
from autotune.files import config
from autotune.toolchain import child_process, launcher
from autotune.toolchain.child_process import ChildLimits, ProcessOutcome
from autotune.toolchain.scratch_folder import temporary_folder
from autotune.units import Seconds
from autotune.workloads.program.measuring.command_line import PreparedCommand, openmp
from autotune.workloads.program.measuring.program_measurer import ProgramMeasurer
from autotune.workloads.program.program_workload import ProgramWorkload

BUILD_LIMIT = Seconds(300.0)
"""Of each command of the first build."""
_NAME = "trial"
_REFUSED = "autotune's own draft of its description is refused"
_OUTPUT = 1 << 20
"""Bytes that a run may print: as many as in a study."""
_FILE = 1 << 30
"""Bytes that it may write into one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineTrial:
    """The baseline of a draft, ready to be built with other values, and run."""

    program: Program
    measurer: ProgramMeasurer
    baseline: Candidate
    folder: Path | None
    """Where it is run; None: in a fresh folder."""

    def build(self, changed: Mapping[str, Value]) -> tuple[Candidate, str, str, float]:
        """A candidate with some values changed, the key of its build, why that failed, and the
        seconds that it took.
        """
        variant = self.baseline.variant
        values = {**variant.parameters, **changed}
        candidate = replace(self.baseline, variant=replace(variant, parameters=values))
        started = time.monotonic()
        made = self.measurer.workshop.build(candidate)
        return candidate, made.key, made.detail, time.monotonic() - started

    def run(self, candidate: Candidate, key: str, limit: float) -> ProcessOutcome:
        """One run of what was built, with the variables that a study sets."""
        ready = self.measurer.workshop.ready(candidate, key)
        if ready is None:
            ready = PreparedCommand((), {})
        settings = {**openmp(candidate), **self.measurer.environment}
        with temporary_folder() as scratch:
            return child_process.run(
                launcher.expand(self.measurer.launcher, ready.command),
                timeout=limit,
                environment=ready.environment(settings),
                limits=ChildLimits(output=_OUTPUT, largest_file=_FILE),
                folder=self.folder or scratch,
            )


def trial_of(draft: Draft) -> BaselineTrial:
    """The trial of a draft; InputError, with the reason, for a draft that ``tune`` would refuse."""
    try:
        return _loaded(draft)
    except ConfigError as error:
        where, hint = str(draft.path), "docs/own-program.md says how one is written by hand"
        raise InputError(
            *(
                Fault(where=where, found=f"{_REFUSED}: {_reason(fault)}", hint=hint)
                for fault in error.faults
            )
        ) from error


def _reason(fault: Fault) -> str:
    """What is wrong in a draft, without its file, which is gone when this is read."""
    words = str(replace(fault, where=""))
    return re.sub(rf"\S*{_NAME}(?:-tune)?\.yaml(?::\d+)*:?\s*", "", words)


def _loaded(draft: Draft) -> BaselineTrial:
    with temporary_folder() as scratch:
        beside, draft.folder = draft.folder, scratch
        try:
            texts = (draft.program(_NAME), draft.config(_NAME))
        finally:
            draft.folder = beside
        (scratch / f"{_NAME}.yaml").write_text(texts[0], encoding="utf-8")
        path = scratch / f"{_NAME}-tune.yaml"
        path.write_text(texts[1], encoding="utf-8")
        setup = config.load(path)
        setup = replace(setup, limits=replace(setup.limits, compile=BUILD_LIMIT))
        workload = ProgramWorkload(setup)
        machine = uncalibrated_machine(setup)
        measurer = workload.measurer(machine)
        baseline = workload.baseline(setup.problems[0], machine.cores, setup.builds[0])
    return BaselineTrial(
        program=workload.program, measurer=measurer, baseline=baseline, folder=draft.run_folder
    )


def output_of(outcome: ProcessOutcome) -> str:
    """What a run printed: its error output where it printed nothing else, as readings do."""
    return outcome.out if re.search(r"\d", outcome.out) else f"{outcome.out}\n{outcome.err}"
