"""Makes ECM models of kernels: kerncraft analyses each kernel once, and results are stored by
content hash.
"""

import contextlib
import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from autotune import paths
from autotune.errors import Fault, MissingTool
from autotune.models.kerncraft import kerncraft_cache, kerncraft_client
from autotune.models.kerncraft.kerncraft_client import KerncraftPool, Reply
from autotune.models.kerncraft.kerncraft_model import EcmModel, disagreement
from autotune.models.kerncraft.kerncraft_record import LineTransfers, read_lines, read_record
from autotune.toolchain.scratch_folder import temporary_folder
from autotune.units import Seconds

_LIMIT = 120.0
_PLAIN = "double a[N];\n\nfor (long i = 0; i < N; ++i)\n    a[i] = 0.0;\n"
"""A kernel with a line of work for every line that it stores."""


class StatedCycles(NamedTuple):
    """In-core times of a kernel in cycles per line of work, stated in place of an analysis."""

    T_OL: float
    T_nOL: float


class KerncraftAnalyser:
    """Makes ECM models of kernels on one machine; a context manager.

    ``machine_file`` is the *text* of a kerncraft machine file, ``progress`` is called with the
    numbers of finished kernels and of all kernels to be analysed, ``limit`` is in seconds for one
    kernel. Workers start at the first unknown kernel, at most one per core.
    """

    def __init__(
        self,
        machine_file: str,
        *,
        progress: Callable[[int, int], None] | None = None,
        limit: float = _LIMIT,
        command: Sequence[str] = kerncraft_client.WORKER,
    ) -> None:
        self._machine_file = machine_file
        self._progress = progress
        self._limit = Seconds(limit)
        self._command = tuple(command)
        self._scratch = contextlib.ExitStack()
        self._folder: Path | None = None
        self._pool: KerncraftPool | None = None

    @property
    def starts(self) -> int:
        """Number of workers started so far."""
        return self._pool.starts if self._pool else 0

    def analyse(
        self, sources: Sequence[str], stated: Sequence[StatedCycles | None] | None = None
    ) -> list[EcmModel | str]:
        """One model per kernel in kerncraft's C, in order, or the reason why there is none.

        ``stated``: in-core times of each kernel, which then needs no compiler; None: by kerncraft's
        own analysis. Raises MissingTool where kerncraft is not installed.
        """
        self._need_kerncraft()
        identity = _identity(self._command)
        kernels = [*zip(sources, stated or [None] * len(sources), strict=True)]
        keys = {
            (text, times): kerncraft_cache.key(text, self._machine_file, identity, times)
            for text, times in kernels
        }
        models = {kernel: _model(kerncraft_cache.stored(key)) for kernel, key in keys.items()}
        new = [kernel for kernel in keys if models[kernel] is None]
        requests = [(keys[k], k[0], {"stated": k[1]} if k[1] else {}) for k in new]
        for position, reply in self._ask(requests):
            kernel = new[position]
            models[kernel] = model = _model(reply)
            if model is not None and (reply.get("ok") or reply.get("lasting")):
                kerncraft_cache.keep(keys[kernel], reply)
        unread = "kerncraft: the answer of its worker cannot be read"
        return [models[kernel] or unread for kernel in kernels]

    def transfers(self, lines: Sequence[tuple[float, float]]) -> LineTransfers | str:
        """The transfers of lines loaded and stored in a line of work, or why there are none."""
        self._need_kerncraft()
        text = f"{_PLAIN}/* {json.dumps(lines)} */"
        key = kerncraft_cache.key(text, self._machine_file, _identity(self._command), (0.0, 0.0))
        reply = kerncraft_cache.stored(key)
        if reply is None:
            ((_, reply),) = self._ask([(key, _PLAIN, {"lines": lines})])
            if reply.get("ok") or reply.get("lasting"):
                kerncraft_cache.keep(key, reply)
        if not reply.get("ok"):
            return f"kerncraft: {reply.get('error', 'no reason given')}"
        return read_lines(reply.get("record"), lines)

    def close(self) -> None:
        """End the workers and remove their folders; a later analysis starts them again."""
        if self._pool is not None:
            self._pool.close()
        self._scratch.close()
        self._folder = self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(
        self, kernels: Sequence[tuple[str, str, Mapping[str, object]]]
    ) -> Iterator[tuple[int, Reply]]:
        """The replies of kerncraft for kernels with their keys and what else is asked; each kernel
        is analysed in a fresh folder.
        """
        if not kernels:
            return
        folder, pool = self._started()
        requests: list[dict[str, object]] = []
        for key, text, more in kernels:
            place = Path(tempfile.mkdtemp(prefix=f"{key[:16]}-", dir=folder))
            place.joinpath("kernel.c").write_text(text + "\n", encoding="utf-8")
            requests.append({"folder": str(place), **more})
        self._tell(0, len(kernels))
        for done, (position, reply) in enumerate(pool.ask(requests), start=1):
            shutil.rmtree(str(requests[position]["folder"]), ignore_errors=True)
            self._tell(done, len(kernels))
            yield position, reply

    def _started(self) -> tuple[Path, KerncraftPool]:
        if self._folder is None or self._pool is None:
            self._folder = self._scratch.enter_context(temporary_folder("autotune-kerncraft-"))
            machine = self._folder / "machine.yml"
            machine.write_text(self._machine_file, encoding="utf-8")
            self._pool = KerncraftPool(
                [*self._command, str(os.getpid()), str(machine)],
                _environment(self._folder),
                count=len(os.sched_getaffinity(0)),
                limit=self._limit,
            )
        return self._folder, self._pool

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)

    def _need_kerncraft(self) -> None:
        if (
            self._command == kerncraft_client.WORKER
            and importlib.util.find_spec("kerncraft") is None
        ):
            fault = Fault(
                where="engine kerncraft",
                found="kerncraft is not installed",
                hint="pip install kerncraft==0.8.18",
            )
            raise MissingTool(fault)


def _identity(command: Sequence[str]) -> str:
    """The program text of the worker, which is part of the keys: another program may give other
    answers.
    """
    if tuple(command) != kerncraft_client.WORKER:
        return " ".join(command)
    folder = Path(__file__).parents[1] / "kerncraft_child"
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.py")))


def _environment(folder: Path) -> dict[str, str]:
    """The environment variables of the workers, with ``folder`` as their home.

    In an empty home folder kerncraft finds no pointer increments that a user has once typed in.
    """
    home = paths.cache_dir() / "kerncraft" / "home"
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError:
        home = folder
    return dict(os.environ) | {"HOME": str(home), "PYTHONHASHSEED": "0", "LC_ALL": "C"}


def _model(reply: Reply | None) -> EcmModel | str | None:
    """The model in a reply, or the reason why there is none; None for an unusable reply."""
    if reply is None:
        return None
    if not reply.get("ok"):
        return f"kerncraft: {reply.get('error', 'no reason given')}"
    try:
        model = EcmModel(read_record(reply.get("record")))
    except ValueError:
        return None
    wrong = disagreement(model)
    return model if wrong is None else f"kerncraft: its results are not reproduced: {wrong}"
