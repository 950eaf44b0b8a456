"""Candidates for engine kerncraft, and ECM models by hand: arrays come from memory and go back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from codegen_build import problem

from autotune.domain.variant import (
    Candidate,
    ExecutionLayout,
    Interchange,
    Pad,
    Transformation,
    Variant,
)
from autotune.models.kerncraft import EcmTimes

ORDERS = ("jil", "jli", "ijl", "ilj", "lij", "lji")


def candidate(
    ivp: str = "heat2d",
    size: int = 1000,
    order: str = "jli",
    *more: Transformation,
    nodes: int = 1,
    ranks: int = 1,
    threads: int = 8,
) -> Candidate:
    """``ranks`` on each node."""
    variant = Variant(
        skeleton="pirk",
        transformations=(Interchange("lc", tuple(order)), *(more or (Pad(5),))),
        parameters={"order": order},
    )
    return Candidate(
        variant=variant,
        problem=problem(ivp, size),
        layout=ExecutionLayout(
            threads=threads,
            ranks=nodes * ranks,
            nodes=nodes,
            communication="none" if nodes * ranks == 1 else "allgather",
        ),
    )


@dataclass
class Hand:
    """Loads and stores by the declarations of a text; figures of the core and machine as told."""

    text: str
    clock: float = 2e9
    bandwidth: float = 40e9
    T_OL: float = 8.0
    T_nOL: float = 5.0
    cores: int = 8
    in_core: str = "in-core by hand"
    counted: bool = False

    @property
    def constants(self) -> tuple[str, ...]:
        return tuple(name for name in ("M", "N") if f"[{name}]" in self.text)

    @property
    def lines(self) -> int:
        """Lines of one line of work: arrays, and written arrays once more."""
        arrays = set(re.findall(r"double (\w+)\[", self.text))
        return len(arrays) + len(set(re.findall(r"^ *(\w+)\[\S+ \+?= ", self.text, re.M)))

    def evaluate(
        self, sizes: Mapping[str, npt.NDArray[np.int64]], cores: Sequence[int]
    ) -> EcmTimes:
        assert set(sizes) == set(self.constants)
        some = np.ones((len(next(iter(sizes.values()))), len(cores)))
        memory = self.lines * 64 * self.clock / self.bandwidth * some
        levels = np.stack([self.lines * some, 2 * self.lines * some, memory], axis=2)
        alone = np.maximum(self.T_OL, self.T_nOL + levels.sum(axis=2))
        return EcmTimes(
            levels=("L2", "L3", "MEM"),
            T_OL=self.T_OL,
            T_nOL=self.T_nOL,
            transfers=levels,
            T_ECM=alone,
            memory=memory,
            memory_lines=self.lines * some,
            bandwidth=self.bandwidth * some,
            saturation=np.ceil(alone / memory)[:, 0],
            saturation_at=np.ceil(alone / memory),
            scaling=np.maximum(1.1 * alone / np.array(cores), memory),
            iterations_per_line=8.0,
        )


@dataclass
class HandAnalyser:
    """A model per text; refuses those that hold ``refused``; keeps what it was asked."""

    refused: str = "never"
    asked: list[str] = field(default_factory=list)
    bandwidth: float = 40e9
    T_OL: float = 8.0

    def analyse(self, sources: Sequence[str]) -> list[Hand | str]:
        self.asked += sources
        return [
            "no assembly block found"
            if self.refused in text
            else Hand(text, bandwidth=self.bandwidth, T_OL=self.T_OL)
            for text in sources
        ]
