"""What the comparison with the reference sees, and at which size it looks."""

import numpy as np
import pytest
from fake_program import DECAY, MIDPOINT, make_candidate

from autotune import paths
from autotune.domain.problem import Problem
from autotune.domain.variant import Candidate, ExecutionLayout, Pipeline, StripPlanes, Tile, Variant
from autotune.files import config
from autotune.measuring.verification import verify


def judged(state, reference, field_of=None):
    reference = np.asarray(reference, dtype=float)
    if field_of is None:
        field_of = np.zeros(reference.size, dtype=int)
    return verify.judge(np.asarray(state, dtype=float), reference, np.asarray(field_of))


class TestJudge:
    def test_equal_states_agree(self):
        verdict = judged([1.0, 2.0], [1.0, 2.0])
        assert (verdict.status, verdict.error) == ("ok", 0.0)

    def test_error_is_relative_to_the_largest_component(self):
        verdict = judged([1.0, 100.0 + 1e-9], [1.0, 100.0])
        assert verdict.status == "wrong-result"
        assert verdict.error == pytest.approx(1e-11, rel=1e-3)
        assert "component 1 is 100.000000001, the reference says 100.0" in verdict.detail

    def test_each_field_has_its_own_scale(self):
        """An error of 1e-9 hides beside 1e6, but not within its own field."""
        state, reference = [1.0 + 1e-9, 1e6], [1.0, 1e6]
        assert judged(state, reference).status == "ok"
        assert judged(state, reference, [0, 1]).status == "wrong-result"

    def test_a_field_of_zeros_must_be_zero(self):
        assert judged([0.0, 1.0], [0.0, 1.0], [0, 1]).status == "ok"
        assert judged([1e-200, 1.0], [0.0, 1.0], [0, 1]).status == "wrong-result"

    @pytest.mark.parametrize("value", [np.nan, np.inf, 1e-310])
    def test_unfit_numbers(self, value: float):
        verdict = judged([value, 1.0], [0.0, 1.0])
        assert verdict.status == "wrong-result"
        assert "component 0" in verdict.detail


class TestFields:
    """The shipped problems have the fields that their physics has."""

    @pytest.mark.parametrize("name", ["heat2d", "inverterchain", "wave1d"])
    def test_one_field(self, name: str):
        ivp = config.ivp(name)
        assert not np.any(verify.fields(ivp, 31))

    @pytest.mark.parametrize("name", ["string-row", "medakzo"])
    def test_two_fields_one_after_the_other(self, name: str):
        field_of = verify.fields(config.ivp(name), 31)
        assert np.array_equal(field_of, np.repeat([0, 1], 31))

    def test_two_fields_in_alternation(self):
        field_of = verify.fields(config.ivp("string-mix"), 31)
        assert np.array_equal(field_of, np.tile([0, 1], 31))


class TestSize:
    def candidate(self, name: str, tile: int | None, threads: int) -> Candidate:
        method = config.method("radau-iia-7")
        problem = Problem(ivp=config.ivp(name), method=method, correctors=6, size=5000)
        tiles = (Tile("lc", tile),) if tile else ()
        variant = Variant(skeleton="pirk", transformations=tiles, parameters={})
        return Candidate(variant=variant, problem=problem, layout=ExecutionLayout(threads=threads))

    @pytest.mark.parametrize("name", paths.names("kernels/ivp"))
    @pytest.mark.parametrize("tile", [None, 256, 4096])
    @pytest.mark.parametrize("threads", [1, 2, 64])
    def test_every_case_occurs(self, name: str, tile: int | None, threads: int):
        candidate = self.candidate(name, tile, threads)
        problem = verify.verification_problem(candidate)
        ivp, size, n = problem.ivp, problem.size, problem.n
        assert size % 2 == 1
        assert n % 8
        assert n / threads > 2.5 * (tile or 1)
        assert all(any(map(len, ivp.members(region, size))) for region in ivp.regions)
        # and it is hardly larger than it must be
        assert n < 2 * max(2.5 * (tile or 0) * threads, 40 * threads, 100)

    def test_a_tile_larger_than_the_problem_counts_as_one_of_its_size(self):
        ivp = config.ivp("wave1d")
        problem = Problem(ivp=ivp, method=config.method("radau-iia-7"), correctors=6, size=50)
        for change in (Tile("lc", 2**40), Pipeline("k", 2**40)):
            variant = Variant(skeleton="pirk", transformations=(change,), parameters={})
            layout = ExecutionLayout(threads=2)
            candidate = Candidate(variant=variant, problem=problem, layout=layout)
            assert verify.verification_problem(candidate).n < 2 * 2.5 * (problem.n + 512) + 64

    def test_a_plane_has_several_strips(self):
        method = config.method("radau-iia-7")
        problem = Problem(ivp=config.ivp("heat3d"), method=method, correctors=6, size=161)
        rules = (Pipeline("k", 64), StripPlanes(12))
        variant = Variant(skeleton="pirk", transformations=rules, parameters={})
        candidate = Candidate(variant=variant, problem=problem, layout=ExecutionLayout())
        assert 12 < verify.verification_problem(candidate).size < 20

    def test_a_dimension_that_is_always_a_multiple_of_a_line(self):
        from dataclasses import replace

        from autotune.language.expression import parse

        ivp = replace(DECAY, dimension=parse("8*N"))
        problem = Problem(ivp=ivp, method=MIDPOINT, correctors=1, size=100)
        candidate = replace(make_candidate(tile=64), problem=problem)
        assert verify.verification_problem(candidate).n > 160
