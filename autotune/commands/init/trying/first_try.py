"""A program that is built and run as its first description says, mended where the tool can.

A source that the linker misses, a folder of headers, a library, the folder of the run: what the
error message names is looked for, and the description is made again with it.
"""

import os
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autotune.commands.init.building.build_plan import Choose
from autotune.commands.init.building.source_plan import is_main, sources_in
from autotune.commands.init.first_draft import Draft
from autotune.commands.init.included_files import definers
from autotune.commands.init.source_scan import scan_source
from autotune.commands.init.trying.observed_run import ObservedRun
from autotune.commands.init.trying.printed_numbers import (
    PrintedNumber,
    comma_lines,
    printed_answers,
    printed_numbers,
    ratio_pattern,
)
from autotune.commands.init.trying.trial import BaselineTrial, output_of, trial_of
from autotune.domain.variant import Candidate
from autotune.errors import Fault, InputError, nearest
from autotune.progress import Progress
from autotune.toolchain import child_process
from autotune.toolchain.child_process import ProcessOutcome
from autotune.toolchain.scratch_folder import temporary_folder
from autotune.units import show

_LEVELS = 3
"""Folders above the sources in which headers are looked for."""
_MENDS = 6
"""So often a build that failed is made again."""
_LIBRARIES = {
    "sqrt": "-lm",
    "exp": "-lm",
    "pow": "-lm",
    "sin": "-lm",
    "cos": "-lm",
    "log": "-lm",
    "pthread_create": "-pthread",
    "omp_get_wtime": "-fopenmp",
    "omp_get_thread_num": "-fopenmp",
    "omp_get_max_threads": "-fopenmp",
    "cblas_dgemm": "-lopenblas",
    "cblas_sgemm": "-lopenblas",
    "dgemm_": "-lopenblas",
    "dgesv_": "-llapack",
    "dlopen": "-ldl",
    "deflate": "-lz",
    "compress": "-lz",
    "fftw_plan_dft_1d": "-lfftw3",
    "gsl_rng_alloc": "-lgsl",
    "hypot": "-lm",
}
"""A function to the flag of the library that has it."""
_UNDEFINED = re.compile(r"undefined (?:reference|symbol)s?:? (?:to )?[`'\"]([\w:~<>() ,*&]+?)['\"]")
_NO_HEADER = re.compile(r"(?:fatal error: |cannot open (?:include|module) file ')([\w./+-]+)")
_NO_FILE = re.compile(r"no such file|cannot open|can't open|not found|does not exist", re.I)

_USAGE = re.compile(r"\busage\b", re.I)
_NUMBERS = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_OTHERWISE = "no value is passed, for with that of the source it prints something else"
_LIKE, _START = 2.0, 0.05
"""Runs of the same work: so many times as long at most, and these seconds."""

