"""Hand-made programs of row sweeps, and an in-core analyser that makes numbers up."""

from collections.abc import Sequence

from autotune.codegen.c.emit import SweepCode
from autotune.codegen.tree.loop_tree import (
    Assign,
    Node,
    NodeBlock,
    Repeat,
    StepProgram,
    StoredRow,
    Sweep,
    SweepStretch,
    Sync,
)
from autotune.domain.machine import Machine
from autotune.domain.problem import ButcherTableau, Ivp, Problem, Region
from autotune.domain.results import Prediction
from autotune.domain.variant import Build, Candidate, ExecutionLayout, Variant
from autotune.errors import Fault, MissingTool
from autotune.language.expression import Num, Sym, parse
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.incore.base import InCoreResult

IVP = Ivp(
    name="decay",
    title="",
    source="",
    dimension=Sym("N"),
    constants={},
    access_distance=Num(0),
    limited=True,
    regions=(Region(lower=Num(0), upper=Sym("n"), body=parse("-y[j]")),),
    initial=(Region(lower=Num(0), upper=Sym("n"), body=Num(1)),),
    stability=Num(1),
)
EULER = ButcherTableau(name="e", title="", order=1, A=((1,),), b=(1,), c=(1,), source="")


def sweep(name: str, target: str, *reads: str, upper: str = "n") -> Sweep:
    parameters = [f"p{k}" for k in range(len(reads))]
    rows = [("out", StoredRow("R", Num(int(target))))]
    rows += [(p, StoredRow("R", Num(int(r)))) for p, r in zip(parameters, reads, strict=True)]
    value = parse(" + ".join(f"{p}[j]" for p in parameters) or "1")
    stretch = SweepStretch(Num(0), parse(upper), (Assign("out", value),))
    return Sweep(name=name, kernel=name[:2], rows=tuple(rows), scalars=(), stretches=(stretch,))


def program(*nodes: Node, pad_lines: int = 5) -> StepProgram:
    return StepProgram(body=NodeBlock(nodes), arrays=(("R", 10),), pad_lines=pad_lines, stages=1)


STEP = (
    Repeat(
        "k", 0, 3, NodeBlock((sweep("lc", "0", "1", "2"), Sync(), sweep("rh", "1", "0"), Sync()))
    ),
    sweep("up", "2", "1"),
    Sync(),
)


class MadeUp:
    """Times as told; counts how often each text is analysed."""

    def __init__(
        self,
        T_OL: float = 0.5,
        T_nOL: float = 0.3,
        iterations: float = 8,
        changed: InCoreResult | None = None,
    ) -> None:
        self.times = (T_OL, T_nOL, iterations)
        self.changed = changed
        self.seen: list[str] = []

    def analyse(self, codes: Sequence[SweepCode], build: Build) -> list[InCoreResult]:
        self.seen += [code.text for code in codes]
        T_OL, T_nOL, iterations = self.times
        return [
            self.changed
            or InCoreResult(
                T_OL=T_OL,
                T_nOL=T_nOL,
                chain=0.0,
                bottleneck="port 0",
                iterations=iterations,
                route="made up",
                approximate=False,
                width=0.1,
            )
            for _ in codes
        ]


class Broken:
    def analyse(self, codes: Sequence[SweepCode], build: Build) -> list[InCoreResult]:
        raise MissingTool(Fault(where="osaca", found="not installed"))


def code(made: Sweep) -> SweepCode:
    return SweepCode(name=made.name, function=made.name, text=f"void {made.name}(void);")


def candidate(n: int = 100_000, threads: int = 1, label: str = "x") -> Candidate:
    variant = Variant(skeleton="s", transformations=(), parameters={"name": label})
    problem = Problem(ivp=IVP, method=EULER, correctors=1, size=n)
    return Candidate(variant=variant, problem=problem, layout=ExecutionLayout(threads=threads))


def engine(
    machine: Machine, made: StepProgram, analyser: MadeUp | Broken | None = None
) -> ReuseEngine:
    return ReuseEngine(machine, lambda _: made, analyser or MadeUp(), code)


def predict(machine: Machine, made: StepProgram, n: int = 100_000, threads: int = 1) -> Prediction:
    return engine(machine, made).predict([candidate(n, threads)])[0]
