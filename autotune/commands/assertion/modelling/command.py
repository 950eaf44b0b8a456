"""``autotune assert model`` and the other commands on models."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.commands.assertion.record_options import Run
from autotune.commands.options import Json, command, command_options
from autotune.commands.output import document, say

if TYPE_CHECKING:
    from autotune.assertions.modelling.count_formula import CountFormula
    from autotune.commands.assertion.modelling.document import TotalFormula
    from autotune.commands.assertion.modelling.flow import LoadedModel

Model = Annotated[
    Path, typer.Argument(help="A model in JSON, or a folder with the records of a run.")
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="The value of an input. May be repeated. Default: as in the run.",
    ),
]
Node = Annotated[
    str,
    typer.Option(
        "--node", metavar="NODE", help="Only this node of the tree and what is below it: main/cgit."
    ),
]
Rank = Annotated[int, typer.Option("--of-rank", help="Show the counts of this rank.", min=0)]
ExtraP = Annotated[
    Path | None, typer.Option("--extra-p", help="Also write the totals as JSON Lines of Extra-P.")
]
Nodes = Annotated[
    int, typer.Option("--on-nodes", help="Number of nodes that share the ranks.", min=1)
]


@command_options
class ModelFormsOptions:
    """Files that hold other forms of the model."""

    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the model in JSON here.")
    ] = None
    octave: Annotated[
        Path | None, typer.Option(help="Write the totals as a function of Octave and MATLAB.")
    ] = None
    python: Annotated[Path | None, typer.Option(help="Write the totals as a Python function.")] = (
        None
    )
    latex: Annotated[Path | None, typer.Option(help="Write the totals in LaTeX.")] = None
    control_flow: Annotated[
        Path | None, typer.Option(help="Write the control flow as text, as published.")
    ] = None
    text: Annotated[
        Path | None, typer.Option(help="Write depth:type:expression lines, as published.")
    ] = None
    hatchet: Annotated[
        Path | None, typer.Option(help="Write the tree with its totals for Hatchet and Thicket.")
    ] = None
    extra_p: ExtraP = None


@command_options
class ModelOptions:
    """Options of ``autotune assert model``, in the order of its help."""

    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Records of a run or folders of them, a model, or a text."
        ),
    ]
    from_text: Annotated[
        bool, typer.Option("--from-text", help="The file has lines depth:type:expression.")
    ] = False
    forms: ModelFormsOptions
    run: Run = ""
    set: Set = None
    node: Node = ""
    json: Json = False


def model(options: ModelOptions) -> None:
    """Make a model of a run, and show its totals as formulas.

    The tree of call paths with the asserted expressions becomes a model of one rank. How often a
    node is visited beyond what the trips above it say is measured, and marked so. Totals are
    formulas of the variables: operations, bytes, messages; --node shows those of one part.
    """
    from autotune.commands.assertion.modelling import flow, text
    from autotune.commands.assertion.modelling.document import AssertionModelDocument

    loaded = flow.load(options.files, options.from_text, options.run)
    parsed = loaded.parsed
    totals, ratios = _totals(loaded, options.node, options.set)
    given = parsed.model.values
    shown = AssertionModelDocument(
        name=parsed.model.name,
        inputs={name: given.get(name) for name in parsed.inputs},
        derived={name: str(formula) for name, formula in parsed.derived.items()},
        node=options.node,
        totals=totals,
        ratios=ratios,
        notes=loaded.notes,
        written=_written(loaded, options),
    )
    if options.json:
        document(shown)
    else:
        say(text.model(shown))


def _totals(
    loaded: "LoadedModel", node: str, texts: list[str] | None
) -> "tuple[tuple[TotalFormula, ...], tuple[TotalFormula, ...]]":
    """The totals and the ratios as formulas, with values where all inputs have one."""
    from autotune.assertions.modelling.symbolic_totals import symbolic_ratios, symbolic_totals
    from autotune.assertions.modelling.tree_walk import METRICS
    from autotune.commands.assertion.modelling import flow
    from autotune.commands.assertion.modelling.document import TotalFormula

    parsed = loaded.parsed
    totals = symbolic_totals(parsed, parsed.at(node) if node else None)
    complete = all(n in parsed.model.values for n in parsed.inputs)
    values = flow.bound(parsed, texts).at_rank(0) if texts or complete else None

    def value(formula: "CountFormula") -> float | None:
        if values is None:
            return None
        try:
            return float(formula.at(values))
        except (ValueError, OverflowError):
            return None

    shown = tuple(
        TotalFormula(
            name=t.metric, meaning=METRICS[t.metric], formula=str(t), value=value(t.formula)
        )
        for t in totals
    )
    ratios = tuple(
        TotalFormula(name=r.name, meaning="", formula=str(r.formula), value=value(r.formula))
        for r in symbolic_ratios(totals)
    )
    return shown, ratios


def _written(loaded: "LoadedModel", options: ModelOptions) -> tuple[Path, ...]:
    """Write every form that has a file."""
    import json

    from autotune.assertions.modelling.exchange import extrap_lines, hatchet_literal
    from autotune.commands.assertion.modelling import flow

    forms, parsed, files = options.forms, loaded.parsed, []
    if forms.output is not None:
        files.append(flow.write(forms.output, flow.model_text(parsed.model)))
    texts = {
        "octave": forms.octave, "python": forms.python, "latex": forms.latex,
        "control-flow": forms.control_flow, "text": forms.text,
    }  # fmt: skip
    files += flow.write_forms(parsed, texts)
    if forms.hatchet is not None:
        literal = hatchet_literal.hatchet_literal(flow.bound(parsed, options.set))
        files.append(flow.write(forms.hatchet, f"{json.dumps(literal, indent=1)}\n"))
    if forms.extra_p is not None:
        lines = extrap_lines.extrap_lines([flow.bound(parsed, options.set)])
        files.append(flow.write_lines(forms.extra_p, lines))
    return tuple(files)


@command_options
class ScaleStudyOptions:
    """Options of ``autotune assert scale``, in the order of its help."""

    file: Model
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="NAME=VALUES",
            help="The values of an input: nprocs=4,16,64. May be repeated.",
        ),
    ] = None
    set: Set = None
    weak: Annotated[
        list[str] | None,
        typer.Option("--weak", metavar="NAME", help="An input that grows with the ranks."),
    ] = None
    node: Node = ""
    extra_p: ExtraP = None
    run: Run = ""
    json: Json = False


def scale(options: ScaleStudyOptions) -> None:
    """Show totals over numbers of ranks, or over other inputs.

    Strong scaling, and weak scaling by --weak. Only valid values are accepted: others are refused
    with the nearest valid ones. Where counts depend on the rank, all ranks are added up, and the
    most of a single rank is shown beside the sum.
    """
    from autotune.assertions.modelling.exchange import extrap_lines
    from autotune.assertions.modelling.studies import scaling_study
    from autotune.commands.assertion.modelling import flow, text
    from autotune.commands.assertion.modelling.document import AssertionScaleDocument

    parsed = flow.load([options.file], run=options.run).parsed
    node = parsed.at(options.node) if options.node else None
    points = scaling_study.scaling_study(
        parsed, flow.values(options.set), flow.lists(options.over), options.weak or (), node
    )
    if options.extra_p is not None:
        lines = extrap_lines.scaling_lines(points, options.node or parsed.model.name)
        flow.write_lines(options.extra_p, lines)
    if options.json:
        document(
            AssertionScaleDocument(name=parsed.model.name, points=points, written=options.extra_p)
        )
    else:
        say(text.scale(points))


@command_options
class SensitivityOptions:
    """Options of ``autotune assert sensitivity``, in the order of its help."""

    file: Model
    set: Set = None
    range: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="NAME=LOW:HIGH",
            help="Also shares of the variance over this range, of two inputs or more.",
        ),
    ] = None
    samples: Annotated[
        int, typer.Option(help="Number of points in the ranges, a power of two.", min=2)
    ] = 256
    seed: Annotated[int, typer.Option(help="Seed of the points.", min=0)] = 0
    of_rank: Rank = 0
    run: Run = ""
    json: Json = False


def sensitivity(options: SensitivityOptions) -> None:
    """Show how strongly the totals of a model follow its inputs.

    Elasticities d ln f / d ln x between the nearest valid values, growth at 2x and 10x, and with
    --range Sobol's indices: the share of the variance of a total that an input explains, alone and
    together with others.
    """
    from autotune.assertions.modelling.studies.elasticities import elasticities
    from autotune.assertions.modelling.studies.scaling_study import number
    from autotune.commands.assertion.modelling import flow, text
    from autotune.commands.assertion.modelling.document import AssertionSensitivityDocument

    parsed = flow.load([options.file], run=options.run).parsed
    binding = flow.bound(parsed, options.set)
    flow.check_rank(binding, options.of_rank)
    shown = AssertionSensitivityDocument(
        name=parsed.model.name,
        values={name: number(value) for name, value in binding.given.items()},
        rank=options.of_rank,
        elasticities=elasticities(binding, options.of_rank),
        shares=flow.shares(binding, options.range, options.samples, options.seed, options.of_rank),
    )
    if options.json:
        document(shown)
    else:
        say(text.sensitivity(shown))


@command_options
class SkeletonOptions:
    """Options of ``autotune assert skeleton``, in the order of its help."""

    file: Model
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The program: .py (mpi4py) or .c (MPI).")
    ] = None
    trace: Annotated[
        Path | None, typer.Option("--trace", help="Write the messages of all ranks as JSON Lines.")
    ] = None
    most_events: Annotated[
        int, typer.Option(help="At most this many events per rank in the trace.", min=1)
    ] = 100_000
    set: Set = None
    run: Run = ""
    json: Json = False


def skeleton(options: SkeletonOptions) -> None:
    """Write a program that only sends the messages of a model.

    The loops of the model are loops of the program. A message without a stated peer goes to the
    next rank of a ring. The program takes inputs as NAME=VALUE, and --histogram=FOLDER, where each
    rank then writes its messages by size.
    """
    from autotune.assertions.modelling.studies.scaling_study import number
    from autotune.commands.assertion.modelling import flow
    from autotune.commands.assertion.modelling.document import AssertionSkeletonDocument

    suffix = options.output.suffix if options.output else ""
    if options.output is not None and suffix not in (".py", ".c"):
        raise typer.BadParameter(f"{options.output} does not end in .py or .c", param_hint="-o")
    if options.output is None and options.trace is None:
        raise typer.BadParameter("nothing to write: -o FILE, --trace FILE", param_hint="-o")
    parsed = flow.load([options.file], run=options.run).parsed
    binding = flow.bound(parsed, options.set)
    plan = flow.receive_plan(binding)
    written = flow.write_skeleton(binding, plan, options.output, options.trace, options.most_events)
    if options.json:
        values = {name: number(value) for name, value in binding.given.items()}
        document(
            AssertionSkeletonDocument(
                name=parsed.model.name,
                values=values,
                posted=plan.posted,
                why=plan.why,
                written=written,
            )
        )
    else:
        say("\n".join([f"wrote {path}" for path in written] + [plan.why]))


@command_options
class SizesOptions:
    """Options of ``autotune assert sizes``, in the order of its help."""

    file: Model
    set: Set = None
    machine: Annotated[
        str,
        typer.Option(
            metavar="MACHINE", help="Whose network splits the sizes: host, a name or a file."
        ),
    ] = ""
    on_nodes: Nodes = 2
    run: Run = ""
    json: Json = False


def sizes(options: SizesOptions) -> None:
    """Show how message sizes are distributed, by count and bytes.

    With --machine, messages smaller than n_1/2 = latency x bandwidth of its ping-pong curve are
    bound by latency, the others by bandwidth.
    """
    from autotune.assertions.modelling.studies.message_sizes import message_sizes
    from autotune.assertions.modelling.studies.scaling_study import number
    from autotune.commands.assertion.modelling import flow, text
    from autotune.commands.assertion.modelling.document import AssertionSizesDocument

    parsed = flow.load([options.file], run=options.run).parsed
    binding = flow.bound(parsed, options.set)
    network = flow.network_of(options.machine) if options.machine else None
    distribution = message_sizes(binding, network, options.on_nodes)
    if options.json:
        values = {name: number(value) for name, value in binding.given.items()}
        document(
            AssertionSizesDocument(name=parsed.model.name, values=values, distribution=distribution)
        )
    else:
        say(text.sizes(distribution))


@command_options
class TimeOptions:
    """Options of ``autotune assert time``, in the order of its help."""

    file: Model
    machine: Annotated[
        str,
        typer.Option(metavar="MACHINE", help="host, a machine by name, or a machine file."),
    ] = "host"
    set: Set = None
    on_nodes: Nodes = 1
    peak: Annotated[
        float | None, typer.Option(help="GFlop/s of a rank, in place of the machine's.", min=1e-9)
    ] = None
    bandwidth: Annotated[
        float | None,
        typer.Option(help="GB/s of memory of a rank, in place of the machine's.", min=1e-9),
    ] = None
    run: Run = ""
    json: Json = False


def time(options: TimeOptions) -> None:
    """Predict the time of a model on a machine.

    Messages take what the cost curves of the network say, one after the other; operations and bytes
    take the larger of flops / peak and bytes / bandwidth. The slowest rank is shown, with the
    interval of the curves and the source of every rate.
    """
    from autotune.assertions.modelling.studies.predicted_time import node_rates, predicted_time
    from autotune.assertions.modelling.studies.scaling_study import number
    from autotune.commands.assertion.modelling import flow, text
    from autotune.commands.assertion.modelling.document import AssertionTimeDocument

    parsed = flow.load([options.file], run=options.run).parsed
    binding = flow.bound(parsed, options.set)
    machine = flow.machine_of(options.machine)
    peak, bandwidth = (rate and rate * 1e9 for rate in (options.peak, options.bandwidth))
    rates = node_rates(machine, max(1, binding.ranks // options.on_nodes), peak, bandwidth)
    predicted = predicted_time(binding, machine, options.on_nodes, rates)
    if options.json:
        document(
            AssertionTimeDocument(
                name=parsed.model.name,
                machine=machine.name,
                values={name: number(value) for name, value in binding.given.items()},
                predicted=predicted,
            )
        )
    else:
        say(text.time(predicted, machine.name))


@command_options
class ResidualFitOptions:
    """Options of ``autotune assert fit``, in the order of its help."""

    file: Model
    records: Annotated[
        list[Path],
        typer.Argument(metavar="RECORD", help="Records of several runs, or folders of them."),
    ]
    machine: Annotated[
        str,
        typer.Option(
            metavar="MACHINE",
            help="Also fit measured seconds over those predicted on this machine: host, a name or a"
            " file.",
        ),
    ] = ""
    on_nodes: Nodes = 1
    run: Run = ""
    json: Json = False


def fit(options: ResidualFitOptions) -> None:
    """Learn from runs the ratio of measured to asserted counts.

    The assertion is the prior: few runs give a factor with its 90 % interval, more also show
    whether it drifts with an input. Also shown is the run whose ratio is least sure: do it next.
    """
    from autotune.assertions.modelling.studies.residual_fit import residual_fits
    from autotune.commands.assertion.modelling import flow, text
    from autotune.commands.assertion.modelling.document import AssertionFitDocument

    parsed = flow.load([options.file], run=options.run).parsed
    seconds = flow.clock(options.machine, options.on_nodes) if options.machine else None
    fits = residual_fits(parsed, flow.records(options.records), seconds=seconds)
    if options.json:
        document(AssertionFitDocument(name=parsed.model.name, fits=fits))
    else:
        say(text.fit(fits))


def register(app: typer.Typer) -> None:
    """Add the commands on models to the group, each with its example."""

    def add(function: Callable[..., None], example: str) -> None:
        app.command(function.__name__, epilog=f"Example: autotune assert {example}")(function)

    add(
        command(model),
        "model records -o cg.json; autotune assert model cg.json --octave cg.m --latex cg.tex",
    )
    add(command(scale), "scale cg.json --over nprocs=4,16,64 --set na=14000")
    add(command(sensitivity), "sensitivity cg.json --range na=1400:75000 --range nonzer=7:15")
    built = "mpicc skeleton.c -o skeleton -lm; mpiexec -n 4 ./skeleton na=7000"
    add(command(skeleton), f"skeleton cg.json -o skeleton.c; {built}")
    add(command(sizes), "sizes cg.json --set nprocs=1024 --machine power4-1.3")
    add(command(time), "time cg.json --machine power4-1.3 --set nprocs=64 --on-nodes 2")
    add(command(fit), "fit model.json runs/")
