# mypy: disable-error-code="import-untyped"
"""A kernel with the machine model and the arguments that kerncraft's models need."""

import copy
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kerncraft import kerncraft as command
from kerncraft.kernel import KernelCode
from kerncraft.machinemodel import MachineModel
from kerncraft.pycparser_utils import clean_code

Json = dict[str, object]


class KernelRefused(Exception):
    """A kernel has no trustworthy result; the message says why."""


@dataclass(frozen=True, slots=True)
class KernelOnMachine:
    """The kernel in the working folder on the machine of the file at ``place``.

    Without ``in_core`` the machine has two ports in place of its in-core models, one for work that
    overlaps with transfers and one for the rest, and needs no compiler.
    """

    kernel: KernelCode
    place: str
    parser: ArgumentParser
    given: Namespace
    in_core: bool

    def arguments(self, cores: int = 1) -> Namespace:
        """The parsed arguments of kerncraft's own command line."""
        arguments = copy.copy(self.given)
        arguments.cores = cores
        return arguments

    def machine(self, cores: int = 1) -> MachineModel:
        """A new machine model for a number of cores; one that was used keeps its divided caches, so
        none is reused.
        """
        return machine_model(self.place, self.arguments(cores), in_core=self.in_core)

    def set_sizes(self, sizes: Mapping[str, int]) -> None:
        """Set the sizes of the kernel, replacing all earlier sizes."""
        self.kernel.clear_state()
        for name, size in sizes.items():
            self.kernel.set_constant(name, size)

    def names(self) -> list[str]:
        """The names of the sizes, sorted."""
        kernel, loops = self.kernel, list(self.kernel.get_loop_stack())
        used = [size for _, dimensions in kernel.variables.values() for size in dimensions or ()]
        used += [loop[bound] for loop in loops for bound in ("start", "stop")]
        for accesses in (*kernel.sources.values(), *kernel.destinations.values()):
            used += [index for access in accesses if access is not None for index in access]
        symbols = {symbol.name for size in used for symbol in size.free_symbols}
        return sorted(symbols - {loop["index"] for loop in loops})


def refuse_objects(place: str) -> None:
    """Raise ``KernelRefused`` for a machine file that would make YAML build Python objects."""
    if re.search(r"!\S*python", Path(place).read_text(encoding="utf-8")):
        raise KernelRefused("a machine file with tags of Python objects is not read")


MODEL = "OSACA"
"""The only in-core model of kerncraft that still works."""
OVERLAPPING, OTHER = "OL", "nOL"
"""Names of the two ports that stated in-core times are the work of."""


def machine_model(place: str, arguments: Namespace, *, in_core: bool) -> MachineModel:
    """A new machine model; without ``in_core``, with two ports in place of its in-core models."""
    machine = MachineModel(place, args=arguments)
    if not in_core:
        ports = {"overlapping model": OVERLAPPING, "non-overlapping model": OTHER}
        machine._data |= {key: {"ports": {MODEL: [port]}} for key, port in ports.items()}
        machine._data["in-core model"] = {MODEL: ""}
    return machine


def read_subject(place: str, *, in_core: bool = True) -> KernelOnMachine:
    """The kernel ``kernel.c`` of the working folder, read by kerncraft's own parser."""
    refuse_objects(place)
    parser = command.create_parser()
    arguments = parser.parse_args(["-p", "ECM", "-m", place, "-P", "LC", "kernel.c"])
    command.check_arguments(arguments, parser)
    machine = machine_model(place, arguments, in_core=in_core)
    text = Path("kernel.c").read_text(encoding="utf-8")
    kernel = KernelCode(clean_code(text), machine=machine, filename="kernel.c")
    return KernelOnMachine(kernel, place, parser, arguments, in_core)
