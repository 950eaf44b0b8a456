"""``tune``: measure the candidates of anything that can be tuned from Python."""

import contextlib
import inspect
import sys
import threading
import time as clock
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from autotune.api.budget import Budget, options_of
from autotune.api.calling import worker
from autotune.api.parameters import Parameters
from autotune.api.running_study import Callback, RunningStudy, heeding
from autotune.api.setups import Described, workload_in
from autotune.api.study_result import StudyResult
from autotune.api.target_description import StudyDescription, Target
from autotune.commands.tune import flow
from autotune.commands.tune.flow import StudyOptions, TunedStudy
from autotune.domain.program import Program
from autotune.domain.setup import Setup
from autotune.errors import Fault, InputError, WorkFailed, nearest, one_of
from autotune.files.config.file_fields import keys_of
from autotune.files.store import Store
from autotune.language.constraint import Value
from autotune.progress import Progress, silent
from autotune.tuning.events import Event, Watcher, unwatched
from autotune.workloads.base import Workload

STORE = "autotune-results.sqlite"
_ALONE = threading.Lock()
"""Held by the study that runs: two of one process would disturb and end one another's programs."""
_PAUSE = 0.1
_STOPPED = "the study was stopped before anything was measured"


class TuneKeywords(TypedDict, total=False):
    """Further keywords of ``tune``, which says what they mean; those after ``options`` are keys of
    a config or a program file.
    """

    time: object
    metrics: Mapping[str, object] | Sequence[str]
    objectives: str | Sequence[str] | Mapping[str, str]
    tolerance: float
    baseline: Mapping[str, Value]
    arguments: Mapping[str, Value]
    problems: Sequence[Mapping[str, Value]]
    name: str
    stop: threading.Event
    resume: bool
    progress: Progress | bool
    options: StudyOptions
    title: str
    machine: str
    builds: Sequence[Mapping[str, object]]
    threads: object
    environment: Mapping[str, str]
    launcher: str
    selection: Mapping[str, object]
    search: Mapping[str, object]
    measuring: Mapping[str, object]
    limits: Mapping[str, object]
    size: str
    bounds: Sequence[str]
    folder: str
    sources: Sequence[str]
    packages: Mapping[str, str]
    verify: Mapping[str, object]
    model: Mapping[str, object]


def tune(
    target: Described | Target,
    *,
    parameters: Parameters | None = None,
    restrictions: Iterable[object] | str = (),
    check: Any = None,  # noqa: ANN401 - a function, or a result of the user's
    budget: Budget | None = None,
    callbacks: Sequence[Callback] = (),
    store: str | Path = STORE,
    **further: Unpack[TuneKeywords],
) -> StudyResult:
    """Measure the most promising candidates; every sample goes to the store when it is taken.

    ``target``: a function that takes the parameters as keywords; a command as words or one text,
    with ``{name}`` where a parameter goes; a C, C++ or Fortran file, or C as a text of several
    lines, whose macros are the parameters; or, without ``parameters``, a config: its file or name,
    a dict, a setup, a workload.

    ``parameters``: by name a list, a range, ``at.Integer``, ``at.Real``, ``at.Ordered``, ... .
    ``restrictions``: conditions as text. ``baseline``: what the others are compared with; else
    the first value of each parameter. ``arguments``: keywords (or macros) that do not vary;
    ``problems``: several settings of them, each with a winner of its own.

    ``time``: None times the call, or the process of a command. Of a function, a name in what it
    returns, or a function of that (``float`` where it returns its seconds); of a command, a pattern
    with a group, or a key of JSON. ``metrics`` are read alike. ``objectives``: ``time`` and names
    of metrics, with ``"less"`` or ``"more"``; two or more give a Pareto front.
    ``check``: what is right: a function of the result, the right result, or ``"baseline"``.

    ``budget``: ``"2 min"``, ``"40 evaluations"``. ``callbacks``: called with the running study and
    each trial that ended; ``study.stop()``, or ``stop``, an event, ends the study early, and what
    was measured is returned. ``resume``: go on with the study of this name in the store, if there
    is one. ``progress``: True shows the terminal's display. Further keywords are keys of a config
    or a program file: ``limits={"run": "5 s"}``, ``threads="openmp"``.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> study = tune(
    ...     lambda n: sum(range(n)), parameters={"n": [20_000, 10]}, store=f"{folder}/a.sqlite",
    ...     measuring={"rounds": 3, "min_sample": "1 ms"},
    ... )
    >>> study.best_params
    {'n': 10}
    """
    _require_outside()
    keywords: dict[str, Any] = dict(further)
    of_run = {key: keywords.pop(key, None) for key in ("stop", "progress", "options")}
    resume = bool(keywords.pop("resume", False))
    described = {"restrictions": restrictions, "check": check, **keywords}
    workload = workload_in(_setup(target, parameters, described))
    options = of_run["options"] or options_of(budget, resume=resume)
    if budget is not None and of_run["options"] is not None:
        raise InputError(Fault(where="budget", found="both budget and options", hint="use one"))
    options = _begun(options, workload, str(store))
    study = RunningStudy(workload.setup.name, tuple(callbacks))
    return _run(workload, options, str(store), study, of_run["stop"], of_run["progress"])


def _setup(
    target: Described | Target, parameters: Parameters | None, described: Mapping[str, Any]
) -> Described:
    """What is tuned: the target itself, or the setup of one with parameters."""
    names = {field.name for field in fields(StudyDescription)}
    _refuse_unknown(described)
    if parameters is None:
        _refuse_others(described)
        return _described(target)
    return StudyDescription(
        target=_tunable(target),
        parameters=parameters,
        **{key: value for key, value in described.items() if key in names},
        further={key: value for key, value in described.items() if key not in names},
    ).setup()


