"""The results of a study as Python objects: the best, every trial, frames, figures, a page."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.commands.tune import flow
from autotune.commands.tune.study_run import TunedStudy
from autotune.domain.metric import Metric
from autotune.domain.results import Status
from autotune.domain.variant import Value
from autotune.errors import Fault, InputError, WorkFailed, unknown_name
from autotune.files import codec
from autotune.files.store.records import LOST
from autotune.results.documents import study_document
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate, ProblemEvaluation
from autotune.results.report import words

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure
    from rich.table import Table

_SHOWN = 12
"""Rows that a study shows of itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredTrial:
    """A candidate that was tried: its parameters, and what was measured or why it failed."""

    number: int
    """Place among the trials of its problem, best first, from 0; while a study runs, in the order
    in which they end."""
    problem: str
    params: Mapping[str, Value]
    value: float | None
    """The objective in its unit, seconds for a time; None: it failed, or has no time yet."""
    values: Mapping[str, float] = field(default_factory=dict)
    """The time in seconds and the metrics, by name."""
    interval: tuple[float, float] | None = None
    """90 % interval of the value, from launches."""
    status: Status | None = None
    """``ok``, or how it failed: crashed, timed-out, wrong-result, ..."""
    detail: str = ""
    """Of a failure: the last lines that it printed, or in which way its result is wrong."""
    predicted: float | None = None
    """Seconds, where there is a model."""
    chosen: str = ""
    """Why it was measured."""
    candidate: str = ""
    """Its id, for the commands."""

    @property
    def failed(self) -> bool:
        """Whether it has no value because it failed."""
        return self.status not in ("ok", None)


