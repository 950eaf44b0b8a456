"""``autotune check``: whether the chosen candidates are slower than they were."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from autotune.commands.check.check_request import CheckRequest
from autotune.commands.options import StoreOptions, command, command_options
from autotune.commands.output import TerminalProgress, document, note, say

if TYPE_CHECKING:
    from autotune.results.gate.gate_verdict import GateCheck

EXAMPLE = (
    "Example: autotune check solver-tune.yaml --against solver --max-slowdown 3%; in a pull"
    " request: autotune check solver-tune.yaml --against-revision origin/main --junit time.xml"
)
SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable with the file that a job of GitHub Actions adds its summary to."""


@command_options
class CheckedOptions:
    """Options of ``autotune check``, in the order of its help."""

    request: CheckRequest
    results: StoreOptions


@command
def check(options: CheckedOptions) -> None:
    """Prove that a candidate became slower, or say what was provable.

    Old and new program are launched in turn where the old one can be had: --against-revision builds
    it, the build cache may still have that of the study. Otherwise the times of the study count,
    with an allowance for how much the host differs from run to run. Exit code 1 where a slowdown of
    more than --max-slowdown is proven, or where the new program does not run; 0 where none is
    provable, with the slowdown that would have been proven; 2 for wrong input.
    """
    from autotune.commands.check import flow
    from autotune.commands.check.document import CheckDocument
    from autotune.results.gate import gate_words

    progress = TerminalProgress()
    result = flow.check(options.request, options.results.store, progress)
    progress.close()
    _write_reports(result, options.request)
    if options.results.json:
        document(CheckDocument.of(result))
    else:
        say(gate_words.text(result))
    if result.interrupted:
        note("interrupted; the finished rounds are above")
        raise typer.Exit(130)
    if not result.passes:
        raise typer.Exit(1)


def _write_reports(result: "GateCheck", request: CheckRequest) -> None:
    """Write the files that were asked for, and add to the summary of a job."""
    from autotune.results.gate import gate_junit, gate_markdown

    summary = os.environ.get(SUMMARY)
    if request.markdown is not None:
        request.markdown.write_text(gate_markdown.markdown(result), encoding="utf-8")
    if request.junit is not None:
        request.junit.write_text(gate_junit.junit(result), encoding="utf-8")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(gate_markdown.markdown(result))
