"""The provenance of a run: versions, the machine, the configuration and how programs start."""

import contextlib
import hashlib
import importlib.metadata
import platform
from pathlib import Path

from autotune.commands.rank.host_machine import HOST
from autotune.domain.machine import Machine
from autotune.domain.setup import Setup
from autotune.errors import MissingTool
from autotune.files.store.records import CONFIG, StudyOrigin
from autotune.files.store.store_place import masked_urls
from autotune.measuring.host import stored_calibrations
from autotune.toolchain import compiler as compilers
from autotune.toolchain import mpi
from autotune.version import VERSION
from autotune.workloads.base import Workload


def versions(workload: Workload) -> dict[str, str]:
    """Versions of all software that takes part, for the provenance of a run."""
    setup = workload.setup
    builds = [compilers.find(build) for build in setup.compiled_builds]
    versions_by_name = {
        "autotune": VERSION,
        "python": platform.python_version(),
        "compilers": "; ".join(c.title for c in builds),
    }
    if any(layout.nodes * layout.ranks > 1 for layout in setup.layouts):
        with contextlib.suppress(MissingTool):  # none is needed to read a job's results
            versions_by_name["mpi"] = mpi.find().title
    versions_by_name |= workload.versions()
    for name in ("osaca", "kerncraft", "optuna", "numpy"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions_by_name[name] = importlib.metadata.version(name)
    return versions_by_name


def identity_of(machine: Machine) -> str:
    """The identity under which times of a machine are stored: of the host, else its name."""
    if machine.calibration:
        return machine.calibration.identity
    return stored_calibrations.identity(machine) if machine.name == HOST else machine.name


def content(setup: Setup) -> str:
    """The text of the config, with digests of the definitions that it names.

    Passwords in database URLs are masked: the text is kept in the store and shown on pages.
    """
    names = [*setup.subject.definitions, *(p.definition for p in setup.problems)]
    space = hashlib.sha256(setup.subject.varied.encode()).hexdigest()[:12]
    text = masked_urls(setup.text or Path(setup.source).read_text(encoding="utf-8"))
    return f"{text}\n# definitions: {' '.join(names)} {space}\n"


def study_origin(workload: Workload) -> StudyOrigin:
    """The configuration and the versions that a study of a workload is begun with."""
    setup = workload.setup
    return StudyOrigin(config=setup.name, setup_text=content(setup), versions=versions(workload))


def config_file(setup: Setup) -> dict[str, str]:
    """The file of the configuration as a condition of a run; empty where there is none."""
    return {} if setup.text else {CONFIG: setup.source}


def launching(setup: Setup) -> str:
    """Digest of how programs are started, apart from the candidate's own layout: 12 hex digits."""
    ways = (setup.launcher, setup.mpi_launcher, sorted(setup.environment.items()))
    return hashlib.sha256(repr(ways).encode()).hexdigest()[:12]
