"""Conjugate gradients of the NAS parallel benchmarks, by numpy and mpi4py.

The same algorithm and the same names of assertions as in ``cg.c``; see there. Operations are
counted by the program itself: a line of numpy is many of them.

    python cg.py S
    mpiexec -n 4 python cg.py W
    mpiexec -n 4 python cg.py W 1      with 1 iteration; zeta is not checked then
    autotune assert run -- mpiexec -n 4 python cg.py W
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from mpi4py import MPI

import autotune.assertions as ma

STEPS = 25
WORLD = MPI.COMM_WORLD


@dataclass(frozen=True)
class Problem:
    na: int
    nonzer: int
    niter: int
    shift: float
    zeta: float


CLASSES = {
    "S": Problem(1400, 7, 15, 10.0, 8.5971775078648),
    "W": Problem(7000, 8, 15, 12.0, 10.362595087124),
    "A": Problem(14000, 11, 15, 20.0, 17.130235054029),
    "B": Problem(75000, 13, 75, 60.0, 22.712745482631),
    "C": Problem(150000, 15, 75, 110.0, 28.973605592845),
}


def fail(text: str) -> NoReturn:
    if WORLD.rank == 0:
        print(f"cg: {text}", file=sys.stderr)
    sys.exit(2)


@dataclass(frozen=True)
class Grid:
    """nprows x npcols processes, npcols = nprows or 2 nprows; stages = log2(npcols)."""

    rank: int
    nprows: int
    npcols: int
    stages: int

    @classmethod
    def of(cls, rank: int, processes: int) -> "Grid":
        power = processes.bit_length() - 1
        if processes != 1 << power:
            fail("the number of processes must be a power of two")
        stages = (power + 1) // 2
        return cls(rank, 1 << power - stages, 1 << stages, stages)

    @property
    def partner(self) -> int:
        """The process that holds the transposed block."""
        width = self.npcols // self.nprows
        row, col = divmod(self.rank, self.npcols)
        return col // width * self.npcols + row * width + col % width


# --- the matrix -------------------------------------------------------------------------------


def uniform() -> Iterator[float]:
    """x' = 5^13 x mod 2^46, divided by 2^46."""
    seed = 314159265
    while True:
        seed = seed * 5**13 % 2**46
        yield seed / 2**46


