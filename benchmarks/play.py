"""Games of net against net: how many a core plays in a second, and against the usual way of one engine process per
player.

    python -m benchmarks.play TRIAL TRIAL [--games 128] [--engine-games 2] [--rounds 3] [--processes 2]

TRIAL is the directory of a trained trial, with what a player may have behind it (`runs/8629…,choice=argmax`). Prints
one table, medians of the rounds, in which the methods take turns. Per second of CPU time, of all processes that take
part, their start not counted; the last row is per second of wall time and means something on idle cores alone.

Baseline: two `gonn gtp` processes, asked for a move in turn through GTP, one forward pass for one position at a time,
as engines play each other under a referee. It has the same nets, the same choice of moves and the same compiled
kernels; it lacks what is measured, the batch.
"""

import argparse
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import NamedTuple

from gonn_core.go.points import BLACK, PASS, WHITE, point, point_name
from gonn_core.play.engines.client import GtpClient
from gonn_core.play.game import Game
from gonn_core.play.match.games import MatchTerms, Seat, play_games
from gonn_core.play.match.players import Entrant, NetSpec, load_player, parse_player
from gonn_core.play.match.playing import play_match
from gonn_core.play.match.record import SIDES, Side, describe_match, open_match
from gonn_core.play.rules import MOST_MOVES, Openings, Rules
from gonn_core.training.environment import reset_torch

NAMES = {"A": "A", "B": "B"}


class Played(NamedTuple):
    """What one round of one method did."""

    games: int
    moves: int
    seconds: float

    @property
    def rate(self) -> float:
        """Games a second."""
        return self.games / self.seconds


def batched(seats: Mapping[Side, Seat], games: int, seed: int) -> Played:
    """Games side by side in this process."""
    began = time.process_time()
    lines = [line for line, _ in play_games(seats, range(games), MatchTerms(Rules(), Openings(), seed, NAMES))]
    return Played(games, sum(line.moves for line in lines), time.process_time() - began)


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def by_engines(texts: Mapping[str, str], games: int, seed: int) -> Played:
    """Games between two engine processes; with no game, what their start costs."""
    before, began, moves = _children_seconds(), time.process_time(), 0
    engines = {side: GtpClient(_engine(text, seed), 600) for side, text in texts.items()}
    try:
        for engine in engines.values():
            engine.ask("protocol_version")
            engine.ask("reg_genmove black")  # kernels are loaded, torch is warm
        for number in range(games):
            moves += _engine_game(engines["AB"[number % 2]], engines["BA"[number % 2]])
    finally:
        for engine in engines.values():
            engine.close()
    return Played(games, moves, _children_seconds() - before + time.process_time() - began)


def _engine(text: str, seed: int) -> list[str]:
    model, *options = text.split(",")
    named = [word for option in options for word in (f"--{option.partition('=')[0]}", option.partition("=")[2])]
    return [sys.executable, "-m", "orchestration.cli", "gtp", "--model", model, "--seed", str(seed), *named]


def _engine_game(black: GtpClient, white: GtpClient) -> int:
    game = Game()
    for engine in (black, white):
        for command in ("clear_board", f"komi {game.komi:g}"):
            engine.ask(command)
    while not game.over and len(game) < MOST_MOVES:
        mover, other, colour = (black, white, "black") if game.to_move == BLACK else (white, black, "white")
        answer = mover.ask(f"genmove {colour}").lower()
        move = PASS if answer == "pass" else point(answer)
        game.play(move, BLACK if colour == "black" else WHITE)
        other.ask(f"play {colour} {point_name(move)}")
    return len(game)


def in_processes(entrants: Mapping[Side, Entrant], games: int, seed: int, processes: int) -> Played:
    """A match as `gonn match` plays it, games on disk and processes started, by the wall clock."""
    with tempfile.TemporaryDirectory() as folder:
        match = describe_match(entrants["A"].identity, entrants["B"].identity, Rules(), Openings().model_dump(), seed)
        began = time.perf_counter()
        lines = list(play_match(open_match(folder, match), entrants, NAMES, games, processes, lambda: False))
        return Played(games, sum(line.moves for line in lines), time.perf_counter() - began)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", nargs=2, metavar="TRIAL")
    for name, value in (("games", 128), ("engine-games", 2), ("rounds", 3), ("processes", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args()
    reset_torch(1)
    texts = dict(zip(SIDES, options.players, strict=True))
    specs: dict[Side, NetSpec] = {}
    for side in SIDES:
        text = texts[side]
        spec = parse_player(text)
        if not isinstance(spec, NetSpec):
            parser.error(f"{text}: an engine; this measures nets")
        specs[side] = spec
    seats = {side: Seat(load_player(spec)[0]) for side, spec in specs.items()}
    entrants = {side: Entrant(spec, 1.0, Rules()) for side, spec in specs.items()}
    list(play_games(seats, [0], MatchTerms(Rules(most_moves=2), Openings(), 0, NAMES)))  # kernels are loaded
    rounds: dict[str, list[Played]] = {}
    for seed in range(options.rounds):
        rounds.setdefault("batched, one core", []).append(batched(seats, options.games, seed))
        start = by_engines(texts, 0, seed).seconds
        played = by_engines(texts, options.engine_games, seed)
        rounds.setdefault("one process per engine", []).append(played._replace(seconds=played.seconds - start))
        if options.processes:
            name = f"a match, {options.processes} processes, wall"
            rounds.setdefault(name, []).append(in_processes(entrants, options.games, seed, options.processes))
    base = statistics.median(each.rate for each in rounds["one process per engine"])
    print(f"{'method':28} {'games':>6} {'moves/game':>11} {'ms/move':>8} {'games/s':>8} {'ratio':>6}")
    for name, played_rounds in rounds.items():
        games, moves = (sum(getattr(each, count) for each in played_rounds) for count in ("games", "moves"))
        rate = statistics.median(each.rate for each in played_rounds)
        move = statistics.median(1000 * each.seconds / each.moves for each in played_rounds)
        print(f"{name:28} {games:6} {moves / games:11.0f} {move:8.2f} {rate:8.2f} {rate / base:6.1f}")


if __name__ == "__main__":
    main()
