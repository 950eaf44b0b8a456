"""A terminal that is just good enough for a table that is redrawn in place."""

import re

_PIECE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


class Terminal:
    """The lines of a screen without an end, and whether its cursor can be seen."""

    def __init__(self, text: str = "") -> None:
        self.lines = [""]
        self.cursor = True
        self._row = self._column = 0
        self.feed(text)

    def feed(self, text: str) -> None:
        """Take in what a program wrote; sequences that are not known are refused."""
        for found in _PIECE.finditer(text):
            arguments, command, control, plain = found.groups()
            if command:
                self._obey(command, arguments)
            elif control == "\r":
                self._column = 0
            elif control == "\n":
                self._row, self._column = self._row + 1, 0
                self.lines += [""] * (self._row + 1 - len(self.lines))
            else:
                self._write(plain)

    def _obey(self, command: str, arguments: str) -> None:
        match command, arguments:
            case "A", count:
                self._row = max(0, self._row - int(count or 1))
            case "K", "2":
                self.lines[self._row] = ""
            case (("h" | "l"), "?25"):
                self.cursor = command == "h"
            case "m", _:
                pass
            case _:
                raise ValueError(f"unknown sequence {arguments}{command}")

    def _write(self, text: str) -> None:
        line = self.lines[self._row].ljust(self._column)
        end = self._column + len(text)
        self.lines[self._row] = line[: self._column] + text + line[end:]
        self._column = end

    @property
    def text(self) -> str:
        """What can be read on it."""
        return "\n".join(line.rstrip() for line in self.lines).rstrip()
