"""Initial value problems: components along one dimension, spread over threads and ranks."""

from collections.abc import Mapping

from autotune.codegen import communication
from autotune.codegen.tree import loop_tree, regions
from autotune.codegen.tree.loop_tree import StepProgram
from autotune.domain.family import IVP
from autotune.domain.problem import AnyProblem, Problem
from autotune.domain.variant import Candidate, ExecutionLayout
from autotune.measuring.verification.stability_check import stability_note


class IvpKind:
    """The kind of IVPs that are solved by PIRK methods."""

    title = IVP.words
    engines: tuple[str, ...] = IVP.engines

    def limited(self, problem: AnyProblem) -> bool:
        """Whether the access distance is small compared with n (Scherg et al. 2019, section
        3.2), and does not count around the ends.
        """
        ivp = ivp_problem(problem).ivp
        return ivp.limited and not ivp.periodic

    def near(self, problem: AnyProblem) -> bool:
        """Whether the access distance, around the ends of a periodic problem, is small."""
        return ivp_problem(problem).ivp.limited

    def misfit(self, problem: AnyProblem, layout: ExecutionLayout, stages: int = 1) -> str | None:
        """Why ranks with blocks of this size cannot communicate this way; None if they can."""
        if layout.ranks == 1:
            return None
        at = ivp_problem(problem)
        way, granule = layout.communication, regions.granule(at.ivp)
        return communication.legal(at.ivp, at.size, granule, layout.ranks, way, stages)

    def largest_parts(
        self, program: StepProgram, problem: AnyProblem, threads: int
    ) -> Mapping[str | None, int]:
        """The number of components of the largest block, in whole granules."""
        blocks = -(-problem.n // program.granule)
        return {None: program.granule * -(-blocks // threads)}

    def longest_pipeline(self, program: StepProgram, problem: AnyProblem, part: int) -> int:
        """The components of the part, and one lag a stage on both sides, in whole granules."""
        at, granule = ivp_problem(problem), program.granule
        lag = granule * -(-at.ivp.distance(at.size) // granule)
        return part + 2 * loop_tree.stages(program.body) * lag

    def doubt(self, problem: AnyProblem) -> str | None:
        """That the stated bound of the spectrum is far too small, if so."""
        return stability_note(ivp_problem(problem).ivp)

    def features(self, candidate: Candidate) -> None:
        """None: there is no modelling vector for IVPs."""


def ivp_problem(problem: AnyProblem) -> Problem:
    """The problem itself if it is an IVP; ValueError for any other kind."""
    if not isinstance(problem, Problem):
        raise ValueError(f"{problem.label} is no IVP")
    return problem
