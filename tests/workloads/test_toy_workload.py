"""A fourth workload in one file: nothing of autotune knows it, and it is ranked, tuned, judged."""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import pytest
from workload_conformance import WorkloadConformance, quiet

from autotune.commands.rank.ranked_space import RankedSpace, rank_space
from autotune.commands.tune import flow as tune_flow
from autotune.commands.tune.flow import StudyOptions
from autotune.domain.machine import Machine
from autotune.domain.problem import AnyProblem
from autotune.domain.problem_facts import ProblemFacts
from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.results import Prediction, Prepared, Sample
from autotune.domain.setup import Layout, Setup
from autotune.domain.variant import NO_COMPILER, Build, Candidate, Value, Variant
from autotune.errors import Fault, InputError
from autotune.files import config
from autotune.measuring.candidates.base import Launch
from autotune.results.evaluate.study_evaluation import evaluate
from autotune.units import Seconds
from autotune.workloads.base import EnumeratedSpace, IllegalCombinations
from autotune.workloads.layouts import execution_layouts, largest

SPACE: Mapping[str, tuple[Value, ...]] = {"x": tuple(range(6)), "y": tuple(range(5))}


def cost(size: int, x: int, y: int) -> float:
    """Seconds of a run: a bowl with its bottom at x = 4, y = 1."""
    return 1e-3 * size * (1 + 0.1 * (x - 4) ** 2 + 0.05 * (y - 1) ** 2)


def cost_of(candidate: Candidate) -> float:
    values = candidate.variant.parameters
    return cost(candidate.problem.n, int(values["x"]), int(values["y"]))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Bowl:
    """What varies, and at once the problem: a bowl of a size."""

    size: int = 3
    family = "toy"
    name = "bowl"
    title = "a bowl with two parameters"
    definition = "b0b0b0b0b0b0"
    compiled = spread = False
    definitions: tuple[str, ...] = ()
    varied: str = repr(SPACE)
    source_folders: tuple[str, ...] = ()
    shape: tuple[float, ...] = ()
    state_bytes = 0
    h = None
    size_symbol = "size"

    @property
    def n(self) -> int:
        return self.size

    map_size = n

    @property
    def arguments(self) -> Mapping[str, Value]:
        return {"size": self.size}

    @property
    def label(self) -> str:
        return f"bowl-{self.size}"

    key = label

    @property
    def size_text(self) -> str:
        return f"size={self.size}"

    size_name = size_text

    @property
    def method_key(self) -> tuple[object, ...]:
        return (self.definition,)

    def resized(self, size: int) -> "Bowl":
        return Bowl(size)

    def canonical(self) -> dict[str, object]:
        return {"toy": self.name, "size": self.size}

    def least_work(self) -> None:
        """Not known."""

    def facts(self) -> ProblemFacts:
        return ProblemFacts(
            label=self.label,
            title=self.title,
            components=self.n,
            key=self.key,
            family=self.family,
            program=self.name,
            arguments=self.arguments,
            size_argument="size",
        )


class BowlEngine:
    """Predicts the cost, and is wrong by a tenth."""

    name = "bowl"

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        return [
            Prediction(
                seconds=Seconds(1.1 * cost_of(candidate)),
                interval=None,
                parts=(),
                engine=self.name,
                reason="the formula of the bowl",
            )
            for candidate in candidates
        ]


@dataclass
class BowlMeasurer:
    """Takes as long as the cost says, without waiting for it."""

    samples: int
    launched: list[str] = field(default_factory=list)

    def prepare(self, candidate: Candidate) -> Prepared:
        return Prepared(candidate=candidate, status="ok")

    def interrupt(self) -> None:
        """Nothing runs."""

    def launch(
        self,
        prepared: Prepared,
        *,
        round_number: int,
        launch: int,
        expected: float | None,
        on_sample: Callable[[Sample], None],
    ) -> Launch:
        self.launched.append(prepared.candidate.identity)
        taken = [
            Sample(
                seconds=Seconds(cost_of(prepared.candidate) * (1 + 1e-4 * (launch + number))),
                steps=1,
                busy=1.0,
                undisturbed=True,
                launch=launch,
                round=round_number,
                taken=datetime.now(UTC).isoformat(timespec="milliseconds"),
            )
            for number in range(self.samples)
        ]
        for sample in taken:
            on_sample(sample)
        return Launch(status="ok", samples=tuple(taken))


