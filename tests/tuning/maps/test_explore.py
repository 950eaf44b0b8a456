"""Maps of made truths: the bounds hold, few measurements suffice, and they are at the borders."""

import dataclasses

import made_maps
import numpy as np
import pytest

from autotune.tuning.maps import losses
from autotune.tuning.maps.explore import Aim, Explorer
from autotune.tuning.maps.map_prior import Cells, MapPrior

SEEDS = range(20, 24)


@pytest.fixture(scope="module")
def many() -> list[tuple[made_maps.Truth, Explorer, float]]:
    """Made truths, their maps after 32 measurements, and the loss of the predictions alone."""
    found = []
    for seed in SEEDS:
        made = made_maps.truth(seed)
        before = float(made.loss(Explorer(made.prior, Aim(seed=seed))).mean())
        found.append((made, made_maps.explored(made, 32, Aim(seed=seed))[0], before))
    return found


def test_the_bound_of_a_cell_holds_as_often_as_it_says(
    many: list[tuple[made_maps.Truth, Explorer, float]],
) -> None:
    held = [made.loss(one) <= one.bounds + 1e-12 for made, one, _ in many]
    assert np.mean(held) > 0.9, "the level is 95 %; cells of one truth are not independent"


def test_the_bound_of_the_mean_holds(
    many: list[tuple[made_maps.Truth, Explorer, float]],
) -> None:
    held = []
    for made, one, _ in many:
        whole = losses.summary(one.verdict.losses, one.aim.level)
        held.append(made.loss(one).mean() <= whole.mean_bound)
    assert sum(held) >= len(held) - 1


def test_the_bound_says_something(
    many: list[tuple[made_maps.Truth, Explorer, float]],
) -> None:
    """It is not held by being huge."""
    bounds = np.mean([one.bounds.mean() for _, one, _ in many])
    starts = np.mean([before for _, _, before in many])
    assert bounds < starts


def test_few_measurements_take_most_of_the_loss_away(
    many: list[tuple[made_maps.Truth, Explorer, float]],
) -> None:
    after = np.mean([made.loss(one).mean() for made, one, _ in many])
    before = np.mean([start for _, _, start in many])
    share = np.mean([len(one.seen) / made.prior.legal.sum() for made, one, _ in many])
    assert share < 0.37
    assert after < 0.2 * before


def test_random_cells_and_contenders_are_not_as_good(
    many: list[tuple[made_maps.Truth, Explorer, float]],
) -> None:
    after = []
    for made, one, _ in many[:2]:
        other = made_maps.truth(SEEDS[len(after)])
        explorer = Explorer(other.prior, one.aim)
        chance = np.random.default_rng(5)
        seen = []
        for number in range(9):
            cell = int(chance.integers(len(other.prior.cells)))
            legal = np.flatnonzero(other.prior.legal[:, cell])
            four = chance.choice(legal, min(4, len(legal)), replace=False)
            visit = made_maps.Visit(cell, tuple(four.tolist()), 0.0)
            seen += other.measure(visit, number)
        explorer.tell(seen)
        after.append((other.loss(explorer).mean(), made.loss(one).mean()))
    random, chosen = np.mean(after, axis=0)
    assert chosen < random


def crossing(offset: float) -> MapPrior:
    """Two contenders whose times cross between 64 and 4096, and eight slow ones."""
    cells = Cells(sizes=tuple(2**k for k in range(6, 13)), threads=(1,))
    octaves, _ = cells.octaves
    slow = np.repeat((octaves + 3.0)[None], 8, axis=0)
    mean = np.concatenate([[octaves], [octaves + 0.3 * (9 - octaves) + offset], slow])
    shape = mean.shape
    return MapPrior(
        cells=cells,
        mean=mean,
        shifts=np.zeros((*shape, 0)),
        independent=np.full(shape, 0.1),
        traits=np.eye(10),
        legal=np.ones(shape, dtype=bool),
        twin=np.repeat(np.arange(10)[:, None], shape[1], axis=1),
        predicted=True,
    )


def test_it_is_measured_at_the_border_and_only_those_who_may_win() -> None:
    prior = crossing(0.0)
    made = made_maps.Truth(prior, prior.mean, np.random.default_rng(1))
    _, visits = made_maps.explored(made, 12)
    assert visits
    assert all(set(visit.contenders) <= {0, 1} for visit in visits), "the slow ones never win"
    assert all(2 <= visit.cell <= 4 for visit in visits), "2^8 to 2^10: the border is at 2^9"


def test_where_the_winner_is_clear_nothing_is_measured() -> None:
    prior = crossing(0.0)
    sure = dataclasses.replace(prior, independent=np.full(prior.mean.shape, 0.02))
    shifted = dataclasses.replace(sure, mean=sure.mean + np.array([[0.0], [3.0], *[[2.0]] * 8]))
    made = made_maps.Truth(shifted, shifted.mean, np.random.default_rng(1))
    explorer, visits = made_maps.explored(made, 12)
    assert [visit.contenders[0] for visit in visits] == [0], "but for the winner itself, once"
    assert "below 5 %" in str(explorer.ask())


def test_it_ends_when_nothing_more_is_gained() -> None:
    made = made_maps.truth(41, contenders=3, sizes=4, threads=(1,), error=0.1)
    explorer, _ = made_maps.explored(made, 400)
    assert len(explorer.seen) < 400
    assert isinstance(explorer.ask(), str)


def test_who_wins_was_measured() -> None:
    made = made_maps.truth(41, contenders=3, sizes=4, threads=(1,), error=0.1)
    explorer, _ = made_maps.explored(made, 400)
    assert set(explorer.verdict.winner.tolist()) <= {seen.contender for seen in explorer.seen}


def test_a_contender_that_fails_wins_nowhere() -> None:
    explorer = Explorer(crossing(0.0), Aim())
    explorer.tell([], [(0, None)])
    assert set(explorer.verdict.winner.tolist()) == {1}
    explorer.tell([], [(1, 3)])
    assert explorer.verdict.winner[3] not in (0, 1)
    assert explorer.verdict.winner[2] == 1


def test_a_cell_names_somebody_even_where_all_fail() -> None:
    explorer = Explorer(crossing(0.0), Aim())
    explorer.tell([], [(k, None) for k in range(10)])
    assert explorer.legal.sum(axis=0).min() == 1


def test_what_is_blocked_is_not_asked_for() -> None:
    explorer = Explorer(crossing(0.0), Aim())
    first = explorer.ask()
    assert not isinstance(first, str)
    explorer.blocked[:, first.cell] = True
    second = explorer.ask()
    assert isinstance(second, str) or second.cell != first.cell


def test_without_a_model_the_order_is_learned_from_times() -> None:
    made = made_maps.truth(7, contenders=5, sizes=5, threads=(1,), model=False)
    start = float(made.loss(Explorer(made.prior, Aim())).mean())
    explorer, _ = made_maps.explored(made, 16)
    assert made.loss(explorer).mean() < 0.5 * start


@pytest.mark.parametrize("wrong", [{"tolerance": 0.0}, {"level": 1.0}, {"together": 1}])
def test_a_wrong_aim(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"tolerance|level|visit"):
        Aim(**wrong)  # type: ignore[arg-type]
