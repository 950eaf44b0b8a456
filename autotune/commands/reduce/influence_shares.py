"""What the differences of a candidate are worth by a model of the samples of its study."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields

from autotune.commands.reduce.differences import BUILD, LAYOUT
from autotune.domain.tables.parameter import Parameter, Value
from autotune.domain.tables.table import MeasurementTable, ParameterRows
from autotune.domain.variant import Candidate, ExecutionLayout
from autotune.errors import InputError
from autotune.learning.influence import Influence
from autotune.results.evaluate.study_evaluation import EvaluatedCandidate
from autotune.results.report.influences import LEAST, settings_table


def influence_shares(
    rows: Sequence[EvaluatedCandidate],
    winner: Candidate,
    baseline: Candidate,
    differences: Sequence[str],
) -> Mapping[str, float]:
    """By how much of its time the winner becomes slower without each difference, as the
    performance-influence model of the measured candidates predicts.

    0 for a difference that is in no term of the model; none where fewer than 12 candidates compare,
    or where a value was not seen.
    """
    measured = [row for row in rows if row.compared and row.measured]
    if len(measured) < LEAST:
        return {}
    try:
        table = settings_table(measured, winner.problem.label)
        model = Influence(shapes=("log2",), degree=1).train(table)
    except InputError:  # all alike
        return {}
    first, second = _settings(winner), _settings(baseline)
    shares: dict[str, float] = {}
    for name in differences:
        changed = {**first, **{n: second.get(n) for n in _settings_of(name, first)}}
        try:
            both = tuple(
                tuple(_cell(table, parameter, row) for parameter in table.parameters)
                for row in (first, changed)
            )
        except ValueError:
            continue
        times = model.predict(ParameterRows(parameters=table.parameters, rows=both))
        shares[name] = float(times[1] / times[0]) - 1
    return shares


def _settings(candidate: Candidate) -> dict[str, object]:
    return {
        **candidate.variant.parameters,
        "compiler": candidate.build.compiler,
        "flags": " ".join(candidate.build.flags),
        **asdict(candidate.layout),
    }


def _settings_of(difference: str, settings: Mapping[str, object]) -> Sequence[str]:
    """The settings that a difference changes together."""
    if difference == BUILD:
        return ("compiler", "flags")
    if difference == LAYOUT:
        return [name for name in settings if name in _LAYOUT]
    return (difference,)


_LAYOUT = {setting.name for setting in fields(ExecutionLayout)}


def _cell(table: MeasurementTable, parameter: Parameter, settings: Mapping[str, object]) -> Value:
    """A setting as the table has it; ValueError for a value that no row has."""
    value = settings.get(parameter.name)
    if parameter.numeric:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{parameter.name}: {value!r} is no number")
        return float(value)
    place = table.inputs.place(parameter.name)
    seen = {row[place] for row in table.inputs.rows}
    number = float(value) if isinstance(value, int | float) else None
    texts = ("none" if value is None else str(value), f"{number:g}" if number is not None else "")
    for text in texts:
        if text in seen:
            return text
    raise ValueError(f"{parameter.name}: {value!r} was not seen")
