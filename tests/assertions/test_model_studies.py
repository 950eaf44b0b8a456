"""Scaling, sensitivity, message sizes, time and residuals of models."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from assertion_records import counted, rank_record, variable

from autotune.assertions.modelling import parsed_model
from autotune.assertions.modelling.binding import bind
from autotune.assertions.modelling.studies.elasticities import elasticities
from autotune.assertions.modelling.studies.message_sizes import half_size, message_sizes
from autotune.assertions.modelling.studies.predicted_time import node_rates, predicted_time
from autotune.assertions.modelling.studies.residual_fit import residual_fits
from autotune.assertions.modelling.studies.scaling_study import scaling_study
from autotune.assertions.modelling.studies.variance_shares import drawn_range, variance_shares
from autotune.assertions.modelling.tree_walk import rank_counts
from autotune.domain.assertion_model import AssertionModel, ModelNode
from autotune.domain.assertion_record import AssertionRecord, NamedVariable
from autotune.domain.cost_curve import CostCurve, Segment
from autotune.errors import InputError
from autotune.files import config
from autotune.units import Bytes, BytesPerSecond, Seconds

MODELS = Path(__file__).parents[2] / "examples" / "assertions" / "models"
CG = parsed_model.load(MODELS / "cg.json")
SP = parsed_model.load(MODELS / "sp.json")
CLASS_C = {"na": 150000, "nonzer": 15, "niter": 75}


def test_strong_scaling_is_the_sum_and_the_most_over_ranks() -> None:
    points = scaling_study(CG, CLASS_C, {"nprocs": (4, 64, 512)})
    assert [point.ranks for point in points] == [4, 64, 512]
    for point in points:
        binding = bind(CG, {**CLASS_C, "nprocs": point.ranks})
        flops = [rank_counts(binding, rank)["flops"] for rank in range(point.ranks)]
        total = point.total("flops")
        assert total.everywhere == sum(flops)
        assert (total.most, total.busiest) == (max(flops), 0)
        assert point.total("messages").most == 76 * (
            79 * math.ceil(math.log2(point.ranks) / 2) + 26
        )
    (sp,) = scaling_study(SP, {"problem_size": 13}, {"nprocs": (9,)})
    volumes = [
        rank_counts(bind(SP, {"problem_size": 13, "nprocs": 9}), r)["volume"] for r in range(9)
    ]
    assert (sp.total("volume").least, sp.total("volume").most) == (min(volumes), max(volumes))


def test_weak_scaling_grows_with_the_ranks() -> None:
    points = scaling_study(CG, {}, {"nprocs": (4, 16, 64)}, ["na"])
    assert [point.values["na"] for point in points] == [1400, 5600, 22400]
    most = [point.total("flops").most for point in points]
    assert 1 < most[1] / most[0] < most[2] / most[0] < 2


def test_invalid_numbers_of_ranks_are_refused_with_valid_ones() -> None:
    with pytest.raises(InputError) as error:
        scaling_study(SP, {}, {"nprocs": (4, 10, 48)})
    assert [fault.hint for fault in error.value.faults] == [
        "nearest valid nprocs: 9, 16", "nearest valid nprocs: 36, 49",
    ]  # fmt: skip
    with pytest.raises(InputError, match="did you mean nprocs"):
        scaling_study(SP, {}, {"nproc": (4,)})


def test_elasticities_of_conjugate_gradients() -> None:
    """Section 4.2 of the paper: flops follow nonzer most, the message volume does not at all."""
    found = {(e.variable, e.metric): e for e in elasticities(bind(CG, {**CLASS_C, "nprocs": 16}))}
    assert found["na", "flops"].elasticity == pytest.approx(1, abs=0.01)
    assert found["nonzer", "flops"].elasticity > 1.6
    assert found["nonzer", "volume"].elasticity == 0
    assert found["na", "flops"].growth[0].ratio == pytest.approx(2, rel=0.01)
    alone = {(e.variable, e.metric): e for e in elasticities(bind(CG, {**CLASS_C, "nprocs": 1}))}
    doubled = alone["nonzer", "flops"].growth[0]
    assert (doubled.factor, doubled.ratio) == (2, pytest.approx(3.8, abs=0.1))
    ends = found["nprocs", "messages"]
    assert (ends.low, ends.high) == (8, 32)
    assert not any(e.metric == "loads" for e in found.values())


def power_model(formula: str) -> parsed_model.ParsedModel:
    names = ("a", "b")
    return parsed_model.parse(
        AssertionModel(
            name="m",
            variables=tuple(NamedVariable(name=name) for name in names),
            values={"a": 4.5, "b": 2.5, "nprocs": 1},
            nodes=(ModelNode(kind="flop", name="f", expression=formula),),
        )
    )


def test_elasticities_of_a_power_are_its_exponents() -> None:
    found = {e.variable: e.elasticity for e in elasticities(bind(power_model("a**3/sqrt(b)"), {}))}
    assert found == {"a": pytest.approx(3), "b": pytest.approx(-0.5), "nprocs": pytest.approx(0)}


def test_sobol_indices_of_a_sum_are_the_shares_of_its_variance() -> None:
    model = power_model("a + 2*b")
    ranges = tuple(drawn_range(model, name, 1.5, 0, 1) for name in ("a", "b"))
    shares = variance_shares(bind(model, {}), "flops", ranges, samples=1024)
    assert [share.variable for share in shares] == ["b", "a"]
    assert [share.total for share in shares] == [pytest.approx(x, abs=0.03) for x in (0.8, 0.2)]
    assert [s.first_order for s in shares] == [pytest.approx(x, abs=0.03) for x in (0.8, 0.2)]


def test_ranges_hold_valid_values_only() -> None:
    drawn = drawn_range(CG, "nprocs", 4, 3, 70)
    assert drawn.choices == (4, 8, 16, 32, 64)
    assert {drawn.at(share) for share in (0, 0.3, 0.999999, 1)} == {4, 8, 64}
    assert drawn_range(SP, "nprocs", 4, 2, 30).choices == (4, 9, 16, 25)
    many = drawn_range(CG, "na", 1400, 1400, 150000)
    assert len(many.choices) <= 4097
    assert many.ends[1] > 149900
    with pytest.raises(InputError, match="fewer than two valid values"):
        drawn_range(CG, "nprocs", 4, 5, 7)
    ranges = (drawn_range(SP, "problem_size", 12, 1, 40), drawn_range(SP, "nprocs", 4, 1, 100))
    with pytest.raises(InputError, match="narrow the ranges"):
        variance_shares(bind(SP, {}), "flops", ranges, samples=16)
    with pytest.raises(InputError, match="a power of two"):
        variance_shares(bind(CG, {}), "flops", (many,), samples=100)
    with pytest.raises(InputError, match="1 input; expected two or more"):
        variance_shares(bind(CG, {}), "flops", (many,), samples=64)


def curve(*segments: tuple[float, float, float | None]) -> CostCurve:
    return CostCurve(
        operation="pingpong", benchmark="autotune", nodes=2, ranks=2,
        segments=tuple(
            Segment(lower=Bytes(int(a)), latency=Seconds(b), bandwidth=c and BytesPerSecond(c))
            for a, b, c in segments
        ),
        measured=(Bytes(1), Bytes(1 << 20)),
    )  # fmt: skip


def test_half_of_the_bandwidth_is_reached_at_latency_times_bandwidth() -> None:
    assert half_size(curve((0, 2e-6, 1e9))) == pytest.approx(2000)
    two = curve((0, 1e-6, 1e9), (8192, 5e-6, 2e9))
    size = half_size(two)
    assert size / two.at(size) == pytest.approx(1e9, rel=1e-6)
    assert half_size(curve((0, 2e-6, None))) == math.inf


def test_sizes_add_up() -> None:
    binding = bind(SP, {"nprocs": 16})
    distribution = message_sizes(binding)
    counts = [rank_counts(binding, rank) for rank in range(16)]
    assert distribution.messages == sum(count["messages"] for count in counts)
    assert distribution.volume == sum(count["volume"] for count in counts)
    assert distribution.sizes[-1].cumulative_messages == pytest.approx(1)
    assert {share.bound for share in distribution.sizes} == {""}
    assert distribution.half_size is None


def test_the_time_of_a_rank_is_its_messages_and_its_roofline() -> None:
    machine = config.machine("power4-1.3")
    binding = bind(CG, {"na": 14000, "nprocs": 64})
    rates = node_rates(machine, 32)
    assert rates.peak == pytest.approx(4 * 1.3e9)
    assert rates.bandwidth == pytest.approx(4 * 14e9 / 32)
    predicted = predicted_time(binding, machine, 2, rates)
    counts = rank_counts(binding, predicted.rank)
    messages = sum(n * (7e-6 + s / 1.4e9) for s, n in counts.sizes("send").items())
    assert predicted.communication == pytest.approx(messages)
    assert predicted.arithmetic == pytest.approx(float(counts["flops"]) / rates.peak)
    assert predicted.seconds == pytest.approx(predicted.communication + predicted.arithmetic)
    assert predicted.low < predicted.seconds < predicted.high
    given = node_rates(machine, 32, peak=1e9, bandwidth=1e9)
    assert given.sources[0] == "peak 1 GFlop/s as given"
    with pytest.raises(InputError, match="a divisor of the ranks"):
        predicted_time(binding, machine, 3, rates)
    with pytest.raises(InputError, match="has no ping-pong curve within a node"):
        predicted_time(binding, machine, 1, rates)
    with pytest.raises(InputError, match="has no network"):
        predicted_time(binding, replace(machine, network=None), 2, rates)


def test_collectives_and_memory_have_a_time() -> None:
    nodes = (
        ModelNode(kind="coll", name="c", expression="8", operation="allreduce"),
        ModelNode(kind="load", name="l", expression="1000000"),
        ModelNode(kind="store", name="s", expression="500000"),
        ModelNode(kind="coll", name="b", operation="barrier"),
    )
    model = parsed_model.parse(AssertionModel(name="m", values={"nprocs": 8}, nodes=nodes))
    machine = config.machine("power4-1.3")
    predicted = predicted_time(bind(model, {}), machine, 4, node_rates(machine, 2))
    assert predicted.memory == pytest.approx(1.5e6 / 2.3e9)
    assert predicted.seconds == pytest.approx(predicted.memory + predicted.communication)
    three = 3 * (7e-6 + 8 / 1.4e9)
    terms = {term.operation: term.seconds for term in predicted.terms}
    assert terms["allreduce"] == pytest.approx(three)
    assert terms["barrier"] > 0
    assert any("3 messages of a ping-pong" in note for note in predicted.notes)
    alone = predicted_time(bind(model, {"nprocs": 1}), machine, 1, node_rates(machine, 1))
    assert alone.communication == 0


# --- residuals ------------------------------------------------------------------------------


def run(number: int, n: int, factor: float, trips: int = 5) -> AssertionRecord:
    """A run of a program that asserts 2 n operations and does ``factor`` times as many."""
    paths = [
        counted(0, "loop", "steps", "5", [(5, trips)]),
        counted(1, "flop", "f", "2*n", [(2 * n, round(2 * n * factor))] * 5, parent=0),
    ]
    return rank_record(paths, run=f"r{number}", variables=[variable("n", n), variable("nprocs", 1)])


RESIDUAL = parsed_model.parse(
    AssertionModel(
        name="m",
        variables=(NamedVariable(name="n", domain="whole; [100, 100000]"),),
        nodes=(
            ModelNode(kind="loop", name="steps", expression="5", inner=(
                ModelNode(kind="flop", name="f", expression="2*n"),
            )),
        ),
    )
)  # fmt: skip


def test_a_drift_is_learned_with_its_interval_and_the_next_run() -> None:
    noise = (1.01, 0.99, 1.0, 1.005, 0.995, 1.0)
    runs = [run(k, 1000 * 2**k, 1.2 * 2 ** (0.1 * k) * e) for k, e in enumerate(noise)]
    flops, loop = residual_fits(RESIDUAL, runs)
    assert loop.exact
    assert (loop.ratio, loop.low, loop.high, loop.next_run) == (1, 1, 1, None)
    assert (flops.path, flops.kind, flops.counter, flops.runs) == ("steps/f", "flop", "program", 6)
    assert flops.ratio == pytest.approx(1.2 * 2**0.25, rel=0.02)
    assert flops.low < flops.ratio < flops.high
    (slope,) = flops.slopes
    assert slope.variable == "n"
    assert slope.low < 0.1 < slope.high
    assert slope.slope == pytest.approx(0.1, abs=0.03)
    assert flops.next_run is not None
    assert flops.next_run.values["n"] in (250, 500, 64000)


def test_few_runs_give_a_factor_and_say_that_they_are_few() -> None:
    (single, _) = residual_fits(RESIDUAL, [run(0, 1000, 1.5)])
    assert single.ratio == pytest.approx(1.5)
    assert (single.low, single.high) == (0, math.inf)
    assert single.next_run is not None
    (several, _) = residual_fits(RESIDUAL, [run(k, 1000, 1.5 + 0.01 * k) for k in range(4)])
    assert several.slopes == ()
    assert 1.45 < several.low < several.ratio < several.high < 1.6
    assert several.next_run.values["n"] != 1000


def test_runs_without_counts_are_left_out_and_named() -> None:
    fits = {f.path: f for f in residual_fits(RESIDUAL, [run(0, 1000, 0), run(1, 2000, 1.1)])}
    assert fits["steps/f"].notes == ("1 of 2 runs have a count of zero and are left out",)
    with pytest.raises(InputError, match="expected those of several runs"):
        residual_fits(RESIDUAL, [])
    with pytest.raises(InputError, match="n = 7 is not valid"):
        residual_fits(RESIDUAL, [run(0, 7, 1)])


def test_seconds_are_fitted_like_counts() -> None:
    runs = [
        replace(run(k, 1000 * 2**k, 1), seconds=3e-6 * 2**k * (1.02, 0.98)[k % 2]) for k in range(4)
    ]
    fits = residual_fits(RESIDUAL, runs, seconds=lambda binding: binding.given["n"] * 1e-9)
    assert (fits[0].path, fits[0].counter) == ("seconds of the run", "clock")
    assert fits[0].low < 3 < fits[0].high
    assert [fit.exact for fit in fits[1:]] == [True, True]
