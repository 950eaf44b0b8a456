"""What ``autotune scale`` prints: the model with units, the size that keeps the time, errors."""

import math
from collections.abc import Sequence

from autotune.report.documents.scales import notes, variables
from autotune.report.text import columns
from autotune.scaling.accuracy import BackTest, expected_mdape
from autotune.scaling.answers import ForecastAt, Scaled
from autotune.scaling.base import RULES, ScalingModel
from autotune.scaling.loglinear import LogLinear
from autotune.scaling.methods import METHODS
from autotune.scaling.plan import Stage

_SURPRISE = 2.0


def text(found: Sequence[Scaled]) -> str:
    """Each region with its model, its answers, its back-tests."""
    return "\n\n".join(region(one) for one in found)


def region(one: Scaled) -> str:
    """One region."""
    unit = one.runs.variables.time.unit
    levels = ", ".join(f"{p:g}" for p in one.runs.levels)
    head = f"{one.label}: " if one.label else ""
    blocks = [
        f"{head}{len(one.runs)} runs on P = {levels}; the time to keep is {_time(one.keep, unit)}",
        _variables(one),
    ]
    if one.stage is not None:
        blocks.append(_stage(one.stage, one))
    if one.model is not None:
        blocks += [_model(one, one.model), _inverses(one)]
        blocks += [_forecasts(f, one) for f in one.forecasts]
    if one.back_tests:
        blocks.append(_back_tests(one))
    told = [*one.runs.treated, *notes(one.notes, one.model)]
    if told:
        blocks.append("\n".join(f"note: {line}" for line in told))
    return "\n\n".join(blocks)


def _variables(one: Scaled) -> str:
    v = one.runs.variables
    named = "; ".join(str(variable) for variable in variables(one.runs))
    unstated = "" if v.size.unit else " (--size-unit states that of the size)"
    return f"{named}{unstated}; all as log2"


def _model(one: Scaled, model: ScalingModel) -> str:
    what = METHODS[one.settings.method] if one.stage is None else "one regression on the runs"
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
    return "\n".join(lines)


def _inverses(one: Scaled) -> str:
    size, share = one.runs.variables.size, f"{one.level:.0%}"
    own = size.columns[0] if len(size.columns) == 1 and size.formula != size.columns[0] else ""
    head = ("P", "SIZE", "least", "most", *((own,) if own else ()))
    rows: list[Sequence[str]] = [head]
    for i in one.inverses:
        column = size.column(i.size)
        rows.append(
            (
                f"{i.processors:g}",
                f"{i.size:.6g}",
                f"{i.low:.6g}",
                _number(i.high, "{:.6g}"),
                *((_number(column, "{:.6g}"),) if own else ()),
            )
        )
    unit = one.runs.variables.time.unit
    lines = [
        f"sizes that take {_time(one.keep, unit)} ({share} interval:"
        f" {RULES[one.inverses[0].rule] if one.inverses else ''})",
        columns(rows, right=range(len(head))),
    ]
    told = dict.fromkeys(note for i in one.inverses for note in i.notes)
    return "\n".join([*lines, *(f"warning: {note}" for note in told)])


def _forecasts(found: ForecastAt, one: Scaled) -> str:
    told, at, unit = found.told, found.points, one.runs.variables.time.unit
    rows: list[Sequence[str]] = [("P", "SIZE", "time", "least", "most", "")]
    rows += [
        (
            f"{at.processors[k]:g}",
            f"{at.size[k]:.6g}",
            f"{told.median[k]:.4g}",
            f"{told.low[k]:.4g}",
            _number(float(told.high[k]), "{:.4g}"),
            "extrapolated" if told.outside[k] else "",
        )
        for k in range(len(told))
    ]
    head = f"times of single runs{f' in {unit}' if unit else ''}, {one.level:.0%} intervals"
    return f"{head}\n{columns(rows, right=range(5))}"


def _back_tests(one: Scaled) -> str:
    rows: list[Sequence[str]] = [("method", "MdAPE", "MAPE", "least", "most", "n")]
    whys: list[str] = []
    tested: BackTest | None = None
    for method, test in one.back_tests:
        if isinstance(test, str):
            whys.append(f"  {method}: not tried: {test}")
            continue
        tested, e = test, test.errors
        rows.append(
            (
                f"{method}{' *' if method == one.settings.method else ''}",
                f"{e.mdape:.1%}",
                f"{e.mape:.1%}",
                f"{e.least:+.1%}",
                f"{e.most:+.1%}",
                f"{e.count}",
            )
        )
    if tested is None:
        return "\n".join(["no method could be tried on known runs:", *whys])
    head = (
        f"back-test: runs on P = {tested.processors:g} forecast from those on fewer,"
        " (predicted - observed)/observed"
    )
    return "\n".join([head, columns(rows, right=(1, 2, 3, 4, 5)), *whys, *_surprise(one)])


def _surprise(one: Scaled) -> list[str]:
    """A warning where known runs were forecast far worse than the fit lets expect."""
    test = dict(one.back_tests)[one.settings.method]
    if one.model is None or isinstance(test, str) or len(one.model.quality) != 1:
        return []
    expected = expected_mdape(one.model.quality[0].rmse)
    if not test.errors.mdape > _SURPRISE * expected:
        return []
    return [
        f"warning: the known runs were forecast {test.errors.mdape:.1%} off, the fit lets expect"
        f" {expected:.1%}: the intervals above do not know of that"
    ]


def _stage(stage: Stage, one: Scaled) -> str:
    size = one.runs.variables.size
    own = size.columns[0] if len(size.columns) == 1 else "SIZE"
    if stage.name == "forecast":
        head = "self-generated focal region: complete; runs that would check the forecast:"
    else:
        head = f"self-generated focal region, {stage.name}: run these, add them, ask again"
    rows: list[Sequence[str]] = [("P", own, "expected", "why")]
    rows += [
        (
            f"{p.processors:g}",
            f"{p.size if p.column is None else p.column:.8g}",
            _number(p.expected, "{:.4g}"),
            p.why,
        )
        for p in stage.asked
    ]
    lines = [head, columns(rows, right=(0, 1, 2))]
    return "\n".join([*lines, *(f"note: {note}" for note in stage.notes)])


def _time(value: float, unit: str) -> str:
    return f"{value:.6g}{f' {unit}' if unit else ''}"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None or not math.isfinite(value) else form.format(value)
