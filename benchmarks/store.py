"""SGF archives -> position store with ladders: positions/s of one core (processor time), bytes a position, peak memory.

    python -m benchmarks.store ARCHIVE [ARCHIVE ...]

The baseline in the same run is what a straightforward program does with the same games: sgfmill's Sgf_game reads the
main line, sgfmill's Board plays it, and the ladders of each position are searched from nothing by our own uncached
kernel; nothing is written. It is measured on a part of the games. Positions are rows with a move to predict.
"""

import argparse
import resource
import statistics
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from sgfmill import boards, sgf

from gonn_core.errors import UserError
from gonn_core.go import layout
from gonn_core.go.ladder_search import ladder_bits
from gonn_core.go.replay import make_workspace
from gonn_core.records.archives import ArchiveReading
from gonn_core.records.archives.members import find_sources, read_members
from gonn_core.records.build import GameSource, prepare_store
from gonn_core.records.store import Store

TARGETS = "targets: >= 150,000 positions/s/core, <= 160 bytes/position, <= 512 MB"


def baseline(sources: list[Path], games: int) -> tuple[int, float]:
    """(positions, seconds of processor time) of sgfmill reading and replaying the first `games` games."""
    members = list(islice((member for path in sources for member in read_members(path, ArchiveReading())), games))
    positions, started = 0, time.process_time()
    for member in members:
        game = sgf.Sgf_game.from_bytes(member.data)
        board = boards.Board(game.get_size())
        board.apply_setup(*game.get_root().get_setup_stones())
        for node in game.get_main_sequence():
            colour, move = node.get_move()
            if move is None:
                continue
            try:
                board.play(*move, colour)
            except ValueError:
                break
            positions += 1
    return positions, time.process_time() - started


def fresh_ladders(store: Store, rows: int) -> float:
    """Seconds of processor time for a position's ladders without the cache, over `rows` rows spread over the store."""
    workspace = make_workspace()
    chosen = range(0, len(store), max(1, len(store) // rows))
    positions = [(store.stones[row], int(store.moves[row, layout.KO])) for row in chosen]
    ladder_bits(*positions[0], workspace)
    started = time.process_time()
    for stones, ko in positions:
        ladder_bits(stones, ko, workspace)
    return (time.process_time() - started) / len(positions)


def build(sources: list[Path], folder: Path) -> tuple[Store, float, float]:
    """(store, seconds of processor time, seconds) of one build from nothing."""
    started, cpu_started = time.monotonic(), time.process_time()
    store = prepare_store([GameSource(path) for path in sources], folder)
    return store, time.process_time() - cpu_started, time.monotonic() - started


def main(arguments: list[str]) -> int:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("archive", nargs="+")
    parser.add_argument("--runs", type=int, default=3, help="builds; the median is printed (default 3)")
    parser.add_argument("--baseline-games", type=int, default=300)
    options = parser.parse_args(arguments)
    try:
        sources = [path for where in options.archive for path in find_sources(where)]
        with tempfile.TemporaryDirectory() as folder:
            # Compile outside the measurement, with one small game.
            warm = Path(folder) / "warm.sgf"
            warm.write_bytes(b"(;SZ[19]PB[]PW[];B[dd];W[pp])")
            prepare_store([GameSource(warm)], Path(folder) / "warm")
            runs = [build(sources, Path(folder) / str(run)) for run in range(options.runs)]
            store = runs[0][0]
            positions, size = store.report.positions, store.bytes
            ladder_seconds = fresh_ladders(store, options.baseline_games * 100)
    except UserError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    slow_positions, slow_seconds = baseline(sources, options.baseline_games)
    replay_rate, slow_rate = slow_positions / slow_seconds, 1 / (slow_seconds / slow_positions + ladder_seconds)
    cpu, wall = statistics.median(run[1] for run in runs), statistics.median(run[2] for run in runs)
    print(f"{', '.join(path.name for path in sources)}: {positions:,} positions, median of {options.runs} builds")
    print(f"{'':52}{'positions/s/core':>18}{'bytes/position':>16}{'peak memory':>14}")
    store_line = f"{positions / cpu:18,.0f}{size / positions:16.1f}{peak / 1e6:11.0f} MB"
    print(f"{'store with ladder bits (checksum to rename)':52}{store_line}")
    print(f"{'baseline: sgfmill reads and plays, uncached ladders':52}{slow_rate:18,.0f}{'-':>16}{'-':>14}")
    print(f"{'  of it sgfmill alone, without ladders':52}{replay_rate:18,.0f}{'-':>16}{'-':>14}")
    print(f"{positions / cpu / slow_rate:.1f} x the baseline; {wall:.1f} s by the clock; {TARGETS}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
