"""The oracle games: SGF files read with sgfmill, replayed, and the planes that GoNN's own writer made of them."""

import re
import tarfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sgfmill import sgf

from gonn_core.go.points import BLACK, PASS, POINTS, SIZE, WHITE, WORDS
from gonn_core.go.replay import make_workspace, replay_games
from tests.paths import ROOT

REPOSITORY = ROOT
SHARED = REPOSITORY.parent / "shared"
STARTER_GAMES = REPOSITORY / "ablations" / "starter" / "gnugo-selfplay.tar.xz"
STARTER_ORACLE = REPOSITORY / "tests" / "fixtures" / "oracle_gonn26_starter.npz"
KGS_ORACLE = SHARED / "spec" / "oracle_gonn26_kgs2003.npz"
KGS_GAMES = SHARED / "spec" / "oracle_sgf"


class Game(NamedTuple):
    setup: np.ndarray  # (S,) int16 codes colour*361 + point
    moves: np.ndarray  # (M,) int16
    colours: np.ndarray  # (M,) uint8


class Rows(NamedTuple):
    """Replayed games as rows of the store; row_offsets[g] is where game g starts, rows[g] how many it has."""

    stones: np.ndarray
    ladders: np.ndarray
    moves: np.ndarray
    row_offsets: np.ndarray
    rows: np.ndarray
    ends: np.ndarray
    capped: np.ndarray


def _point(move) -> int:
    """Point of sgfmill's (row from the bottom, column), PASS for None."""
    return PASS if move is None else (SIZE - 1 - move[0]) * SIZE + move[1]


def read_sgf(data: bytes) -> Game:
    """Setup and main line of an SGF file without variations."""
    game = sgf.Sgf_game.from_bytes(data)
    black, white, _ = game.get_root().get_setup_stones()
    setup = [BLACK * POINTS + _point(p) for p in sorted(black)] + [WHITE * POINTS + _point(p) for p in sorted(white)]
    played = [node.get_move() for node in game.get_main_sequence()]
    played = [(colour, move) for colour, move in played if colour is not None]
    return Game(
        np.array(setup, np.int16),
        np.array([_point(move) for _, move in played], np.int16),
        np.array([BLACK if colour == "b" else WHITE for colour, _ in played], np.uint8),
    )


def first_games(folder: Path) -> Path:
    """An archive of the 484 games that were bundled first: golden values are of them, whatever games are added behind
    them."""
    path = folder / STARTER_GAMES.name
    with tarfile.open(STARTER_GAMES, "r:xz") as archive, tarfile.open(path, "w:xz", preset=0) as first:
        for member in archive.getmembers():
            if re.fullmatch(r"gnugo-[12]-\d{5}\.sgf", member.name.rsplit("/", 1)[-1]):
                first.addfile(member, archive.extractfile(member))
    return path


def starter_games(names=None, most=None) -> dict[str, Game]:
    """Games of the bundled archive by file name, in the archive's order; at most so many."""
    games = {}
    with tarfile.open(STARTER_GAMES, "r|xz") as archive:
        for member in archive:
            name = member.name.rsplit("/", 1)[-1]
            if member.isfile() and name.endswith(".sgf") and (names is None or name in names):
                games[name] = read_sgf(archive.extractfile(member).read())
            if len(games) == most:
                break
    return games


def kgs_games(limit: int):
    """The first games of the KGS archive of 2015."""
    paths = sorted((SHARED / "data" / "kgs").glob("KGS-2015-*.tar.gz"))
    if not paths:
        pytest.skip("the KGS archive of 2015 is not next to this repository")
    games = []
    with tarfile.open(paths[0], "r|gz") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".sgf"):
                games.append(read_sgf(archive.extractfile(member).read()))
                if len(games) == limit:
                    break
    return games


def offsets(counts) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def replay(games, want_ladders=True) -> Rows:
    """Replays a list of games with the batch kernel."""
    room = [len(game.moves) + 1 for game in games]
    total, count = sum(room), len(games)
    rows = Rows(
        np.zeros((total, 2 * WORDS), np.uint64),
        np.zeros((total, WORDS), np.uint64),
        np.zeros((total, 4), np.int16),
        offsets(room)[:-1],
        np.zeros(count, np.int64),
        np.full(count, -1, np.int8),
        np.zeros(count, np.uint8),
    )
    replay_games(
        np.concatenate([game.setup for game in games]),
        offsets([len(game.setup) for game in games]),
        np.concatenate([game.moves for game in games]),
        np.concatenate([game.colours for game in games]),
        offsets([len(game.moves) for game in games]),
        rows.stones,
        rows.ladders,
        rows.moves,
        rows.row_offsets,
        rows.ends,
        rows.rows,
        rows.capped,
        want_ladders,
        make_workspace(),
    )
    return rows


def unpack_bits(words: np.ndarray) -> np.ndarray:
    """(N, 361) bool of bitboards (N, 6)."""
    words = np.ascontiguousarray(words, "<u8")
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, :POINTS].astype(bool)


def pack_bits(points: np.ndarray) -> np.ndarray:
    """Bitboards (N, 6) of (N, 361) bool."""
    padded = np.zeros((len(points), WORDS * 64), np.uint8)
    padded[:, :POINTS] = points
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
