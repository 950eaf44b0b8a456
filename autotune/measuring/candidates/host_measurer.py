"""Measures candidates on this host: builds, verifies and launches them as child processes."""

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from autotune import paths
from autotune.domain.problem import AnyProblem
from autotune.domain.results import Prepared, Sample, Status
from autotune.domain.setup import Limits, Measuring
from autotune.domain.variant import Build, Candidate
from autotune.measuring.candidates import protocol, rank_programs
from autotune.measuring.candidates.base import Launch
from autotune.measuring.candidates.launch_output import LaunchListener
from autotune.measuring.conditions import energy, quiet
from autotune.measuring.conditions.resource_use import ResourceUse
from autotune.measuring.verification import verify
from autotune.toolchain import build_cache, child_process, launcher
from autotune.toolchain import compiler as compilers
from autotune.toolchain.child_process import ProcessOutcome
from autotune.toolchain.compiler import Compiler
from autotune.toolchain.scratch_folder import remove_abandoned, scratch_folder
from autotune.units import Seconds

Reference = Callable[[AnyProblem, int], NDArray[np.float64]]

PHASES = "-DAUTOTUNE_PHASES"
_DIE_WITH_PARENT = {"AUTOTUNE_PDEATHSIG": "1"}
_PACED = {"AUTOTUNE_PACED": "1"}
"""Tells the program to pause after every sample until it is told that the sample is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSeconds:
    """Seconds per time step of each kernel and of the barriers, from an instrumented run."""

    status: Status
    seconds: Mapping[str, Seconds]
    detail: str = ""


class ReferenceStates:
    """Reference states, computed once per problem, size and number of steps; safe to use from
    several threads.
    """

    def __init__(self, integrate: Reference = verify.reference_state) -> None:
        self._integrate = integrate
        self._states: dict[tuple[str, int], NDArray[np.float64]] = {}
        self._lock = threading.Lock()

    def state(self, problem: AnyProblem, steps: int) -> NDArray[np.float64]:
        """The state of a problem after ``steps`` steps, computed by the reference."""
        key = (problem.key, steps)
        with self._lock:
            if key not in self._states:
                self._states[key] = self._integrate(problem, steps)
            return self._states[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMeasurer:
    """Builds, verifies and launches candidates on the host that autotune runs on.

    ``sources`` gives the translation units of a candidate (file name to C text), ``compiler`` the
    compiler of a build. ``environment`` is set on top of OpenMP's settings, for launchers and
    programs alike. ``mpi_launcher`` starts programs of several ranks; empty: the installed mpiexec.
    """

    measuring: Measuring
    limits: Limits
    sources: Callable[[Candidate], Mapping[str, str]]
    compiler: Callable[[Build], Compiler] = compilers.find
    launcher: str = launcher.PLACE
    mpi_launcher: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    references: ReferenceStates = field(default_factory=ReferenceStates)
    meter: energy.EnergyMeter | None = field(default_factory=lambda: energy.find()[0])
    """Reads the energy of the node; None where it cannot be read."""

    def prepare(self, candidate: Candidate) -> Prepared:
        """Build and verify a candidate; a candidate that fails is a result and raises nothing.

        Safe to call from several threads. Raises InputError for a compiler or launcher that cannot
        work for any candidate, and for a missing MPI.
        """
        compiler = self.compiler(candidate.build)
        compilers.require_openmp(compiler)
        built = self._build(candidate, compiler)
        provenance = {
            "compiler": compiler.path,
            "version": compiler.version,
            "flags": " ".join(compiler.flags),
            "resolved_flags": " ".join(compiler.resolved_flags),
            "notes": "; ".join(compiler.notes),
            **({"mpi": rank_programs.libraries(candidate).title} if candidate.ranks > 1 else {}),
        }
        begun = time.monotonic()
        verdict = (
            verify.Verification("build-failed", None, built.detail)
            if built.executable is None
            else self._verify(candidate, built.executable)
        )
        return Prepared(
            candidate=candidate,
            status=verdict.status,
            detail=verdict.detail,
            error=verdict.error,
            build=built.key,
            provenance=provenance,
            verifying=Seconds(time.monotonic() - begun),
        )

    def interrupt(self) -> None:
        """End the compilers and programs that other threads are running."""
        child_process.end_all()

    def launch(
        self,
        prepared: Prepared,
        *,
        round_number: int,
        launch: int,
        expected: float | None,
        on_sample: Callable[[Sample], None],
    ) -> Launch:
        """Run one process; every sample goes to ``on_sample`` as soon as it is printed.

        ``expected``: seconds of one step. The time limit is ``limits.run``, or ``limits.factor``
        times what the launch should take when that is more.
        """
        executable = build_cache.executable(prepared.build)
        if executable is None:
            return Launch(status="build-failed", detail="the program is no longer in the cache")
        candidate = prepared.candidate
        if candidate.ranks > 1 and not (self.mpi_launcher or rank_programs.fits(candidate)):
            text = f"{candidate.ranks} x {candidate.threads} threads on {quiet.cpus()} CPUs"
            return Launch(status="contended", detail=f"{text}: verified, not timed")
        resource_use = self._resource_use(candidate, executable)
        listener = LaunchListener(
            threads=candidate.threads,
            ranks=candidate.ranks,
            busy=self.measuring.busy,
            launch=launch,
            round=round_number,
            on_sample=on_sample,
            conditions={
                "priority": quiet.attainable_priority(),
                "threads": candidate.threads,
                "wait": self._settings(candidate, candidate.threads, True)["OMP_WAIT_POLICY"],
                **({"ranks": candidate.ranks} if candidate.ranks > 1 else {}),
            },
            resource_use=resource_use,
        )
        arguments = protocol.time_arguments(candidate, self.measuring)
        command = [str(executable), *arguments]
        outcome = self._run(command, candidate, expected, listener.hear, resource_use=resource_use)
        return listener.finish(*_ended(outcome, candidate), outcome.out)

    def phases(self, candidate: Candidate, expected: float | None = None) -> KernelSeconds:
        """Seconds per step of each kernel, from a separate build with timers around kernels."""
        compiler = self.compiler(candidate.build)
        built = self._build(candidate, compiler, PHASES)
        if built.executable is None:
            return KernelSeconds(status="build-failed", seconds={}, detail=built.detail)
        seconds: dict[str, Seconds] = {}
        wrong: list[str] = []

        def hear(text: str) -> None:
            try:
                line = protocol.parse(text)
            except ValueError as error:
                wrong.append(str(error))
                return
            if isinstance(line, protocol.PhaseTime):
                seconds[line.name] = Seconds(seconds.get(line.name, 0.0) + line.seconds)

        arguments = protocol.time_arguments(candidate, self.measuring, "phases")
        outcome = self._run([str(built.executable), *arguments], candidate, expected, hear)
        status, detail = _ended(outcome, candidate)
        if status == "ok" and (wrong or not seconds):
            status, detail = "crashed", wrong[0] if wrong else "the program printed no phases"
        return KernelSeconds(status=status, seconds=seconds, detail=detail)

    def _resource_use(self, candidate: Candidate, executable: Path) -> ResourceUse:
        """A watcher of memory and energy for one launch; an empty one where ranks run on other
        nodes too.
        """
        if candidate.nodes > 1:
            return ResourceUse(counted=Path("/dev/null"))
        return ResourceUse(counted=executable, meter=self.meter)

    def time_limit(self, expected: float | None) -> float:
        """Seconds that a launch may take, from the expected seconds of one step."""
        if expected is None or not math.isfinite(expected):
            return self.limits.run
        m = self.measuring
        samples = protocol.WARM_UPS + m.attempts * m.samples + 2  # two to find the repeats
        likely = m.verify_steps * expected + samples * max(m.min_sample, expected)
        return max(self.limits.run, self.limits.factor * likely)

    def _child_limits(self) -> child_process.ChildLimits:
        return child_process.ChildLimits(memory=self.limits.memory, output=self.limits.output)

    def _run(
        self,
        command: list[str],
        candidate: Candidate,
        expected: float | None,
        hear: Callable[[str], bool | None],
        *,
        resource_use: ResourceUse | None = None,
    ) -> ProcessOutcome:
        """Run a timing program. With ``resource_use`` the program pauses after each of
        its samples.
        """
        paced = resource_use is not None
        environment = self._environment(candidate, candidate.threads, timed=True)
        with rank_programs.scratch(candidate) as folders:
            return child_process.run(
                self._command(candidate, candidate.threads, command),
                timeout=self.time_limit(expected),
                environment={**environment, **folders, **(_PACED if paced else {})},
                limits=self._child_limits(),
                listener=child_process.LineListener(hear, paced=paced),
                niceness=quiet.RAISED,
                watcher=resource_use,
            )

    def _build(
        self, candidate: Candidate, compiler: Compiler, *flags: str
    ) -> build_cache.BuildResult:
        libraries = rank_programs.libraries(candidate)
        return build_cache.build(
            self.sources(candidate),
            compiler,
            extra_flags=(*libraries.compile, *flags),
            link=libraries.link,
            limit=self.limits.compile,
        )

    def _command(self, candidate: Candidate, threads: int, command: list[str]) -> list[str]:
        if candidate.ranks == 1:
            return launcher.expand(self.launcher, command)
        return rank_programs.command(self.mpi_launcher, candidate, threads, command)

    def _environment(self, candidate: Candidate, threads: int, *, timed: bool) -> dict[str, str]:
        return {
            **compilers.environment(),
            **self._settings(candidate, threads, timed),
            **self.environment,
            **_DIE_WITH_PARENT,
        }

    def _settings(self, candidate: Candidate, threads: int, timed: bool) -> Mapping[str, str]:
        if candidate.ranks == 1:
            return quiet.openmp(threads, timed=timed, placement=candidate.placement)
        return rank_programs.environment(self.mpi_launcher, candidate, threads, timed=timed)

    def _verify(self, candidate: Candidate, executable: Path) -> verify.Verification:
        """Compare the candidate with the reference, at a small awkward size and then at the timed
        size.
        """
        small = verify.verification_problem(candidate)
        at_small = replace(candidate, problem=small)
        verdict = self._compare(executable, at_small, sorted({1, candidate.threads}))
        if verdict.status != "ok" or candidate.problem.n > verify.most_compared(candidate.problem):
            return verdict
        timed = self._compare(executable, candidate, [candidate.threads])
        worst = max(verdict.error or 0.0, timed.error or 0.0)
        return timed if timed.status != "ok" else verify.Verification("ok", worst)

    def _compare(
        self, executable: Path, candidate: Candidate, thread_counts: Sequence[int]
    ) -> verify.Verification:
        problem = candidate.problem
        field_of = verify.fields_of(problem)
        steps = verify.steps(candidate, self.measuring.verify_steps)
        reference = self.references.state(problem, steps)
        worst = 0.0
        for threads in thread_counts:
            state = self._state(
                executable, replace(candidate, layout=replace(candidate.layout, threads=threads))
            )
            verdict = (
                state
                if isinstance(state, verify.Verification)
                else verify.judge(state, reference, field_of)
            )
            if verdict.status != "ok":
                on = f"{candidate.ranks} ranks x " if candidate.ranks > 1 else ""
                text = f"{problem.size_name}, {on}{threads} thread(s): {verdict.detail}"
                return verify.Verification(verdict.status, verdict.error, text)
            worst = max(worst, verdict.error or 0.0)
        return verify.Verification("ok", worst)

    def _state(
        self, executable: Path, candidate: Candidate
    ) -> NDArray[np.float64] | verify.Verification:
        # beside the builds, not in /tmp: a launcher may run the program on another node
        scratch = paths.cache_dir() / "verify"
        remove_abandoned(scratch, "*")
        with (
            scratch_folder(scratch) as folder,
            rank_programs.scratch(candidate) as folders,
        ):
            out = folder / "state.bin"
            steps = verify.steps(candidate, self.measuring.verify_steps)
            arguments = protocol.verify_arguments(candidate, steps, out)
            environment = self._environment(candidate, candidate.threads, timed=False)
            outcome = child_process.run(
                self._command(candidate, candidate.threads, [str(executable), *arguments]),
                timeout=self.limits.run,
                environment={**environment, **folders},
                limits=self._child_limits(),
                niceness=quiet.VERIFYING,
            )
            status, detail = _ended(outcome, candidate)
            if status != "ok":
                return verify.Verification(status, None, detail)
            try:
                data = out.read_bytes()
            except OSError as error:
                return verify.Verification("crashed", None, f"wrote no state: {error.strerror}")
        if len(data) % 8:
            return verify.Verification("wrong-result", None, f"the state is {len(data)} B long")
        return np.frombuffer(data, dtype="<f8").astype(np.float64)


def _ended(outcome: ProcessOutcome, candidate: Candidate) -> tuple[Status, str]:
    if outcome.ok:
        return "ok", ""
    text = rank_programs.remark(outcome.err, candidate) + outcome.describe()
    if outcome.starved:
        return "contended", text
    return ("timed-out" if outcome.timed_out else "crashed"), text
