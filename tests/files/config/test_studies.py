"""Config files: one file names all others, and every fault of all of them comes at once."""

import shutil
import subprocess
import sys

import pytest

from autotune import paths
from autotune.domain.setup import Layout
from autotune.domain.variant import Build
from autotune.errors import ConfigError
from autotune.files import config

STUDY = """\
schema: autotune.config/1
title: a study
machine: haswell-e5-2630v3
skeleton: pirk
space: pirk-orders
problems:
  - {ivp: heat2d, method: radau-iia-7, correctors: 6, size: 16}
  - {ivp: heat2d, method: radau-iia-5, size: 32, step_fraction: 0.5}
builds:
  - {compiler: gcc, flags: [-O3, -march=native]}
  - {compiler: clang}
threads: [1, all]
launcher: "srun -n 1 {command}"
environment: {OMP_PLACES: cores}
selection: {top: 3, random: 0, baseline: false, seed: 7}
measuring: {rounds: 2, samples: 1, min_sample: 5 ms, busy: 0.9, attempts: 1, verify_steps: 2}
limits: {compile: 10 s, run: 1 min, factor: 5, memory: 2 GiB, output: 64 KiB}
"""


def write(tmp_path, text):
    path = tmp_path / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def faults(tmp_path, text):
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        config.load(path)
    return [str(fault).replace(f"{tmp_path}/", "") for fault in caught.value.faults]


def test_a_study_is_read(tmp_path):
    setup = config.load(write(tmp_path, STUDY))
    assert setup.name == "study"
    assert setup.machine is not None
    assert setup.machine.name == "haswell-e5-2630v3"
    assert [problem.label for problem in setup.problems] == ["heat2d-N16", "heat2d-N32"]
    assert [problem.correctors for problem in setup.problems] == [6, 4]
    assert setup.problems[1].step_fraction == 0.5
    assert setup.builds[0] == Build(compiler="gcc", flags=("-O3", "-march=native"))
    assert setup.builds[1].flags == Build().flags
    assert setup.layouts == (Layout(threads=1), Layout(threads="all"))
    assert setup.launcher == "srun -n 1 {command}"
    assert setup.environment == {"OMP_PLACES": "cores"}
    assert setup.selection.seed == 7
    assert setup.measuring.min_sample == 0.005
    assert setup.limits.memory == 2 << 30
    assert setup.limits.run == 60


def test_the_places_of_keys_and_of_the_items_of_lists(tmp_path):
    path = write(tmp_path, STUDY)
    setup = config.load(path)
    assert setup.place("machine") == f"{path}:3:10"
    assert setup.place("problems.1") == f"{path}:8:5"
    assert setup.place("builds.1") == f"{path}:11:5"
    assert setup.place("builds.1.compiler") == f"{path}:11:16"
    assert setup.place("threads") == f"{path}:12:1"
    assert setup.place("threads.0") == f"{path}:12:11"
    assert setup.place("selection") == f"{path}:15:1"
    assert setup.place("engine") == str(path)
    top = [line.split(":")[0] for line in STUDY.splitlines() if line[0].isalpha()]
    assert all(key in setup.places for key in top if key != "schema")


