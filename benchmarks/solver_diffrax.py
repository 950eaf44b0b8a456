"""Solutions with diffrax for ``solver.py``, which writes its arguments.

    PYTHON benchmarks/solver_diffrax.py PROBLEM.json dopri5|dopri8

The file has the values of names, the regions [first, last, body], local values and sums of a
right-hand side; y0.npy beside it is the first state. For each line of the input, a tolerance, it
writes the last state to state.npy and prints a line: the seconds of a solution (with one core its
CPU time), compiled before, and the evaluations of the right-hand side.

It imports nothing of autotune, since it runs in the environment of the peer.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

# ruff: noqa: ANN401 - expressions are those of the peer

FUNCTIONS = {
    "sqrt": jnp.sqrt, "exp": jnp.exp, "log": jnp.log, "sin": jnp.sin, "cos": jnp.cos,
    "tan": jnp.tan, "fabs": jnp.abs, "abs": jnp.abs, "tanh": jnp.tanh, "pow": jnp.power,
    "min": jnp.minimum, "max": jnp.maximum,
}  # fmt: skip


class State:
    """``y[...]`` of a body: a slice where the components follow one another."""

    def __init__(self, y: Any) -> None:
        self.y = y

    def __getitem__(self, index: Any) -> Any:
        at = np.asarray(index)
        flat = at.reshape(-1)
        if flat.size and flat[-1] - flat[0] == flat.size - 1:
            return self.y[int(flat[0]) : int(flat[-1]) + 1].reshape(at.shape)
        return self.y[at]


def right_hand_side(job: dict[str, Any]) -> Any:
    """f(t, y, args) of the file."""

    def of(text: str, names: dict[str, Any]) -> Any:
        return eval(text, {"__builtins__": {}}, names)

    def body(text: str, names: dict[str, Any], j: Any) -> Any:
        names = {**names, "j": j}
        for name, local in job["locals"].items():
            names[name] = of(local, names)
        for name, (index, lower, upper, term) in job["sums"].items():
            if name in text:
                terms = np.arange(int(of(lower, names)), int(of(upper, names)))[None, :]
                names[name] = of(term, {**names, "j": j[:, None], index: terms}).sum(axis=-1)
        return of(text, names)

    def f(t: Any, y: Any, args: Any) -> Any:
        del args
        names = {**FUNCTIONS, **job["values"], "t": t, "y": State(y)}
        parts = [
            jnp.broadcast_to(body(text, names, np.arange(first, last)), (last - first,))
            for first, last, text in job["regions"]
            if last > first
        ]
        return jnp.concatenate(parts)

    return f


def main() -> None:
    path, method = sys.argv[1:]
    jax.config.update("jax_enable_x64", True)
    job = json.loads(Path(path).read_text(encoding="utf-8"))
    folder = Path(job["folder"])
    solver = {"dopri5": diffrax.Dopri5(), "dopri8": diffrax.Dopri8()}[method]
    term = diffrax.ODETerm(right_hand_side(job))

    @jax.jit
    def solve(y: Any, limit: Any) -> Any:
        control = diffrax.PIDController(rtol=limit, atol=limit * job["scale"])
        done = diffrax.diffeqsolve(
            term, solver, job["t0"], job["t1"], None, y,
            stepsize_controller=control, max_steps=None, saveat=diffrax.SaveAt(t1=True),
            adjoint=diffrax.ForwardMode(),
        )  # fmt: skip
        return done.ys[-1], done.stats["num_steps"]

    y = jnp.asarray(np.load(folder / "y0.npy"))
    now = time.perf_counter if len(os.sched_getaffinity(0)) > 1 else time.process_time
    tableau = solver.tableau  # with fsal, the last stage is the first of the next step
    stages = tableau.num_stages - tableau.fsal
    jax.block_until_ready(solve(y, 1e-2))
    for line in sys.stdin:
        begun = now()
        state, steps = jax.block_until_ready(solve(y, float(line)))
        seconds = now() - begun
        np.save(folder / "state.npy", np.asarray(state))
        said = {"seconds": seconds, "evaluations": int(steps) * stages + 1}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
