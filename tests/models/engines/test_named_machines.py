"""The named machines: port tables by documented cycles, write-through caches, overlap rules."""

import json
import os
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from autotune.codegen.c.emit import sweep_code
from autotune.codegen.tree.loop_tree import (
    Assign,
    NodeBlock,
    StepProgram,
    StoredRow,
    Sweep,
    SweepStretch,
    Sync,
)
from autotune.domain.machine import Machine, Overlap, StorePath
from autotune.domain.problem import ButcherTableau, Ivp, Problem, Region
from autotune.domain.results import Prediction
from autotune.domain.variant import Build, Candidate, ExecutionLayout, Variant
from autotune.errors import WorkFailed
from autotune.files import config
from autotune.language.expression import Num, Sym, parse
from autotune.models.engines.reuse.analysed_programs import AnalysedCandidates
from autotune.models.engines.reuse.case_evaluation import Evaluator
from autotune.models.engines.reuse.line_cost import line_costs
from autotune.models.engines.reuse.reuse_engine import ReuseEngine
from autotune.models.incore.osaca_analyser import OsacaAnalyser
from autotune.models.traffic import analyse

NAMED = ("haswell-e5-2630v3", "chimaira-i7-4770", "interlagos-6276", "power4-1.3")
IVP = Ivp(
    name="decay", title="", source="", dimension=Sym("N"), constants={}, access_distance=Num(0),
    limited=True, regions=(Region(lower=Num(0), upper=Sym("n"), body=parse("-y[j]")),),
    initial=(Region(lower=Num(0), upper=Sym("n"), body=Num(1)),), stability=Num(1),
)  # fmt: skip
EULER = ButcherTableau(name="e", title="", order=1, A=((1,),), b=(1,), c=(1,), source="")

AXPY = ("y", "s*x[j]", True, ("x",))
POINTS = ("j-1", "j", "j+1", "j-N", "j+N", "j-N*N", "j+N*N")
SEVEN = ("y", "s*(" + " + ".join(f"x[{at}]" for at in POINTS) + ")", False, ("x",))
COPY = ("y", "x[j]", False, ("x",))


def sweep(target, value, add, reads) -> Sweep:
    rows = [(name, StoredRow("R", Num(k))) for k, name in enumerate((target, *reads))]
    stretch = SweepStretch(Num(0), Sym("n"), (Assign(target, parse(value), add=add),))
    scalars = (("s", Num(2.0)),) if "s*" in value else ()
    return Sweep(name="k", kernel="k", rows=tuple(rows), scalars=scalars, stretches=(stretch,))


def nothing(text: str, build: Build) -> str:
    raise WorkFailed("no compiler")


def in_core(machine: Machine, *what):
    with OsacaAnalyser(machine, assemble=nothing) as analyser:
        found = analyser.analyse([sweep_code(sweep(*what))], Build())[0]
    line = machine.line // 8
    return tuple(round(line * cycles, 9) for cycles in (found.T_OL, found.T_nOL, found.crowded))


def ported(name: str, **changes) -> Machine:
    machine = config.machine(name)
    ports = replace(machine.in_core.ports, **changes)
    return replace(machine, in_core=replace(machine.in_core, ports=ports))


# --- port tables, cycles per line ----------------------------------------------------------------


def test_axpy_on_bulldozer():
    T_OL, T_nOL, crowded = in_core(config.machine("interlagos-6276"), *AXPY)
    assert max(T_OL, T_nOL) == 6  # (8 loads + 4 stores) / 2 of 128 bit
    assert crowded == 12  # both cores of the module share the decoder


def test_seven_points_on_bulldozer():
    T_OL, T_nOL, crowded = in_core(config.machine("interlagos-6276"), *SEVEN)
    assert T_nOL == 14  # (24 + 4) / 2: one of seven vectors is kept from the pass before
    assert T_OL == 14  # 28 operations, two pipes
    assert crowded == 28


def test_axpy_on_power4():
    T_OL, T_nOL, crowded = in_core(config.machine("power4-1.3"), *AXPY)
    assert (T_OL, T_nOL) == (24, 24)  # three dispatch groups per two elements; (32 + 16) / 2
    assert crowded == T_OL


def test_seven_points_on_power4():
    T_OL, T_nOL, _ = in_core(config.machine("power4-1.3"), *SEVEN)
    assert (T_OL, T_nOL) == (64, 48)  # eight groups per two elements; (80 + 16) / 2


@pytest.mark.parametrize(("what", "passing", "bare"), [(AXPY, 16, 8), (SEVEN, 64, 56)])
def test_the_data_of_stores_pass_the_fpu_of_power4(what, passing, bare):
    # without limits of the front end the floating-point units show
    free = {"dispatch": 0, "issue": 1e9}
    assert in_core(ported("power4-1.3", **free), *what)[0] == passing
    assert in_core(ported("power4-1.3", **free, stores_compute=False), *what)[0] == bare


