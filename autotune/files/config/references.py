"""Reads published tables from YAML (schema autotune.reference/1)."""

from functools import partial

from autotune.domain.reference import Reference
from autotune.domain.setup import Layout, Setup
from autotune.errors import nearest, one_of
from autotune.files.config.facts import read_file
from autotune.files.config.session import Session

SCHEMA = "autotune.reference/1"


read_reference = partial(read_file, schema=SCHEMA, kind=Reference, at=("groups",))


def check_reference(session: Session, setup: Setup) -> None:
    """Note, at the key ``reference``, what the published table needs and the study lacks."""
    reference, where = setup.reference, setup.place("reference")
    if reference is None:
        return
    if not any(reference.about(problem) for problem in setup.problems):
        wanted = (
            f"{reference.ivp}, {reference.method}, {reference.correctors} correctors,"
            f" n = {reference.n}"
        )
        given = ", ".join(f"{p.label} with n = {p.n}" for p in setup.problems)
        session.add(where, f"{reference.name} is about {wanted}", f"a problem like it, not {given}")
    if not any(_same_layout(reference, layout) for layout in setup.layouts):
        session.add(where, f"{reference.name} was run on {reference.layout}", "a layout like it")
    absent = [g.communication for g in reference.groups if g.communication != "none"]
    absent = [way for way in absent if way not in setup.communications]
    if absent:
        text = f"{reference.name} has rows of communication {', '.join(absent)}"
        session.add(where, text, f"communication: {', '.join((*setup.communications, *absent))}")
    values = setup.space.parameters.get(reference.parameter)
    if values is None:
        text = f"{reference.name} names values of {reference.parameter!r}, no parameter of space"
        session.add(where, f"{text} {setup.space.name}", one_of(sorted(setup.space.parameters)))
        return
    names = [value for value in values if isinstance(value, str)]
    for variant in dict.fromkeys((*reference.variants, reference.rule)):
        if variant not in names:
            text = f"{reference.name} has a row {variant!r}, which space {setup.space.name} lacks"
            session.add(where, text, one_of(names), nearest(variant, names))


def _same_layout(reference: Reference, layout: Layout) -> bool:
    same_threads = layout.threads in (reference.threads, "all")
    return same_threads and (layout.nodes, layout.ranks) == (reference.nodes, reference.ranks)
