"""Values of SGF root properties as numbers: ranks, years, komi, results, as real collections write them.

None of these ever fails a game: what cannot be read becomes the layout's "missing" or "unparsable". Values are bytes
whose encoding is not trusted (a CA with a strange name is common); everything of interest is ASCII.
"""

import codecs
import math
import re
from collections.abc import Iterator

from sgfmill import sgf_grammar

from gonn_core.go import layout
from gonn_core.go.points import BLACK, WHITE

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


RANK_SCHEMES = ("kgs", "gogod")
"""`kgs`: "6d" is an amateur, "6p" a professional. `gogod`: "6d" is a professional unless marked as an amateur (GoNN
4.6)."""

# Spaces are never given back (*+): two runs of them side by side would be divided in every way that there is.
_RANK = re.compile(
    rb"(ama(?:teur)?\b\.?)?\s*+(\d{1,2})\s*+[- ]?(d|k|p|dan|kyu|pro|gup)\b\s*+[?*]?\s*+"
    rb"(\(?ama(?:teur)?\b\.?\)?|\(?pro\b\.?\)?)?[?*]?"
)
_NO_RANK = (b"", b"-", b"?", b"nr", b"-?")
_YEAR = re.compile(rb"(?<!\d)(1\d{3}|20\d{2})(?!\d)")
_COMPACT_DATE = re.compile(rb"((?:19|20)\d{2})[01]\d[0-3]\d")
_RESULT = re.compile(rb"([BW])\+\s*(\d+(?:\.\d*)?|\.\d+|[A-Za-z]*)")
_NUMBER = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")


def parse_rank(value: bytes | None, scheme: str) -> int:
    """Rank as in layout.py: k -> -n, amateur nd -> n-1 (at most 8), professional -> PROFESSIONAL + n-1.

    "6d?" is 6d; "-" or nothing is RANK_MISSING; anything else unknown RANK_UNPARSABLE. Under scheme `gogod` a plain dan
    rank is a professional's; "Ama 6d" and "6d ama" are amateurs under both.
    """
    text = (value or b"").strip().lower()
    if text in _NO_RANK:
        return layout.RANK_MISSING
    match = _RANK.fullmatch(text)
    if not match or int(match[2]) == 0:
        return layout.RANK_UNPARSABLE
    number, kind = int(match[2]), match[3][:1]
    marks = (match[1] or b"") + (match[4] or b"")
    if kind in b"kg":
        return -number
    professional = kind == b"p" or b"pro" in marks or (scheme == "gogod" and b"ama" not in marks)
    return layout.PROFESSIONAL + number - 1 if professional else min(number, 9) - 1


def parse_year(value: bytes | None) -> int:
    """First year 1000..2099 of a DT value ("2015-01-02", "1985-03-04,05", "c.1700"); 0 when there is none ("Showa
    10")."""
    match = _YEAR.search(value or b"") or _COMPACT_DATE.fullmatch((value or b"").strip())
    return int(match[1]) if match else 0


def parse_komi(value: bytes | None) -> float:
    """Komi in points, NaN when absent, not a number or beyond +-400."""
    text = (value or b"").strip().replace(b",", b".")
    komi = float(text) if _NUMBER.fullmatch(text) else math.nan
    return komi if abs(komi) <= 400 else math.nan


def parse_result(value: bytes | None) -> tuple[int, int, float]:
    """(winner, result, margin) of a RE value: "B+1.5", "W+Resign", "B+T", "W+F", "0", "Void"; winner 0 and margin NaN
    where unknown."""
    text = (value or b"").strip()
    if text[:4].lower() in (b"draw", b"jigo") or text == b"0":
        return 0, layout.RESULT_COUNTED, 0.0
    if text[:4].lower() == b"void":
        return 0, layout.RESULT_VOID, math.nan
    match = _RESULT.match(text[:1].upper() + text[1:])
    if not match:
        return 0, layout.RESULT_UNKNOWN, math.nan
    winner = BLACK if match[1] == b"B" else WHITE
    how = match[2].lower()
    if how[:1].isdigit() or how[:1] == b".":
        margin = float(how)
        return (winner, layout.RESULT_COUNTED, margin) if margin <= 1000 else (winner, layout.RESULT_UNKNOWN, math.nan)
    kinds = {b"r": layout.RESULT_RESIGN, b"t": layout.RESULT_TIME, b"f": layout.RESULT_FORFEIT}
    return winner, kinds.get(how[:1], layout.RESULT_UNKNOWN), math.nan
