"""Libraries of all kinds of problems that code is generated for."""

from collections.abc import Mapping

from autotune.domain.setup import Setup
from autotune.results.export.entries import Choices
from autotune.results.export.library import (
    library_facts,
    library_files,
    sweep_facts,
    sweep_files,
)


def files(choices: Choices, setup: Setup, predicted: Mapping[str, float]) -> dict[str, str]:
    """Path in the folder of the library to text: solvers of an IVP, or sweeps of a stencil.

    ``predicted``: seconds of a time step by identity of a candidate. InputError where the choices
    make no library.
    """
    if sweep_facts.is_swept(setup):
        return sweep_files.files(sweep_facts.gather(choices, setup, predicted))
    return library_files.files(library_facts.gather(choices, setup, predicted))
