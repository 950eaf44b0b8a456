"""The decision of one problem, for the head of its page: who wins, how sure that is, what to do."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from autotune.domain.variant import NO_COMPILER
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate, ProblemEvaluation
from autotune.results.page.frame import CopyLine, Decision, KeyNumber
from autotune.results.report import number_words, usage, words


@dataclass(frozen=True, slots=True, kw_only=True)
class WinnerUsage:
    """How to use a winner: lines to type or set; empty lines are left out."""

    command: str
    build: str
    environment: str
    layout: Mapping[str, str]
    commands: tuple[str, ...] = ()
    """The lines that build and run a program, as the terminal shows them."""

    @property
    def lines(self) -> tuple[CopyLine, ...]:
        """The lines, each with what it does."""
        titled = (
            ("write its source", self.command),
            ("build line", self.build),
            ("run with", self.environment),
        )
        lines = [CopyLine(title, line) for title, line in titled if line]
        lines += [CopyLine("build", line) for line in self.commands[:-1]]
        lines += [CopyLine("run", line) for line in self.commands[-1:]]
        return tuple(lines)


def use(row: EvaluatedCandidate, config: str, commands: Sequence[str] = ()) -> WinnerUsage:
    """How to use a candidate: the command that writes its source, build line, environment.

    ``config``: the file of the study; ``commands``: the lines that build and run it, where it is a
    program.
    """
    candidate = row.candidate
    build, layout = candidate.build, candidate.layout
    parameters = {name: words.plain(value) for name, value in candidate.parameters.items()}
    if not candidate.problem.stepped:
        threads = f"OMP_NUM_THREADS={layout.threads}" if layout.threads > 1 else ""
        return WinnerUsage(
            command="",
            build="",
            environment=threads,
            layout=parameters if build == NO_COMPILER else parameters | {"compiler": build.words},
            commands=tuple(commands),
        )
    alone = layout.ranks == 1
    return WinnerUsage(
        command=shlex.join(
            ("autotune", "variants", config, "--emit", candidate.id, "-o", candidate.variant)
        ),
        build=usage.build_line(build, layout, candidate.variant),
        environment=usage.environment(layout),
        layout=parameters if alone else parameters | {"layout": layout.words},
    )


def decision(
    result: ProblemEvaluation, config: str, anchor: str, commands: Sequence[str] = ()
) -> Decision:
    """The decision about one problem; ``anchor``: of the section that says why; ``config`` and
    ``commands``: as in ``use``.
    """
    best = result.best
    if best is None:
        return _failed(result, anchor)
    name = words.name(best.candidate, result)
    state, verdict = _verdict(result, name)
    used = use(best, config, commands)
    settings = ", ".join(f"{key} = {value}" for key, value in used.layout.items())
    return Decision(
        about=result.label,
        title=result.problem.title,
        verdict=verdict,
        state=state,
        detail=best.candidate.id,
        numbers=_numbers(result, best),
        sure=_sure(result),
        advice=_advice(result, name, config),
        lines=used.lines,
        notes=(("parameters", settings),) if settings else (),
        link=anchor,
    )


def _failed(result: ProblemEvaluation, anchor: str) -> Decision:
    tried = len(result.evaluated)
    why = "Nothing was measured."
    if tried:
        why = f"None of the {tried} candidates that were tried gave a time."
    return Decision(
        about=result.label,
        title=result.problem.title,
        verdict="No decision: no winner",
        state="failed",
        sure=f"{why} {result.space.predicted} of {words.legal(result)} candidates were predicted.",
        advice="Mend what failed, then autotune tune --resume." if tried else "autotune tune.",
        link=anchor,
    )


def _verdict(
    result: ProblemEvaluation, name: str
) -> tuple[Literal["decided", "open", "failed"], str]:
    """Whether it is decided, and who wins."""
    if result.unopposed:
        return "open", f"No decision: only {name} was measured"
    number = len(result.contenders) - 1
    others = f"{number} other{'s' if number > 1 else ''}"
    if result.best is result.baseline:
        if number:
            return "open", f"No gain shown: keep the baseline, {name}; {others} may be as good"
        return "decided", f"Keep the baseline, {name}"
    caution = words.caution(result)
    if number and (caution or result.speedup is None):
        return "open", f"No decision between {name} and {others}"
    if caution:
        return "open", f"No decision: {name} is not surely better than the baseline"
    return "decided", f"Use {name}; {others} may be as good" if number else f"{name} wins"


def _numbers(result: ProblemEvaluation, best: EvaluatedCandidate) -> tuple[KeyNumber, ...]:
    goal = result.problem.goal
    gain = "speed-up over the baseline" if goal.timed else "improvement over the baseline"
    numbers = []
    if result.speedup is not None:
        ends = result.speedup.interval
        span = f"{ends[0]:.2f} to {ends[1]:.2f}" if ends else result.speedup.note
        numbers.append(KeyNumber(f"{result.speedup.value:.2f}x", gain, span))
    measured = "measured per step" if result.problem.stepped else "measured"
    numbers.append(
        KeyNumber(
            number_words.seconds(best.measured, goal),
            measured,
            number_words.span(best.interval, goal) if best.interval else "",
        )
    )
    if best.predicted is not None:
        off = number_words.signed(best.deviation)
        numbers.append(KeyNumber(number_words.seconds(best.predicted), "predicted", off))
    return tuple(numbers)


def _sure(result: ProblemEvaluation) -> str:
    """How sure the decision is, in sentences."""
    undecided = words.unopposed(result) or words.undecided(result)
    sentences = [undecided or "No other measured candidate may be faster, with 95 %"]
    if short := words.cut_short(result):
        sentences.append(short)
    unsure = result.speedup is None or result.speedup.crossed is not None
    if unsure and not result.unopposed:
        gain = "speed-up" if result.problem.goal.timed else "improvement"
        sentences.append(f"{gain} over the baseline: {words.speedup(result)}")
    if words.serial(result):
        sentences.append(words.serial(result))
    if result.other_runs:
        sentences.append(words.in_other_runs(result))
    if not result.unopposed:
        sentences.append(words.floor(result))
    measurement = result.best.measurement if result.best else None
    if measurement and measurement.verified:
        error = measurement.error
        close = f", max |a - b| / max |b| = {error:.1e}" if error is not None else ""
        sentences.append(f"verified against the reference{close}")
    else:
        sentences.append("its result was not verified")
    return " ".join(f"{text[0].upper()}{text[1:]}." for text in sentences)


def _advice(result: ProblemEvaluation, name: str, config: str) -> str:
    """What to do, in sentences."""
    caution = words.caution(result)
    sentences = [f"Caution: {caution}"] if caution else []
    if result.unopposed:
        sentences.append(words.MORE_TIME)
    elif words.undecided(result):
        sentences.append(f"Use {name}; {words.apart(config)}")
    elif result.best is result.baseline:
        sentences.append("Change nothing")
    elif not caution:
        sentences.append(f"Use {name}")
    if words.at_the_end(result):
        sentences.append(words.at_the_end(result))
    return " ".join(f"{text}." for text in sentences)
