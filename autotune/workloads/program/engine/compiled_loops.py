"""In-core times of marked loops in the code that the compiler generates for candidates.

Each command line is compiled once, several at a time. Only the functions with marked loops are kept
from its assembly. Equal functions are analysed once, even if they come from different command
lines.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

from autotune.domain.program_model import MarkedModel
from autotune.domain.variant import Build, Candidate
from autotune.errors import AutotuneError
from autotune.language.loop_marks import Lines
from autotune.models.incore.assembly.hot_loops import HotLoops, NoLoop
from autotune.models.incore.base import InCoreResult
from autotune.models.incore.marked.marked_code import marked_code
from autotune.models.incore.marked.marked_loops import LoopMark, marked_loops
from autotune.models.incore.osaca_analyser import AssemblyRegion

Command = tuple[str, ...]
Commands = Callable[[Candidate], Command]
"""The compiler's command line of a candidate."""
Compiled = tuple[InCoreResult, ...]
"""One result per requested loop."""

_SOON = 0.02
"""Seconds between checks whether interrupted compilers have ended."""


class Compilers(Protocol):
    """Interface of compilers that turn the marked source into assembly."""

    def assemble(self, command: Command, source: str, build: Build) -> str:
        """The assembly that a command line makes; raises AutotuneError."""

    def interrupt(self) -> None:
        """End the compilers that other threads are running."""


class RegionAnalyser(Protocol):
    """Interface of the in-core analysis of loops in assembly texts."""

    def analyse_regions(self, regions: Sequence[AssemblyRegion]) -> Sequence[InCoreResult | str]:
        """One result per region, in order, or the reason why there is none."""


Wanted = tuple[tuple[int, float | None], ...]
"""Positions of loops in the model, and floating-point operations of an iteration of each."""


@dataclass(frozen=True, slots=True)
class LoopRequest:
    """A candidate with its loops to analyse."""

    candidate: Candidate
    loops: Wanted


class _Place(NamedTuple):
    command: Command
    loop: int
    """Position of the loop in the model."""


class _Loop(NamedTuple):
    """A loop of some code; equal loops have equal results."""

    code: str
    loop: int
    flops: float | None


class CompiledLoops:
    """In-core results of the loops of candidates; compiles and analyses each loop once.

    ``progress`` is called with the number of compiled command lines and the number of all.
    """

    def __init__(
        self,
        model: MarkedModel,
        analyser: RegionAnalyser,
        commands: Commands,
        compilers: Compilers,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._model = model
        self._analyser = analyser
        self._commands = commands
        self._compilers = compilers
        self._progress = progress
        self._codes: dict[_Place, str] = {}
        self._failed: dict[Command, str] = {}
        self._shared: dict[str, str] = {}
        """Each code to itself: of equal texts one is kept."""
        self._results: dict[_Loop, InCoreResult | str] = {}

    def of(self, requests: Sequence[LoopRequest]) -> list[Compiled | str]:
        """The results of the loops of each candidate, in order, or why there are none."""
        commands = [self._commands(request.candidate) for request in requests]
        self._compile(self._lacking(requests, commands))
        loops = [
            self._failed.get(command)
            or [_Loop(self._codes[_Place(command, k)], k, flops) for k, flops in request.loops]
            for command, request in zip(commands, requests, strict=True)
        ]
        every = [loop for outcome in loops if not isinstance(outcome, str) for loop in outcome]
        self._analyse([loop for loop in dict.fromkeys(every) if loop not in self._results])
        return [
            outcome if isinstance(outcome, str) else self._together(outcome) for outcome in loops
        ]

    def _together(self, loops: Sequence[_Loop]) -> Compiled | str:
        results = [self._results[loop] for loop in loops]
        failed = [result for result in results if isinstance(result, str)]
        return failed[0] if failed else tuple(r for r in results if isinstance(r, InCoreResult))

    # --- compiling ------------------------------------------------------------------------

    def _lacking(
        self, requests: Sequence[LoopRequest], commands: Sequence[Command]
    ) -> dict[Command, tuple[Build, set[int]]]:
        """The command lines with loops that are not compiled yet, and the positions of these
        loops.
        """
        missing: dict[Command, tuple[Build, set[int]]] = {}
        for command, request in zip(commands, requests, strict=True):
            for k, _ in request.loops:
                if command not in self._failed and _Place(command, k) not in self._codes:
                    missing.setdefault(command, (request.candidate.build, set()))[1].add(k)
        return missing

    def _compile(self, wanted: Mapping[Command, tuple[Build, set[int]]]) -> None:
        """Compile several command lines at once; an interrupt does not wait for a compiler."""
        if not wanted:
            return
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            futures: dict[Future[dict[int, str] | str], Command] = {
                pool.submit(self._coded, command, *rest): command
                for command, rest in wanted.items()
            }
            try:
                for done, future in enumerate(as_completed(futures), start=1):
                    self._take(futures[future], future.result())
                    if self._progress:
                        self._progress(done, len(wanted))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                while not all(future.done() for future in futures):
                    self._compilers.interrupt()
                    time.sleep(_SOON)
                raise

    def _take(self, command: Command, codes: dict[int, str] | str) -> None:
        if isinstance(codes, str):
            self._failed[command] = codes
            return
        for k, code in codes.items():
            self._codes[_Place(command, k)] = self._shared.setdefault(code, code)

    def _coded(self, command: Command, build: Build, loops: set[int]) -> dict[int, str] | str:
        """The code of loops by their positions, or the reason why there is none."""
        model = self._model
        try:
            text = self._compilers.assemble(command, model.file, build)
            return {k: marked_code(text, model.file, self._lines(k)) for k in sorted(loops)}
        except (AutotuneError, NoLoop) as error:
            return f"no assembly of the marked loops: {error}"

    def _lines(self, loop: int) -> Lines:
        return Lines(*self._model.lines[self._model.loops[loop].name])

    # --- analysing ------------------------------------------------------------------------

    def _analyse(self, wanted: Sequence[_Loop]) -> None:
        if wanted:
            regions = [self._region(loop) for loop in wanted]
            results = self._analyser.analyse_regions(regions)
            self._results.update(zip(wanted, results, strict=True))

    def _region(self, wanted: _Loop) -> AssemblyRegion:
        loop = self._model.loops[wanted.loop]
        mark = LoopMark(
            name=loop.name,
            lines=self._lines(wanted.loop),
            flops=wanted.flops,
            element=loop.element,
        )
        return AssemblyRegion(
            assembly=wanted.code, about=mark.counting, find=partial(_loops_of, mark)
        )


def _loops_of(mark: LoopMark, code: str, vector: int) -> HotLoops:
    return marked_loops(code, mark, vector)
