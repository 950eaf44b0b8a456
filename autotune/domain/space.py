"""Spaces: parameters with their domains, the transformations they control, constraints."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from typing import Annotated, Literal, assert_never

from autotune.domain.annotations import Bounds, Derived, FileKey, InNotation, OneOf, Text
from autotune.domain.kernel import Kernel
from autotune.domain.variant import (
    Block,
    Fuse,
    FuseTiles,
    Interchange,
    Pad,
    Tile,
    Transformation,
    Unroll,
    Value,
)

Choice = Annotated[Value, InNotation("plain")]
"""Text, a whole number, true, false or null."""
When = Mapping[str, Annotated[tuple[Value, ...], InNotation("choices")]]
"""Parameters to the values that they may have."""
TransformationKind = Literal["interchange", "fuse", "tile", "fuse_tiles", "pad", "block", "unroll"]
"""What a space calls the kinds of transformation."""
TRANSFORMATIONS: Mapping[TransformationKind, type[Transformation]] = {
    "interchange": Interchange,
    "fuse": Fuse,
    "tile": Tile,
    "fuse_tiles": FuseTiles,
    "pad": Pad,
    "block": Block,
    "unroll": Unroll,
}
"""The class of each kind of transformation."""
OF_GRIDS = ("block", "unroll")
"""The kinds that apply to kernels that apply a stencil, and to no others."""


def kinds_for(kernel: Kernel) -> tuple[str, ...]:
    """The kinds of transformation of one kernel that apply to this one."""
    return tuple(k for k in TRANSFORMATIONS if k != "pad" and (k in OF_GRIDS) == kernel.on_grid)


def same(a: Value, b: Value) -> bool:
    """Whether two values are equal in value and type: the flag ``true`` is not the number 1."""
    return type(a) is type(b) and a == b


def within(value: Value, domain: tuple[Value, ...]) -> bool:
    """Whether a value belongs to a domain, compared by ``same``."""
    return any(same(value, other) for other in domain)


def holds(when: Mapping[str, tuple[Value, ...]], values: Mapping[str, Value]) -> bool:
    """Whether every parameter named in ``when`` has one of the values listed there."""
    return all(within(values[name], domain) for name, domain in when.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One transformation of a space: ``make`` inserts parameter values, if ``when`` holds.

    ``kind`` is a key of ``TRANSFORMATIONS``; ``arguments`` are its fields. A string ``$name``
    stands for the value of a parameter, and an order such as ``jli`` for the loops j, l, i.
    ``when`` maps parameter names to the values for which the rule applies.
    """

    kind: TransformationKind
    arguments: Mapping[str, Value]
    when: When = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in TRANSFORMATIONS:
            raise ValueError(f"unknown transformation {self.kind!r}")
        needed = {f.name for f in fields(TRANSFORMATIONS[self.kind])}
        if set(self.arguments) != needed:
            raise ValueError(f"{self.kind} needs {', '.join(sorted(needed))}")

    @property
    def parameters(self) -> frozenset[str]:
        """The parameters whose values appear in the arguments."""
        return frozenset(
            v[1:] for v in self.arguments.values() if isinstance(v, str) and v.startswith("$")
        )

    def make(self, values: Mapping[str, Value]) -> Transformation:
        """The transformation at these parameter values; ValueError if a value does not fit."""
        arguments = {
            name: values[value[1:]] if isinstance(value, str) and value.startswith("$") else value
            for name, value in self.arguments.items()
        }

        def text(name: str) -> str:
            value = arguments[name]
            if not isinstance(value, str):
                raise ValueError(f"{self.kind}: {name} must be a name, not {value!r}")
            return value

        def whole(name: str) -> int:
            value = arguments[name]
            if isinstance(value, bool) or not isinstance(value, int):
                raise ValueError(f"{self.kind}: {name} must be a whole number, not {value!r}")
            return value

        match self.kind:
            case "interchange":
                return Interchange(text("kernel"), tuple(text("order")))
            case "fuse":
                return Fuse(text("first"), text("second"))
            case "tile":
                return Tile(text("kernel"), whole("size"))
            case "fuse_tiles":
                return FuseTiles(text("first"), text("second"), whole("size"), text("buffer"))
            case "block":
                return Block(text("kernel"), text("dimension"), whole("size"))
            case "unroll":
                return Unroll(text("kernel"), text("dimension"), whole("factor"))
            case "pad":
                return Pad(whole("lines"))
            case _:
                assert_never(self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A rule that excludes combinations: if all of ``when`` hold, ``require`` must hold too.

    ``require`` is ``limited`` (the problem has a limited access distance) or ``never``.
    """

    when: Annotated[When, Bounds(least=1)]
    require: Annotated[str, OneOf(("limited", "never"))]
    reason: Text

    def __post_init__(self) -> None:
        if self.require not in ("limited", "never"):
            raise ValueError(f"a constraint requires limited or never, not {self.require!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Parameters with their domains, the transformations they control, and constraints."""

    name: Annotated[str, Derived()]
    title: Text
    skeleton: Text
    parameters: Annotated[Mapping[str, tuple[Choice, ...]], Bounds(least=1)]
    rules: tuple[Rule, ...]
    constraints: tuple[Constraint, ...] = ()
    baseline: Annotated[Mapping[str, Choice], FileKey(required=True)] = field(default_factory=dict)
    """Parameter values of the baseline variant: all of them, or none where there is no baseline."""

    def __post_init__(self) -> None:
        for name, domain in self.parameters.items():
            if not domain:
                raise ValueError(f"parameter {name} has no values")
            for i, value in enumerate(domain):
                if within(value, domain[:i]):
                    raise ValueError(f"parameter {name} lists {value!r} twice")
        for name, value in self.baseline.items():
            if name not in self.parameters:
                raise ValueError(f"baseline: unknown parameter {name!r}")
            if not within(value, self.parameters[name]):
                raise ValueError(f"baseline: {name} = {value!r} is not in its domain")
        absent = set(self.parameters) - set(self.baseline)
        if self.baseline and absent:
            raise ValueError(f"baseline: no value for {', '.join(sorted(absent))}")
        for constraint in self.constraints:
            self._check_when(constraint.when)
        for rule in self.rules:
            self._check_when(rule.when)
            self._check_rule(rule)

    def _check_when(self, when: Mapping[str, tuple[Value, ...]]) -> None:
        for name, domain in when.items():
            if name not in self.parameters:
                raise ValueError(f"when: unknown parameter {name!r}")
            for value in domain:
                if not within(value, self.parameters[name]):
                    raise ValueError(f"when: {name} is never {value!r}")

    def _check_rule(self, rule: Rule) -> None:
        """Raise ValueError unless a rule can make a transformation for all values it applies to."""
        unknown = rule.parameters - set(self.parameters)
        if unknown:
            raise ValueError(f"{rule.kind}: ${sorted(unknown)[0]} is not a parameter")
        names = sorted(rule.parameters)
        for choice in product(*(rule.when.get(n, self.parameters[n]) for n in names)):
            rule.make(dict(zip(names, choice, strict=True)))

    def combinations(self) -> Iterator[dict[str, Value]]:
        """All combinations of parameter values, also forbidden ones; the last parameter varies
        fastest.
        """
        for choice in product(*self.parameters.values()):
            yield dict(zip(self.parameters, choice, strict=True))

    def transformations(self, values: Mapping[str, Value]) -> tuple[Transformation, ...]:
        """The transformations for given parameter values, in the order of the rules.

        ``values`` has one value per parameter, each from its domain.
        """
        return tuple(rule.make(values) for rule in self.rules if holds(rule.when, values))

    def forbidden(self, values: Mapping[str, Value], limited: bool) -> str | None:
        """The reason why a combination of values is excluded, or None if it is allowed.

        ``limited``: whether the problem has a limited access distance.
        """
        for constraint in self.constraints:
            if holds(constraint.when, values) and not (constraint.require == "limited" and limited):
                return constraint.reason
        return None