def sparse_vectors(na: int, nonzer: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """na sparse vectors as places and entries: nonzer random ones, and 0.5 at the middle."""
    numbers = uniform()
    next(numbers)
    span = 1 << (na - 1).bit_length()
    for middle in range(na):
        vector: dict[int, float] = {}
        while len(vector) < nonzer:
            number = next(numbers)
            place = int(span * next(numbers))
            if place < na and place not in vector:
                vector[place] = number
        vector[middle] = 0.5
        yield np.array(list(vector)), np.array(list(vector.values()))


class Block:
    """A block of A = sum of weight_i v_i v_i' + (0.1 - shift) I, in compressed rows.

    The weights fall from 1 to 0.1.
    """

    def __init__(
        self, problem: Problem, first_row: int, rows: int, first_col: int, cols: int
    ) -> None:
        places, values = [], []
        for i, (place, entry) in enumerate(sparse_vectors(problem.na, problem.nonzer)):
            outer = 0.1 ** (i / problem.na) * np.multiply.outer(entry, entry)
            outer[np.ix_(place == i, place == i)] += 0.1 - problem.shift
            inside = (first_row <= place) & (place < first_row + rows)
            beside = (first_col <= place) & (place < first_col + cols)
            index = np.add.outer((place[inside] - first_row) * cols, place[beside] - first_col)
            places.append(index.ravel())
            values.append(outer[np.ix_(inside, beside)].ravel())
        place, inverse = np.unique(np.concatenate(places), return_inverse=True)
        self.values = np.bincount(inverse, np.concatenate(values), len(place))
        self.columns = place % cols
        self.starts = np.searchsorted(place, np.arange(rows) * cols)
        self.empty = np.bincount(place // cols, minlength=rows) == 0

    def __matmul__(self, vector: np.ndarray) -> np.ndarray:
        """The product of the block and a vector."""
        terms = np.append(self.values * vector[self.columns], 0.0)
        sums = np.add.reduceat(terms, self.starts)
        sums[self.empty] = 0.0
        return sums


# --- conjugate gradients ------------------------------------------------------------------------


def exchange(out: np.ndarray, into: np.ndarray, other: int) -> None:
    request = WORLD.Irecv(into, other)
    WORLD.Send(out, other)
    request.Wait()


def messages(name: str, size: str, repeat: str = "1") -> None:
    """Foretells messages that are exchanged next."""
    ma.recv(f"{name}rcv", size, repeat)
    ma.send(f"{name}snd", size, repeat)


@ma.sub
def multiply(grid: Grid, block: Block, vector: np.ndarray) -> np.ndarray:
    """A vector: local rows, their sum over a row of the grid, then the transposed part."""
    with ma.flop("flopmv", "2*nnz") as counted:
        sums = block @ vector
        counted.count(2 * len(block.values))
    into = np.empty(len(vector))
    first = grid.npcols // grid.nprows - 1
    messages("l1", "8*na/npcols", "halves")
    if first:  # the two of a pair keep one half of the rows each
        halves = sums.reshape(2, -1)
        sums = halves[grid.rank % 2]
        exchange(halves[1 - grid.rank % 2], into, grid.rank ^ 1)
        with ma.flop("flophalf", "n") as counted:
            sums += into
            counted.count(into.size)
    for stage in ma.loop("row_sum", "l - halves", range(first, grid.stages)):
        messages("l2", "8*na/npcols")
        exchange(sums, into, grid.rank ^ 1 << stage)
        with ma.flop("flopsum", "n") as counted:
            sums += into
            counted.count(into.size)
    messages("l3", "8*na/npcols", "min(l, 1)")
    if grid.stages == 0:
        return sums
    exchange(sums, into, grid.partner)
    return into


def sum_over_row(grid: Grid, name: str, *values: float) -> np.ndarray:
    """The sums of numbers over a row of the grid."""
    sums = np.array(values)
    into = np.empty_like(sums)
    for stage in ma.loop(name, "l", range(grid.stages)):
        messages(name, str(8 * len(values)))
        exchange(sums, into, grid.rank ^ 1 << stage)
        with ma.flop(f"flop{name}", str(len(values))) as counted:
            sums += into
            counted.count(into.size)
    return sums


def dot(name: str, a: np.ndarray, b: np.ndarray) -> float:
    """The local part of a scalar product."""
    with ma.flop(name, "2*n") as counted:
        counted.count(a.size + b.size)
        return a @ b


@ma.sub
def conj_grad(grid: Grid, block: Block, x: np.ndarray) -> tuple[np.ndarray, float]:
    """z of A z = x after 25 steps, and the norm of x - A z."""
    z = np.zeros_like(x)
    r, p = x.copy(), x.copy()
    (rho,) = sum_over_row(grid, "cj1", dot("floprho", r, r))
    for _ in ma.loop("cgmain", "cgitmax", range(STEPS)):
        q = multiply(grid, block, p)
        (d,) = sum_over_row(grid, "cj_d", dot("flopd", p, q))
        with ma.flop("flopzr", "4*n + 1") as counted:
            alpha = rho / d
            z += alpha * p
            r -= alpha * q
            counted.count(1 + 2 * z.size + 2 * r.size)
        rho0 = rho
        (rho,) = sum_over_row(grid, "cj_rho", dot("floprho", r, r))
        with ma.flop("flopbeta", "2*n + 1") as counted:
            p = r + rho / rho0 * p
            counted.count(1 + 2 * p.size)
    with ma.flop("flopresidual", "n") as counted:
        residual = x - multiply(grid, block, z)
        counted.count(residual.size)
    (norm,) = sum_over_row(grid, "cj_norm", dot("flopnorm", residual, residual))
    return z, norm**0.5


def iterate(grid: Grid, block: Block, n: int, shift: float, niter: int) -> tuple[float, float]:
    """zeta after ``niter`` iterations from x = 1, and their seconds; one before is not timed."""
    for it in ma.loop("conj_loop", "niter + 1", range(niter + 1)):
        if it < 2:
            begin = time.perf_counter()
            x = np.ones(n)
        z, _ = conj_grad(grid, block, x)
        xz, zz = sum_over_row(grid, "norm_loop", dot("flopxz", x, z), dot("flopzz", z, z))
        with ma.flop("flopznx", "n + 2") as counted:
            x = 1 / zz**0.5 * z
            counted.count(2 + x.size)
    return shift + 1 / xz, time.perf_counter() - begin


def main() -> None:
    """Prints zeta and the time; exits with 1 where zeta is not the published one."""
    letter = sys.argv[1] if len(sys.argv) > 1 else "S"
    if letter not in CLASSES:
        fail(f"the class must be one of {', '.join(CLASSES)}")
    problem = CLASSES[letter]
    niter = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if niter < 0:
        fail("the number of iterations must not be negative")
    niter = niter or problem.niter
    grid = Grid.of(WORLD.rank, WORLD.size)
    if problem.na % grid.npcols:
        fail("the number of columns of the process grid must divide na")
    m, n = problem.na // grid.nprows, problem.na // grid.npcols
    row, col = divmod(grid.rank, grid.npcols)
    block = Block(problem, row * m, m, col * n, n)

    ma.var("nprocs", WORLD.size, unit="processes", domain="power of two")
    ma.var("na", problem.na, unit="rows", domain="whole")
    ma.var("nonzer", problem.nonzer, domain="whole")
    ma.var("niter", niter, unit="iterations", domain="whole")
    ma.var("cgitmax", STEPS, unit="iterations", domain="whole")
    ma.var("nnz", len(block.values), unit="numbers", domain="whole")  # of this process
    ma.derive("npcols", "2**ceil(log2(nprocs)/2)", grid.npcols)
    ma.derive("nprows", "nprocs/npcols", grid.nprows)
    ma.derive("l", "log2(npcols)", grid.stages)
    ma.derive("n", "na/npcols", n)
    ma.derive("halves", "npcols/nprows - 1", grid.npcols // grid.nprows - 1)
    zeta, seconds = iterate(grid, block, n, problem.shift, niter)

    right = niter != problem.niter or abs(zeta - problem.zeta) <= 1e-10
    if grid.rank == 0:
        print(f"class {letter}, {WORLD.size} processes as {grid.nprows} x {grid.npcols}")
        print(f"zeta {zeta:.13f}, published {problem.zeta:.13f}{'' if right else ': WRONG'}")
        print(f"seconds {seconds:.3f}")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