Rebuild = Callable[[Draft], Draft]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrySettings:
    """How long a run may take, and which number is meant."""

    limit: float = 60.0
    """Seconds of each run."""
    metric: str = ""
    """A word of the line that is optimised, or ``wall``; empty: the most likely."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedDraft:
    """A draft that was built and run, with the candidate that was."""

    draft: Draft
    trial: BaselineTrial
    candidate: Candidate
    key: str
    outcome: ProcessOutcome
    """Of the last run."""


def first_try(
    draft: Draft, settings: TrySettings, beside: Path, choose: Choose, progress: Progress
) -> TriedDraft:
    """The draft with what was seen in two runs; InputError, with the next step, where it cannot be
    built or does not run.

    ``beside``: where the program is run if it misses a file in a fresh folder, and then in the
    working directory. ``choose``: who is asked which printed number is optimised.
    """
    progress("build it", 0, 1)
    draft, seconds = _built(draft)
    progress("build it", 1, 1)
    runs = f"run it (at most {settings.limit:g} s)"
    progress(runs, 0, 2)
    tried = _run_by_default(draft, beside, settings.limit)
    draft, first = tried.draft, tried.outcome
    if not first.ok or first.strays:
        raise InputError(_failed_run(draft, first, settings.limit))
    progress(runs, 1, 2)
    second = tried.trial.run(tried.candidate, tried.key, settings.limit)
    if not second.ok:
        raise InputError(_failed_run(draft, second, settings.limit))
    progress(runs, 2, 2)
    built = seconds if draft.plan is not None or draft.compiler else 0.0
    draft.observed = _observed(draft, (first, second), built, settings, choose)
    return replace(tried, outcome=second)


def usage_text(path: Path) -> str:
    """What an executable prints for ``-h`` and ``--help``; empty where it prints nothing soon."""
    texts = list[str]()
    for option in ("-h", "--help"):
        with temporary_folder() as folder:
            outcome = child_process.run([str(path.absolute()), option], timeout=5.0, folder=folder)
        texts += [outcome.out, outcome.err]
    return "\n".join(texts)


def redrafted(draft: Draft, **changed: object) -> Draft:
    """The draft of the same program with other facts."""
    facts = {
        "path": draft.path,
        "folder": draft.folder,
        "given": draft.given,
        "seen": draft.seen,
        "options": draft.options,
        "plan": draft.plan,
        "ranks": draft.ranks,
        "libraries": draft.libraries,
        "run_folder": draft.run_folder,
        "bare": draft.bare,
    }
    return Draft(**(facts | changed))  # type: ignore[arg-type]


# --- building ---------------------------------------------------------------------------------


def _built(draft: Draft) -> tuple[Draft, float]:
    """The draft with what its build needs, and the seconds of the build."""
    for _ in range(_MENDS):
        _, _, detail, seconds = trial_of(draft).build({})
        if not detail:
            return draft, seconds
        mended = _mended(draft, detail)
        if mended is None:
            break
        draft = mended
    raise InputError(_failed_build(draft, detail))


def _mended(draft: Draft, detail: str) -> Draft | None:
    """The draft with what a failed build misses; None where it is not found."""
    if draft.plan is not None and draft.seen.macros:
        # a macro that a project defines for one of its sources must not be defined for all
        why = "the build fails where all sources get a value of it"
        stopped = dict.fromkeys((name for name, _ in draft.seen.macros), why)
        kept = {**draft.seen.unvaried, **stopped}
        return redrafted(draft, seen=replace(draft.seen, macros=(), switches=(), unvaried=kept))
    if draft.plan is not None and draft.plan.by in ("make", "cmake"):
        slower = draft.plan.one_by_one()
        return None if slower == draft.plan else redrafted(draft, plan=slower)
    flags = [f for f in _libraries(detail) if f not in draft.libraries]
    if draft.plan is not None:
        return redrafted(draft, libraries=(*draft.libraries, *flags)) if flags else None
    seen, root = draft.seen, draft.root
    symbols = list(dict.fromkeys(_UNDEFINED.findall(detail)))
    others = [p for p in sources_in(root) if p.name not in seen.files and not is_main(p)]
    files = [p.name for p in definers(symbols, others)]
    includes = [
        place
        for name in dict.fromkeys(_NO_HEADER.findall(detail))
        if (place := _header_folder(root, name)) and place not in seen.includes
    ]
    if not (files or includes or flags):
        return None
    if files:  # they may read macros, and define others
        whole = scan_source(draft.path, (*seen.files, *files))
        seen = replace(whole, mpi=seen.mpi, levels=seen.levels, includes=seen.includes)
    more = replace(seen, includes=(*seen.includes, *includes))
    return redrafted(draft, seen=more, libraries=(*draft.libraries, *flags))


def _libraries(detail: str) -> list[str]:
    """The flags of the libraries that have what the linker misses."""
    names = [symbol.partition("(")[0] for symbol in _UNDEFINED.findall(detail)]
    return list(dict.fromkeys(_LIBRARIES[name] for name in names if name in _LIBRARIES))


def _header_folder(root: Path, name: str) -> str:
    """The folder above or below the sources from which a header can be included, relative to
    them; empty if there is none.
    """
    above = [root, *root.parents[:_LEVELS]]
    for folder in (*above, *(parent / "include" for parent in above)):
        if (folder / name).is_file():
            return os.path.relpath(folder, root)
    for path in sorted(root.rglob(Path(name).name)):
        if str(path).endswith(f"/{name}"):
            return os.path.relpath(str(path)[: -len(name)], root)
    return ""


def _failed_build(draft: Draft, detail: str) -> Fault:
    by = draft.plan.by if draft.plan is not None else draft.compiler
    missing = _NO_HEADER.search(detail)
    hint = "build it as you do, and give the executable: autotune init ./program"
    if missing:
        hint = f"install what has {missing.group(1)}, or {hint}"
    last = "\n".join(detail.strip().splitlines()[-12:])
    return Fault(where=str(draft.path), found=f"{by} cannot build it: {last}\n", hint=hint)


# --- running ----------------------------------------------------------------------------------


def _run_by_default(draft: Draft, beside: Path, limit: float) -> TriedDraft:
    """The first run of a draft, without the arguments that only its source shows where the program
    does something else without them.
    """
    if not draft.untold:
        return _first_run(draft, beside, limit)
    bare = _first_run(redrafted(draft, bare=_OTHERWISE), beside, limit)
    if bare.outcome.timed_out:  # it has more work by default, not less
        return bare
    shown = _first_run(draft, beside, limit)
    return shown if not bare.outcome.ok or _behave_alike(bare.outcome, shown.outcome) else bare


def _first_run(draft: Draft, beside: Path, limit: float) -> TriedDraft:
    """A run of a draft that can be built, in a folder that has the files that it needs."""
    for folder in dict.fromkeys((draft.run_folder, beside, Path.cwd())):
        placed = draft if folder == draft.run_folder else redrafted(draft, run_folder=folder)
        trial = trial_of(placed)
        candidate, key, _, _ = trial.build({})
        outcome = trial.run(candidate, key, limit)
        if outcome.ok or not _NO_FILE.search(outcome.out + outcome.err):
            break
    return TriedDraft(draft=placed, trial=trial, candidate=candidate, key=key, outcome=outcome)


def _behave_alike(bare: ProcessOutcome, shown: ProcessOutcome) -> bool:
    """Whether a run without arguments did the same as one with those that the source shows, or
    only told how the program is used.
    """
    if not shown.ok:
        return False
    texts = output_of(bare), output_of(shown)
    if _USAGE.search(texts[0]) and not _USAGE.search(texts[1]):
        return True
    lines = [{_NUMBERS.sub("0", line) for line in text.splitlines()} for text in texts]
    _, differing = printed_answers(*texts)
    walls = sorted((bare.seconds, shown.seconds))
    return lines[0] == lines[1] and not differing and walls[1] < _LIKE * walls[0] + _START


def _failed_run(draft: Draft, outcome: ProcessOutcome, limit: float) -> Fault:
    """Why a run does not count, and what to do."""
    where = str(draft.path)
    again = f"autotune init {shlex.quote(where)} --"
    if outcome.timed_out:
        found = f"it did not end within {limit:g} s"
        hint = f"give it less work ({again} ARGUMENTS), or more time: --limit {4 * limit:g}"
        return Fault(where=where, found=found, hint=hint)
    if outcome.strays:
        found = f"it left {outcome.strays} processes behind: a server cannot be tuned"
        return Fault(where=where, found=found, hint="give a client that ends by itself")
    text = outcome.describe()
    if "ALLOW_RUN_AS_ROOT" in text:
        # what Open MPI says of it fills a page
        found = "it fails: Open MPI does not start programs of the user root"
        variables = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
        hint = f"as another user, or in a container: export {variables}"
        return Fault(where=where, found=found, hint=hint)
    if "error while loading shared libraries" in text and draft.plan is not None:
        hint = "build it with static libraries of its own, or install it and give the executable"
        return Fault(where=where, found=f"it needs a library of its build folder: {text}\n",
                     hint=hint)  # fmt: skip
    if outcome.flooded:
        hint = "make it print less, or redirect: sh -c 'program > /dev/null'"
    elif draft.given:
        hint = "does it run so by hand? The folder of the run is a fresh one; --no-run writes the"
        hint += " description all the same"
    else:
        hint = f"give its command line: {again} ARGUMENTS; --no-run writes the description all the"
        hint += " same"
    found = f"it fails: {text}\n" if "\n" in text else f"it fails: {text}"
    return Fault(where=where, found=found, hint=hint)


def _observed(
    draft: Draft,
    outcomes: tuple[ProcessOutcome, ProcessOutcome],
    built: float,
    settings: TrySettings,
    choose: Choose,
) -> ObservedRun:
    """What two runs printed alike: a time or a rate, and an answer."""
    texts = tuple(map(output_of, outcomes))
    walls = tuple(float(o.usage.wall if o.usage else o.seconds) for o in outcomes)
    numbers = _of_both(texts, walls)
    if not any(number.sure > 0 for number in numbers):
        # as readings do, which look there for what standard output does not have
        numbers += _of_both(tuple(outcome.err for outcome in outcomes), walls)
    answers, differing = printed_answers(texts[0], texts[1])
    patterns = {number.pattern for number in numbers}
    answers = [a for a in answers if a.pattern not in patterns]
    chosen = _chosen(numbers, walls[0], settings.metric.lower(), choose, str(draft.path))
    # a level that varies needs what it is traded for beside it
    levelled = bool(draft.seen.levels & set(draft.parameters))
    return ObservedRun(
        build_seconds=built,
        walls=walls,
        numbers=tuple(numbers),
        chosen=chosen,
        ratio=ratio_pattern(chosen) if chosen and levelled else "",
        answer=answers[0] if answers else None,
        differing=tuple(differing),
        unread=tuple(comma_lines(texts[0])),
    )


def _of_both(texts: Sequence[str], walls: Sequence[float]) -> list[PrintedNumber]:
    """The times and rates that both runs printed, the most likely first."""
    again = {number.pattern for number in printed_numbers(texts[1], walls[1])}
    return [n for n in printed_numbers(texts[0], walls[0]) if n.pattern in again]


def _chosen(
    numbers: Sequence[PrintedNumber], wall: float, word: str, choose: Choose, where: str
) -> PrintedNumber | None:
    """The number that is optimised: what --metric says, what a person says, or the first."""
    if word:
        if word == "wall":
            return None
        fitting = [n for n in numbers if word in n.line.lower() or word in n.unit.lower()]
        # the word may stand before one of several numbers of a line
        fitting.sort(key=lambda n: word not in f"{n.label} {n.unit}".lower())
        if fitting:
            return fitting[0]
        lines = ", ".join(dict.fromkeys(repr(n.line[:60]) for n in numbers)) or "none"
        names = [w for n in numbers for w in re.findall(r"\w+", f"{n.label} {n.unit}")]
        raise InputError(
            Fault(
                where="--metric",
                found=f"no line with a time or a rate has {word!r}",
                expected=f"wall, or a word of: {lines}",
                hint=nearest(word, names),
            )
        )
    likely = [n for n in numbers if n.sure > 0]
    if not likely:
        return None
    answers = [f"{n.line[:70]}  ({_words(n)})" for n in likely[:8]]
    answers.append(f"the time of the whole process, {show(wall, 'time')}")
    place = choose(f"{where} printed this. What is to be optimised?", answers)
    return likely[place] if place < len(answers) - 1 else None


def _words(number: PrintedNumber) -> str:
    return f"{number.value:g} {number.unit}, {number.better} is better"
