"""A study as an HTML page: decisions first, then its problems, its machine, its conditions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autotune.domain.dissection import Dissection
from autotune.domain.machine import Machine
from autotune.files.store.records import CUT, RunRecord, StudyRecord
from autotune.results.evaluate.common_winner import CommonWinner, common_winner
from autotune.results.evaluate.study_evaluation import ProblemEvaluation, StudyEvaluation
from autotune.results.page import frame
from autotune.results.page.frame import (
    Card,
    Decision,
    Definitions,
    Disclosure,
    Listing,
    Page,
    PageCell,
    PageFigure,
    PageRow,
    PageSection,
    Paragraph,
    plain,
    table,
)
from autotune.results.report import (
    figure_records,
    number_words,
    problem_section,
    terms_text,
    winner_decision,
)
from autotune.results.report.draw import study_plots
from autotune.results.report.figure_records import Fact
from autotune.results.report.problem_section import SectionPlan
from autotune.units import show

_ROWS = 2400
"""Rows of all tables of candidates together, and ..."""
_LEAST_ROWS = 60
"""... of each of them, however many problems there are."""
_FEW = 3
"""So many problems have figures of the usual length."""
_COMMON = 10
Commands = Mapping[str, Sequence[str]]
_WORDS = (
    ("deviation", "(predicted - measured) / measured"),
    ("measured", "a launch stands for its undisturbed samples, or for what disturbed ones would"
     " have taken by the CPU time that they got; the time of a candidate is the mean of its"
     " launches with drift taken out; 90 % intervals count the launches of one run, so that"
     " another run, with other memory pages, clocks or load, may lie outside of them"),
    ("loss of top k", "(time of the best among the predicted top k - time of the best measured) /"
     " time of the best measured, over the candidates that were measured"),
    ("noise floor", "the loss of choosing by measurement itself: choose in one half of the"
     " rounds, score in the other"),
    ("speed-up", "time of the baseline over time of the winner, as both are shown; the 90 %"
     " interval is that of the ratios within interleaved rounds. Beside it each round is scored"
     " with the candidate that was best in the other rounds, so that luck in a round does not"
     " count as speed"),
    ("undecided", "no candidate is the fastest with a probability of 95 %; of those that may be,"
     " the baseline is chosen, or the one most like it"),
    ("disturbed", "a sample during which other processes took the cores: CPU time / (threads x"
     " wall time) was low"),
    ("contended", "other processes took so much of the cores that no launch of the candidate"
     " printed a time"),
)  # fmt: skip


def write(
    result: StudyEvaluation,
    path: Path,
    dissections: Sequence[Dissection] = (),
    commands: Commands | None = None,
) -> Path:
    """Write the page, replacing an earlier one as a whole; returns its path.

    ``dissections``: of candidates of the study. ``commands``: as in ``page``. Raises InputError if
    the file cannot be written.
    """
    return frame.write(page(result, dissections, commands), path)


def render(result: StudyEvaluation, dissections: Sequence[Dissection] = ()) -> str:
    """The page as text; a study without any time gives a page that says so."""
    return frame.render(page(result, dissections))


def page(
    result: StudyEvaluation,
    dissections: Sequence[Dissection] = (),
    commands: Commands | None = None,
) -> Page:
    """The content of the page; ``commands``: by label of a problem, the lines that build and run
    its winner, where that is a program.
    """
    lines = commands or {}
    study, problems = result.study, result.problems
    number = max(1, len(problems))
    plan = SectionPlan(
        study=study,
        paints=study_plots.loop_paints(problem_section.loops(problems)),
        rows=max(_LEAST_ROWS, _ROWS // number),
        share=min(1.0, _FEW / number),
    )
    anchors = [f"problem-{number + 1}" for number in range(len(problems))]
    common = common_winner(study, problems)
    return Page(
        title=study.name,
        lead=tuple(_lead(study)),
        decisions=tuple(
            winner_decision.decision(problem, study.file, anchor, lines.get(problem.label, ()))
            for problem, anchor in zip(problems, anchors, strict=True)
        )
        + _map_decisions(study)
        or _no_result(study),
        common=(_common(common, problems),) if common else (),
        sections=(
            *(
                problem_section.section(problem, plan, anchor)
                for problem, anchor in zip(problems, anchors, strict=True)
            ),
            *_maps(study),
            *_terms(dissections),
            _machine(result),
            _conditions(study),
            PageSection(
                title="Words",
                anchor="words",
                cards=(Card(title="What is meant", blocks=(Definitions(_WORDS),), wide=True),),
            ),
        ),
    )


def _lead(study: StudyRecord) -> list[str]:
    begun = f"Begun {moment(study.created)}"
    if not study.runs:
        return [f"{begun}. Nothing has been run yet."]
    last = study.runs[-1]
    runs = f", {len(study.runs)} runs" if len(study.runs) > 1 else ""
    machine = last.machine
    return [f"{machine.title or machine.name}, {machine.cores} cores. {begun}{runs}."]


def _no_result(study: StudyRecord) -> tuple[Decision, ...]:
    text = "This study has no candidates yet: the run ended before any was entered."
    return (
        Decision(about=study.name, verdict="No decision: no result", state="failed", sure=text),
    )


def _map_decisions(study: StudyRecord) -> tuple[Decision, ...]:
    if not study.maps:
        return ()
    from autotune.results.maps import map_cards  # noqa: PLC0415 - matplotlib is heavy

    return tuple(map_cards.decision(chart, study.name, "map") for chart in study.maps)


def _common(common: CommonWinner, problems: Sequence[ProblemEvaluation]) -> Card:
    """The winner over all problems, with its costs over the best of each."""
    rows = []
    for candidate in common.candidates[:_COMMON]:
        best = candidate is common.best
        tag = ("chosen" if common.rivals else "winner") if best else ""
        note = " ".join((candidate.layout, candidate.compiler, *candidate.flags))
        ratios = (candidate.score, *candidate.ratios)
        cells = (
            PageCell(text=candidate.variant, note=note, tag=tag or "baseline" * candidate.baseline),
            *(PageCell(text=f"{ratio:.3f}", value=ratio) for ratio in ratios),
        )
        rows.append(PageRow(cells=cells, tone="winner" if best else ""))
    text = (
        "Cost over that of the best of each problem, of the candidates that were measured in all."
    )
    if common.rivals:
        names = ", ".join(c.variant for c in (common.candidates[0], *common.rivals))
        text += f" Undecided between {names}."
    titles = ["candidate", common.rule, *(problem.label for problem in problems)]
    listing = table("Candidates over all problems", titles, rows, right=1)
    blocks = (listing, Paragraph(text, quiet=True))
    return Card(title=f"Over all problems: {common.rule}", blocks=blocks, wide=True)


def _maps(study: StudyRecord) -> list[PageSection]:
    if not study.maps:
        return []
    from autotune.results.maps import map_cards  # noqa: PLC0415 - matplotlib is heavy

    text = (
        "Predicted for every size and number of threads, measured where the winner was unsure. A"
        " cell reaches to where the next size is nearer, by ratio."
    )
    cards = tuple(map_cards.card(chart) for chart in study.maps)
    return [PageSection(title="Which candidate where", anchor="map", lead=text, cards=cards)]


def _terms(dissections: Sequence[Dissection]) -> list[PageSection]:
    """Terms of the model, predicted and measured by probes."""
    if not dissections:
        return []
    text = (
        "Predicted and measured by probes made of a candidate's own loops, in core cycles per"
        " component of one sweep. Transfer: predicted time of the lines from beyond L1 before"
        " overlap; exposed: measured time beyond that of the loop in L1."
    )
    cards = tuple(_dissection(dissection) for dissection in dissections)
    return [PageSection(title="Terms of the model", anchor="terms", lead=text, cards=cards)]


def _dissection(dissection: Dissection) -> Card:
    titles = (
        "term", "what", "predicted", "measured", "90 % interval", "deviation",
        "transfer / exposed", "working set",
    )  # fmt: skip
    plural = "s" if dissection.threads > 1 else ""
    lead = (
        f"{moment(dissection.taken)}, {dissection.threads} thread{plural},"
        f" {dissection.rounds} rounds, {dissection.clock / 1e9:.3f} GHz"
    )
    blocks: list[frame.PageBlock] = [Paragraph("; ".join((lead, *dissection.notes)), quiet=True)]
    for sweep in dissection.sweeps:
        rows = [
            PageRow(
                cells=(
                    PageCell(text=line.name),
                    PageCell(text=line.what, note=line.note),
                    *plain(
                        *(line.predicted, line.measured, line.interval, line.deviation),
                        *(line.beyond, line.working_set),
                    ),
                )
            )
            for line in terms_text.lines(sweep)
        ]
        blocks.append(table(terms_text.title(sweep), titles, rows, right=2))
        if terms_text.furthest(sweep):
            blocks.append(Paragraph(terms_text.furthest(sweep), quiet=True))
    if dissection.kernels:
        kernels = [PageRow(cells=plain(*row)) for row in terms_text.kernels(dissection)]
        titles_of_kernels = ("kernel", "predicted", "measured", "deviation")
        blocks.append(table(f"In the {terms_text.REAL_STEP}", titles_of_kernels, kernels, right=1))
    return Card(title=dissection.id, blocks=tuple(blocks), wide=True)


def _machine(result: StudyEvaluation) -> PageSection:
    """The machine; its bandwidths where they were measured, or are missed by a model."""
    runs = result.study.runs
    machine = runs[-1].machine if runs else None
    if machine is None:
        text = "No run has been made, so no machine is known."
        return PageSection(title="The machine", anchor="machine", lead=text)
    modelled = any(row.predicted is not None for p in result.problems for row in p.rows)
    shown = machine_section(machine, bandwidths=modelled or machine.calibration is not None)
    return replace(shown, lead=result.warning(runs[-1]))


def machine_section(machine: Machine, *, bandwidths: bool = True) -> PageSection:
    """The figures of a machine with their sources, and its bandwidths."""
    rows = [
        PageRow(cells=plain(fact.name, fact_text(fact), fact.source))
        for fact in figure_records.facts(machine)
    ]
    listing = table("Figures that predictions use", ("figure", "value", "source"), rows, right=3)
    core = "none"
    if machine.in_core.osaca:
        nearest = " (the nearest architecture it knows)" if machine.in_core.approximate else ""
        core = f"OSACA {machine.in_core.osaca}{nearest}"
    elif machine.in_core.ports:
        core = "port table of the machine file"
    note = (
        f"In-core: {core}. An exposed share of 1 means that transfers do not overlap with work in"
        " L1, 0 that they overlap fully."
    )
    blocks = (listing, Paragraph(note, quiet=True))
    cards = [Card(title=machine.title or machine.name, blocks=blocks)]
    if bandwidths:
        cards.append(Card(title="Load bandwidth", blocks=_bandwidths(machine)))
    source = "calibrated" if machine.calibration else "documented"
    return PageSection(title=f"The machine as {source}", anchor="machine", cards=tuple(cards))


def _bandwidths(machine: Machine) -> tuple[frame.PageBlock, ...]:
    calibration = machine.calibration
    if calibration is None or not calibration.curves:
        text = (
            "Not calibrated: predictions rest on documented figures only. autotune machine"
            " calibrate measures them."
        )
        return (Paragraph(text),)
    caption = (
        f"Measured with our own loops, {moment(calibration.taken)}, {calibration.compiler},"
        f" priority: {calibration.priority}, {number_words.seconds(calibration.seconds)}; clock"
        f" spread {number_words.percent(calibration.clock_spread)}. Bars: interquartile range."
        " Dashed: cache sizes."
    )
    figure: PageFigure = study_plots.bandwidths(figure_records.bandwidths(machine), caption)
    if not calibration.contended:
        return (figure,)
    return (figure, Paragraph("Other processes took the cores while it was measured."))


def _conditions(study: StudyRecord) -> PageSection:
    """Runs, compilers, configuration."""
    titles = (
        "run", "state", "begun", "ended", "candidates", "samples", "disturbed",
        "seconds per phase", "conditions",
    )  # fmt: skip
    rows = [_run_row(run) for run in study.runs]
    runs = table("Every run of the study", titles, rows, right=len(titles))
    text = "Samples of different runs never enter one statistic."
    last = study.runs[-1].versions if study.runs else {}
    versions = {name: version for name, version in last.items() if version}
    blocks: list[frame.PageBlock] = [runs if rows else Paragraph("No run yet.")]
    blocks += [Paragraph(text, quiet=True)] if len(rows) > 1 else []
    blocks += [Definitions(tuple(versions.items()))] if versions else []
    blocks += [
        Disclosure(
            f"Built with {build.get('compiler', '')} {build.get('version', '')}",
            (Definitions(tuple(build.items())),),
        )
        for build in _compilers(study.runs)
    ]
    blocks.append(Disclosure("Configuration", (Listing(study.setup_text, copied=True),)))
    card = Card(title="Runs", blocks=tuple(blocks), wide=True)
    return PageSection(title="Conditions and provenance", anchor="conditions", cards=(card,))


def _run_row(run: RunRecord) -> PageRow:
    undisturbed, disturbed, tried = _counts(run)
    phases = ", ".join(f"{name} {value:.1f}" for name, value in run.timings.items())
    conditions = ", ".join(
        f"{name}: {value}" for name, value in run.conditions.items() if name != CUT
    )
    cells = (
        PageCell(text=run.id, note=f"machine {run.machine_identity}"),
        *plain(
            *(run.state, moment(run.started), moment(run.ended)),
            *(str(tried), str(undisturbed), str(disturbed), phases, conditions),
        ),
    )
    return PageRow(cells=cells)


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
