"""One SGF file -> game records as numbers (spec: GoNN 4.6): main line, setup stones, ranks, result, and a hash that is
the same under the symmetries of the board, for duplicates and for splits by hashed game.

sgfmill's documented `sgf_grammar` module turns bytes into a tree. Properties are read here, because sgfmill's own game
class takes the first child for the main line, refuses encodings that it does not know, and is half as fast.

Values of root properties are read as real collections write them. None of these fails a game: what cannot be read
becomes the layout's "missing" or "unparsable". Values are bytes whose encoding is not trusted (a CA with a strange name
is common); everything of interest is ASCII.
"""

import codecs
import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sgfmill import sgf_grammar

from gonn_core.go import layout
from gonn_core.go.points import BLACK, PASS, POINTS, SIZE, SYMMETRY, WHITE

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
    if data.count(b"(") <= 1 or len(_START.findall(data)) <= 1:
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


MAX_SETUP = 4 * POINTS

REASONS = (
    "broken syntax",
    "too many nodes",
    "no board size",
    "not 19x19",
    "PB is missing",
    "PB is given twice",
    "PW is missing",
    "PW is given twice",
    "bad handicap",
    "bad setup",
    "bad move",
    "setup after the root",
)
"""Why a game is skipped; each reason is counted in the build report."""


class BadGame(Exception):
    """A game that is skipped; `args[0]` is one of REASONS."""


@dataclass(slots=True)
class GameRecord:
    """A parsed game. `setup` int codes colour*361+point (colour 0 removes) in file order; the rest as in
    layout.GAME."""

    setup: list[int]
    moves: np.ndarray  # (N,) int16 points or PASS
    colours: np.ndarray  # (N,) uint8 BLACK or WHITE
    canonical: tuple[int, int]
    komi: float
    margin: float
    year: int
    black_rank: int
    white_rank: int
    handicap: int
    winner: int
    result: int
    flags: int


_LETTERS = "abcdefghijklmnopqrs"
_POINTS = {
    f"{column}{row}".encode(): r * SIZE + c for r, row in enumerate(_LETTERS) for c, column in enumerate(_LETTERS)
}
_MOVES = {**_POINTS, b"": PASS, b"tt": PASS}
_SETUP_COLOURS = {"AE": 0, "AB": BLACK, "AW": WHITE}


def read_games(data: bytes, rank_scheme: str, lenient: bool = False) -> Iterator[GameRecord | BadGame]:
    """Every game of one file, in order; a game that must be skipped is yielded as a BadGame, not raised.

    lenient: as games of anybody's own are read, without the documents' rules that both players have names and the board
    a size (GoNN 4.6): without SZ it is 19x19, the default of SGF FF[4]. UTF-16 too.
    """
    for text in game_texts(without_utf16(data) if lenient else data):
        try:
            yield read_game(text, rank_scheme, lenient)
        except BadGame as bad:
            yield bad
            if bad.args[0] == "broken syntax":
                return  # what follows may be the broken game's variations


def read_game(data: bytes, rank_scheme: str, lenient: bool = False) -> GameRecord:
    """The first game of `data`. Raises BadGame."""
    if has_too_many_nodes(data):
        raise BadGame("too many nodes")
    try:
        tree = sgf_grammar.parse_sgf_game(data)
    except ValueError:
        raise BadGame("broken syntax") from None
    root = tree.sequence[0]
    size = _value(root, "SZ")
    if size is None and not lenient:
        raise BadGame("no board size")
    if size is not None and size.strip() not in (b"19", b"19:19"):
        raise BadGame("not 19x19")
    for name in () if lenient else ("PB", "PW"):
        if len(names := root.get(name, ())) != 1:
            raise BadGame(f"{name} is given twice" if names else f"{name} is missing")
    setup = _read_setup(root)
    moves, colours = _read_moves(tree)
    winner, result, margin = parse_result(_value(root, "RE"))
    handicap = root.get("HA", [b"0"])[0]
    if not re.fullmatch(rb"\s*\d{1,3}\s*", handicap):
        raise BadGame("bad handicap")
    comments = (value.lower() for name in ("C", "GC") for value in root.get(name, ()))
    return GameRecord(
        setup,
        moves,
        colours,
        canonical_hash(setup, moves, colours),
        parse_komi(_value(root, "KM")),
        margin,
        parse_year(_value(root, "DT")),
        parse_rank(_value(root, "BR"), rank_scheme),
        parse_rank(_value(root, "WR"), rank_scheme),
        int(handicap),
        winner,
        result,
        layout.GAME_CORRUPT_COMMENT if any(b"corrupt" in comment for comment in comments) else 0,
    )


