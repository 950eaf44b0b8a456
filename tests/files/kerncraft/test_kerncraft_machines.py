"""Machine files of kerncraft: read, refused with a reason, and written for real kerncraft."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from kerncraft_machines import folder
from sample_nodes import calibrated

from autotune.errors import ConfigError, Fault, InputError
from autotune.files import config
from autotune.files.kerncraft.kerncraft_text import kerncraft_text

NAMES = [
    "A64FX_qpace4",
    "ARMv8_ThunderX2-CN9980",
    "BroadwellEP_E5-2630v4",
    "BroadwellEP_E5-2697v4_CoD",
    "CascadelakeSP_Gold-6248_SNC",
    "HaswellEP_E5-2695v3",
    "HaswellEP_E5-2695v3_CoD",
    "IvyBridgeEP_E5-2660v2",
    "IvyBridgeEP_E5-2690v2",
    "SandyBridgeEP_E5-2680",
    "SkylakeSP_Gold-5122",
    "SkylakeSP_Gold-6148",
    "SkylakeSP_Gold-6148_SNC",
    "SkylakeSP_Platinum-8147_2.7GHz",
    "Zen2_EPYC-7452",
    "Zen_EPYC-7451",
    "Zen_Ryzen7-1700X",
]

SMALL = """\
kerncraft version: 0.8.11.dev0
model name: A small machine
clock: 2.3 GHz
sockets: 2
cores per socket: 4
threads per core: 1
cores per NUMA domain: 4
cacheline size: 64 B
isa: x86
in-core model: !!omap
- OSACA: HSW
- IACA: HSW
compiler: !!omap
- icc: -O3 -xAVX
- gcc: -O3 -mavx2
overlapping model:
  ports:
    OSACA: ['0', 0DV, '1']
non-overlapping model:
  ports:
    OSACA: [2D, 3D]
memory hierarchy:
- level: L1
  cache per group: {sets: 64, ways: 8, cl_size: 64, load_from: L2, store_to: L2,
    write_allocate: true, write_back: true}
  cores per group: 1
  upstream throughput: [architecture code analyzer, [2D, 3D]]
  transfers overlap: true
- level: L2
  cache per group: {sets: 512, ways: 8, cl_size: 64, victims_to: L3, store_to: L3,
    write_allocate: true, write_back: true}
  cores per group: 1
  upstream throughput: [64 B/cy, half-duplex]
  transfers overlap: false
- level: L3
  cache per group: {sets: 4096, ways: 16, cl_size: 64, write_allocate: false, write_back: true}
  cores per group: 4
  upstream throughput: [16 B/cy, full-duplex]
  transfers overlap: false
- level: MEM
  cores per group: 4
  upstream throughput: [full socket memory bandwidth, half-duplex]
  penalty cycles per cacheline load: 2.5
  transfers overlap: false
benchmarks:
  kernels:
    load:
      read streams: {bytes: 8.00 B, streams: 1}
      read+write streams: {bytes: 0.00 B, streams: 0}
      write streams: {bytes: 0.00 B, streams: 0}
    copy:
      read streams: {bytes: 8.00 B, streams: 1}
      read+write streams: {bytes: 0.00 B, streams: 0}
      write streams: {bytes: 8.00 B, streams: 1}
  measurements:
    MEM:
      1:
        threads per core: 1
        cores: [1, 2, 3, 4, 5]
        results:
          load: [8.0 GB/s, 16.0 GB/s, 20.5 GB/s, 20.0 GB/s, 99.0 GB/s]
          copy: [6.0 GB/s, 10.0 GB/s, 12.0 GB/s, 11.0 GB/s, 99.0 GB/s]
