"""Selection: predicted best, baseline, random from the rest."""

import re
from dataclasses import replace

import fabricated as fake
import pytest

from autotune.domain.ranking import Ranked, Ranking, rank
from autotune.domain.results import Uncertainty
from autotune.domain.setup import Selection
from autotune.domain.variant import ExecutionLayout
from autotune.results.report import words
from autotune.tuning import Chosen, first_candidates


def ranking(count: int = 12, unknown: int = 0) -> Ranking:
    """Places 1 .. count - unknown predicted; padding numbers the candidates."""
    entries = []
    for place in range(1, count + 1):
        known = place <= count - unknown
        one = fake.candidate("jli", pad=place)
        prediction = fake.prediction(place * 1e-3 if known else None, reason="no loop")
        entries.append(Ranked(place if known else None, one, prediction))
    return Ranking(fake.problem(), tuple(entries), "reuse")


def pads(picks: list[Chosen]) -> list[object]:
    return [pick.candidate.variant.parameters["pad"] for pick in picks]


def test_top_baseline_random():
    ranked = ranking()
    baseline = ranked.entries[8].candidate.identity
    picks = first_candidates.choose(ranked, Selection(top=3, random=2, seed=1), baseline)
    assert pads(picks)[:4] == [1, 2, 3, 9]
    assert len(set(pads(picks))) == 6
    assert picks[0].why == "predicted place 1 of 12"
    assert picks[3].why == "the baseline"
    assert picks[4].why == "drawn at random from the other 8"


def test_baseline_among_the_top_is_taken_once():
    ranked = ranking()
    picks = first_candidates.choose(
        ranked, Selection(top=2, random=0), ranked.entries[1].candidate.identity
    )
    assert [pick.why for pick in picks] == [
        "predicted place 1 of 12",
        "predicted place 2 of 12; the baseline",
    ]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_fewer_candidates_than_asked(count):
    picks = first_candidates.choose(ranking(count), Selection(top=5, random=4))
    assert sorted(pads(picks)) == list(range(1, count + 1))


def test_unpredicted_candidates_are_only_drawn():
    picks = first_candidates.choose(ranking(4, unknown=3), Selection(top=3, random=2))
    assert pads(picks)[0] == 1
    assert len(picks) == 3
    assert all("random" in pick.why for pick in picks[1:])


def test_the_draw_depends_on_the_seed_not_on_the_order():
    ranked = ranking(40)
    turned = Ranking(ranked.problem, tuple(reversed(ranked.entries)), ranked.engine)
    asked = Selection(top=3, random=5, seed=4)
    assert pads(first_candidates.choose(ranked, asked)) == pads(
        first_candidates.choose(turned, asked)
    )
    others = {
        tuple(pads(first_candidates.choose(ranked, Selection(top=3, seed=k)))) for k in range(8)
    }
    assert len(others) > 1


def test_unknown_baseline():
    with pytest.raises(ValueError, match="not among"):
        first_candidates.choose(ranking(), Selection(), "0" * 12)


def test_no_baseline_wanted():
    ranked = ranking()
    picks = first_candidates.choose(ranked, Selection(top=1, random=0, baseline=False), "0" * 12)
    assert pads(picks) == [1]


def test_the_best_with_one_thread_is_among_the_first():
    layouts = [ExecutionLayout(threads=2)] * 4 + [ExecutionLayout()] * 4
    entries = [
        replace(entry, candidate=replace(entry.candidate, layout=layout))
        for entry, layout in zip(ranking(8).entries, layouts, strict=True)
    ]
    ranked = replace(ranking(8), entries=tuple(entries))
    picks = first_candidates.choose(ranked, Selection(top=3, random=0))
    assert pads(picks) == [1, 2, 5]
    assert picks[2].why == "predicted place 5 of 8, the best with one thread"
    alone = first_candidates.choose(ranked, Selection(top=1, random=0))
    assert pads(alone) == [1]
    both = first_candidates.choose(ranked, Selection(top=6, random=0))
    assert pads(both) == [1, 2, 3, 4, 5, 6]


