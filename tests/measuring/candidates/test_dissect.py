"""Probes of one sweep: where they run, and what becomes of those that fail."""

import shutil

import pytest
import stencil_samples
from codegen_build import problem, setup, variant
from sample_nodes import calibrated

from autotune.codegen.c import harness
from autotune.codegen.probes import probe_programs, probe_text
from autotune.codegen.probes.probe_parts import LoopShape
from autotune.codegen.tree import loop_tree, variant_program
from autotune.domain.setup import Limits, Measuring
from autotune.domain.variant import Candidate, Interchange
from autotune.files import config
from autotune.measuring.candidates.host_measurer import HostMeasurer
from autotune.measuring.candidates.probe_runs import Dissector, PartProbe, ProbeOutcome
from autotune.workloads.generated import probe_places

PROBLEM = problem("heat2d", 256)
PROGRAM = variant_program.program(
    variant(Interchange("lc", ("j", "i", "l"))), config.skeleton("pirk"), PROBLEM
)
SWEEPS = {one.sweep.name: one for one in probe_programs.probed_sweeps(PROGRAM)}


@pytest.mark.parametrize("name", ["f_heat2d_1", "lc_jil"])
@pytest.mark.parametrize("threads", [1, 2])
def test_each_level_has_a_working_set_inside_it(name, threads):
    machine = calibrated()
    found = probe_places.places(SWEEPS[name], 8, PROBLEM, threads, machine)
    assert [place.level for place in found] == [*(c.name for c in machine.caches), "MEM"]
    least = 0.0
    for place, cache in zip(found, machine.caches, strict=False):
        share = cache.size / min(threads, cache.cores)
        assert least < place.working_set < share
        least = share
    assert found[-1].working_set > 2 * least


def test_a_tile_is_whole_granules_and_goes_around_often():
    for place in probe_places.places(SWEEPS["lc_jil"], 8, PROBLEM, 1, calibrated())[:2]:
        assert place.tile is not None
        assert place.tile % 8 == 0
        assert place.times > 1
        assert place.iterations == pytest.approx(place.problem.n * place.times)


def test_the_footprint_counts_overlapping_offsets_once():
    at = SWEEPS["f_heat2d_1"].sweep
    found = probe_places.shape(at, PROBLEM.ivp.values(256))
    assert probe_places.footprint(found, 64) == 8 * (64 + 64 + 66 + 64)  # F, and y in three rows
    assert probe_places.footprint(found, 1024) == 8 * (1024 + 1024 + 2 * 256)


@pytest.mark.parametrize("extents", [(24, 800, 800), (96, 96, 96), (300, 20), (5, 8, 40)])
@pytest.mark.parametrize("threads", [1, 2])
def test_each_level_has_a_grid_that_lies_in_it(extents, threads):
    machine = calibrated()
    at = stencil_samples.problem(*extents)
    blocked = stencil_samples.candidate(at, j=16)
    made = variant_program.program(blocked.variant, config.skeleton("jacobi"), at)
    (one,) = probe_programs.probed_sweeps(made)
    found = probe_places.places(one, made.granule, at, threads, machine)
    assert [place.level for place in found] == [*(c.name for c in machine.caches), "MEM"]
    targets = probe_places.targets(machine, threads)
    for place, (_, wanted) in zip(found, targets, strict=True):
        assert 0.6 * wanted < place.working_set
        assert place.working_set <= wanted or place.level == "MEM"
        assert place.problem.extents[0] % threads == 0
        assert place.iterations == place.length * place.times
        assert place.length * threads == place.problem.n
    assert all(place.problem.extents[-1] == extents[-1] for place in found[1:])
    assert found[-1].problem.extents[1:] == extents[1:]


def test_the_footprint_of_a_star_on_a_grid_is_what_it_reads_and_writes():
    at = stencil_samples.problem(5, 4, 10)
    made = variant_program.program(
        stencil_samples.candidate(at).variant, config.skeleton("jacobi"), at
    )
    (sweep,) = loop_tree.grid_sweeps(made.body)
    rows = 5 * (4 + 2) + 2 * 4
    found = probe_places.grid_shape(sweep, {}, (5, 4, 10), 5)
    assert probe_places.grid_footprint(found) == 8 * (rows * (10 + 2) + 5 * 4 * 10)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="optional: gcc is not installed")
def test_probes_run_and_a_broken_one_is_a_result():
    one = SWEEPS["update_j"]
    small = problem("heat2d", 64)
    single = probe_programs.repeated(probe_programs.single_sweep_program(PROGRAM, one, 33), 512, 4)
    units = harness.units(single, small, filled=True)
    candidate = Candidate(variant=variant(), problem=small, build=setup(small).builds[0])

    def probe(part: probe_text.Part, units: dict[str, str] | None, reason: str = "") -> PartProbe:
        return PartProbe(
            sweep="update_j",
            part=part,
            level="L1",
            candidate=candidate,
            units=units,
            iterations=4.0 * small.n,
            reason=reason,
        )

    (sweep,) = loop_tree.sweeps(probe_programs.single_sweep_program(PROGRAM, one, 33).body)
    moves = probe_text.code(sweep, "moves", LoopShape(vector=16))
    wanted = [
        probe("loop", units),
        probe("moves", {**units, f"{moves.function}.c": moves.text}),
        probe("loads", {**units, "sweep_update_j.c": "this is no C"}),
        probe("arithmetic", None, "it computes nothing"),
    ]
    measurer = HostMeasurer(
        measuring=Measuring(samples=1, min_sample=0.001, busy=0.0),
        limits=Limits(),
        sources=lambda _: {},
    )
    told: list[str] = []
    session = Dissector(measurer, wanted, lambda stage, *_: told.append(stage))
    session.build()
    session.run(rounds=3)
    loop, moved, broken, missing = session.outcomes
    assert session.rounds == 3
    for outcome in (loop, moved):
        assert outcome.prepared.status == "ok", outcome.prepared.detail
        cycles, interval = outcome.cycles(1e9)
        assert cycles > 0
        assert interval[0] <= cycles <= interval[1]
    assert broken.cycles(1e9) is None
    assert "build-failed" in broken.reason
    assert missing.reason == "it computes nothing"
    assert set(told) == {"build the probes", "run the probes"}

    def stopped(outcome: ProbeOutcome, number: int) -> None:
        if any(other.samples for other in begun.outcomes):
            raise KeyboardInterrupt

    begun = Dissector(measurer, wanted, lambda *_: None)
    begun.build()
    assert not begun.measured
    with pytest.raises(KeyboardInterrupt):
        begun.run(3, before=stopped)
    assert begun.rounds == 0
    assert begun.measured, "the samples of a round that was not finished are kept"
    assert sum(outcome.cycles(1e9) is not None for outcome in begun.outcomes) == 1