def test_what_may_be_left_out(tmp_path):
    lines = [
        "schema: autotune.config/1",
        "machine: host",
        "space: pirk",
        "problems: [{ivp: heat2d, method: radau-iia-7, size: 16}]",
    ]
    setup = config.load(write(tmp_path, "\n".join(lines)))
    assert setup.machine is None
    assert setup.skeleton.name == "pirk"
    assert setup.builds == (Build(),)
    assert setup.layouts == (Layout(),)
    assert setup.launcher == "{command}"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("haswell-e5-2630v3", "hsot", "3:10: unknown machine 'hsot'; expected one of "),
        ("skeleton: pirk", "skeleton: prik", "4:11: unknown skeleton 'prik'"),
        ("pirk-orders", "pirk-order", "unknown space 'pirk-order'"),
        ("pirk-orders", "other.yaml", "there is no file"),
        (
            "ivp: heat2d, method: radau-iia-7",
            "ivp: heat2, method: radau-iia-7",
            "did you mean heat2d",
        ),
        ("radau-iia-7", "radau", "7:27: unknown method 'radau'"),
        ("size: 16", "size: 1", "size: 1 is below the smallest size of heat2d; expected at least"),
        ("size: 16", "size: -16", "7:61: size: the number -16; expected at least 1"),
        ("size: 16", "size: 1e2", "size: the number 100.0; expected a whole number"),
        (
            "radau-iia-7, correctors: 6",
            "verner-6",
            "verner-6, and the skeleton pirk needs an implicit",
        ),
        ("correctors: 6", "correctors: 0", "correctors: the number 0; expected at least 1"),
        (
            "step_fraction: 0.5",
            "step_fraction: 2",
            "step_fraction: the number 2; expected at most 1",
        ),
        ("{compiler: clang}", "{compiler: gcc}", "10:5"),
        ("flags: [-O3, -march=native]", "flags: -O3", "flags: text '-O3'; expected a list"),
        ("compiler: clang", "compler: clang", "unknown key 'compler'; expected one of compiler"),
        ("[1, all]", "[0, all]", "12:11: threads: the number 0 is not a number of threads"),
        ("[1, all]", "[al]", "text 'al' is not a number of threads (at least 1) or all (did you"),
        ("[1, all]", "[9]", "12:11: threads: 9 are more than the cores of haswell-e5-2630v3"),
        ("[1, all]", "[1, 1]", "12:14: threads: the same again; expected each once"),
        ("[1, all]", "[]", "threads: 0 values; expected at least 1"),
        ("threads: [1, all]", "layouts: [{ranks: 3, threads: 3}]", "layouts: 3 ranks of 3 threads"),
        ("threads: [1, all]", "layouts: [{ranks: 0}]", "12:19: ranks: "),
        ("threads: [1, all]", "layouts: [{node: 2}]", "unknown key 'node'"),
        ("threads: [1, all]", "threads: [1]\nlayouts: [{ranks: 2}]", "both threads and layouts"),
        ("threads: [1, all]", "communication: [neighbor]", "neighbour"),
        ("threads: [1, all]", "mpi_launcher: 'srun -n {rank} {command}'", "placeholder {rank}"),
        ("srun -n 1 {command}", "srun -n 1", "must name {command} once"),
        ("srun -n 1 {command}", "srun {n} {comand}", "unknown placeholder {n}, {comand}; known:"),
        ("srun -n 1 {command}", "srun {command", "a brace stands alone"),
        ("srun -n 1 {command}", "srun 'x {command}", "is not a command line: No closing quotation"),
        ("OMP_PLACES: cores", "OMP PLACES: cores", "'OMP PLACES' is not a variable"),
        ("OMP_PLACES: cores", "OMP_PLACES: 4", "OMP_PLACES: the number 4; expected text"),
        ("top: 3", "top: 0", "top: the number 0; expected at least 1"),
        ("baseline: false", "baseline: no", "baseline: text 'no'; expected true or false"),
        ("min_sample: 5 ms", "min_sample: 5 GHz", "min_sample: 'GHz' is not a unit of time"),
        ("min_sample: 5 ms", "min_sample: 5", "the number 5 has no unit of time, such as 20 ms"),
        ("min_sample: 5 ms", "min_sample: 2 min", "min_sample must be in (0, 60 s]"),
        ("memory: 2 GiB", "memory: -2 GiB", "17:56: memory: '-2 GiB' is not positive"),
        ("machine: haswell-e5-2630v3\n", "", "the key 'machine' is missing; expected host"),
        ("title: a study", "titel: a study", "2:1: unknown key 'titel'; expected one of builds"),
        ("title: a study", "name: a/b", "name"),
    ],
)
def test_a_wrong_study_is_one_clear_fault(tmp_path, old, new, expected):
    assert old in STUDY
    found = faults(tmp_path, STUDY.replace(old, new, 1).replace("[{}]", ""))
    if "compiler: gcc}" in new:
        new_text = STUDY.replace(old, "{compiler: gcc, flags: [-O3, -march=native]}", 1)
        found = faults(tmp_path, new_text)
        assert "builds: the same again" in found[0]
    assert len(found) == 1, found
    assert expected in found[0]


def test_a_refused_flag_is_told_beside_other_faults(tmp_path):
    text = STUDY.replace("[-O3, -march=native]", "[-O9x, -O12, '-O{l}']").replace(
        "rounds: 2", "rounds: no"
    )
    flag, rounds = sorted(faults(tmp_path, text), key=lambda fault: "rounds" in fault)
    assert flag.startswith("study.yaml:10:29: -O9x is no level of optimisation; expected -O0, ")
    assert "rounds" in rounds


def test_layouts_and_ways_to_communicate(tmp_path):
    text = STUDY.replace(
        "threads: [1, all]",
        "layouts: [{nodes: 8, threads: 8}, {ranks: 2}]\ncommunication: [sparse, allgather]\n"
        "mpi_launcher: srun -N {nodes} -n {ranks} -c {threads} {command}\n"
        "engine: kerncraft\nsaturation: kerncraft",
    )
    setup = config.load(write(tmp_path, text))
    assert setup.layouts == (Layout(8, 1, 8), Layout(1, 2, "all"))
    assert setup.communications == ("sparse", "allgather")
    assert setup.mpi_launcher == "srun -N {nodes} -n {ranks} -c {threads} {command}"
    assert (setup.engine, setup.saturation) == ("kerncraft", "kerncraft")
    assert setup.place_of_layout(1).endswith("study.yaml:12:35")


