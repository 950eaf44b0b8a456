"""Compilers of Debian that make code for other architectures, to look at that code only.

They are optional: where one is missing, work in the core is counted in the C text instead.
"""

import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CrossCompiler:
    """A gcc that makes code for another architecture."""

    program: str
    package: str
    """Of Debian."""
    purpose: str

    @property
    def installed(self) -> bool:
        """Whether it is on PATH."""
        return shutil.which(self.program) is not None

    @property
    def missing(self) -> str:
        """What to install, for where it is not on PATH."""
        return f"{self.program} is not installed (Debian: apt-get install {self.package})"


CROSS_COMPILERS: Mapping[str, CrossCompiler] = {
    "aarch64": CrossCompiler(
        "aarch64-linux-gnu-gcc",
        "gcc-aarch64-linux-gnu",
        "in-core times on aarch64 machines (A64FX, ThunderX2) from compiled loops",
    ),
    "ppc64": CrossCompiler(
        "powerpc64-linux-gnu-gcc",
        "gcc-powerpc64-linux-gnu",
        "in-core times on ppc64 machines (POWER4) from compiled loops",
    ),
}
"""By the architecture that they make code for."""


def is_host(architecture: str) -> bool:
    """Whether the ordinary compilers of this host make code for an architecture."""
    return platform.machine().lower().removesuffix("le") == architecture
