"""Machine files and calibrations: what they must hold, and that they round-trip."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune import paths
from autotune.commands.rank.host_machine import machine_gaps
from autotune.domain.calibration import BandwidthCurve, Calibration
from autotune.domain.cost_curve import CostCurve, Segment
from autotune.domain.machine import (
    BENCHMARKS,
    OVERLAP_RULES,
    CacheLevel,
    InCore,
    Machine,
    Memory,
    Overlap,
    PortTable,
    StorePath,
    Streaming,
    exposed_by,
)
from autotune.domain.network import Network
from autotune.errors import ConfigError
from autotune.files import config

MACHINE = """\
schema: autotune.machine/1
title: a machine
architecture: x86_64
clock: {value: 2.3 GHz, source: a book}
cores: 4
caches:
  - {name: L1, size: 32 KiB, line: 64 B, ways: 8, sets: 64}
  - name: L2
    size: 256 KiB
    line: 64 B
    ways: 8
    sets: 512
    inbound: {value: 32 B/cy, source: a guess, unverified: true}
memory: {saturated: 51 GB/s, cores: 4}
in_core: {osaca: HSW}
"""


def write(tmp_path, text):
    path = tmp_path / "m.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def faults(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        config.machine(path)
    return [str(fault).replace(str(path), "m.yaml") for fault in caught.value.faults]


def test_a_machine_file_is_read(tmp_path):
    machine = config.machine(write(tmp_path, MACHINE))
    assert machine.name == "m"
    assert machine.clock == 2.3e9
    assert machine.caches[1].size == 262144
    assert machine.caches[1].inbound == 32
    assert machine.memory.saturated == 51e9
    assert machine.sources == {"clock": "a book", "caches.L2.inbound": "a guess (unverified)"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "clock: {value: 2.3 GHz, source: a book}\n",
            "",
            "m.yaml:1:1: the key 'clock' is missing; expected a frequency such as 2.3 GHz:"
            " turns cycles into seconds",
        ),
        (
            "    inbound: {value: 32 B/cy, source: a guess, unverified: true}\n",
            "",
            "m.yaml:8:5: the figure inbound of L2 is missing; expected a throughput such as"
            " 32 B/cy: the time of transfers from L2",
        ),
        ("saturated: 51 GB/s, ", "", "the figure saturated of memory is missing"),
        ("osaca: HSW", "", "the figure osaca or ports of in_core is missing"),
        ("2.3 GHz", "2.3 GB", "m.yaml:4:16: clock: 'GB' is not a unit of frequency: one of Hz"),
        ("2.3 GHz", "2.3", "clock: the number 2.3 has no unit of frequency"),
        ("2.3 GHz", "-2.3 GHz", "clock: '-2.3 GHz' is not positive"),
        ("256 KiB", "-256 KiB", "size: '-256 KiB' is not positive"),
        ("256 KiB", "256.5 B", "not a whole number of bytes"),
        (
            "sets: 512",
            "sets: 500",
            "m.yaml:9:11: L2: the size is 256 KiB, but 500 sets x 8 ways x 64 B are 250 KiB;"
            " expected size = sets x ways x line",
        ),
        ("    sets: 512\n", "", "the key 'sets' is missing; expected the number of sets"),
        ("name: L2", "name: L1", "the name L1 is taken by another level"),
        ("name: L2", "name: MEM", "the name MEM is taken by the memory"),
        ("cores: 4\n", "cores: 0\n", "m.yaml:5:8: cores: the number 0; expected at least 1"),
        ("cores: 4\n", "cores: four\n", "cores: text 'four'; expected a whole number"),
        ("x86_64", "x86", "architecture: text 'x86'; expected 'x86_64', 'aarch64' or 'ppc64'"),
        (
            "source: a book",
            "sourc: a book",
            "m.yaml:4:25: unknown key 'sourc'; expected value, source, unverified"
            " (did you mean source?)",
        ),
        ("source: a book", "source: 5", "source: the number 5; expected text"),
        ("unverified: true", "unverified: 1", "unverified: the number 1; expected true or false"),
        ("title:", "tilte:", "m.yaml:2:1: unknown key 'tilte'; expected one of architecture"),
        ("size: 256 KiB", "size: 16 KiB", "L2: the size is 16 KiB"),
        (
            "size: 256 KiB\n    line: 64 B\n    ways: 8\n    sets: 512",
            "size: 16 KiB\n    line: 64 B\n    ways: 8\n    sets: 32",
            "L2 is smaller than L1",
        ),
        ("cores: 4}", "cores: 4, exposed: 2}", "exposed: the number 2; expected at most 1"),
        (
            "cores: 4}",
            "cores: 4, benchmarks: {cpy: {saturated: 1 GB/s}}}",
            "m.yaml:14:53: unknown key 'cpy'; expected one of copy, update, triad, daxpy"
            " (did you mean copy?)",
        ),
        (
            "cores: 4}",
            "cores: 4, benchmarks: {load: {saturated: 1 GB/s}}}",
            "(the bandwidth of loads is memory.saturated)",
        ),
        ("cores: 4}", "cores: 4, benchmarks: {copy: {}}}", "the key 'saturated' is missing"),
        ("cores: 4}", "cores: 4, duplex: both}", "duplex: text 'both'; expected 'half' or 'full'"),
        ("{osaca: HSW}", "{osaca: HSW, overlapping: [[]]}", "a list is not the name of a port"),
        ("in_core:", "overlap: {rule: sereal}\nin_core:", "(did you mean serial?)"),
        (
            "in_core:",
            "overlap: {store_path: {}}\nin_core:",
            "the key 'throughput' is missing; expected a throughput such as 5.3 B/cy",
        ),
        (
            "cores: 4}",
            "cores: 4, exposed: 0.5}\noverlap: {rule: serial}",
            "the overlap rule serial needs exposed 1 of memory, not 0.5",
        ),
    ],
)
def test_a_wrong_machine_is_one_clear_fault(tmp_path, old, new, expected):
    assert old in MACHINE
    found = faults(tmp_path, MACHINE.replace(old, new, 1))
    assert len(found) == 1, found
    assert expected in found[0]


def test_all_missing_figures_at_once(tmp_path):
    text = MACHINE.replace("clock: {value: 2.3 GHz, source: a book}\n", "")
    text = text.replace("saturated: 51 GB/s, ", "").replace("osaca: HSW", "")
    text = text.replace("    inbound: {value: 32 B/cy, source: a guess, unverified: true}\n", "")
    assert len(faults(tmp_path, text)) == 4


def test_a_detected_machine_may_lack_figures(tmp_path):
    text = MACHINE.replace("saturated: 51 GB/s, ", "")
    assert config.machine(write(tmp_path, text), complete=False).memory.saturated is None


@pytest.mark.parametrize("name", paths.names("machines"))
def test_shipped_machines_are_complete_and_name_their_sources(name):
    machine = config.machine(name)
    assert machine.name == name
    assert machine.title
    sources = machine.sources
    for key in ("clock", "cores", "memory.saturated", "memory.single"):
        assert sources[key]
    for cache in machine.caches:
        for figure in ("size", "line", "ways", "sets", "cores", "exposed"):
            assert sources[f"caches.{cache.name}.{figure}"]
    for cache in machine.caches[1:]:
        assert sources[f"caches.{cache.name}.inbound"]


@pytest.mark.parametrize("name", paths.names("machines"))
def test_shipped_machines_are_physical(name):
    assert config.check_machine(name) == config.machine(name)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("2.3 GHz", "2.3 MHz", "m.yaml:4:16: a clock of 2.3 MHz; expected 0.1 GHz to 10 GHz"),
        ("51 GB/s", "51 GB/s, peak: 40 GB/s", "are more than the channels carry, 40 GB/s"),
        ("51 GB/s", "51 GB/s, single: 60 GB/s", "one core reaches 60 GB/s, all together 51 GB/s"),
        (
            "51 GB/s",
            "51 GB/s, peak: 60 GB/s, benchmarks: {copy: {saturated: 61 GB/s}}",
            "61 GB/s are more than the channels carry",
        ),
        (
            "51 GB/s",
            "100 GB/s, single: 99 GB/s",
            "one core loads 99 GB/s from memory, but 73.6 GB/s from L2",
        ),
        ("cores: 4}", "cores: 3}", "4 cores are no whole number of NUMA domains of 3"),
        ("cores: 4\n", "cores: 4\nsockets: 3\n", "cannot be spread over 3 sockets"),
        ("sets: 512", "sets: 512\n    cores: 5", "L2 is shared by 5 cores of 4"),
        ("cores: 4\n", "cores: 4\nbarrier: 2 s\n", "a barrier of 2 s"),
        (
            "memory:",
            "  - {name: L3, size: 1 MiB, line: 64 B, ways: 16, sets: 1024, inbound: 64 B/cy}\n"
            "memory:",
            "m.yaml:14:72: L3 delivers 64 B/cy, L2 inside it 32 B/cy",
        ),
        ("{osaca: HSW}", "{}", "osaca or ports of in_core is missing"),
    ],
)
def test_what_cannot_be_true_is_one_clear_fault(tmp_path, old, new, expected):
    assert old in MACHINE
    path = write(tmp_path, MACHINE.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        config.check_machine(path)
    assert len(caught.value.faults) == 1, caught.value
    assert expected in str(caught.value).replace(str(path), "m.yaml")


def test_gaps_name_their_use(tmp_path):
    gaps = machine_gaps(config.check_machine(write(tmp_path, MACHINE)))
    assert "memory.single: predictions of data in memory, one thread" in gaps
    assert any(gap.startswith("memory.benchmarks: ") for gap in gaps)
    assert any(gap.endswith("several ranks on several nodes") for gap in gaps)
    bare = MACHINE.replace("    inbound: {value: 32 B/cy, source: a guess, unverified: true}\n", "")
    gaps = machine_gaps(config.check_machine(write(tmp_path, bare)))
    assert "caches.L2.inbound: predictions of data in L2" in gaps
    assert "caches.L2.inbound: the engine kerncraft" in gaps


def test_a_rule_gives_the_exposed_shares(tmp_path):
    text = MACHINE.replace("in_core:", "overlap: {rule: data-serial}\nin_core:")
    machine = config.machine(write(tmp_path, text))
    assert [cache.exposed for cache in machine.caches] == [0, 1]
    assert machine.memory.exposed == 1


def test_unverified_figures_are_known():
    found = config.machine("interlagos-6276").unverified
    assert {"memory.saturated", "caches.L2.inbound", "overlap.rule"} <= found
    assert "cores" not in found


names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12
)
duplexes = st.sampled_from([None, "half", "full"])
shares = st.floats(min_value=0, max_value=1)
positive = st.floats(min_value=1e-9, max_value=1e15)
clocks = st.floats(min_value=2e9, max_value=5e9)
counts = st.integers(min_value=1, max_value=1000)


@st.composite
def cache_levels(draw, name, exposed=None):
    line, ways = draw(st.sampled_from([32, 64, 128])), draw(st.integers(1, 32))
    return CacheLevel(
        name=name,
        size=draw(st.integers(1, 1 << 20)) * line * ways,
        line=line,
        ways=ways,
        cores=draw(counts),
        inbound=draw(st.none() | positive),
        outbound=draw(st.none() | positive),
        write_allocate=draw(st.booleans()),
        write_back=draw(st.booleans()),
        victim=draw(st.booleans()),
        duplex=draw(duplexes),
        exposed=draw(shares) if exposed is None else exposed,
    )


@st.composite
def curves(draw):
    sizes = sorted(draw(st.sets(st.integers(1, 1 << 40), min_size=1, max_size=4)))
    rates = st.floats(min_value=1e-3, max_value=1e3)
    column = st.lists(rates, min_size=len(sizes), max_size=len(sizes))
    return BandwidthCurve(
        threads=draw(counts),
        working_set=tuple(sizes),
        bandwidth=tuple(draw(column)),
        spread=tuple(draw(column)),
    )


calibrations = st.builds(
    Calibration,
    identity=names,
    taken=names,
    seconds=positive,
    clock=clocks,
    clock_spread=shares,
    curves=st.lists(curves(), max_size=2).map(tuple),
    barriers=st.dictionaries(counts, st.floats(min_value=1e-9, max_value=0.9), max_size=3),
    exposed=st.dictionaries(names, shares, max_size=3),
    contended=st.booleans(),
    priority=st.text(st.characters(exclude_characters="\0"), max_size=5),
    compiler=names,
)
ports = st.builds(
    PortTable,
    vector=st.sampled_from([8, 16, 32, 64]),
    **dict.fromkeys(
        [
            "loads",
            "stores",
            "memory_operations",
            "adds",
            "multiplies",
            "fused",
            "floating",
            "divide",
            "issue",
        ],
        positive,
    ),
    latency=st.just(0.0) | positive,
    folds=st.booleans(),
    stores_compute=st.booleans(),
    dispatch=st.integers(0, 8),
    unroll=counts,
    shared=st.lists(st.sampled_from(["floating", "issue"]), unique=True).map(tuple),
    shared_by=counts,
)
streaming = st.builds(Streaming, saturated=positive, single=st.none() | positive)
overlaps = st.builds(
    Overlap,
    rule=st.sampled_from(list(OVERLAP_RULES)),
    store_path=st.none() | st.builds(StorePath, throughput=positive, cores=counts),
)
networks = st.builds(
    Network,
    title=names,
    curves=st.just(())
    | st.builds(
        CostCurve,
        operation=st.sampled_from(["barrier", "allgather"]),
        benchmark=st.just("anchor"),
        nodes=st.just(2),
        ranks=st.just(4),
        segments=st.builds(
            Segment, lower=st.just(0), latency=positive, bandwidth=st.none() | positive
        ).map(lambda one: (one,)),
        measured=st.just((8, 1 << 20)),
    ).map(lambda one: (one,)),
)


@st.composite
def machines(draw):
    overlap = draw(overlaps)
    named = overlap.rule != "levels"
    inner, outer = exposed_by(overlap.rule) if named else (None, None)
    levels = draw(st.lists(st.sampled_from(["L1", "L2", "L3", "no"]), min_size=1, unique=True))
    caches = sorted((draw(cache_levels(name, outer)) for name in levels), key=lambda c: c.size)
    if inner is not None:
        caches[0] = replace(caches[0], exposed=inner)
    keys = ["clock", "cores", "memory.exposed", f"caches.{caches[0].name}.size", "in_core.osaca"]
    sources = draw(st.dictionaries(st.sampled_from(keys), names.map(str.strip).filter(bool)))
    osaca = draw(st.just("HSW") | st.none() if "in_core.osaca" not in sources else st.just("NO"))
    return Machine(
        name=draw(names),
        title=draw(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
        ),
        architecture=draw(st.sampled_from(["x86_64", "aarch64", "ppc64"])),
        clock=draw(clocks),
        cores=draw(counts),
        threads_per_core=draw(counts),
        sockets=draw(counts),
        caches=tuple(caches),
        memory=Memory(
            saturated=draw(st.none() | positive),
            single=draw(st.none() | positive),
            outbound=draw(st.none() | positive),
            cores=draw(counts),
            exposed=draw(shares) if outer is None else outer,
            duplex=draw(duplexes),
            peak=draw(st.none() | positive),
            penalty_load=draw(st.none() | st.just(0.0) | positive),
            penalty_store=draw(st.none() | positive),
            benchmarks=draw(st.dictionaries(st.sampled_from(BENCHMARKS), streaming)),
        ),
        in_core=InCore(
            osaca=osaca,
            approximate=draw(st.booleans()),
            ports=draw(st.none() | ports),
            overlapping=draw(st.just(()) | st.just(("0", "0DV", "1e6"))),
            non_overlapping=draw(st.just(()) | st.just(("2D", "null"))),
        ),
        overlap=overlap,
        compilers=draw(st.just({}) | st.just({"gcc": "-O3"})),
        network=draw(st.none() | networks),
        barrier=draw(st.none() | positive),
        sources=sources,
        calibration=draw(st.none() | calibrations),
        kerncraft=draw(st.none() | st.just("kerncraft version: 0.8.18\n")),
    )


@settings(max_examples=60, deadline=None)
@given(machines())
def test_machines_round_trip(tmp_path_factory, machine):
    path = tmp_path_factory.mktemp("machine") / "m.yaml"
    path.write_text(config.dump_machine(machine), encoding="utf-8")
    assert config.machine(path, complete=False) == machine


@settings(max_examples=60, deadline=None)
@given(calibrations)
def test_calibrations_round_trip(tmp_path_factory, calibration):
    path = tmp_path_factory.mktemp("calibration") / "c.yaml"
    path.write_text(config.dump_calibration(calibration), encoding="utf-8")
    assert config.read_calibration(path) == calibration


@pytest.mark.parametrize("name", paths.names("machines"))
def test_shipped_machines_round_trip(tmp_path, name):
    machine = config.machine(name)
    assert config.machine(write(tmp_path, config.dump_machine(machine))) == machine


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("threads: 1", "threads: 0", "threads: the number 0; expected at least 1"),
        ("'1': 1 us", "one: 1 us", "'one' is not a number of threads; expected at least 1"),
        ("L2: 0.5", "L2: 1.5", "L2: the number 1.5; expected at most 1"),
        ("1 KiB", "1 GHz", "'GHz' is not a unit of size"),
        ("size: 2 KiB", "size: 1 KiB", "working sets must ascend"),
    ],
)
def test_a_wrong_calibration_is_one_clear_fault(tmp_path, old, new, expected):
    calibration = Calibration(
        identity="x",
        taken="now",
        seconds=1.0,
        clock=1e9,
        clock_spread=0.0,
        curves=(
            BandwidthCurve(
                threads=1, working_set=(1024, 2048), bandwidth=(1.0, 1.0), spread=(0.0, 0.0)
            ),
        ),
        barriers={1: 1e-6},
        exposed={"L2": 0.5},
        contended=False,
        priority="none",
        compiler="gcc",
    )
    text = config.dump_calibration(calibration).replace('"1": 1 us', "'1': 1 us")
    assert old in text
    with pytest.raises(ConfigError) as caught:
        config.read_calibration(write(tmp_path, text.replace(old, new, 1)))
    assert len(caught.value.faults) == 1
    assert expected in str(caught.value)


def test_a_missing_capacity_is_a_gap_once(tmp_path):
    gaps = machine_gaps(config.check_machine(write(tmp_path, MACHINE)))
    assert [gap for gap in gaps if "capacity" in gap] == [
        "memory.capacity: refusing what is too large (without it, nothing is refused)"
    ]
    sized = MACHINE.replace("cores: 4}\nin_core", "cores: 4, capacity: 8 GiB}\nin_core")
    gaps = machine_gaps(config.check_machine(write(tmp_path, sized)))
    assert not [gap for gap in gaps if "capacity" in gap]
