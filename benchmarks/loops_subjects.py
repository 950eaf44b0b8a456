"""The loops of benchmarks/loops.py: of which problems, variants and builds; what kind each is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from accuracy_cells import size_of
from accuracy_sets import FRESH, UNSEEN

from autotune import paths
from autotune.codegen.c import emit
from autotune.codegen.probes.probe_programs import ProbedSweep
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.commands.measure.placed_sweeps import PlacedSweep, placed_sweeps
from autotune.commands.rank.ranked_space import load
from autotune.domain.machine import Machine
from autotune.domain.variant import Build, Candidate
from autotune.errors import AutotuneError
from autotune.measuring.candidates.host_measurer import HostMeasurer
from autotune.measuring.candidates.probe_runs import PartProbe
from autotune.models.incore import osaca_analyser

COMPONENTS = 16384
_LEFT_OUT = ("flock",)
"""Right-hand sides whose hot loop is a sum over all components, not a loop over components."""
_SPACE = """\
schema: autotune.space/1
skeleton: {skeleton}
title: loops
parameters: {{pad: [{pad}]}}
rules: [{rules}]
baseline: {{pad: {pad}}}
"""
_AU = "{fuse: {first: approx, second: update}}"
_VARIANTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("jli", ()),
    ("jil au", ("jil", _AU)),
    ("ijl", ("ijl",)),
    ("lij jam 2", ("lij", "{jam: {kernel: lc, loop: l, factor: 2}}")),
    ("ilj jam 2", ("ilj", "{jam: {kernel: lc, loop: i, factor: 2}}")),
    ("lji jam 4", ("lji", "{jam: {kernel: lc, loop: l, factor: 4}}")),
    (
        "jli au reg",
        ("jli", _AU, "{pipeline: {loop: k, block: 512}}", "{contract: {array: F}}"),
    ),
    ("jli simd", ("jli", "{align: {doubles: 8}}", "{vectorize: {lanes: 4}}")),
)
"""Name, and rules of the space; a loop order stands for the rule that brings it about."""
_UNROLLED = (1, 4)
_STAGES = (4, 3, 2, 5)
"""Stages of the method, by the place of the IVP in the list, so that loops over stages differ."""
_BUILDS = (("gcc", "-O2"), ("clang", "-O3")), (("gcc", "-O3"), ("clang", "-O2"))
"""The two builds of a variant, in turn."""
_ONLY_CLANG = re.compile(r"^\s*\.addrsig\w*.*\n", re.MULTILINE)
"""Directives for linkers of LLVM, which other assemblers refuse."""
_HARNESS = Build(compiler="gcc", flags=("-O2",))
_DIVISION = re.compile(r"^\s+v?(?:div|sqrt)[sp]d\b", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLoop:
    """One compiled loop: where it comes from, and the sweep with its prediction and probe."""

    problem: str
    half: str
    """``even`` or ``odd``, by the name of the problem."""
    variant: str
    build: str
    kind: str
    traits: tuple[str, ...]
    placed: PlacedSweep

    @property
    def name(self) -> str:
        """Problem, sweep, variant and build."""
        return f"{self.problem} {self.placed.taken.sweep.name} {self.variant} {self.build}"

    def probe(self) -> PartProbe:
        """The program that runs the loop with its data in L1.

        The assembly that was analysed is what runs; gcc compiles all else, so that a compiler
        without OpenMP takes part.
        """
        probe, build = self.placed.probe(0, "loop"), self.placed.candidate.build
        function = emit.sweep_code(self.placed.taken.sweep).function
        assert probe.units is not None, "a loop as it is has a program"
        units = {name: text for name, text in probe.units.items() if name != f"{function}.c"}
        assembly = osaca_analyser.assemble(probe.units[f"{function}.c"], build)
        units[f"{function}.s"] = _ONLY_CLANG.sub("", assembly)
        layout = replace(probe.candidate, build=_HARNESS)
        return replace(probe, units=units, candidate=layout)

    @property
    def iterations(self) -> float:
        """Source iterations of a step of its probe."""
        return self.placed.places[0].iterations

    def predicted(self, machine: Machine) -> float:
        """Predicted cycles of the core per source iteration.

        The calibrated clock is that of a busy processor; one core alone may have another.
        """
        parts = self.placed.predictions[0].parts
        seconds = sum(part.seconds for part in parts if part.kind == "sweep")
        constant = machine.calibration and machine.calibration.constant("core_cycle", 1)
        cycle = constant.value if constant else 1.0
        return seconds * float(machine.frequency) / self.iterations / cycle


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """One config: a variant of a problem, with its two builds."""

    problem: str
    half: str
    variant: str
    skeleton: str
    space: str
    entry: str
    builds: tuple[tuple[str, str], ...]

    def config(self, space: str, compilers: tuple[str, ...]) -> str:
        """The text of the config file; '' where none of the compilers is wanted."""
        builds = ", ".join(
            f"{{compiler: {compiler}, flags: [{level}, -march=native]}}"
            for compiler, level in self.builds
            if compiler in compilers
        )
        if not builds:
            return ""
        return (
            f"schema: autotune.config/1\ntitle: {self.problem}\nmachine: host\n"
            f"skeleton: {self.skeleton}\nspace: {space}\nproblems:\n  - {self.entry}\n"
            f"builds: [{builds}]\nthreads: [1]\n"
            "measuring: {rounds: 4, samples: 5, min_sample: 2 ms, attempts: 1}\n"
        )


def loops(
    machine: Machine, folder: Path, compilers: tuple[str, ...], only: str, every: int
) -> tuple[list[MeasuredLoop], HostMeasurer]:
    """The loops, each compiled text once, and what measures them; ``every``: every how many-th
    config is taken.
    """
    wanted = [*_ivps(only), *_stencils(only)][::every]
    known: set[tuple[str, str]] = set()
    result: list[MeasuredLoop] = []
    measurer: HostMeasurer | None = None
    for number, want in enumerate(wanted):
        space = folder / f"space{number}.yaml"
        space.write_text(want.space, encoding="utf-8")
        text = want.config(space.name, compilers)
        if not text:
            continue
        path = folder / f"config{number}.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            workload = load(path)
            candidates = workload.candidates(machine.cores).legal
        except AutotuneError:
            continue  # the variant is not legal for this problem
        made = workload.measurer(machine)
        assert isinstance(made, HostMeasurer), "generated programs are measured on the host"
        measurer = measurer or made
        programs = SkeletonPrograms(workload.setup.skeleton)
        for candidate in candidates:

            def unknown(probed: ProbedSweep, build: Build = candidate.build) -> bool:
                key = (emit.sweep_code(probed.sweep).text, str(build))
                is_unknown = key not in known
                known.add(key)
                return is_unknown

            program = programs(candidate)
            placed = placed_sweeps(workload.setup, machine, candidate, program, 1, unknown)
            result += [_loop(want, candidate, sweep) for sweep in placed]
    if measurer is None:
        raise SystemExit(f"no loop is of a problem whose name contains {only!r}")
    return result, measurer


def _ivps(only: str) -> Iterator[_Wanted]:
    files = [*_files(paths.folder("kernels/ivp")), *_files(UNSEEN / "ivp")]
    for place, path in enumerate(p for p in files if p.stem not in _LEFT_OUT):
        if only not in path.stem:
            continue
        stages = _STAGES[place % len(_STAGES)]
        size = size_of(str(path), COMPONENTS)
        for number, (variant, rules) in enumerate(_VARIANTS):
            yield _Wanted(
                problem=path.stem,
                half=_half(path.stem),
                variant=f"{variant} s={stages}",
                skeleton="pirk",
                space=_SPACE.format(skeleton="pirk", pad=5, rules=", ".join(_rules(rules))),
                entry=f"{{ivp: {path}, method: radau-iia-{2 * stages - 1}, correctors: 2,"
                f" size: {size}}}",
                builds=_BUILDS[(place // 2 + number) % 2],
            )


def _stencils(only: str) -> Iterator[_Wanted]:
    files = [*_files(paths.folder("kernels/stencil")), *_files(UNSEEN / "stencil")]
    jacobi = [p for p in files if not p.stem.startswith(("gauss-seidel", "red-black"))]
    for place, path in enumerate(jacobi):
        if only not in path.stem:
            continue
        for number, unrolled in enumerate(_UNROLLED):
            change = f"{{unroll: {{kernel: sweep, dimension: i, factor: {unrolled}}}}}"
            rules = [change] * (unrolled > 1) + ["{pad: {lines: $pad}}"]
            yield _Wanted(
                problem=path.stem,
                half=_half(path.stem),
                variant=f"u={unrolled}",
                skeleton="jacobi",
                space=_SPACE.format(skeleton="jacobi", pad=1, rules=", ".join(rules)),
                entry=f"{{stencil: {path}, size: {256 if '2d' in path.stem else 64}}}",
                builds=_BUILDS[(place // 2 + number) % 2],
            )


def _rules(rules: tuple[str, ...]) -> Iterator[str]:
    for rule in rules:
        yield rule if "{" in rule else f"{{interchange: {{kernel: lc, order: {rule}}}}}"
    yield "{pad: {lines: $pad}}"


def _half(problem: str) -> str:
    """The half of a problem, by the sum of its letters, so that no other problem moves it."""
    return ("even", "odd")[sum(problem.encode()) % 2]


def _files(folder: Path) -> list[Path]:
    """The problems of a folder, without those that accuracy.py keeps for judging."""
    return sorted(path for path in folder.glob("*.yaml") if path.stem not in FRESH)


def _loop(want: _Wanted, candidate: Candidate, placed: PlacedSweep) -> MeasuredLoop:
    sweep, result = placed.taken.sweep, placed.result
    traits = [
        name
        for name, has in (
            ("divisions", bool(_DIVISION.search(result.assembly))),
            ("libm calls", result.calls > 0),
            ("through memory", result.forwards > 0),
        )
        if has
    ]
    return MeasuredLoop(
        problem=want.problem,
        half=want.half,
        variant=want.variant,
        build=f"{candidate.build.compiler} {candidate.build.flags[0]}",
        kind="stencil" if want.skeleton == "jacobi" else sweep.kernel,
        traits=tuple(traits) or ("none of these",),
        placed=placed,
    )
