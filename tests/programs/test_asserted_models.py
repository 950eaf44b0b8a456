"""Programs with a model of assertions: what is read, what is predicted, and real runs of MPI."""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from program_samples import candidates, predicted, read, written
from sample_nodes import calibrated, documented

from autotune.assertions.modelling.binding import bind
from autotune.assertions.modelling.parsed_model import parse
from autotune.assertions.modelling.tree_walk import rank_counts
from autotune.domain.cost_curve import CostCurve, Segment
from autotune.domain.machine import Machine
from autotune.domain.network import Network
from autotune.domain.problem import ProgramProblem
from autotune.domain.program_model import AssertedModel
from autotune.domain.results import Prediction
from autotune.errors import ConfigError, InputError
from autotune.files import config
from autotune.progress import silent
from autotune.workloads.shipped import workload_of

HEAD = """\
model:
  assertions: ring.json
  ranks: block // 8
  bind: {na: n}
"""
LATENCY, BANDWIDTH = 2e-6, 1e9
"""Of the ping-pong."""


def ring(**change: object) -> str:
    """A model: ``steps`` steps, each of 2 n operations, 16 n bytes and two messages of 8 n."""
    model: dict[str, object] = {
        "schema": "autotune.assertion-model/1",
        "name": "ring",
        "variables": [
            {"name": "na", "domain": "whole"},
            {"name": "nprocs", "domain": "power of two"},
            {"name": "steps"},
            {"name": "n", "expression": "na/nprocs"},
        ],
        "values": {"steps": 10},
        "nodes": [
            {
                "kind": "loop",
                "name": "time",
                "expression": "steps",
                "inner": [
                    {"kind": "flop", "name": "sweep", "expression": "2*n"},
                    {"kind": "load", "name": "field", "expression": "16*n"},
                    {
                        "kind": "send",
                        "name": "halo",
                        "expression": "8*n",
                        "repeat": "2 if nprocs > 1 else 0",
                    },
                ],
            }
        ],
    }
    return json.dumps({**model, **change})


def connected(machine: Machine, *curves: tuple[int, float]) -> Machine:
    """The machine with ping-pongs of so many ranks and this latency."""
    return replace(
        machine,
        network=Network(
            curves=tuple(
                CostCurve(
                    operation="pingpong",
                    benchmark="autotune",
                    nodes=1,
                    ranks=ranks,
                    segments=(Segment(lower=0, latency=latency, bandwidth=BANDWIDTH),),
                    measured=(1, 1 << 20),
                    residual=(0.8, 1.25),
                    repeats=3,
                )
                for ranks, latency in curves
            )
        ),
    )


def predictions(
    folder: Path,
    text: str = HEAD,
    machine: Machine | None = None,
    files: Mapping[str, str] | None = None,
) -> dict[int, Prediction]:
    """Of the candidates of mode ``fast``, by their blocks."""
    program = read(written(folder, text, {"ring.json": ring(), **(files or {})}))
    asked = [c for c in candidates(program) if c.variant.parameters["mode"] == "fast"]
    made = predicted(asked, machine or connected(documented(), (2, LATENCY)))
    return {int(str(c.variant.parameters["block"])): p for c, p in zip(asked, made, strict=True)}


def sweeps(prediction: Prediction) -> dict[str, float]:
    """The seconds of the terms by name."""
    return {p.sweep: float(p.seconds) for p in prediction.parts if p.kind == "sweep"}


# --- predictions against sums by hand ---------------------------------------------------------


def test_a_rank_computes_at_its_rate_and_sends_one_message_after_the_other(tmp_path: Path) -> None:
    text = HEAD.replace("block // 8", "2") + "  flops: 1e6\n  accuracy: 20 %\n"
    made = predictions(tmp_path, text)[8]
    n = 512 / 2
    work, messages = 10 * 2 * n / 1e6, 20 * (LATENCY + 8 * n / BANDWIDTH)
    assert sweeps(made) == {"sweep": pytest.approx(work), "halo": pytest.approx(messages)}
    assert made.seconds == pytest.approx(work + messages)
    assert {(p.sweep, p.kind, p.count) for p in made.parts if p.kind != "sweep"} == {
        ("sweep", "T_OL", 0.0), ("halo", "messages", 20.0),
    }  # fmt: skip
    assert made.reason.startswith("by assertions of ring: sweep ")
    assert made.interval is not None
    assert made.interval[1] / made.seconds >= 1.2
    assert "by assertions, stated to 20 %" in made.notes


def test_bytes_count_where_they_take_longer_than_the_operations(tmp_path: Path) -> None:
    text = HEAD.replace("block // 8", "1") + "  bandwidth: 1e6\n  flops: 1e9\n  extra: 1e-3\n"
    made = predictions(tmp_path, text)[8]
    assert sweeps(made) == {"field": pytest.approx(10 * 16 * 512 / 1e6), "extra": 1e-3}
    assert made.seconds == pytest.approx(sum(sweeps(made).values()))


