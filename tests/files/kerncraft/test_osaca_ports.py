"""Ports of OSACA's architectures: each port of OSACA's own table is of one of the two kinds."""

import re
from importlib import resources

import pytest

from autotune.files.kerncraft.osaca_ports import MARCH, PORTS


@pytest.mark.parametrize("name", list(PORTS))
def test_the_ports_are_those_of_osaca_each_of_one_kind(name):
    overlapping, other = PORTS[name]
    path = resources.files("osaca") / "data" / f"{name.lower()}.yml"
    with path.open(encoding="utf-8") as file:
        line = next(line for line in file if line.startswith("ports:"))
        text = line.removeprefix("ports:")
        while "]" not in text:
            text += next(file)
    assert set(re.findall(r"\w+", text)) <= {*overlapping, *other}
    assert not set(overlapping) & set(other)
    assert len({*overlapping, *other}) == len(overlapping) + len(other)


def test_the_data_ports_of_intel_cores_are_those_of_loads():
    for name in ("SNB", "IVB", "HSW", "BDW", "SKX", "CSX", "ICL", "ICX"):
        overlapping, other = PORTS[name]
        assert other == ("2D", "3D")
        assert {"2", "3"} <= set(overlapping)  # the addresses of loads overlap


def test_only_x86_architectures_have_a_name_for_gcc():
    assert set(MARCH) < set(PORTS)
    assert not {"TX2", "N1", "V2", "A64FX", "TSV110", "A72", "M1"} & set(MARCH)
