"""A decorator: a function that is called with the parameters that a study found to be best.

import autotune as at

@at.tuned("results.sqlite", study="matmul", size="n", threads=2)
def matmul(a, b, n, *, block, unroll): ...

matmul(a, b, 512)  # block and unroll of the winner nearest to n = 512 on 2 threads
"""

import functools
import inspect
import math
import threading
import time
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from autotune.api.calling.function_program import is_lazy
from autotune.api.choosing.online_race import LossAccount, OnlineRace
from autotune.api.choosing.stored_variants import (
    Parameters,
    StoredVariants,
    stored_variants,
)
from autotune.errors import Fault, InputError, describe, nearest
from autotune.results.export.readers.autotune_wisdom import LARGEST, Value, WisdomChoice

R = TypeVar("R")
Measure = str | int | Callable[..., int]
"""How a size or a number of threads is known at a call: the name of an argument, a number, or a
function of the arguments."""
Clock = Callable[[], float]
Arguments = Mapping[str, object]
Plain = str | int | float | None


@dataclass(frozen=True, slots=True)
class OnlineChoice:
    """A choice among a few variants by timing the first calls, which are made anyway."""

    calls: float = 10.0
    """How many calls of the best variant it may cost, over all sizes together; 0: no choice."""
    variants: Sequence[Parameters] = ()
    """Parameters that race; without a source the first of them ran before. Empty: the choice of
    the source and those nearest to it."""
    rivals: int = 4
    """So many of these at most."""
    clock: Clock = time.perf_counter


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choosing:
    """The arguments of the decorator."""

    source: str | Path | None
    study: str
    problem: str | None
    machine: str | None
    size: Measure
    threads: Measure
    otherwise: Parameters | None
    online: "OnlineChoice"


@dataclass(slots=True)
class _CaseChoice:
    """What runs at one size and number of threads."""

    variants: Sequence[Parameters]
    choice: WisdomChoice | None = None
    race: OnlineRace | None = None


