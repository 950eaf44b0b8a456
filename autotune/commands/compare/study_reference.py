"""Stored studies by the names that users give: ``STUDY``, ``STUDY@STORE``, or a store alone."""

from pathlib import Path

from autotune.errors import Fault, InputError, nearest
from autotune.files.store import Store, StudyRecord
from autotune.files.store.store_place import masked


def stored_study(reference: str, store: str, where: str = "") -> StudyRecord:
    """The study that ``STUDY`` or ``STUDY@STORE`` names; of a store alone (``@STORE``, or the path
    of its file) the latest.

    ``store``: the one that is meant where none is named. InputError, at ``where``, for a study that
    does not exist.
    """
    name, at, place = reference.partition("@")
    if not at and Path(name).is_file():
        name, place = "", reference
    with Store.open(place or store, create=False) as results:
        names = [summary.name for summary in results.studies()]
        chosen = name or results.latest_study()
        if chosen is None or chosen not in names:
            shown = masked(place or store)
            raise InputError(
                Fault(
                    where=where or reference,
                    found=f"no study {name!r} in {shown}" if name else f"no study in {shown}",
                    expected=f"one of {', '.join(names[-8:])}" if names else "a tuned study",
                    hint=nearest(name, names) or "STUDY@STORE names one of another store",
                )
            )
        return results.load_study(chosen)
