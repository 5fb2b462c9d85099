"""Where handicap stones stand, and the three commands that put them there (Go Text Protocol 2, section 4.1)."""

from collections.abc import Sequence

from gonn_core.go.points import BLACK, PASS, point, point_name
from gonn_core.play.gtp.parsing import GtpError, vertex, whole
from gonn_core.play.gtp.server import Verb
from gonn_core.play.gtp.session import GtpSession

_CORNERS = ("D4", "Q16", "D16", "Q4")
_SIDES = ("D10", "Q10", "K4", "K16")
_PLACES = {
    2: _CORNERS[:2],
    3: _CORNERS[:3],
    4: _CORNERS,
    5: (*_CORNERS, "K10"),
    6: (*_CORNERS, *_SIDES[:2]),
    7: (*_CORNERS, *_SIDES[:2], "K10"),
    8: (*_CORNERS, *_SIDES),
    9: (*_CORNERS, *_SIDES, "K10"),
}
MOST_STONES = 360
"""Stones that a controller may set freely: one point must stay empty."""


def fixed_points(stones: int) -> list[int]:
    """Points of a fixed handicap, in the protocol's order. Raises GtpError beyond 2..9 stones."""
    if stones not in _PLACES:
        raise GtpError("invalid number of stones")
    return [point(name) for name in _PLACES[stones]]


def handicap_commands(session: GtpSession) -> dict[str, Verb]:
    """The commands `fixed_handicap`, `place_free_handicap` and `set_free_handicap`."""

    def place(points: Sequence[int]) -> str:
        session.set_up({p: BLACK for p in points})
        return " ".join(point_name(p) for p in points)

    def fixed_handicap(stones: str) -> str:
        points = fixed_points(whole(stones))
        session.require_empty()
        return place(points)

    def place_free_handicap(stones: str) -> str:
        wanted = whole(stones)
        if wanted < 2:
            raise GtpError("invalid number of stones")
        session.require_empty()
        return place(fixed_points(min(wanted, 9)))  # the protocol allows an engine to place fewer than asked for

    def set_free_handicap(*vertices: str) -> str:
        session.require_empty()
        try:
            points = [vertex(word) for word in vertices]
        except GtpError:
            raise GtpError("bad vertex list") from None
        if not 2 <= len(points) <= MOST_STONES or len(set(points)) < len(points) or PASS in points:
            raise GtpError("bad vertex list")
        place(points)
        return ""

    return {
        "fixed_handicap": Verb("STONES", fixed_handicap),
        "place_free_handicap": Verb("STONES", place_free_handicap),
        "set_free_handicap": Verb("VERTEX…", set_free_handicap),
    }
