"""Captured hosts become the machines that they are."""

from pathlib import Path

import pytest

from autotune.errors import InputError
from autotune.measuring.host import architectures, host_facts
from autotune.measuring.host.detect import detect, examine
from autotune.measuring.host.stored_calibrations import identity

KI, MI = 1024, 1024**2
NAMES = sorted(path.stem for path in (Path(__file__).parent / "captured").glob("*.json"))


def shape(machine):
    return [(c.name, c.size, c.ways, c.cores) for c in machine.caches]


def test_zen3_guest(host):
    machine = detect(host("zen3-epyc-guest"))
    assert (machine.architecture, machine.cores, machine.threads_per_core) == ("x86_64", 2, 1)
    assert machine.in_core.osaca == "ZEN3"
    assert not machine.in_core.approximate
    assert shape(machine) == [
        ("L1", 32 * KI, 8, 1), ("L2", 512 * KI, 8, 1), ("L3", 32 * MI, 16, 2),
    ]  # fmt: skip
    assert [c.sets for c in machine.caches] == [64, 1024, 32768]
    assert [c.victim for c in machine.caches] == [False, False, True]
    assert {c.exposed for c in machine.caches} == {0.0}
    assert machine.memory.saturated is None


def test_haswell_with_two_sockets_and_smt(host):
    machine = detect(host("haswell-xeon-2s"))
    assert (machine.cores, machine.threads_per_core, machine.sockets) == (16, 2, 2)
    assert machine.memory.cores == 8
    assert machine.in_core.osaca == "HSW"
    assert shape(machine)[-1] == ("L3", 20 * MI, 20, 8)
    assert machine.caches[0].cores == 1
    assert {c.exposed for c in machine.caches} == {1.0}
    assert not any(c.victim for c in machine.caches)
    assert machine.clock == pytest.approx(3.2e9)


def test_zen4_counts_only_the_cores_it_may_use(host):
    machine = detect(host("zen4-epyc-bound"))
    assert (machine.cores, machine.threads_per_core, machine.memory.cores) == (4, 1, 4)
    assert machine.caches[-1].cores == 4
    assert machine.sources["caches.L3"].endswith("of the 8 cores that share it 4 may be used")
    assert machine.in_core.osaca == "ZEN4"
    assert machine.in_core.ports.vector == 64


def test_neoverse_n1(host):
    machine = detect(host("neoverse-n1-graviton2"))
    assert (machine.architecture, machine.cores) == ("aarch64", 8)
    assert machine.in_core.osaca == "N1"
    assert machine.in_core.ports.vector == 16
    assert shape(machine)[-1] == ("L3", 32 * MI, 16, 8)
    assert "Neoverse N1" in machine.title


def test_levels_without_sizes_take_the_documented_ones(host):
    detected = examine(host("cortex-a72-no-sizes"))
    assert shape(detected.machine) == [("L1", 32 * KI, 2, 1), ("L2", 1024 * KI, 16, 2)]
    (reason,) = [r for r in detected.reasons if r.key == "caches.L2"]
    assert "as documented for A72" in reason.because


def test_unknown_processor_gets_a_port_table(host):
    machine = detect(host("unknown-x86"))
    assert machine.in_core.osaca is None
    assert (machine.in_core.ports.vector, machine.in_core.ports.fused) == (32, 0.0)
    assert shape(machine) == [("L1", 32 * KI, 8, 1), ("L2", 4 * MI, 16, 4)]
    assert {c.exposed for c in machine.caches} == {1.0}


def test_container_without_sysfs(host):
    detected = examine(host("container-no-sysfs"))
    machine = detected.machine
    assert (machine.cores, machine.threads_per_core) == (2, 2)
    assert machine.in_core.osaca == "SKX"
    assert shape(machine)[:2] == [("L1", 32 * KI, 8, 1), ("L2", 1 * MI, 16, 1)]
    assert machine.caches[2].size == 33 * MI
    because = {reason.key: reason.because for reason in detected.reasons}
    assert "grants 2.5 CPUs" in because["cores"]
    assert "not shown by sysfs" in because["caches.L1"]
    assert "cache size" in because["caches.L3"]


def test_memory_of_a_container_is_what_its_group_grants(host):
    root = host("container-no-sysfs")
    assert host_facts.available_memory(root) == 2147483648 - 147483648


def test_without_procfs_the_error_says_what_is_missing(tmp_path):
    with pytest.raises(InputError, match=r"proc/cpuinfo.*cannot be read"):
        detect(tmp_path)


def test_the_reported_clock_is_that_of_the_busiest_cpu(tmp_path):
    (tmp_path / "proc").mkdir()
    records = (f"processor\t: {i}\ncpu MHz\t\t: {mhz}\n" for i, mhz in enumerate((800, 3600, 900)))
    (tmp_path / "proc/cpuinfo").write_text("\n".join(records))
    assert detect(tmp_path).clock == 3.6e9


def test_an_empty_processor_record_still_gives_a_machine(tmp_path):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("processor\t: 0\nhart\t: 0\nisa\t: rv64imafdc\n")
    detected = examine(tmp_path)
    assert detected.machine.cores == 1
    assert detected.machine.in_core.ports.vector == 8
    assert "placeholder" in detected.machine.sources["clock"]
    assert "usual sizes, assumed" in detected.machine.sources["caches.L1"]


