"""Values of the variables of a model: given ones checked against domains, derived ones computed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from autotune.assertions.modelling import variable_domains
from autotune.assertions.modelling.count_formula import shown
from autotune.assertions.modelling.parsed_model import ParsedModel
from autotune.errors import Fault, InputError, nearest
from autotune.language.counts import LARGEST, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelBinding:
    """A model with values for all of its inputs."""

    model: ParsedModel
    given: Mapping[str, Value]
    """The inputs."""

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return int(self.at_rank(0)[self.model.model.ranks])

    def at_rank(self, rank: int) -> dict[str, Value]:
        """All variables of one rank; ValueError where a derived one has no value."""
        values = {**self.given, self.model.model.rank: rank}
        for name, formula in self.model.derived.items():
            if name == self.model.model.rank:
                continue
            try:
                values[name] = formula.at(values)
            except ValueError as error:
                raise ValueError(f"variable {name}: {error}") from error
        return values


def bind(
    model: ParsedModel, given: Mapping[str, Value], where: str = "--set", *, defaults: bool = True
) -> ModelBinding:
    """The model with these values, and those of the run that it was made of.

    Raises InputError with every unknown name, missing value and value outside its domain, each with
    the nearest valid ones. ``defaults``: inputs that are not given have the values of that run.
    """
    faults = list(_unknown(model, given, where))
    values = {**(model.model.values if defaults else {}), **given}
    values = {name: value for name, value in values.items() if name in model.inputs}
    if missing := [name for name in model.inputs if name not in values]:
        text = f"{', '.join(missing)}: no value in the model {model.model.name}"
        hint = f"such as {where} {missing[0]}=4"
        faults.append(Fault(where=where, found=text, expected="a value for every input", hint=hint))
    if faults:
        raise InputError(*faults)
    faults = list(misfits(model, values, where))
    if faults:
        raise InputError(*faults)
    return ModelBinding(model=model, given=values)


def _unknown(model: ParsedModel, given: Mapping[str, Value], where: str) -> Iterator[Fault]:
    for name in given:
        if name in model.derived:
            formula = model.derived[name]
            text = f"{name} is derived: {formula}"
            yield Fault(where=where, found=text, expected="values of inputs only")
        elif name not in model.inputs:
            expected = f"one of {', '.join(model.inputs)}"
            hint = nearest(name, model.inputs)
            yield Fault(
                where=where, found=f"unknown variable {name!r}", expected=expected, hint=hint
            )


def misfits(model: ParsedModel, values: Mapping[str, Value], where: str = "") -> Iterator[Fault]:
    """The values outside their domains, derived ones too, with the nearest valid values."""
    for name, value in values.items():
        if not -LARGEST <= value <= LARGEST:
            expected = f"at most {LARGEST} in magnitude"
            yield Fault(where=where, found=f"{name} is too large", expected=expected)
            return
        domain = model.domains.get(name)
        if domain is not None and not domain.holds(value):
            hint = _hint(name, neighbours(model, values, name))
            found = f"{name} = {shown(value)} is not valid"
            yield Fault(where=where, found=found, expected=_domain(model, name), hint=hint)
            return
    binding = ModelBinding(model=model, given=values)
    try:
        derived = binding.at_rank(0)
    except ValueError as error:
        yield Fault(where=where, found=str(error))
        return
    for name in model.derived:
        domain = model.domains.get(name)
        if domain is not None and not domain.holds(derived[name]):
            yield _derived_fault(model, values, name, derived[name], where)
            return


def _derived_fault(
    model: ParsedModel, values: Mapping[str, Value], name: str, value: Value, where: str
) -> Fault:
    found = f"{name} = {model.derived[name]} = {shown(value)} is not valid"
    inputs = [i for i in model.inputs if i in model.reach(frozenset({name}))]
    hints = [_hint(i, neighbours(model, values, i)) for i in inputs]
    hint = "; ".join(filter(None, hints))
    return Fault(where=where, found=found, expected=_domain(model, name), hint=hint)


def _domain(model: ParsedModel, name: str) -> str:
    texts = {v.name: v.domain for v in model.model.variables}
    return texts.get(name) or "a whole number of ranks from 1 on"


def _hint(name: str, values: Sequence[Value]) -> str:
    return f"nearest valid {name}: {', '.join(map(shown, values))}" if values else ""


def valid(model: ParsedModel, values: Mapping[str, Value]) -> bool:
    """Whether all values are in their domains, derived ones too."""
    return next(misfits_of(model, values), None) is None


def misfits_of(model: ParsedModel, values: Mapping[str, Value]) -> Iterator[str]:
    """The names of the variables whose values are outside their domains."""
    for name, value in values.items():
        domain = model.domains.get(name)
        if domain is not None and not domain.holds(value):
            yield name
            return
    try:
        derived = ModelBinding(model=model, given=values).at_rank(0)
    except ValueError as error:
        yield str(error)
        return
    for name in model.derived:
        domain = model.domains.get(name)
        if domain is not None and not domain.holds(derived[name]):
            yield name


_WHOLE, _ANY = variable_domains.domain("whole"), variable_domains.domain("")
_TRIES = 2_000
"""Values on either side that are tried."""


def neighbours(model: ParsedModel, values: Mapping[str, Value], name: str) -> tuple[Value, ...]:
    """The nearest valid values of one variable below and above its value, the others unchanged."""
    if name not in values:
        return ()
    domain = model.domains.get(name, _WHOLE if isinstance(values[name], int) else _ANY)
    nearest_ones: list[Value] = []
    for candidates in (domain.down(values[name]), domain.up(values[name])):
        fits = (
            value for value in islice(candidates, _TRIES) if valid(model, {**values, name: value})
        )
        nearest_ones.extend(islice(fits, 1))
    return tuple(nearest_ones)
