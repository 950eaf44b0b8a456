"""Designs over rows that were measured before."""

import numpy as np
from numpy.typing import NDArray

from autotune.domain.tables.table import ParameterRows
from autotune.learning.designs.base import Design
from autotune.learning.designs.row_rules import Members


def members(inputs: ParameterRows) -> Members:
    """The rule that only these rows are allowed, so that every row of a design has a
    measured time.
    """
    return Members(inputs.names, inputs.rows)


def chosen(design: Design, inputs: ParameterRows) -> NDArray[np.intp]:
    """The indices (rows,) of a design's rows among ``inputs``.

    Raises ValueError for a row that is not among ``inputs``.
    """
    place_of = {row: place for place, row in enumerate(inputs.rows)}
    order = [design.names.index(name) for name in inputs.names]
    rows = [tuple(row[i] for i in order) for row in design.rows]
    missing = next((row for row in rows if row not in place_of), None)
    if missing is not None:
        raise ValueError(f"the design holds {missing}, which is none of {len(inputs)} rows")
    return np.array([place_of[row] for row in rows], dtype=np.intp)