@pytest.mark.parametrize(("what", "loads"), [(AXPY, 16), (SEVEN, 40)])
def test_loads_only_on_power4(what, loads):
    free = ported("power4-1.3", memory_operations=1e9, stores=1e9)
    assert in_core(free, *what)[1] == loads


def test_a_chain_of_sums_waits_for_its_latency():
    from autotune.models.incore.cost import port_table as ports

    text = "void f(void) { for (long j = 0; j < n; j++) { s += x[j]*y[j]; } }"
    table = config.machine("power4-1.3").in_core.ports
    found = ports.estimate(ports.count_source(text), table)
    assert (found.T_OL, found.bottleneck) == (6, "chain")
    own = ports.count_source("for (j = 0; j < n; j++) { double s = x[j]; s += y[j]; z[j] = s; }")
    assert own.chain == 0


# --- write-through, shared and victim caches -----------------------------------------------------


def program(*what) -> StepProgram:
    made = sweep(*what)
    return StepProgram(body=NodeBlock((made, Sync())), arrays=(("R", 2),), pad_lines=5, stages=1)


def problem(n: int) -> Problem:
    return Problem(ivp=IVP, method=EULER, correctors=1, size=n)


class Evaluated(NamedTuple):
    """Cycles per iteration of the first pass, its terms, and the seconds of the step."""

    cycles: float
    data: float
    stored: float
    seconds: float


def evaluate(machine: Machine, what, n: int, threads: int = 1) -> Evaluated:
    made = program(*what)
    with OsacaAnalyser(machine, assemble=nothing) as analyser:
        analysed = AnalysedCandidates(machine, lambda _: made, analyser, sweep_code)
        place = analysed.places([candidate(n, threads)])[0]
    team = analysed.teams[place.spread]
    evaluator = Evaluator(machine)
    node = evaluator.node(place.spread, team.parts)
    conflicts = team.conflicts(len(node.costs.names) - 1)
    piece = evaluator.piece(node, team.array(), analysed.loops, conflicts)
    data = node.mean.sum(axis=0)[piece.work[piece.alike]]
    stored = piece.core.stored[piece.alike]
    seconds = evaluator.steps(piece).seconds
    return Evaluated(piece.cycles[0], data[0], stored[0], seconds[0])


def candidate(n: int, threads: int = 1) -> Candidate:
    variant = Variant(skeleton="s", transformations=(), parameters={})
    return Candidate(variant=variant, problem=problem(n), layout=ExecutionLayout(threads=threads))


def predict(machine: Machine, what, n: int, threads: int = 1) -> Prediction:
    made = program(*what)
    with OsacaAnalyser(machine, assemble=nothing) as analyser:
        engine = ReuseEngine(machine, lambda _: made, analyser, sweep_code)
        return engine.predict([candidate(n, threads)])[0]


@pytest.mark.parametrize("name", ["interlagos-6276", "power4-1.3"])
@pytest.mark.parametrize("n", [256, 8_000, 4_000_000])
def test_every_stored_byte_passes_a_write_through_cache(name, n):
    machine = config.machine(name)
    stored = evaluate(machine, COPY, n).stored
    path = machine.overlap.store_path
    assert stored == pytest.approx(8 / path.throughput)
    plain = replace(machine, caches=(replace(machine.caches[0], write_back=True),
                                     *machine.caches[1:]))  # fmt: skip
    assert evaluate(plain, COPY, n).stored == pytest.approx(0)


def test_both_cores_of_a_module_share_the_store_path():
    machine = config.machine("interlagos-6276")
    one, two, many = (evaluate(machine, COPY, 64_000, t).stored for t in (1, 2, 32))
    assert two == pytest.approx(2 * one)
    assert many == pytest.approx(2 * one)


def test_no_dirty_line_leaves_a_write_through_cache():
    machine = config.machine("interlagos-6276")
    costs = line_costs(machine, 1)
    assert costs.passed == 1
    assert costs.outlinks[0] == 0
    back = line_costs(
        replace(machine, caches=(replace(machine.caches[0], write_back=True), *machine.caches[1:])),
        1,
    )
    assert back.outlinks[0] == pytest.approx(64 / 16)


def test_a_stored_line_is_allocated_behind_the_write_through_cache():
    costs = line_costs(config.machine("power4-1.3"), 1)
    distance = np.array([2.0**16, 2.0**22, 2.0**28])
    level = costs.level(distance)
    assert level.tolist() == [1, 2, 3]
    loaded, stored = costs.inbound(distance, level), costs.inbound(distance, level, beyond=1)
    assert loaded - stored == pytest.approx(128 / 32)
    assert stored[0] == 0


