"""kerncraft as it is, in a process of its own: the reference that results are compared with.

    python kerncraft_reference.py JOB    prints JSON

A job is ``{"machine": PATH, "predictor": "LC" | "SIM", "quick": bool, "kernels": [{"text": ...,
"points": [{"sizes": {...}, "cores": c}]}]}``. Every kernel has a folder of its own, below the
current one, which must be fresh; every point has a machine object of its own and a cleared kernel:
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


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    if job["quick"]:
        refuse_intel()
        keep_tables()
        gc.disable()
    start, answers = Path.cwd(), []
    for number, kernel in enumerate(job["kernels"]):
        place = start / str(number)
        place.mkdir()
        os.chdir(place)
        with contextlib.redirect_stdout(io.StringIO()):
            found = times(kernel["text"], kernel["points"], job["machine"], job["predictor"])
            answers.append(list(found))
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main()
