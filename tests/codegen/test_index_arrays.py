"""Reads through index arrays: checked, generated, compared with NumPy, predicted widely."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest
from codegen_build import SKELETON, Workshop, problem, reference, sources, state, variant
from sample_nodes import documented

from autotune.codegen import communication
from autotune.codegen.probes import probe_text
from autotune.codegen.probes.probe_parts import LoopShape, ProbeImpossible
from autotune.codegen.tree import loop_tree, variant_program
from autotune.domain.problem import Ivp, Problem, Region
from autotune.domain.variant import Interchange, Jam, Tile, Vectorize
from autotune.errors import InputError
from autotune.language.expression import parse
from autotune.measuring.verification import ivp_reference, verify
from autotune.models.traffic import analyse

STEPS = 3


def network(partner: str = "(7*j + 3) % n", size: int = 101, **changes: object) -> Problem:
    """Every component relaxes towards a partner and its neighbour on the left."""
    body = "y[partner[j]] - 2.0*y[j]"
    ivp = Ivp(
        name="network",
        title="a network",
        source="made up",
        dimension=parse("N"),
        constants={"c": parse("2*N")},
        indices={"partner": parse(partner)},
        access_distance=parse("N"),
        limited=False,
        regions=(
            Region(lower=parse("0"), upper=parse("1"), body=parse(body)),
            Region(lower=parse("1"), upper=parse("n"), body=parse(f"{body} + 0.3*y[j-1]")),
        ),
        initial=(Region(lower=parse("0"), upper=parse("n"), body=parse("1.0 + 0.1*(j % 7)")),),
        stability=parse("4.0"),
    )
    return replace(problem("heat2d"), ivp=replace(ivp, **changes), size=size)


def test_the_reference_reads_the_elements_that_the_array_names() -> None:
    at = network(size=11)
    y = np.random.default_rng(1).uniform(1, 2, 11)
    expected = [y[(7 * j + 3) % 11] - 2 * y[j] + (0.3 * y[j - 1] if j else 0) for j in range(11)]
    assert ivp_reference.rhs(at.ivp, 11)(0.0, y) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    "transformations",
    [
        (Interchange("lc", ("j", "i", "l")),),
        (Interchange("lc", ("l", "i", "j")), Jam("rhs", "l", 2), Vectorize(4)),
        (Interchange("lc", ("l", "i", "j")), Tile("lc", 64)),
    ],
)
def test_programs_agree_with_the_reference(transformations: tuple, workshop: Workshop) -> None:
    at = network(size=301)
    program = workshop.build(sources(variant(*transformations), at))
    expected = reference(at, STEPS)
    for threads in (1, 3):
        actual = state(program, at, threads, STEPS)
        verdict = verify.judge(actual, expected, verify.fields(at.ivp, at.size))
        assert verdict.status == "ok", verdict.detail


def test_remainders_and_quotients_of_negative_numbers_are_rounded_down(workshop: Workshop) -> None:
    start = parse("1.0 + 0.1*(phase % 3) + 0.1*((back*j) // 4 % 5)")
    at = network(
        "(j - 5) % n",
        constants={"back": parse("-2")},
        locals={"phase": parse("j - 7")},
        initial=(Region(lower=parse("0"), upper=parse("n"), body=start),),
    )
    program = workshop.build(sources(variant(Interchange("lc", ("j", "i", "l"))), at))
    actual, expected = state(program, at, 1, STEPS), reference(at, STEPS)
    verdict = verify.judge(actual, expected, verify.fields(at.ivp, at.size))
    assert verdict.status == "ok", verdict.detail


def test_the_array_is_an_argument_of_the_sweeps_that_use_it() -> None:
    texts = sources(variant(Interchange("lc", ("j", "i", "l"))), network())
    assert "const int *restrict partner" in texts["sweep_f_network_1.c"]
    assert "y[(long)(partner[j])]" in texts["sweep_f_network_1.c"]
    assert 'index_of("partner", j, (7*j + 3)%n, n)' in texts["step.c"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"indices": {"partner": parse("j + 1")}},
            r"partner\[1\] = 2 at N = 2; expected whole num",
        ),
        ({"indices": {"partner": parse("j - 1")}}, r"indices\.partner: partner\[0\] = -1 at N = 2"),
        ({"indices": {"partner": parse("j/2")}}, r"partner\[1\] = 0.5 at N = 2; expected whole"),
        ({"indices": {"partner": parse("q")}}, r"indices\.partner: unknown name 'q'"),
        ({"indices": {"partner": parse("t")}}, r"indices\.partner: unknown name 't'"),
        ({"indices": {"c": parse("j")}}, r"indices\.c: the name 'c' is taken by a constant"),
        ({"indices": {}}, r"partner\[j\] is not known; expected elements of y: y\[j - 1\]"),
        ({"indices": {"other": parse("j")}}, r"expected .*y\[j - 1\], y\[other\[j\]\]"),
        ({"limited": True}, "limited: limited, but index arrays may lead to every component"),
        ({"periodic": True}, "periodic: periodic, but index arrays"),
        ({"access_distance": parse("1")}, r"is farther from 0 than the access distance 1"),
        ({"locals": {"a": parse("partner[j] + 1")}}, r"partner\[j\] is not known"),
        (
            {"locals": {"a": parse("y[partner[j+1]]")}},
            r"partner\[j \+ 1\] is not known; .*y\[partner\[j\]\]",
        ),
    ],
)
def test_index_arrays_are_checked(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        network(**changes)


def test_initial_values_read_nothing_through_an_array() -> None:
    first = replace(network().ivp.initial[0], body=parse("a"))
    with pytest.raises(ValueError, match=r"a local reads y\[partner\[j\]\], which initial values"):
        network(locals={"a": parse("y[partner[j]]")}, initial=(first,))


def test_an_array_that_leaves_y_at_the_size_of_a_run_ends_the_program(workshop: Workshop) -> None:
    """Of large arrays not all elements are looked at when a problem is read."""
    at = network("n if (j - 2501)**2 < 1 else j", size=5001)
    with pytest.raises(
        InputError,
        match=r"network: index array partner: partner\[2501\] = 5001 is not one of y\[0\] .. y",
    ):
        ivp_reference.rhs(at.ivp, at.size)
    program = workshop.build(sources(variant(Interchange("lc", ("j", "i", "l"))), at))
    with pytest.raises((AssertionError, subprocess.CalledProcessError)) as caught:
        state(program, at, 1, 1)
    text = f"{caught.value} {getattr(caught.value, 'stderr', '')}"
    assert "partner[2501] = 5001 is not one of y[0] .. y[5000]" in text


def test_an_array_that_leaves_y_at_its_size_is_refused() -> None:
    with pytest.raises(
        ValueError,
        match=r"size: network: index array partner\[99\] = 100 at N = 100;"
        " expected whole numbers from 0 to 99",
    ):
        network("j if n < 50 else j + 1", size=100)


def test_ranks_gather_all_of_y() -> None:
    at = network()
    assert "an index array of network" in str(communication.legal(at.ivp, at.size, 8, 2, "sparse"))
    assert communication.legal(at.ivp, at.size, 8, 2, "allgather") is None
    assert len(communication.readings(at.ivp)) == 1


def test_another_array_is_another_problem() -> None:
    assert network().definition != network("(5*j + 3) % n").definition


@pytest.mark.parametrize("part", ["loads", "moves", "arithmetic"])
def test_a_gather_has_no_probe_of_a_part(part: probe_text.Part) -> None:
    made = program(network())
    (sweep,) = {s.name: s for s in loop_tree.sweeps(made.body) if s.name == "f_network_1"}.values()
    with pytest.raises(ProbeImpossible, match="it reads through an index array"):
        probe_text.code(sweep, part, LoopShape(vector=32))


def program(at: Problem) -> loop_tree.StepProgram:
    chosen = variant(Interchange("lc", ("j", "i", "l")))
    return variant_program.program(chosen, SKELETON, at)


@pytest.mark.parametrize(("size", "level"), [(1000, "L1"), (100_000, "L3")])
def test_the_elements_are_lost_by_caches_smaller_than_y(size: int, level: str) -> None:
    at = network(size=size)
    records = analyse(program(at), at, 1, documented()).records()
    (made, *_) = [r for r in records if r.sweep == "f_network_1"]
    (scattered,) = [s for s in made.streams if s.lines > 0.2]
    assert (scattered.kind, scattered.lines, scattered.distance) == ("load", 1.0, 8.0 * size)
    assert scattered.level == level
