"""The documents' test positions with what the published nets said there (spec: GoNN 7), read from published.json.

A right move stands there only where the text names one (make two eyes at S19, an eye at O19, answer at C4), a wrong one
where the text calls it so (running from a ladder, the answer to a slow move). A board that several pictures share is
one case; each picture keeps its figures.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gonn_core.evaluation.probes.cases import Case, stones_of
from gonn_core.evaluation.probes.drawing import parse
from gonn_core.features.positions import Position
from gonn_core.go.points import BLACK, WHITE, point

GROUP = "published"
_FILE = Path(__file__).with_name("published.json")


@dataclass(frozen=True)
class PublishedPosition:
    """A test position: its case, what it shows, and picture -> point -> probability for the pictures that show a
    policy."""

    case: Case
    what: str
    pictures: dict[str, dict[int, float]]


@cache
def published() -> tuple[PublishedPosition, ...]:
    """All test positions, in the order of the document."""
    positions = []
    for tree in json.loads(_FILE.read_text(encoding="utf-8")):
        mover = {"black": BLACK, "white": WHITE}[tree["to_play"]]
        ko = point(tree["ko"]) if "ko" in tree else -1
        history = (point(tree["last_move"]),) if tree.get("history", True) else ()
        position = Position(stones_of(parse(tree["board"])), mover, ko, history)
        right, wrong = (tuple(point(name) for name in tree.get(key, ())) for key in ("right", "wrong"))
        pictures = {
            name: {point(move): percent / 100 for move, percent in moves.items()}
            for name, moves in tree["pictures"].items()
        }
        # A move named as wrong is shown; right ones are set against all others, so that one case says no more than its
        # picture.
        case = Case(tree["name"], GROUP, position, right, wrong if not right else ())
        positions.append(PublishedPosition(case, tree["what"], pictures))
    return tuple(positions)


@cache
def picture_cases() -> dict[str, str]:
    """Name of a picture -> name of the case that has its board."""
    return {picture: each.case.name for each in published() for picture in (each.case.name, *each.pictures)}