def test_neighbours_alone_need_a_limited_access_distance(tmp_path):
    text = STUDY.replace("ivp: heat2d", "ivp: medakzo", 1)
    text = text.replace("threads: [1, all]", "layouts: [{ranks: 2}]\ncommunication: [neighbour]")
    (found,) = faults(tmp_path, text)
    assert found.startswith("study.yaml:13:17: medakzo has no limited access distance")
    assert "allgather or sparse" in found


def test_a_periodic_problem_has_no_neighbours_alone(tmp_path):
    text = STUDY.replace("ivp: heat2d", "ivp: advection", 1)
    text = text.replace("threads: [1, all]", "layouts: [{ranks: 2}]\ncommunication: [neighbour]")
    (fault,) = faults(tmp_path, text)
    assert fault.startswith("study.yaml:13:17: advection is periodic, so its ranks cannot exchange")
    assert "allgather or sparse" in fault


def test_all_faults_of_all_files_at_once(tmp_path):
    (tmp_path / "m.yaml").write_text("schema: autotune.method/1\ntitle: 5\n", encoding="utf-8")
    (tmp_path / "bin.yaml").write_bytes(b"\x00\x01")
    text = STUDY.replace("haswell-e5-2630v3", "bin.yaml").replace("radau-iia-5", "m.yaml")
    text = text.replace("title: a study", "titel: a study").replace("[1, all]", "[0]")
    text = text.replace("ivp: heat2d, method: radau-iia-7", "ivp: heat2, method: radau-iia-7")
    text = text.replace("size: 16", "size: -1").replace("top: 3", "top: 3, top: 4")
    found = faults(tmp_path, text)
    assert [fault.split(": ")[0] for fault in found] == [
        "study.yaml:2:1",
        "study.yaml:7:11",
        "study.yaml:7:60",
        "study.yaml:12:11",
        "study.yaml:15:21",
        "bin.yaml:1:1",
        *["m.yaml:1:1"] * 5,
        "m.yaml:2:8",
    ]


def test_a_space_may_name_its_skeleton_by_a_path(tmp_path):
    variants = paths.folder("variants/skeleton").parent
    folder = tmp_path / "spaces"
    folder.mkdir()
    shutil.copy(variants / "skeleton" / "pirk.yaml", folder / "mine.yaml")
    space = (variants / "space" / "pirk-orders.yaml").read_text(encoding="utf-8")
    text = space.replace("skeleton: pirk", "skeleton: mine.yaml")
    (folder / "orders.yaml").write_text(text, encoding="utf-8")
    study = STUDY.replace("skeleton: pirk\n", "").replace("pirk-orders", "spaces/orders.yaml")
    assert config.load(write(tmp_path, study)).skeleton.name == "mine"


def test_a_space_for_another_skeleton(tmp_path):
    skeleton = (paths.folder("variants/skeleton") / "pirk.yaml").read_text(encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(skeleton, encoding="utf-8")
    found = faults(tmp_path, STUDY.replace("skeleton: pirk", "skeleton: mine.yaml"))
    assert found == [
        "study.yaml:5:8: the space pirk-orders is for the skeleton pirk;"
        " expected a space for mine, as the key skeleton says"
    ]
    wrong = STUDY.replace("skeleton: pirk", "skeleton: erk").replace("title:", "titel:")
    beside = faults(tmp_path, wrong)
    assert any("the space pirk-orders is for the skeleton pirk" in fault for fault in beside)
    assert any("unknown key 'titel'" in fault for fault in beside)


@pytest.mark.parametrize("name", paths.names("configs"))
def test_shipped_configs_load(name, monkeypatch, tmp_path):
    by_name = config.load(name)
    assert by_name.name == name
    monkeypatch.chdir(tmp_path)
    from_elsewhere = config.load(f"configs/{name}.yaml")
    assert [p.key for p in from_elsewhere.problems] == [p.key for p in by_name.problems]


def test_an_absent_config_suggests_the_nearest(tmp_path):
    with pytest.raises(
        ConfigError, match=r"no such file \(did you mean configs/quickstart.yaml\?\)"
    ):
        config.load("configs/quickstrat.yaml")
    with pytest.raises(ConfigError, match="a folder; expected a YAML file"):
        config.load(tmp_path)


def test_reading_needs_no_heavy_library():
    code = (
        "import sys, autotune.files.config as c; c.load('quickstart');"
        "print(*sorted({'numpy', 'pandas', 'sqlalchemy', 'optuna', 'osaca'} & set(sys.modules)))"
    )
    root = paths.data_root()
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""
