"""Reads networks from YAML: from the section ``network:`` of a machine file, or from a separate
file.

A separate file (schema autotune.network/1) has the same keys at its top level.
"""

from pathlib import Path

from autotune.domain.network import Network, Operation
from autotune.files.config.facts import draft, settle
from autotune.files.config.session import Session
from autotune.files.parsing.yaml_document import Document, Keys

SCHEMA = "autotune.network/1"


def read_network(session: Session, path: Path) -> Network | None:
    """The network in a separate file; None with faults noted where it cannot be read."""
    faults_before = len(session.faults)
    document = session.open(path, SCHEMA)
    stated = draft(session, document, Network) if document else None
    if document is None or stated is None:
        return None
    check_network(session, document, stated, ())
    return settle(session, document, stated) if len(session.faults) == faults_before else None


def check_network(session: Session, document: Document, network: Network, under: Keys) -> None:
    """Note curves that are impossible or doubled; ``under``: the keys of the network in the
    document.
    """
    places: dict[tuple[Operation, int, int], str] = {}
    for i, curve in enumerate(network.curves):
        keys = (*under, "curves", i)
        where = document.place(keys)
        if settle(session, document, curve, keys) is None:
            continue
        if curve.key in places:
            session.add(
                where,
                f"a second curve for {curve.operation} of {curve.ranks} ranks on"
                f" {curve.nodes} nodes",
                f"one (first at {places[curve.key]})",
            )
        places.setdefault(curve.key, where)
