"""A separate process that runs kerncraft on kernels: JSON lines in, JSON lines out.

    -> {"id": 3, "folder": "/tmp/.../5f2a..."}       the folder holds kernel.c and nothing else
    -> {"id": 3, "folder": ..., "stated": [8, 4]}    with stated T_OL and T_nOL, cycles per line
    -> {"id": 3, "folder": ..., "lines": [[3, 1]]}   transfers of lines loaded and stored, no more
    <- {"id": 3, "ok": true, "record": {...}}        see kerncraft_record
    <- {"id": 3, "ok": false, "lasting": true, "error": "..."}

Started with the process number of its parent and the path of a kerncraft machine file. It imports
only its own folder, and the package never imports that: kerncraft, OSACA and pycachesim are under
the AGPL-3 and stay behind the pipe.

kerncraft is loaded once; every kernel is then analysed in a child of this process, so that nothing
that kerncraft, sympy or OSACA remember, and no ``sys.exit``, reaches the next one. The child has an
empty standard input, works in the folder of its kernel, and what is printed goes to a file there.
"""

import contextlib
import ctypes
import gc
import json
import os
import re
import signal
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")  # before kerncraft, sympy and OSACA are loaded
gc.disable()  # what is loaded stays

from autotune.models.kerncraft_child.child_incore import StatedTimes  # noqa: E402
from autotune.models.kerncraft_child.child_record import analyse, lines_record  # noqa: E402
from autotune.models.kerncraft_child.kernel_subject import Json, KernelRefused  # noqa: E402
from autotune.models.kerncraft_child.warm import prepare  # noqa: E402

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Ask the kernel to end this process when its parent ends (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the kernel was asked
        os._exit(0)


def examine(place: str, request: Json) -> Json:
    """The answer to a request; an exception becomes an answer with its reason."""
    os.chdir(str(request["folder"]))
    output = os.open("output.txt", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdin = os.fdopen(0, encoding="utf-8")
    try:
        return {"ok": True, "record": answer_to(place, request)}
    except KernelRefused as fault:
        return {"ok": False, "lasting": True, "error": str(fault)}
    except SystemExit:
        printed = _printed()
        return {
            "ok": False,
            "lasting": "ompil" not in printed,
            "error": printed or "kerncraft gave up",
        }
    except (MemoryError, OSError) as fault:
        return {"ok": False, "lasting": False, "error": f"{type(fault).__name__}: {fault}"}
    except Exception as fault:  # whatever goes wrong in kerncraft is the answer
        return {"ok": False, "lasting": True, "error": readable(fault)}


def answer_to(place: str, request: Json) -> Json:
    """The record that a request asks for."""
    lines, stated = request.get("lines"), request.get("stated")
    if isinstance(lines, list):
        return lines_record(place, lines)
    return analyse(place, StatedTimes(*stated) if isinstance(stated, list) else None)


def _printed() -> str:
    """The text that the child printed, in one line: the compiler's first error and kerncraft's last
    words.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    lines = [line.strip() for line in Path("output.txt").read_text(errors="replace").splitlines()]
    errors = [line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)]
    last = [line for line in lines if line][-1:]
    chosen = dict.fromkeys([*errors[:1], *last])
    return re.sub(r"\s+", " ", "; ".join(chosen))[:400]


def readable(fault: Exception) -> str:
    """kerncraft's own message, without references to its command line."""
    text = re.sub(r"\s+", " ", str(fault)).strip()
    text = re.sub(r'"?/\S*/machine\.yml"?', "the machine file", text)
    text = re.split(r"(?<=\w)\. (?=Use --|Check change|Add different)", text)[0]
    if isinstance(fault, KeyError):
        return f"the machine file has no entry {text}"
    if isinstance(fault, AssertionError | ValueError | RuntimeError | NotImplementedError) and text:
        return text.removesuffix(".")
    return f"{type(fault).__name__}: {text}"


def in_child(place: str, request: Json) -> Json:
    """The answer for a kernel, computed in a child process; there is an answer even if the child
    dies.
    """
    reading, writing = os.pipe()
    server = os.getpid()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            die_with_parent(server)
            answer = json.dumps(examine(place, request)).encode()
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(answer)
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    status = os.waitpid(child, 0)[1]
    try:
        answer = json.loads(data)
        if os.waitstatus_to_exitcode(status) == 0 and isinstance(answer, dict):
            return answer
    except ValueError:
        pass
    number = os.waitstatus_to_exitcode(status)
    how = f"was ended by {signal.Signals(-number).name}" if number < 0 else "ended early"
    return {"ok": False, "lasting": False, "error": f"the process of this kernel {how}"}


def main(parent: int, place: str) -> None:
    """Answer requests until standard input ends."""
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as replies:
        os.dup2(2, 1)  # what kerncraft prints must not come between the answers
        prepare(place)
        gc.freeze()
        gc.enable()
        for line in sys.stdin:
            request = json.loads(line)
            sys.stdout.flush()
            sys.stderr.flush()
            answer = in_child(place, request)
            replies.write(json.dumps({"id": request["id"], **answer}) + "\n")
            replies.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
