"""Instead of kerncraft's worker: answers at once, or misbehaves as the kernel's text asks it to.

python kerncraft_fake.py PARENT MACHINE
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

RECORD = {
    "constants": ["N"],
    "levels": ["L2", "MEM"],
    "overlapping": [False, False, False],
    "caches": [[1024, 65536], [1024, 32768]],
    "socket_cores": 4,
    "needed": [[[8, [["N", 1]]]], [[512, []], [2, [["N", 1]]]]],
    "options": [
        {"cycles": [0.0, 0.0], "penalty": 0.0, "bandwidth": 4e9, "memory_lines": 0.0},
        {"cycles": [2.0, 5.0], "penalty": 0.0, "bandwidth": 3e9, "memory_lines": 2.0},
        {"cycles": [4.0, 12.0], "penalty": 0.5, "bandwidth": 2e9, "memory_lines": 4.0},
    ],
    "T_OL": 3.0,
    "T_nOL": 1.0,
    "iterations_per_line": 8.0,
    "compiler": "none",
    "samples": [],
}
"""A kernel over 8 N bytes on a machine with an L1 of 1 KiB and an L2 of 64 KiB for two cores."""


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        text = Path(request["folder"], "kernel.c").read_text().split()[0]
        if text == "hang":
            time.sleep(600)
        if text == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if text == "complain":
            sys.exit("no such thing as a kernel")
        if text == "garbage":
            sys.stdout.write("\x00 not JSON\n")
        elif text == "half":
            sys.stdout.write('{"id": ')
            sys.stdout.flush()
            os._exit(0)
        elif text == "odd":
            answer = {"id": request["id"], "ok": True, "record": {**RECORD, "options": []}}
            sys.stdout.write(json.dumps(answer) + "\n")
        elif text == "refuse":
            answer = {"id": request["id"], "ok": False, "lasting": True, "error": "too clever"}
            sys.stdout.write(json.dumps(answer) + "\n")
        else:
            answer = {"id": request["id"], "ok": True, "record": RECORD}
            sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
