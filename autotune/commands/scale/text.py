"""What ``autotune scale`` prints: the model with units, the size that keeps the time, errors."""

import math
from collections.abc import Sequence

from autotune.commands.scale.document import notes, variables
from autotune.learning.scaling.base import RULES, Inverse, ScalingModel
from autotune.learning.scaling.forecast_accuracy import BackTest, expected_mdape
from autotune.learning.scaling.generation_plan import Stage
from autotune.learning.scaling.loglinear import LogLinear
from autotune.learning.scaling.scaling_answers import ForecastAt, RegionAnswer
from autotune.learning.scaling.scaling_methods import METHODS, Method
from autotune.learning.scaling.variables import Variable
from autotune.results.report.text_table import columns
from autotune.units import counted

_SURPRISE = 2.0
_SHOWN = 12


def text(answers: Sequence[RegionAnswer]) -> str:
    """The scaling study as text: each region with its model, its answers, its back-tests."""
    return "\n\n".join(region(answer) for answer in answers)


def region(answer: RegionAnswer) -> str:
    """The text of one region: its runs, model, sizes, forecasts and back-tests."""
    unit = answer.runs.variables.time.unit
    levels = ", ".join(f"{p:g}" for p in answer.runs.levels)
    head = f"{answer.label}: " if answer.label else ""
    blocks = [
        f"{head}{counted(len(answer.runs), 'run')} on P = {levels};"
        f" the time to keep is {_time(answer.keep, unit)}",
        _variables(answer),
    ]
    if answer.stage is not None:
        blocks.append(_stage(answer.stage, answer))
    if answer.model is not None:
        blocks += [_model(answer, answer.model), _inverses(answer)]
        blocks += [_forecasts(f, answer) for f in answer.forecasts]
    if answer.back_tests:
        blocks.append(_back_tests(answer))
    lines = [f"note: {line}" for line in (*answer.runs.treated, *notes(answer.notes, answer.model))]
    lines += [f"warning: {line}" for line in answer.warnings]
    if lines:
        blocks.append("\n".join(lines))
    if answer.recommended is not None:
        blocks.append("\n".join([*_drift(answer), _recommended(answer, *answer.recommended)]))
    return "\n\n".join(blocks)


def _variables(answer: RegionAnswer) -> str:
    v = answer.runs.variables
    named = "; ".join(_variable(answer, variable) for variable in variables(answer.runs))
    unstated = "" if v.size.unit else " (--size-unit states that of the size)"
    return f"{named}{unstated}; all as log2"


def _variable(answer: RegionAnswer, variable: Variable) -> str:
    """A variable as text: its formula; for the time also the unit that it was converted to."""
    if variable is not answer.runs.variables.time or not variable.unit:
        return str(variable)
    named = "" if variable.formula == variable.symbol else f" = {variable.formula}"
    return f"{variable.symbol}{named}, in {variable.unit}"


def _model(answer: RegionAnswer, model: ScalingModel) -> str:
    what = METHODS[answer.settings.method] if answer.stage is None else "one regression on the runs"
    rows = [("", "column", "coefficient", "+-")]
    rows += [
        (c.response, c.column, f"{c.value:.4g}", _number(c.standard_error, "{:.2g}"))
        for c in model.coefficients
    ]
    lines = [f"{model.name}: {what}", columns(rows, right=(2, 3))]
    for q in model.quality:
        expected = "" if math.isnan(q.rmse) else f", expected MdAPE {expected_mdape(q.rmse):.1%}"
        rmse = _number(q.rmse, "{:.3g}")
        lines.append(f"{q.response}: n = {q.count}, R2 = {q.r2:.3f}, RMSE = {rmse}{expected}")
    if isinstance(model, LogLinear) and model.regression.coefficients[2] > 0:
        lines.append(f"at constant time SIZE ~ P^{model.exponent:.3g}")
    return "\n".join([*lines, *_deleted(answer, model)])


