"""Analysis as controllers ask for it: Sabaki's `analyze`, Leela Zero's `lz-` and KataGo's `kata-` commands.

Sources: Sabaki, "Engine Analysis Integration"; KataGo, "GTP Extensions", which describes Leela Zero's commands too.
GoGui's analyze commands draw pictures of what the net thinks (its manual, "Analyze Commands", type gfx).

What differs here: a policy net knows no win rate and makes no visits, while readers of these lines demand both. So
`winrate` is one half for every move of every position, `visits` is the move's probability in thousandths, and `prior`
is its probability (ours); scores and ownership are left out. The line would never change, so it is sent once.
"""

from collections.abc import Iterable

import numpy as np

from gonn_core.go.points import BLACK, PASS, POINTS, point_name
from gonn_core.play.gtp.protocol import COLOURS, GtpError, Held, colour, number, vertex, whole
from gonn_core.play.gtp.session import GtpSession, move_name

LISTED = 0.001
"""Probability from which a move is listed or coloured; there are 361 points."""
FORMS = {
    "": "move {name} visits {visits} winrate 0.5000 prior {share:.4f} order {order} pv {name}",
    "lz-": "move {name} visits {visits} winrate 5000 prior {ten_thousandths:.0f} lcb 5000 order {order} pv {name}",
    "kata-": "move {name} visits {visits} winrate 0.5 prior {share:.6f} lcb 0.5 order {order} pv {name}",
}
"""Prefix of the command -> the text after `info`. Leela Zero's numbers are whole ones, in ten-thousandths."""
_IN_WORDS = 10  # moves in a line of text
_LABELLED = 0.01  # probability from which a point gets its percentage
_SHADES = 16
_PALE, _STRONG = np.array([255, 240, 200]), np.array([220, 20, 20])  # red, green, blue


def analyze(form: str, session: GtpSession, *words: str) -> Held:
    """The answer to an analysis command with these arguments."""
    return Held("\n" + _infos(session, form, words)[1])


def genmove_analyze(form: str, session: GtpSession, *words: str) -> str:
    """The analysis before a generated move, and the move."""
    mover, infos = _infos(session, form, words)
    return f"\n{infos}\nplay {move_name(session.move(mover))}"


def _infos(session: GtpSession, form: str, words: Iterable[str]) -> tuple[int, str]:
    mover, least, most, barred = parse_analysis(words, session.game.to_move)
    listed = session.game.legal_points(mover)
    listed[list(barred - {PASS})] = False
    return mover, variations(np.where(listed, session.policy(mover), -1.0), form, least, most)


def parse_analysis(words: Iterable[str], to_move: int) -> tuple[int, int, int, set[int]]:
    """Whose moves, how many at least and at most, and which points to leave out.

    `[COLOR] [INTERVAL]` and pairs: `interval`, `minmoves`, `maxmoves`, `avoid` and `allow` COLOR VERTEX[,VERTEX…]
    MOVES; KataGo's switches are taken and have no effect, as the interval. Raises GtpError.
    """
    left = list(words)
    mover = colour(left.pop(0)) if left and left[0].lower() in COLOURS else to_move
    if left and left[0][:1].isdigit():
        number(left.pop(0))
    counts: dict[str, int] = {"minmoves": 0, "maxmoves": POINTS}
    points: dict[str, set[int]] = {"avoid": set(), "allow": set()}
    while left:
        name = left.pop(0)
        try:
            if name in points:
                side, named, _ = colour(left.pop(0)), {vertex(v) for v in left.pop(0).split(",")}, whole(left.pop(0))
                points[name] |= named if side == mover else set()
            elif name in counts:
                counts[name] = whole(left.pop(0))
            elif name == "interval":
                number(left.pop(0))
            elif left.pop(0).lower() not in ("true", "false"):
                raise GtpError("syntax error")
        except IndexError:
            raise GtpError("syntax error") from None
    others = set(range(POINTS)) - points["allow"] if points["allow"] else set()
    return mover, counts["minmoves"], counts["maxmoves"], points["avoid"] | others


def variations(probabilities: np.ndarray, form: str, least: int = 0, most: int = POINTS) -> str:
    """The analysis line for probabilities (361,), negative where a move is not to be listed; likeliest moves first, at
    least `least` of them."""
    order = np.argsort(-probabilities, kind="stable")
    count = max(int((probabilities >= LISTED).sum()), min(least, int((probabilities >= 0).sum())))
    moves = [(point_name(p), float(probabilities[p])) for p in order[: min(count, most)].tolist()]
    return " ".join(
        "info "
        + form.format(
            name=name, visits=max(1, round(1000 * share)), share=share, ten_thousandths=10_000 * share, order=place
        )
        for place, (name, share) in enumerate(moves or [(point_name(PASS), 0.0)])
    )


def heat_map(probabilities: np.ndarray, mover: int) -> str:
    """GoGui's drawing commands for probabilities (361,): shaded fields, percentages, the likeliest moves in words.

    The shade goes with the square root, so that second thoughts are seen; the scale is the same in all positions.
    """
    shades: dict[int, list[str]] = {}
    for p in np.flatnonzero(probabilities >= LISTED).tolist():
        shades.setdefault(int(np.sqrt(probabilities[p]) * (_SHADES - 1) + 0.5), []).append(point_name(p))
    lines = []
    for shade, points in sorted(shades.items()):
        red, green, blue = (_PALE + (_STRONG - _PALE) * shade // (_SHADES - 1)).tolist()
        lines.append(f"COLOR #{red:02x}{green:02x}{blue:02x} {' '.join(points)}")
    labels = [
        f"{point_name(p)} {100 * probabilities[p]:.0f}" for p in np.flatnonzero(probabilities >= _LABELLED).tolist()
    ]
    if labels:
        lines.append("LABEL " + " ".join(labels))
    best = np.argsort(-probabilities, kind="stable")[:_IN_WORDS]
    text = " ".join(f"{point_name(p)} {100 * probabilities[p]:.1f}%" for p in best.tolist())
    return "\n".join([*lines, f"TEXT {'Black' if mover == BLACK else 'White'}: {text}"])
