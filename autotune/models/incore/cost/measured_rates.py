"""Vector instructions of full width at the rate that a calibration measured.

Generations of one family differ in how many cycles a unit needs for a vector of full width: Zen 4
passes 64 bytes through units of 32 twice, Zen 5 at once. Where the measured cycles of an
instruction disagree with a table, its work is scaled on all its ports. Loads of pointers and
scalars go through the same units: Zen 4 has one that vectors leave free, Zen 5 has none. There they
cost more than their share, as the vector loads and stores through such a pointer wait for it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from autotune.domain.machine import Machine
from autotune.models.incore.assembly.instructions import DOUBLE, Instruction, Work
from autotune.models.incore.cost import port_pressure
from autotune.models.incore.cost.port_pressure import Uop
from autotune.models.incore.osaca.osaca_architectures import OsacaArchitecture

Ports = Collection[str]

_ARITHMETIC: Mapping[Work, str] = {
    "add": "vector_add", "multiply": "vector_multiply", "fused": "vector_fused",
    "divide": "vector_divide",
}  # fmt: skip
_SHUFFLES = (
    "vperm", "vshuf", "vunpck", "valign", "vmovddup", "shufpd", "unpck", "zip", "uzp", "trn",
)  # fmt: skip
"""How the names of instructions begin that move doubles within vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRate:
    """Measured cycles per independent instruction, with their 80 % interval."""

    cycles: float
    low: float
    high: float

    def over(self, table: float, narrower: bool = False) -> float:
        """The measured cycles over those of a table; 1 where the table's lie in the interval.

        ``narrower``: for an instruction on narrower vectors, which takes no longer than one on
        whole vectors, and may take less.
        """
        agrees = table <= 0 or ((narrower or self.low <= table) and table <= self.high)
        return 1.0 if agrees else self.cycles / table


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRates:
    """The measured rates of the instructions that work on vectors of one width."""

    width: int
    """Bytes."""
    rates: Mapping[str, VectorRate]
    """By the name of the calibrated constant, without the width."""
    mixed: Mapping[int, float] = field(default_factory=dict)
    """Cycles per micro-operation where loads and arithmetic mix, by the bytes of its vectors."""
    apart: Mapping[int, float] = field(default_factory=dict)
    """Cycles of a store where stores to two rows come in turn, by its bytes."""
    crossing: float = 0.0
    """Cycles of the load ports per vector load that crosses a cache line."""
    forward: float = 0.0
    """Cycles from a store to a load that reads it."""
    calls: Mapping[str, float] = field(default_factory=dict)
    """Cycles per call of functions of the mathematical library, by name."""

    def scaled(
        self, instruction: Instruction, uops: tuple[Uop, ...], architecture: OsacaArchitecture
    ) -> tuple[Uop, ...]:
        """The work of an instruction as measured: arithmetic and data transfer each by their own
        rate; unchanged where it was not measured, for vectors wider than those that were, and for
        an instruction that loads and stores.
        """
        wide = max(instruction.loads, instruction.stores, instruction.lanes * DOUBLE)
        if wide > self.width:
            return uops
        narrower = wide < self.width
        moving, computing = port_pressure.split(uops, architecture.data)
        addressing, computing = port_pressure.split(computing, architecture.address)
        move = "vector_load" if instruction.loads else "vector_store"
        both = instruction.loads and instruction.stores
        data = 1.0 if both else self._factor(move, moving, narrower)
        work = self._factor(_computing(instruction), computing, narrower)
        return (
            *((cycles * work, ports) for cycles, ports in computing),
            *((cycles * data, ports) for cycles, ports in (*addressing, *moving)),
        )

    @property
    def window(self) -> int | None:
        """The vector operations that can wait at a time; None: not measured."""
        waiting = self.rates.get("vector_window")
        return None if waiting is None or waiting.cycles < 1 else round(waiting.cycles)

    def taken(self, width: int) -> float:
        """Cycles per micro-operation on vectors of so many bytes where loads and arithmetic mix.

        Of wider ones than were measured it is a lower bound; 0: not measured.
        """
        widest = max(self.mixed, default=0)
        wide_enough = [wide for wide in self.mixed if wide >= min(width, widest)]
        return self.mixed[min(wide_enough)] if wide_enough else 0.0

    @property
    def unaligned(self) -> float | None:
        """The time of a store at no multiple of its width, relative to that of a vector store in a
        row of them; None: not measured.
        """
        more = self._over_store("vector_unaligned")
        return None if more is None else 1.0 + more

    def lone(self, size: int, time: float) -> float:
        """Cycles of a store of so many bytes to another line than the one before, if it takes
        ``time`` in a row of them; no less than that, and as long where it was not measured.

        Stores narrower than the vectors take as long as the narrowest that were measured.
        """
        store = self.rates.get("vector_store")
        wide_enough = [width for width in self.apart if size <= width < self.width]
        if wide_enough:
            return max(time, self.apart[min(wide_enough)])
        if store is None or not store.cycles or self.width not in self.apart:
            return time
        return time * max(1.0, self.apart[self.width] / store.cycles)

    def _over_store(self, name: str) -> float | None:
        figure, store = self.rates.get(name), self.rates.get("vector_store")
        return figure.cycles / store.cycles if figure and store and store.cycles else None

    def moving(
        self, instructions: Sequence[Instruction], work: Sequence[tuple[Uop, ...]], data: Ports
    ) -> float:
        """The least cycles of a loop's loads and stores: narrow loads beside vector loads take
        what was measured, not a port that these leave free; 0 without both.
        """
        beside = self.rates.get("vector_narrow")
        wide = any(i.loads == self.width for i in instructions)
        narrow = [0 < i.loads <= DOUBLE and not i.stores for i in instructions]
        if beside is None or not wide or not any(narrow):
            return 0.0
        others = [
            uop for uops, apart in zip(work, narrow, strict=True) if not apart for uop in uops
        ]
        moved, _ = port_pressure.split(others, data)
        return port_pressure.least(moved).cycles + sum(narrow) * beside.cycles

    def _factor(self, name: str, uops: list[Uop], narrower: bool) -> float:
        rate = self.rates.get(name)
        return rate.over(port_pressure.least(uops).cycles, narrower) if rate and uops else 1.0


def _computing(instruction: Instruction) -> str:
    """The constant that says how long the work of an instruction besides data transfer takes."""
    if instruction.work == "other" and instruction.mnemonic.startswith(_SHUFFLES):
        return "vector_shuffle"
    return _ARITHMETIC.get(instruction.work, "")


def measured_rates(machine: Machine) -> VectorRates | None:
    """The rates in the calibration of a machine; None where there are none."""
    if machine.calibration is None or not machine.calibration.vector:
        return None
    constants, width = machine.calibration.constants, machine.calibration.vector
    named = [(*name.partition(".")[::2], constant) for name, constant in constants.items()]
    vector = [(base, width, c) for base, width, c in named if base.startswith("vector_")]
    return VectorRates(
        width=width,
        rates={
            base: VectorRate(cycles=c.value, low=c.low, high=c.high)
            for base, of, c in vector
            if int(of) == width
        },
        mixed={int(of): c.value for base, of, c in vector if base == "vector_mixed"},
        apart={int(of): c.value for base, of, c in vector if base == "vector_apart"},
        crossing=constants["line_crossing"].value if "line_crossing" in constants else 0.0,
        forward=constants["store_forward"].value if "store_forward" in constants else 0.0,
        calls={function: c.value for base, function, c in named if base == "library_call"},
    )
