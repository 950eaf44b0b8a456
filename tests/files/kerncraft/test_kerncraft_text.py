"""Machines written as machine files of kerncraft: every figure in its units, what is missing."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.domain.machine import CacheLevel, InCore, Machine, Memory, Streaming
from autotune.errors import Fault, InputError
from autotune.files.kerncraft.kerncraft_machines import is_kerncraft, read_kerncraft
from autotune.files.kerncraft.kerncraft_text import kerncraft_gaps, kerncraft_text

L1 = CacheLevel(name="L1", size=32 << 10, line=64, ways=8)
L2 = CacheLevel(name="L2", size=256 << 10, line=64, ways=8, inbound=64.0, duplex="half")
L3 = CacheLevel(name="L3", size=20 << 20, line=64, ways=20, cores=8, inbound=32.0)
MACHINE = Machine(
    name="m",
    title="Some  node",
    architecture="x86_64",
    clock=2.3e9,
    cores=16,
    sockets=2,
    threads_per_core=2,
    caches=(L1, L2, L3),
    memory=Memory(
        saturated=48e9, single=12e9, cores=8, penalty_load=1.5, penalty_store=0.0,
        benchmarks={"copy": Streaming(saturated=40e9)},
    ),
    in_core=InCore(osaca="HSW"),
)  # fmt: skip

HIERARCHY = """\
memory hierarchy:
- level: L1
  cache per group: {sets: 64, ways: 8, cl_size: 64, replacement_policy: LRU,\
 write_allocate: true, write_back: true, load_from: L2, store_to: L2}
  cores per group: 1
  size per group: 32.768 kB
  upstream throughput: [architecture code analyzer, []]
  transfers overlap: false
- level: L2
  cache per group: {sets: 512, ways: 8, cl_size: 64, replacement_policy: LRU,\
 write_allocate: true, write_back: true, load_from: L3, store_to: L3}
  cores per group: 1
  size per group: 262.144 kB
  upstream throughput: [64 B/cy, half-duplex]
  transfers overlap: false
- level: L3
  cache per group: {sets: 16384, ways: 20, cl_size: 64, replacement_policy: LRU,\
 write_allocate: true, write_back: true}
  cores per group: 8
  size per group: 20971.52 kB
  upstream throughput: [32 B/cy, full-duplex]
  transfers overlap: false
- level: MEM
  cores per group: 8
  upstream throughput: [full socket memory bandwidth, full-duplex]
  transfers overlap: false
  size per group:
  penalty cycles per cacheline load: 1.5
  penalty cycles per cacheline store: 0
