"""A self-contained HTML page of a study: it loads nothing from elsewhere and needs no script.

The template escapes everything that comes from outside (names, compiler text, paths).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autotune.domain.decision_map import DecisionMap
from autotune.domain.dissection import Dissection
from autotune.domain.machine import Machine
from autotune.errors import Fault, MissingTool
from autotune.files.store.records import RunRecord, StudyRecord
from autotune.results.evaluate.common_winner import common_winner
from autotune.results.evaluate.study_evaluation import (
    EvaluatedCandidate,
    ProblemEvaluation,
    StudyEvaluation,
)
from autotune.results.explanation import reasons
from autotune.results.explanation.explained import ExplainedCandidate
from autotune.results.maps import text as map_text
from autotune.results.page import page_file
from autotune.results.report import (
    figure_records,
    number_words,
    search_records,
    terms_text,
    usage,
    words,
)
from autotune.results.report.figure_records import Fact
from autotune.results.report.influences import Influences, influences
from autotune.results.report.noise_figures import NoiseFigures
from autotune.results.report.noise_figures import noise as noise_of
from autotune.results.report.search_records import FailureGroup, Front
from autotune.units import show

if TYPE_CHECKING:
    from types import ModuleType

_TEMPLATE = Path(__file__).with_name("page.html.j2")
_OPEN = 40
"""Rankings up to this many rows are shown unfolded."""
_ROWS = 60
"""Rows of the tables of a problem, and ..."""
_LEAST_ROWS = 24
_STRIPS = 32
"""... candidates whose every sample is drawn; with many problems, fewer of each."""
_LEAST_STRIPS = 8
_FEW = 3
"""So many problems have all of them."""
_FAILURES = 12
"""Failures whose whole text is told."""
_TEXT = 4000
"""Characters of it: compilers can write a megabyte."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemFigures:
    """The figures of one problem as SVG text; empty if there is nothing to draw."""

    stack: str
    scatter: str
    samples: str
    convergence: str
    moves: str
    residuals: str
    drift: str
    front: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WinnerUsage:
    """How to use a winner: lines to type or set; empty lines are left out."""

    command: str
    build: str
    environment: str
    layout: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemSection:
    """The section of the page about one problem."""

    anchor: str
    result: ProblemEvaluation
    figures: ProblemFigures
    use: WinnerUsage | None
    kinds: tuple[str, ...]
    breakdown: Mapping[str, Mapping[str, float]]
    """Sweep to kind to seconds, of the winner."""
    reasons: tuple[str, ...]
    """Why the winner takes as long as predicted, and what makes the baseline slower: sentences."""
    noise: NoiseFigures
    front: Front
    failed: tuple[FailureGroup, ...]
    tried: tuple[EvaluatedCandidate, ...]
    """As many of the evaluated as a page holds; winner and baseline are among them."""
    ranked: tuple[EvaluatedCandidate, ...]
    """The same of the ranking."""
    failures: tuple[tuple[EvaluatedCandidate, str], ...]
    """The first failures with their text."""
    alike: bool
    """All its candidates have the same build and layout."""
    unfolded: bool
    predicted: bool
    """Some candidate has a predicted time."""
    times: str
    """What its times are of."""
    influences: Influences | None
    """What makes its candidates fast, where a model of them says something."""


@dataclass(frozen=True, slots=True)
class _Tools:
    """The modules that draw; they import matplotlib, which is heavy."""

    draw: "ModuleType"
    search: "ModuleType"


def write(result: StudyEvaluation, path: Path, dissections: Sequence[Dissection] = ()) -> Path:
    """Write the page, replacing an earlier one atomically; returns its path.

    ``dissections``: of candidates of the study. Raises InputError if the file cannot be written.
    """
    page_file.check(path)
    page_file.write(render(result, dissections), path)
    return path


