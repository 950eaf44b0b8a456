"""The house keeps its own plan: layers, unique names, few look-alike classes, short functions.

The figures are printed at the end of the run; a test that fails names the places.
"""

import json
import re
import tomllib
from pathlib import Path

import house

HERE = Path(__file__).parent
MOST_LAYERS = 14
MOST_TOP_ENTRIES = 20
MOST_LOOK_ALIKES = 15
"""May only fall."""
MOST_README_LINES = 10
MOST_VAGUE_NAMES = 2
"""May only fall."""


def test_the_import_contract_can_be_remembered():
    assert 0 < len(house.layers()) <= MOST_LAYERS
    assert len(house.top_entries()) <= MOST_TOP_ENTRIES, house.top_entries()


def test_public_classes_have_names_of_their_own():
    repeated = house.homonyms()
    assert not repeated, house.shown(repeated)


def test_modules_have_names_of_their_own():
    repeated = house.repeated_modules()
    assert not repeated, house.shown(repeated)


def test_options_are_declared_once():
    repeated = house.repeated_options()
    assert not repeated, house.shown(repeated)


def test_modules_that_begin_alike_are_a_room():
    groups = house.prefix_groups()
    assert not groups, house.shown(groups)


def test_functions_are_short():
    long = house.long_functions()
    assert not long, "\n".join(long)


def test_look_alike_classes_are_few_and_have_a_reason():
    listed = tomllib.loads((HERE / "look_alikes.toml").read_text())["pair"]
    assert all(len(pair["reason"]) > 20 for pair in listed)
    reasons = {frozenset(pair["classes"]) for pair in listed}
    pairs = house.look_alikes()
    places = {
        frozenset({a.name, b.name}): f"{a.place} {a.name} ~ {b.place} {b.name}" for a, b in pairs
    }
    assert len(pairs) <= MOST_LOOK_ALIKES, "\n".join(places.values())
    without = [text for names, text in places.items() if names not in reasons]
    assert not without, "no reason in look_alikes.toml:\n" + "\n".join(without)
    gone = [sorted(names) for names in reasons - set(places)]
    assert not gone, f"look_alikes.toml lists pairs that are no look-alikes any more: {gone}"


def test_values_have_names_that_say_what_they_are():
    places = house.dialect()
    assert len(places) <= MOST_VAGUE_NAMES, "\n".join(places)


def test_every_room_says_what_belongs_in_it():
    rooms = [*house.rooms(), house.PACKAGE]
    without = [str(r.relative_to(house.ROOT)) for r in rooms if not (r / "README.md").exists()]
    assert not without, without
    texts = {r: (r / "README.md").read_text() for r in house.rooms()}
    long = [str(r.relative_to(house.ROOT)) for r, t in texts.items() if t.count("\n") > _lines(r)]
    assert not long, long


def test_files_that_a_room_names_are_there():
    absent = [
        f"{room.relative_to(house.ROOT)}: {name}"
        for room in house.rooms()
        for name in re.findall(r"`([\w/]+\.py)`", (room / "README.md").read_text())
        if not any(path.match(name) for path in house.modules())
    ]
    assert not absent, absent


def _lines(room: Path) -> int:
    """How long the README of a room may be; that of the commands also shows their flow."""
    return MOST_README_LINES + 8 * (room == house.PACKAGE / "commands")


def test_the_map_names_every_room():
    text = (house.PACKAGE / "README.md").read_text()
    names = [str(room.relative_to(house.PACKAGE)) for room in house.rooms()]
    missing = [name for name in names if f"`{name}/`" not in text]
    assert not missing, missing


def test_the_figures_of_the_house(record_property):
    before = json.loads((HERE / "lines.json").read_text())
    now = house.lines_of_wings()
    record_property("house", figures(now, before))
    assert sum(now.values()) > 0


def figures(now: dict[str, int], before: dict[str, int]) -> str:
    """The figures as text: lines of every wing, the change since they were recorded."""
    rows = [
        f"{wing:<12}{now.get(wing, 0):>8,}{now.get(wing, 0) - before.get(wing, 0):>+8,}"
        for wing in sorted({*now, *before})
    ]
    total, change = sum(now.values()), sum(now.values()) - sum(before.values())
    return "\n".join(
        [
            f"layers {len(house.layers())} (at most {MOST_LAYERS}), wings {len(house.wings())},"
            f" rooms {len(house.rooms())}, arrows between rooms {len(house.arrows())},"
            f" look-alike classes {len(house.look_alikes())} (at most {MOST_LOOK_ALIKES}),"
            f" classes that share a name {sum(map(len, house.homonyms().values()))} (0),"
            f" long functions {len(house.long_functions())} (0),"
            f" values with a vague name {len(house.dialect())} (at most {MOST_VAGUE_NAMES})",
            "lines of every wing, and their change since tests/house/lines.json was recorded:",
            *rows,
            f"{'all':<12}{total:>8,}{change:>+8,}",
        ]
    )
