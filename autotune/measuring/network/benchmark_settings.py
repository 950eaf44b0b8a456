"""What a benchmark of MPI measures unless it is told otherwise, and message sizes from text."""

import math

from autotune.errors import Fault, InputError
from autotune.units import Bytes, parse

REPEATS = 10
BUDGET = 60.0
"""Seconds of wall time."""
USUAL_SIZES = "8 B:8 MiB"
_LARGEST = 1 << 30


def sizes(text: str) -> tuple[Bytes, ...]:
    """Message sizes from text: ``8 B:8 MiB`` (by factors of sqrt 2) or ``8 B,1 KiB,1 MiB``.

    Raises InputError with a description for any other text.

    >>> sizes("64 B:256 B")
    (64, 91, 128, 181, 256)
    """
    try:
        if ":" not in text:
            return tuple(sorted({_whole(part) for part in text.split(",")}))
        low, high = (_whole(part) for part in text.split(":", 1))
        if low > high:
            raise ValueError(f"{text!r} does not ascend")
    except ValueError as error:
        expected = f"{USUAL_SIZES}, or 8 B,1 KiB,1 MiB"
        raise InputError(Fault(where="--sizes", found=str(error), expected=expected)) from error
    steps = range(int(2 * math.log2(high / low) + 1e-9) + 1)
    return tuple(sorted({Bytes(round(low * 2 ** (k / 2))) for k in steps}))


def _whole(text: str) -> Bytes:
    value = parse(text.strip(), "size")
    if value != int(value) or not 1 <= value <= _LARGEST:
        raise ValueError(f"{text.strip()!r} is not a whole number of bytes from 1 B to 1 GiB")
    return Bytes(int(value))


SIZES = sizes(USUAL_SIZES)
"""The usual sizes: 41, by factors of sqrt 2."""
