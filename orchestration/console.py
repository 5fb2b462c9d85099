"""The terminal: one console for what is asked for, one for what happens meanwhile."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.segment import Segment, Segments
from rich.table import Table

WIDTH_OF_PIPES = 160
LOADING = "loading PyTorch and the rest of the program"
"""What `moving` shows while a verb's modules are imported: seconds on a busy machine."""


def output() -> Console:
    """Standard output; as wide as the terminal, or wide enough for a table when piped; no markup, no emoji, no guessing
    of colours."""
    return Console(width=None if sys.stdout.isatty() else WIDTH_OF_PIPES, markup=False, emoji=False, highlight=False)


def notes() -> Console:
    """Standard error, for progress and warnings: lines that are never broken, however long a path is in them."""
    return Console(
        stderr=True,
        width=None if sys.stderr.isatty() else WIDTH_OF_PIPES,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=True,
    )


def print_table(console: Console, table: Table) -> None:
    """A table without blanks at the ends of its lines, nor blank lines at its ends."""
    lines = [_without_blanks(line) for line in console.render_lines(table, pad=False)]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    for line in lines:
        console.print(Segments([*line, Segment.line()]), end="")


def _without_blanks(line: list[Segment]) -> list[Segment]:
    line = list(line)
    while line and not line[-1].text.rstrip():
        del line[-1]
    return [*line[:-1], Segment(line[-1].text.rstrip(), line[-1].style)] if line else []


@contextmanager
def moving(text: str) -> Iterator[None]:
    """While this is entered something moves on a terminal beside `text`, of work that cannot say how far it is; nothing
    is written elsewhere."""
    console = notes()
    if not console.is_terminal:
        yield
        return
    with console.status(text, spinner="line"):
        yield
