"""Eq. 11: the node, and the communication that the program really does."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from codegen_build import problem, setup

from autotune.codegen.tree.skeleton_programs import SkeletonPrograms
from autotune.domain.calibration import Z80
from autotune.domain.cost_curve import Z90, CostCurve, Operation, Segment
from autotune.domain.network import Network
from autotune.domain.problem import StencilProblem
from autotune.domain.results import Part, Prediction
from autotune.domain.setup import Layout
from autotune.domain.variant import Candidate, ExecutionLayout, Variant, Wavefront
from autotune.files import config
from autotune.models.engines.system import SystemEngine
from autotune.workloads.shipped import workload_of

NODE = 0.010
MICRO = 1e-6


class Node:
    """A node engine that always says the same."""

    name = "constant"

    def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
        part = Part(sweep="lc", kind="sweep", seconds=NODE)
        whole = Prediction(
            seconds=NODE,
            interval=(0.9 * NODE, 1.2 * NODE),
            parts=(part,),
            engine=self.name,
            reason="LC",
        )
        return [whole for _ in candidates]


def curve(operation: Operation, nodes: int = 1, ranks: int = 2) -> CostCurve:
    return CostCurve(
        operation=operation,
        benchmark="autotune",
        nodes=nodes,
        ranks=ranks,
        segments=(Segment(lower=0, latency=2 * MICRO, bandwidth=1e9),),
        measured=(8, 1 << 20),
        residual=(0.5, 2.0),
    )


def candidates(ivp: str, size: int, layout: Layout) -> list[Candidate]:
    study = replace(setup(problem(ivp, size), space="pirk-orders"), layouts=(layout,))
    return workload_of(study).candidates(4).legal


def predict(network: Network | None, chosen: Sequence[Candidate]) -> list[Prediction]:
    programs = SkeletonPrograms(setup(problem()).skeleton)
    return SystemEngine(Node(), programs, network).predict(chosen)


def test_25_phases_of_a_step_are_added_to_the_node() -> None:
    """Scherg et al. 2019, section 5.2: s = 4 rows of 6 correctors, and y itself."""
    network = Network(curves=(curve("allgather"), curve("neighbour"), curve("sparse")))
    chosen = candidates("heat2d", 100, Layout(ranks=2, threads=1))
    for candidate, found in zip(chosen, predict(network, chosen), strict=True):
        # the block; the access distance; what the interior columns of the next grid row need
        size = {"allgather": 5000, "neighbour": 100, "sparse": 98}[candidate.communication]
        wanted = 25 * (2 * MICRO + 8 * size / 1e9)
        assert found.seconds == pytest.approx(NODE + wanted)
        factor = 2 ** (Z80 / Z90)
        expected = (0.9 * NODE + wanted / factor, 1.2 * NODE + factor * wanted)
        assert found.interval == pytest.approx(expected)
        (part,) = [p for p in found.parts if p.kind == "communication"]
        assert part.seconds == pytest.approx(wanted)
        assert not part.extrapolated
        assert f"x {candidate.communication} of" in found.reason
    assert {c.communication for c in chosen} == {"allgather", "neighbour", "sparse"}


def test_the_larger_of_node_and_communication_comes_first() -> None:
    network = Network(curves=(curve("allgather"), curve("neighbour")))
    large = list(candidates("wave1d", 1_000_000, Layout(ranks=2, threads=1)))[:12]
    told = {c.communication: p.reason for c, p in zip(large, predict(network, large), strict=True)}
    assert told["allgather"].startswith("25 x allgather of 3.815 MiB (91 % of the step, extrapol")
    assert told["allgather"].endswith("; LC")
    assert told["neighbour"] == "LC; 25 x neighbour of 32 B (1 % of the step)"


def test_an_engine_without_an_interval_leaves_that_of_communication() -> None:
    class Bare(Node):
        def predict(self, candidates: Sequence[Candidate]) -> list[Prediction]:
            return [replace(found, interval=None) for found in super().predict(candidates)]

    chosen = candidates("heat2d", 100, Layout(ranks=2, threads=1))[:1]
    programs = SkeletonPrograms(setup(problem()).skeleton)
    network = Network(curves=(curve("allgather"),))
    (found,) = SystemEngine(Bare(), programs, network).predict(chosen)
    assert found.interval is not None
    assert found.interval[0] > NODE
    assert "interval of communication: constant states none" in found.notes


def test_one_rank_is_the_node_alone() -> None:
    chosen = candidates("heat2d", 100, Layout(threads=2))
    assert all(found.seconds == NODE for found in predict(None, chosen))


def test_without_a_curve_there_is_no_number_but_a_reason() -> None:
    chosen = candidates("heat2d", 100, Layout(ranks=2, threads=1))
    for network in (None, Network(curves=(curve("barrier"),))):
        for candidate, found in zip(chosen, predict(network, chosen), strict=True):
            assert found.seconds is None
            assert f"no cost curve for {candidate.communication} within a node" in found.reason
    between = candidates("heat2d", 100, Layout(nodes=2, ranks=1, threads=1))
    within = Network(curves=(curve("allgather"), curve("neighbour"), curve("sparse")))
    assert all("between nodes" in found.reason for found in predict(within, between))


def test_what_lies_outside_the_measured_sizes_is_marked() -> None:
    network = Network(curves=(curve("allgather"), curve("neighbour"), curve("sparse")))
    chosen = candidates("wave1d", 1_000_000, Layout(ranks=2, threads=1))
    found = dict(zip([c.communication for c in chosen], predict(network, chosen), strict=True))
    marks = {way: [p.extrapolated for p in f.parts][-1] for way, f in found.items()}
    assert marks == {"allgather": True, "neighbour": False, "sparse": False}
    assert any("extrapolated" in note for note in found["allgather"].notes)


def test_sweeps_of_a_pass_over_a_grid_share_the_latency_of_a_message() -> None:
    """Planes of 32 x 32 points with ghosts: as many bytes a step, less latency."""
    of = config.stencil("star3d-7pt")
    at = StencilProblem(stencil=of, extents=(64, 30, 30))
    layout = ExecutionLayout(threads=1, ranks=4, communication="neighbour")
    chosen = [
        Candidate(
            variant=Variant(skeleton="jacobi", transformations=changes, parameters={}),
            problem=at,
            layout=layout,
        )
        for changes in ((), (Wavefront("sweep", 4),), (Wavefront("sweep", 8),))
    ]
    network = Network(curves=(curve("neighbour", ranks=4),))
    programs = SkeletonPrograms(config.skeleton("jacobi"))
    predictions = SystemEngine(Node(), programs, network).predict(chosen)
    for sweeps, prediction in zip((1, 4, 8), predictions, strict=True):
        (part,) = [p for p in prediction.parts if p.kind == "communication"]
        assert part.seconds == pytest.approx(2 * MICRO / sweeps + 8 * 32 * 32 / 1e9)
        assert f"{1 / sweeps:.3g} x neighbour of" in prediction.reason
