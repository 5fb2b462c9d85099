"""The workspace of a command. Its layout is declared where it is read: see reports.workspace."""

from reports.workspace import Workspace

__all__ = ["Workspace"]