@pytest.mark.parametrize("name", NAMES)
def test_every_decision_has_a_reason(host, name):
    detected = examine(host(name))
    keys = {reason.key for reason in detected.reasons}
    assert {"cores", "clock", "memory.cores", "in-core.osaca", "caches.exposed"} <= keys
    assert {f"caches.{c.name}" for c in detected.machine.caches} <= keys
    assert all(reason.decided and reason.because for reason in detected.reasons)
    assert set(detected.machine.sources) == keys


def test_identity_tells_hosts_apart_and_ignores_the_reported_clock(host):
    identities = {}
    for name in NAMES:
        root = host(name)
        identities[name] = identity(detect(root))
        cpuinfo = root / "proc/cpuinfo"
        cpuinfo.write_text(cpuinfo.read_text().replace("cpu MHz\t\t: ", "cpu MHz\t\t: 1"))
        assert identity(detect(root)) == identities[name]
    assert len(set(identities.values())) == len(NAMES)


def test_this_host_is_detected():
    machine = detect()
    assert machine.name == "host"
    assert machine.cores >= 1


@pytest.mark.parametrize(
    ("vendor", "family", "model", "stepping", "osaca", "approximate"),
    [
        ("GenuineIntel", 6, 0x2A, 7, "SNB", False),
        ("GenuineIntel", 6, 0x3F, 2, "HSW", False),
        ("GenuineIntel", 6, 0x55, 4, "SKX", False),
        ("GenuineIntel", 6, 0x55, 7, "CSX", False),
        ("GenuineIntel", 6, 0x5E, 3, "SKX", True),
        ("GenuineIntel", 6, 0xCF, 2, "SPR", False),
        ("GenuineIntel", 6, 0x97, 2, "SPR", True),
        ("GenuineIntel", 15, 6, 0, None, False),
        ("AuthenticAMD", 0x17, 0x01, 2, "ZEN1", False),
        ("AuthenticAMD", 0x17, 0x31, 0, "ZEN2", False),
        ("AuthenticAMD", 0x19, 0x21, 0, "ZEN3", False),
        ("AuthenticAMD", 0x19, 0x61, 2, "ZEN4", False),
        ("AuthenticAMD", 0x1A, 0x44, 0, "ZEN4", True),
        ("AuthenticAMD", 0x15, 0x01, 2, None, False),
    ],
)
def test_x86_models(vendor, family, model, stepping, osaca, approximate):
    match = architectures.x86(vendor, family, model, stepping)
    assert (match.osaca, match.approximate) == (osaca, approximate)


def test_instruction_sets_tell_a_newer_processor_than_a_hypervisor_shows():
    """A guest of a Granite Rapids that shows the model of a Rocket Lake."""
    shown = ("GenuineIntel", 6, 167, 1)
    match = architectures.x86(*shown, frozenset({"avx512f", "amx_tile", "avx512_fp16"}))
    assert (match.osaca, match.approximate) == ("SPR", True)
    assert match.name.endswith("model 167 that has amx_tile: Sapphire Rapids or later")
    assert architectures.x86(*shown, frozenset({"avx512f"})).osaca == "ICL"
    sapphire = architectures.x86("GenuineIntel", 6, 0x8F, 8, frozenset({"amx_tile"}))
    assert (sapphire.osaca, sapphire.approximate) == ("SPR", False)


@pytest.mark.parametrize(
    ("implementer", "part", "osaca", "approximate"),
    [
        (0x41, 0xD0C, "N1", False),
        (0x41, 0xD40, "V2", True),
        (0x46, 0x001, "A64FX", False),
        (0x61, 0x022, "M1", True),
        (0x41, 0xD03, None, False),
    ],
)
def test_arm_parts(implementer, part, osaca, approximate):
    match = architectures.arm(implementer, part)
    assert (match.osaca, match.approximate) == (osaca, approximate)


def test_family_15h_gets_the_documented_port_model():
    match = architectures.x86("AuthenticAMD", 0x15, 0x01, 2)
    ports = architectures.ports("x86_64", frozenset({"avx"}), match)
    assert ports.table.vector == 16
    assert ports.table.memory_operations == 2


@pytest.mark.parametrize(
    ("processor", "floating"), [(("AuthenticAMD", 0x1A, 0x44), 4), (("GenuineIntel", 6, 0x55), 2)]
)
def test_zen_adds_beside_its_multiply_adds(processor: tuple[str, int, int], floating: int) -> None:
    match = architectures.x86(*processor, 0)
    ports = architectures.ports("x86_64", frozenset({"avx512f"}), match)
    assert (ports.table.floating, ports.table.fused) == (floating, 2)


def test_the_memory_is_what_the_system_has_or_a_control_group_grants(tmp_path):
    assert host_facts.installed_memory(tmp_path) is None
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal:       4194304 kB\nMemFree:  100 kB\n")
    assert host_facts.installed_memory(tmp_path) == 4 << 30
    (tmp_path / "proc/self").mkdir()
    (tmp_path / "proc/self/cgroup").write_text("0::/\n")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("1073741824\n")
    assert host_facts.installed_memory(tmp_path) == 1 << 30
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("max\n")
    assert host_facts.installed_memory(tmp_path) == 4 << 30
