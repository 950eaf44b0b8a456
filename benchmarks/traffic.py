"""The traffic analysis of engine ``reuse``: how long it takes, and whether its lines are right.

    python benchmarks/traffic.py [--parts time,lines] [--sizes 1e5,1e6,2e7,1e9]
                                 [--machine NAME] [--memory 2048] [--only PREFIX]
                                 [--programs 4] [--scale 8] [--seed 1] [--quick]

time    CPU seconds and peak memory of reading a config, enumerating its candidates and analysing
        the traffic of all of them, by size; each case in a process of its own with a limit on its
        memory. The goal is that neither grows with the size.
lines   lines that come into each cache in a time step, of programs drawn from the spaces: what the
        engine counts beside an exact simulation of the generated program (``traffic_lines``)
"""

import argparse

import traffic_lines
import traffic_time

from autotune.files import config


def main() -> None:
    """Read the options and run the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default="time,lines", help="time, lines")
    parser.add_argument("--sizes", default="1e5,1e6,2e7,1e9", help="components, of part time")
    parser.add_argument("--memory", type=int, default=2048, help="MiB of a case of part time")
    parser.add_argument("--machine", default="haswell-e5-2630v3")
    parser.add_argument("--only", default="", help="spaces or workloads that begin so")
    parser.add_argument(
        "--programs", type=int, default=4, help="variants of a problem, of part lines"
    )
    parser.add_argument("--scale", type=int, default=8, help="divides the caches of part lines")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="part lines: one variant of a problem")
    options = parser.parse_args()
    parts = options.parts.split(",")
    for name in parts:
        if name not in ("time", "lines"):
            parser.error(f"--parts: no part {name!r}; there are time, lines")
    if "time" in parts:
        sizes = [int(float(size)) for size in options.sizes.split(",")]
        traffic_time.measure(sizes, options.machine, options.memory, options.only)
    if "lines" in parts:
        machine = config.machine(options.machine)
        programs = 1 if options.quick else options.programs
        traffic_lines.measure(machine, options.scale, programs, options.seed, options.only)


if __name__ == "__main__":
    main()
