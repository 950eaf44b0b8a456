"""A folder with one valid file of every kind, a finished study, and files that nobody can use."""

import gzip
import os
import shutil
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SHIPPED = {
    "machine.yaml": "machines/generic-x86-64.yaml",
    "haswell.yaml": "machines/haswell-e5-2630v3.yaml",
    "heat.yaml": "kernels/ivp/heat2d.yaml",
    "wave.yaml": "kernels/ivp/string-row.yaml",
    "radau.yaml": "kernels/method/radau-iia-3.yaml",
    "star.yaml": "kernels/stencil/star2d-5pt.yaml",
    "variable.yaml": "kernels/stencil/star3d-7pt-variable.yaml",
    "pirk.yaml": "variants/skeleton/pirk.yaml",
    "jacobi.yaml": "variants/skeleton/jacobi.yaml",
    "orders.yaml": "variants/space/pirk-orders.yaml",
    "blocks.yaml": "variants/space/stencil-small.yaml",
    "matmul.yaml": "variants/program/matmul.yaml",
    "table.yaml": "benchmarks/published/icpe19-table2.yaml",
    "matmul.c": "examples/matmul/matmul.c",
}
TEXTS = {
    "ivp.yaml": """\
schema: autotune.config/1
title: an initial value problem
machine: machine.yaml
skeleton: pirk.yaml
space: orders.yaml
problems: [{ivp: heat.yaml, method: radau.yaml, correctors: 2, size: 24}]
builds: [{compiler: gcc, flags: [-O2]}]
threads: [1]
launcher: "{command}"
environment: {COLOUR: red}
selection: {top: 1, random: 0, baseline: true, seed: 1}
search: {budget: 1, warm_start: false}
measuring: {rounds: 2, samples: 1, min_sample: 1 ms, busy: 0, verify_steps: 1}
limits: {compile: 20 s, run: 10 s, factor: 20, output: 1 MiB}
""",
    "ranks.yaml": """\
schema: autotune.config/1
title: ranks
machine: haswell.yaml
skeleton: pirk.yaml
space: orders.yaml
problems: [{ivp: wave.yaml, method: radau.yaml, correctors: 2, size: 400}]
builds: [{compiler: gcc, flags: [-O2, -march=haswell]}]
layouts: [{nodes: 8, ranks: 1, threads: 8}, {nodes: 1, ranks: 2, threads: 1}]
communication: [allgather, neighbour]
""",
    "published.yaml": """\
schema: autotune.config/1
title: as published
machine: haswell.yaml
skeleton: pirk.yaml
space: orders.yaml
problems: [{ivp: inverterchain, method: radau-iia-7, correctors: 6, size: 35808256}]
builds: [{compiler: gcc, flags: [-O3, -march=haswell]}]
layouts: [{nodes: 8, ranks: 1, threads: 8}]
communication: [allgather, neighbour]
reference: table.yaml
""",
    "stencil.yaml": """\
schema: autotune.config/1
title: a stencil
machine: machine.yaml
skeleton: jacobi.yaml
space: blocks.yaml
problems: [{stencil: star.yaml, grid: {i: 40, j: 30}}, {stencil: variable.yaml, size: 12}]
builds: [{compiler: gcc, flags: [-O2]}]
threads: [1, 2]
engine: planes
""",
    "study.yaml": """\
schema: autotune.config/1
title: a program
name: made
machine: machine.yaml
program: program.yaml
problems: [{arguments: {n: 1000}}, {arguments: {n: 100}}]
threads: [1]
selection: {top: 2, random: 2, baseline: true, seed: 1}
search: {budget: 4}
measuring: {rounds: 2, samples: 1, busy: 0}
limits: {compile: 20 s, run: 10 s}
""",
    "program.yaml": """\
schema: autotune.program/1
title: made times
sources: [made.py]
run: ["{python}", "{source folder}/made.py", "{n}", "{block}", "{order}"]
arguments: {n: 1000}
size: n
threads: one
parameters: {block: {from: 4, to: 64, times: 2}, order: [ij, ji]}
constraints: [{require: block <= n, reason: a block is larger than all}]
baseline: {block: 16, order: ji}
time: {pattern: "time (\\\\S+) s"}
check: {pattern: "sum (\\\\S+)", tolerance: 1e-12}
model:
  where: {inner: 1.5 if order == 'ji' else 1.1}
  formula: {work: 4 * n**1.5 * inner / clock, blocks: 20 * n / block / clock}
  accuracy: 50 %
""",
    "matmul-study.yaml": """\
schema: autotune.config/1
machine: machine.yaml
program: matmul.yaml
problems: [{arguments: {n: 128}}]
builds: [{compiler: gcc, flags: [-O2]}]
""",
    "made.py": """\
import math, sys, time
n, block, order = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
begun = time.perf_counter()
time.sleep(2e-6 * n * (1 + abs(math.log2(block / 32))) * (1.6 if order == "ji" else 1.0))
print(f"time {time.perf_counter() - begun:.12e} s")
print(f"sum {n * (n - 1) / 2:.17g}")
""",
    "design.yaml": """\
schema: autotune.design/1
title: blocks
parameters:
  bi: {from: 8, to: 64, factor: 2}
  bj: {from: 10, to: 50, step: 10}
  order: [ijk, kij]
constraints: [bi * bj <= 1600]
""",
    "network.yaml": """\
schema: autotune.network/1
title: two curves
curves:
  - operation: allgather
    benchmark: anchor
    nodes: 8
    ranks: 8
    measured: [35.8 MB, 35.8 MB]
    segments: [{from: 0 B, latency: 0 us, bandwidth: 705 MB/s}]
    residual: [0.95, 1.05]
  - operation: pingpong
    benchmark: osu
    nodes: 2
    ranks: 2
    measured: [8 B, 1 MiB]
    segments: [{from: 0 B, latency: 1.2 us, bandwidth: 3 GB/s}]
    points: [{size: 8 B, time: 1.2 us}]
""",
    "samples.jsonl": """\
{"schema": "autotune.comm-samples/1", "benchmark": "autotune", "nodes": 1, "ranks": 2, "cores": 2, \
"mpi": "Open MPI", "program": "c", "launcher": "mpiexec", "hosts": ["vm"], "machine": "x", \
"taken": "2026-01-02T03:04:05+00:00", "priority": "normal", "buffers": 8}
{"operation": "barrier", "bytes": 0, "seconds": 4.2e-07, "count": 100, "busy": [1.0, 1.0], \
"launch": 0, "round": 0, "taken": 1795360775.5}
{"operation": "pingpong", "bytes": 8, "seconds": 5.2e-07, "count": 100, "busy": [1.0, 1.0], \
"launch": 0, "round": 0, "taken": 1795360775.6}
{"operation": "pingpong", "bytes": 1024, "seconds": 9.2e-07, "count": 100, "busy": [1.0, 1.0], \
"launch": 1, "round": 0, "taken": 1795360775.7}
""",
    "osu.txt": """\
# OSU MPI Allgather Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
1                       2.81              1.89              3.73        1000
1024                    5.50              5.10              6.25        1000
1048576               104.30            104.26            104.33         100
""",
    "extrap.txt": """\
PARAMETER p
PARAMETER n
POINTS ( 4 1 ) ( 8 1 ) ( 16 1 ) ( 32 1 ) ( 64 1 )
REGION main->solve
METRIC time
DATA 1.0 1.2
DATA 2.0 2.2
DATA 1.5 1.5
DATA 3.0 3.2
DATA 4.0 4.2
""",
    "model.xml": """\
<vm name="solver">
  <binaryOptions>
    <configurationOption><name>root</name><optional>False</optional></configurationOption>
    <configurationOption><name>fast</name><parent>root</parent><optional>True</optional>
    </configurationOption>
  </binaryOptions>
  <numericOptions>
    <configurationOption><name>pre</name><parent>root</parent>
      <minValue>0</minValue><maxValue>6</maxValue><stepFunction>pre + 2</stepFunction>
    </configurationOption>
  </numericOptions>
  <booleanConstraints><constraint>!fast | root</constraint></booleanConstraints>
  <nonBooleanConstraints><constraint>fast * pre &gt;= 0</constraint></nonBooleanConstraints>
</vm>
""",
    "results.xml": "<results>\n"
    + "".join(
        f'<row><data columname="Configuration">root,{"fast," * fast}pre;{pre},</data>'
        f'<data columname="Performance">{1 + pre + fast}</data></row>\n'
        for pre in (0, 2, 4, 6)
        for fast in (0, 1)
    )
    + "</results>\n",
    "runs.csv": "ranks,nx,ny,px,py,comp_s,comm_s,total_s\n"
    + "".join(
        f"{ranks},{nx},{nx},{ranks // 4},4,{nx**2 / ranks:.3f},{0.1 * nx / ranks:.3f},"
        f"{nx**2 / ranks + 0.1 * nx / ranks:.3f}\n"
        for ranks in (16, 32, 64, 128)
        for nx in (64, 96, 128, 192, 256)
    ),
    "rows.csv": "block,order,time_s\n"
    + "".join(
        f"{block},{order},{1 + abs(block - 16) / 10 + place}\n"
        for block in (4, 8, 16, 32, 64)
        for place, order in enumerate(("ij", "ji"))
    ),
}
STORE = "study.db"


