"""Spaces: parameters with their domains, the transformations they control, constraints."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import product
from typing import Annotated, Literal, get_type_hints

from autotune.domain.annotations import Bounds, Derived, FileKey, InNotation, OneOf, Text
from autotune.domain.kernel import Kernel
from autotune.domain.misfit import Keys, Misfit, refuse, unknown
from autotune.domain.parameter_values import within, wrong_values
from autotune.domain.skeleton import Skeleton
from autotune.domain.variant import (
    Align,
    Block,
    Contract,
    Fuse,
    FuseTiles,
    Hoist,
    InPlace,
    Interchange,
    Jam,
    NeighbourSync,
    OverlappedTiles,
    Pad,
    Pipeline,
    Prefetch,
    StreamStores,
    StripPlanes,
    Tile,
    Transformation,
    Unroll,
    Value,
    Vectorize,
    Wavefront,
    WholeLines,
)
from autotune.errors import describe, one_of

Choice = Annotated[Value, InNotation("plain")]
"""Text, a whole number, true, false or null."""
When = Mapping[str, Annotated[tuple[Value, ...], InNotation("choices")]]
"""Parameters to the values that they may have."""
TransformationKind = Literal[
    "interchange",
    "fuse",
    "tile",
    "fuse_tiles",
    "pipeline",
    "strip",
    "contract",
    "in_place",
    "hoist",
    "jam",
    "align",
    "vectorize",
    "whole_lines",
    "prefetch",
    "sync",
    "pad",
    "block",
    "unroll",
    "wavefront",
    "overlap",
    "stream",
]
"""What a space calls the kinds of transformation."""
TRANSFORMATIONS: Mapping[TransformationKind, type[Transformation]] = {
    "interchange": Interchange,
    "fuse": Fuse,
    "tile": Tile,
    "fuse_tiles": FuseTiles,
    "pipeline": Pipeline,
    "strip": StripPlanes,
    "contract": Contract,
    "in_place": InPlace,
    "hoist": Hoist,
    "jam": Jam,
    "align": Align,
    "vectorize": Vectorize,
    "whole_lines": WholeLines,
    "prefetch": Prefetch,
    "sync": NeighbourSync,
    "pad": Pad,
    "block": Block,
    "unroll": Unroll,
    "wavefront": Wavefront,
    "overlap": OverlappedTiles,
    "stream": StreamStores,
}
"""The class of each kind of transformation."""
OF_GRIDS = ("block", "unroll", "wavefront", "overlap")
"""The kinds that apply to kernels that apply a stencil, and to no others."""
OF_ANY = ("stream",)
"""The kinds that apply to kernels of both sorts."""


def kinds_for(kernel: Kernel) -> tuple[str, ...]:
    """The kinds of transformation of one kernel that apply to this one."""
    return tuple(
        k
        for k in TRANSFORMATIONS
        if k != "pad" and (k in OF_ANY or (k in OF_GRIDS) == kernel.on_grid)
    )


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

    def _filled(self, values: Mapping[str, Value]) -> dict[str, Value]:
        """The arguments with the values of parameters in the place of their names."""
        return {
            name: values[value[1:]] if isinstance(value, str) and value.startswith("$") else value
            for name, value in self.arguments.items()
        }

    def make(self, values: Mapping[str, Value]) -> Transformation:
        """The transformation at these parameter values; ValueError if a value does not fit."""
        arguments = self._filled(values)

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

        def names(name: str) -> tuple[str, ...]:
            return tuple(text(name))

        readers: Mapping[object, Callable[[str], object]] = {
            int: whole,
            str: text,
            tuple[str, ...]: names,
        }
        kind: Callable[..., Transformation] = TRANSFORMATIONS[self.kind]
        return kind(**{name: readers[type_](name) for name, type_ in _arguments(kind).items()})


@cache
def _arguments(kind: Callable[..., Transformation]) -> Mapping[str, object]:
    """The arguments of a kind of transformation with their types."""
    return get_type_hints(kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A rule that excludes combinations: if all of ``when`` hold, ``require`` must hold too.

    ``require`` is ``limited`` (the problem has a limited access distance), ``near`` (so has it, or
    would have if the ends of a periodic problem were side by side) or ``never``.
    """

    when: Annotated[When, Bounds(least=1)]
    require: Annotated[str, OneOf(("limited", "near", "never"))]
    """limited: the problem has a limited access distance. near: it has, or it is periodic and has
    when distances count around the ends."""
    reason: Text
    """Why, in words."""

    def __post_init__(self) -> None:
        if self.require not in ("limited", "near", "never"):
            raise ValueError(f"a constraint requires limited, near or never, not {self.require!r}")