"""


def write(tmp_path, text=SMALL):
    path = tmp_path / "small.yml"
    path.write_text(text, encoding="utf-8")
    return path


def faults(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        config.machine(path)
    return [str(fault).replace(str(path), "small.yml") for fault in caught.value.faults]


def without(text, start, end):
    first = text.index(start)
    return text[:first] + text[text.index(end, first) :]


@pytest.mark.parametrize("name", NAMES)
def test_kerncrafts_own_machine_files_are_accepted(name):
    path = folder() / f"{name}.yml"
    machine = config.machine(path)
    text = path.read_text(encoding="utf-8")
    assert kerncraft_text(machine) == text
    clock = re.search(r"^clock: ([0-9.]+) GHz", text, re.MULTILINE)
    assert clock
    assert machine.clock == pytest.approx(float(clock[1]) * 1e9)
    assert machine.in_core.osaca
    assert machine.memory.saturated > machine.memory.single > 0
    assert set(machine.memory.benchmarks) == {"copy", "daxpy", "triad", "update"}
    assert config.check_machine(path) == machine


def test_all_of_them_are_known():
    assert sorted(path.stem for path in folder().glob("*.yml")) == NAMES


def test_everything_that_the_model_needs_is_read(tmp_path):
    machine = config.machine(write(tmp_path))
    assert (machine.name, machine.title) == ("small", "A small machine")
    assert (machine.cores, machine.sockets, machine.memory.cores) == (8, 2, 4)
    assert (machine.architecture, machine.clock, machine.line) == ("x86_64", 2.3e9, 64)
    assert [cache.size for cache in machine.caches] == [32768, 262144, 4194304]
    assert [cache.duplex for cache in machine.caches] == [None, "half", "full"]
    assert [cache.exposed for cache in machine.caches] == [0.0, 1.0, 1.0]
    assert [cache.victim for cache in machine.caches] == [False, False, True]
    assert (machine.caches[2].inbound, machine.caches[2].cores) == (16, 4)
    assert (machine.memory.saturated, machine.memory.single) == (20.5e9, 8e9)
    assert machine.memory.benchmarks["copy"].saturated == 12e9
    assert machine.memory.penalty_load == 2.5
    assert machine.in_core.osaca == "HSW"
    assert machine.in_core.overlapping == ("0", "0DV", "1")
    assert machine.in_core.non_overlapping == ("2D", "3D")
    assert machine.compilers == {"icc": "-O3 -xAVX", "gcc": "-O3 -mavx2"}


def test_the_text_survives_our_own_machine_file(tmp_path):
    machine = config.machine(write(tmp_path))
    own = tmp_path / "own.yaml"
    own.write_text(config.dump_machine(machine), encoding="utf-8")
    assert config.machine(own) == machine
    assert kerncraft_text(config.machine(own)) == SMALL


def test_a_study_may_name_it(tmp_path):
    write(tmp_path)
    study = tmp_path / "study.yaml"
    study.write_text(
        """\
