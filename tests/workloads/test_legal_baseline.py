"""The baseline that others are compared with, and what is said where it is illegal."""

from dataclasses import replace

from codegen_build import problem, setup
from stencil_samples import MACHINE

from autotune.domain.machine import Machine, Memory
from autotune.domain.setup import Generated
from autotune.domain.variant import Value
from autotune.units import Bytes
from autotune.workloads.base import Workload
from autotune.workloads.capacity import candidates_on
from autotune.workloads.legal_baseline import illegal_baseline_note, legal_baseline
from autotune.workloads.shipped import workload_of

GIB = 1 << 30


def machine(size: int) -> Machine:
    return replace(MACHINE, cores=4, memory=Memory(cores=4, capacity=Bytes(size)))


def workload(**values: Value) -> Workload:
    """A million components; ``values``: those of the baseline that differ from the space's."""
    study = setup(problem("wave1d", 1_000_000), space="pirk-small")
    space = replace(study.space, baseline={**study.space.baseline, **values})
    return workload_of(replace(study, subject=Generated(skeleton=study.skeleton, space=space)))


def note(study: Workload, size: int) -> tuple[str, str | None]:
    """The label of the candidate that others are compared with, and what is said of it."""
    space, build = candidates_on(study, machine(size)), study.setup.builds[0]
    used = legal_baseline(study, machine(size), space.legal, build)
    return used.label, illegal_baseline_note(space, study, machine(size), space.legal, build)


def test_nothing_is_said_of_a_legal_baseline() -> None:
    study = workload()
    first = study.candidates(4).legal[0]
    assert note(study, GIB) == (first.label, None)


def test_a_baseline_that_does_not_fit_is_named_with_the_figures_and_what_replaces_it() -> None:
    study = workload()
    safe = study.candidates(4).legal[0]
    sizes = {study.stored_bytes(c) or 0 for c in study.candidates(4).legal}
    least, needed = min(sizes), study.stored_bytes(safe)
    assert needed is not None
    assert least < needed
    used, said = note(study, least)
    assert said is not None
    assert used != safe.label
    assert said.startswith(f"the baseline {safe.label} is illegal: needs ")
    assert " on a node, " in said
    assert said.endswith(f"; {used}, the first of the ranking, stands in its place")


def test_a_baseline_that_a_constraint_of_the_space_excludes_is_replaced_too() -> None:
    used, said = note(workload(order="lij", tile=256, rhslc=True), GIB)
    assert said is not None
    assert "RHS and LC are fused only with the order jli" in said
    assert used in said
