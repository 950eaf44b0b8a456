"""The child's side of a peer: recorded spaces, and what the peer evaluates of them, in order.

A worker runs under a Python that has the peer, so that nothing but the standard library is imported
here. A request is a line of JSON on standard input: ``space`` (a file that ``replay_peers`` wrote),
``technique``, ``budget``, ``seed``. The answer is a line of JSON: ``order``, the rows that were
evaluated, each once, failures among them; or ``error``.
"""

import contextlib
import functools
import io
import json
import sys
import traceback
import warnings
from pathlib import Path

ASKS = 50
"""A search that asks so many times as often as it may evaluate goes in circles and ends there."""


class Enough(BaseException):
    """A run has evaluated as much as it may. No Exception, so that no peer catches it."""


class Space:
    """A recorded space: ``values`` of each parameter, numbers or words, ascending; rows of places
    among them; the cost of each row, None where it failed.
    """

    def __init__(self, path):  # noqa: ANN001, ANN204
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        self.path = path
        self.names = content["names"]
        self.values = content["values"]
        self.rows = [tuple(row) for row in content["rows"]]
        self.costs = content["costs"]
        self.row_of = {row: number for number, row in enumerate(self.rows)}

    def ordered(self, parameter):  # noqa: ANN001, ANN201
        """Whether a parameter, by its place, has more than two values, all of them numbers."""
        values = self.values[parameter]
        return len(values) > 2 and not isinstance(values[0], str)


class Evaluations:
    """The evaluations of a run: repeated and illegal ones are free.

    ``asks``: how many questions there are for each evaluation, free ones among them.
    """

    def __init__(self, space, budget, asks=ASKS):  # noqa: ANN001, ANN204
        self.space = space
        self.order = {}
        self.budget = budget
        self._left = asks * budget

    def row(self, places):  # noqa: ANN001, ANN201
        """The row of places, which is now evaluated; None where they are illegal."""
        self._left -= 1
        row = self.space.row_of.get(tuple(places))
        if self._left < 0 or (row not in self.order and len(self.order) >= self.budget):
            raise Enough
        if row is not None:
            self.order.setdefault(row)
        return row

    def penalized(self, places):  # noqa: ANN001, ANN201
        """The cost of places; that of the worst so far where they fail or are illegal."""
        row = self.row(places)
        cost = None if row is None else self.space.costs[row]
        seen = [self.space.costs[r] for r in self.order if self.space.costs[r] is not None]
        return max(seen, default=1.0) if cost is None else cost


def serve(run):  # noqa: ANN001, ANN201
    """Answer requests with ``run(space, evaluations, technique, seed)``, which prints nothing."""
    opened = functools.lru_cache(maxsize=16)(Space)
    out, sys.stdout = sys.stdout, io.StringIO()
    for line in sys.stdin:
        request = json.loads(line)
        evaluations = Evaluations(opened(request["space"]), request["budget"])
        answer = {}
        try:
            with contextlib.suppress(Enough), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run(evaluations.space, evaluations, request["technique"], request["seed"])
        except Exception as error:  # a peer's failure is a result
            answer = {"error": f"{type(error).__name__}: {error}", "where": traceback.format_exc()}
        sys.stdout = io.StringIO()
        print(json.dumps({**answer, "order": list(evaluations.order)}), file=out, flush=True)