class TunedFunction(Generic[R]):
    """A function whose tuned parameters are filled in when it is called.

    Parameters that a caller passes are left as they are, and such a call takes no part in a race.
    Results and exceptions are those of the function. Safe to call from several threads.
    """

    def __init__(self, function: Callable[..., R], choosing: _Choosing) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        """The function itself."""
        self._choosing = choosing
        self._where = f"@at.tuned of {getattr(function, '__name__', 'a function')}"
        self._signature = self._signature_of(function)
        self._size = self._reader(choosing.size)
        self._threads = self._reader(choosing.threads)
        self._account = LossAccount(choosing.online.calls)
        self._lock = threading.RLock()
        self._timing = False
        """A call is being timed: others run the best so far and are not timed."""
        self._stored: StoredVariants | None = None
        self._cases: dict[tuple[object, object], _CaseChoice] = {}
        self._check()

    def __reduce__(self) -> str:
        """By its name, as functions are pickled: process pools take it."""
        return str(getattr(self.function, "__qualname__", self._where))

    def __get__(self, instance: object, owner: type | None = None) -> object:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *args: object, **kwargs: object) -> R:
        """Call the function with the chosen parameters."""
        case = self._case(args, kwargs)
        if case.race is None or not case.race.racing:
            number = case.race.running if case.race else 0
            return self.function(*args, **{**case.variants[number], **kwargs})
        return self._raced(case, case.race, args, kwargs)

    # --- what is chosen -------------------------------------------------------------------

    def chosen(self, *args: object, **kwargs: object) -> dict[str, Value]:
        """The parameters that a call with these arguments would get now."""
        case = self._case(args, kwargs)
        number = case.race.running if case.race else 0
        return dict(case.variants[number])

    def choice(self, *args: object, **kwargs: object) -> WisdomChoice | None:
        """The entry of the study behind a call with these arguments, with its size, threads, time
        and interval; None where ``otherwise`` or ``variants`` said what to run.
        """
        return self._case(args, kwargs).choice

    @property
    def lost_calls(self) -> float:
        """What the choice on line has cost so far, in calls of the best variant."""
        with self._lock:
            return sum(race.lost_calls for race in self._account.races)

    def reload(self) -> None:
        """Forget what was read and chosen: the next call reads the store again."""
        with self._lock:
            self._stored, self._cases = None, {}

    # --- a call ---------------------------------------------------------------------------

    def _raced(
        self,
        case: _CaseChoice,
        race: OnlineRace,
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
    ) -> R:
        """A call during a race: timed, unless another one is, or the caller sets a parameter."""
        with self._lock:
            timed = race.racing and not self._timing and kwargs.keys().isdisjoint(case.variants[0])
            if timed:
                race.starting()
                timed = self._timing = race.racing
            number = race.best if race.racing and not timed else race.running
        if not timed:
            return self.function(*args, **{**case.variants[number], **kwargs})
        clock = self._choosing.online.clock
        settle: Callable[[], None] | None = None  # after Ctrl-C
        began = clock()
        try:
            result = self.function(*args, **{**case.variants[number], **kwargs})
            settle = functools.partial(race.ended, clock() - began)
        except Exception:
            settle = functools.partial(race.failed, clock() - began)
            raise
        finally:
            with self._lock:
                if settle is not None:
                    settle()
                self._timing = False
        return result

    def _case(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> _CaseChoice:
        size, threads = self._size(args, kwargs), self._threads(args, kwargs)
        try:
            case = self._cases.get((size, threads))
        except TypeError:  # a list or an array, which is refused below
            case = None
        if case is not None:
            return case
        key = self._whole("size", size, 1), self._whole("threads", threads, 0)
        with self._lock:
            if key not in self._cases:
                self._cases[key] = self._new_case(*key)
            return self._cases[key]

    def _reader(self, measure: Measure) -> Callable[[tuple[object, ...], Arguments], object]:
        """A function that reads a size or a number of threads from the arguments of a call."""
        if isinstance(measure, str):
            parameters = self._signature.parameters
            place = [*parameters].index(measure) if measure in parameters else 0
            default = parameters[measure].default if measure in parameters else None

            def of_argument(args: tuple[object, ...], kwargs: Arguments) -> object:
                return args[place] if place < len(args) else kwargs.get(measure, default)

            return of_argument
        if callable(measure):
            return lambda args, kwargs: measure(*args, **kwargs)
        return lambda _args, _kwargs: measure

    def _whole(self, name: str, value: object, least: int) -> int:
        """A size or a number of threads; InputError where it is none."""
        try:
            number = int(value)  # type: ignore[call-overload]
        except (TypeError, ValueError, OverflowError):
            number = -1
        if least <= number <= LARGEST:
            return int(number)
        if value is inspect.Parameter.empty:
            value = None
        raise InputError(
            Fault(
                where=f"{name} of {self._where}",
                found=describe(value) if isinstance(value, Plain) else repr(value),
                expected=f"a whole number from {least} to 2**53",
                hint=f"{name}= takes a number, the name of an argument, or a function of the"
                " arguments",
            )
        )

    def _new_case(self, size: int, threads: int) -> _CaseChoice:
        choosing = self._choosing
        if choosing.source is None:
            case = _CaseChoice(choosing.online.variants)
        else:
            case = self._stored_case(choosing, size, threads)
        if choosing.online.calls and len(case.variants) > 1:
            case.race = OnlineRace(len(case.variants), self._account)
        return case

    def _stored_case(self, choosing: _Choosing, size: int, threads: int) -> _CaseChoice:
        try:
            stored = self._stored = self._stored or stored_variants(
                choosing.source or "",
                study=choosing.study,
                problem=choosing.problem,
                machine=choosing.machine,
            )
        except InputError:
            if choosing.otherwise is None:
                raise
            return _CaseChoice([choosing.otherwise])
        choice = stored.section.lookup(size, threads)
        variants = [*choosing.online.variants] or stored.near(choice, choosing.online.rivals)
        if choice.parameters not in variants:
            variants.insert(0, choice.parameters)
        variants.sort(key=lambda parameters: parameters != choice.parameters)
        racing = variants if choosing.online.calls else variants[:1]
        for parameters in racing:
            self._require_taken(parameters, str(choosing.source))
        return _CaseChoice(racing, choice)

    # --- checks ---------------------------------------------------------------------------

    def _signature_of(self, function: Callable[..., R]) -> inspect.Signature:
        try:
            return inspect.signature(function)
        except (TypeError, ValueError) as error:
            raise InputError(
                Fault(
                    where=self._where,
                    found=f"type {type(function).__name__}, whose arguments are not known",
                    expected="a function written in Python",
                    hint="wrap it: lambda *args, **parameters: it(*args, **parameters)",
                )
            ) from error

    def _check(self) -> None:
        """Raise InputError for arguments of the decorator that make no sense with the function."""
        choosing = self._choosing
        if choosing.source is None and not choosing.online.variants:
            raise InputError(
                Fault(
                    where=self._where,
                    found="neither a source nor variants",
                    expected="a store or wisdom file that holds the choices, or variants that race",
                    hint='for example: @at.tuned("autotune-results.sqlite", study="matmul")',
                )
            )
        for name, measure in (("size", choosing.size), ("threads", choosing.threads)):
            if isinstance(measure, str) and measure not in self._signature.parameters:
                raise InputError(self._no_argument(measure, f"{name} of {self._where}"))
        for parameters in (*choosing.online.variants, choosing.otherwise or {}):
            self._require_taken(parameters, "variants")
        if not (math.isfinite(choosing.online.calls) and choosing.online.calls >= 0):
            raise InputError(
                Fault(
                    where=f"online of {self._where}",
                    found=f"{choosing.online.calls}",
                    expected="how many calls of the best variant the choice may cost, 0: none",
                    hint="10 is usual",
                )
            )
        if choosing.online.calls and is_lazy(self.function):
            raise InputError(
                Fault(
                    where=f"online of {self._where}",
                    found="a coroutine or generator, whose call returns before its work is done",
                    expected="a function whose calls can be timed",
                    hint="leave online out: the stored choice serves any function",
                )
            )

    def _require_taken(self, parameters: Parameters, source: str) -> None:
        """InputError where the function does not take a parameter."""
        accepted = self._signature.parameters.values()
        if any(parameter.kind == parameter.VAR_KEYWORD for parameter in accepted):
            return
        for name in parameters:
            if name not in self._signature.parameters:
                raise InputError(self._no_argument(name, f"{source}, {self._where}"))

    def _no_argument(self, name: str, where: str) -> Fault:
        names = list(self._signature.parameters)
        return Fault(
            where=where,
            found=f"the function has no argument {name!r}",
            expected=f"one of its arguments: {', '.join(names) or 'none'}",
            hint=nearest(name, names) or "**parameters takes any",
        )


def tuned(
    source: str | Path | None = None,
    *,
    study: str = "",
    problem: str | None = None,
    machine: str | None = None,
    size: Measure = 1,
    threads: Measure = 0,
    otherwise: Parameters | None = None,
    online: float | OnlineChoice = 0.0,
) -> Callable[[Callable[..., R]], TunedFunction[R]]:
    """Decorate a function so that calls get the tuned parameters as keyword arguments.

    ``source``: a store with its ``study`` (the latest if none is named), or a wisdom file; it is
    read at the first call. ``problem`` and ``machine`` name one of several there. ``size`` and
    ``threads``: how these are known at a call: a number, the name of an argument, or a function of
    the arguments; the nearest entry is taken as ``docs/export.md`` says, 0 threads asks for any.
    ``otherwise``: the parameters where the source cannot be read; without it, that is an error.

    ``online``: how many calls of the best variant a choice on line may cost, over all sizes
    together; 0: no such choice. The first calls then race the stored winner and those nearest to
    it in the source, or ``OnlineChoice(calls, variants)``, and the fastest stays. The loss is at
    most that bound, and what a single first call of one variant takes beyond (a just-in-time
    compiler runs there).
    """
    if callable(source) or not isinstance(online, int | float | OnlineChoice):
        raise InputError(_misuse(source, online))
    choosing = _Choosing(
        source=source,
        study=study,
        problem=problem,
        machine=machine,
        size=size,
        threads=threads,
        otherwise=otherwise,
        online=online if isinstance(online, OnlineChoice) else OnlineChoice(float(online)),
    )

    def decorate(function: Callable[..., R]) -> TunedFunction[R]:
        return TunedFunction(function, choosing)

    return decorate


def _misuse(source: object, online: object) -> Fault:
    """The fault of a decorator without brackets, or with a bound that is no number."""
    if callable(source):
        return Fault(
            where="@at.tuned",
            found="no brackets: the function is where a source is expected",
            expected='@at.tuned("autotune-results.sqlite", study="NAME")',
        )
    return Fault(
        where="online of @at.tuned",
        found=repr(online),
        expected="how many calls of the best variant the choice may cost, or at.OnlineChoice(...)",
        hint="10 is usual",
    )
