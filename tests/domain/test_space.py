"""Parameter values to transformations, and the combinations that a space leaves out."""

import dataclasses

import pytest

from autotune.domain.parameter_values import same
from autotune.domain.space import TRANSFORMATIONS, Constraint, Rule, Space, holds
from autotune.domain.variant import Fuse, FuseTiles, Interchange, Pad, Tile, Variant

SPACE = Space(
    name="small",
    title="",
    skeleton="pirk",
    parameters={
        "order": ("jli", "ilj"),
        "au": (False, True),
        "tile": ("none", 256),
        "rhslc": (False, True),
        "pad": (0, 5),
    },
    rules=(
        Rule(kind="interchange", arguments={"kernel": "lc", "order": "$order"}),
        Rule(kind="fuse", arguments={"first": "a", "second": "u"}, when={"au": (True,)}),
        Rule(
            kind="tile",
            arguments={"kernel": "lc", "size": "$tile"},
            when={"tile": (256,), "rhslc": (False,)},
        ),
        Rule(
            kind="fuse_tiles",
            arguments={"first": "rhs", "second": "lc", "size": "$tile", "buffer": "Y"},
            when={"tile": (256,), "rhslc": (True,)},
        ),
        Rule(kind="pad", arguments={"lines": "$pad"}),
    ),
    constraints=(
        Constraint(when={"rhslc": (True,)}, require="limited", reason="reads beyond the tile"),
        Constraint(
            when={"rhslc": (True,), "tile": ("none",)}, require="never", reason="needs a tile"
        ),
    ),
    baseline={"order": "jli", "au": False, "tile": "none", "rhslc": False, "pad": 5},
)


def values(**changes):
    return dict(SPACE.baseline) | changes


def test_values_become_transformations_in_the_order_of_the_rules():
    assert SPACE.transformations(values(order="ilj", au=True, tile=256)) == (
        Interchange("lc", ("i", "l", "j")),
        Fuse("a", "u"),
        Tile("lc", 256),
        Pad(5),
    )


def test_every_kind_of_rule_makes_its_transformation():
    values = {"kernel": "lc", "first": "a", "second": "b", "buffer": "Y", "order": "jli"}
    values |= {"dimension": "j", "size": 8, "lines": 1, "factor": 2, "sweeps": 3}
    values |= {"loop": "k", "block": 8, "array": "F", "doubles": 8, "lanes": 4}
    values |= {"among": "neighbours", "rows": 4}
    for kind, made in TRANSFORMATIONS.items():
        names = [field.name for field in dataclasses.fields(made)]
        rule = Rule(kind=kind, arguments={name: values[name] for name in names})
        assert type(rule.make({})) is made


def test_rules_apply_only_when_all_their_conditions_hold():
    made = SPACE.transformations(values(tile=256, rhslc=True))
    assert FuseTiles("rhs", "lc", 256, "Y") in made
    assert not any(isinstance(t, Tile) for t in made)
    assert SPACE.transformations(values()) == (Interchange("lc", ("j", "l", "i")), Pad(5))


def test_constraints_give_their_reason():
    assert SPACE.forbidden(values(), limited=False) is None
    assert SPACE.forbidden(values(rhslc=True, tile=256), limited=True) is None
    assert SPACE.forbidden(values(rhslc=True, tile=256), limited=False) == "reads beyond the tile"
    assert SPACE.forbidden(values(rhslc=True), limited=True) == "needs a tile"
    near = dataclasses.replace(
        SPACE, constraints=(dataclasses.replace(SPACE.constraints[0], require="near"),)
    )
    assert near.forbidden(values(rhslc=True), limited=False) == "reads beyond the tile"
    assert near.forbidden(values(rhslc=True), limited=False, near=True) is None
    assert near.forbidden(values(rhslc=True), limited=True) is None


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("near", [False, True])
def test_combinations_are_judged_as_each_is_alone(limited, near):
    space = dataclasses.replace(
        SPACE,
        constraints=(
            *SPACE.constraints,
            Constraint(when={"pad": (0,), "order": ("ilj",)}, require="near", reason="far"),
            Constraint(when={"order": ("ilj",)}, require="never", reason="not this order"),
        ),
    )
    judged = list(space.judged(limited, near=near))
    assert [values for values, _ in judged] == list(space.combinations())
    for chosen, reason in judged:
        assert reason == space.forbidden(chosen, limited, near=near)
    allowed = [values for values, reason in judged if reason is None]
    assert list(space.allowed(limited, near=near)) == allowed


def test_every_combination_is_listed_once():
    combinations = list(SPACE.combinations())
    assert len(combinations) == 2 * 2 * 2 * 2 * 2
    assert len({tuple(c.items()) for c in combinations}) == len(combinations)


def test_flags_and_numbers_are_told_apart():
    assert not same(True, 1)
    assert not same(0, False)
    assert same("a", "a")
    assert not holds({"pad": (0,)}, {"pad": False})


def test_labels_read_well():
    chosen = values(au=True, tile=256)
    variant = Variant(
        skeleton="pirk", transformations=SPACE.transformations(chosen), parameters=chosen
    )
    assert variant.label == "jli-au-tile256-pad5"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"baseline": {"order": "jli"}},
            r"(?s)(?=.*of au;)(?=.*of pad;)(?=.*of rhslc;).*no value of tile;",
        ),
        ({"baseline": {"orders": "jli"}}, "unknown parameter 'orders'"),
        ({"baseline": values(pad=False)}, "pad: false is not one of its values"),
        ({"parameters": {**SPACE.parameters, "pad": ()}}, "pad has no values"),
        ({"parameters": {**SPACE.parameters, "pad": (5, 5, 0)}}, "pad: the number 5 is here again"),
        ({"parameters": {**SPACE.parameters, "pad": (5, -1)}}, "must not be negative"),
        ({"parameters": {**SPACE.parameters, "order": ("jli", "jjl", "ilj")}}, "each loop once"),
        (
            {"constraints": (Constraint(when={"au": (3,)}, require="never", reason=""),)},
            "au: the number 3 is not one of its values",
        ),
        (
            {"constraints": (Constraint(when={"ua": (True,)}, require="never", reason=""),)},
            "unknown parameter 'ua'",
        ),
        (
            {"rules": (Rule(kind="tile", arguments={"kernel": "lc", "size": "$tile"}),)},
            "size must be a whole number, not 'none'",
        ),
        (
            {"rules": (Rule(kind="pad", arguments={"lines": "$lines"}),)},
            r"unknown parameter .\$lines",
        ),
    ],
)
def test_a_wrong_space_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(SPACE, **change)


def test_a_wrong_rule_is_refused():
    with pytest.raises(ValueError, match="unknown transformation 'fuze'"):
        Rule(kind="fuze", arguments={})
    with pytest.raises(ValueError, match="tile needs kernel, size"):
        Rule(kind="tile", arguments={"kernel": "lc"})
    with pytest.raises(ValueError, match="limited, near or never"):
        Constraint(when={}, require="always", reason="")