def _deleted(answer: RegionAnswer, model: ScalingModel) -> list[str]:
    """The runs deleted by Cook's distance as text, at most a readable number of them."""
    unit = answer.runs.variables.time.unit
    lines = []
    for d in model.deleted[:_SHOWN]:
        others = zip(answer.runs.variables.covariates, d.covariates, strict=True)
        at = [f"P = {d.processors:g}", f"SIZE = {d.size:.6g}"]
        at += [f"{v.symbol} = {value:g}" for v, value in others]
        lines.append(f"deleted from {d.response}: {', '.join(at)}: {_time(d.time, unit)}")
    more = len(model.deleted) - _SHOWN
    return [*lines, *([f"deleted: {more} more, all of them in --json"] if more > 0 else [])]


def _inverses(answer: RegionAnswer) -> str:
    size, share = answer.runs.variables.size, f"{answer.level:.0%}"
    column_name = (
        size.columns[0] if len(size.columns) == 1 and size.formula != size.columns[0] else ""
    )
    wide = any(i.regression is not None for i in answer.inverses)
    alone = ("fit least", "fit most") if wide else ()
    head = ("P", "SIZE", "least", "most", *alone, *((column_name,) if column_name else ()))
    rows: list[Sequence[str]] = [head]
    for i in answer.inverses:
        column = size.column(i.size)
        rows.append(
            (
                f"{i.processors:g}",
                f"{i.size:.6g}",
                f"{i.low:.6g}",
                _number(i.high, "{:.6g}"),
                *(_regression_interval(i) if wide else ()),
                *((_number(column, "{:.6g}"),) if column_name else ()),
            )
        )
    unit = answer.runs.variables.time.unit
    lines = [
        f"sizes that take {_time(answer.keep, unit)} ({share} interval:"
        f" {RULES[answer.inverses[0].rule] if answer.inverses else ''})",
        columns(rows, right=range(len(head))),
        *_widened(answer),
    ]
    several = len(answer.inverses) > 1
    for i in answer.inverses:
        label = f"P = {i.processors:g}: " if several else ""
        lines += [f"warning: {label}{note}" for note in i.notes]
    return "\n".join(lines)


def _regression_interval(i: Inverse) -> tuple[str, str]:
    """The interval of the regression alone, not widened by the back-test, as two texts."""
    low, high = i.regression or (i.low, i.high)
    return f"{low:.6g}", _number(high, "{:.6g}")


def _widened(answer: RegionAnswer) -> list[str]:
    """How much the error of the back-test widens the intervals, in words."""
    tested, beyond = (
        answer.discrepancy,
        [i for i in answer.inverses if i.processors > answer.runs.levels[-1]],
    )
    if not beyond:
        return []
    if tested is None:
        return [
            "warning: the intervals are of the regression alone: no back-test says how wrong it is"
            " on more processors"
        ]
    added = ", ".join(f"{i.widened:.2g} at P = {i.processors:g}" for i in beyond)
    return [
        f"widened by the back-test: log2 error {tested.error:.2g} on P = {tested.top:g},"
        f" {_doublings(tested.distance)} beyond its runs; grown with the distance and times"
        f" Student's t of one level: +-{added} in log2 of the time; fit least and most: without it"
    ]


def _forecasts(forecast: ForecastAt, answer: RegionAnswer) -> str:
    predicted, at, unit = forecast.widened, forecast.points, answer.runs.variables.time.unit
    rows: list[Sequence[str]] = [("P", "SIZE", "time", "least", "most", "")]
    rows += [
        (
            f"{at.processors[k]:g}",
            f"{at.size[k]:.6g}",
            f"{predicted.median[k]:.4g}",
            f"{predicted.low[k]:.4g}",
            _number(float(predicted.high[k]), "{:.4g}"),
            "extrapolated" if predicted.outside[k] else "",
        )
        for k in range(len(predicted))
    ]
    head = f"times of single runs{f' in {unit}' if unit else ''}, {answer.level:.0%} intervals"
    return f"{head}\n{columns(rows, right=range(5))}"


