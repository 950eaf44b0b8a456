"""Reasons in words: sweeps aligned by what they compute, the largest difference first."""

from dataclasses import replace

import pytest
from fabricated import candidate

from autotune.domain.ranking import Ranked, differences, roles
from autotune.domain.results import Part, Prediction, Uncertainty
from autotune.models.engines.base import CompiledSweep
from autotune.models.incore.base import InCoreResult
from autotune.results.explanation import text as explanation_text
from autotune.results.explanation.explained import ExplainedCandidate, RankingExplanation
from autotune.results.explanation.reasons import against, alone


def predicted(*parts: tuple[str, str, str, float, float], spread: float = 0.1) -> Prediction:
    """Parts as (sweep, kernel, kind, milliseconds, count); the sweeps and barriers add up."""
    made = tuple(
        Part(sweep=sweep, kernel=kernel, kind=kind, seconds=1e-3 * value, count=count)
        for sweep, kernel, kind, value, count in parts
    )
    total = sum(p.seconds for p in made if p.kind in ("sweep", "barrier"))
    return Prediction(
        seconds=total,
        interval=((1 - spread) * total, (1 + spread) * total),
        parts=made,
        engine="reuse",
        reason="as told",
    )


def loop(sweep: str, kernel: str, **changed: object) -> CompiledSweep:
    values: dict[str, object] = {
        "T_OL": 1.0,
        "T_nOL": 2.5,
        "chain": 0.0,
        "bottleneck": "port 5",
        "iterations": 8,
        "route": "osaca:ZEN4 (nearest)",
        "approximate": True,
        "vector": 64,
        "loads": 0.5,
        "stores": 0.125,
        "annotated": "vmovupd zmm0 | 0.5 |",
    }
    return CompiledSweep(sweep=sweep, kernel=kernel, result=InCoreResult(**(values | changed)))


SLOW = predicted(
    ("lc_i", "lc", "T_nOL", 0.20, 0),
    ("lc_i", "lc", "L2", 0.62, 12),
    ("lc_i", "lc", "sweep", 0.81, 0),
    ("rhs_first", "rhs", "T_OL", 0.3, 0),
    ("rhs_first", "rhs", "sweep", 0.3, 0),
    ("rhs_l", "rhs", "sweep", 0.2, 0),
    ("approx_j", "approx", "sweep", 0.05, 0),
    ("update_j", "update", "sweep", 0.02, 0),
    ("barrier", "", "barrier", 0.001, 0),
)
FAST = predicted(
    ("lc_jl", "lc", "T_nOL", 0.18, 0),
    ("lc_jl", "lc", "L2", 0.29, 8),
    ("lc_jl", "lc", "sweep", 0.31, 0),
    ("rhs_1", "rhs", "T_OL", 0.5, 0),
    ("rhs_1", "rhs", "sweep", 0.5, 0),
    ("approx_update_j", "approx+update", "sweep", 0.04, 0),
    ("barrier", "", "barrier", 0.001, 0),
)


def test_sweeps_of_other_names_are_compared_by_what_they_compute() -> None:
    found = {role.name: (role.first, role.second) for role in roles(SLOW, FAST)}
    assert {name: tuple(round(1e3 * v, 3) for v in pair) for name, pair in found.items()} == {
        "LC": (0.81, 0.31),
        "RHS": (0.5, 0.5),
        "APPROX+UPDATE": (0.07, 0.04),
    }
    first = differences(SLOW, FAST)[0]
    assert (first.sweep, first.kind) == ("LC", "sweep")


def test_forms_of_a_kernel_are_one() -> None:
    first = predicted(("f_0", "rhs_first", "sweep", 0.5, 0), ("lc_i", "lc", "sweep", 0.2, 0))
    second = predicted(("f_0", "rhs_first", "sweep", 0.1, 0), ("t_0", "rhs+lc", "sweep", 0.3, 0))
    assert [role.name for role in roles(first, second)] == ["LC+RHS"]


def test_stored_predictions_have_the_kernels_in_the_names_of_sweeps() -> None:
    old = [
        predicted(*((p.sweep, "", p.kind, 1e3 * p.seconds, 0) for p in each.parts))
        for each in (SLOW, FAST)
    ]
    assert [r.name for r in roles(*old)] == ["LC", "APPROX+UPDATE", "RHS"]


def test_the_largest_difference_is_told_first_with_its_cause() -> None:
    told = against(
        ExplainedCandidate(name="ijl", prediction=SLOW),
        ExplainedCandidate(name="jli", prediction=FAST),
    )
    assert told[0] == "Predicted: ijl is 1.62 x slower than jli (1.38 ms against 0.851 ms)."
    assert told[1] == (
        "LC takes 810 us against 310 us: it streams 12 rows from L2 (620 us) where jli streams 8"
        " (290 us)."
    )
    assert told[-1].startswith("Told apart")
    turned = against(
        ExplainedCandidate(name="jli", prediction=FAST),
        ExplainedCandidate(name="ijl", prediction=SLOW),
    )
    assert "1.62 x faster" in turned[0]


