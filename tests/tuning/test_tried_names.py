"""Names in the progress of a study: of two candidates never the same."""

from dataclasses import replace

from fake_host import Host, InOrder, Notebook, bench, candidate, first_of, prediction

from autotune.commands import live
from autotune.domain.ranking import rank
from autotune.domain.setup import Measuring
from autotune.domain.variant import Build, Candidate, ExecutionLayout, Value, Variant
from autotune.tuning import Event, Task, TuningPlan, tune_problems
from autotune.tuning.tried_names import TriedNames

O2 = Build(compiler="gcc", flags=("-O2",))
TWO = ExecutionLayout(threads=2)


def test_threads_and_builds_are_named_where_they_differ() -> None:
    plain = candidate(1)
    assert TriedNames.among([plain, candidate(2)]).name(plain) == "pad1"
    threads = TriedNames.among([plain, replace(plain, layout=TWO)])
    assert threads.name(plain) == "pad1, 1 thread"
    both = TriedNames.among([plain, replace(plain, layout=TWO, build=O2)])
    assert both.name(replace(plain, layout=TWO, build=O2)) == "pad1, 2 threads [gcc -O2]"


def test_labels_that_lack_values_or_are_alike_have_digits() -> None:
    def varied(parameters: dict[str, Value]) -> Candidate:
        variant = Variant(skeleton="pirk", transformations=(), parameters=parameters)
        return replace(candidate(0), variant=variant)

    def flagged(last: str) -> Candidate:
        return varied({f"-fsome-long-option-{k}": True for k in range(12)} | {"last": last})

    first, second = flagged("a"), flagged("b")
    assert first.variant.label == second.variant.label
    names = TriedNames(layouts=True, builds=False)
    label, ending = first.variant.label, ", 1 thread"
    assert names.name(first) == f"{label}:{first.identity[:4]}{ending}"
    assert names.name(second) == f"{label}:{second.identity[:4]}{ending}"
    number, text = varied({"a": 4}), varied({"a": "a4"})
    assert names.name(number) == "a4, 1 thread"
    assert names.name(text) == f"a4:{text.identity[:4]}, 1 thread"


def test_the_lines_of_a_study_name_the_timed_one_and_the_best_differently() -> None:
    """Three candidates of the same parameters."""
    several = [candidate(1), replace(candidate(1), layout=TWO), replace(candidate(1), build=O2)]
    (ranked,) = rank(several, [prediction(seconds) for seconds in (1.0, 2.0, 3.0)])
    first = first_of(ranked, 1)
    seen: list[Event] = []
    task = Task(ranking=ranked, first=first, baseline=first[0].candidate.identity)
    kept = replace(bench(Host({1: 1.0}), Notebook()), watcher=seen.append)
    plan = TuningPlan(measuring=Measuring(rounds=3, samples=2))
    tune_problems([task], InOrder([ranked]), kept, plan)
    timed = [event for event in seen if event.notice.kind == "timed" and event.standing.best]
    names = {event.notice.candidate.identity: event.name for event in timed}
    assert len(set(names.values())) == 3
    for event in timed:
        best = event.standing.best
        assert (event.name == best.name) == (event.notice.candidate == best.candidate)
        assert live.event_text(event).startswith(f"{event.name}: ")
        assert f"best so far {best.name} " in live.summary(event)
        assert best.name in live.cells(event.standing)
