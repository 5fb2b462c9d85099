"""A terminal that remembers what was drawn on it."""

import io
import re


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True

    def drawn(self) -> list[str]:
        """All lines that were ever drawn, redrawn ones again, without control sequences."""
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue()).replace("\r", "\n")
        return [line.rstrip() for line in text.splitlines() if line.strip()]
