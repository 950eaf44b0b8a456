"""Stored dissections of candidates: one file for each machine and candidate, beside the
calibrations.
"""

from pathlib import Path

from autotune import paths
from autotune.domain.dissection import Dissection
from autotune.errors import Fault, InputError
from autotune.files import codec

SCHEMA = "autotune.dissect/1"


def place(machine: str, candidate: str) -> Path:
    """The path of the file of a candidate's dissection on a machine, given by their identities."""
    safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in machine)
    return paths.user_data_dir() / "dissections" / safe / f"{candidate}.dissection"


def keep(dissection: Dissection) -> Path:
    """Store a dissection in place of an older one of the same candidate on the same machine.

    Raises InputError where the folder cannot be written.
    """
    path = place(dissection.machine, dissection.candidate)
    scratch = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_text(f"{SCHEMA}\n{codec.dump(dissection)}\n", encoding="utf-8")
        scratch.replace(path)
    except OSError as error:
        raise InputError(
            Fault(
                where=str(path),
                found=f"the dissection cannot be kept: {error.strerror}",
                hint="set AUTOTUNE_DATA to a folder that can be written",
            )
        ) from error
    return path


def kept(machine: str, candidate: str) -> Dissection | None:
    """The stored dissection; None where there is none, or where it has another schema."""
    try:
        schema, _, text = place(machine, candidate).read_text(encoding="utf-8").partition("\n")
        return codec.load(Dissection, text) if schema == SCHEMA else None
    except (OSError, ValueError):
        return None