schema: autotune.config/1
machine: small.yml
skeleton: pirk
space: pirk
problems: [{ivp: heat2d, method: radau-iia-7, correctors: 6, size: 64}]
""",
        encoding="utf-8",
    )
    assert config.load(study).machine.kerncraft == SMALL


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "0.8.11.dev0",
            "0.9.1",
            "small.yml:1:20: kerncraft version 0.9.1; expected 0.8.3.dev0 to 0.8.18",
        ),
        ("0.8.11.dev0", "0.8.3", "kerncraft version 0.8.3; expected 0.8.3.dev0 to 0.8.18"),
        ("0.8.11.dev0", "new", "kerncraft version new; expected"),
        (
            "clock: 2.3 GHz",
            "clock: 2.3",
            "small.yml:3:8: clock: the number 2.3; expected a",
        ),
        (
            "clock: 2.3 GHz",
            "clock: 23 GHz",
            "small.yml:3:8: a clock of 23 GHz; expected 0.1 GHz to 10 GHz",
        ),
        ("2.3 GHz", "2.3 THz", "kerncraft 0.8.18 misreads the prefix T: write GHz"),
        ("cacheline size: 64 B", "cacheline size: 1 KiB", "kerncraft reads binary prefixes as"),
        ("64 B/cy", "64 GB/s", "upstream throughput / 0: text '64 GB/s'; expected a number"),
        (
            "half-duplex]\n  transfers",
            "duplex]\n  transfers",
            "half-duplex or full-duplex",
        ),
        ("sockets: 2", "sockets: zwei", "sockets: text 'zwei'; expected a positive whole number"),
        ("kerncraft version", "version", "small.yml:1:1: kerncraft version is missing"),
        ("sets: 512", "sets: many", "sets: text 'many'; expected a positive whole number"),
        ("isa: x86", "isa: power", "isa: text 'power'; expected x86 or aarch64"),
        ("isa: x86\n", "", "small.yml:1:1: isa is missing; expected for the in-core analysis"),
        ("- OSACA: HSW\n", "", "in-core model: one of IACA; expected OSACA: IACA is discontinued"),
        ("sockets: 2", "sockets: 2\nsockets: 2", "small.yml:5:1: the key 'sockets' is here again"),
        ("8.0 GB/s, 16", "8.0 GiB/s, 16", "results / load / 0: text '8.0 GiB/s'"),
    ],
)
def test_a_wrong_file_is_one_clear_fault(tmp_path, old, new, expected):
    assert old in SMALL
    found = faults(tmp_path, SMALL.replace(old, new, 1))
    assert len(found) == 1, found
    assert expected in found[0]


def test_missing_benchmarks_are_named_with_their_use(tmp_path):
    found = faults(tmp_path, SMALL[: SMALL.index("benchmarks:")])
    assert found == [
        "small.yml:1:1: benchmarks / kernels is missing; expected for the choice of the memory"
        " bandwidth, even for data in caches",
        "small.yml:1:1: benchmarks / measurements / MEM / 1 / results is missing; expected for the"
        " choice of the memory bandwidth, even for data in caches",
    ]


def test_all_faults_come_at_once(tmp_path):
    text = SMALL.replace("2.3 GHz", "fast").replace("sets: 64,", "").replace("true}", "yes}")
    assert len(faults(tmp_path, text)) == 2


# --- written for kerncraft --------------------------------------------------------------------

ASK = """\
import json, sys
import kerncraft_reference
from kerncraft import models
from kerncraft.kerncraft import create_parser
from kerncraft.kernel import KernelCode
from kerncraft.machinemodel import MachineModel
machine, kernel, size = sys.argv[1:]
kerncraft_reference.refuse_intel()
kerncraft_reference.keep_tables()
parser = create_parser()
args = parser.parse_args(
    ["-p", "ECM", "-m", machine, kernel, "--cache-predictor", "LC", "-i", "OSACA"]
)
code = KernelCode(open(kernel).read(), filename=kernel, machine=MachineModel(machine, args=args))
code.set_constant("N", int(size))
model = models.ECM(code, code._machine, args, parser)
model.analyze()
found = model.results
print(json.dumps({
    "T_OL": found["T_comp"], "T_nOL": found["T_RegL1"], "cycles": found["cycles"],
    "bandwidth": float(found["memory bandwidth"]), "kernel": found["memory bandwidth kernel"],
}))
"""
DATA = """\
import json, sys
from kerncraft import models
from kerncraft.cacheprediction import CacheSimulationPredictor
from kerncraft.kernel import KernelCode
from kerncraft.machinemodel import MachineModel
path, kernel, size = sys.argv[1:]
machine = MachineModel(path)
code = KernelCode(open(kernel).read(), machine=machine)
code.set_constant("N", int(size))
model = models.ECMData(code, machine, cores=1, cache_predictor=CacheSimulationPredictor)
model.analyze()
print(json.dumps({
    "cycles": model.results["cycles"],
    "loads": list(map(float, model.predictor.get_loads())),
    "stores": list(map(float, model.predictor.get_stores())),
}))
"""
TRIAD = """\
double a[N], b[N], c[N], d[N];
for(int i=0; i<N; ++i)
  a[i] = b[i] + c[i]*d[i];
