"""Calibrations are kept, found again, and refused with a remedy when they are damaged."""

import dataclasses
import math
from dataclasses import replace
from pathlib import Path

import pytest

from autotune.domain.calibration import BandwidthCurve, Calibration, Constant, Refined
from autotune.errors import InputError
from autotune.measuring.host import host_probe, stored_calibrations
from autotune.measuring.host.detect import detect


@pytest.fixture
def machine(host, tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path / "data"))
    return detect(host("zen3-epyc-guest"))


def calibration(machine, clock=3.25e9):
    return Calibration(
        identity=stored_calibrations.identity(machine),
        taken="2026-01-01T00:00:00+00:00",
        seconds=27.0,
        clock=clock,
        clock_spread=0.03,
        curves=(
            BandwidthCurve(
                threads=1,
                working_set=(16384, 1048576, 134217728),
                bandwidth=(62.0, 24.0, 6.875),
                spread=(0.1, 0.2, 0.0),
            ),
        ),
        barriers={2: 2.7e-7},
        exposed={"L2": 0.0, "L3": 0.125, "MEM": 0.5},
        contended=False,
        priority="autogroup",
        compiler="gcc 12.2; -O3",
    )


FORMULAS = '''\
def per_vector(times, count):
    """Cycles of one vector."""
    return times[0] / count  # of an operation
'''


def test_a_calibration_by_other_formulas_is_outdated():
    made = host_probe.digest("int main;", [FORMULAS])
    other = FORMULAS.replace("times[0] / count", "times[0] / count / 2")
    assert host_probe.digest("int main;", [other]) != made
    assert host_probe.digest("int main();", [FORMULAS]) != made
    worded = FORMULAS.replace("of one", "of each").replace("  # of an operation", "")
    assert host_probe.digest("int main;", [worded]) == made


def test_the_identity_of_a_calibration_depends_on_the_modules_with_its_formulas(machine):
    folder = Path(host_probe.__file__).parent
    texts = [folder / f"{name}.py" for name in ("calibration_plan", "constants", "estimates")]
    formulas = [path.read_text(encoding="utf-8") for path in texts]
    made = host_probe.digest(host_probe.source(), formulas)
    assert made == host_probe.identity()
    for place, text in enumerate(formulas):
        changed = [*formulas[:place], text.replace(" / ", " * "), *formulas[place + 1 :]]
        digest = host_probe.digest(host_probe.source(), changed)
        assert digest != made
        assert stored_calibrations.outdated(replace(calibration(machine), probe=digest))
    assert not stored_calibrations.outdated(replace(calibration(machine), probe=made))


def test_nothing_is_stored_at_first(machine):
    assert stored_calibrations.stored(machine) is None


def test_round_trip_and_replacement(machine):
    for clock in (3.25e9, 3.5e9):
        kept = calibration(machine, clock)
        path = stored_calibrations.save(kept)
        found = stored_calibrations.stored(machine)
        assert math.isclose(found.clock, clock, rel_tol=1e-3)
        assert found.curves[0].working_set == kept.curves[0].working_set
        assert found.curves[0].bandwidth == pytest.approx(kept.curves[0].bandwidth, rel=1e-3)
        assert found.barriers == pytest.approx(kept.barriers)
        assert found.exposed == pytest.approx(kept.exposed)
        assert found.identity == kept.identity
        assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("text", ["", "schema: autotune.calibration/1\nclock: fast\n", "\0\1", "["])
def test_a_damaged_file_is_named_with_the_remedy(machine, text):
    path = stored_calibrations.save(calibration(machine))
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        stored_calibrations.stored(machine)
    assert path.name in str(caught.value)
    assert "autotune machine calibrate" in str(caught.value)


def test_the_calibration_of_another_machine_is_refused(machine):
    other = dataclasses.replace(machine, cores=machine.cores + 1)
    path = stored_calibrations.save(calibration(other))
    path.rename(stored_calibrations.location(stored_calibrations.identity(machine)))
    with pytest.raises(InputError, match="another machine"):
        stored_calibrations.stored(machine)


