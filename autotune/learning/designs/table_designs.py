"""Designs over rows that were measured already."""

import numpy as np
from numpy.typing import NDArray

from autotune.domain.tables.table import ParameterRows
from autotune.learning.designs.base import Design
from autotune.learning.designs.row_rules import Members


def members(inputs: ParameterRows) -> Members:
    """The constraint that only these rows are allowed: then a design finds its times in a table."""
    return Members(inputs.names, inputs.rows)


def chosen(design: Design, inputs: ParameterRows) -> NDArray[np.intp]:
    """The places of a design's rows among ``inputs``, which hold all of them; (rows,).

    ValueError for a row that they lack.
    """
    place_of = {row: place for place, row in enumerate(inputs.rows)}
    order = [design.names.index(name) for name in inputs.names]
    rows = [tuple(row[i] for i in order) for row in design.rows]
    missing = next((row for row in rows if row not in place_of), None)
    if missing is not None:
        raise ValueError(f"the design holds {missing}, which is none of {len(inputs)} rows")
    return np.array([place_of[row] for row in rows], dtype=np.intp)
