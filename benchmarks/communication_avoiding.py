"""What one message a step saves on clusters, and how many messages and barriers a step has here.

    python benchmarks/communication_avoiding.py [--machines haswell-e5-2630v3,interlagos-6276]
        [--ivps heat2d,wave1d] [--nodes 8,64,512,4096] [--components 4096,32768,262144]

A program whose corrector steps form a pipeline exchanges y with its neighbours once a step and
computes the borders twice; every other one exchanges the stages of every corrector step. For each
machine, IVP, number of nodes and number of components of a *node* (one rank a node, all its cores
as threads) the best programs of both kinds of the space ``pirk-time-small`` are predicted and
compared; nothing is run. ``~``: the cost curve was measured on other numbers of nodes or sizes.
``-``: no program of one kind is legal, mostly because a rank would need more than its neighbours
have.

First two programs of both kinds run on two ranks of this host, with the installed MPI: messages and
bytes of a rank in a time step as the program counts them, barriers as its schedule has them.
"""

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from accuracy_cells import size_of

from autotune.codegen.c import harness
from autotune.codegen.tree import variant_program
from autotune.commands.rank.ranked_space import load, rank_space
from autotune.domain.problem import Problem
from autotune.domain.ranking import Ranked
from autotune.domain.setup import Measuring
from autotune.domain.variant import (
    Candidate,
    Contract,
    ExecutionLayout,
    Fuse,
    Interchange,
    Pipeline,
    Transformation,
    Variant,
)
from autotune.errors import WorkFailed
from autotune.files import config
from autotune.measuring.candidates import protocol, rank_programs
from autotune.models.traffic.schedule import schedule
from autotune.results.report.number_words import seconds
from autotune.results.report.text_table import columns
from autotune.toolchain import build_cache, compiler

FLAGS = {"interlagos-6276": "-march=bdver1", "power4-1.3": "-O3"}
"""Flags for machines that are no Haswell."""
JLI: tuple[Transformation, ...] = (
    Interchange("lc", ("j", "l", "i")),
    Fuse("approx", "update"),
)
KINDS: dict[str, tuple[Transformation, ...]] = {
    "a message a corrector step": JLI,
    "a message a step": (*JLI, Pipeline("k", 512), Contract("F")),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--machines", default="haswell-e5-2630v3,interlagos-6276")
    parser.add_argument("--ivps", default="heat2d,wave1d")
    parser.add_argument("--nodes", default="8,64,512,4096")
    parser.add_argument("--components", default="4096,32768,262144", help="of a node")
    given = parser.parse_args()
    head = ("IVP", "components", "", "exchanges", "messages", "bytes", "barriers", "time of a step")
    rows: list[Sequence[str]] = [head]
    for ivp in given.ivps.split(","):
        rows += [_counted(ivp, 65536, kind) for kind in KINDS]
    print("two ranks of this host, one thread each, per time step and rank")
    print(columns(rows, right=range(3, 8)))
    print()
    table: list[Sequence[str]] = [
        ("machine", "IVP", "nodes", "components of a node", "corrector step", "step", "gain")
    ]
    places = itertools.product(
        given.machines.split(","), given.ivps.split(","), map(int, given.nodes.split(","))
    )
    for machine, ivp, nodes in places:
        for components in map(int, given.components.split(",")):
            table.append(_predicted(machine, ivp, nodes, components))
            print(*table[-1], file=sys.stderr, flush=True)
    print("predicted: the best with a message a corrector step, the best with a message a step")
    print(columns(table, right=range(2, 7)))


# --- on two ranks of this host ----------------------------------------------------------------


def _counted(ivp: str, components: int, kind: str) -> Sequence[str]:
    problem = Problem(
        ivp=config.ivp(ivp),
        method=config.method("radau-iia-7"),
        correctors=6,
        size=size_of(ivp, components),
    )
    candidate = Candidate(
        variant=Variant(skeleton="pirk", transformations=KINDS[kind], parameters={"kind": kind}),
        problem=problem,
        layout=ExecutionLayout(threads=1, ranks=2, communication="neighbour"),
    )
    program = variant_program.program(candidate.variant, config.skeleton("pirk"), problem)
    libraries = rank_programs.libraries(candidate)
    built = build_cache.build(
        harness.units(program, problem, distributed=True),
        compiler.find(candidate.build),
        extra_flags=libraries.compile,
        link=libraries.link,
    )
    if built.executable is None:
        raise WorkFailed(f"{ivp}: {built.detail}")
    end, times = _run(candidate, built.executable)
    barriers = schedule(program).steps[-1].barriers
    return (
        ivp, str(problem.n), kind, f"{end.exchanges:g}", f"{max(end.messages):g}",
        f"{max(end.bytes):,.0f}", f"{barriers:g}", seconds(statistics.median(times)),
    )  # fmt: skip


def _run(candidate: Candidate, executable: Path) -> tuple[protocol.ProgramEnd, list[float]]:
    words = [str(executable), *protocol.time_arguments(candidate, Measuring(samples=9))]
    with rank_programs.scratch(candidate) as folders:
        done = subprocess.run(
            rank_programs.command("", candidate, 1, words),
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            env={
                **os.environ,
                **rank_programs.environment("", candidate, 1, timed=True),
                **folders,
            },
        )
    lines = [protocol.parse(line) for line in done.stdout.splitlines()]
    times = [
        float(line.seconds)
        for line in lines
        if isinstance(line, protocol.Sample) and not line.warm_up
    ]
    (end,) = [line for line in lines if isinstance(line, protocol.ProgramEnd)]
    return end, times


# --- on clusters ------------------------------------------------------------------------------


def _predicted(machine: str, ivp: str, nodes: int, components: int) -> Sequence[str]:
    size = size_of(ivp, components * nodes)
    cores = config.machine(machine).cores
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "cluster.yaml")
        path.write_text(
            "schema: autotune.config/1\n"
            f"title: messages\nmachine: {machine}\nskeleton: pirk\nspace: pirk-time-small\n"
            "problems:\n"
            f"  - {{ivp: {ivp}, method: radau-iia-7, correctors: 6, size: {size}}}\n"
            f"builds: [{{compiler: gcc, flags: [-O3, {FLAGS.get(machine, '-march=haswell')}]}}]\n"
            f"layouts: [{{nodes: {nodes}, ranks: 1, threads: {cores}}}]\n"
            "communication: [neighbour]\n",
            encoding="utf-8",
        )
        ranked = rank_space(load(path), _quiet, ["reuse"])
    entries = [e for e in ranked.rankings[0].entries if e.prediction.seconds is not None]
    plain = next((e for e in entries if _block(e) == "none"), None)
    blocked = next((e for e in entries if _block(e) != "none"), None)
    label = (machine, ivp, str(nodes), f"{components:,}")
    gain = "-"
    if plain is not None and blocked is not None:
        assert plain.prediction.seconds is not None
        assert blocked.prediction.seconds is not None
        gain = f"{plain.prediction.seconds / blocked.prediction.seconds:.2f}"
    return (*label, _time(plain), _time(blocked), gain)


def _block(entry: Ranked) -> object:
    return entry.candidate.variant.parameters["block"]


def _time(entry: Ranked | None) -> str:
    if entry is None or entry.prediction.seconds is None:
        return "-"
    beyond = any(part.extrapolated for part in entry.prediction.parts)
    return f"{'~' if beyond else ''}{seconds(entry.prediction.seconds)}"


def _quiet(stage: str, done: int, total: int, detail: str = "") -> None:
    """Report no progress."""
    del stage, done, total, detail


if __name__ == "__main__":
    main()
