"""What the commands on models do: arguments and files become models, bindings and programs."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from autotune import paths
from autotune.assertions.counters import record_counts
from autotune.assertions.modelling import parsed_model
from autotune.assertions.modelling.binding import ModelBinding, bind
from autotune.assertions.modelling.forms import (
    flow_text,
    latex_text,
    octave_text,
    paper_text,
    python_source,
)
from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.assertions.modelling.records_to_model import model_from_records
from autotune.assertions.modelling.skeletons import (
    c_skeleton,
    message_tree,
    python_skeleton,
    synthetic_trace,
)
from autotune.assertions.modelling.studies.predicted_time import node_rates, predicted_time
from autotune.assertions.modelling.symbolic_totals import SymbolicTotal, symbolic_totals
from autotune.assertions.modelling.tree_walk import METRICS, rank_counts
from autotune.assertions.records import record_files, run_records
from autotune.commands.assertion.modelling.document import MetricShares
from autotune.domain.assertion_model import MODEL_SCHEMA, AssertionModel
from autotune.domain.assertion_record import AssertionRecord
from autotune.domain.machine import Machine
from autotune.domain.network import Network
from autotune.errors import Fault, InputError, unknown_name
from autotune.files import codec
from autotune.language.counts import Value

_HEAD = 4096
"""Characters in which a file says what it is."""
_MOST_MATCHED = 64
"""Ranks whose messages are compared before receives are posted as the model states them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A model with what was noticed when it was made."""

    parsed: ParsedModel
    notes: tuple[str, ...] = ()


def load(files: Sequence[Path], from_text: bool = False, run: str = "") -> LoadedModel:
    """The model that files hold: a model in JSON, the paper's text, or the records of a run."""
    if from_text:
        if len(files) != 1:
            found = f"{len(files)} files"
            raise InputError(Fault(where="--from-text", found=found, expected="one text"))
        model = paper_text.read(_text(files[0]), files[0].stem, str(files[0]))
        return LoadedModel(parsed=parsed_model.parse(model, str(files[0])))
    if len(files) == 1 and files[0].is_file() and MODEL_SCHEMA in _text(files[0])[:_HEAD]:
        return LoadedModel(parsed=parsed_model.load(files[0]))
    recorded = model_from_records(run_records.read(files, run).records)
    return LoadedModel(parsed=parsed_model.parse(recorded.model), notes=recorded.notes)


