"""kerncraft as it is: the reference that results are compared with.

    python kerncraft_reference.py    reads folders, one a line; prints an exit code for each

The file ``job.json`` in a folder is ``{"machine": PATH, "predictor": "LC" | "SIM", "quick": bool,
"kernels": [{"text": ..., "points": [{"sizes": {...}, "cores": c}]}]}``; its answers are then in
``answers.json``. Every job is done in a child of the process that has imported kerncraft. Every
kernel has a folder of its own; every point has a machine object of its own and a cleared kernel:
nothing that kerncraft remembers between them can mix them up. With ``quick`` OSACA's grammar of
Intel syntax is refused at once instead of after the ten seconds that it takes to build, and its
tables are unpickled once instead of five times a kernel.
"""

import contextlib
import copy
import gc
import io
import json
import os
import sys
import warnings
from pathlib import Path

warnings.simplefilter("ignore")

from kerncraft import incore_model  # noqa: E402
from kerncraft import kerncraft as command  # noqa: E402
from kerncraft.kernel import KernelCode  # noqa: E402
from kerncraft.machinemodel import MachineModel  # noqa: E402
from kerncraft.models import ECM  # noqa: E402
from kerncraft.pycparser_utils import clean_code  # noqa: E402
from osaca.semantics import MachineModel as PortModel  # noqa: E402


def refuse_intel() -> None:
    build = incore_model.get_parser

    def parser(isa, syntax="ATT"):
        if isa == "x86" and syntax.upper() == "INTEL":
            raise ValueError("refused")
        return build(isa, syntax)

    incore_model.get_parser = parser


def keep_tables() -> None:
    read, tables = PortModel._get_cached, {}

    def kept(model, path):
        if not tables.get(path):
            tables[path] = read(model, path)
        return tables[path]

    PortModel._get_cached = kept


def times(text, points, machine_path, predictor):
    Path("kernel.c").write_text(text + "\n")
    parser = command.create_parser()
    given = parser.parse_args(["-p", "ECM", "-m", machine_path, "-P", predictor, "kernel.c"])
    command.check_arguments(given, parser)
    kernel = KernelCode(
        clean_code(text), machine=MachineModel(machine_path, args=given), filename="kernel.c"
    )
    for point in points:
        arguments = copy.copy(given)
        arguments.cores = point["cores"]
        kernel.clear_state()
        for name, size in point["sizes"].items():
            kernel.set_constant(name, size)
        model = ECM(kernel, MachineModel(machine_path, args=arguments), arguments, parser)
        model.analyze()
        found = model.results
        yield {
            "T_OL": float(found["T_comp"]),
            "T_nOL": float(found["T_RegL1"]),
            "transfers": [float(cycles) for _, cycles in found["cycles"]],
            "T_ECM": float(found["total cycles"]["cy/CL"]),
            "bandwidth": float(found["memory bandwidth"]),
            "saturation": float(found["scaling cores"]),
            "scaling": [float(s["performance"]["cy/CL"]) for s in found["scaling prediction"]],
            "multi_core": float(found["multi-core"]["performance"]["cy/CL"]),
        }


def answer(folder: Path) -> None:
    """Do the job of a folder."""
    job, answers = json.loads((folder / "job.json").read_text()), []
    if job["quick"]:
        refuse_intel()
        keep_tables()
        gc.disable()
    for number, kernel in enumerate(job["kernels"]):
        place = folder / str(number)
        place.mkdir()
        os.chdir(place)
        with contextlib.redirect_stdout(io.StringIO()):
            found = times(kernel["text"], kernel["points"], job["machine"], job["predictor"])
            answers.append(list(found))
    (folder / "answers.json").write_text(json.dumps(answers))


def main() -> None:
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            answer(Path(line.rstrip("\n")))
            return
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
