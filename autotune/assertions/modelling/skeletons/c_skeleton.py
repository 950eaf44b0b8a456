"""A program in C (MPI) that sends the messages of a model and nothing else."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from autotune.assertions.modelling.count_formula import CountFormula
from autotune.assertions.modelling.forms.notation import FormulaNotation, all_names, call
from autotune.assertions.modelling.forms.python_source import quoted
from autotune.assertions.modelling.parsed_model import ParsedModel, ParsedNode, collective
from autotune.assertions.modelling.skeletons.message_tree import (
    message_nodes,
    needed_variables,
    peer_of,
    stated_peers,
)
from autotune.assertions.modelling.skeletons.python_skeleton import RUNTIME
from autotune.language.counts import Value

_RESERVED = (
    "auto break case char const continue default do double else enum extern float for goto if"
    " inline int long register restrict return short signed sizeof static struct switch typedef"
    " union unsigned void volatile while main walk run inputs argc argv names values near"
    " ceil floor log log2 exp sqrt pow fabs fmax fmin nearbyint index j0 j1 jn y0 y1 yn gamma"
    " exit free printf stdin stdout stderr NULL"
)


def _double(value: int | float) -> str:
    return f"{value}.0" if isinstance(value, int) else repr(value)


C = FormulaNotation(
    infix=frozenset("+-*"),
    binary={
        "/": call("ma_divided"), "//": call("ma_floored"), "%": call("ma_modulo"),
        "**": call("pow"),
    },
    calls={
        "abs": "fabs({0})", "ceil": "ma_ceil({0})", "floor": "ma_floor({0})", "exp": "exp({0})",
        "log": "log({0})", "log2": "log2({0})", "sqrt": "sqrt({0})",
        "max": "fmax({0}, {1})", "min": "fmin({0}, {1})",
    },
    condition="({test} ? {then} : {other})",
    reserved=frozenset(_RESERVED.split()),
    number=_double,
)  # fmt: skip


def c_skeleton(model: ParsedModel, values: Mapping[str, Value], *, posted: bool) -> str:
    """The program: loops of the model as loops, its messages as calls of MPI.

    ``values``: of the inputs, unless its arguments say otherwise. ``posted``: receives are those of
    the model; otherwise messages are received as they come. To be built with ``mpicc FILE -lm``.
    """
    return _CSkeleton(model, posted).text(values)


class _CSkeleton:
    """The lines of a program for one model."""

    def __init__(self, model: ParsedModel, posted: bool) -> None:
        self.model, self.posted = model, posted
        self.names = C.names(all_names(model))
        self.numbers = count()

    def text(self, values: Mapping[str, Value]) -> str:
        tree = message_nodes(self.model.nodes)
        nodes = sum(1 for top in tree for _ in top.walk())
        title = (
            f"/* {quoted(self.model.model.name).replace('*/', '')}: a skeleton of its messages */"
        )
        runtime = (RUNTIME / "message_run.h").read_text(encoding="utf-8")
        lines = [title, f"#define MA_NODES {nodes + 1}", runtime, *self.walk(tree), ""]
        return "\n".join([*lines, *self.main(tree, values), ""])

    def walk(self, tree: tuple[ParsedNode, ...]) -> Iterator[str]:
        """The function with the messages of one rank."""
        yield "static void walk(struct ma_run *run, int ma_rank, const double *ma_inputs)"
        yield "{"
        rank = self.names[self.model.model.rank]
        variables = [(rank, "ma_rank")]
        variables += [(self.names[n], f"ma_inputs[{k}]") for k, n in enumerate(self.model.inputs)]
        for name in needed_variables(self.model, tree):
            variables.append((self.names[name], self.written(self.model.derived[name])))
        for name, text in variables:
            yield f"    const double {name} = {text};"
        yield "    " + " ".join(f"(void){name};" for name, _ in variables)
        yield from self.block(tree, "    ")
        yield "}"

    def main(self, tree: tuple[ParsedNode, ...], values: Mapping[str, Value]) -> Iterator[str]:
        """The function that starts the walk with the values of the inputs."""
        inputs = self.model.inputs
        ranks = self.model.model.ranks
        place = inputs.index(ranks) if ranks in inputs else -1
        ring = 0 if stated_peers(tree) else 1
        names = ", ".join(json.dumps(name) for name in inputs)
        numbers = ", ".join(repr(float(values[name])) for name in inputs)
        yield "int main(int argc, char **argv)"
        yield "{"
        yield f"    static const char *const names[] = {{{names}}};"
        yield f"    double values[] = {{{numbers}}};"
        options = f"{len(inputs)}, names, values, {place}, {int(self.posted)}, {ring}"
        yield f"    return ma_main(argc, argv, walk, {options});"
        yield "}"

    def written(self, formula: CountFormula) -> str:
        return C.write(formula.expr, self.names)

    def block(self, nodes: Iterable[ParsedNode], indent: str) -> Iterator[str]:
        """Some nodes in order; what they start is completed at the end."""
        messages = False
        for node in nodes:
            messages |= node.node.kind in ("send", "recv")
            yield from self.node(node, indent)
        if messages:
            yield f"{indent}ma_wait(run);"

    def node(self, node: ParsedNode, indent: str) -> Iterator[str]:
        path, number = json.dumps(node.path), next(self.numbers)
        if node.node.repeat != "1":
            times = f"ma_times(run, {number}, {path}, {self.written(node.repeat)})"
            left = f"ma_left_{number}"
            yield f"{indent}for (long long {left} = {times}; {left} > 0; {left}--) {{"
            yield from self.visit(node, path, number, indent + "    ")
            yield f"{indent}}}"
        else:
            yield from self.visit(node, path, number, indent)

    def visit(self, node: ParsedNode, path: str, number: int, indent: str) -> Iterator[str]:
        """One visit of a node."""
        kind = node.node.kind
        if kind == "loop":
            trips, turn = f"ma_trips_{number}", f"ma_turn_{number}"
            count = f"ma_whole({path}, {self.written(node.amount)})"
            yield f"{indent}for (long long {turn} = 0, {trips} = {count};"
            yield f"{indent}     {turn} < {trips}; {turn}++) {{"
            if node.node.index:
                yield f"{indent}    const double {self.names[node.node.index]} = (double){turn};"
                yield f"{indent}    (void){self.names[node.node.index]};"
            yield from self.block(node.inner, indent + "    ")
            yield f"{indent}}}"
        elif kind in ("send", "recv"):
            peer = self.written(peer_of(self.model, node))
            yield f"{indent}ma_{kind}(run, {path}, {self.written(node.amount)}, {peer});"
        elif kind == "coll":
            operation = json.dumps(collective(node.node.operation))
            yield f"{indent}ma_coll(run, {path}, {operation}, {self.written(node.amount)});"
        else:
            yield f"{indent}/* {node.node.kind} {quoted(node.node.name).replace('*/', '')} */"
            yield from self.block(node.inner, indent)