def records(files: Sequence[Path]) -> tuple[AssertionRecord, ...]:
    """The records of several runs, with the line counts that lie beside them."""
    return tuple(
        record_counts.with_own_counts(path, record_files.read(path))
        for path in record_files.files_of(files)
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(Fault(where=str(path), found="no text in UTF-8")) from error
    except OSError as error:
        raise InputError(
            Fault(where=str(path), found=f"cannot be read: {error.strerror}")
        ) from error


def values(texts: Sequence[str] | None, option: str = "--set") -> dict[str, Value]:
    """Values of variables from ``name=value``; InputError for any other text."""
    result: dict[str, Value] = {}
    for text in texts or ():
        name, equals, number = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise InputError(Fault(where=option, found=repr(text), expected="NAME=VALUE"))
        if name in result:
            raise InputError(Fault(where=option, found=f"{name} twice", expected="one value"))
        result[name] = value(number, option)
    return result


def value(text: str, option: str) -> Value:
    """A number: whole, a fraction or a decimal one; exact, unless it has an exponent."""
    try:
        exact = Fraction(text.replace("_", ""))
    except (ValueError, ZeroDivisionError) as error:
        raise InputError(Fault(where=option, found=repr(text), expected="a number")) from error
    return int(exact) if exact.denominator == 1 else exact


def lists(texts: Sequence[str] | None, option: str = "--over") -> dict[str, list[Value]]:
    """Lists of values from ``name=4,16,64``; InputError for any other text."""
    result: dict[str, list[Value]] = {}
    for text in texts or ():
        name, equals, numbers = text.partition("=")
        if not equals or not numbers.strip():
            raise InputError(Fault(where=option, found=repr(text), expected="NAME=VALUE,VALUE,..."))
        result[name.strip()] = [value(number, option) for number in numbers.split(",")]
    return result


def ranges(texts: Sequence[str] | None) -> dict[str, tuple[Value, Value]]:
    """Ranges from ``name=1000:10000``; InputError for any other text."""
    result = {}
    for text in texts or ():
        name, equals, ends = text.partition("=")
        low, colon, high = ends.partition(":")
        if not equals or not colon:
            raise InputError(Fault(where="--range", found=repr(text), expected="NAME=LOW:HIGH"))
        result[name.strip()] = (value(low, "--range"), value(high, "--range"))
    return result


def write(path: Path, text: str) -> Path:
    """Write a file; InputError where that is not possible."""
    paths.check_output(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        found = f"cannot be written: {error.strerror or error}"
        raise InputError(Fault(where=str(path), found=found)) from error
    return path


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    """Write a file line by line."""
    paths.check_output(path)
    try:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        found = f"cannot be written: {error.strerror or error}"
        raise InputError(Fault(where=str(path), found=found)) from error
    return path


def model_text(model: AssertionModel) -> str:
    """A model as JSON."""
    return f"{json.dumps(codec.document(model), indent=1)}\n"


FORMS: Mapping[str, Callable[[ParsedModel, Sequence[SymbolicTotal]], str]] = {
    "octave": octave_text.octave,
    "python": python_source.python_source,
    "latex": latex_text.latex,
    "control-flow": lambda model, _: flow_text.control_flow(model.model),
    "text": lambda model, _: paper_text.write(model.model),
}
"""Other forms of a model by the names of their options."""


def write_forms(model: ParsedModel, files: Mapping[str, Path | None]) -> tuple[Path, ...]:
    """Write the forms that have a file."""
    totals = symbolic_totals(model)
    return tuple(
        write(path, FORMS[name](model, totals)) for name, path in files.items() if path is not None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivePlan:
    """How a skeleton receives its messages."""

    posted: bool
    """Receives are those of the model; otherwise messages are taken as they come."""
    why: str


def receive_plan(binding: ModelBinding) -> ReceivePlan:
    """Whether the receives of a model match its sends for these values."""
    kinds = {node.node.kind for node in binding.model.walk()}
    if "recv" not in kinds:
        return ReceivePlan(posted=False, why="the model states no receives: taken as they come")
    if binding.ranks > _MOST_MATCHED:
        why = f"receives of more than {_MOST_MATCHED} ranks are not compared: taken as they come"
        return ReceivePlan(posted=False, why=why)
    matched, why = message_tree.received_as_sent(binding)
    if matched:
        return ReceivePlan(posted=True, why=why or "receives match the sends of every rank")
    return ReceivePlan(posted=False, why=f"{why}: messages are taken as they come")


def write_skeleton(
    binding: ModelBinding,
    plan: ReceivePlan,
    program: Path | None,
    trace: Path | None,
    most_events: int,
) -> tuple[Path, ...]:
    """Write the program, in C or in Python by the ending of its file, and the trace."""
    files = []
    if program is not None:
        make = c_skeleton.c_skeleton if program.suffix == ".c" else python_skeleton.python_skeleton
        files.append(write(program, make(binding.model, binding.given, posted=plan.posted)))
    if trace is not None:
        files.append(write_lines(trace, synthetic_trace.synthetic_trace(binding, most_events)))
    return tuple(files)


def shares(
    binding: ModelBinding, texts: Sequence[str] | None, samples: int, seed: int, rank: int
) -> tuple[MetricShares, ...]:
    """Sobol's indices of every total that is not 0 over the ranges of ``--range``."""
    if not texts:
        return ()
    from autotune.assertions.modelling.studies.variance_shares import drawn_range, variance_shares

    model = binding.model
    drawn = []
    for name, (low, high) in ranges(texts).items():
        if name not in model.inputs:
            raise InputError(unknown_name("--range", "variable", name, model.inputs))
        drawn.append(drawn_range(model, name, binding.given[name], low, high))
    counts = rank_counts(binding, rank)
    return tuple(
        MetricShares(
            metric=metric,
            shares=variance_shares(binding, metric, tuple(drawn), samples, seed, rank),
        )
        for metric in METRICS
        if counts[metric]
    )


def network_of(name: str) -> Network:
    """The network of a machine; InputError where it has none."""
    network = machine_of(name).network
    if network is None:
        hint = "autotune comm bench, then autotune comm fit --machine host"
        found = f"{name} has no network"
        raise InputError(Fault(where="--machine", found=found, expected="one", hint=hint))
    return network


def clock(name: str, nodes: int) -> Callable[[ModelBinding], float]:
    """The seconds that a model predicts on a machine, by its binding."""
    machine = machine_of(name)

    def seconds(binding: ModelBinding) -> float:
        rates = node_rates(machine, max(1, binding.ranks // nodes))
        return predicted_time(binding, machine, min(nodes, binding.ranks), rates).seconds

    return seconds


def machine_of(name: str) -> Machine:
    """A machine by name or path; ``host`` is this host as it was calibrated."""
    from autotune.commands.rank import host_machine

    return host_machine.machine(name)


def check_rank(binding: ModelBinding, rank: int) -> None:
    """InputError for a rank that there is not."""
    if rank >= binding.ranks:
        expected = f"a rank from 0 to {binding.ranks - 1}"
        raise InputError(Fault(where="--of-rank", found=str(rank), expected=expected))


def bound(model: ParsedModel, texts: Sequence[str] | None) -> ModelBinding:
    """A model with the values of ``--set``."""
    return bind(model, values(texts))
