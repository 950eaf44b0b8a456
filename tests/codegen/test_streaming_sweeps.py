"""Results of kernels over components stored past the caches: the same values, whole lines."""

import pytest
from codegen_build import Workshop, problem, reference, sources, state, variant

from autotune.codegen.tree.transform import IllegalTransformation
from autotune.domain.variant import (
    Align,
    Contract,
    Fuse,
    Hoist,
    Interchange,
    Jam,
    Pad,
    Pipeline,
    StreamStores,
    Transformation,
    Vectorize,
)
from autotune.measuring.verification import verify

STEPS = 3
STREAM = StreamStores("update")
JLI = Interchange("lc", ("j", "l", "i"))
FUSED = Fuse("approx", "update")
SIZES = {"heat2d": 23, "brusselator2d-mix": 15, "heat3d": 11, "flock": 101, "medakzo": 201}


def agrees(workshop: Workshop, ivp: str, *transformations: Transformation) -> None:
    at = problem(ivp, SIZES.get(ivp, 801))
    expected = reference(at, STEPS)
    fields = verify.fields(at.ivp, at.size)
    program = workshop.build(sources(variant(*transformations), at))
    for threads in (1, 3):
        verdict = verify.judge(state(program, at, threads, STEPS), expected, fields)
        assert verdict.status == "ok", f"{ivp} {threads}: {verdict.detail}"


@pytest.mark.parametrize(
    "ivp", ["heat2d", "heat3d", "wave1d", "string-mix", "fitzhugh-nagumo", "brusselator2d-mix"]
)
def test_results_agree_with_the_reference(ivp: str, workshop: Workshop) -> None:
    agrees(workshop, ivp, JLI, FUSED, Pipeline("k", 1000), STREAM)
    agrees(workshop, ivp, JLI, FUSED, Pipeline("k", 8), STREAM, Vectorize(4))
    agrees(workshop, ivp, JLI, FUSED, Pipeline("k", 64), Hoist("rhs_first", "l"), STREAM)


@pytest.mark.parametrize("ivp", ["heat2d", "heat3d", "wave1d"])
def test_fused_with_the_right_hand_side_they_agree(ivp: str, workshop: Workshop) -> None:
    agrees(workshop, ivp, JLI, FUSED, Pipeline("k", 8), Contract("F"), STREAM, Vectorize(4))
    once = (Contract("F"), Hoist("rhs_first", "l"))
    agrees(workshop, ivp, JLI, FUSED, Pipeline("k", 128), *once, STREAM, Align(8))


def test_pairs_that_are_written_out_have_no_whole_lines() -> None:
    fused = (JLI, FUSED, Pipeline("k", 64), Contract("F"), STREAM)
    with pytest.raises(IllegalTransformation, match="update are written out or hold sums"):
        sources(variant(*fused), problem("string-mix", 801))


@pytest.mark.parametrize("lines", [0, 5])
@pytest.mark.parametrize("ivp", ["inverterchain", "string-row"])
def test_any_padding_agrees(lines: int, ivp: str, workshop: Workshop) -> None:
    agrees(workshop, ivp, JLI, FUSED, Pipeline("k", 64), STREAM, Pad(lines))
    other = Interchange("lc", ("l", "i", "j"))
    agrees(workshop, ivp, other, FUSED, Pipeline("k", 64), STREAM, Pad(lines))


def test_whole_lines_are_stored_past_the_caches() -> None:
    fused = (JLI, FUSED, Pipeline("k", 64), Contract("F"), STREAM)
    units = sources(variant(*fused), problem("heat2d", 23))
    texts = {name: text for name, text in units.items() if "stream_line(" in text}
    assert texts
    assert all("_nt" in name and "STREAMED();" in text for name, text in texts.items())


@pytest.mark.parametrize(
    ("transformations", "reason"),
    [
        ((StreamStores("updat"),), "there is no sweep of updat"),
        ((JLI, StreamStores("lc")), "lc writes 4 rows at a time: one is stored past the caches"),
        (
            (Interchange("lc", ("l", "i", "j")), StreamStores("lc")),
            "lc reads the row that it writes: its lines are in the caches",
        ),
        (
            (Interchange("lc", ("l", "j", "i")), Pipeline("k", 64), StreamStores("lc")),
            "lc writes a window, which the next stage reads from the caches",
        ),
        (
            (Interchange("lc", ("l", "i", "j")), StreamStores("rhs"), Jam("rhs", "l", 2)),
            "rhs stores past the caches, one row at a time: jam it before",
        ),
        ((FUSED, STREAM), r"approx\+update reads the row that it writes"),
        ((JLI, FUSED, Pipeline("k", 64), STREAM, STREAM), "stores past the caches twice"),
    ],
)
def test_what_the_caches_must_keep_is_refused(
    transformations: tuple[Transformation, ...], reason: str
) -> None:
    with pytest.raises(IllegalTransformation, match=reason):
        sources(variant(*transformations), problem("heat2d", 23))
