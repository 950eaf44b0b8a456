"""Which differences of a winner matter: found again where their effects are planted."""

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import fabricated
import pytest

from autotune.domain.results import Prediction, Prepared, Sample
from autotune.domain.setup import Measuring
from autotune.domain.variant import Candidate, Variant
from autotune.errors import WorkFailed
from autotune.measuring.candidates.base import Launch
from autotune.progress import silent
from autotune.tuning import Bench, TuningPlan
from autotune.tuning.base import NoJournal
from autotune.tuning.elimination import Elimination, Kept, Reduction

NAMES = tuple("abcdefgh")
NOISE = 0.002
UNPREDICTED = Prediction(seconds=None, interval=None, parts=(), engine="none", reason="-")


@dataclass
class PlantedMeasurer:
    """Times that are a function of the differences that a candidate has, with a little noise."""

    seconds: Callable[[Kept], float]
    same: Callable[[Kept], object] = lambda kept: kept
    """Candidates with equal values are the same program."""
    failing: Kept = frozenset()
    """Without one of these the build fails."""
    stop: int = 10**9
    """Ctrl-C comes after so many launches."""
    launched: list[Kept] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(3))

    def prepare(self, candidate: Candidate) -> Prepared:
        kept = kept_of(candidate)
        failed = kept and self.failing - kept
        return Prepared(
            candidate=candidate,
            status="build-failed" if failed else "ok",
            detail="no such flag" if failed else "",
            executes=str(hash(self.same(kept))),
        )

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
        kept = kept_of(prepared.candidate)
        if len(self.launched) >= self.stop:
            raise KeyboardInterrupt
        self.launched.append(kept)
        taken = self.seconds(kept) * math.exp(self.chance.gauss(0, NOISE))
        made = fabricated.sample(taken, round=round_number, launch=launch)
        on_sample(made)
        return Launch(status="ok", samples=(made,))


def candidate(kept: Kept) -> Candidate:
    variant = Variant(
        skeleton="planted", transformations=(), parameters={name: name in kept for name in NAMES}
    )
    return Candidate(variant=variant, problem=fabricated.problem())


def kept_of(made: Candidate) -> Kept:
    return frozenset(name for name, value in made.variant.parameters.items() if value)


def elimination(
    measurer: PlantedMeasurer,
    *,
    make: Callable[[Kept], Candidate | None] = candidate,
    rounds: int = 5,
    deadline: float = math.inf,
    **more: object,
) -> Elimination:
    bench = Bench(measurer=measurer, journal=NoJournal(), progress=silent)
    plan = TuningPlan(measuring=Measuring(rounds=rounds, samples=1), deadline=deadline)
    return Elimination(
        differences=NAMES,
        make=make,
        bench=bench,
        plan=plan,
        prediction_of=lambda _: UNPREDICTED,
        **more,  # type: ignore[arg-type]
    )


def reduced(measurer: PlantedMeasurer, **more: object) -> Reduction:
    session = elimination(measurer, **more)  # type: ignore[arg-type]
    session.run()
    return session.result()


def product(effects: Mapping[str, float]) -> Callable[[Kept], float]:
    """Each missing difference makes a candidate slower by a factor."""
    return lambda kept: 0.1 * math.prod(f for name, f in effects.items() if name not in kept)


def test_only_what_makes_the_winner_fast_is_kept() -> None:
    result = reduced(PlantedMeasurer(product({"b": 1.2, "e": 1.05})))
    assert result.kept == ("b", "e")
    assert [a.difference for a in result.ablations[:2]] == ["b", "e"]
    cost = result.ablations[0].cost
    assert cost is not None
    assert cost.low < 1.2 < cost.high
    assert result.winner_speed is not None
    assert result.reduced_speed is not None
    assert result.reduced_speed.ratio == pytest.approx(1.26, abs=0.01)
    assert result.winner_speed.ratio == pytest.approx(1.26, abs=0.01)
    assert result.reduced_cost is not None
    assert not result.reduced_cost.slower
    assert result.final
    assert not result.cut
    assert {a.difference for a in result.later} == {"b", "e"}


