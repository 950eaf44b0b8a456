"""Parameters as Python says them: lists, ranges and classes, for what a program file says in YAML.

    {"tile": [16, 32, 64], "unroll": range(1, 9), "eps": at.Real(1e-6, 1e-2, log=True),
     "order": at.Permutation(["i", "j", "k"]), "depth": at.Integer(1, 8, when="deep")}

Each is turned into the notation of ``autotune.program/1`` and read by the reader of that file, so
that both ways allow the same and refuse with the same words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autotune.domain.parameter_domain import Domain
from autotune.domain.program import ProgramConstraint
from autotune.errors import Fault, InputError
from autotune.files.config.program import program_notations
from autotune.files.parsing.stated_values import plain_value
from autotune.files.parsing.yaml_document import Plain

Restriction = str | tuple[str, str]
"""A condition such as ``"bi * bj <= 1024"``, alone or with its reason."""


@dataclass(frozen=True, slots=True)
class Integer:
    """Whole numbers from ``low`` to ``high``, both included.

    In steps of ``step``, each the ``times``-fold of the one before, or ``values`` of them, evenly
    spaced on a logarithmic scale with ``log``. ``when``: a condition without which there is none.

    >>> Integer(8, 64, times=2).notation
    {'from': 8, 'to': 64, 'times': 2}
    """

    low: int
    high: int
    step: int | None = None
    times: int | None = None
    log: bool = False
    values: int | None = None
    when: str | None = None

    @property
    def notation(self) -> dict[str, object]:
        """What a program file says."""
        growth = {"step": self.step, "times": self.times, "values": self.values}
        made = {key: number for key, number in growth.items() if number is not None}
        if self.log:
            made["log"] = True
        return _when(self.when, {"from": self.low, "to": self.high, **(made or {"step": 1})})


@dataclass(frozen=True, slots=True)
class Real:
    """Numbers from ``low`` to ``high``, both included, on a logarithmic scale with ``log``.

    ``values`` of them are tried, 101 if it is left out; a start value may lie between two.

    >>> Real(1e-6, 1e-2, log=True).notation
    {'from': 1e-06, 'to': 0.01, 'log': True}
    """

    low: float
    high: float
    log: bool = False
    values: int | None = None
    when: str | None = None

    @property
    def notation(self) -> dict[str, object]:
        """What a program file says."""
        made: dict[str, object] = {"from": float(self.low), "to": float(self.high)}
        if self.log:
            made["log"] = True
        if self.values is not None:
            made["values"] = self.values
        return _when(self.when, made)


@dataclass(frozen=True, slots=True)
class Categorical:
    """One of some values in no order; a list does the same, but for ``when``."""

    values: Sequence[object]
    when: str | None = None

    @property
    def notation(self) -> object:
        """What a program file says."""
        values = list(self.values)
        return values if self.when is None else {"values": values, "when": self.when}


@dataclass(frozen=True, slots=True)
class Ordered:
    """One of some values, each of which lies between its neighbours: low, medium, high."""

    values: Sequence[object]
    when: str | None = None

    @property
    def notation(self) -> dict[str, object]:
        """What a program file says."""
        return _when(self.when, {"ordered": list(self.values)})


@dataclass(frozen=True, slots=True)
class Permutation:
    """An order of some names, as a text: ``"k,i,j"``.

    >>> Permutation(["i", "j"]).notation
    {'permutation': ['i', 'j']}
    """

    names: Sequence[str]
    when: str | None = None

    @property
    def notation(self) -> dict[str, object]:
        """What a program file says."""
        return _when(self.when, {"permutation": list(self.names)})


@dataclass(frozen=True, slots=True)
class Flags:
    """Flags of a compiler, each set or not: ``["-funroll-loops", {"-falign-loops=": [16]}]``."""

    flags: Sequence[object]
    when: str | None = None

    @property
    def notation(self) -> dict[str, object]:
        """What a program file says."""
        return _when(self.when, {"flags": list(self.flags)})


Stated = Integer | Real | Categorical | Ordered | Permutation | Flags
Parameters = Mapping[str, object]
"""By name: a list, a range, one of the classes here, or what a program file says."""


def _when(when: str | None, notation: dict[str, object]) -> dict[str, object]:
    return notation if when is None else {**notation, "when": when}


def parameters_notation(parameters: Parameters) -> dict[str, Plain]:
    """The key ``parameters`` of a program file; InputError for values that no file can hold.

    >>> parameters_notation({"tile": (16, 32), "unroll": range(1, 5), "fast": [False, True]})
    {'tile': [16, 32], 'unroll': [1, 2, 3, 4], 'fast': [False, True]}
    """
    if not isinstance(parameters, Mapping):
        raise InputError(
            Fault(
                where="parameters",
                found=f"a value of type {type(parameters).__name__}",
                expected='a dict such as {"tile": [16, 32, 64]}',
            )
        )
    faults: list[Fault] = []
    made = {
        str(name): plain_value(_stated(value), f"parameters.{name}", faults)
        for name, value in parameters.items()
    }
    if faults:
        raise InputError(*faults)
    return made


def _stated(value: object) -> object:
    return value.notation if isinstance(value, Stated) else value


@dataclass(frozen=True, slots=True)
class ParameterSpace:
    """What varies, as the domain has it: domains by name, and which combinations are possible."""

    parameters: Mapping[str, Domain]
    constraints: tuple[ProgramConstraint, ...] = ()


def parameter_space(
    parameters: Parameters, restrictions: Iterable[object] | str = ()
) -> ParameterSpace:
    """The space that Python describes; InputError with the parameters or conditions that are none.

    >>> parameter_space({"tile": [8, 16], "depth": [1, 2]}, ["tile * depth <= 16"]).constraints
    (ProgramConstraint(require=Condition(text='tile * depth <= 16'), reason=''),)
    """
    return ParameterSpace(domains(parameters), constraints(restrictions))


def domains(parameters: Parameters) -> dict[str, Domain]:
    """The domain of each parameter; InputError with every parameter that is none.

    >>> domains({"tile": Integer(8, 32, times=2)})["tile"].all_values
    (8, 16, 32)
    """
    made: dict[str, Domain] = {}
    faults: list[Fault] = []
    for name, notation in parameters_notation(parameters).items():
        try:
            made[name] = program_notations.parameter(notation)
        except ValueError as error:
            faults.append(Fault(where=f"parameters.{name}", found=str(error)))
    if faults:
        raise InputError(*faults)
    return made


def restrictions_notation(restrictions: Iterable[object] | str) -> list[Plain]:
    """The key ``constraints`` of a program file; InputError for what is no condition as text.

    >>> restrictions_notation(["bi <= bj", ("bi * bj <= 1024", "shared memory")])
    [{'require': 'bi <= bj'}, {'require': 'bi * bj <= 1024', 'reason': 'shared memory'}]
    """
    listed = [restrictions] if isinstance(restrictions, str) else list(restrictions)
    made: list[Plain] = []
    faults: list[Fault] = []
    for number, stated in enumerate(listed):
        match stated:
            case str():
                made.append({"require": stated})
            case (str() as condition, str() as reason):
                made.append({"require": condition, "reason": reason})
            case {"require": str()}:
                made.append(plain_value(stated, f"restrictions.{number}", faults))
            case _:
                faults.append(_no_restriction(number, stated))
    if faults:
        raise InputError(*faults)
    return made


def constraints(restrictions: Iterable[object] | str) -> tuple[ProgramConstraint, ...]:
    """The constraints of a space; InputError with every restriction that is none."""
    made: list[ProgramConstraint] = []
    faults: list[Fault] = []
    read = program_notations.NOTATIONS[ProgramConstraint].read
    for number, notation in enumerate(restrictions_notation(restrictions)):
        try:
            constraint = read(notation)
        except ValueError as error:
            faults.append(Fault(where=f"restrictions.{number}", found=str(error)))
            continue
        assert isinstance(constraint, ProgramConstraint)
        made.append(constraint)
    if faults:
        raise InputError(*faults)
    return tuple(made)


def _no_restriction(number: int, stated: object) -> Fault:
    function = callable(stated)
    return Fault(
        where=f"restrictions.{number}",
        found="a function" if function else f"a value of type {type(stated).__name__}",
        expected='a condition as text, "bi * bj <= 1024", or a pair of it and its reason',
        hint="a text can be solved before anything is listed: write what the function returns"
        if function
        else "",
    )