def test_arithmetic_that_transfers_hide_is_no_cause() -> None:
    """max(T_OL, T_nOL + levels): T_OL has the largest gap and adds nothing to 509 us."""
    slow = predicted(
        ("a", "K", "T_OL", 0.336, 0), ("a", "K", "T_nOL", 0.2, 0),
        ("a", "K", "L3", 0.309, 2), ("a", "K", "sweep", 0.509, 0),
    )  # fmt: skip
    fast = predicted(
        ("a", "K", "T_OL", 0.010, 0), ("a", "K", "T_nOL", 0.015, 0),
        ("a", "K", "L3", 0.0194, 2), ("a", "K", "sweep", 0.0344, 0),
    )  # fmt: skip
    told = against(
        ExplainedCandidate(name="x", prediction=slow),
        ExplainedCandidate(name="y", prediction=fast),
    )
    assert told[1] == (
        "K takes 509 us against 34.4 us: transfers from L3 take 309 us against 19.4 us; loads,"
        " stores and what shares their time take 200 us against 15 us; arithmetic in the core"
        " (336 us against 10 us) is hidden."
    )
    words = " ".join(alone(ExplainedCandidate(name="x", prediction=slow)))
    assert (
        "2 rows from L3 take 309 us, beside loads, stores and what shares their time 200 us"
        in words
    )
    assert "arithmetic 336 us is hidden" in words
    bound = predicted(
        ("a", "K", "T_OL", 0.9, 0), ("a", "K", "L3", 0.8, 2), ("a", "K", "sweep", 0.9, 0)
    )
    told = against(
        ExplainedCandidate(name="x", prediction=bound),
        ExplainedCandidate(name="y", prediction=fast),
    )
    assert "K takes 900 us against 34.4 us: arithmetic in the core takes 900 us" in told[1]
    assert "L3" not in told[1]


def test_entries_into_loops_are_no_level_of_memory() -> None:
    one = predicted(("a", "K", "sweep", 1.0, 0), ("a", "K", "entry", 0.9, 0))
    other = predicted(("a", "K", "sweep", 3.0, 0), ("a", "K", "entry", 2.9, 0))
    words = " ".join(
        against(
            ExplainedCandidate(name="x", prediction=one),
            ExplainedCandidate(name="y", prediction=other),
        )
    )
    assert "entries into loops" in words
    assert "from entry" not in words


CHAINED = {
    "T_nOL": 5.8, "bottleneck": "chain", "chain": 5.8, "loads": 4.9, "stores": 2.5,
    "chain_forwards": 1.0, "vector": 8, "unknown": ("vfoo",),
}  # fmt: skip
CROSSING = {"crossing": 0.5, "bottleneck": "port 5"}
MOVED, KEPT = ((0.1, 0.8, 0.8), (0.1, 0.4, 0.4)), ((0.8, 0.3, 0.8), (0.4, 0.3, 0.4))


@pytest.mark.parametrize(
    ("times", "changed", "told", "untold"),
    [
        (
            MOVED,
            CHAINED,
            (
                "loads, stores and what shares their time take 800 us against 400 us",
                "loop-carried chain of 5.8 cycles",
                "its loops go through 9.8 x the loads, 20 x the stores",
                "it has scalar code",
                "store forwarding",
                "vfoo",
            ),
            (),
        ),
        (KEPT, CROSSING, (), ("line-crossing vector loads",)),
        (((0.8, 0.3, 0.8), (0.4, 0.2, 0.4)), CROSSING, ("line-crossing vector loads",), ()),
        (KEPT, CROSSING | {"bottleneck": "window"}, ("line-crossing vector loads",), ()),
    ],
)
def test_differences_of_two_loops_are_told_where_they_take_time(
    times: tuple[tuple[float, ...], ...],
    changed: dict[str, object],
    told: tuple[str, ...],
    untold: tuple[str, ...],
) -> None:
    """``times``: T_OL, T_nOL and the whole of both, in ms; ``changed``: facts of the first loop."""
    pair = [
        ExplainedCandidate(
            name=sweep,
            prediction=predicted(
                *(
                    (sweep, "lc", kind, value, 0)
                    for kind, value in zip(("T_OL", "T_nOL", "sweep"), values, strict=True)
                )
            ),
            loops=(loop(sweep, "lc", **facts),),
        )
        for sweep, values, facts in zip(("lc_i", "lc_j"), times, (changed, {}), strict=True)
    ]
    text = " ".join(against(*pair))
    assert [words for words in told if words not in text] == []
    assert [words for words in untold if words in text] == []


