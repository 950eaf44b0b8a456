"""Measures MPI operations on this system, in shuffled rounds and several launches; all samples are
stored.

A round takes one sample of each operation and size, in a shuffled order, so that a disturbance
affects all of them alike. A launch is a repeat, because launches differ by more than the samples of
one. Samples are written to the file as they are taken.

Operations alternate between several buffers, as programs exchange the rows of their arrays one
after another: large messages come from memory, not from a cache that the previous message has
filled.
"""

import math
import os
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from autotune.domain.cost_curve import OPERATIONS, Operation
from autotune.errors import Fault, InputError, WorkFailed, unknown_name
from autotune.measuring.conditions import quiet
from autotune.measuring.host import host_facts
from autotune.measuring.network import benchmark_program
from autotune.measuring.network.benchmark_program import (
    BenchmarkProgram,
    BenchmarkStart,
)
from autotune.measuring.network.benchmark_settings import BUDGET, REPEATS, SIZES
from autotune.measuring.network.samples import BUSY, BenchmarkRun, BenchmarkSample, SampleWriter
from autotune.progress import Progress
from autotune.toolchain import child_process, launcher, mpi
from autotune.toolchain.mpi import Mpi
from autotune.units import Bytes, Seconds, counted

_LARGEST_VECTOR = 1 << 31
"""Largest number of bytes of all blocks of an Allgather: MPI counts them in a C int."""
BUFFERS = 8
"""Number of buffers that operations alternate between: the rows of all arrays that a step
exchanges."""
_ROUNDS = 1
"""Rounds of a launch. A launch is slow or fast as a whole, so more launches are better than more
rounds."""
_TRIES = 3
_BARRIERS = 8
"""Samples of the barrier in a round: an operation with one point only is spread over the round."""
_LONGEST, _SHORTEST = 0.010, 0.001
"""Longest and shortest time of one sample, in seconds."""
_OVERHEAD = 1.6
"""Time of a sample including its warm-up, divided by the time of the sample."""
_START = 30.0
"""Seconds that starting and ending the ranks may take besides the samples."""
_FULL_SLOTS = ("not enough slots", "more processes than", "too many tasks", "not enough processors")
_MOST_RANKS = 64
"""Ranks that a CPU may take turns at; far more only exhaust the memory and the processes."""
_SHARE = 0.25
"""Share of the free memory that the messages of all ranks of a node may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkPlan:
    """The operations, sizes and repeats that a benchmark measures."""

    ranks: int = 2
    """On all nodes together."""
    nodes: int = 1
    operations: tuple[Operation, ...] = OPERATIONS
    sizes: tuple[Bytes, ...] = SIZES
    repeats: int = REPEATS
    budget_seconds: float = BUDGET
    launcher: str = ""
    """Template of the command line; empty: the mpiexec that is found."""

    def __post_init__(self) -> None:
        faults = []
        if self.ranks < 2:
            faults.append(
                _fault("--ranks", counted(self.ranks, "rank"), "at least 2: one has no peer")
            )
        most = _MOST_RANKS * len(os.sched_getaffinity(0))
        if not self.launcher and self.ranks > most * self.nodes:
            faults.append(
                _fault(
                    "--ranks",
                    f"{self.ranks // self.nodes} ranks on each node",
                    f"at most {most}, {_MOST_RANKS} of each CPU",
                    "name larger nodes with --launcher",
                )
            )
        if not 1 <= self.nodes <= self.ranks or self.ranks % self.nodes:
            faults.append(
                _fault(
                    "--nodes",
                    f"{self.ranks} ranks on {counted(self.nodes, 'node')}",
                    "equal shares",
                )
            )
        if not self.operations:
            faults.append(_fault("--operations", "no operation", ", ".join(OPERATIONS)))
        if set(self.operations) != {"barrier"} and len(set(self.sizes)) < 2:
            got = f"{len(set(self.sizes))} size"
            faults.append(_fault("--sizes", got, "at least two: a curve has a slope"))
        if faults:
            raise InputError(*faults)

    def points(self) -> list[tuple[Operation, int]]:
        """The pairs of operation and size that are measured, without those too large for memory or
        for MPI's counts.
        """
        free = host_facts.available_memory()
        most = math.inf if free is None else _SHARE * free
        on_node = self.ranks // self.nodes
        pairs: list[tuple[Operation, int]] = []
        for operation in self.operations:
            if operation == "barrier":
                pairs += [(operation, 0)] * _BARRIERS
                continue
            # to send from: one; to receive into: all ranks', or both neighbours'
            blocks = self.ranks + 1 if operation == "allgather" else 3
            pairs += [
                (operation, n)
                for n in self.sizes
                if on_node * BUFFERS * blocks * n <= most and blocks * n < _LARGEST_VECTOR
            ]
        return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkResult:
    """The outcome of a benchmark: its file, its conditions and the numbers of samples."""

    path: Path
    run: BenchmarkRun
    samples: int
    contended: int
    launches: int
    seconds: Seconds
    notes: tuple[str, ...]


def bench(plan: BenchmarkPlan, path: Path, machine: str, progress: Progress) -> BenchmarkResult:
    """Measure MPI operations, appending samples to ``path``; ``machine`` is the identity of this
    host.

    Raises MissingTool without MPI. Raises InputError for a launcher that cannot start these ranks
    or starts others. Raises WorkFailed when a rank dies or hangs. After any exception,
    KeyboardInterrupt included, the samples taken so far are in the file.
    """
    started = time.monotonic()
    library = mpi.find("comm bench")
    template = _template(plan, library)
    program = benchmark_program.provide(library)
    points = plan.points()
    writer = SampleWriter(path)
    session = _Session(
        plan=plan,
        mpi=library,
        program=program,
        template=template,
        machine=machine,
        writer=writer,
        progress=progress,
        points=points,
    )
    try:
        for number in range(plan.repeats):
            left = plan.budget_seconds - (time.monotonic() - started)
            if number and left < _SHORTEST * len(points):
                break
            session.launch(number, left / (plan.repeats - number))
    finally:
        writer.close()
    if session.run is None or not writer.samples:
        raise WorkFailed("nothing was measured: the budget is too short; allow more seconds")
    return BenchmarkResult(
        path=path,
        run=session.run,
        samples=writer.samples,
        contended=session.contended,
        launches=session.launches,
        seconds=Seconds(time.monotonic() - started),
        notes=session.notes(),
    )


def _template(plan: BenchmarkPlan, library: Mpi) -> str:
    template = plan.launcher or mpi.launch_template(
        library, plan.ranks, plan.nodes, where="--launcher"
    )
    for name, value in (("nodes", plan.nodes), ("ranks", plan.ranks), ("threads", 1)):
        template = template.replace(f"{{{name}}}", str(value))
    launcher.check(template, "--launcher")
    return template


@dataclass(slots=True, kw_only=True)
class _Session:
    """The state of one benchmark while its launches run."""

    plan: BenchmarkPlan
    mpi: Mpi
    program: BenchmarkProgram
    template: str
    """Command line that contains {command}."""
    machine: str
    writer: SampleWriter
    progress: Progress
    points: Sequence[tuple[Operation, int]]
    run: BenchmarkRun | None = None
    contended: int = 0
    launches: int = 0
    _number: int = 0
    """Number of the running launch."""
    _position: int = 0
    """Number of points that the launch has visited."""
    _last: tuple[str, int] = ("", -1)
    _ended: bool = False
    _seen: set[tuple[Operation, int]] = field(default_factory=set)

    def launch(self, number: int, seconds: float) -> None:
        """Run one repeat, of about ``seconds`` at most."""
        rounds = []
        for k in range(_ROUNDS):
            order = list(self.points)
            random.Random(f"{number}-{k}").shuffle(order)
            rounds.append(order)
        least = seconds / (_OVERHEAD * _ROUNDS * len(self.points))
        command = [
            *self.program.command,
            *benchmark_program.arguments(
                [point for order in rounds for point in order],
                least=min(_LONGEST, max(_SHORTEST, least)),
                until=seconds,
                tries=1 if self._crowded else _TRIES,
                busy=BUSY,
                buffers=BUFFERS,
            ),
        ]
        self._ended = False
        self._number, self._position, self._last = number, 0, ("", -1)
        with mpi.scratch(self.mpi, self.plan.nodes) as folders:
            outcome = child_process.run(
                launcher.expand(self.template, command, "--launcher"),
                timeout=seconds + _START,
                environment={**self._environment(), **folders},
                listener=child_process.LineListener(self._hear),
                limits=child_process.ChildLimits(output=1 << 28),
                niceness=quiet.RAISED,
            )
        self.launches += 1
        self.writer.sync()
        if not (outcome.ok and self._ended):
            self._refuse(outcome)

    @property
    def _crowded(self) -> bool:
        return self.plan.ranks // self.plan.nodes > quiet.cpus()

    def _environment(self) -> dict[str, str]:
        variables = {"AUTOTUNE_PDEATHSIG": "1", "AUTOTUNE_NICE": str(quiet.RAISED), "LC_ALL": "C"}
        return {
            **os.environ,
            **mpi.environment(self.mpi, self.plan.ranks, self.plan.nodes),
            **variables,
        }

    def _hear(self, line: str) -> None:
        message = benchmark_program.parse(line)
        if isinstance(message, BenchmarkStart):
            self._begin(message)
        elif isinstance(message, BenchmarkSample) and self.run is not None:
            self._keep(message, self.run)
        elif message == "end":
            self._ended = True

    def _begin(self, start: BenchmarkStart) -> None:
        if start.ranks != self.plan.ranks:
            hint = "give the launcher of the MPI that mpicc belongs to"
            problem = f"each program sees {start.ranks} rank(s): {self.template}"
            raise InputError(_fault("--launcher", problem, f"{self.plan.ranks} ranks", hint))
        hosts = tuple(dict.fromkeys(start.hosts))
        if len(hosts) != self.plan.nodes:
            hint = "name the nodes with --launcher, as for srun -N {nodes} -n {ranks} {command}"
            problem = f"the ranks ran on {len(hosts)} node(s): {', '.join(hosts[:4])}"
            raise InputError(_fault("--nodes", problem, f"{self.plan.nodes} nodes", hint))
        if self.run is not None:
            return
        self.run = BenchmarkRun(
            benchmark="autotune",
            nodes=self.plan.nodes,
            ranks=self.plan.ranks,
            cores=start.cores,
            mpi=start.library or self.mpi.title,
            program=self.program.kind,
            launcher=self.template,
            hosts=hosts,
            machine=self.machine,
            taken=datetime.now(UTC).isoformat(timespec="seconds"),
            priority=start.priority,
            buffers=BUFFERS,
        )
        self.writer.begin(self.run)

    def _keep(self, printed: BenchmarkSample, run: BenchmarkRun) -> None:
        point = (printed.operation, int(printed.bytes))
        self._position += point != self._last  # a contended one is repeated at once
        self._last = point
        round_number = (self._position - 1) // len(self.points)
        sample = replace(printed, launch=self._number, round=round_number)
        self.writer(sample)
        self._seen.add(point)
        self.contended += sample.contended(run)
        all_points = self.plan.repeats * _ROUNDS * len(self.points)
        done = self._number * _ROUNDS * len(self.points) + self._position
        number = self._number + 1
        self.progress(
            f"measure {self.plan.ranks} ranks",
            min(done, all_points),
            all_points,
            f"{printed.operation} {printed.bytes} B, launch {number} of {self.plan.repeats}",
        )

    def _refuse(self, outcome: child_process.ProcessOutcome) -> None:
        remark = f"; the {self.writer.samples} samples before it are kept in {self.writer.path}"
        remark = remark if self.writer.samples else ""
        output = f"{outcome.err}\n{outcome.out}".lower()
        if any(words in output for words in _FULL_SLOTS):
            hint = (
                "ask for fewer ranks, name the nodes with --launcher, or share cores:"
                " --oversubscribe of Open MPI (their times are then not those of the network)"
            )
            problem = f"the launcher has too few slots for {self.plan.ranks} ranks: {self.template}"
            raise InputError(_fault("--ranks", problem + remark, "", hint))
        number = f"launch {self._number + 1}"
        if outcome.timed_out:
            raise WorkFailed(
                f"a rank hangs: {number} did not end in {outcome.seconds:.0f} s{remark}"
            )
        if outcome.ok:
            raise WorkFailed(f"the launcher ran no benchmark: {self.template}{remark}")
        raise WorkFailed(f"{number} failed{remark}: {outcome.describe()}")

    def notes(self) -> tuple[str, ...]:
        """Remarks for readers of the samples."""
        notes = [self.program.note] if self.program.note else []
        if self.run is not None and self.run.oversubscribed:
            notes.append(
                f"oversubscribed: {self.plan.ranks // self.plan.nodes} ranks took turns on"
                f" {self.run.cores} cores; these are not times of the network"
            )
        if self.launches < self.plan.repeats:
            notes.append(f"the budget ended after {self.launches} of {self.plan.repeats} launches")
        total = len(set(self.points))
        missing = total - len(self._seen)
        if missing:
            notes.append(f"{missing} of {total} points have no sample: too little time")
        if self.writer.samples and 2 * self.contended > self.writer.samples:
            notes.append("most samples are contended: measure again when nothing else runs")
        return tuple(notes)


def _fault(where: str, got: str, expected: str = "", hint: str = "") -> Fault:
    return Fault(where=where, found=got, expected=expected, hint=hint)


def operations(text: str) -> tuple[Operation, ...]:
    """The operations of names separated by commas; InputError for unknown names."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in OPERATIONS]
    if unknown or not names:
        raise InputError(
            *(
                unknown_name("--operations", "operation", name, OPERATIONS)
                for name in unknown or [""]
            )
        )
    return tuple(operation for operation in OPERATIONS if operation in names)
