"""What a decision map is over, and how far it goes: options of ``autotune map``."""

from typing import Annotated

import typer

from autotune.commands.options import BudgetSeconds, command_options, share

USUAL_TOLERANCE = "5 %"


@command_options
class MapRequest:
    """The axes of a map, its tolerance and its budgets.

    BadParameter or InputError for an unreadable option.
    """

    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="SIZES",
            help="A range of equal ratios, 64..4096:17 (17 sizes), or sizes separated by commas."
            " Grids keep their shape; the size is that of the dimension with unit stride. Default:"
            " 17 from the smallest to the largest problem of the config.",
        ),
    ] = None
    threads: Annotated[
        str | None,
        typer.Option(metavar="N,...", help="Numbers, or all: 1,2,all. Default: the config's."),
    ] = None
    budget_seconds: BudgetSeconds = None
    budget_evaluations: Annotated[
        int | None,
        typer.Option(
            help="Measure at most this many times, each time one candidate in one cell.", min=2
        ),
    ] = None
    tolerance: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="The largest acceptable loss in a cell; each cell keeps it with 95 %.",
        ),
    ] = USUAL_TOLERANCE
    problem: Annotated[
        str,
        typer.Option(
            "--problem", metavar="PROBLEM", help="Only what the problem with this label computes."
        ),
    ] = ""
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the map: use what its earlier runs measured.")
    ] = False

    def __post_init__(self) -> None:
        self.size_axis()
        self.loss()

    def size_axis(self) -> tuple[int, ...] | None:
        """The sizes; None: from the smallest to the largest problem of the config."""
        from autotune.tuning.maps import axes

        return None if self.sizes is None else axes.sizes(self.sizes)

    def loss(self) -> float:
        """The loss that is good enough, as a share of the best time."""
        return share(self.tolerance, "--tolerance")