def test_without_rates_of_its_own_a_rank_has_those_of_a_thread(tmp_path: Path) -> None:
    machine = connected(calibrated(), (2, LATENCY))
    text = HEAD.replace("block // 8", "4")
    made = predictions(tmp_path, text, machine)[8]
    n = 512 / 4  # four ranks share the memory: 2 bytes a cycle for each, at 3 GHz
    assert sweeps(made)["field"] == pytest.approx(10 * 16 * n / (2 * 3e9))


def test_more_ranks_than_cores_take_turns(tmp_path: Path) -> None:
    machine = connected(documented(), (2, LATENCY))
    text = HEAD.replace("block // 8", f"{machine.cores}") + "  flops: 1e6\n"
    alone = predictions(tmp_path, text, machine)[8]
    crowded = predictions(tmp_path, text, replace(machine, cores=machine.cores // 2))[8]
    assert sweeps(crowded)["sweep"] == pytest.approx(2 * sweeps(alone)["sweep"])
    assert any("take turns" in note for note in crowded.notes)
    assert not any("take turns" in note for note in alone.notes)


def test_a_ping_pong_of_as_many_ranks_prices_their_messages(tmp_path: Path) -> None:
    machine = connected(documented(), (2, LATENCY), (4, 10 * LATENCY))
    made = predictions(tmp_path, HEAD.replace("block // 8", "4"), machine)[8]
    assert sweeps(made)["halo"] == pytest.approx(20 * (10 * LATENCY + 8 * 128 / BANDWIDTH))


def test_a_file_for_each_value_of_a_parameter(tmp_path: Path) -> None:
    files = {"ring-fast.json": ring(), "ring-safe.json": ring(values={"steps": 20})}
    text = HEAD.replace("ring.json", '"ring-{mode}.json"').replace("block // 8", "1")
    program = read(written(tmp_path, text + "  flops: 1e6\n  bandwidth: 1e12\n", files))
    made = predicted(candidates(program), documented())
    by_mode = {str(c.variant.parameters["mode"]): p for c, p in
               zip(candidates(program), made, strict=True)}  # fmt: skip
    assert by_mode["safe"].seconds == pytest.approx(2 * float(by_mode["fast"].seconds or 0))


# --- reasons of candidates without a time -----------------------------------------------------


def test_an_invalid_number_of_ranks_refuses_this_candidate_with_the_nearest(tmp_path: Path) -> None:
    made = predictions(tmp_path, HEAD.replace("block // 8", "3 if block == 8 else 4"))
    assert made[8].seconds is None
    assert "nprocs = 3 is not valid" in made[8].reason
    assert "nearest valid nprocs: 2, 4" in made[8].reason
    assert made[64].seconds is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEAD.replace("block // 8", "1.5"), "ranks = 1.5 is 1.5, which is not whole"),
        (HEAD.replace("block // 8", "0"), "ranks = 0 is 0, below 1"),
        (HEAD.replace("block // 8", "4") + "  nodes: 3\n", "4 ranks cannot be spread evenly"),
        (HEAD.replace("na: n", "na: n / 3"), r"na = 170\.667 is not valid; expected whole"),
        (HEAD.replace("na: n", "na: mode"), "'mode' is 'fast', not a number"),
        (HEAD + "  flops: 0\n", "flops = 0 is 0, below"),
    ],
)
def test_values_that_cannot_be_have_their_reason(tmp_path: Path, text: str, reason: str) -> None:
    made = predictions(tmp_path, text)[8]
    assert made.seconds is None
    assert re.search(reason, made.reason), made.reason


def test_a_machine_without_curves_cannot_price_messages(tmp_path: Path) -> None:
    made = predictions(tmp_path, HEAD, documented())
    assert made[8].seconds is not None, "one rank sends nothing"
    assert made[64].seconds is None
    assert "the machine has no network" in made[64].reason
    assert "autotune comm bench" in made[64].reason


def test_a_number_of_ranks_that_the_model_derives_must_agree(tmp_path: Path) -> None:
    derived = ring(
        variables=[{"name": "na"}, {"name": "px"}, {"name": "nprocs", "expression": "px"},
                   {"name": "steps"}, {"name": "n", "expression": "na"}]
    )  # fmt: skip
    text = HEAD.replace("{na: n}", "{na: n, px: 2}")
    made = predictions(tmp_path, text, files={"ring.json": derived})
    assert "nprocs of ring is 2, and ranks = block // 8 is 1" in made[8].reason


# --- faults of the file -----------------------------------------------------------------------

