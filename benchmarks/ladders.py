"""Replay and ladder rates in microseconds per position of one core (thread CPU time), medians of three runs.

    python -m benchmarks.ladders GAMES.tar.gz [GAMES.tar.xz ...]     (default: the bundled starter games)

The baseline of each run is the same search asked for every position anew, without the cache from move to move.
"""

import argparse
import statistics
import tarfile
import time
from pathlib import Path

import numpy as np
from sgfmill import sgf_grammar

from gonn_core.go.jit import kernel
from gonn_core.go.ladder_search import NODES, REUSED, SEARCHES, find_ladders
from gonn_core.go.layout import KO
from gonn_core.go.points import BLACK, PASS, POINTS, SIZE, TO_PADDED, WHITE, WORDS
from gonn_core.go.replay import make_workspace, replay_games
from gonn_core.go.rules import NOWHERE, set_up

STARTER = Path(__file__).parents[1] / "ablations" / "starter" / "gnugo-selfplay.tar.xz"
RUNS = 3


def _point(value: bytes) -> int:
    """Point of an SGF value; PASS for what is no point of the board."""
    col, row = (value[0] - 97, value[1] - 97) if len(value) == 2 else (SIZE, SIZE)
    return row * SIZE + col if 0 <= row < SIZE and 0 <= col < SIZE else PASS


def read_games(path: str) -> list[tuple[list[int], list[int], list[int]]]:
    """(setup codes, moves, colours) of the 19x19 games of a tar archive, first variations only."""
    games = []
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            if not (member.isfile() and member.name.endswith(".sgf")):
                continue
            try:
                file = archive.extractfile(member)
                assert file is not None  # a plain file has content
                tree = sgf_grammar.parse_sgf_game(file.read())
            except ValueError:
                continue
            root = tree.sequence[0]
            if root.get("SZ", [b"19"])[0].strip() != b"19":
                continue
            setup = [c * POINTS + _point(v) for name, c in (("AB", BLACK), ("AW", WHITE)) for v in root.get(name, [])]
            moves, colours = [], []
            while tree is not None:
                for node in tree.sequence:
                    for name, colour in (("B", BLACK), ("W", WHITE)):
                        if name in node:
                            moves.append(_point(node[name][0]))
                            colours.append(colour)
                tree = tree.children[0] if tree.children else None
            games.append((setup, moves, colours))
    return games


def _joined(games, part, dtype):
    """All games' lists of one part in one array, and their offsets."""
    lists = [game[part] for game in games]
    offsets = np.concatenate([[0], np.cumsum([len(values) for values in lists])]).astype(np.int64)
    return np.array([value for values in lists for value in values], dtype), offsets


@kernel
def _search_all(stones, kos, workspace):
    """The baseline: sets up and asks every position anew."""
    out = np.empty(WORDS, np.uint64)
    for row in range(len(stones)):
        set_up(workspace.board, workspace.undo, stones[row])
        find_ladders(workspace, stones[row], np.uint64(TO_PADDED[kos[row]]) if kos[row] >= 0 else NOWHERE, out)


def _median_seconds(job) -> float:
    seconds = []
    for _ in range(RUNS):
        start = time.thread_time()
        job()
        seconds.append(time.thread_time() - start)
    return statistics.median(seconds)


def measure(path: str) -> None:
    """Prints the table of one archive."""
    games = read_games(path)
    setup, setup_offsets = _joined(games, 0, np.int16)
    moves, move_offsets = _joined(games, 1, np.int16)
    colours, _ = _joined(games, 2, np.uint8)
    count = len(games)
    room = len(moves) + count
    stones, ladders = np.zeros((room, 2 * WORDS), np.uint64), np.zeros((room, WORDS), np.uint64)
    move_rows = np.zeros((room, 4), np.int16)
    ends, rows, capped = np.zeros(count, np.int8), np.zeros(count, np.int64), np.zeros(count, np.uint8)
    first_rows = move_offsets[:-1] + np.arange(count)

    def replay(want_ladders: bool, workspace):
        replay_games(
            setup, setup_offsets, moves, colours, move_offsets,
            stones, ladders, move_rows, first_rows, ends, rows, capped, want_ladders, workspace,
        )  # fmt: skip

    counted = make_workspace()
    replay(True, counted)  # compiles, too
    positions = int(rows.sum())
    used = np.concatenate([np.arange(first, first + n) for first, n in zip(first_rows, rows, strict=True)])
    kos = move_rows[used, KO]
    fresh = make_workspace()
    _search_all(stones[used[:2]], kos[:2], fresh)
    jobs = {
        "replay alone": lambda: replay(False, counted),
        "replay with ladders": lambda: replay(True, make_workspace()),
        "baseline: set up, search anew": lambda: _search_all(stones[used], kos, fresh),
    }
    counters = counted.counters.copy()
    print(f"{Path(path).name}: {count} games, {positions} positions")
    for name, job in jobs.items():
        seconds = _median_seconds(job)
        print(f"  {name:32s}{seconds / positions * 1e6:8.2f} us/position {positions / seconds:12,.0f} positions/s")
    per = counters / positions
    searches = f"{per[SEARCHES]:.2f} searches, {per[NODES]:.1f} nodes, {per[REUSED]:.2f} answers from the cache"
    print(f"  per position: {searches}; capped games: {capped.sum()}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=[str(STARTER)], help="tar archives of SGF files")
    for archive_path in parser.parse_args().games:
        measure(archive_path)
