"""Runs commands of the package in children of one process that has imported their modules already.

Reads one JSON object a line from standard input: ``arguments``, ``folder``, ``environment``, the
paths ``out`` and ``err``, ``limits``, the names and values of setrlimit(2), and ``constants``,
values of names of modules. Answers with the process number, then with the exit code, a line each.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import resource
import sys
import threading
from pathlib import Path
from typing import NoReturn, TypedDict

from typer.testing import CliRunner

import autotune

HEAVY = (
    "scipy.stats",
    "scipy.optimize",
    "scipy.linalg",
    "pandas",
    "matplotlib.backends.backend_svg",
)
"""What the package imports only where it is needed."""
PROGRAMS = ("__main__", ".runtime", "_child", "_worker")
"""Parts of the names of modules that are programs of their own."""


class Request(TypedDict):
    arguments: list[str]
    folder: str
    environment: dict[str, str]
    out: str
    err: str
    limits: dict[str, int]
    constants: dict[str, float]


def preload() -> None:
    for name in HEAVY:
        importlib.import_module(name)
    for module in pkgutil.walk_packages(autotune.__path__, "autotune."):
        if not any(part in module.name for part in PROGRAMS):
            with contextlib.suppress(ImportError):  # of an optional package
                importlib.import_module(module.name)
    # what is imported only when the options of a command are read
    CliRunner().invoke(importlib.import_module("autotune.commands.app").app, ["schema"])
    gc.collect()
    gc.freeze()


def become(request: Request) -> None:
    """Make this child the process that a shell would have started."""
    for number, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, request["out"], os.O_WRONLY),
        (2, request["err"], os.O_WRONLY),
    ):
        opened = os.open(path, flags)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for as long as the process lives
    for name, limit in request["limits"].items():
        resource.setrlimit(getattr(resource, name), (limit, limit))
    for name, value in request["constants"].items():
        module, _, constant = name.rpartition(".")
        setattr(importlib.import_module(module), constant, value)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = [str(Path(autotune.__path__[0], "__main__.py")), *request["arguments"]]
    sys.path[0] = request["folder"]


def answer(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def run() -> NoReturn:
    """Run the command and end as Python does, but for the modules, which stay as they are.

    To take them apart would copy all that is shared with the parent, which takes longer than most
    commands.
    """
    try:
        importlib.import_module("autotune.commands").main()
    except SystemExit as end:
        threading._shutdown()
        atexit._run_exitfuncs()
        gc.collect()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))


def main() -> None:
    preload()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            become(json.loads(line))
            break
        answer(child)
        _, status = os.waitpid(child, 0)
        answer(os.waitstatus_to_exitcode(status))
    else:
        return
    run()


main()
