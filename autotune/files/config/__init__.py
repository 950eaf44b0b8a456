"""Reads YAML files into domain values, and reports every mistake of a file and of the files that it
names at once.

A name stands for a file of its collection (``heat2d`` for kernels/ivp/heat2d.yaml). A path that
ends in .yaml is relative to the file that names it, or to the current folder.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import yaml

from autotune import paths
from autotune.domain.calibration import Calibration
from autotune.domain.machine import Machine
from autotune.domain.network import Network
from autotune.domain.problem import ButcherTableau, Ivp
from autotune.domain.program import Program
from autotune.domain.reference import Reference
from autotune.domain.setup import Generated, Setup
from autotune.domain.skeleton import Skeleton
from autotune.domain.stencil import Stencil
from autotune.domain.tables.parameter_space import DesignSpace
from autotune.files.config import measured_files
from autotune.files.config.design_spaces import read_design
from autotune.files.config.dump import dump_calibration, dump_machine, dump_network
from autotune.files.config.kernel_files import read_ivp, read_method, read_stencil
from autotune.files.config.machines import check_machine as _check_machine
from autotune.files.config.machines import read_machine, read_sketch
from autotune.files.config.program.programs import SCHEMA as PROGRAM_SCHEMA
from autotune.files.config.program.programs import read_program
from autotune.files.config.references import read_reference
from autotune.files.config.session import Session
from autotune.files.config.skeletons import read_skeleton
from autotune.files.config.spaces import read_generated
from autotune.files.config.studies import SCHEMA, read_study, study_in
from autotune.files.parsing import yaml_document
from autotune.files.parsing.stated_values import document_of

__all__ = [
    "check_machine",
    "design",
    "dump_calibration",
    "dump_machine",
    "dump_network",
    "generated",
    "ivp",
    "load",
    "machine",
    "method",
    "program",
    "read_calibration",
    "read_network",
    "reference",
    "skeleton",
    "stated",
    "stencil",
]

T = TypeVar("T")

_USUAL = {"schema": SCHEMA, "machine": "host"}
"""Keys that a stated study may leave out."""


def load(path: str | Path) -> Setup:
    """The study of a config file, given by a path or by the name of a config that autotune ships.

    Raises ConfigError with every fault of the file and of the files that it names.
    """
    session, config_file = Session(), Path(path)
    if not paths.exists(config_file):
        shipped = paths.data_root() / config_file
        if paths.exists(shipped) and shipped.is_file() and not config_file.is_absolute():
            config_file = shipped
        elif str(path) in paths.names("configs"):
            config_file = paths.folder("configs") / f"{path}.yaml"
        else:
            names = paths.names("configs")
            if config_file.suffix:
                there = sorted(
                    file
                    for suffix in {config_file.suffix, ".yaml", ".yml"}
                    for file in config_file.parent.glob(f"*{suffix}")
                )
                names = [*map(str, there), *(f"configs/{name}.yaml" for name in names)]
            session.absent(yaml_document.shown(config_file), names)
            session.finish()
    return _finished(session, session.once(config_file, read_study))


def stated(values: Mapping[str, object]) -> Setup:
    """The study that keys and values describe, as a config file would; a program may be described
    under the key ``program``, or alone.

    Names of files are relative to the current folder. Raises ConfigError with every fault, whose
    places are keys: ``problems.0.size``.
    """
    if values.get("schema") == PROGRAM_SCHEMA or ("run" in values and "schema" not in values):
        values = {"program": values}
    named = values.get("name", "study")
    session, path = Session(), Path.cwd() / f"{named if isinstance(named, str) else 'study'}.yaml"
    document = document_of({**_USUAL, **values}, path, session.faults)
    if session.faults or not session.check_schema(document, SCHEMA):
        session.finish()
    text = yaml.safe_dump(document.root, sort_keys=False, allow_unicode=True)
    del document.root["schema"]
    return replace(_finished(session, study_in(session, document)), text=text)


def machine(name: str | Path, *, complete: bool = True) -> Machine:
    """A machine by name or path; ConfigError with every fault.

    With ``complete`` every figure that a prediction needs must be there. Without it, a machine that
    was detected but not yet calibrated is accepted.
    """
    return _named(name, "machines", read_machine if complete else read_sketch)


def check_machine(name: str | Path) -> Machine:
    """A machine by name or path, after checks that its figures are possible; ConfigError with every
    fault.

    Figures may be missing, except for those of an in-core model.
    """
    return _named(name, "machines", _check_machine)


def method(name: str | Path) -> ButcherTableau:
    """A Butcher tableau by name or path; ConfigError with every fault."""
    return _named(name, "kernels/method", read_method)


def ivp(name: str | Path) -> Ivp:
    """An initial value problem by name or path; ConfigError with every fault."""
    return _named(name, "kernels/ivp", read_ivp)


def stencil(name: str | Path) -> Stencil:
    """A stencil by name or path; ConfigError with every fault."""
    return _named(name, "kernels/stencil", read_stencil)


def skeleton(name: str | Path) -> Skeleton:
    """A skeleton by name or path; ConfigError with every fault."""
    return _named(name, "variants/skeleton", read_skeleton)


def generated(name: str | Path) -> Generated:
    """A space of variants by name or path, checked against its skeleton, which it comes with;
    ConfigError with every fault.
    """
    return _named(name, "variants/space", read_generated)


def program(name: str | Path) -> Program:
    """An external program by name or path; ConfigError with every fault."""
    return _named(name, "variants/program", read_program)


def design(path: str | Path) -> DesignSpace:
    """The parameters and constraints of a file for a design of experiments; ConfigError with every
    fault.
    """
    session = Session()
    return _finished(session, session.once(Path(path), read_design))


def reference(name: str | Path) -> Reference:
    """A published table by name or path; ConfigError with every fault."""
    return _named(name, "benchmarks/published", read_reference)


def read_calibration(path: str | Path) -> Calibration:
    """The calibration in a file; ConfigError with every fault, impossible figures too."""
    session = Session()
    return _finished(session, measured_files.read_calibration(session, Path(path)))


def read_network(path: str | Path) -> Network:
    """The network in a file that holds nothing else; ConfigError with every fault."""
    session = Session()
    return _finished(session, session.once(Path(path), measured_files.read_network))


def _named(
    name: str | Path, collection: paths.Collection, reader: Callable[[Session, Path], T | None]
) -> T:
    session = Session()
    path = session.resolve(str(name), collection, Path())
    return _finished(session, session.once(path, reader) if path else None)


def _finished(session: Session, value: T | None) -> T:
    session.finish()
    assert value is not None, "a reading without a value has a fault"
    return value