def make_scene(folder: Path) -> None:
    """Write all valid files; the finished study is the caller's matter."""
    folder.mkdir(parents=True)
    for name, source in SHIPPED.items():
        text = (REPOSITORY / source).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace("../../examples/matmul", "."), encoding="utf-8")
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "binary").write_bytes(bytes(range(256)) * 40)
    (folder / "nul").write_bytes(b"schema: autotune.config/1\ntitle: a\0b\n")
    (folder / "empty").write_bytes(b"")
    bomb = gzip.compress(b"1,2,3\n" * (20 << 20), compresslevel=1)
    for name in ("bomb.gz", "bomb.yaml", "bomb.json.gz"):
        (folder / name).write_bytes(bomb)
    for name in ("binary", "empty"):
        shutil.copy(folder / name, folder / f"{name}.yaml")


def copy_scene(scene: Path, folder: Path) -> None:
    """A copy for one case, with the pipes, links and devices that cannot be copied."""
    folder.mkdir()
    for path in scene.iterdir():
        if path.is_file():
            # no command is asked to write to one of the large files
            (os.link if "bomb" in path.name else shutil.copy)(path, folder / path.name)
    for suffix in ("", ".yaml"):
        (folder / f"folder{suffix}").mkdir()
        os.mkfifo(folder / f"pipe{suffix}")
        (folder / f"loop{suffix}").symlink_to(f"loop{suffix}")
    (folder / "dangling").symlink_to("no-such-file")
    if os.geteuid() == 0 and sys.platform == "linux":
        for name, number in (("null", 3), ("zero", 5), ("full", 7), ("zero.yaml", 5)):
            os.mknod(folder / name, 0o20666, os.makedev(1, number))


def tuned(store: str = STORE) -> list[str]:
    """The words of the command that fills the store of a scene."""
    return ["tune", "study.yaml", "--store", store]
