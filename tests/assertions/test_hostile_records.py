"""Whatever a file holds, reading and checking it ends with verdicts or with an error in words."""

import json
import random

import pytest
from assertion_records import figure_8

from autotune.assertions.checking.check_run import check
from autotune.assertions.checking.tolerances import Tolerances
from autotune.assertions.records import run_records
from autotune.errors import InputError
from autotune.files import codec
from autotune.results.assertion import check_text, junit_xml, markdown_summary, path_tree

VALUES = (
    None, True, -1, 0, 1, 2**63, 10**299, 10**310, 1e-320, -0.5, 1e299, "", "x", "\x00\x1b[2J",
    "1/0", "2**(2**n", "n" * 3000, [], [[]], {}, [1, 2], [[8, 1]], "pass", "loop",
)  # fmt: skip


def places(value, keys=()):
    """The keys of every value inside a JSON value."""
    yield keys
    items = value.items() if isinstance(value, dict) else enumerate(value)
    if isinstance(value, dict | list):
        for key, item in items:
            yield from (
                places(item, (*keys, key)) if isinstance(item, dict | list) else [(*keys, key)]
            )


def change(content, keys, draw):
    """Put another value in place of one: mostly a value of its kind, else any."""
    part = content
    for key in keys[:-1]:
        part = part[key]
    alike = [value for value in VALUES if type(value) is type(part[keys[-1]])]
    part[keys[-1]] = draw.choice(alike if alike and draw.random() < 0.8 else VALUES)


@pytest.mark.parametrize("seed", range(8))
def test_a_record_with_any_value_has_an_answer(tmp_path, seed):
    draw = random.Random(seed)
    whole = codec.document(figure_8(0, 1))
    everywhere = [keys for keys in places(whole) if keys]
    path = tmp_path / "r1.0.json"
    answers = {"read": 0, "refused": 0}
    for _ in range(60):
        content = json.loads(json.dumps(whole))
        for _ in range(draw.choice((1, 1, 2))):
            try:
                change(content, draw.choice(everywhere), draw)
            except (KeyError, IndexError, TypeError):  # an earlier change took the place away
                continue
        path.write_text(json.dumps(content))
        try:
            run = run_records.read([path])
        except InputError as error:
            answers["refused"] += str(path) in str(error)
            continue
        answers["read"] += 1
        for tolerated in (Tolerances(), Tolerances(0.05)):
            result = check(run, tolerated)
            assert result.outcome != "pass" or result.verdicts
        for text in (check_text.text, junit_xml.junit, markdown_summary.markdown):
            assert text(result)
        assert path_tree.text(run)
        json.dumps(codec.document(result), allow_nan=False)
    assert min(answers.values()) > 5


def test_numbers_that_leave_all_ranges_are_refused(tmp_path):
    content = codec.document(figure_8(0, 1))
    content["ranks"] = 10**9
    path = tmp_path / "r1.0.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match="the number 1000000000; expected at most"):
        run_records.read([path])
