"""The result of a run, and whether it is right where a run is judged by itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.domain.program import Check
from autotune.measuring.conditions import quiet
from autotune.paths import cache_dir
from autotune.toolchain import child_process
from autotune.toolchain.child_process import ChildLimits, ProcessOutcome
from autotune.toolchain.scratch_folder import scratch_folder
from autotune.workloads.program.measuring.check_answers import Answer, compare, written_file
from autotune.workloads.program.measuring.printed_output import (
    UnreadableOutput,
    answer,
    printed_lines,
)

PRINTED = "printed"
"""The name of the file with what a run printed, and the place of templates that stands for it."""


@dataclass(frozen=True, slots=True)
class JudgedResult:
    """The result of a run."""

    answer: Answer
    error: float | None = None
    """Difference relative to the value that is right; None where the baseline's decides."""
    fault: str = ""
    """Why the result is wrong, in words; empty where it is right or the baseline's decides."""


def result_of(check: Check, outcome: ProcessOutcome, folder: Path) -> JudgedResult:
    """The result of a run that is read from its output or from a file that it wrote.

    Raises ``UnreadableOutput`` where there is none.
    """
    if check.file is not None:
        try:
            return JudgedResult(written_file(folder / check.file))
        except OSError as error:
            text = f"the program wrote no file {check.file}: {error.strerror}"
            raise UnreadableOutput(text + printed_lines(outcome)) from error
    result = answer(check, outcome)
    if check.value is None:
        return JudgedResult(result)
    number = isinstance(check.value, int | float) and not isinstance(check.value, bool)
    right = float(check.value) if number else str(check.value)
    if isinstance(check.value, bool) and isinstance(result, str):
        result, right = result.lower(), str(check.value).lower()  # Python prints True, JSON true
    compared = compare(result, right, check.tolerance, "the right one is")
    return JudgedResult(result, compared.error, compared.fault)


def judged_by_command(
    command: Sequence[str],
    environment: Mapping[str, str],
    outcome: ProcessOutcome,
    folder: Path,
    limits: ChildLimits,
    seconds: float,
) -> JudgedResult:
    """The verdict of a command that is run in the folder of a run, for ``seconds`` at most.

    The argument ``{printed}`` of the command is the path of a file with what the run printed.
    """
    with scratch_folder(cache_dir() / "run") as scratch:
        printed = scratch / PRINTED
        printed.write_text(outcome.out, encoding="utf-8", errors="replace")
        place = "{" + PRINTED + "}"
        verdict = child_process.run(
            [word.replace(place, str(printed)) for word in command],
            timeout=seconds,
            environment=environment,
            folder=folder,
            niceness=quiet.VERIFYING,
            limits=limits,
        )
    if verdict.ok:
        return JudgedResult("", 0.0)
    return JudgedResult("", None, f"the check says no: {verdict.describe()}")
