"""One SGF file -> game records: what GoNN's game handling keeps (spec: GoNN 4.6), as numbers.

sgfmill's documented `sgf_grammar` module turns bytes into a tree; properties are read here, because sgfmill's own game
class takes the first child for the main line, refuses encodings it does not know, and is twice as slow.

The same game, however it was turned on the board, has the same hash: for duplicates and for splits by hashed game.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sgfmill import sgf_grammar

from gonn_core.go import layout
from gonn_core.go.points import BLACK, PASS, POINTS, SIZE, SYMMETRY, WHITE
from gonn_core.records.sgf.properties import (
    MAX_NODES,
    game_texts,
    has_too_many_nodes,
    parse_komi,
    parse_rank,
    parse_result,
    parse_year,
    without_utf16,
)

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
        game = _read_or_bad(text, rank_scheme, lenient)
        yield game
        if isinstance(game, BadGame) and game.args[0] == "broken syntax":
            return  # what follows may be the broken game's variations


def _read_or_bad(data: bytes, rank_scheme: str, lenient: bool) -> GameRecord | BadGame:
    try:
        return read_game(data, rank_scheme, lenient)
    except BadGame as bad:
        return bad


def read_game(data: bytes, rank_scheme: str, lenient: bool = False) -> GameRecord:
    """The first game of `data`. Raises BadGame."""
    if has_too_many_nodes(data):
        raise BadGame("too many nodes")
    try:
        tree = sgf_grammar.parse_sgf_game(data)
    except ValueError:
        raise BadGame("broken syntax") from None
    root = tree.sequence[0]
    _check_size(root, lenient)
    if not lenient:
        _check_names(root)
    setup = _read_setup(root)
    moves, colours = _read_moves(tree)
    winner, result, margin = parse_result(_value(root, "RE"))
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
        _read_handicap(root),
        winner,
        result,
        layout.GAME_CORRUPT_COMMENT if _calls_itself_corrupt(root) else 0,
    )


def _value(root: dict, name: str) -> bytes | None:
    values = root.get(name)
    return values[0] if values else None


def _check_size(root: dict, lenient: bool) -> None:
    size = _value(root, "SZ")
    if size is None and lenient:
        return
    if size is None:
        raise BadGame("no board size")
    if size.strip() not in (b"19", b"19:19"):
        raise BadGame("not 19x19")


def _check_names(root: dict) -> None:
    for name in ("PB", "PW"):
        names = root.get(name, ())
        if len(names) != 1:
            raise BadGame(f"{name} is given twice" if names else f"{name} is missing")


def _read_handicap(root: dict) -> int:
    text = _value(root, "HA")
    if text is None:
        return 0
    if not re.fullmatch(rb"\s*\d{1,3}\s*", text):
        raise BadGame("bad handicap")
    return int(text)


def _calls_itself_corrupt(root: dict) -> bool:
    return any(b"corrupt" in value.lower() for name in ("C", "GC") for value in root.get(name, ()))


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
