"""Pictures of what the net thinks: analyze commands of GoGui, and the analysis of Sabaki.

The output follows GoGui's manual ("Analyze Commands": types gfx and bwboard) and Sabaki's "Engine Analysis
Integration".
"""

import numpy as np

from gonn_core.go.points import BLACK, PASS, SIZE, WHITE, point_name
from gonn_core.play.gtp.parsing import colour, number
from gonn_core.play.gtp.server import Held, Verb
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
    """The commands `gogui-analyze_commands`, `gonn-policy`, `gonn-pass_alive` and `analyze`."""

    def policy(*color: str) -> str:
        mover = colour(color[0]) if color else session.game.to_move
        return heat_map(session.policy(mover), mover)

    def analyze(color: str, *interval: str) -> str:
        mover = colour(color)
        for value in interval:
            number(value)
        probabilities = session.policy(mover)
        return Held("\n" + variations(np.where(session.game.legal_points(mover), probabilities, 0)))

    return {
        "gogui-analyze_commands": Verb("", lambda: "\n".join(GOGUI)),
        "gonn-policy": Verb("[COLOR]", policy),
        "gonn-pass_alive": Verb("", lambda: alive_board(session.game.stones())),
        "analyze": Verb("COLOR [INTERVAL]", analyze),
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


def variations(probabilities: np.ndarray) -> str:
    """Sabaki's analysis line for probabilities (361,), 0 where a move is illegal; likeliest moves first.

    A policy net has no win rate: `winrate` and `visits` (in thousandths), which Sabaki demands, both carry the
    probability (ours).
    """
    best = [int(p) for p in np.argsort(-probabilities, kind="stable") if probabilities[p] >= _COLOURED] or [PASS]
    parts = []
    for order, p in enumerate(best):
        share, name = (probabilities[p] if p != PASS else 0.0), point_name(p)
        parts.append(
            f"info move {name} visits {1000 * share:.0f} winrate {share:.4f} prior {share:.4f} order {order} pv {name}"
        )
    return " ".join(parts)


def alive_board(stones: np.ndarray) -> str:
    """A board of `b` and `w` on the points of unconditionally alive chains and of their regions, `""` elsewhere."""
    owned = pass_alive(stones)
    marks = np.select([owned[BLACK], owned[WHITE]], ["b", "w"], '""')
    return "\n".join(" ".join(row) for row in marks.reshape(SIZE, SIZE))


def _colour(shade: int) -> str:
    red, green, blue = (_PALE + (_STRONG - _PALE) * shade // (_SHADES - 1)).tolist()
    return f"#{red:02x}{green:02x}{blue:02x}"
