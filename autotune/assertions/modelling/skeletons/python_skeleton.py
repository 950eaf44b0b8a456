"""A program in Python (mpi4py) that sends the messages of a model and nothing else."""

import json
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from pathlib import Path

from autotune.assertions.modelling.count_formula import CountFormula
from autotune.assertions.modelling.forms.notation import all_names
from autotune.assertions.modelling.forms.python_source import HELPERS, PYTHON, quoted
from autotune.assertions.modelling.parsed_model import ParsedModel, ParsedNode, collective
from autotune.assertions.modelling.skeletons.message_tree import (
    message_nodes,
    needed_variables,
    peer_of,
    stated_peers,
)
from autotune.language.counts import Value

RUNTIME = Path(__file__).parent / "runtime"


def python_skeleton(model: ParsedModel, values: Mapping[str, Value], *, posted: bool) -> str:
    """The program: loops of the model as loops, its messages as calls of mpi4py.

    ``values``: of the inputs, unless its arguments say otherwise. ``posted``: receives are those of
    the model; otherwise messages are received as they come.
    """
    return _PythonSkeleton(model, posted).text(values)


class _PythonSkeleton:
    """The lines of a program for one model."""

    def __init__(self, model: ParsedModel, posted: bool) -> None:
        self.model, self.posted = model, posted
        self.names = PYTHON.names(["run", "MessageRun", *all_names(model)])

    def text(self, values: Mapping[str, Value]) -> str:
        tree = message_nodes(self.model.nodes)
        rank = self.names[self.model.model.rank]
        inputs = ", ".join(self.names[name] for name in self.model.inputs)
        title = f'"""{quoted(self.model.model.name)}: a skeleton that sends its messages."""'
        lines = [title, "", HELPERS, "", _runtime(), "", ""]
        lines += [f"def walk(run, {rank}, *, {inputs}):"]
        lines += ['    """The messages of one rank."""']
        for name in needed_variables(self.model, tree):
            lines.append(f"    {self.names[name]} = {self.written(self.model.derived[name])}")
        lines += self.block(tree, "    ")
        senders = "all" if stated_peers(tree) else "ring"
        defaults = {self.names[name]: values[name] for name in self.model.inputs}
        shown = ", ".join(f"{name!r}: {_number(value)}" for name, value in defaults.items())
        ranks = json.dumps(self.names.get(self.model.model.ranks, ""))
        lines += ["", "", 'if __name__ == "__main__":', f"    DEFAULTS = {{{shown}}}"]
        lines += [
            f'    main(walk, DEFAULTS, {ranks}, posted={self.posted}, senders="{senders}")',
            "",
        ]
        return "\n".join(lines)

    def written(self, formula: CountFormula) -> str:
        return PYTHON.write(formula.expr, self.names)

    def block(self, nodes: Iterable[ParsedNode], indent: str) -> Iterator[str]:
        """Some nodes in order; what they start is completed at the end."""
        messages = False
        for node in nodes:
            messages |= node.node.kind in ("send", "recv")
            yield from self.node(node, indent)
        if messages:
            yield f"{indent}run.wait()"

    def node(self, node: ParsedNode, indent: str) -> Iterator[str]:
        path = json.dumps(node.path)
        if node.node.repeat != "1":
            yield f"{indent}for _ in run.times({path}, {self.written(node.repeat)}):"
            indent += "    "
        kind = node.node.kind
        if kind == "loop":
            index = self.names.get(node.node.index, "_")
            yield f"{indent}for {index} in range(whole({self.written(node.amount)}, {path})):"
            yield from self.block(node.inner, indent + "    ")
        elif kind in ("send", "recv"):
            peer = self.written(peer_of(self.model, node))
            yield f"{indent}run.{kind}({path}, {self.written(node.amount)}, {peer})"
        elif kind == "coll":
            operation = json.dumps(collective(node.node.operation))
            yield f"{indent}run.coll({path}, {operation}, {self.written(node.amount)})"
        else:
            yield f"{indent}# {quoted(node.node.kind)} {quoted(node.node.name)}"
            yield from self.block(node.inner, indent)


def _number(value: Value) -> str:
    return (
        f"Fraction({value.numerator}, {value.denominator})"
        if isinstance(value, Fraction)
        else repr(value)
    )


def _runtime() -> str:
    """The run-time part without its docstring."""
    text = (RUNTIME / "message_run.py").read_text(encoding="utf-8")
    return text.partition('"""\n\n')[2].rstrip()