def _back_tests(answer: RegionAnswer) -> str:
    rows: list[Sequence[str]] = [("method", "MdAPE", "MAPE", "least", "most", "drift", "n")]
    refusals: list[str] = []
    tested: BackTest | None = None
    for method, test in answer.back_tests:
        if isinstance(test, str):
            refusals.append(f"  {method}: not tried: {test}")
            continue
        tested, e = test, test.errors
        rows.append(
            (
                f"{method}{' *' if method == answer.settings.method else ''}",
                f"{e.mdape:.1%}",
                f"{e.mape:.1%}",
                f"{e.least:+z.1%}",
                f"{e.most:+z.1%}",
                f"{2**test.drift - 1:+z.1%}",
                f"{e.count}",
            )
        )
    if tested is None:
        return "\n".join(["no method could be tried on known runs:", *refusals])
    head = (
        f"back-test: runs on P = {tested.processors:g} forecast from those on fewer,"
        " (predicted - observed)/observed"
    )
    return "\n".join(
        [head, columns(rows, right=(1, 2, 3, 4, 5, 6)), *refusals, *_forecast_warning(answer)]
    )


def _forecast_warning(answer: RegionAnswer) -> list[str]:
    """A warning if known runs were forecast much worse than the fit suggests."""
    test = dict(answer.back_tests)[answer.settings.method]
    if answer.model is None or isinstance(test, str) or len(answer.model.quality) != 1:
        return []
    expected = expected_mdape(answer.model.quality[0].rmse)
    if not test.errors.mdape > _SURPRISE * expected:
        return []
    return [
        f"warning: the known runs were forecast {test.errors.mdape:.1%} off, the fit lets expect"
        f" {expected:.1%}: its law does not hold; believe the widened intervals, if any"
    ]


def _drift(answer: RegionAnswer) -> list[str]:
    """A note on the bias of the method on known runs, if it exceeds their scatter."""
    test = dict(answer.back_tests)[answer.settings.method]
    if isinstance(test, str) or abs(test.drift) <= 2 * test.drift_error:
        return []
    way, sizes = ("short", "large") if test.drift < 0 else ("long", "small")
    return [
        f"drift: {answer.settings.method} forecast the known runs on P = {test.processors:g}"
        f" too {way} by {abs(2**test.drift - 1):.1%} (mean): expect the sizes above to be too"
        f" {sizes}, more so on more processors"
    ]


def _recommended(answer: RegionAnswer, method: Method, test: BackTest) -> str:
    """The method with the least error in the back-test, and how far to trust that."""
    used = answer.settings.method
    back_test = dict(answer.back_tests)[used]
    if method == used:
        named = f"{method}, which was used"
    else:
        than = (
            "could not be tried" if isinstance(back_test, str) else f"{back_test.errors.mdape:.1%}"
        )
        named = f"--method {method} ({used}, which was used: {than})"
    runs = counted(test.errors.count, "run")
    return (
        f"recommended: {named}: least error in the back-test, {test.errors.mdape:.1%} from {runs}"
        f" on P = {test.processors:g}, {_doublings(test.distance)} beyond its runs; that is no"
        " proof farther out"
    )


def _stage(stage: Stage, answer: RegionAnswer) -> str:
    size = answer.runs.variables.size
    column = size.columns[0] if len(size.columns) == 1 else "SIZE"
    if stage.name == "forecast":
        head = "self-generated focal region: complete; runs that would check the forecast:"
    else:
        head = f"self-generated focal region, {stage.name}: run these, add them, ask again"
    rows: list[Sequence[str]] = [("P", column, "expected", "why")]
    rows += [
        (
            f"{p.processors:g}",
            f"{p.size if p.column is None else p.column:.8g}",
            _number(p.expected, "{:.4g}"),
            p.why,
        )
        for p in stage.points
    ]
    lines = [head, columns(rows, right=(0, 1, 2))]
    return "\n".join([*lines, *(f"note: {note}" for note in stage.notes)])


def _doublings(distance: float) -> str:
    return "one doubling" if round(distance, 6) == 1 else f"{distance:.2g} doublings"


def _time(value: float, unit: str) -> str:
    return f"{value:.6g}{f' {unit}' if unit else ''}"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None or not math.isfinite(value) else form.format(value)
