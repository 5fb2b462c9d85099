"""Seals of the lines of a search's journal, each a mapping that Optuna writes and reads; it takes no notice of them.

A line is sealed by itself, with the id of its search.
"""

import hashlib
import json
from collections.abc import Mapping

from gonn_core.files.seals import KEY


def sealed(log: Mapping, search: str) -> dict:
    """A line of the journal with its seal."""
    return {**log, KEY: _digest(log, search)}


def opened(log: Mapping, search: str) -> dict | None:
    """A line without its seal; None for one that is not what was written. One of before has no seal."""
    content = {name: value for name, value in log.items() if name != KEY}
    return content if log.get(KEY, digest := _digest(content, search)) == digest else None


def is_whole(line: bytes, search: str) -> bool:
    """Whether a line of the file is what was written."""
    try:
        log = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(log, dict) and opened(log, search) is not None


def _digest(content: Mapping, search: str) -> str:
    text = search + json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
