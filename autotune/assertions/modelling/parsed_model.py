"""A model with its expressions parsed and checked: names, domains, operations, order of variables.

All mistakes of a model are reported at once, each with the path of its node.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autotune.assertions.modelling import count_formula
from autotune.assertions.modelling.count_formula import CountFormula
from autotune.assertions.modelling.variable_domains import VariableDomain, domain
from autotune.domain.assertion_model import MODEL_SCHEMA, AssertionModel, ModelNode
from autotune.domain.assertion_record import COUNTED, MESSAGES, NamedVariable
from autotune.errors import Fault, InputError, nearest, one_of
from autotune.files import checked_values

OPERATIONS = (
    "barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
    "scan", "exscan",
)  # fmt: skip
"""Collectives that a model may name; a suffix such as that of ``allgatherv`` does not matter."""
FORMATS = "a model in JSON, as `autotune assert model` writes it"
_LARGEST = 1 << 26
"""Bytes of a model."""
MOST_DEEP = 64
"""Nodes inside of one another."""
SEPARATOR = "/"
"""Between the names of a path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedNode:
    """A node of a model with its formulas."""

    node: ModelNode
    path: str
    """The names from the top, with ``/`` between; a number follows where siblings share a name."""
    amount: CountFormula
    """Trips, operations or bytes; 1 of a region or subroutine."""
    repeat: CountFormula
    peer: CountFormula | None
    inner: tuple["ParsedNode", ...]
    varying: bool
    """Of a loop: whether anything inside depends on its index."""

    def walk(self) -> Iterator["ParsedNode"]:
        """The node and all below it, parents first."""
        yield self
        for node in self.inner:
            yield from node.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedModel:
    """A model whose expressions are sound."""

    model: AssertionModel
    inputs: tuple[str, ...]
    """Variables that need a value; the number of ranks is one of them, the rank is not."""
    domains: Mapping[str, VariableDomain]
    derived: Mapping[str, CountFormula]
    """In the order of their definition."""
    nodes: tuple[ParsedNode, ...]

    def walk(self) -> Iterator[ParsedNode]:
        """Every node, parents first."""
        for node in self.nodes:
            yield from node.walk()

    def at(self, path: str, where: str = "--node") -> ParsedNode:
        """The node of a path; InputError naming the nearest one where there is none."""
        paths = {node.path: node for node in self.walk()}
        if path not in paths:
            hint = nearest(path, paths)
            fault = Fault(where=where, found=f"no node {path!r} in {self.model.name}", hint=hint)
            raise InputError(fault)
        return paths[path]

    @property
    def by_rank(self) -> bool:
        """Whether counts depend on the rank."""
        return self.model.rank in self.reach(
            frozenset().union(*(_symbols(node) for node in self.walk()), frozenset())
        )

    def reach(self, names: frozenset[str]) -> frozenset[str]:
        """Names, and all that the derived ones among them are derived from."""
        reached = set(names)
        for name, formula in reversed(list(self.derived.items())):
            if name in reached:
                reached |= formula.symbols
        return frozenset(reached)


def _symbols(node: ParsedNode) -> frozenset[str]:
    """The symbols of a node's counts; a peer is no count."""
    return node.amount.symbols | node.repeat.symbols


def load(path: Path) -> ParsedModel:
    """The model of a JSON file; InputError with every mistake in it."""
    model = checked_values.read(AssertionModel, path, MODEL_SCHEMA, FORMATS, _LARGEST)
    return parse(model, str(path))


def parse(model: AssertionModel, where: str = "") -> ParsedModel:
    """A model with its formulas; InputError with every mistake in it."""
    deepest = _deepest(model.nodes)
    if deepest > MOST_DEEP:
        found = f"nodes inside of one another, {deepest} deep"
        raise InputError(Fault(where=where or model.name, found=found, expected=f"{MOST_DEEP}"))
    reading = _Reading(model, where or model.name)
    parsed = reading.model_of()
    if reading.faults:
        raise InputError(*reading.faults)
    return parsed


def _deepest(nodes: tuple[ModelNode, ...]) -> int:
    """How deep nodes lie inside of one another."""
    depth = 0
    while nodes:
        depth += 1
        nodes = tuple(inner for node in nodes for inner in node.inner)
    return depth