"""


def ask(tmp_path, program, text, size):
    (tmp_path / "machine.yml").write_text(text, encoding="utf-8")
    (tmp_path / "triad.c").write_text(TRIAD, encoding="utf-8")
    command = [sys.executable, "-c", program, "machine.yml", "triad.c", str(size)]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "support")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
def test_real_kerncraft_reads_the_haswell_file(tmp_path):
    text = kerncraft_text(config.machine("haswell-e5-2630v3"))
    found = ask(tmp_path, ASK, text, 10_000_000)
    # 4 lines in, 1 out; triad: 36.5 GB/s raw with 5 lines for 4 that the kernel names
    assert found["kernel"] == "triad"
    assert found["bandwidth"] == pytest.approx(36.5e9 * 5 / 4)
    levels = dict(found["cycles"])
    assert levels["L2"] == pytest.approx(5.0)
    assert levels["L3"] == pytest.approx(10.0)
    assert levels["MEM"] == pytest.approx(5 * 64 * 2.3e9 / 45.625e9)
    assert (found["T_OL"], found["T_nOL"]) == (4.0, 3.0)


def test_a_write_through_cache_and_a_modules_cache_count_right(tmp_path):
    machine = config.machine("interlagos-6276")
    text = kerncraft_text(machine, in_core=False)
    # half of a module's 2 MiB; not divided by the running cores
    assert "{sets: 1024, ways: 16, cl_size: 64" in text
    assert "write_allocate: false, write_back: true, load_from: L2" in text
    found = ask(tmp_path, DATA, text, 1_000_000)
    # lines between L1 and L2: four in, one out, not eight element stores
    assert (found["loads"][1], found["stores"][1]) == (pytest.approx(4), pytest.approx(1))
    # a victim cache: every line that leaves L2 goes there, those from memory do not come from there
    assert (found["loads"][2], found["stores"][2]) == (pytest.approx(0), pytest.approx(4))


def test_lines_of_128_bytes_reach_kerncraft(tmp_path):
    text = kerncraft_text(config.machine("power4-1.3"), in_core=False)
    assert "cacheline size: 128 B" in text
    assert "{sets: 720, ways: 8, cl_size: 128" in text
    found = ask(tmp_path, DATA, text, 10_000)
    assert dict(found["cycles"])["MEM"] == pytest.approx(0, abs=1)


@pytest.mark.parametrize("name", ["haswell-e5-2630v3", "chimaira-i7-4770"])
def test_only_prefixes_that_kerncraft_reads_right(name):
    text = kerncraft_text(config.machine(name))
    for _, unit in re.findall(r"\b(\d[\d.]*) ([A-Za-z/]+)\b", text):
        assert unit in ("GHz", "GB/s", "kB", "B", "B/cy"), unit
    assert not re.search(r"\de[-+]?\d", text)


@pytest.mark.parametrize("name", ["haswell-e5-2630v3", "chimaira-i7-4770"])
def test_what_is_written_reads_back(tmp_path, name):
    machine = config.machine(name)
    again = config.machine(write(tmp_path, kerncraft_text(machine)))
    assert (again.clock, again.cores, again.line) == (machine.clock, machine.cores, machine.line)
    for one, two in zip(again.caches, machine.caches, strict=True):
        assert (one.size, one.ways, one.cores) == (two.size, two.ways, two.cores)
        assert (one.inbound, one.duplex, one.exposed) == (two.inbound, two.duplex, two.exposed)
    assert again.memory.saturated == machine.memory.saturated
    raw = {name: found.saturated for name, found in machine.memory.benchmarks.items()}
    assert {name: found.saturated for name, found in again.memory.benchmarks.items()} == raw
    assert again.in_core.osaca == machine.in_core.osaca
    assert again.in_core.overlapping == machine.in_core.overlapping


def test_a_calibrated_host_is_written_with_what_was_measured(tmp_path):
    text = kerncraft_text(calibrated())
    assert "gcc: '-O3 -march=haswell'" in text
    again = config.machine(write(tmp_path, text))
    assert again.clock == 3e9
    assert (again.memory.single, again.memory.saturated) == (12e9, 24e9)  # 4 B/cy, 4 x 2 B/cy
    # kerncraft's overlapping levels must begin at the core, which here does not overlap
    assert [cache.exposed for cache in again.caches] == [1, 1, 1]
    assert again.memory.duplex == "full"  # the file says nothing of lines that go out


@pytest.mark.parametrize(
    ("name", "expected"),
    [("haswell-e5-2630v3", [False] * 4), ("power4-1.3", [True, False, False, False])],
)
def test_overlap_is_what_the_rule_says(name, expected):
    text = kerncraft_text(config.machine(name), in_core=False)
    assert re.findall(r"transfers overlap: (\w+)", text) == [str(e).lower() for e in expected]


def test_what_kerncraft_lacks_is_said():
    with pytest.raises(InputError, match=r"in_core\.osaca is missing"):
        kerncraft_text(config.machine("interlagos-6276"))
    with pytest.raises(InputError, match="support for ppc64 in OSACA is missing"):
        kerncraft_text(config.machine("power4-1.3"))


@pytest.mark.parametrize("cut", range(60, len(SMALL), 41))
def test_a_file_that_is_cut_is_read_or_refused_with_its_place(tmp_path, cut):
    place = tmp_path / "cut.yml"
    place.write_text(SMALL[:cut], encoding="utf-8")
    faults: tuple[Fault, ...] = ()
    try:
        config.machine(place)
    except ConfigError as error:
        faults = error.faults
    assert all(str(place) in fault.where for fault in faults)