def render(result: StudyEvaluation, dissections: Sequence[Dissection] = ()) -> str:
    """The page as text; a study without any time gives a page that says so.

    Raises MissingTool when matplotlib or jinja2 is not installed.
    """
    try:
        import jinja2  # noqa: PLC0415 - heavy

        from autotune.results.report.draw import draw_search  # noqa: PLC0415 - heavy
        from autotune.results.report.draw import svg as draw  # noqa: PLC0415 - heavy
    except ImportError as error:
        raise MissingTool(
            Fault(
                where="report",
                found=f"the page needs {error.name}, which is not installed",
                hint="pip install matplotlib jinja2",
            )
        ) from error
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "seconds": number_words.seconds,
        "span": number_words.span,
        "signed": number_words.signed,
        "percent": number_words.percent,
        "fact": fact_text,
        "objective": lambda value, kind: words.objective(kind, value),
        "moment": moment,
    }
    study = result.study
    share = min(1.0, _FEW / max(1, len(result.problems)))
    machine = study.runs[-1].machine if study.runs else None
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        style=page_file.style(),
        study=study,
        sections=[
            _section(problem, study, number, share, _Tools(draw, draw_search))
            for number, problem in enumerate(result.problems)
        ],
        common=common_winner(study, result.problems),
        last=study.runs[-1] if study.runs else None,
        runs=[(run, *_counts(run)) for run in study.runs],
        machine=machine,
        facts=figure_records.facts(machine) if machine else (),
        bandwidths=_bandwidths(machine, draw),
        compilers=_compilers(study.runs),
        dissections=dissections,
        maps=_maps(study),
        terms=terms_text,
        words=words,
        number_words=number_words,
        status=words.status,
        role=figure_records.role,
    )


def _section(
    result: ProblemEvaluation,
    study: StudyRecord,
    number: int,
    share: float,
    tools: _Tools,
) -> ProblemSection:
    """The section of one problem; ``share``: length of its tables relative to the usual one."""
    prediction = result.best.prediction if result.best else None
    kinds, table = figure_records.breakdown(prediction) if prediction else ((), {})
    noise, front = noise_of(result, study), search_records.front(result)
    return ProblemSection(
        anchor=f"problem-{number + 1}",
        result=result,
        figures=_figures(result, study, noise, front, share, tools),
        use=use(result.best, study.config) if result.best else None,
        kinds=kinds,
        breakdown=table,
        reasons=tuple(_reasons(result)),
        noise=noise,
        front=front,
        failed=search_records.failed(result),
        tried=_some(result.evaluated, result, share),
        ranked=_some(result.rows, result, share),
        failures=tuple((row, _text(row)) for row in result.failures[:_FAILURES]),
        alike=result.builds == result.layouts == 1,
        unfolded=len(result.rows) <= _OPEN,
        predicted=any(row.predicted is not None for row in result.rows),
        times=result.problem.times,
        influences=influences(result),
    )


def _some(
    rows: Sequence[EvaluatedCandidate], result: ProblemEvaluation, share: float
) -> tuple[EvaluatedCandidate, ...]:
    most = max(_LEAST_ROWS, round(share * _ROWS))
    marked = ("winner", "baseline")
    return tuple(
        row
        for place, row in enumerate(rows)
        if place < most or figure_records.role(row, result) in marked
    )


def _text(row: EvaluatedCandidate) -> str:
    """The text of a failure; if it is long, its middle is left out."""
    text = row.measurement.detail if row.measurement else ""
    if len(text) <= _TEXT:
        return text or "no output"
    half = _TEXT // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters ...\n{text[-half:]}"


def _reasons(result: ProblemEvaluation) -> list[str]:
    """Why the winner is faster than the baseline, in words, from the stored predictions."""
    explained = [
        ExplainedCandidate(name=words.name(row.candidate, result), prediction=row.prediction)
        for row in (result.best, result.baseline)
        if row and row.prediction
    ]
    if len(explained) == 2 and result.best is not result.baseline:
        return ["As predicted:", *reasons.against(*reversed(explained))]
    return reasons.alone(explained[0]) if explained and result.best else []