def test_a_difference_that_harms_is_dropped() -> None:
    result = reduced(PlantedMeasurer(product({"b": 1.2, "c": 0.93})))
    assert result.kept == ("b",)
    assert result.reduced_cost is not None
    assert result.reduced_cost.high < 1


def test_of_two_that_stand_in_for_one_another_one_is_kept() -> None:
    """Leaving out one of them costs nothing, leaving out both does."""

    def seconds(kept: Kept) -> float:
        return 0.1 if kept & {"b", "e"} else 0.13

    result = reduced(PlantedMeasurer(seconds))
    assert len(set(result.kept) & {"b", "e"}) == 1
    assert result.reduced_speed is not None
    assert result.reduced_speed.ratio == pytest.approx(1.3, abs=0.01)
    assert all(a.harmless for a in result.ablations)


def test_where_nothing_matters_the_baseline_is_left() -> None:
    result = reduced(PlantedMeasurer(lambda kept: 0.1))
    assert result.kept == ()
    assert result.reduced == result.baseline


def test_the_same_program_is_not_launched_for_a_difference_that_does_nothing() -> None:
    measurer = PlantedMeasurer(product({"b": 1.2}), same=lambda kept: "b" in kept)
    result = reduced(measurer)
    assert result.kept == ("b",)
    assert {a.fate for a in result.ablations if a.difference != "b"} == {"same program"}
    assert len(set(measurer.launched)) <= 3
    assert result.reduced_cost is None, "it is the winner's program"
    assert result.winner_speed is not None
    assert result.winner_speed == result.reduced_speed


def test_what_a_constraint_binds_together_is_left_out_together_or_not_at_all() -> None:
    """d is allowed only with b."""

    def make(kept: Kept) -> Candidate | None:
        return None if "d" in kept and "b" not in kept else candidate(kept)

    result = reduced(PlantedMeasurer(product({"d": 1.1})), make=make)
    assert set(result.kept) == {"b", "d"}
    assert {a.difference for a in result.ablations if a.fate == "forbidden"} == {"b"}


def test_what_fails_without_a_difference_keeps_it() -> None:
    result = reduced(PlantedMeasurer(product({"b": 1.2}), failing=frozenset("f")))
    assert "f" in result.kept
    (failed,) = [a for a in result.ablations if a.fate == "failed"]
    assert (failed.difference, failed.detail) == ("f", "build-failed: no such flag")


def test_only_the_first_are_left_out_one_by_one() -> None:
    result = reduced(PlantedMeasurer(product({"a": 1.2, "h": 1.2})), most=2)
    assert {a.difference for a in result.ablations} == {"a", "b"}
    assert set(result.kept) >= {"a", "h"}
    assert result.reduced_cost is not None
    assert not result.reduced_cost.slower


def test_after_an_interrupt_the_result_says_what_is_known() -> None:
    session = elimination(PlantedMeasurer(product({"b": 1.2}), stop=45))
    with pytest.raises(KeyboardInterrupt):
        session.run()
    result = session.result()
    assert result.cut == "it was interrupted"
    assert not result.final
    assert result.kept == NAMES, "nothing was dropped yet"
    assert {a.fate for a in result.ablations} == {"measured"}


def test_an_interrupt_before_the_first_launch_leaves_a_result_without_figures() -> None:
    session = elimination(PlantedMeasurer(product({}), stop=0))
    with pytest.raises(KeyboardInterrupt):
        session.run()
    result = session.result()
    assert result.reduced_speed is None
    assert {a.fate for a in result.ablations} == {"not measured"}


def test_without_time_nothing_is_dropped() -> None:
    session = elimination(PlantedMeasurer(product({})), deadline=time.monotonic() - 1)
    with pytest.raises(WorkFailed, match="no time was left"):
        session.run()


def test_a_winner_that_fails_is_no_result() -> None:
    session = elimination(PlantedMeasurer(product({}), failing=frozenset("z")))
    with pytest.raises(WorkFailed, match="has the status build-failed: no such flag"):
        session.run()
