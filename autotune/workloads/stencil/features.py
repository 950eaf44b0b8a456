"""The features of a stencil candidate that learned models use: its modelling vector."""

from autotune.domain.problem import StencilProblem
from autotune.domain.variant import Block, Candidate, Unroll


def features(candidate: Candidate) -> dict[str, int]:
    """The modelling vector (I, J, K, bi, bj, bk, u, t) of a stencil candidate, by name, in order.

    Extents in points, fastest dimension first; block sizes, the extent where there is no block or a
    larger one; how many times the innermost loop is written out (1: once); threads. A 2-D stencil
    has no K and bk. Source: Ibeid et al., IPDPS workshops 2019, section III.B, where 0 stands for a
    loop that is not unrolled. Raises ValueError for a candidate that is no stencil.
    """
    problem = candidate.problem
    if not isinstance(problem, StencilProblem):
        raise ValueError(f"{candidate.label} is no stencil: it has no grid to block")
    extents = dict(zip(problem.stencil.dimensions, problem.extents, strict=True))
    blocks = dict(extents)
    unrolled = 1
    for transformation in candidate.variant.transformations:
        match transformation:
            case Block(dimension=dimension, size=size):
                blocks[dimension] = min(size, blocks[dimension])
            case Unroll(factor=factor):
                unrolled = max(factor, unrolled)
    order = tuple(reversed(problem.stencil.dimensions))
    return {
        **{d.upper(): extents[d] for d in order},
        **{f"b{d}": blocks[d] for d in order},
        "u": unrolled,
        "t": candidate.threads,
    }
