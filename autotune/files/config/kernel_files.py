"""Readers of kernel files: initial value problems, methods, stencils.

The schemas are autotune.ivp/1, autotune.method/1 and autotune.stencil/1.
"""

from functools import partial

from autotune.domain.problem import ButcherTableau, Ivp
from autotune.domain.stencil import Stencil
from autotune.files.config.facts import read_file

IVP, METHOD, STENCIL = "autotune.ivp/1", "autotune.method/1", "autotune.stencil/1"

read_ivp = partial(read_file, schema=IVP, kind=Ivp)
read_method = partial(read_file, schema=METHOD, kind=ButcherTableau)
read_stencil = partial(read_file, schema=STENCIL, kind=Stencil)
