"""Energy from a powercap folder, memory from /proc: what samples say of both."""

import sys
from pathlib import Path

import pytest

from autotune.errors import InputError
from autotune.measuring.conditions import energy
from autotune.measuring.conditions.energy import EnergyReading
from autotune.measuring.conditions.resource_use import ENERGY, MEMORY, ResourceUse
from autotune.toolchain import child_process
from autotune.toolchain.memory_footprint import Footprint

MIB = 1 << 20


def zone(folder: Path, name: str, title: str, value: int, span: int = 10_000_000) -> Path:
    made = folder / name
    made.mkdir(parents=True)
    (made / "name").write_text(f"{title}\n")
    (made / "energy_uj").write_text(f"{value}\n")
    (made / "max_energy_range_uj").write_text(f"{span - 1}\n")
    return made


@pytest.fixture
def powercap(tmp_path):
    """Two sockets with their parts, the whole platform, and the first socket a second time."""
    folder = tmp_path / "powercap"
    zone(folder, "intel-rapl:0", "package-0", 1_000_000)
    zone(folder, "intel-rapl:0:0", "core", 400_000)
    zone(folder, "intel-rapl:0:1", "dram", 300_000)
    zone(folder, "intel-rapl:1", "package-1", 9_500_000)
    zone(folder, "intel-rapl:2", "psys", 5_000_000)
    zone(folder, "intel-rapl-mmio:0", "package-0", 77)
    (folder / "intel-rapl").mkdir()
    return folder


def count(folder: Path, name: str, value: int) -> None:
    (folder / name / "energy_uj").write_text(f"{value}\n")


def test_packages_are_added_up_and_counters_start_again(powercap):
    meter, reason = energy.find(powercap)
    assert (reason, [domain.name for domain in meter.domains]) == ("", ["package-0", "package-1"])
    before = meter.read()
    count(powercap, "intel-rapl:0", 3_000_000)
    count(powercap, "intel-rapl:1", 500_000)  # past its end: 0.5 J before it, 0.5 J after
    after = meter.read()
    assert meter.joules(before, after) == pytest.approx(2.0 + 1.0)
    lasted = EnergyReading(after.microjoules, before.at + 0.1)
    assert meter.watts(before, lasted) == pytest.approx(30.0)
    assert meter.watts(before, EnergyReading(before.microjoules, before.at + 0.1)) is None


def test_dies_of_a_package_count_as_packages(tmp_path):
    for die in (0, 1):
        zone(tmp_path, f"intel-rapl:{die}", f"package-0-die-{die}", 5)
    meter, _ = energy.find(tmp_path)
    assert len(meter.domains) == 2


@pytest.mark.parametrize("spoil", ["none", "empty", "text", "no counter"])
def test_what_cannot_be_read_is_said_where_it_was_asked_for(tmp_path, spoil):
    folder = tmp_path / "powercap"
    if spoil != "none":
        folder.mkdir()
    if spoil == "text":
        (zone(folder, "intel-rapl:0", "package-0", 1) / "energy_uj").write_text("lots")
    if spoil == "no counter":
        zone(folder, "intel-rapl:0", "package-0", 1)
        (zone(folder, "intel-rapl:1", "package-1", 1) / "energy_uj").unlink()
    assert energy.find(folder)[0] is None
    with pytest.raises(InputError) as caught:
        energy.require("study.yaml:3:1", folder)
    (fault,) = caught.value.faults
    assert fault.where == "study.yaml:3:1"
    assert str(folder) in fault.found
    assert "chmod" in fault.hint


def test_energy_of_a_sample_is_that_of_the_time_since_the_last_one(powercap, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(energy.time, "monotonic", lambda: now[0])
    meter, _ = energy.find(powercap)
    resource_use = ResourceUse(meter=meter)
    resource_use.begin(0)

    def pass_by(seconds, joules):
        now[0] += seconds
        raw = int((powercap / "intel-rapl:0" / "energy_uj").read_text())
        count(powercap, "intel-rapl:0", (raw + int(1e6 * joules)) % 10_000_000)

    pass_by(2.0, 4.0)
    assert ENERGY not in resource_use.of_sample(0.01)  # it was starting
    pass_by(0.5, 5.0)
    assert resource_use.of_sample(0.01)[ENERGY] == pytest.approx(10.0 * 0.01)
    pass_by(0.5, 8.0)
    assert resource_use.of_sample(0.02)[ENERGY] == pytest.approx(16.0 * 0.02)
    whole = ResourceUse(meter=meter)
    whole.begin(0)
    pass_by(2.0, 3.0)
    whole.end(0)
    assert whole.of_launch(1.0)[ENERGY] == pytest.approx(1.5)


def run(text: str, watcher, **options) -> child_process.ProcessOutcome:
    outcome = child_process.run(
        [sys.executable, "-c", text], timeout=60, watcher=watcher, **options
    )
    assert outcome.ok, outcome.describe()
    return outcome


def test_memory_that_was_given_back_still_counts():
    own = Footprint()._floor // MIB
    resource_use = ResourceUse()
    run(f"x = bytearray({own + 300} << 20); del x", resource_use)
    assert own + 300 <= resource_use.of_launch(1.0)[MEMORY] / MIB < own + 400
    assert ENERGY not in resource_use.of_launch(1.0)


def test_processes_at_once_add_up_and_a_launcher_does_not_count():
    """Two children that hold memory together; this process is larger than they are."""
    one = "x = bytearray(64 << 20); print(1, flush=True); input()"
    both = (
        "import subprocess, sys\n"
        f"made = [subprocess.Popen([sys.executable, '-c', {one!r}], stdin=subprocess.PIPE,"
        " stdout=subprocess.PIPE, text=True) for _ in range(2)]\n"
        "for child in made: child.stdout.readline()\n"
        "print('ready', flush=True); input()\n"
        "for child in made: child.communicate('\\n')\n"
    )
    everyone, nobody = Footprint(), Footprint(counted=Path("/dev/null"))
    seen = []

    def hear(line):
        for footprint in (everyone, nobody):
            footprint.look()
        seen.append(everyone.peak)
        return True

    class Both:
        def begin(self, pid):
            everyone.begin(pid)
            nobody.begin(pid)

        def look(self): ...

        def end(self, reaped): ...

    run(both, Both(), listener=child_process.LineListener(hear, paced=True))
    assert 128 * MIB < seen[0] < 300 * MIB
    assert nobody.peak is None
