"""The terminal: one console for what is asked for, one for what happens meanwhile."""

import sys

from rich.console import Console

WIDTH_OF_PIPES = 160


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
