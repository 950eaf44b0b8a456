"""Why one candidate is predicted as it is, and what makes another one slower."""

from collections.abc import Iterator, Sequence

from autotune.codegen.tree import loop_tree
from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.commands.options import DEFAULT_STORE
from autotune.commands.rank.measured_pairs import latest_pair
from autotune.commands.rank.ranked_space import RankedSpace, nearest_candidate
from autotune.domain.ranking import Ranked, Ranking
from autotune.domain.variant import Build, Candidate
from autotune.errors import Fault, InputError
from autotune.progress import Progress
from autotune.results.explanation import measured_words, pass_words, pipeline_words, reasons
from autotune.results.explanation.explained import (
    ExplainedCandidate,
    MeasuredPair,
    RankingExplanation,
)
from autotune.workloads.ivp.ivp_kind import ivp_problem
from autotune.workloads.stencil.stencil_kind import grid_problem


def explain(
    ranked: RankedSpace,
    name: str,
    against: str | None,
    progress: Progress,
    store: str = DEFAULT_STORE,
) -> list[RankingExplanation]:
    """Explanations of a candidate: one per problem that contains it and per engine.

    ``name`` and ``against`` are an id, an identity, a label, or the label of a variant, which
    selects the fastest candidate of the variant in every problem. An InputError for an unknown name
    suggests the nearest. ``store``: says what was measured of two candidates.
    """
    explained = []
    for engine in ranked.engines:
        rankings = [ranking for ranking in ranked.rankings if ranking.engine == engine]
        chosen = _named(rankings, name, "--why")
        others = _named(rankings, against, "--against") if against else []
        for ranking, entry in chosen:
            opponents = [e for r, e in others if r is ranking] or [e for _, e in others]
            if len(chosen) > 1 and others and ranking not in [r for r, _ in others]:
                continue
            if opponents:
                measured = latest_pair(ranked, ranking, (entry, opponents[0]), store)
                explained.append(_against(ranked, entry, opponents[0], measured, progress))
            else:
                explained.append(_alone(ranked, ranking, entry, progress))
    return explained


def _alone(
    ranked: RankedSpace, ranking: Ranking, entry: Ranked, progress: Progress
) -> RankingExplanation:
    explained = ExplainedCandidate(
        name=entry.candidate.variant.label,
        prediction=entry.prediction,
        loops=ranked.workload.loops(entry, ranked.machine, progress),
    )
    words = [*reasons.alone(explained), *_blocked_in_time(ranked, ranking, entry)]
    return RankingExplanation(
        chosen=entry, other=None, explained=explained, explained_other=None, words=tuple(words)
    )


def _blocked_in_time(ranked: RankedSpace, ranking: Ranking, entry: Ranked) -> Iterator[str]:
    """What blocking in time saves, and at which sizes; nothing for other candidates."""
    candidate = entry.candidate
    yield from pipeline_words.saved(ranking, entry, ranked.machine)
    if not pipeline_words.blocked(candidate):
        return
    program = SkeletonPrograms(ranked.workload.setup.skeleton)(candidate)
    if loop_tree.several_sweeps(program.body):
        grid = grid_problem(candidate.problem)
        sweeps = pass_words.PassSizes(program, grid, candidate.layout)
        yield from sweeps.in_words(ranked.machine)
    else:
        problem = ivp_problem(candidate.problem)
        sizes = pipeline_words.PipelineSizes(program, problem, candidate.layout)
        yield from sizes.in_words(ranked.machine)


def _against(
    ranked: RankedSpace,
    entry: Ranked,
    other: Ranked,
    measured: MeasuredPair | None,
    progress: Progress,
) -> RankingExplanation:
    first, second = names(entry.candidate, other.candidate)
    explained, beside = (
        ExplainedCandidate(
            name=name,
            prediction=ranked_entry.prediction,
            loops=ranked.workload.loops(ranked_entry, ranked.machine, progress),
        )
        for name, ranked_entry in ((first, entry), (second, other))
    )
    words = measured_words.sentences(measured, first, second) if measured else []
    return RankingExplanation(
        chosen=entry,
        other=other,
        explained=explained,
        explained_other=beside,
        words=(*words, *reasons.against(explained, beside)),
        measured=measured,
    )


def _named(rankings: Sequence[Ranking], name: str, option: str) -> list[tuple[Ranking, Ranked]]:
    """The candidates that a name selects: one by its own name, or the fastest per problem."""
    entries = [(ranking, entry) for ranking in rankings for entry in ranking.matching(name)]
    if entries and len({ranking.problem.key for ranking, _ in entries}) == len(entries):
        return entries
    per_problem = []
    for ranking in rankings:
        alike = ranking.matching(name) if "@" not in name else []
        if len({entry.candidate.variant.label for entry in alike}) == 1:
            per_problem.append((ranking, alike[0]))
    if per_problem:
        return per_problem
    ids = [entry.candidate.id for ranking in rankings for entry in ranking.entries]
    variants = {e.candidate.variant.label for ranking in rankings for e in ranking.entries}
    heads = {label.partition("-")[0] for label in variants}
    matching = ", ".join(entry.candidate.id for _, entry in entries[:3])
    raise InputError(
        Fault(
            where=option,
            found=f"{name!r} names {len(entries)} candidates" if entries else f"unknown {name!r}",
            expected="an id, an identity, a label or a variant, as rank prints them",
            hint=matching or nearest_candidate(name, [*heads, *variants, *ids]),
        )
    )


def names(first: Candidate, second: Candidate) -> tuple[str, str]:
    """Short names of two candidates that show how they differ."""
    labels = [first.variant.label, second.variant.label]
    for differs, text in (
        (
            first.problem.key != second.problem.key,
            lambda c: f" on {c.problem.label}",
        ),
        (
            (first.threads, first.ranks, first.nodes)
            != (second.threads, second.ranks, second.nodes),
            _layout,
        ),
        (first.communication != second.communication, lambda c: f", {c.communication}"),
        (first.build != second.build, lambda c: f" by {_build(c.build)}"),
    ):
        if differs:
            labels = [name + text(c) for name, c in zip(labels, (first, second), strict=True)]
    return labels[0], labels[1]


def _layout(candidate: Candidate) -> str:
    threads = f"{candidate.threads} thread{'s' if candidate.threads > 1 else ''}"
    if candidate.ranks == 1:
        return f" with {threads}"
    return f" with {candidate.ranks} rank{'s' if candidate.ranks > 1 else ''} x {threads}"


def _build(build: Build) -> str:
    return " ".join([build.compiler, *build.flags])
