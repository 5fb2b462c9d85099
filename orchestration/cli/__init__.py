"""The `gonn` command: its verbs and their options. What a verb does lies in the other rooms, imported when it runs."""

from orchestration.cli.command import gonn, main, run

__all__ = ["gonn", "main", "run"]
