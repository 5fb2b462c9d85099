"""Analysis as controllers ask for it: Sabaki's `analyze`, Leela Zero's `lz-` and KataGo's `kata-` commands.

Sources: Sabaki, "Engine Analysis Integration"; KataGo, "GTP Extensions", which describes Leela Zero's commands too.
GoGui's analyze commands draw pictures of what the net thinks (its manual, "Analyze Commands": types gfx and bwboard).

What differs here: a policy net knows no win rate and makes no visits, while readers of these lines demand both. So
`winrate` is one half for every move of every position, `visits` is the move's probability in thousandths, and `prior`
is its probability (ours); scores and ownership are left out.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np

from gonn_core.go.points import BLACK, PASS, POINTS, SIZE, WHITE, point_name
from gonn_core.play.gtp.protocol import GtpError, Held, Verb, colour, number, vertex, whole
from gonn_core.play.gtp.session import GtpSession, move_name
from gonn_core.play.scoring import pass_alive

LISTED = 0.001
"""Probability from which a move is listed; there are 361 points."""
_FASTEST = 0.1
"""Seconds between two lines at least (ours): they never differ."""
_COLOURS = ("b", "black", "w", "white")
_SWITCHES = ("true", "false")
_SYMMETRIES = 8
_IN_WORDS = 10  # moves in a line of text
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


@dataclass
class Asked:
    """What an analysis command asks for: whose moves, seconds between lines (None: one line), how many moves to list,
    and which points to leave out."""

    colour: int
    seconds: float | None = None
    least: int = 0
    most: int = POINTS
    barred: set[int] = field(default_factory=set)


Info = Callable[[str, float, int], str]
"""(name of a move, its probability, its place in the list) -> the text behind `info`."""


def sabaki_info(name: str, share: float, order: int) -> str:
    """Sabaki's fields: shares of one, a win rate with a point in it."""
    return f"move {name} visits {_visits(share)} winrate 0.5000 prior {share:.4f} order {order} pv {name}"


def leela_info(name: str, share: float, order: int) -> str:
    """Leela Zero's: ten-thousandths, all of them whole numbers."""
    return (
        f"move {name} visits {_visits(share)} winrate 5000 prior {10_000 * share:.0f} lcb 5000 order {order} pv {name}"
    )


def kata_info(name: str, share: float, order: int) -> str:
    """KataGo's, without what only a net that judges positions can say: utilities and scores."""
    return f"move {name} visits {_visits(share)} winrate 0.5 prior {share:.6f} lcb 0.5 order {order} pv {name}"


def analysis_commands(session: GtpSession) -> dict[str, Verb]:
    """The commands `analyze`, `genmove_analyze`, the same with `lz-` and `kata-` before them, and `kata-raw-nn`."""
    table = {}
    for prefix, info in (("", sabaki_info), ("lz-", leela_info), ("kata-", kata_info)):
        table[f"{prefix}analyze"] = Verb("[COLOR] [INTERVAL] [NAME VALUE]…", _analyze(session, info))
        table[f"{prefix}genmove_analyze"] = Verb("[COLOR] [INTERVAL] [NAME VALUE]…", _generate(session, info))
    return {**table, "kata-raw-nn": Verb("SYMMETRY", lambda symmetry: raw_nets(session, symmetry))}


def _analyze(session: GtpSession, info: Info) -> Callable[..., str]:
    def analyze(*words: str) -> str:
        asked = parse_asked(words, session.game.to_move)
        return Held("\n" + _infos(session, asked, info), asked.seconds)

    return analyze


def _generate(session: GtpSession, info: Info) -> Callable[..., str]:
    def genmove_analyze(*words: str) -> str:
        asked = parse_asked(words, session.game.to_move)
        infos = _infos(session, asked, info)
        return f"\n{infos}\nplay {move_name(session.move(asked.colour))}"

    return genmove_analyze


def parse_asked(words: Iterable[str], to_move: int) -> Asked:
    """`[COLOR] [INTERVAL]` and pairs: `interval` (hundredths of a second), `minmoves`, `maxmoves`, `avoid` and `allow`
    COLOR VERTEX[,VERTEX…] MOVES; KataGo's switches are taken and have no effect. Raises GtpError."""
    left = list(words)
    asked = Asked(colour(left.pop(0)) if left and left[0].lower() in _COLOURS else to_move)
    if left and left[0][:1].isdigit():
        asked.seconds = _seconds(left.pop(0))
    allowed: set[int] = set()
    while left:
        name, *values = left
        if name in ("avoid", "allow") and len(values) >= 3:
            for_whom, points, _ = colour(values[0]), {vertex(each) for each in values[1].split(",")}, whole(values[2])
            if for_whom == asked.colour:
                (allowed if name == "allow" else asked.barred).update(points)
            left = values[3:]
            continue
        if not values:
            raise GtpError("syntax error")
        if name == "interval":
            asked.seconds = _seconds(values[0])
        elif name == "minmoves":
            asked.least = whole(values[0])
        elif name == "maxmoves":
            asked.most = whole(values[0])
        elif values[0].lower() not in _SWITCHES:
            raise GtpError("syntax error")
        left = values[1:]
    if allowed:
        asked.barred |= set(range(POINTS)) - allowed
    return asked


def variations(probabilities: np.ndarray, info: Info, least: int = 0, most: int = POINTS) -> str:
    """The analysis line for probabilities (361,), negative where a move is not to be listed; likeliest moves first, at
    least `least` of them."""
    order = np.argsort(-probabilities, kind="stable")
    count = max(int((probabilities >= LISTED).sum()), min(least, int((probabilities >= 0).sum())))
    best = [int(p) for p in order[: min(count, most)]]
    shares = [(point_name(p), float(probabilities[p])) for p in best] or [(point_name(PASS), 0.0)]
    return " ".join("info " + info(name, share, place) for place, (name, share) in enumerate(shares))


def raw_nets(session: GtpSession, symmetry: str) -> str:
    """KataGo's `kata-raw-nn` of one symmetry 0..7 or `all`: of its keys the policy, a row of the board a line, NAN for
    illegal points. Raises GtpError."""
    if symmetry.lower() != "all" and whole(symmetry) >= _SYMMETRIES:
        raise GtpError("symmetries are 0 to 7, or all")
    which = range(_SYMMETRIES) if symmetry.lower() == "all" else [whole(symmetry)]
    legal = session.game.legal_points(session.game.to_move)
    return "\n".join(_raw(number, np.where(legal, session.policy(symmetry=number), np.nan)) for number in which)


def _raw(symmetry: int, policy: np.ndarray) -> str:
    rows = policy.reshape(SIZE, SIZE).tolist()
    lines = [" ".join("NAN" if math.isnan(share) else f"{share:.6f}" for share in row) for row in rows]
    return "\n".join([f"symmetry {symmetry}", "policy", *lines])


def _infos(session: GtpSession, asked: Asked, info: Info) -> str:
    listed = session.game.legal_points(asked.colour)
    listed[list(asked.barred - {PASS})] = False
    return variations(np.where(listed, session.policy(asked.colour), -1.0), info, asked.least, asked.most)


def _seconds(word: str) -> float | None:
    hundredths = number(word)
    if hundredths < 0:
        raise GtpError("syntax error")
    return max(_FASTEST, hundredths / 100) if hundredths else None


def _visits(share: float) -> int:
    """Thousandths, at least one."""
    return max(1, round(1000 * share))


def gogui_commands(session: GtpSession) -> dict[str, Verb]:
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
    best = np.argsort(-probabilities, kind="stable")[:_IN_WORDS]
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