@dataclass(frozen=True, slots=True)
class StudyResult:
    """A study: its trials, its winner and what is known of it.

    Where a study has several problems, methods take the label of one, as ``problems`` lists them.
    """

    result: TunedStudy
    store: str = ""
    """Where its samples are."""

    # --- what was found -----------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its name in the store."""
        return self.result.record.name

    @property
    def problems(self) -> tuple[str, ...]:
        """The labels of its problems."""
        return tuple(problem.label for problem in self.result.evaluation.problems)

    def evaluation(self, problem: str | None = None) -> ProblemEvaluation:
        """What is known of a problem; of the only one where none is named."""
        problems = self.result.evaluation.problems
        if problem is None:
            if len(problems) == 1:
                return problems[0]
            found = f"{len(problems)} problems" if problems else "a study without candidates"
            expected = "the label of one of " + ", ".join(self.problems) if problems else ""
            hint = 'study.best_of("LABEL")' if problems else ""
            raise InputError(Fault(where="problem", found=found, expected=expected, hint=hint))
        for evaluation in problems:
            if evaluation.label == problem:
                return evaluation
        raise InputError(unknown_name("problem", "problem", problem, self.problems))

    def best_of(self, problem: str | None = None) -> MeasuredTrial:
        """The winner of a problem; WorkFailed, with the reasons, where no candidate ran."""
        evaluation = self.evaluation(problem)
        if evaluation.best is None:
            raise WorkFailed(_why_nothing(evaluation))
        return _trial(evaluation.best, evaluation, 0)

    @property
    def best(self) -> MeasuredTrial:
        """The winner of a study of one problem; where it is undecided, the one that is chosen."""
        return self.best_of()

    @property
    def best_params(self) -> dict[str, Value]:
        """The parameters of the winner."""
        return dict(self.best.params)

    @property
    def best_value(self) -> float:
        """The objective of the winner."""
        value = self.best.value
        assert value is not None
        return value

    @property
    def decided(self) -> bool:
        """Whether in every problem the winner is told apart from all others."""
        problems = self.result.evaluation.problems
        return bool(problems) and all(problem.decided for problem in problems)

    @property
    def speedup(self) -> float | None:
        """Time of the baseline over that of the winner; None where one of them has none."""
        speedup = self.evaluation().speedup
        return speedup.value if speedup else None

    @property
    def speedup_interval(self) -> tuple[float, float] | None:
        """The 90 % interval of the speed-up."""
        speedup = self.evaluation().speedup
        return speedup.interval if speedup else None

    @property
    def trials(self) -> tuple[MeasuredTrial, ...]:
        """Every candidate that was tried, problem by problem, best first, failures last."""
        return tuple(self._trials())

    @property
    def best_trials(self) -> tuple[MeasuredTrial, ...]:
        """The trials of which no other is better in all objectives, problem by problem; of one
        objective the winners.
        """
        listed: list[MeasuredTrial] = []
        for problem in self.result.evaluation.problems:
            rows = problem.front or ((problem.best,) if problem.best else ())
            listed += [_trial(row, problem, number) for number, row in enumerate(rows)]
        return tuple(listed)

    def _trials(self) -> Iterator[MeasuredTrial]:
        for problem in self.result.evaluation.problems:
            for number, row in enumerate(problem.evaluated):
                yield _trial(row, problem, number)

    # --- as tables and figures ----------------------------------------------------------------

    def frame(self) -> "pandas.DataFrame":
        """One row per trial: ``value``, ``params_NAME``, and the columns of ``tune --json``."""
        rows: list[dict[str, object]] = []
        for problem in self.result.evaluation.problems:
            document = study_document.problem_row(problem).evaluated
            for number, (row, said) in enumerate(zip(problem.evaluated, document, strict=True)):
                trial = _trial(row, problem, number)
                named = {f"params_{name}": value for name, value in trial.params.items()}
                first = {"problem": problem.label, "number": number, "value": trial.value, **named}
                rows.append({**first, **codec.fields(said)})
        return frame_of(rows)

    def plot_history(self, problem: str | None = None) -> "Figure":
        """The objective of every trial, and the best so far, in the order of the search."""
        from autotune.api import result_figures

        return result_figures.history(self.evaluation(problem), self.result.record)

    def plot_predicted(self, problem: str | None = None) -> "Figure":
        """Predicted against measured times."""
        from autotune.api import result_figures

        return result_figures.predicted(self.evaluation(problem))

    def plot_samples(self, problem: str | None = None) -> "Figure":
        """Every sample of the best trials, the disturbed ones hollow."""
        from autotune.api import result_figures

        return result_figures.samples(self.evaluation(problem))

    def plot_importance(self, problem: str | None = None) -> "Figure":
        """By how much the worst value of each parameter is worse than its best one."""
        from autotune.api import result_figures

        return result_figures.importance(self.evaluation(problem))

    def plot_front(self, problem: str | None = None) -> "Figure":
        """The trials by two objectives, and those that no other one beats in both."""
        from autotune.api import result_figures

        return result_figures.front(self.evaluation(problem))

    def report(self, path: str | Path) -> Path:
        """Write the HTML page of the study."""
        return flow.write_report(self.result, Path(path))

    # --- as it shows itself -------------------------------------------------------------------

    def __str__(self) -> str:
        lines = [f"study {self.name}" + (f" in {self.store}" if self.store else "")]
        for problem in self.result.evaluation.problems:
            if problem.best is None:
                lines.append(f"{problem.label}: {_why_nothing(problem)}")
                continue
            best = _trial(problem.best, problem, 0)
            settings = ", ".join(f"{name}={value!r}" for name, value in best.params.items())
            lines.append(f"{problem.label}: {_shown_value(problem)} with {settings}")
            lines.append(f"  {_verdict(problem)}")
            lines.append(f"  {_counts(problem)}")
        return "\n".join(lines)

    def __rich__(self) -> "Table":
        from rich.table import Table

        table = Table(title=str(self), title_justify="left", title_style="")
        for name in self._head():
            table.add_column(name, justify="left" if name == "status" else "right")
        for row in self._rows():
            table.add_row(*row)
        return table

    def _repr_markdown_(self) -> str:
        head = self._head()
        lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
        lines += [f"| {' | '.join(row)} |" for row in self._rows()]
        about = "\n".join(f"{line}  " for line in str(self).splitlines())
        return "\n".join([about, "", *lines])

    def _repr_html_(self) -> str:
        from html import escape

        def cells(kind: str, texts: tuple[str, ...]) -> str:
            made = "".join(f"<{kind}>{escape(text)}</{kind}>" for text in texts)
            return f"<tr>{made}</tr>"

        rows = "".join(cells("td", row) for row in self._rows())
        return (
            f"<pre>{escape(str(self))}</pre><table><thead>{cells('th', self._head())}</thead>"
            f"<tbody>{rows}</tbody></table>"
        )

    def _head(self) -> tuple[str, ...]:
        several = len(self.problems) > 1
        names = dict.fromkeys(name for trial in self._trials() for name in trial.params)
        first = ("problem",) if several else ()
        goals = {problem.problem.goal.title for problem in self.result.evaluation.problems}
        goal = next(iter(goals)) if len(goals) == 1 else "value"
        return (*first, *names, goal, "90 % interval", "status")

    def _rows(self) -> Iterator[tuple[str, ...]]:
        """The best trials of every problem as texts, under the names of ``_head``."""
        several = len(self.problems) > 1
        names = dict.fromkeys(name for trial in self._trials() for name in trial.params)
        for problem in self.result.evaluation.problems:
            for number, row in enumerate(problem.evaluated[:_SHOWN]):
                trial = _trial(row, problem, number)
                interval = "" if trial.interval is None else " to ".join(
                    f"{end:.4g}" for end in trial.interval
                )  # fmt: skip
                value = "" if trial.value is None else f"{trial.value:.4g}"
                settings = (str(trial.params.get(name, "")) for name in names)
                first = (problem.label,) if several else ()
                yield (*first, *settings, value, interval, trial.status or "")


