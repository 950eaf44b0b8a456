"""Wisdom files: what is written, and how several studies come together in one."""

import dataclasses
import json
from pathlib import Path

import pytest
from exported_entries import ORIGIN, choices, entry, key

from autotune.errors import InputError
from autotune.results.export import wisdom
from autotune.results.export.readers import autotune_wisdom as reader


def test_what_is_written_is_read_back() -> None:
    made = choices([(key(), entry(100, 1)), (key(), entry(400, 2, loss_bound=0.03))])
    text = wisdom.write(made).text
    assert text == wisdom.write(made).text
    found = reader.parse(text.encode()).lookup(400, 2)
    assert found.parameters == {"order": "jli", "tile": 64, "au": True}
    assert (found.compiler, found.flags) == ("gcc", ("-O3", "-march=native"))
    assert found.seconds == pytest.approx(2e-7)
    assert found.interval == pytest.approx((1.8e-7, 2.4e-7))
    assert (found.loss_bound, found.verified) == (0.03, True)
    document = json.loads(text)
    assert document["schema"] == "autotune.wisdom/1"
    assert "nearest number" in document["rule"]
    told = document["sections"][0]["entries"][0]
    assert (told["study"], told["compiler_version"]) == ("tuned", "gcc 12.2.0")


def test_studies_of_other_machines_problems_and_sizes_are_added() -> None:
    text = wisdom.write(choices([(key(), entry(100, 1))])).text
    for k, e in (
        (key(), entry(400, 1)),
        (key(machine="other"), entry(100, 1)),
        (key("wave1d"), entry(100, 1)),
        (key(ranks=4), entry(100, 1)),
    ):
        written = wisdom.write(choices([(k, e)], study="later"), text)
        assert (written.added, written.replaced) == (1, ())
        text = written.text
    content = reader.parse(text.encode())
    assert sum(len(section.entries) for section in content.sections) == 5
    assert len(content.sections) == 4
    assert content.select("other").lookup(1).size == 100
    with pytest.raises(reader.SeveralSections):
        content.lookup(100)
    with pytest.raises(reader.NoSection, match="wave1d radau"):
        content.select(problem="heat3d")


def test_an_entry_of_the_same_place_gives_way_with_a_note() -> None:
    before = wisdom.write(choices([(key(), entry(100, 1)), (key(), entry(400, 1))]))
    origin = dataclasses.replace(ORIGIN, study="second", taken="2026-12-01T00:00:00+00:00")
    later = entry(100, 1, candidate="better", origin=origin)
    written = wisdom.write(choices([(key(), later)], study="second"), before.text)
    assert (written.added, written.kept) == (0, 1)
    (note,) = written.replaced
    assert "c100t1 of study tuned" in note
    assert "better of study second" in note
    assert json.loads(written.text)["notes"] == [note]
    content = reader.parse(written.text.encode())
    assert content.lookup(100, 1).candidate == "better"
    assert content.lookup(400, 1).candidate == "c400t1"
    again = wisdom.write(choices([(key(), later)], study="second"), written.text)
    assert (again.text, again.replaced, again.added) == (written.text, (), 0)


def test_a_file_of_another_version_is_not_merged_into() -> None:
    text = wisdom.write(choices([(key(), entry(100, 1))])).text
    newer = text.replace("autotune.wisdom/1", "autotune.wisdom/2")
    assert wisdom.is_wisdom(text)
    assert not wisdom.is_wisdom(newer)
    with pytest.raises(InputError, match="wisdom/2"):
        wisdom.write(choices([(key(), entry(100, 1))]), newer)


def test_two_problems_of_one_size_are_told() -> None:
    flat = entry(1000, 1, problem="star-K10-J10-I10")
    long = entry(1000, 1, problem="star-K1-J10-I100", candidate="long")
    made = choices([(key(), flat), (key(), long)])
    assert made.entries == 1
    assert "long is left out" in made.notes[0]


def test_cells_of_a_map_come_first() -> None:
    cell = entry(1000, 1, candidate="cell", source="map", loss_bound=0.02)
    made = choices([(key(), entry(1000, 1)), (key(), entry(500, 1)), (key(), cell)])
    found = {e.size: e.candidate for e in made.sections[0].entries}
    assert found == {500: "c500t1", 1000: "cell"}
    assert made.notes == ()


def test_every_key_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "export.md").read_text(encoding="utf-8")
    document = json.loads(wisdom.write(choices([(key(), entry(100, 1))])).text)
    (section,) = document["sections"]
    keys = {*document, *section, *section["machine"], *section["problem"], *section["entries"][0]}
    missing = {name for name in keys if f"`{name}`" not in text and f".{name}`" not in text}
    assert missing == set()