def _wrong_argument(
    rule: Rule, name: str, value: str, keys: Keys, skeleton: Skeleton
) -> Iterator[Misfit]:
    """The misfit of the name of a kernel or an array in a rule."""
    place = (*keys, rule.kind, name)
    if name in ("order", "dimension", "loop", "among"):
        return
    if name in ("buffer", "array"):
        yield from unknown(place, "array", value, skeleton.arrays)
        return
    yield from unknown(place, "kernel", value, skeleton.kernels)
    fitting = kinds_for(skeleton.kernels[value]) if value in skeleton.kernels else (rule.kind,)
    if rule.kind not in fitting:
        what = "applies no stencil" if rule.kind in OF_GRIDS else "applies a stencil"
        found = f"{rule.kind}: {value} {what}"
        yield Misfit(place, found, one_of([*fitting, "pad"]))


def _met(constraint: Constraint, limited: bool, near: bool) -> bool:
    """Whether what a constraint requires of the access distance is so."""
    return {"limited": limited, "near": limited or near, "never": False}[constraint.require]


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Parameters with their domains, the transformations they control, and constraints."""

    name: Annotated[str, Derived()]
    title: Text
    """What it is, in a line."""
    skeleton: Text
    """What it varies, by name."""
    parameters: Annotated[Mapping[str, tuple[Choice, ...]], Bounds(least=1)]
    """The values of every parameter."""
    rules: tuple[Rule, ...]
    """The transformations, in order, with values that may be those of parameters."""
    constraints: tuple[Constraint, ...] = ()
    """Which combinations are left out, and why."""
    baseline: Annotated[Mapping[str, Choice], FileKey(required=True)] = field(default_factory=dict)
    """Parameter values of the baseline variant: all of them, or none where there is no baseline."""

    def __post_init__(self) -> None:
        refuse(self.misfits())

    def misfits(self) -> Iterator[Misfit]:
        """Every parameter without values, every value that its parameter lacks, and every rule that
        makes no transformation for some values.
        """
        for name, domain in self.parameters.items():
            if not domain:
                yield Misfit(("parameters", name), f"{name} has no values")
            for i, value in enumerate(domain):
                if within(value, domain[:i]):
                    found = f"{name}: {describe(value)} is here again"
                    yield Misfit(("parameters", name, i), found, "each value once")
        for name, value in self.baseline.items():
            yield from wrong_values(("baseline", name), (value,), self.parameters)
        for name in self.parameters if self.baseline else ():
            if name not in self.baseline:
                found = f"the baseline has no value of {name}"
                yield Misfit(("baseline",), found, "a value per parameter")
        for i, constraint in enumerate(self.constraints):
            for name, values in constraint.when.items():
                yield from wrong_values(("constraints", i, "when", name), values, self.parameters)
        for i, rule in enumerate(self.rules):
            yield from self._wrong_rule(rule, ("rules", i))

    def _wrong_rule(self, rule: Rule, keys: Keys) -> Iterator[Misfit]:
        """What keeps a rule from making a transformation for all values it applies to."""
        wrong = [
            misfit
            for name, values in rule.when.items()
            for misfit in wrong_values((*keys, "when", name), values, self.parameters)
        ]
        allowed = [f"${parameter}" for parameter in self.parameters]
        for name, value in rule.arguments.items():
            if isinstance(value, str) and value.startswith("$"):
                wrong += unknown((*keys, rule.kind, name), "parameter", value, allowed)
        yield from wrong
        if wrong:
            return
        names = sorted(rule.parameters)
        try:
            for choice in product(*(rule.when.get(n, self.parameters[n]) for n in names)):
                rule.make(dict(zip(names, choice, strict=True)))
        except ValueError as error:
            yield Misfit((*keys, rule.kind), str(error))

    def misfits_in(self, skeleton: Skeleton) -> Iterator[Misfit]:
        """Every kernel and array of a rule that the skeleton lacks, and every order of loops that
        does not fit the kernel.
        """
        for i, rule in enumerate(self.rules):
            for name, value in rule.arguments.items():
                if isinstance(value, str) and not value.startswith("$"):
                    yield from _wrong_argument(rule, name, value, ("rules", i), skeleton)
            if rule.kind == "interchange":
                yield from self._wrong_orders(rule, ("rules", i), skeleton)

    def _wrong_orders(self, rule: Rule, keys: Keys, skeleton: Skeleton) -> Iterator[Misfit]:
        """The orders that an interchange names and that are none of the loops of its kernel."""
        name, order = rule.arguments["kernel"], rule.arguments["order"]
        kernel = skeleton.kernels.get(str(name))
        parameter = str(order)[1:] if str(order).startswith("$") else ""
        choices = self.parameters.get(parameter, ()) if parameter else (order,)
        for k, choice in enumerate(choices if kernel else ()):
            assert kernel is not None
            if sorted(str(choice)) != sorted(kernel.loops):
                where = ("parameters", parameter, k) if parameter else (*keys, rule.kind, "order")
                found = f"{describe(choice)} is not an order of the loops of {name}"
                yield Misfit(where, found, f"each of {', '.join(kernel.loops)} once")

    def combinations(self) -> Iterator[dict[str, Value]]:
        """All combinations of parameter values, also forbidden ones; the last parameter varies
        fastest.
        """
        for choice in product(*self.parameters.values()):
            yield dict(zip(self.parameters, choice, strict=True))

    def allowed(self, limited: bool, *, near: bool = False) -> Iterator[dict[str, Value]]:
        """The combinations that no constraint excludes, in their order.

        What begins with values that a constraint excludes is passed over at once.
        """
        names = list(self.parameters)
        after: list[list[Constraint]] = [[] for _ in names]
        for constraint in self.constraints:
            if not _met(constraint, limited, near):
                after[max(map(names.index, constraint.when), default=0)].append(constraint)

        def extended(values: dict[str, Value]) -> Iterator[dict[str, Value]]:
            place = len(values)
            if place == len(names):
                yield values
                return
            for value in self.parameters[names[place]]:
                longer = {**values, names[place]: value}
                if not any(holds(constraint.when, longer) for constraint in after[place]):
                    yield from extended(longer)

        return extended({})

    def judged(
        self, limited: bool, *, near: bool = False
    ) -> Iterator[tuple[dict[str, Value], str | None]]:
        """All combinations, in their order, with the reasons that ``forbidden`` gives.

        A constraint is looked at once for all combinations that begin with the values it names.
        """
        names = list(self.parameters)
        after: list[list[int]] = [[] for _ in names]
        for number, constraint in enumerate(self.constraints):
            if not _met(constraint, limited, near):
                after[max(map(names.index, constraint.when), default=0)].append(number)
        broken = [len(self.constraints)] * (len(names) + 1)  # the first one, after so many values
        before: tuple[Value, ...] = ()
        for choice in product(*self.parameters.values()):
            values = dict(zip(names, choice, strict=True))
            alike = next((i for i, old in enumerate(before) if old is not choice[i]), len(before))
            for i in range(alike, len(names)):
                earlier = [n for n in after[i] if n < broken[i]]
                met = (n for n in earlier if holds(self.constraints[n].when, values))
                broken[i + 1] = next(met, broken[i])
            before = choice
            first = broken[-1]
            yield values, self.constraints[first].reason if first < len(self.constraints) else None

    def transformations(self, values: Mapping[str, Value]) -> tuple[Transformation, ...]:
        """The transformations for given parameter values, in the order of the rules.

        ``values`` has one value per parameter, each from its domain.
        """
        return tuple(rule.make(values) for rule in self.rules if holds(rule.when, values))

    def forbidden(
        self, values: Mapping[str, Value], limited: bool, *, near: bool = False
    ) -> str | None:
        """The reason why a combination of values is excluded, or None if it is allowed.

        ``limited``: whether the problem has a limited access distance. ``near``: whether it has
        when distances count around its ends; a limited one has.
        """
        for constraint in self.constraints:
            if holds(constraint.when, values) and not _met(constraint, limited, near):
                return constraint.reason
        return None