def load_study(store: str | Path = STORE, name: str = "") -> StudyResult:
    """A study of a store by its name; without a name the latest."""
    return StudyResult(flow.study(name, str(store)), str(store))


def _run(
    workload: Workload,
    options: StudyOptions,
    store: str,
    study: RunningStudy,
    stop: threading.Event | None,
    progress: Progress | bool | None,
) -> StudyResult:
    began = clock.monotonic()
    with heeding(study, stop), _turn(study), _display(progress) as (report, watch):

        def watched(event: Event) -> None:
            watch(event)
            study.watch(event)

        try:
            result = flow.tune(
                workload, options, store, report, watched, began=began, stop=study.request
            )
        except KeyboardInterrupt as interrupt:
            result = _kept(interrupt, study, store)
    if study.fault is not None:
        raise study.fault
    if study.request.requested and not any(run.measurements for run in result.record.runs):
        raise WorkFailed(_STOPPED)
    flow.require_success(result)
    return StudyResult(result, store)


def _kept(interrupt: KeyboardInterrupt, study: RunningStudy, store: str) -> TunedStudy:
    """What an interrupted study has in the store, where it was asked to stop; Ctrl-C raises."""
    if not study.request.requested:
        words = f"study {interrupt.args[0]}: " if interrupt.args else ""
        raise KeyboardInterrupt(
            f"{words}every finished sample is in {store}; go on with resume=True"
        ) from None
    if not interrupt.args:
        if study.fault is not None:
            raise study.fault
        raise WorkFailed(_STOPPED)
    return flow.study(str(interrupt.args[0]), store)


def _begun(options: StudyOptions, workload: Workload, store: str) -> StudyOptions:
    """The options; a study that is to be resumed and was never begun is begun."""
    if not options.resume:
        return options
    with Store.open(store) as results:
        begun = results.latest_study(workload.setup.name) is not None
    return options if begun else replace(options, resume=False)


@contextlib.contextmanager
def _turn(study: RunningStudy) -> Iterator[None]:
    """A context in which no other study of this process runs."""
    while not _ALONE.acquire(timeout=_PAUSE):
        if study.request.requested:
            raise WorkFailed("the study was stopped while another one was running")
    try:
        yield
    finally:
        _ALONE.release()


def _require_outside() -> None:
    """InputError in a process that runs a function which is being tuned: the study inside would
    wait until the one outside, which measures this very call, has ended.
    """
    main = sys.modules.get("__main__")
    name = Path(getattr(main, "__file__", None) or "").name
    if name == Path(worker.__file__).name and getattr(main, "PAYLOAD", "") == worker.PAYLOAD:
        raise InputError(
            Fault(
                where="at.tune",
                found="it is called in a function that is being tuned",
                expected="a call outside",
                hint="tune the inner function first, and call its winner here",
            )
        )


@contextlib.contextmanager
def _display(progress: Progress | bool | None) -> Iterator[tuple[Progress, Watcher]]:
    """What shows progress: by default the display of ``autotune tune`` on a terminal."""
    if progress is None:
        progress = sys.stderr is not None and sys.stderr.isatty()
    if not isinstance(progress, bool):
        yield progress, unwatched
    elif not progress:
        yield silent, unwatched
    else:
        from autotune.commands.live import screen

        with contextlib.closing(screen()) as shown:
            yield shown, shown.watch


def _refuse_unknown(given: Mapping[str, object]) -> None:
    """Raise InputError for keywords that ``tune`` does not have."""
    keywords = {*inspect.signature(tune).parameters, *TuneKeywords.__annotations__} - {"further"}
    accepted = {*keywords, *keys_of(Setup), *keys_of(Program)}
    faults = [
        Fault(
            where="tune",
            found=f"unknown keyword {key!r}",
            expected="" if (near := nearest(key, keywords)) else one_of(sorted(keywords)),
            hint=near,
        )
        for key in given
        if key not in accepted
    ]
    if faults:
        raise InputError(*faults)


def _refuse_others(given: Mapping[str, object]) -> None:
    """Raise InputError for keywords that describe a target, where the target is a config."""
    named = [key for key, value in given.items() if value is not None and value != ()]
    if named:
        raise InputError(
            Fault(
                where=named[0],
                found=f"{', '.join(named)} without values of parameters",
                expected="parameters, or a config as the target that says all of it",
                hint='parameters={"tile": [16, 32, 64]}',
            )
        )


def _described(target: object) -> Described:
    """A target that describes itself; InputError for one that needs parameters."""
    if isinstance(target, str | Path | Mapping) or hasattr(target, "problems"):
        return target  # type: ignore[return-value]
    if hasattr(target, "setup") and hasattr(target, "measurer"):
        return target  # type: ignore[return-value]
    raise InputError(
        Fault(
            where="parameters",
            found="nothing says what varies",
            expected="the values of each parameter by its name",
            hint='parameters={"tile": [16, 32, 64]}',
        )
    )


def _tunable(target: object) -> Target:
    """A target with parameters; InputError for what cannot be one."""
    if callable(target) or isinstance(target, str | Path):
        return target
    if isinstance(target, list | tuple) and all(isinstance(w, str | Path) for w in target):
        return [str(word) for word in target]
    raise InputError(
        Fault(
            where="target",
            found=f"a value of type {type(target).__name__}, and parameters",
            expected="a function, a command as words or text, or a source file",
            hint="a config has its parameters in itself",
        )
    )