def test_lines_from_memory_pass_by_a_victim_cache():
    machine = config.machine("interlagos-6276")
    costs = line_costs(machine, 1)
    distance = np.array([2.0**20, 2.0**22, 2.0**26])
    level = costs.level(distance)
    assert level.tolist() == [1, 2, 3]
    second, third, memory = costs.inbound(distance, level)
    drive_out = 64 / 3.0
    assert second == pytest.approx(4)
    assert third == pytest.approx(4 + 64 / 4.3 + drive_out)
    assert memory == pytest.approx(4 + drive_out + 64 * 2.3 / 6.5)


def test_caches_of_modules_and_dies_are_divided_by_their_own_cores():
    machine = config.machine("interlagos-6276")
    for threads, sizes in {1: (16, 2048, 2048 + 6144), 32: (16, 1024, 1024 + 768)}.items():
        assert line_costs(machine, threads).borders == pytest.approx([k * 1024 for k in sizes])


def test_lines_of_128_bytes_halve_their_number():
    machine = config.machine("power4-1.3")
    streams = analyse(program(*COPY), problem(4_000_000), 1, machine)
    assert streams.line == 128
    assert streams.threads[0].lines == pytest.approx(1 / 16)


# --- overlap rules and intervals -----------------------------------------------------------------


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("n", [1_000, 30_000, 4_000_000])
def test_the_interval_spans_full_overlap_to_none(name, n):
    machine = config.machine(name)
    low, high = predict(machine, AXPY, n, 2).interval
    bare = replace(machine, overlap=Overlap(store_path=machine.overlap.store_path))
    memory = bare.memory
    for exposed in (0.0, 1.0):
        ruled = replace(
            bare,
            caches=tuple(replace(cache, exposed=exposed) for cache in bare.caches),
            memory=replace(memory, exposed=exposed),
        )
        assert low <= evaluate(ruled, AXPY, n, 2).seconds <= high


def test_loads_overlap_with_transfers_on_power4():
    machine = config.machine("power4-1.3")
    assert machine.overlap.rule == "data-serial"
    found = evaluate(machine, AXPY, 4_000_000)
    assert found.cycles == pytest.approx(max(found.data, 24 / 16))
    classic = replace(
        machine,
        overlap=Overlap(rule="serial", store_path=StorePath(throughput=8.0)),
        caches=tuple(replace(cache, exposed=1.0) for cache in machine.caches),
    )
    assert evaluate(classic, AXPY, 4_000_000).cycles == pytest.approx(found.data + 24 / 16)


def test_a_slow_store_path_bounds_a_loop_in_cache():
    machine = config.machine("interlagos-6276")
    found = evaluate(machine, COPY, 256)
    assert found.cycles == pytest.approx(8 / 5.3)


def test_the_rule_is_named_beside_the_prediction():
    found = predict(config.machine("power4-1.3"), AXPY, 100_000)
    assert any("overlap rule data-serial" in note for note in found.notes)
    low, high = found.interval
    assert low < found.seconds < high


# --- ranking -------------------------------------------------------------------------------------

STUDY = """\
schema: autotune.config/1
machine: {name}
skeleton: pirk
space: pirk-small
problems: [{{ivp: heat2d, method: radau-iia-7, correctors: 6, size: 256}}]
builds: [{{compiler: gcc, flags: [-O3]}}]
threads: [1, {cores}]
"""


@pytest.mark.parametrize("name", NAMED)
def test_every_named_machine_ranks(command_line, name, tmp_path):
    machine = config.machine(name)
    study = tmp_path / "study.yaml"
    study.write_text(STUDY.format(name=name, cores=machine.cores), encoding="utf-8")
    done = command_line.run(["rank", str(study), "--json"], folder=tmp_path, environment=os.environ)
    assert done.code == 0, done.err
    entries = json.loads(done.out)["ranking"]
    assert {entry["layout"]["threads"] for entry in entries} == {1, machine.cores}
    for entry in entries:
        low, high = entry["interval_s"]
        assert 0 < low <= entry["predicted_s"] <= high


def test_an_exchange_on_chimaira_takes_twice_what_b_eff_prints() -> None:
    """Kaltenecker 2016, table 5.4; the ring of b_eff divides an exchange by its two messages."""
    network = config.machine("chimaira-i7-4770").network
    assert network is not None
    table = {1: (290, 874), 2: (7866, 204), 3: (6856, 139), 4: (11625, 132), 5: (12941, 122),
             6: (13735, 117), 7: (13754, 113)}  # fmt: skip
    assert len(network.curves) == len(table)
    for curve in network.curves:
        latency, bandwidth = table[curve.nodes]
        assert curve.at(0) == pytest.approx(2 * latency * 1e-9)
        assert 2_000_000 / (curve.at(2_000_000) - curve.at(0)) == pytest.approx(bandwidth / 2 * 1e6)
