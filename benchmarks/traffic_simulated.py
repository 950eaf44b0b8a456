"""Programs compiled with caches in place of memory, which count the lines that come in.

Every load and store of a sweep calls a set-associative LRU cache hierarchy (``traffic_caches.c``).
"""

import resource
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from autotune.codegen.c import harness
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.machine import Machine
from autotune.domain.problem import GeneratedProblem, Problem, generated
from autotune.domain.variant import Candidate

_WARM, _STEPS = 2, 2
"""Calls of the step: programs with two buffers come round after two."""
_MEMORY, _SECONDS = 2**31, 300
_HERE = Path(__file__).parent


@dataclass
class SimulatedPrograms:
    """Programs compiled with the caches in place of memory, each once."""

    folder: Path
    programs: SkeletonPrograms

    def lines(self, candidate: Candidate, machine: Machine) -> list[float]:
        """The lines that come into each cache in a time step."""
        problem = generated(candidate.problem)
        caches = [
            str(value)
            for cache in machine.caches
            for value in (cache.sets, cache.ways, int(cache.victim), int(cache.cores > 1))
        ]
        done = subprocess.run(
            [self._built(candidate), *_arguments(problem), str(int(machine.line)), *caches],
            capture_output=True,
            text=True,
            check=True,
            timeout=_SECONDS,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY)),
        )
        return [float(line) for line in done.stdout.split()]

    def _built(self, candidate: Candidate) -> str:
        texts = harness.units(self.programs(candidate), candidate.problem)
        texts = {name: text for name, text in texts.items() if name != "main.c"}
        place = self.folder / f"{hash(tuple(sorted(texts.items()))):x}"
        if not place.exists():
            place.mkdir()
            for name, text in texts.items():
                (place / name).write_text(text)
            shutil.copy(_HERE / "traffic_caches.c", place)
            units = sorted(name for name in texts if name.endswith(".c"))
            flags = ["-O1", "-march=haswell", "-std=gnu11", "-w"]
            sweeps = [name for name in units if name.startswith("sweep_")]
            rest = [name for name in units if name not in sweeps]
            traced = ["gcc", *flags, "-fsanitize=thread", "-c", *sweeps]
            subprocess.run(traced, cwd=place, check=True)
            objects = [name.replace(".c", ".o") for name in sweeps]
            files = ["traffic_caches.c", *rest, *objects]
            whole = ["gcc", *flags, "-O2", *files, "-Wl,--wrap=mmap"]
            whole += ["-o", "program", "-lm"]
            subprocess.run(whole, cwd=place, check=True)
        return str(place / "program")


def _arguments(problem: GeneratedProblem) -> list[str]:
    step = repr(problem.h) if isinstance(problem, Problem) else "0"
    return [problem.size_text, str(problem.n), step, str(_WARM), str(_STEPS)]
