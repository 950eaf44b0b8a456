"""The command line: arguments are parsed, work is called, results are printed.

The command modules import the flow inside their functions: ``autotune --help`` must not wait for
numpy and the database.
"""

import contextlib
import errno
import gc
import os
import resource
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

from autotune.commands.app import app
from autotune.commands.output import note
from autotune.commands.terminal import escaping, open_error_stream
from autotune.errors import AutotuneError, InputError

_interrupts: list[int] = []
"""The signals that have interrupted the command."""
_AGAIN = 0.05
"""Seconds after which an interruption is repeated."""
_SHOWN = 50
"""Mistakes that are shown, of more."""
_FOLDERS = "AUTOTUNE_CACHE and AUTOTUNE_DATA name the folders that autotune writes to"
_HINTS = {
    errno.EAGAIN: "no further process may be started: see ulimit -u",
    errno.EMFILE: "see ulimit -n",
    errno.ENFILE: "all processes of this host together have too many files open",
    errno.EFBIG: "see ulimit -f",
}
"""What to look at where the system refuses something, by the number of its error."""
_COLLECTED = 50_000
"""New objects after which Python looks for unused cycles. With its own number, 700 in Python 3.11,
that takes a sixth of the time of a ranking, whose objects nearly all stay."""
_LEAST_MEMORY = 400 * 2**20
"""Bytes of address space with which numpy starts; with much less OpenBLAS waits for ever."""


def main() -> NoReturn:
    """Run the command line and exit: 0 done, 1 the work failed, 2 wrong input, 130 interrupted.

    SIGTERM, with which batch systems announce the end of a job, and SIGHUP, the end of the
    terminal, have the effect of Ctrl-C. Under nohup(1) SIGHUP stays without effect.
    """
    gc.set_threshold(_COLLECTED)
    sys.unraisablehook = _interrupt_again
    signal.signal(signal.SIGTERM, _interrupt)
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _interrupt)
    # Otherwise numpy starts threads, which takes longer than all that is multiplied here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    open_error_stream()
    if sys.stdout is None:
        fault = "standard output is closed; expected an open one (to show nothing: > /dev/null)"
        print(f"error: {fault}", file=sys.stderr)
        sys.exit(2)
    memory, _ = resource.getrlimit(resource.RLIMIT_AS)
    if 0 <= memory < _LEAST_MEMORY:
        limit = f"the limit of address space (ulimit -v) is {memory >> 20} MiB"
        print(f"error: {limit}; expected at least {_LEAST_MEMORY >> 20} MiB", file=sys.stderr)
        sys.exit(2)
    with escaping():
        sys.exit(_exit_code())


def _interrupt(number: int, _: FrameType | None) -> NoReturn:
    _interrupts.append(number)
    raise KeyboardInterrupt


def _interrupt_again(lost: "sys.UnraisableHookArgs") -> None:
    """Repeat an interruption that came where Python ignores exceptions, as in a finalizer."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    with contextlib.suppress(RuntimeError):  # the interpreter is about to end
        timer = threading.Timer(_AGAIN, os.kill, [os.getpid(), signal.SIGTERM])
        timer.daemon = True
        timer.start()


def _exit_code() -> int:
    """Run the command line; the exit code, also where an interruption shows as another error."""
    try:
        return _answered()
    except Exception:
        # an extension module whose start is interrupted raises ImportError
        if not _interrupts:
            raise
        print("interrupted", file=sys.stderr)
        return 130


def _answered() -> int:
    """Run the command line and report errors; the exit code."""
    try:
        try:
            app(prog_name="autotune")
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        note("interrupted")
        return 130
    except SystemExit as stop:
        if isinstance(getattr(stop.__context__, "__cause__", None), KeyboardInterrupt):
            note("interrupted")  # no command said so: it had hardly begun
        raise
    except InputError as error:
        if len(error.faults) > 1:
            note(f"{len(error.faults)} mistakes:")
        for fault in error.faults[:_SHOWN]:
            note(f"error: {fault}")
        if len(error.faults) > _SHOWN:
            note(f"and {len(error.faults) - _SHOWN} more")
        return error.exit_code
    except OSError as error:
        _let_go_of_output()
        if isinstance(error, BrokenPipeError):
            return 1
        where = f"{error.filename}: " if error.filename else ""
        hint = _HINTS.get(error.errno or 0, _FOLDERS)
        note(f"error: {where}{error.strerror or error} ({hint})")
        return 2
    except MemoryError:
        note("failed: there is not enough memory for this: is a size too large?")
        return 1
    except AutotuneError as error:
        note(f"failed: {error}")
        return error.exit_code
    return 0


def _let_go_of_output() -> None:
    """What standard output could not take is dropped: Python would try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
