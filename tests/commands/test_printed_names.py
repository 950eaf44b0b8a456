"""Names that a study prints, in tables and on its page, are taken by the commands."""

import html
import re
import shlex

from command_line import Finished

from autotune.domain.candidate_names import named
from autotune.files.store import Store

STUDY = """\
schema: autotune.config/1
machine: generic-x86-64
skeleton: pirk
space: space.yaml
problems:
  - {ivp: heat2d, method: radau-iia-5, correctors: 4, size: 40}
builds: [{compiler: gcc, flags: [-O1]}]
threads: [1]
selection: {top: 2, random: 1, seed: 3}
search: {budget: 3}
measuring: {rounds: 2, samples: 1, min_sample: 1 ms, busy: 0, verify_steps: 2}
"""
SPACE = """\
schema: autotune.space/1
title: six variants
skeleton: pirk
parameters: {order: [jli, ijl], block: [none, 512], au: [false, true], pad: [5]}
rules:
  - {interchange: {kernel: lc, order: $order}}
  - {fuse: {first: approx, second: update}, when: {au: true}}
  - {pipeline: {loop: k, block: $block}, when: {block: [512]}}
  - {pad: {lines: $pad}}
constraints:
  - {when: {block: [512], order: [ijl]}, require: never, reason: small}
  - {when: {block: [512], au: false}, require: never, reason: small}
baseline: {order: jli, block: none, au: false, pad: 5}
"""


def names(text: str) -> set[str]:
    return set(re.findall(r"[\w.+=-]+@heat2d-N40-T1", text))


def test_names_of_predictions_tables_and_pages_are_one_and_are_accepted(autotune, tmp_path) -> None:
    config = tmp_path / "my studies" / "small.yaml"
    config.parent.mkdir()
    config.write_text(STUDY, encoding="utf-8")
    (config.parent / "space.yaml").write_text(SPACE, encoding="utf-8")
    place = "my studies/small.yaml"
    ranked: Finished = autotune("rank", place, "--top", "0")
    tuned: Finished = autotune("tune", place, "--report", "page.html")
    printed = names(tuned.out)
    assert printed
    assert printed <= names(ranked.out)

    page = html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    (line,) = set(re.findall(r"autotune variants [^<\"]+ -o [\w=-]+", page))
    program, *words = shlex.split(line)
    assert program == "autotune"
    assert words[1] == place
    autotune(*words)
    assert (tmp_path / words[-1] / "main.c").is_file()

    with Store.open(str(next(tmp_path.glob("**/*.sqlite")))) as store:
        (study,) = (store.load_study(found.name) for found in store.studies())
    assert {record.label for record in study.candidates} >= printed
    record = next(record for record in study.candidates if not record.baseline)
    by_name = named(dict(sorted(record.parameters.items())))
    assert by_name != record.variant
    for name in (record.label, f"{by_name}:{record.identity[:4]}", record.identity[:6]):
        explained = autotune("rank", place, "--why", name).out
        assert explained.startswith(record.label)
        autotune("variants", place, "--emit", name, "-o", "source")
        assert record.identity in autotune("predict", place, "--formula", name).out
