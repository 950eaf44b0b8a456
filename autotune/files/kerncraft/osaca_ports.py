"""The ports of OSACA's architectures, divided into overlapping and non-overlapping ones as
kerncraft needs.

OSACA names ports by number; ``2D`` is the data part of port 2, ``0DV`` the divider behind port 0.
Data ports are non-overlapping, everything else overlaps (kerncraft's machine files; for the
architectures without one the same split of OSACA's port lists).
"""

from collections.abc import Mapping

Ports = tuple[str, ...]


def _of(overlapping: str, other: str) -> tuple[Ports, Ports]:
    return tuple(overlapping.split()), tuple(other.split())


_HASWELL = _of("0 0DV 1 2 3 4 5 6 7", "2D 3D")
_BRIDGE = _of("0 0DV 1 2 3 4 5", "2D 3D")
_ICE_LAKE = _of("0 0DV 1 1DV 2 3 4 5 6 7 8 9", "2D 3D")

PORTS: Mapping[str, tuple[Ports, Ports]] = {
    "SNB": _BRIDGE,
    "IVB": _BRIDGE,
    "HSW": _HASWELL,
    "BDW": _HASWELL,
    "SKX": _HASWELL,
    "CSX": _HASWELL,
    "ICL": _ICE_LAKE,
    "ICX": _ICE_LAKE,
    "SPR": _of("0 0DV 1 1DV 4 5 6 7 8 9 10", "2 3 11"),
    "ZEN1": _of("0 1 2 3 3DV 4 5 6 7 8 9 ST", "8D 9D"),
    "ZEN2": _of("0 1 2 3 3DV 4 5 6 7 8 9 10 10D", "8D 9D"),
    "ZEN3": _of("0 1 2 3 DV0 DV1 4 5 6 7 8 8DV 9 10 13", "11 12"),
    "ZEN4": _of("0 1 2 3 4 4DV 5 6 7 8 9 9DV 10 11 11DV 12 13", "1D 3D 5D"),
    "TX2": _of("0 DV 1 2", "3 4 5"),
    "N1": _of("0 1 2 3 4 4DV 5", "6 7"),
    "V2": _of("0 1 2 3 4 5 6 6DV 7 7DV 8 8DV 9 10 10DV 11 15 16", "12 13 14"),
    "A64FX": _of("0 0DV 1 2 3 4 5 6 7", "5D 6D"),
    "TSV110": _of("0 1 2 3 4 5", "6 7"),
    "A72": _of("0 2 4 5 6 7", "1 3"),
    "M1": _of("0 1 2 3 3DV 8 9 10 11 12 13", "4 5 6 7"),
}

MARCH: Mapping[str, str] = {
    "SNB": "sandybridge",
    "IVB": "ivybridge",
    "HSW": "haswell",
    "BDW": "broadwell",
    "SKX": "skylake-avx512",
    "CSX": "cascadelake",
    "ICL": "icelake-client",
    "ICX": "icelake-server",
    "SPR": "sapphirerapids",
    "ZEN1": "znver1",
    "ZEN2": "znver2",
    "ZEN3": "znver3",
    "ZEN4": "znver3",  # the newest that gcc 12 knows
}
"""What gcc calls the x86 ones."""
