"""The control flow of a model as text, as in figure 11 of Alam and Vetter 2006."""

from collections.abc import Iterable, Iterator, Mapping

from autotune.domain.assertion_model import AssertionModel, ModelNode
from autotune.domain.assertion_record import PathKind

_COUNT: Mapping[PathKind, str] = {"loop": "COUNT", "flop": "COUNT"}


def control_flow(model: AssertionModel) -> str:
    """Loops with their trips, subroutines, counted blocks and messages, inner ones indented."""
    return "\n".join([*_lines(model.nodes, ""), ""])


def _lines(nodes: Iterable[ModelNode], indent: str) -> Iterator[str]:
    for node in nodes:
        yield indent + _head(node)
        if node.kind in ("region", "loop", "sub"):
            yield indent + "{"
            yield from _lines(node.inner, indent + "  ")
            yield indent + "}"


def _head(node: ModelNode) -> str:
    words = [f"{node.name}()"] if node.kind == "sub" else [mpi_word(node), f"(NAME={node.name})"]
    if node.expression:
        words.append(f"({_COUNT.get(node.kind, 'SIZE')}={node.expression})")
    words += [f"(INDEX={node.index})"] * bool(node.index)
    words += [f"(PEER={node.peer})"] * bool(node.peer)
    if node.repeat != "1":
        measured = " measured" if node.repeat_measured else ""
        words.append(f"(REPEAT={node.repeat}{measured})")
    return " ".join(words)


def mpi_word(node: ModelNode) -> str:
    """The keyword of a node: ``loop``, ``mpi_irecv``, ``mpi_allreduce``."""
    if node.kind in ("send", "recv"):
        return f"mpi_{'i' if node.nonblocking else ''}{node.kind}"
    return f"mpi_{node.operation}" if node.kind == "coll" else node.kind
