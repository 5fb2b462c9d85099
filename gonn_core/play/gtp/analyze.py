"""Pictures of what the net thinks: analyze commands of GoGui, as its manual has them ("Analyze Commands": types gfx and
bwboard)."""

import numpy as np

from gonn_core.go.points import BLACK, SIZE, WHITE, point_name
from gonn_core.play.gtp.parsing import colour
from gonn_core.play.gtp.server import Verb
from gonn_core.play.gtp.session import GtpSession
from gonn_core.play.scoring import pass_alive

_LISTED = 10  # moves in a line of text
_LABELLED = 0.01
_COLOURED = 0.001
"""Probabilities from which a point gets its percentage and a colour; there are 361 points."""
_SHADES = 16
_PALE, _STRONG = np.array([255, 240, 200]), np.array([220, 20, 20])  # red, green, blue

GOGUI = (
    "gfx/Policy/gonn-policy %m",
    "gfx/Policy of a color/gonn-policy %c",
    "bwboard/Unconditionally alive/gonn-pass_alive",
)
"""What `gogui-analyze_commands` lists: type/label/command."""


def analyze_commands(session: GtpSession) -> dict[str, Verb]:
    """The commands `gogui-analyze_commands`, `gonn-policy` and `gonn-pass_alive`."""

    def policy(*color: str) -> str:
        mover = colour(color[0]) if color else session.game.to_move
        return heat_map(session.policy(mover), mover)

    return {
        "gogui-analyze_commands": Verb("", lambda: "\n".join(GOGUI)),
        "gonn-policy": Verb("[COLOR]", policy),
        "gonn-pass_alive": Verb("", lambda: alive_board(session.game.stones())),
    }


def heat_map(probabilities: np.ndarray, mover: int) -> str:
    """GoGui's drawing commands for probabilities (361,): shaded fields, percentages, the likeliest moves in words.

    The shade goes with the square root, so that second thoughts are seen; the scale is the same in all positions.
    """
    shades: dict[int, list[str]] = {}
    for p in np.flatnonzero(probabilities >= _COLOURED):
        shades.setdefault(int(np.sqrt(probabilities[p]) * (_SHADES - 1) + 0.5), []).append(point_name(int(p)))
    lines = [f"COLOR {_colour(shade)} {' '.join(points)}" for shade, points in sorted(shades.items())]
    labels = [f"{point_name(int(p))} {100 * probabilities[p]:.0f}" for p in np.flatnonzero(probabilities >= _LABELLED)]
    if labels:
        lines.append("LABEL " + " ".join(labels))
    best = np.argsort(-probabilities, kind="stable")[:_LISTED]
    text = " ".join(f"{point_name(int(p))} {100 * probabilities[p]:.1f}%" for p in best)
    return "\n".join([*lines, f"TEXT {'Black' if mover == BLACK else 'White'}: {text}"])


def alive_board(stones: np.ndarray) -> str:
    """A board of `b` and `w` on the points of unconditionally alive chains and of their regions, `""` elsewhere."""
    owned = pass_alive(stones)
    marks = np.select([owned[BLACK], owned[WHITE]], ["b", "w"], '""')
    return "\n".join(" ".join(row) for row in marks.reshape(SIZE, SIZE))


def _colour(shade: int) -> str:
    red, green, blue = (_PALE + (_STRONG - _PALE) * shade // (_SHADES - 1)).tolist()
    return f"#{red:02x}{green:02x}{blue:02x}"
