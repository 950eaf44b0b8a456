"""The facts of a problem in plain values, as the store keeps them, and texts made from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autotune.domain.metric import ENERGY, MEMORY, TIME, Metric
from autotune.domain.program import written
from autotune.language.constraint import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemFacts:
    """The problem of a stored candidate in plain values.

    An IVP has a name ``ivp``, a stencil has a ``grid``. Any other problem is a ``program`` with
    ``arguments``, whatever its family is called.
    """

    label: str
    title: str
    components: int
    """n; of a stencil the interior points, of a program the argument that counts as size."""
    key: str
    """Equal for problems that compute the same."""
    family: str = "ivp"
    """The workload that the problem belongs to, such as ``ivp``, ``stencil`` or ``program``."""
    ivp: str = ""
    method: str = ""
    correctors: int = 0
    """0: the method is explicit."""
    size: int = 0
    """N."""
    step_fraction: float = 0.0
    stencil: str = ""
    grid: tuple[tuple[str, int], ...] = ()
    """Dimensions of a stencil's grid and their interior points, slowest first."""
    program: str = ""
    arguments: Mapping[str, Value] = field(default_factory=dict)
    """Arguments of a program, by name."""
    size_argument: str = ""
    """Which of the arguments counts as size; empty where none does."""
    goal: Metric = TIME
    """What is optimised."""
    metrics: tuple[Metric, ...] = ()
    """What is measured beside the time."""

    def metric(self, name: str) -> Metric:
        """The metric that an objective stands for: ``time`` for what is optimised, ``energy``,
        ``memory``, or the name of a metric. KeyError for any other name.
        """
        named = {metric.name: metric for metric in (ENERGY, MEMORY, *self.metrics)}
        return self.goal if name == TIME.name else named[name]

    @property
    def others(self) -> tuple[Metric, ...]:
        """The metrics that are not what is optimised."""
        return tuple(metric for metric in self.metrics if metric != self.goal)

    @property
    def name(self) -> str:
        """The name of the IVP, the stencil or the program; without a name, the label."""
        return self.ivp or self.stencil or self.program or self.label

    @property
    def words(self) -> str:
        """Size and method in words."""
        if self.ivp:
            steps = f" with {self.correctors} corrector steps" if self.correctors else ""
            return (
                f"N = {self.size}, n = {self.components} components, {self.method}{steps},"
                f" h = {self.step_fraction:g} of the stability bound"
            )
        if self.grid:
            names, extents = zip(*self.grid, strict=True)
            return (
                f"{' x '.join(name.upper() for name in names)} ="
                f" {' x '.join(map(str, extents))} = {self.components} points"
            )
        pairs = (f"{k} = {'none' if v is None else written(v)}" for k, v in self.arguments.items())
        return ", ".join(pairs) or "no arguments"

    @property
    def suffix(self) -> str:
        """A suffix that distinguishes the problem from another one of the same label."""
        if self.ivp:
            steps = f"-m{self.correctors}" if self.correctors else ""
            return f"{self.method}{steps}-h{self.step_fraction:g}"
        return self.key.split()[0]

    @property
    def stepped(self) -> bool:
        """Whether the problem is computed in time steps, by C source that autotune generates."""
        return bool(self.ivp or self.grid)

    @property
    def per(self) -> str:
        """The unit of work that times refer to: ``time step`` or ``run``."""
        return "time step" if self.stepped else "run"

    @property
    def times(self) -> str:
        """A sentence that says what the times of the problem refer to."""
        if self.ivp:
            return "Times are for one time step."
        if self.grid:
            return "Times are for one time step, a sweep over the grid."
        if not self.goal.timed:
            return (
                f"Values are {self.goal.name}, as the program tells: {self.goal.better} is better."
            )
        return "Times are those that the program tells."

    @property
    def size_words(self) -> str:
        """The quantity that counts as size, in words."""
        if self.ivp:
            return "n, the number of components"
        if self.grid:
            return "n, the number of interior points"
        return self.size_argument or "none: always 1"

    @property
    def id(self) -> str:
        """A readable name that is the same at all sizes: ``heat2d radau-iia-7 m6 h0.1``,
        ``star3d-7pt``.
        """
        if self.ivp:
            steps = f" m{self.correctors}" if self.correctors else ""
            return f"{self.ivp} {self.method}{steps} h{self.step_fraction:g}"
        if self.grid:
            return self.stencil
        rest = [f"{k}={v}" for k, v in self.arguments.items() if k != self.size_argument]
        return " ".join([self.program, *rest])

    @property
    def settings(self) -> dict[str, Value]:
        """Computation and size as parameters of learned models, by their names."""
        if self.ivp:
            return {
                "ivp": self.ivp,
                "N": self.size,
                "method": self.method,
                **({"correctors": self.correctors} if self.correctors else {}),
                "step fraction": self.step_fraction,
            }
        if self.grid:
            extents = {f"grid.{name}": extent for name, extent in self.grid}
            return {"stencil": self.stencil, **extents}
        return {"program": self.program, **self.arguments}


def labels(problems: Sequence[ProblemFacts]) -> list[str]:
    """Labels of the problems of a study, in their order, made unique with suffixes."""
    plain = [problem.label for problem in problems]
    texts = [
        label if plain.count(label) == 1 else f"{label}-{problem.suffix}"
        for label, problem in zip(plain, problems, strict=True)
    ]
    return [
        label if texts.count(label) == 1 else f"{label}-{texts[: place + 1].count(label)}"
        for place, label in enumerate(texts)
    ]