def _figures(
    result: ProblemEvaluation,
    study: StudyRecord,
    noise: NoiseFigures,
    front: Front,
    share: float,
    tools: _Tools,
) -> ProblemFigures:
    stack, scatter = figure_records.stack(result), figure_records.scatter(result)
    samples = figure_records.samples(result, max(_LEAST_STRIPS, round(share * _STRIPS)))
    moves = search_records.moves(result)
    residuals, history = search_records.residuals(result), search_records.convergence(result, study)
    draw, search, of = tools.draw, tools.search, f"of {result.label}"
    timed = any(step.measured for step in history.steps)
    return ProblemFigures(
        stack=draw.stack(stack, f"Predicted contributions per sweep {of}") if stack.bars else "",
        scatter=draw.scatter(scatter, f"Predicted and measured times {of}")
        if scatter.points
        else "",
        samples=draw.samples(samples, f"Samples {of}") if samples.strips else "",
        convergence=search.convergence(history, f"Best so far {of}") if timed else "",
        moves=search.moves(moves, f"Predicted and measured places {of}")
        if len(moves.moves) > 1
        else "",
        residuals=search.residuals(residuals, f"Error of the model {of}")
        if residuals.shares
        else "",
        drift=search.drift(noise, f"Drift over the run {of}") if noise.drifts else "",
        front=search.front(front, f"Objectives {of}") if len(front.places) > 1 else "",
    )


def _maps(study: StudyRecord) -> list[tuple[DecisionMap, str, list[str]]]:
    """The decision maps of a study, each with its figure and its summary in sentences."""
    if not study.maps:
        return []
    from autotune.results.maps import figure as maps_figure  # noqa: PLC0415 - heavy

    return [
        (chart, maps_figure.svg(chart, f"Decision map of {chart.label}"), map_text.summary(chart))
        for chart in study.maps
    ]


def _bandwidths(machine: Machine | None, draw: "ModuleType") -> str:
    if machine is None or machine.calibration is None or not machine.calibration.curves:
        return ""
    record = figure_records.bandwidths(machine)
    return str(draw.bandwidths(record, "Measured load bandwidth over the working set"))


def use(row: EvaluatedCandidate, config: str) -> WinnerUsage:
    """How to use a candidate: the command that writes its source, build line, environment."""
    candidate = row.candidate
    build, layout = candidate.build, candidate.layout
    parameters = {
        name: "yes"
        if value is True
        else "no"
        if value is False
        else "none"
        if value is None
        else str(value)
        for name, value in candidate.parameters.items()
    }
    if not candidate.problem.stepped:
        threads = f"OMP_NUM_THREADS={layout.threads}" if layout.threads > 1 else ""
        return WinnerUsage(command="", build=build.words, environment=threads, layout=parameters)
    alone = layout.ranks == 1
    return WinnerUsage(
        command=f"autotune variants {config}.yaml --emit {candidate.id} -o {candidate.variant}",
        build=usage.build_line(build, layout, candidate.variant),
        environment=usage.environment(layout),
        layout=parameters if alone else parameters | {"layout": layout.words},
    )


def fact_text(fact: Fact) -> str:
    """A figure of the machine with its unit, as text."""
    if fact.unit == "count":
        return f"{fact.value:g}"
    if fact.unit == "share":
        return f"{fact.value:.2f}"
    return show(fact.value, fact.unit)


def moment(text: str | None) -> str:
    """An ISO date and time as readable text, to the second."""
    return text[:19].replace("T", " ") + " UTC" if text else number_words.NONE


def _counts(run: RunRecord) -> tuple[int, int, int]:
    """Undisturbed samples, disturbed samples, candidates of a run."""
    timed = [s for m in run.measurements for s in m.samples if not s.warm_up]
    undisturbed = sum(s.undisturbed for s in timed)
    return undisturbed, len(timed) - undisturbed, len(run.measurements)


def _compilers(runs: tuple[RunRecord, ...]) -> list[dict[str, str]]:
    """The compilers of the builds, each once."""
    kinds: dict[tuple[tuple[str, str], ...], None] = {}
    for run in runs:
        for build in run.builds:
            figures = {k: v for k, v in build.provenance.items() if "source" not in k}
            kinds.setdefault(tuple(sorted(figures.items())))
    return [dict(kind) for kind in kinds if kind]
