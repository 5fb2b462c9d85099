"""A GTP engine in this process, for tests: a player that needs no net, sessions on it, streams in place of pipes."""

import io
import sys

import numpy as np

from gonn_core.go.points import PASS, POINTS, point
from gonn_core.play.gtp.commands import command_table
from gonn_core.play.gtp.protocol import serve
from gonn_core.play.gtp.session import GtpSession
from gonn_core.play.net_player import MoveChoice


class FixedPlayer:
    """Has the same policy everywhere: plays the candidate with the highest probability, and sees whom it plays for."""

    def __init__(self, favourites=("Q16", "D4", "Q4", "D16"), passing="no_candidates"):
        self.choice = MoveChoice(passing=passing)
        self.policy = np.full(POINTS, 0.1 / POINTS)
        for rank, name in enumerate(favourites):
            self.policy[point(name)] += 0.9 * 2.0 ** -(rank + 1)
        self.asked = []

    def policies(self, games):
        return np.tile(self.policy / self.policy.sum(), (len(games), 1))

    def moves(self, games, draws):
        self.asked.extend((game.to_move, float(draw)) for game, draw in zip(games, draws, strict=True))
        candidates = [game.candidates() for game in games]
        return [int(np.where(points, self.policy, -1).argmax()) if points.any() else PASS for points in candidates]


def session(player=None, seed=1, guard=None) -> GtpSession:
    """A session of a player, by default a `FixedPlayer`."""
    return GtpSession(player or FixedPlayer(), seed, guard, "gonn", "test")


def probabilities(**shares):
    """(361,) with these at named points and the rest spread thinly."""
    out = np.full(POINTS, (1 - sum(shares.values())) / POINTS)
    for name, share in shares.items():
        out[point(name)] = share
    return out


def send(lines, at: GtpSession | None = None) -> list[str]:
    """The answers of an engine to lines of commands, each without the empty line at its end; the engine ends with
    them."""
    data = (
        lines if isinstance(lines, bytes) else ("\n".join([lines] if isinstance(lines, str) else lines) + "\n").encode()
    )
    answers = io.BytesIO()
    serve(io.BytesIO(data), answers, command_table(at or session()))
    text = answers.getvalue().decode("ascii")
    assert text == "" or text.endswith("\n\n")
    return text.split("\n\n")[:-1]


if __name__ == "__main__":  # an engine on pipes
    serve(sys.stdin.buffer, sys.stdout.buffer, command_table(session()))