@dataclass(frozen=True)
class ToyWorkload:
    """Bowls: candidates by two parameters, an engine by formula, a measurer without a compiler."""

    setup: Setup
    title = "a bowl"
    engines = ("bowl",)
    predicted = True
    refusals: Mapping[str, Fault] = field(
        default_factory=lambda: {"--phases": Fault(where="--phases", found="a bowl has no phases")}
    )

    def at(self, setup: Setup) -> "ToyWorkload":
        return ToyWorkload(setup)

    def check_engine(self, engine: str) -> None:
        if engine not in self.engines:
            found = f"engine {engine} does not predict {self.title}"
            raise InputError(Fault(where="--engine", found=found))

    def check(self) -> None:
        """Nothing is needed."""

    def candidates(self, cores: int) -> EnumeratedSpace:
        layouts, problems = execution_layouts(self.setup, cores), self.setup.problems
        legal = [
            Candidate(
                variant=self._variant(*values), problem=problem, build=NO_COMPILER, layout=layout
            )
            for problem, layout, values in product(problems, layouts, product(*SPACE.values()))
        ]
        return EnumeratedSpace(legal=legal, illegal=IllegalCombinations([]))

    def baseline(self, problem: AnyProblem, cores: int, build: Build) -> Candidate:
        layout = largest(execution_layouts(self.setup, cores))
        variant = self._variant(0, 0)
        return Candidate(variant=variant, problem=problem, build=build, layout=layout)

    def _variant(self, *values: Value) -> Variant:
        return Variant(
            skeleton="bowl",
            definition="b0b0b0b0b0b0",
            transformations=(),
            parameters=dict(zip(SPACE, values, strict=True)),
        )

    @contextlib.contextmanager
    def predictor(
        self, engine: str, machine: Machine, progress: object, until: float = math.inf
    ) -> Iterator[BowlEngine]:
        yield BowlEngine()

    def measurer(self, machine: Machine) -> BowlMeasurer:
        return BowlMeasurer(self.setup.measuring.samples)

    def sources(self, candidate: Candidate, folder: Path) -> Mapping[str, str]:
        return {"cost.txt": f"{cost_of(candidate)} s\n"}

    def loops(self, entry: Ranked, machine: Machine, progress: object) -> tuple[()]:
        return ()

    def stored_bytes(self, candidate: Candidate) -> None:
        """Nothing is allocated."""

    def features(self, candidate: Candidate) -> Mapping[str, int]:
        return {name: int(value) for name, value in candidate.variant.parameters.items()}  # type: ignore[arg-type]

    def versions(self) -> Mapping[str, str]:
        return {"toy": "1"}

    def unpredicted(self, rankings: Sequence[Ranking], machine: Machine) -> str:
        return ""


def toy(folder: Path) -> ToyWorkload:
    source = folder / "toy.txt"
    source.write_text("a bowl\n", encoding="utf-8")
    return ToyWorkload(
        Setup(
            name="toy",
            source=str(source),
            machine=config.machine("haswell-e5-2630v3"),
            problems=(Bowl(3), Bowl(5)),
            subject=Bowl(),
            builds=(NO_COMPILER,),
            layouts=(Layout(threads=1),),
            engine="bowl",
        )
    )


class TestToy(WorkloadConformance):
    """A workload of a test keeps the same promises."""

    @pytest.fixture
    def workload(self, tmp_path: Path) -> ToyWorkload:
        return toy(tmp_path)


def test_it_is_ranked(tmp_path: Path) -> None:
    ranked: RankedSpace = rank_space(toy(tmp_path), quiet)
    assert [ranking.problem.label for ranking in ranked.rankings] == ["bowl-3", "bowl-5"]
    for ranking in ranked.rankings:
        best = ranking.entries[0]
        assert dict(best.candidate.variant.parameters) == {"x": 4, "y": 1}
        assert best.prediction.seconds == pytest.approx(1.1e-3 * ranking.problem.n)


def test_it_is_tuned_and_judged(tmp_path: Path) -> None:
    options = StudyOptions(budget_evaluations=12)
    study = tune_flow.tune(toy(tmp_path), options, str(tmp_path / "toy.sqlite"), quiet)
    assert study.record.runs[-1].state == "budget"
    assert study.record.runs[-1].versions["toy"] == "1"
    problems = evaluate(study.record).problems
    assert [problem.problem.family for problem in problems] == ["toy", "toy"]
    for problem, size in zip(problems, (3, 5), strict=True):
        assert problem.best is not None
        assert dict(problem.best.candidate.parameters) == {"x": 4, "y": 1}
        assert problem.best.measured == pytest.approx(cost(size, 4, 1), rel=1e-2)
        assert problem.problem.words == f"size = {size}"
        assert problem.problem.per == "run"
        assert len(problem.evaluated) <= 12
