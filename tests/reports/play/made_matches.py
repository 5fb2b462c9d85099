"""Match directories with made-up games, for tests."""

import json
from pathlib import Path

from gonn_core.play.match.record import describe_match
from gonn_core.play.rules import RULES, RuleSet

ENGINE = {"kind": "engine", "command": ["gnugo", "--mode", "gtp", "--level", "1"], "name": "GNU Go", "version": "3.8"}


def net(trial: str, samples: int = 100_000, **choice) -> dict:
    """Identity of a net as a player."""
    usual = {"kind": "biased", "history": "full", "symmetries": 1, "passing": "pass_alive"}
    return {
        "kind": "net",
        "trial": trial,
        "samples": samples,
        "weights": f"{samples:08x}{trial[:8]}",
        "choice": {**usual, **choice},
    }


def game(number: int, black: str, winner: str | None, result: str = "B+1.5", end: str = "passes") -> dict:
    """A line of games.jsonl."""
    return {
        "game": number,
        "black": black,
        "winner": winner,
        "result": result,
        "end": end,
        "moves": 200,
        "unsettled": [],
    }


def won(a: int, b: int, start: int = 0) -> list[dict]:
    """Lines of a + b games of which A wins the first a; colours alternate."""
    return [game(start + number, "AB"[number % 2], "A" if number < a else "B") for number in range(a + b)]


def write_match(folder: Path, a: dict, b: dict, lines: list[dict], seed: int = 1, rules: RuleSet = "chinese") -> Path:
    """Write a match below `folder`; its directory."""
    tree = describe_match(a, b, RULES[rules], {"kind": "empty"}, seed)
    path = folder / tree["id"]
    path.mkdir(parents=True)
    (path / "match.json").write_text(json.dumps(tree))
    (path / "games.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path
