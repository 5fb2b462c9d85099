"""Games gathered, replayed together by the kernel, and appended to the arrays of a store under construction."""

import logging
from pathlib import Path

import numpy as np

from gonn_core.files.arrays import GrowingArray
from gonn_core.go import layout
from gonn_core.go.jit import is_compiled
from gonn_core.go.replay import make_workspace, replay_games
from gonn_core.records.sgf import GameRecord
from gonn_core.records.store import ARRAYS, BuildReport

ROWS_PER_BATCH = 1 << 15
_MAX_NAME = 1000


def compile_kernels() -> None:
    """Compile the replay kernel, or load it: before the clock of a build starts. Logs a line when that takes a
    while."""
    if not is_compiled(replay_games):
        logging.getLogger("gonn_core").info("compiling the kernels of the rules, once (about 20 seconds) …")
    nothing, offsets = np.empty(0, np.int16), np.zeros(1, np.int64)
    replay_games(
        nothing, offsets, nothing, np.empty(0, np.uint8), offsets,
        np.empty((0, 12), np.uint64), np.empty((0, 6), np.uint64), np.empty((0, 4), np.int16), np.empty(0, np.int64),
        np.empty(0, np.int8), np.empty(0, np.int64), np.empty(0, np.uint8), True, make_workspace(),
    )  # fmt: skip


class StoreWriter:
    """Appends games to the arrays in `folder`; memory is bounded by ROWS_PER_BATCH rows whatever the number of
    games."""

    def __init__(self, folder: Path, report: BuildReport):
        self._report = report
        self._workspace = make_workspace()
        self._games: list[tuple[str, int, GameRecord]] = []
        self._pending_rows = 0
        self._files: dict[str, GrowingArray] = {}
        for name, (dtype, row_shape) in ARRAYS.items():
            self._files[name] = GrowingArray(folder / name, dtype, row_shape)

    def add(self, name: str, source: int, game: GameRecord) -> None:
        """Take one game; rows are written when enough have gathered."""
        self._games.append((name, source, game))
        self._pending_rows += len(game.moves) + 1
        if self._pending_rows >= ROWS_PER_BATCH:
            self.flush()

    def flush(self) -> None:
        """Replay and write the games gathered so far."""
        if self._games:
            self._write(self._games)
        self._games, self._pending_rows = [], 0

    def close(self) -> dict[str, dict]:
        """Flush everything to the disk; the manifest's `arrays`."""
        self.flush()
        return {name: file.close() for name, file in self._files.items()}

    def abandon(self) -> None:
        """Close the files as they are."""
        for file in self._files.values():
            file.abandon()

    def _write(self, games) -> None:
        records = [game for _, _, game in games]
        move_offsets = _offsets([len(game.moves) for game in records])
        setup_offsets = _offsets([len(game.setup) for game in records])
        setup = np.array([code for game in records for code in game.setup], np.int16)
        row_offsets = move_offsets[:-1] + np.arange(len(games))
        room = int(move_offsets[-1]) + len(games)
        stones, ladders = np.empty((room, 12), np.uint64), np.zeros((room, 6), np.uint64)
        moves = np.empty((room, 4), np.int16)
        ends, rows = np.empty(len(games), np.int8), np.empty(len(games), np.int64)
        capped = np.empty(len(games), np.uint8)
        recorded_moves = np.concatenate([game.moves for game in records])
        recorded_colours = np.concatenate([game.colours for game in records])
        replay_games(
            setup, setup_offsets, recorded_moves, recorded_colours, move_offsets,
            stones, ladders, moves, row_offsets, ends, rows, capped, True, self._workspace,
        )  # fmt: skip
        if rows.sum() < room:  # games that were cut leave gaps
            rooms = np.diff(move_offsets) + 1
            written = np.arange(room) - np.repeat(row_offsets, rooms) < np.repeat(rows, rooms)
            stones, ladders, moves = stones[written], ladders[written], moves[written]

        table, names = self._table(games, rows, ends, capped)
        first_game = self._files["games.npy"].rows
        contents: dict[str, np.ndarray] = {
            "stones.npy": stones,
            "ladders.npy": ladders,
            "moves.npy": moves,
            "game.npy": np.repeat(np.arange(first_game, first_game + len(games), dtype=np.int32), rows),
            "games.npy": table,
            "setup.npy": setup,
            "names.bin": np.frombuffer(names, np.uint8),
        }
        for name, array in contents.items():
            self._files[name].append(array)
        self._count(games, ends, capped, moves)

    def _table(self, games, rows, ends, capped) -> tuple[np.ndarray, bytes]:
        """Rows of games.npy, and the bytes of the names that they point to."""
        table = np.zeros(len(games), layout.GAME)
        names = []
        first_row, setup_first, name_first = (
            self._files[name].rows for name in ("stones.npy", "setup.npy", "names.bin")
        )
        for i, (name, source, game) in enumerate(games):
            encoded = stored_name(name)
            names.append(encoded)
            flags = game.flags | (layout.GAME_LADDER_CAPPED if capped[i] else 0)
            table[i] = (
                first_row, setup_first, name_first, game.canonical,
                rows[i], len(game.moves), len(game.setup), len(encoded), game.komi, game.margin,
                source, game.year, game.black_rank, game.white_rank, game.handicap,
                game.winner, game.result, ends[i], flags,
            )  # fmt: skip
            first_row += rows[i]
            setup_first += len(game.setup)
            name_first += len(encoded)
        return table, b"".join(names)

    def _count(self, games, ends, capped, moves) -> None:
        report = self._report
        for (name, _, _), end, cap in zip(games, ends, capped, strict=True):
            if end == layout.ILLEGAL_MOVE:
                report.cut_by_illegal_move.add(name)
            elif end == layout.SAME_PLAYER:
                report.cut_by_second_move.add(name)
            if cap:
                report.ladders_capped.add(name)
        report.rows += len(moves)
        report.positions += int(
            ((moves[:, layout.MOVE] >= 0) & (moves[:, layout.FLAGS] & layout.HANDICAP_MOVE == 0)).sum()
        )


def numbered_name(name: str, number: int) -> str:
    """What the game of that number (from 1) in the file `name` is called."""
    return name if number == 1 else f"{name}#{number}"


def stored_name(name: str) -> bytes:
    """A game's name as it stands in names.bin."""
    return name.encode("utf-8", "backslashreplace")[:_MAX_NAME]


def _offsets(lengths: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