def test_a_folder_that_cannot_be_written(machine, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUTOTUNE_DATA", str(tmp_path / "file"))
    with pytest.raises(InputError, match="cannot be written"):
        stored_calibrations.save(calibration(machine))


def test_a_folder_in_the_place_of_the_file_is_named_before_anything_is_measured(machine):
    stored_calibrations.location(stored_calibrations.identity(machine)).mkdir(parents=True)
    with pytest.raises(InputError, match=r"is a folder; expected a file(?s:.*)remove the folder"):
        stored_calibrations.check_writable(machine)


def test_constants_and_what_studies_made_of_them_are_kept(machine):
    plain = calibration(machine)
    several = dataclasses.replace(plain.curves[0], streams=4)
    crossing = Constant(
        value=0.0, low=0.0, high=0.125, unit="cy", source="less one another", samples=7
    )
    change = Refined(before=10.0, after=12.5, low=11.0, high=14.0, study="heat")
    kept = dataclasses.replace(
        plain,
        curves=(*plain.curves, several),
        constants={"line_crossing": crossing, "outbound.L3@2": crossing},
        refined={"store_forward": change},
    )
    stored_calibrations.save(kept)
    assert stored_calibrations.stored(machine) == kept


def test_a_file_from_before_there_were_constants_is_read(machine):
    kept = calibration(machine)
    path = stored_calibrations.save(kept)
    text = path.read_text()
    path.write_text("".join(line for line in text.splitlines(True) if "streams" not in line))
    assert "constants" not in path.read_text()
    assert stored_calibrations.stored(machine) == kept


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("high: 0.125", "high: -1.0", "within its interval"),
        ("value: 0.0625", "value: .inf", "expected a number"),
        ("samples: 7", "samples: 0", "at least one sample"),
        ("low: 0.0", "low: null", "low"),
    ],
)
def test_a_contradictory_constant_is_named(machine, old, new, message):
    crossing = Constant(value=0.0625, low=0.0, high=0.125, unit="cy", source="", samples=7)
    kept = dataclasses.replace(calibration(machine), constants={"line_crossing": crossing})
    path = stored_calibrations.save(kept)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError, match=message) as caught:
        stored_calibrations.stored(machine)
    assert path.name in str(caught.value)
    assert "autotune machine calibrate" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("clock: 3250 MHz", "clock: 3250 GHz", "a clock of 3250 GHz; expected 0.1 GHz to 10 GHz"),
        ("clock: 3250 MHz", "clock: 32.5 MHz", "a clock of 32.5 MHz; expected 0.1 GHz to 10 GHz"),
        (
            "bandwidth: 24 B/cy",
            "bandwidth: 24000 B/cy",
            "a bandwidth of 2.4e+04 B/cy of one thread; expected 0.0001 to 10000 B/cy",
        ),
        ("270 ns", "270 s", "a barrier of 270 s; expected less than a second"),
    ],
)
def test_a_figure_that_no_machine_has_is_refused_at_its_place(machine, old, new, message):
    path = stored_calibrations.save(calibration(machine))
    lines = path.read_text().splitlines()
    (number,) = (i for i, line in enumerate(lines, 1) if old in line)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError) as caught:
        stored_calibrations.stored(machine)
    (fault,) = caught.value.faults
    assert fault.where.startswith(f"{path}:{number}:")
    assert f"{fault.found}; expected {fault.expected}" == message
    assert "autotune machine calibrate" in fault.hint


def test_a_constant_of_too_many_cycles_is_refused(machine):
    slow = Constant(value=2e7, low=0.0, high=3e7, unit="cy", source="", samples=7)
    kept = dataclasses.replace(calibration(machine), constants={"line_crossing": slow})
    stored_calibrations.save(kept)
    with pytest.raises(InputError, match=r"line_crossing of 2e\+07 cy; expected at most 1e\+07 cy"):
        stored_calibrations.stored(machine)


def test_a_misspelt_key_has_the_nearest_name_and_the_remedy(machine):
    path = stored_calibrations.save(calibration(machine))
    path.write_text(path.read_text().replace("\nclock:", "\nclok:"))
    with pytest.raises(InputError) as caught:
        stored_calibrations.stored(machine)
    (fault,) = (fault for fault in caught.value.faults if "clok" in fault.found)
    assert fault.hint.startswith("did you mean clock? else delete the file")


@pytest.mark.parametrize(
    "change",
    [{"sources": {"clock": "not reported; placeholder"}}, {"title": "QEMU TCG CPU version 2.5+"}],
)
def test_a_clock_is_not_held_against_one_that_cores_do_not_have(machine, change):
    slow = calibration(machine := dataclasses.replace(machine, **change), clock=3.25e8)
    stored_calibrations.save(slow)
    assert stored_calibrations.stored(machine) == slow