TOP = 11
"""Lines before the section ``model``."""


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (HEAD.replace("na: n", "an: n"), "4:10", "did you mean na?"),
        (HEAD.replace("na: n", "na: n, nprocs: 4"), "4:17", "the key ranks gives it"),
        (HEAD.replace("na: n", "na: n, n: 4"), "4:17", "it is derived: na/nprocs"),
        (HEAD.replace("na: n", "steps: 2"), "2:15", "na of ring.json has no value"),
        (HEAD.replace("na: n", "na: m"), "4:14", "unknown name 'm'"),
        (HEAD.replace("ring.json", "rnig.json"), "2:15", "did you mean ring.json?"),
        (HEAD.replace("ring.json", "ring-{mod}.json"), "2:15", "did you mean {mode}?"),
        (HEAD.replace("  ranks: block // 8\n", ""), "1:1", "the key 'ranks' is missing"),
        (HEAD + "  loops: []\n", "5:3", "unknown key 'loops'"),
        (HEAD + "  accuracy: -1\n", "5:13", "is not a share such as 30 %"),
    ],
)
def test_wrong_models_are_refused_with_their_place(
    tmp_path: Path, text: str, place: str, words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read(written(tmp_path, text, {"ring.json": ring()}))
    row, column = map(int, place.split(":"))
    assert words in str(caught.value)
    assert f"sample.yaml:{TOP + row}:{column}: " in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (ring(schema="autotune.assertion-model/9"), "autotune.assertion-model/9"),
        ("{", "ring.json"),
        ("[]", "a model in JSON"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(words)):
        read(written(tmp_path, HEAD, {"ring.json": content}))


def test_mistakes_in_expressions_are_named_with_file_and_node(tmp_path: Path) -> None:
    nodes = [{"kind": "flop", "name": "sweep", "expression": "2*nn"}]
    with pytest.raises(InputError, match=r"ring.json: sweep: unknown variable 'nn'"):
        predictions(tmp_path, files={"ring.json": ring(nodes=nodes)})


# --- shipped programs -------------------------------------------------------------------------


def shipped(name: str, machine: Machine) -> dict[str, Prediction]:
    """Predictions of the first problem of a config by label."""
    workload = workload_of(config.load(f"configs/{name}.yaml"))
    legal = list(workload.candidates(machine.cores).legal)
    first = [c for c in legal if c.problem == legal[0].problem]
    with workload.predictor("program", machine, silent) as predictor:
        return {c.variant.label: p for c, p in zip(first, predictor.predict(first), strict=True)}


@pytest.mark.parametrize("name", ["cg", "laplace"])
def test_every_candidate_of_a_shipped_program_is_predicted(name: str) -> None:
    made = shipped(name, connected(calibrated(), (2, LATENCY)))
    assert all(p.seconds is not None for p in made.values()), made
    assert len(made) > 5


@pytest.mark.parametrize("ranks", [2, 4, 16, 64])
def test_the_model_of_conjugate_gradients_has_the_messages_of_the_benchmark(ranks: int) -> None:
    """For the usual grid: 79 l + 26 messages and 432 l + 208 v (l + 1) bytes per iteration."""
    model = config.program("cg").model
    assert isinstance(model, AssertedModel)
    l = (ranks.bit_length()) // 2  # noqa: E741 - the benchmark's name
    columns = 2**l
    values = {"na": 7680, "nonzer": 8, "niter": 1, "nprocs": ranks, "npcols": columns}
    counts = rank_counts(bind(parse(model.models[()]), values))
    length = 7680 // columns
    alone = 26 if ranks // columns == 1 else 0  # a rank and itself: not a message of the model
    assert counts["messages"] == counts["receives"] == 79 * l + 26 - alone
    assert counts["volume"] == 432 * l + 208 * length * (l + 1) - 8 * length * alone


def test_smg_sends_the_fewest_messages_where_its_planes_are_whole() -> None:
    made = shipped("laplace", connected(calibrated(), (2, 1e-3)))
    times = {
        axis: made[f"ranks2-smg-px{x}-py{y}-pz{z}"].seconds
        for axis, x, y, z in (("x", 2, 1, 1), ("y", 1, 2, 1), ("z", 1, 1, 2))
    }
    assert sorted(times, key=lambda axis: times[axis] or 0.0) == ["z", "y", "x"]


@pytest.mark.skipif(
    shutil.which("mpicc") is None or shutil.which("mpiexec") is None,
    reason="optional: an MPI on PATH",
)
def test_every_grid_of_conjugate_gradients_runs_and_is_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    workload = workload_of(config.load("configs/cg.yaml"))
    machine = documented()
    measurer = workload.measurer(machine)
    for candidate in workload.candidates(machine.cores).legal:
        problem = candidate.problem
        assert isinstance(problem, ProgramProblem)
        if problem.arguments["letter"] == "S" and candidate.variant.parameters["ranks"] == 2:
            prepared = measurer.prepare(candidate)
            assert (prepared.status, prepared.detail) == ("ok", "")
            assert prepared.error is not None
            assert prepared.error <= 1e-10


def test_the_model_is_read_with_its_file() -> None:
    program = config.program("laplace")
    assert isinstance(program.model, AssertedModel)
    assert {key[0] for key in program.model.models} == {"smg", "pfmg", "boomeramg"}