"""


def read_back(text, tmp_path):
    faults: list[Fault] = []
    machine = read_kerncraft(faults, text, tmp_path / "m.yml")
    assert [str(fault) for fault in faults] == []
    return machine


def test_the_head_states_the_node_in_gigahertz_and_domains():
    text = kerncraft_text(MACHINE)
    assert text.splitlines()[:11] == [
        "kerncraft version: 0.8.18",
        "model name: 'Some node'",
        "model type: 'm'",
        "clock: 2.3 GHz",
        "sockets: 2",
        "cores per socket: 8",
        "threads per core: 2",
        "NUMA domains per socket: 1",
        "cores per NUMA domain: 8",
        "cacheline size: 64 B",
        "write-allocate: true",
    ]


def test_the_hierarchy_states_every_level_from_the_core_to_memory():
    text = kerncraft_text(MACHINE)
    assert text[text.index("memory hierarchy:") : text.index("benchmarks:")] == HIERARCHY


def test_the_part_in_core_names_osaca_its_ports_and_the_flags_of_gcc():
    text = kerncraft_text(MACHINE)
    part = text[text.index("isa:") : text.index("memory hierarchy:")]
    assert part.splitlines() == [
        "isa: x86",
        "in-core model: !!omap",
        "- OSACA: HSW",
        "compiler: !!omap",
        "- gcc: '-O3 -march=haswell'",
        "overlapping model:",
        "  ports:",
        "    OSACA: ['0', '0DV', '1', '2', '3', '4', '5', '6', '7']",
        "  performance counter metric: none",
        "non-overlapping model:",
        "  ports:",
        "    OSACA: ['2D', '3D']",
        "  performance counter metric: none",
    ]
    assert "isa:" not in kerncraft_text(MACHINE, in_core=False)


def test_a_measured_bandwidth_grows_with_the_cores_until_it_saturates():
    lines = kerncraft_text(MACHINE).splitlines()
    load = next(line for line in lines if line.startswith("          load:"))
    assert load.strip() == (
        "load: [12 GB/s, 24 GB/s, 36 GB/s, 48 GB/s, 48 GB/s, 48 GB/s, 48 GB/s, 48 GB/s]"
    )
    copy = next(line for line in lines if line.startswith("          copy:"))
    assert copy.strip() == "copy: [" + ", ".join(["40 GB/s"] * 8) + "]"


def test_streams_of_a_kernel_are_counted_in_doubles():
    text = kerncraft_text(MACHINE)
    part = text[text.index("    copy:") :].splitlines()[:5]
    assert part == [
        "    copy:",
        "      read streams: {streams: 1, bytes: 8 B}",
        "      read+write streams: {streams: 0, bytes: 0 B}",
        "      write streams: {streams: 1, bytes: 8 B}",
        "      FLOPs per iteration: 0",
    ]


def test_a_write_through_cache_does_not_allocate_there():
    through = replace(L1, write_back=False, write_allocate=False)
    text = kerncraft_text(replace(MACHINE, caches=(through, L2, L3)))
    first = text[text.index("- level: L1") : text.index("- level: L2")]
    assert "write_allocate: false, write_back: true" in first


def test_a_cache_that_part_of_a_domain_shares_is_the_share_of_a_core():
    shared = replace(L2, size=1 << 20, sets=0, cores=2)
    text = kerncraft_text(replace(MACHINE, caches=(L1, shared, L3)))
    second = text[text.index("- level: L2") : text.index("- level: L3")]
    assert "sets: 1024," in second  # 1 MiB has 2048 sets
    assert "cores per group: 1\n" in second


def test_a_cache_that_several_domains_share_is_that_of_one():
    wide = replace(L3, cores=16)
    text = kerncraft_text(replace(MACHINE, caches=(L1, L2, wide)))
    third = text[text.index("- level: L3") : text.index("- level: MEM")]
    assert "sets: 8192," in third
    assert "cores per group: 8\n" in third


def test_a_victim_cache_is_filled_from_the_level_inside():
    text = kerncraft_text(replace(MACHINE, caches=(L1, L2, replace(L3, victim=True))))
    second = text[text.index("- level: L2") : text.index("- level: L3")]
    third = text[text.index("- level: L3") : text.index("- level: MEM")]
    assert "victims_to: L3, store_to: L3" in second
    assert "load_from" not in second
    assert "write_allocate: false" in third


def test_levels_overlap_from_the_core_outwards_only():
    caches = (replace(L1, exposed=0.0), replace(L2, exposed=1.0), replace(L3, exposed=0.0))
    text = kerncraft_text(replace(MACHINE, caches=caches))
    overlaps = [line.split()[-1] for line in text.splitlines() if "transfers overlap" in line]
    assert overlaps == ["true", "false", "false", "false"]


@pytest.mark.parametrize(
    ("change", "gap"),
    [
        (
            {"caches": (L1, replace(L2, inbound=None), L3)},
            ("caches.L2.inbound", "the engine kerncraft"),
        ),
        (
            {"memory": replace(MACHINE.memory, saturated=None)},
            ("memory.saturated", "the engine kerncraft, even for data in caches"),
        ),
        ({"architecture": "ppc64"}, ("support for ppc64 in OSACA", "the engine kerncraft")),
        ({"in_core": InCore()}, ("in_core.osaca", "the engine kerncraft (through OSACA)")),
        (
            {"in_core": InCore(osaca="XYZ")},
            ("in_core.overlapping and non_overlapping", "the engine kerncraft"),
        ),
    ],
)
def test_what_a_machine_lacks_for_kerncraft_is_named_with_its_use(change, gap):
    machine = replace(MACHINE, **change)
    assert kerncraft_gaps(machine) == [gap]
    with pytest.raises(InputError) as raised:
        kerncraft_text(machine)
    assert str(raised.value) == f"machine m: {gap[0]} is missing: {gap[1]} needs it"


def test_ports_of_an_unknown_architecture_may_be_stated():
    in_core = InCore(osaca="XYZ", overlapping=("0", "1"), non_overlapping=("2D",))
    assert kerncraft_gaps(replace(MACHINE, in_core=in_core)) == []
    assert "    OSACA: ['0', '1']" in kerncraft_text(replace(MACHINE, in_core=in_core))


def test_the_part_in_core_is_not_missed_where_it_is_left_out():
    machine = replace(MACHINE, architecture="ppc64", in_core=InCore())
    assert kerncraft_gaps(machine, in_core=False) == []


def test_a_machine_that_was_read_from_kerncraft_gives_its_very_text():
    assert kerncraft_text(replace(MACHINE, kerncraft="the text")) == "the text"


def test_the_text_reads_back_as_the_same_machine(tmp_path):
    text = kerncraft_text(MACHINE)
    assert is_kerncraft(text)
    machine = read_back(text, tmp_path)
    assert machine.caches == (L1, L2, replace(L3, duplex="full"))
    for name in ("architecture", "clock", "cores", "sockets", "threads_per_core"):
        assert getattr(machine, name) == getattr(MACHINE, name)
    memory = machine.memory
    assert (memory.saturated, memory.single, memory.cores) == (48e9, 12e9, 8)
    assert (memory.penalty_load, memory.penalty_store) == (1.5, 0.0)
    assert memory.benchmarks["copy"] == Streaming(saturated=40e9, single=40e9)
    assert machine.in_core.osaca == "HSW"


@given(clock=st.floats(1e8, 1e10), single=st.floats(1e9, 4e10), ways=st.integers(1, 32))
def test_figures_are_written_with_every_digit_and_no_exponent(clock, single, ways):
    size = 64 * ways * 128
    cache = CacheLevel(name="L2", size=size, line=64, ways=ways, inbound=single / 1e9)
    small = replace(L1, size=64 * 8, sets=0)
    memory = replace(MACHINE.memory, single=single, saturated=single * 2)
    machine = replace(MACHINE, clock=clock, caches=(small, cache), memory=memory)
    text = kerncraft_text(machine)
    stated = next(line for line in text.splitlines() if line.startswith("clock: "))
    number = stated.removeprefix("clock: ").removesuffix(" GHz")
    assert "e" not in number
    assert float(number) == clock / 1e9
    assert f"ways: {ways}" in text
