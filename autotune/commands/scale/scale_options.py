"""The options of ``autotune scale`` and the requests made from them."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from autotune import units
from autotune.commands.options import USUAL_CONFIDENCE, Confidence, Json, command_options, share

if TYPE_CHECKING:
    from autotune.commands.scale.flow import ForecastRequest, ScaleRequest
    from autotune.commands.scale.runs import RunSelection
    from autotune.domain.tables.parameter import Value
    from autotune.learning.scaling.generation_plan import SelfGeneration, SizeGrid
    from autotune.learning.scaling.scaling_methods import Settings

MethodName = Literal["complete", "levels", "focal", "weighted", "self-generated"]


@command_options
class ScalingColumns:
    """The roles of the columns of the file. Formulas may combine columns: ``nx*ny*nz``."""

    processors: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column of the number of processors.")
    ] = "P"
    size: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="The column of the size, or arithmetic on columns: 'nx*ny*nz'."
        ),
    ] = "SIZE"
    size_unit: Annotated[
        str, typer.Option(metavar="UNIT", help="The unit of the size, such as cells.")
    ] = ""
    time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of the time. Default: the last."),
    ] = None
    computation: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column of the computation time, if it is known."),
    ] = None
    communication: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column of the communication time, if it is known."
        ),
    ] = None
    covariate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Another regressor, by its log2: a column or arithmetic, NZ or px/py. May be"
            " repeated.",
        ),
    ] = None


@command_options
class SelectionOptions:
    """Which runs are considered."""

    condition: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE,...",
            help="Only runs with these values of a column. May be repeated.",
        ),
    ] = None
    each: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="One model for each value of this column.")
    ] = None
    grid: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Two columns: the dimensions of the processor grid."),
    ] = None
    ratio: Annotated[
        float, typer.Option(help="With --grid: only runs with log2(A/B) at most 1 from this.")
    ] = 0.0

    def selection(self) -> "RunSelection":
        """The selection of runs. BadParameter for an option that cannot be read."""
        from autotune.commands.scale.runs import RunSelection

        return RunSelection(
            conditions=tuple(_condition(text) for text in self.condition or ()),
            grid=_pair(self.grid),
            ratio=self.ratio,
            each=self.each,
        )


@command_options
class ForecastOptions:
    """The sizes and processor counts that the models forecast."""

    to: Annotated[
        str,
        typer.Option(
            metavar="P,...", help="Numbers of processors to forecast for. Default: twice the most."
        ),
    ] = ""
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The time to keep, T0: 100 s, 20 ms; a plain number is in seconds if the"
            " column of the time states a unit (time_ms), else in the unit of that column. Default:"
            " the median on the most processors.",
        ),
    ] = None
    at: Annotated[
        str, typer.Option(metavar="SIZE,...", help="Also forecast the times of these sizes.")
    ] = ""
    given: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="The value of a covariate's column in the forecasts. May be repeated.",
        ),
    ] = None

    def request(self, level: float) -> "ForecastRequest":
        """The forecasts to make, with intervals of this probability."""
        from autotune.commands.scale.flow import ForecastRequest

        keep, keep_unit = _time_to_keep(self.keep)
        return ForecastRequest(
            to=_numbers(self.to, "--to"),
            keep=keep,
            keep_unit=keep_unit,
            sizes=_numbers(self.at, "--at"),
            given=tuple(_given(text) for text in self.given or ()),
            level=level,
        )


@command_options
class MethodOptions:
    """The method by which a model is fitted to the runs."""

    method: Annotated[
        MethodName,
        typer.Option(
            help="complete: one regression on all runs. levels: one per number of processors, their"
            " coefficients projected. focal: on the runs near T0. weighted: on all, by nearness to"
            " T0. self-generated: on the runs nearest to T0, and lists the further runs to make."
        ),
    ] = "complete"
    components: Annotated[
        Literal["auto", "always", "never"],
        typer.Option(
            help="Model computation and communication separately; auto: if communication is more"
            " than half of the time on the most processors."
        ),
    ] = "auto"
    rest: Annotated[
        Literal["ratio", "none"],
        typer.Option(
            help="If components do not sum to the time: a regression of the ratio, or nothing."
        ),
    ] = "ratio"
    tolerance: Annotated[
        str,
        typer.Option(
            metavar="SHARE", help="focal: runs within this ratio of T0. Scores always use it."
        ),
    ] = "25 %"
    nearest: Annotated[
        int | None,
        typer.Option(
            help="focal: instead, this many runs per number of processors, nearest to T0.", min=1
        ),
    ] = None
    width: Annotated[
        str,
        typer.Option(
            metavar="SHARE", help="weighted: one sigma of the weights about T0, as a ratio."
        ),
    ] = "50 %"
    near_by: Annotated[
        Literal["fitted", "measured"],
        typer.Option(
            help="Which times must be near T0. Measured times, as published, also choose runs by"
            " their noise, which flattens the regression."
        ),
    ] = "fitted"
    level_weight: Annotated[
        float,
        typer.Option(help="levels: weight of a level over that of the next larger.", max=1),
    ] = 1.0
    keep_influential: Annotated[
        bool,
        typer.Option("--keep-influential", help="Do not delete runs with a Cook's D above 2p/n."),
    ] = False

    def settings(self) -> "Settings":
        """The settings of the method; a self-generated region fits one regression on its runs."""
        from autotune.learning.scaling.scaling_methods import Settings

        return Settings(
            method="complete" if self.method == "self-generated" else self.method,
            apart=self.components,
            rest=self.rest,
            tolerance=_above_zero(self.tolerance, "--tolerance"),
            nearest=self.nearest,
            width=_above_zero(self.width, "--width"),
            basis=self.near_by,
            ratio=self.level_weight,
            delete=not self.keep_influential,
        )


@command_options
class GenerationOptions:
    """How a self-generated region proposes further runs."""

    spread: Annotated[
        str,
        typer.Option(
            metavar="SHARE", help="self-generated: how far sizes are above and below a centre."
        ),
    ] = "10 %"
    around: Annotated[
        Literal["size", "time"],
        typer.Option(help="self-generated: what differs from the centre by the spread."),
    ] = "size"
    lower: Annotated[
        str,
        typer.Option(
            metavar="P,...",
            help="self-generated: lower numbers of processors to ask for. Default: halves.",
        ),
    ] = ""
    size_grid: Annotated[
        str,
        typer.Option(
            metavar="BASE:STEP",
            help="self-generated: the values that the size's column can have in the program.",
        ),
    ] = "0:1"

    def generation(self) -> "SelfGeneration":
        """The settings for proposing further runs."""
        from autotune.learning.scaling.generation_plan import SelfGeneration

        return SelfGeneration(
            spread=_below_one(self.spread, "--spread"),
            around=self.around,
            lower=_numbers(self.lower, "--lower") or None,
            grid=_size_grid(self.size_grid),
        )


@command_options
class ScaleOptions:
    """All options of ``autotune scale``, in the order of its help."""

    file: Annotated[Path, typer.Argument(help="Runs: CSV, or another table that learn reads.")]
    columns: ScalingColumns
    runs: SelectionOptions
    forecasts: ForecastOptions
    model: MethodOptions
    confidence: Confidence = USUAL_CONFIDENCE
    generated: GenerationOptions
    page: Annotated[
        Path | None, typer.Option("-o", "--page", help="Also write the answers as an HTML page.")
    ] = None
    json: Json = False

    def request(self) -> "ScaleRequest":
        """The scaling study to compute. BadParameter for an option that cannot be read."""
        from autotune.commands.scale.flow import ScaleRequest

        generation = self.generated.generation()
        return ScaleRequest(
            columns=self.columns,
            selection=self.runs.selection(),
            forecast=self.forecasts.request(_below_one(self.confidence, "--confidence")),
            settings=self.model.settings(),
            generation=generation if self.model.method == "self-generated" else None,
        )


def _numbers(text: str, option: str) -> tuple[float, ...]:
    """Numbers above zero from a comma-separated text; none for an empty text."""
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    return tuple(_number(word, option) for word in words)


def _time_to_keep(text: str | None) -> tuple[float | None, str]:
    """The time to keep, and its unit: s if a unit was given, else empty."""
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
    if not math.isfinite(value):
        raise typer.BadParameter(f"{word} is not a finite number", param_hint=option)
    if not value > 0:
        raise typer.BadParameter(f"{word} is not above zero", param_hint=option)
    return value


def _condition(text: str) -> "tuple[str, tuple[Value, ...]]":
    name, equals, values = text.partition("=")
    words = [word.strip() for word in values.split(",")]
    if not (name.strip() and equals and all(words)):
        raise typer.BadParameter(f"{text!r} is not NAME=VALUE,...", param_hint="--condition")
    return name.strip(), tuple(map(_value, words))


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
        said = f"{text!r} is not BASE:STEP, finite numbers with a step above zero"
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
