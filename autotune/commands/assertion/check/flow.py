"""Verdicts on a run, the files made of them, and whether the command fails."""

from pathlib import Path

from autotune import paths
from autotune.assertions.checking import check_run
from autotune.assertions.checking.tolerances import Tolerances
from autotune.assertions.checking.verdicts import FIGURES, AssertionCheck
from autotune.assertions.records.run_records import RunRecords
from autotune.commands.assertion.record_options import VerdictOptions
from autotune.errors import Fault, InputError, nearest, one_of
from autotune.language.constraint import Condition
from autotune.results.assertion import check_page, junit_xml, markdown_summary, path_tree
from autotune.results.page import page_file


def check(run: RunRecords, options: VerdictOptions) -> tuple[AssertionCheck, bool]:
    """The verdicts on a run; True: the command fails. Writes the files that are asked for."""
    stated = condition(options.fail_if)
    tolerated = Tolerances.of(options.tolerance or ())
    result = check_run.check(run, tolerated, partial=options.partial)
    if options.junit is not None:
        write(junit_xml.junit(result), options.junit)
    if options.markdown is not None:
        write(markdown_summary.markdown(result), options.markdown)
    if options.page is not None:
        check_page.write(result, options.page, path_tree.text(run))
    return result, _fails(result, stated)


def settle(options: VerdictOptions) -> None:
    """InputError for a tolerance, condition or file that cannot be, before anything runs."""
    condition(options.fail_if)
    Tolerances.of(options.tolerance or ())
    check_outputs(options.junit, options.markdown, options.page)


def _fails(result: AssertionCheck, stated: Condition | None) -> bool:
    """Whether a condition holds, or, without one, whether the run does not pass.

    With a condition too, a run fails where failures may be hidden, where an expression had no
    value, or where nothing was asserted.
    """
    if stated is None:
        return result.outcome != "pass"
    unknown = ("missing_ranks", "unfinished_ranks", "no_value")
    hidden = any(result.figures[name] for name in unknown) or any(
        not entry.loss.what.startswith(check_run.HARMLESS) for entry in result.losses
    )
    if hidden or result.outcome == "nothing asserted":
        return True
    try:
        return stated.holds(result.figures)
    except ValueError as error:  # a division by a figure that is 0
        raise InputError(Fault(where="--fail-if", found=str(error))) from error


def condition(text: str) -> Condition | None:
    """The condition of ``--fail-if``; None where the text is empty. InputError for a wrong one."""
    if not text:
        return None
    try:
        stated = Condition(text)
        for name in stated.names:
            if name not in FIGURES:
                raise ValueError(
                    f"unknown figure {name!r}, expected {one_of([*FIGURES])}"
                    f" ({nearest(name, FIGURES) or 'see --help'})"
                )
        stated.holds(dict.fromkeys(FIGURES, 1.0))
    except ValueError as error:
        raise InputError(Fault(where="--fail-if", found=str(error))) from error
    return stated


def check_outputs(junit: Path | None, markdown: Path | None, page: Path | None) -> None:
    """InputError where one of the files cannot be written, or two of them are the same file."""
    named = [path for path in (junit, markdown, page) if path is not None]
    if len({paths.absolute(path) for path in named}) < len(named):
        raise InputError(
            Fault(where=str(named[-1]), found="the same file for two outputs", expected="two files")
        )
    for path in (junit, markdown):
        if path is not None:
            paths.check_output(path, appended=True)
    if page is not None:
        page_file.check(page)


def write(text: str, path: Path) -> None:
    """Write a text file; InputError where that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            Fault(
                where=str(path),
                found=f"cannot be written: {error.strerror}",
                hint="name another file",
            )
        ) from error
