"""``autotune comm``: MPI cost curves."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from autotune.commands.options import Json, command, command_options, seconds
from autotune.commands.output import TerminalProgress, document, note, say
from autotune.measuring.network.benchmark_settings import BUDGET, REPEATS, USUAL_SIZES, sizes

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="MPI cost curves: measure, fit, show, import, merge.",
)

Nodes = Annotated[int, typer.Option("--nodes", help="How many nodes the ranks are on.", min=1)]
Samples = Annotated[
    Path, typer.Option("-o", "--output", help="File of samples (JSON Lines), appended to.")
]
SAMPLES = Path("network-samples.jsonl")


@command_options
class BenchOptions:
    """Options of ``autotune comm bench``, in the order of its help."""

    ranks: Annotated[int, typer.Option(help="MPI ranks, on all nodes together.")] = 2
    nodes: Nodes = 1
    launcher: Annotated[
        str,
        typer.Option(
            metavar="COMMAND",
            help="Command line that starts the ranks, with {command}, {ranks}, {nodes}."
            " Default: the mpiexec that is found.",
        ),
    ] = ""
    operations: Annotated[str, typer.Option(metavar="NAME,...", help="The operations to time.")] = (
        "barrier,allgather,neighbour,sparse,pingpong"
    )
    sizes: Annotated[
        str,
        typer.Option(
            metavar="SIZES",
            help="A range, in steps of a factor of sqrt 2, or sizes separated by commas.",
        ),
    ] = USUAL_SIZES
    repeats: Annotated[
        int, typer.Option(help="Number of launches; each times all sizes.", min=1)
    ] = REPEATS
    budget_seconds: Annotated[
        float, typer.Option(metavar="SECONDS", help="Wall time of all launches.", parser=seconds())
    ] = BUDGET
    output: Samples = SAMPLES
    json: Json = False


@app.command(
    "bench",
    epilog="Example: autotune comm bench --ranks 2 -o samples.jsonl; on a cluster:"
    ' autotune comm bench --nodes 4 --ranks 64 --launcher "srun -N {nodes} -n {ranks} {command}"',
)
@command
def comm_bench(options: BenchOptions) -> None:
    """Time MPI operations over message size.

    Barrier, Allgather, neighbour and sparse exchange, ping-pong.
    """
    from autotune.commands.comm import document as documents
    from autotune.commands.comm import flow as comm_flow
    from autotune.commands.comm import text
    from autotune.measuring.conditions import quiet
    from autotune.measuring.network import mpi_benchmark

    plan = mpi_benchmark.BenchmarkPlan(
        ranks=options.ranks,
        nodes=options.nodes,
        operations=mpi_benchmark.operations(options.operations),
        sizes=sizes(options.sizes),
        repeats=options.repeats,
        budget_seconds=options.budget_seconds,
        launcher=options.launcher,
    )
    if others := quiet.other_processes().note:
        note(others)
    progress = TerminalProgress()
    before = options.output.stat().st_size if options.output.is_file() else 0
    try:
        result = comm_flow.bench(plan, options.output, progress)
    except KeyboardInterrupt:
        progress.close()
        more = options.output.is_file() and options.output.stat().st_size > before
        kept = (
            f"the samples taken so far are kept in {options.output}"
            if more
            else "nothing was measured"
        )
        note(f"interrupted; {kept}")
        raise typer.Exit(130) from None
    progress.close()
    if options.json:
        document(documents.CommBenchDocument(result=result))
    else:
        say(text.benched(result))


@command_options
class CurveFitOptions:
    """Options of ``autotune comm fit``, in the order of its help."""

    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Samples of comm bench or comm import.")
    ]
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write or update this network file.")
    ] = None
    machine: Annotated[
        Literal["host"] | None,
        typer.Option(help="Keep the curves for this host, as the network of machine: host."),
    ] = None
    contended: Annotated[
        bool, typer.Option("--contended", help="Also use samples that other processes disturbed.")
    ] = False
    json: Json = False


@app.command("fit", epilog="Example: autotune comm fit samples.jsonl --machine host")
@command
def comm_fit(options: CurveFitOptions) -> None:
    """Fit cost curves to samples.

    Curves are piecewise linear in message size.

    Relative errors are minimised; cross-validation chooses the number of pieces. Every curve has
    intervals and a list of outliers. Samples of OSU and IMB of one operation are fitted together at
    their common level; by what factor each differs from it is shown, and the interval spans both.
    """
    from autotune.commands.comm import document as documents
    from autotune.commands.comm import flow as comm_flow
    from autotune.commands.comm import text

    if options.output is not None and options.machine is not None:
        raise typer.BadParameter("does not go with --machine", param_hint="-o")
    fitted, written = comm_flow.fit(
        options.files,
        contended=options.contended,
        output=options.output,
        host=options.machine is not None,
    )
    if options.json:
        document(documents.CommFitDocument(curves=tuple(fitted), written=written))
    else:
        say(text.fitted(fitted, written))


@command_options
class ShowCurvesOptions:
    """Options of ``autotune comm show``, in the order of its help."""

    name: Annotated[
        str, typer.Argument(help="host, a machine, a machine file, a network file, or samples.")
    ] = "host"
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Also draw the curves: .svg or .html.")
    ] = None
    json: Json = False


@app.command("show", epilog="Example: autotune comm show host -o curves.svg")
@command
def comm_show(options: ShowCurvesOptions) -> None:
    """Show the cost curves of a machine as a table, or draw them (-o)."""
    from autotune.commands.comm import document as documents
    from autotune.commands.comm import flow as comm_flow
    from autotune.commands.comm import text

    if options.output is not None and options.output.suffix not in (".svg", ".html"):
        raise typer.BadParameter(f"{options.output} does not end in .svg or .html", param_hint="-o")
    shown = comm_flow.show(options.name)
    table = text.shown(shown.title, shown.network)
    if options.output is not None:
        from autotune.results.report.cost_curves import panels
        from autotune.results.report.draw import draw_curves, svg

        figure = draw_curves.svg(panels(shown.network, shown.fitted), shown.title)
        page = options.output.suffix == ".html"
        comm_flow.write(
            options.output,
            draw_curves.page(shown.title, figure, table) if page else svg.alone(figure),
        )
        note(f"wrote {options.output}")
    if options.json:
        document(
            documents.CommShowDocument(
                title=shown.title, curves=shown.network.curves, figure=options.output
            )
        )
    else:
        say(table)


@command_options
class ImportSamplesOptions:
    """Options of ``autotune comm import``, in the order of its help."""

    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="What the benchmark printed, a file per repeat."),
    ]
    tool: Annotated[
        Literal["auto", "osu", "imb"], typer.Option(help="Which benchmark printed it.")
    ] = "auto"
    ranks: Annotated[
        int | None,
        typer.Option(help="MPI ranks on all nodes together; OSU does not print them.", min=2),
    ] = None
    nodes: Nodes = 1
    output: Samples = SAMPLES
    json: Json = False


@app.command(
    "import", epilog="Example: autotune comm import osu.txt --ranks 16 --nodes 2 -o samples.jsonl"
)
@command
def comm_import(options: ImportSamplesOptions) -> None:
    """Read the output of OSU or Intel MPI benchmarks.

    A text that was imported before is not added again. Where Intel's benchmarks use a part of the
    ranks, the first ones, these are taken to fill one node after the other.
    """
    from autotune.commands.comm import document as documents
    from autotune.commands.comm import flow as comm_flow
    from autotune.commands.comm import text

    imports = comm_flow.load(
        options.files,
        None if options.tool == "auto" else options.tool,
        options.ranks,
        options.nodes,
        options.output,
    )
    if options.json:
        document(documents.imported(imports, options.output))
    else:
        say(text.imported(imports, options.output))


@command_options
class MergeNetworksOptions:
    """Options of ``autotune comm merge``, in the order of its help."""

    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME", help="Machines, machine or network files, or files of samples."
        ),
    ]
    output: Annotated[Path, typer.Option("-o", "--output", help="The network file to write.")]
    last_wins: Annotated[
        bool,
        typer.Option(
            "--last-wins",
            help="Of two curves of the same operation, ranks and nodes, keep the last.",
        ),
    ] = False
    json: Json = False


@app.command(
    "merge", epilog="Example: autotune comm merge nodes-2.yaml nodes-8.yaml -o cluster.yaml"
)
@command
def comm_merge(options: MergeNetworksOptions) -> None:
    """Join the curves of several networks in one file.

    Two different curves of the same operation, ranks and nodes are an error: fit their samples
    together instead, or keep the last one (--last-wins; a line names every curve that is replaced).
    """
    from autotune.commands.comm import document as documents
    from autotune.commands.comm import flow as comm_flow
    from autotune.commands.comm import text

    merged = comm_flow.merge(options.names, options.output, last_wins=options.last_wins)
    network = merged.network
    if options.json:
        document(
            documents.CommMergeDocument(
                title=network.title,
                curves=network.curves,
                written=options.output,
                notes=merged.notes,
            )
        )
    else:
        say(text.shown(network.title, network))
        for line in merged.notes:
            note(line)
        note(f"wrote {options.output}")
