"""Runs a command so that it ends with its parent process, for launchers that would not (mpiexec).

Run by path, as a child process: ``python end_with_parent.py PID COMMAND...`` becomes the command,
which gets SIGTERM from the kernel when its parent, the process PID, ends.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_NOT_FOUND = 127


def main() -> None:
    """Ask the kernel for SIGTERM at the parent's end, then become the command."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit("the parent ended meanwhile")
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"cannot run {command[0]!r}: {error.strerror}\n")
        sys.exit(_NOT_FOUND)


if __name__ == "__main__":
    main()
