"""One file's bytes -> the text of each game in it. Every pattern here runs once over its text, whatever that says:
files may be made to harm."""

import codecs
import re
from collections.abc import Iterator

from sgfmill import sgf_grammar

MAX_NODES = 10_000

_START = re.compile(rb"\(\s*;")
_VALUE = re.compile(rb"\[[^\\\]]*+(?:\\.[^\\\]]*+)*+(?:\]|\\?\Z)", re.DOTALL)
"""A property value; one that is never closed reaches to the end, so that no byte is looked at again for another '['."""


def without_utf16(data: bytes) -> bytes:
    """A file that says at its beginning that it is UTF-16, as UTF-8; others as they are: what matters in them is ASCII
    whatever their encoding."""
    if not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data
    try:
        return data.decode("utf-16").encode()
    except UnicodeError:
        return data


def game_texts(data: bytes) -> Iterator[bytes]:
    """The text of each game of one file, in order."""
    if _count_starts(data) <= 1:
        yield data
        return
    # A second "(;" is nearly always a variation; where it is another game, each game is cut out and read by itself.
    tokens, position = sgf_grammar.tokenise(data)
    start = 0
    while tokens:
        yield data[start:position]
        start = position
        tokens, position = sgf_grammar.tokenise(data, start)


def has_too_many_nodes(data: bytes) -> bool:
    """Whether a game's tree is huge: asked before memory is spent on it. Semicolons inside values are no nodes."""
    return data.count(b";") > MAX_NODES and _VALUE.sub(b"", data).count(b";") > MAX_NODES


def _count_starts(data: bytes) -> int:
    return len(_START.findall(data)) if data.count(b"(") > 1 else 1
