"""Notes on builds that are not for the machine that is predicted."""

import platform

import pytest

from autotune.domain.variant import Build
from autotune.files import config
from autotune.workloads.generated.foreign_builds import foreign_build

HERE = pytest.mark.skipif(platform.machine() != "x86_64", reason="about hosts with x86_64")


@HERE
@pytest.mark.parametrize(
    ("machine", "flags", "words"),
    [
        ("interlagos-6276", ("-O3", "-march=native"), "-march=native is that of this host, not"),
        ("interlagos-6276", ("-O3",), "names no processor, so it is not for interlagos-6276"),
        ("chimaira-i7-4770", ("-O3", "-march=znver1"), "-march=znver1 is not for chimaira"),
        ("power4-1.3", ("-O3",), "makes code of this host (x86_64), not of power4-1.3 (ppc64)"),
    ],
)
def test_a_build_for_another_machine_is_noted(
    machine: str, flags: tuple[str, ...], words: str
) -> None:
    note = foreign_build(Build(compiler="gcc", flags=flags), config.machine(machine))
    assert note is not None
    assert words in note


@HERE
def test_the_flags_of_the_machine_file_are_its_own() -> None:
    build = Build(compiler="gcc", flags=("-O2", "-march=haswell"))
    assert foreign_build(build, config.machine("haswell-e5-2630v3")) is None
    cross = Build(compiler="powerpc64-linux-gnu-gcc", flags=("-O3", "-mcpu=power4"))
    assert foreign_build(cross, config.machine("power4-1.3")) is None