def frame_of(rows: list[dict[str, object]]) -> "pandas.DataFrame":
    """Rows as a frame; what is inside a value becomes columns of its own."""
    import pandas

    return pandas.json_normalize(rows, max_level=1)


def _trial(row: EvaluatedCandidate, problem: ProblemEvaluation, number: int) -> MeasuredTrial:
    goal = problem.problem.goal
    measurement = row.measurement
    return MeasuredTrial(
        number=number,
        problem=problem.label,
        params=dict(row.candidate.parameters),
        value=None if row.measured is None else goal.value(row.measured),
        values=dict(row.metrics),
        interval=None if row.interval is None else goal.interval(row.interval),
        status=row.status,
        detail=measurement.detail if measurement else "",
        predicted=row.predicted,
        chosen=row.chosen,
        candidate=row.candidate.id,
    )


def _shown_value(problem: ProblemEvaluation) -> str:
    goal: Metric = problem.problem.goal
    assert problem.best is not None
    assert problem.best.measured is not None
    return f"{goal.name} {goal.show(problem.best.measured)}"


def _verdict(problem: ProblemEvaluation) -> str:
    """Whether the winner is decided, and its speed-up."""
    if problem.unopposed:
        more = "Give it more time: resume=True with a larger budget="
        return f"{words.unopposed(problem)}. {more}"
    rivals = len(problem.contenders) - 1
    sure = "decided" if rivals <= 0 else f"not told apart from {rivals} more"
    if problem.speedup is None:
        return sure
    text = f"{problem.speedup.value:.3g} times as good as the baseline"
    if problem.problem.goal.timed:
        text = f"{problem.speedup.value:.3g} times as fast as the baseline"
    if problem.best is problem.baseline:
        return f"as {'fast' if problem.problem.goal.timed else 'good'} as the baseline, {sure}"
    if problem.speedup.interval is not None:
        low, high = problem.speedup.interval
        text += f" ({low:.3g} to {high:.3g})"
    return f"{text}, {sure}"


def _counts(problem: ProblemEvaluation) -> str:
    """How many candidates were tried, and how many of them failed in which way."""
    tried = f"{words.of_legal(len(problem.evaluated), problem)} candidates tried"
    kinds = Counter(words.status(row) for row in problem.failures)
    gone = [f"{len(problem.lost)} {LOST}"] if problem.lost else []
    return ", ".join((tried, *(f"{count} {kind}" for kind, count in kinds.most_common()), *gone))


def _why_nothing(problem: ProblemEvaluation) -> str:
    """Why a problem has no winner, with the first reason of each kind of failure."""
    failures = problem.failures
    if not failures:
        return "nothing was measured"
    reasons: dict[str, str] = {}
    for row in failures:
        if row.status is not None and row.measurement is not None:
            reasons.setdefault(row.status, row.measurement.detail.strip())
    told = "; ".join(
        f"{status}: {detail}" if detail else status for status, detail in reasons.items()
    )
    return f"none of {len(failures)} candidates ran: {told}"