def _value(root: dict, name: str) -> bytes | None:
    values = root.get(name)
    return values[0] if values else None


def _read_setup(root: dict) -> list[int]:
    codes = []
    for name, values in root.items():
        if name in _SETUP_COLOURS:
            for value in values:
                codes += [_SETUP_COLOURS[name] * POINTS + p for p in _points(value)]
                if len(codes) > MAX_SETUP:
                    raise BadGame("bad setup")
    return codes


def _points(value: bytes) -> list[int]:
    """Points of one setup value: `cd`, or a rectangle `cd:fg`."""
    corners = [_POINTS.get(corner.strip()) for corner in value.split(b":")]
    first, last = corners[0], corners[-1]
    if len(corners) > 2 or first is None or last is None:
        raise BadGame("bad setup")
    (top, left), (bottom, right) = divmod(first, SIZE), divmod(last, SIZE)
    return [row * SIZE + column for row in range(top, bottom + 1) for column in range(left, right + 1)]


def _read_moves(tree) -> tuple[np.ndarray, np.ndarray]:
    moves, colours = [], []
    root = tree.sequence[0]
    for node in _main_line(tree):
        for name, values in node.items():
            if name == "B" or name == "W":
                for value in values:
                    move = _MOVES.get(value)
                    if move is None:
                        move = _MOVES.get(value.strip())
                        if move is None:
                            raise BadGame("bad move")
                    moves.append(move)
                    colours.append(BLACK if name == "B" else WHITE)
            elif name in _SETUP_COLOURS and node is not root:
                raise BadGame("setup after the root")
    if len(moves) > MAX_NODES:  # a node may hold many; PLY is an int16
        raise BadGame("too many nodes")
    return np.array(moves, np.int16), np.array(colours, np.uint8)


def _main_line(tree) -> Iterator[dict]:
    """Nodes of the main line: at each branching the deepest child, the first one on ties."""
    if tree.children:
        depths = _depths(tree)
    while True:
        yield from tree.sequence
        if not tree.children:
            return
        tree = max(tree.children, key=lambda child: depths[id(child)])


def _depths(tree) -> dict[int, int]:
    """Nodes of the longest line below and in each subtree, by id."""
    order = [tree]
    for subtree in order:
        order.extend(subtree.children)
    depths: dict[int, int] = {}
    for subtree in reversed(order):
        depths[id(subtree)] = len(subtree.sequence) + max((depths[id(child)] for child in subtree.children), default=0)
    return depths


# Column 361, also reached as index -1, keeps a pass a pass.
_IMAGES = np.concatenate([SYMMETRY, np.full((8, 1), -1)], axis=1).astype("<i2")
_COLOUR_STEP = 512


def canonical_hash(setup: list[int], moves: np.ndarray, colours: np.ndarray) -> tuple[int, int]:
    """Two uint64 over the board set up and the moves with their colours, equal for games that a symmetry of the board
    makes equal.

    setup: codes colour*361+point in file order; moves (N,) int16 points or -1; colours (N,) 1 or 2. The symmetry whose
    byte string is smallest stands for all eight. Colours are not exchanged: with komi that is another game.
    """
    turned = _IMAGES[:, moves]
    turned += colours.astype("<i2") * np.int16(_COLOUR_STEP)
    if setup:
        board = np.zeros(POINTS, np.uint8)
        for code in setup:
            board[code % POINTS] = code // POINTS
        boards = np.empty((8, POINTS), np.uint8)
        for symmetry in range(8):
            boards[symmetry, SYMMETRY[symmetry]] = board
        smallest = min(boards[s].tobytes() + turned[s].tobytes() for s in range(8))
    else:
        smallest = min(row.tobytes() for row in turned)
    digest = hashlib.blake2b(smallest, digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")
