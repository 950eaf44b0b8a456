"""Writes text to compress: the beginning of the sources of Python's standard library, 4 MiB.

python corpus.py FILE
"""

import sys
import sysconfig
from pathlib import Path

SIZE = 4 << 20


def main() -> None:
    library = Path(sysconfig.get_path("stdlib"))
    text = b""
    for file in sorted(library.glob("*.py")) + sorted(library.glob("*/*.py")):
        if "site-packages" not in file.parts:
            text += file.read_bytes()
        if len(text) >= SIZE:
            break
    Path(sys.argv[1]).write_bytes(text[:SIZE])


if __name__ == "__main__":
    main()