class _Reading:
    """The faults of a model, gathered while it is read."""

    def __init__(self, model: AssertionModel, where: str) -> None:
        self.model, self.where = model, where
        self.faults: list[Fault] = []

    def fault(self, place: str, found: str, expected: str = "", hint: str = "") -> None:
        where = f"{self.where}: {place}" if place else self.where
        self.faults.append(Fault(where=where, found=found, expected=expected, hint=hint))

    def model_of(self) -> ParsedModel:
        inputs: list[str] = []
        derived: dict[str, CountFormula] = {}
        domains: dict[str, VariableDomain] = {}
        for variable in self.model.variables:
            self._variable(variable, inputs, derived, domains)
        rank, ranks = self.model.rank, self.model.ranks
        if ranks not in (*inputs, *derived):
            inputs.append(ranks)
        domains.setdefault(ranks, domain("whole; [1, ]"))
        inputs = [name for name in inputs if name != rank]
        scope = frozenset({*inputs, *derived, rank})
        nodes = self._nodes(self.model.nodes, "", scope)
        return ParsedModel(
            model=self.model, inputs=tuple(inputs), domains=domains, derived=derived, nodes=nodes
        )

    def _variable(
        self,
        variable: NamedVariable,
        inputs: list[str],
        derived: dict[str, CountFormula],
        domains: dict[str, VariableDomain],
    ) -> None:
        place = f"variable {variable.name}"
        if not variable.name.isidentifier():
            self.fault(place, f"{variable.name!r} is no name", "letters, digits and _")
        try:
            if variable.domain:
                domains[variable.name] = domain(variable.domain)
        except ValueError as error:
            self.fault(place, str(error))
        if not variable.expression:
            inputs.append(variable.name)
            return
        scope = frozenset({*inputs, *derived, self.model.rank, self.model.ranks})
        later = {v.name for v in self.model.variables} - scope
        derived[variable.name] = self._formula(variable.expression, place, scope, later)

    def _formula(
        self, text: str, place: str, scope: frozenset[str], later: set[str] | None = None
    ) -> CountFormula:
        """The formula of a text; 0 where it is faulty, and the fault is noted."""
        try:
            formula = count_formula.parse(text)
        except ValueError as error:
            self.fault(place, str(error))
            return _ZERO
        for name in sorted(formula.symbols - scope):
            if later and name in later:
                self.fault(place, f"variable {name!r} in {text!r} is defined after its use")
            else:
                self.fault(
                    place, f"unknown variable {name!r} in {text!r}", hint=nearest(name, scope)
                )
        return formula

    def _nodes(
        self, nodes: tuple[ModelNode, ...], above: str, scope: frozenset[str]
    ) -> tuple[ParsedNode, ...]:
        names: dict[str, int] = {}
        parsed = []
        for node in nodes:
            names[node.name] = names.get(node.name, 0) + 1
            number = f"#{names[node.name]}" if names[node.name] > 1 else ""
            path = f"{above}{SEPARATOR if above else ''}{node.name}{number}"
            parsed.append(self._node(node, path, scope))
        return tuple(parsed)

    def _node(self, node: ModelNode, path: str, scope: frozenset[str]) -> ParsedNode:
        self._checked(node, path, scope)
        needs = node.kind == "loop" or node.kind in COUNTED or node.kind in MESSAGES
        text = node.expression if needs else "1"
        if node.operation == "barrier":
            text = text or "0"
        inner_scope = scope | {node.index} if node.index else scope
        inner = self._nodes(node.inner, path, inner_scope)
        used = [part.symbols for item in inner for part in _formulas(item)]
        return ParsedNode(
            node=node,
            path=path,
            amount=self._formula(text, path, scope),
            repeat=self._formula(node.repeat, f"{path}: repeat", scope),
            peer=self._formula(node.peer, f"{path}: peer", scope) if node.peer else None,
            inner=inner,
            varying=bool(node.index) and any(node.index in symbols for symbols in used),
        )

    def _checked(self, node: ModelNode, path: str, scope: frozenset[str]) -> None:
        needs = node.kind == "loop" or node.kind in COUNTED or node.kind in MESSAGES
        if needs and not node.expression and node.operation != "barrier":
            self.fault(path, f"a {node.kind} without an expression")
        if node.kind not in _KINDS:
            self.fault(
                path, f"unknown kind {node.kind!r}", one_of(_KINDS), nearest(node.kind, _KINDS)
            )
        if node.kind == "coll" and collective(node.operation) is None:
            hint = nearest(node.operation, OPERATIONS)
            self.fault(path, f"unknown collective {node.operation!r}", one_of(OPERATIONS), hint)
        if node.index and node.index in scope:
            self.fault(path, f"the index {node.index!r} is the name of a variable or outer index")
        if node.index and not node.index.isidentifier():
            self.fault(path, f"{node.index!r} is no name of an index", "letters, digits and _")
        if node.inner and node.kind in MESSAGES:
            self.fault(path, f"a {node.kind} with {len(node.inner)} nodes inside", "none")


_KINDS = ("region", "loop", "sub", *COUNTED, *MESSAGES)
_ZERO = count_formula.parse("0")


def _formulas(node: ParsedNode) -> Iterator[CountFormula]:
    """The formulas of a node and of all below it."""
    for item in node.walk():
        yield item.amount
        yield item.repeat
        if item.peer is not None:
            yield item.peer


def collective(operation: str) -> str | None:
    """The name in ``OPERATIONS`` of a collective such as ``MPI_Iallgatherv``; None without one."""
    name = operation.lower().removeprefix("mpi_")
    candidates: tuple[Callable[[str], str], ...] = (
        str, lambda n: n.removeprefix("i"), lambda n: n.removesuffix("v"),
        lambda n: n.removeprefix("i").removesuffix("v"),
    )  # fmt: skip
    return next((short for change in candidates if (short := change(name)) in OPERATIONS), None)
