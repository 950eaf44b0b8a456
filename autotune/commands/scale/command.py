"""``autotune scale``: which size keeps the time on more processors."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autotune import units
from autotune.commands.options import Json, share
from autotune.commands.output import document

if TYPE_CHECKING:
    from autotune.domain.tables.parameter import Value
    from autotune.learning.scaling.generation_plan import SizeGrid

EXAMPLE = (
    "Example: autotune scale runs.csv --processors ranks --size 'nx*ny*nz' --time time_s"
    " --to 2048 --keep '100 s'"
)
MethodName = Literal["complete", "levels", "focal", "weighted", "self-generated"]


def scale(
    file: Annotated[Path, typer.Argument(help="Runs: CSV, or another table that learn reads.")],
    processors: Annotated[str, typer.Option(help="The column of the number of processors.")] = "P",
    size: Annotated[
        str, typer.Option(help="The column of the size, or arithmetic on columns: 'nx*ny*nz'.")
    ] = "SIZE",
    size_unit: Annotated[str, typer.Option(help="The unit of the size, such as cells.")] = "",
    time: Annotated[str | None, typer.Option(help="The column of the time.")] = None,
    computation: Annotated[
        str | None, typer.Option(help="The column of the computation time, if it is known.")
    ] = None,
    communication: Annotated[
        str | None, typer.Option(help="The column of the communication time, if it is known.")
    ] = None,
    covariate: Annotated[
        list[str] | None,
        typer.Option(help="Another regressor, by its log2: a column or arithmetic, NZ or px/py."),
    ] = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE,...", help="Only runs with these values of a column."),
    ] = None,
    each: Annotated[
        str | None, typer.Option(help="A column: one model for each of its values.")
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Two columns: the dimensions of the processor grid."),
    ] = None,
    ratio: Annotated[
        float, typer.Option(help="With --grid: only runs with log2(A/B) at most 1 from this.")
    ] = 0.0,
    to: Annotated[
        str, typer.Option(help="Numbers of processors between commas. Default: twice the most.")
    ] = "",
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The time to keep, T0: 100 s, 20 ms; a plain number is in seconds, where the"
            " column of the time states a unit (time_ms), else in whatever it is in. Default: the"
            " median on the most processors.",
        ),
    ] = None,
    at: Annotated[
        str, typer.Option(help="Also forecast the times of these sizes, between commas.")
    ] = "",
    given: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="The value of a covariate's column there."),
    ] = None,
    method: Annotated[
        MethodName,
        typer.Option(
            help="complete: one regression on all runs. levels: one per number of processors, their"
            " coefficients projected. focal: on the runs near T0. weighted: on all, by nearness to"
            " T0. self-generated: on the runs nearest to T0, and lists the further runs to make."
        ),
    ] = "complete",
    components: Annotated[
        Literal["auto", "always", "never"],
        typer.Option(
            help="Computation and communication apart; auto: where communication is more than half"
            " of the time on the most processors."
        ),
    ] = "auto",
    rest: Annotated[
        Literal["ratio", "none"],
        typer.Option(
            help="Where components do not sum to the time: the ratio as a regression of its own, or"
            " nothing."
        ),
    ] = "ratio",
    tolerance: Annotated[
        str, typer.Option(help="focal: runs within this of T0, by ratio. Scores use it always.")
    ] = "25 %",
    nearest: Annotated[
        int | None,
        typer.Option(
            help="focal: so many per number of processors, nearest to T0, instead.", min=1
        ),
    ] = None,
    width: Annotated[
        str, typer.Option(help="weighted: one sigma of the weights about T0, by ratio.")
    ] = "50 %",
    near_by: Annotated[
        Literal["fitted", "measured"],
        typer.Option(
            help="Whose times are near T0. By measured ones, as published, the runs are chosen by"
            " their noise too, which flattens the regression."
        ),
    ] = "fitted",
    level_weight: Annotated[
        float,
        typer.Option(help="levels: weight of a level over that of the next larger.", max=1),
    ] = 1.0,
    keep_influential: Annotated[
        bool,
        typer.Option("--keep-influential", help="Do not delete runs with a Cook's D above 2p/n."),
    ] = False,
    confidence: Annotated[str, typer.Option(help="The probability of all intervals.")] = "90 %",
    spread: Annotated[
        str, typer.Option(help="self-generated: sizes so much above and below a centre.")
    ] = "10 %",
    around: Annotated[
        Literal["size", "time"],
        typer.Option(help="self-generated: what differs from the centre by the spread."),
    ] = "size",
    lower: Annotated[
        str,
        typer.Option(
            help="self-generated: lower numbers of processors to ask for. Default: halves."
        ),
    ] = "",
    size_grid: Annotated[
        str,
        typer.Option(
            metavar="BASE:STEP",
            help="self-generated: sizes that the program can have, of the size's column.",
        ),
    ] = "0:1",
    json: Json = False,
) -> None:
    """Which size keeps the time when the processors become more, and how sure that is.

    Regressions of log2 T on log2 P and log2 SIZE after Garren (2010), inverted, with prediction
    intervals. Every method is tried on the most processors that are known, from the runs on fewer:
    believe that error, not the fit. It widens the intervals on more processors, and names the
    method to use. Forecasts on more processors are extrapolations, and say so.
    """
    from autotune.commands.scale import document as scale_document
    from autotune.commands.scale import flow as scaling
    from autotune.commands.scale import text
    from autotune.commands.scale.runs import RunSelection, ScalingColumns
    from autotune.learning.scaling.scaling_methods import Settings

    kept, kept_unit = _keep(keep)
    generated = scaling.SelfGeneration(
        spread=_below_one(spread, "--spread"),
        around=around,
        lower=_numbers(lower, "--lower") or None,
        grid=_size_grid(size_grid),
    )
    options = scaling.ScaleOptions(
        columns=ScalingColumns(
            processors=processors,
            size=size,
            time=time,
            size_unit=size_unit,
            computation=computation,
            communication=communication,
            covariates=tuple(covariate or ()),
        ),
        region=RunSelection(
            conditions=tuple(_condition(one) for one in condition or ()),
            grid=_pair(grid),
            ratio=ratio,
            each=each,
        ),
        asked=scaling.ForecastRequest(
            to=_numbers(to, "--to"),
            keep=kept,
            keep_unit=kept_unit,
            sizes=_numbers(at, "--at"),
            given=tuple(_given(one) for one in given or ()),
            level=_below_one(confidence, "--confidence"),
        ),
        settings=Settings(
            method="complete" if method == "self-generated" else method,
            apart=components,
            rest=rest,
            tolerance=_above_zero(tolerance, "--tolerance"),
            nearest=nearest,
            width=_above_zero(width, "--width"),
            basis=near_by,
            ratio=level_weight,
            delete=not keep_influential,
        ),
        generated=generated if method == "self-generated" else None,
    )
    found = scaling.scale(file, options)
    if json:
        regions = tuple(scale_document.region(scaled) for scaled in found)
        document(scale_document.ScaleDocument(file=file, regions=regions))
    else:
        typer.echo(text.text(found))


def _numbers(text: str, option: str) -> tuple[float, ...]:
    """Numbers above zero between commas; none for an empty text."""
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    return tuple(_number(word, option) for word in words)


def _keep(text: str | None) -> tuple[float | None, str]:
    """The time to keep and its unit, s where one was given, else empty."""
    if text is None:
        return None, ""
    try:
        return float(text), ""
    except ValueError:
        pass
    try:
        return units.parse(text, "time"), "s"
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--keep") from None


def _number(word: str, option: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise typer.BadParameter(f"{word!r} is not a number", param_hint=option) from None
    if not 0 < value < float("inf"):
        raise typer.BadParameter(f"{word} is not above zero", param_hint=option)
    return value


def _condition(text: str) -> "tuple[str, tuple[Value, ...]]":
    name, equals, values = text.partition("=")
    if not (name.strip() and equals and values.strip()):
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--condition")
    return name.strip(), tuple(_value(word.strip()) for word in values.split(","))


def _value(word: str) -> "Value":
    try:
        return int(word)
    except ValueError:
        pass
    try:
        return float(word)
    except ValueError:
        return word


def _given(text: str) -> tuple[str, float]:
    name, equals, value = text.partition("=")
    if not (name.strip() and equals):
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--given")
    return name.strip(), _number(value.strip(), "--given")


def _pair(text: str | None) -> tuple[str, str] | None:
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if len(words) != 2 or not all(words):
        raise typer.BadParameter(f"{text!r} is not two columns: PY,PZ", param_hint="--grid")
    return words[0], words[1]


def _size_grid(text: str) -> "SizeGrid":
    from autotune.learning.scaling.generation_plan import SizeGrid

    base, colon, step = text.partition(":")
    try:
        return SizeGrid(base=float(base), step=float(step if colon else "x"))
    except ValueError:
        said = f"{text!r} is not BASE:STEP with a step above zero"
        raise typer.BadParameter(said, param_hint="--size-grid") from None


def _above_zero(text: str, option: str) -> float:
    value = share(text, option)
    if not value > 0:
        raise typer.BadParameter(f"{text!r} is not above zero", param_hint=option)
    return value


def _below_one(text: str, option: str) -> float:
    value = _above_zero(text, option)
    if not value < 1:
        raise typer.BadParameter(f"{text!r} is not below 100 %", param_hint=option)
    return value