def test_equal_times_overlapping_intervals_and_missing_times_are_said_plainly() -> None:
    near = predicted(("lc_i", "lc", "sweep", 1.0, 0)), predicted(("lc_j", "lc", "sweep", 1.002, 0))
    told = against(
        ExplainedCandidate(name="a", prediction=near[0]),
        ExplainedCandidate(name="b", prediction=near[1]),
    )
    assert "take the same time" in told[0]
    assert "Not told apart" in told[-1]
    none = Prediction(seconds=None, interval=None, parts=(), engine="reuse", reason="no loop found")
    assert against(
        ExplainedCandidate(name="a", prediction=none), ExplainedCandidate(name="b", prediction=SLOW)
    ) == ["a has no predicted time: no loop found."]
    assert alone(ExplainedCandidate(name="a", prediction=none)) == [
        "a has no predicted time: no loop found."
    ]


def test_a_set_conflict_of_one_of_them_is_told() -> None:
    crowd = "LC: 9 rows in one set of L1, which has 8 ways"
    noted = replace(SLOW, notes=("in-core by osaca:ZEN4", crowd))
    other = replace(FAST, notes=("in-core by osaca:ZEN4",))
    told = against(
        ExplainedCandidate(name="ijl", prediction=noted),
        ExplainedCandidate(name="jli", prediction=other),
    )
    assert f"Only of ijl: {crowd}." in told


def test_one_candidate_is_explained_with_its_doubts() -> None:
    doubt = Uncertainty(shared={"L2": 0.12, "core": 0.05, "barrier": 0.001}, independent=0.08)
    loops = (loop("rhs_first", "rhs", gathers=1.0),)
    one = ExplainedCandidate(name="ijl", prediction=replace(SLOW, uncertainty=doubt), loops=loops)
    text = " ".join(alone(one))
    assert "LC: 810 us, 59 %: 12 rows from L2 take 620 us" not in text
    assert "LC: 810 us" in text
    assert "12 rows from L2 take 620 us" in text
    assert "irregular loads (gathers)" in text
    assert (
        "unsure of lines from L2 (+- 12 %), what the model leaves out of this one (+- 8 %)" in text
    )
    assert "the in-core times (+- 5 %)." in text


@pytest.mark.parametrize(("own", "word"), [(0.05, "Told apart: 99.9 %"), (0.5, "Not told apart")])
def test_what_both_are_wrong_about_alike_does_not_hide_a_difference(own: float, word: str) -> None:
    doubt = Uncertainty(shared={"MEM": 0.6, "L2": 0.1}, independent=own)
    slow, fast = (replace(each, uncertainty=doubt) for each in (SLOW, FAST))
    told = against(
        ExplainedCandidate(name="ijl", prediction=slow),
        ExplainedCandidate(name="jli", prediction=fast),
    )
    assert told[-1].startswith(word)
    assert f"their ratio to +- {100 * own * 2**0.5:.0f} %" in told[-1]


def test_loops_that_differ_in_their_names_alone_are_one_row() -> None:
    loops = (*(loop(f"lc_{i}", "lc") for i in range(12)), loop("rhs_0", "rhs", T_OL=9.0))
    chosen = Ranked(1, candidate("ijl"), SLOW)
    told = ExplainedCandidate(name="ijl", prediction=SLOW, loops=loops)
    each = RankingExplanation(
        chosen=chosen, other=None, explained=told, explained_other=None, words=()
    )
    text = explanation_text.explained(each)
    assert "lc_0 and 11 alike" in text
    assert "lc_1 " not in text
    assert text.count("osaca:ZEN4") == 2


def test_text_fits_and_shows_parts_loops_and_assembly() -> None:
    pair = [
        Ranked(rank + 1, candidate(order), prediction)
        for rank, (order, prediction) in enumerate((("ijl", SLOW), ("jli", FAST)))
    ]
    told = [
        ExplainedCandidate(name=order, prediction=prediction, loops=(loop(f"lc_{order}", "lc"),))
        for order, prediction in (("ijl", SLOW), ("jli", FAST))
    ]
    words = tuple(against(*told))
    each = RankingExplanation(
        chosen=pair[0], other=pair[1], explained=told[0], explained_other=told[1], words=words
    )
    text = explanation_text.explained(each)
    assert max(map(len, text.splitlines())) <= 110
    assert "12 against 8" in text
    assert "osaca:ZEN4 (nearest)" in text
    assert "vmovupd" not in text
    assert "vmovupd" in explanation_text.explained(each, assembly=True)