def test_without_predictions_the_baseline_with_one_thread_is_among_the_first():
    layouts = [ExecutionLayout(threads=2)] * 6 + [ExecutionLayout()] * 6
    twins = [fake.candidate("jli", pad=place) for place in range(1, 7)] * 2
    entries = tuple(
        Ranked(None, replace(twin, layout=layout), fake.prediction(None, reason="no model"))
        for twin, layout in zip(twins, layouts, strict=True)
    )
    ranked = Ranking(fake.problem(), entries, "none")
    baseline = entries[2].candidate.identity
    picks = first_candidates.choose(ranked, Selection(top=3, random=2), baseline)
    assert [pick.why for pick in picks[:2]] == ["the baseline", "the baseline with one thread"]
    assert picks[1].candidate == entries[8].candidate
    assert len(picks) == 3
    alone = first_candidates.choose(ranked, Selection(top=3, random=2), picks[1].candidate.identity)
    assert "the baseline with one thread" not in [pick.why for pick in alone]


def test_everything():
    assert pads(first_candidates.everything(ranking(4, unknown=1))) == [1, 2, 3, 4]


# --- candidates that are not told apart ---------------------------------------------------------


def unsure(*told: tuple[float, float, dict[str, float]]) -> Ranking:
    """Candidates by (seconds, own, shared), padding numbers them."""
    candidates = [fake.candidate("jli", pad=k) for k in range(1, len(told) + 1)]
    predictions = [
        replace(fake.prediction(seconds), uncertainty=Uncertainty(shared=shared, independent=own))
        for seconds, own, shared in told
    ]
    return rank(candidates, predictions)[0]


def test_told_apart_the_predicted_best_are_taken() -> None:
    sure = unsure(*((place * 1e-3, 0.01, {}) for place in range(1, 7)))
    assert pads(first_candidates.choose(sure, Selection(top=3, random=0))) == [1, 2, 3]


def test_of_those_not_told_apart_the_likely_fastest_are_taken() -> None:
    """The third is hardly slower, but sure to be so; the fourth may be far faster."""
    close = unsure(
        (1.0e-3, 0.02, {}), (1.02e-3, 0.02, {}), (1.021e-3, 0.001, {}), (1.05e-3, 0.3, {})
    )
    picks = first_candidates.choose(close, Selection(top=2, random=0))
    assert pads(picks) == [1, 4]
    assert "not told apart from 3 others" in picks[0].why
    assert re.search(
        r"first \(with [\d.]+ % the fastest of all, the places left out before it with [\d.]+ % at"
        r" most\)",
        picks[1].why,
    )
    assert words.shortly(picks[1].why) == "predicted place 4 of 4, not told apart from the first"
    more = first_candidates.choose(close, Selection(top=3, random=0))
    assert pads(more) == [1, 2, 4]
    assert "left out" not in more[1].why


def test_equal_predictions_count_once_as_long_as_there_are_others() -> None:
    same = (1.0e-3, 0.05, {"L3": 0.1})
    many = unsure(same, same, same, same, (1.01e-3, 0.05, {"L3": 0.1}), (1.02e-3, 0.05, {}))
    picks = first_candidates.choose(many, Selection(top=3, random=0))
    assert len([pick for pick in picks if pick.prediction.seconds == 1.0e-3]) == 1
    few = first_candidates.choose(many, Selection(top=5, random=0))
    assert len(few) == 5
    assert len([pick for pick in few if "as another one is" in pick.why]) == 2


def test_the_choice_does_not_depend_on_the_order() -> None:
    told = [(1e-3 * (1 + k / 100), 0.05, {"MEM": 0.1 * (k % 3)}) for k in range(12)]
    ranked = unsure(*told)
    turned = Ranking(ranked.problem, tuple(reversed(ranked.entries)), ranked.engine)
    asked = Selection(top=4, random=2)
    assert pads(first_candidates.choose(ranked, asked)) == pads(
        first_candidates.choose(turned, asked)
    )
    assert ranked.entries[0].candidate in [
        pick.candidate for pick in first_candidates.choose(ranked, asked)
    ]
