"""The engine's commands on a `GtpSession`: the standard ones of the Go Text Protocol 2, those of the bridge to the KGS
server, and the table of all."""

from collections.abc import Sequence
from time import process_time

from gonn_core.go.points import BLACK, COLUMNS, PASS, SIZE, WHITE, point, point_name
from gonn_core.play.gtp.analysis import analysis_commands, gogui_commands
from gonn_core.play.gtp.files import file_commands
from gonn_core.play.gtp.protocol import GtpError, Quit, Verb, colour, number, vertex, whole
from gonn_core.play.gtp.session import GtpSession, move_name

STATUSES = ("alive", "seki", "dead")

# Places of a fixed handicap (Go Text Protocol 2, section 4.1).
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
_MOST_STONES = 360
"""Stones that a controller may set freely: one point must stay empty."""
_CLOCKS = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
"""Systems of time and how many numbers each has."""
_RULES = ("chinese", "aga", "new_zealand")
"""Sets of rules of the server that count area, as this engine does."""


def command_table(session: GtpSession, name: str, version: str) -> dict[str, Verb]:
    """All commands of the engine, in the order of `list_commands`. `name` and `version` are what it calls itself."""
    table = {
        **_administrative_commands(name, version),
        **_board_commands(session),
        **_handicap_commands(session),
        **_play_commands(session),
        **_end_commands(session),
        **_time_commands(),
        **_kgs_commands(session),
        **analysis_commands(session),
        **gogui_commands(session),
        **file_commands(session, name),
    }
    table["list_commands"] = Verb("", lambda: "\n".join(table))
    table["known_command"] = Verb("NAME", lambda command: "true" if command in table else "false")
    return table


def _administrative_commands(name: str, version: str) -> dict[str, Verb]:
    def leave() -> str:
        raise Quit

    return {
        "protocol_version": Verb("", lambda: "2"),
        "name": Verb("", lambda: name),
        "version": Verb("", lambda: version),
        "list_commands": Verb("", str),  # both are filled in by `command_table`, which knows them all
        "known_command": Verb("NAME", str),
        "quit": Verb("", leave),
    }


def _board_commands(session: GtpSession) -> dict[str, Verb]:
    def boardsize(size: str) -> str:
        if whole(size) != SIZE:
            raise GtpError("unacceptable size")
        session.new_game()
        return ""

    def clear_board() -> str:
        session.new_game()
        return ""

    def komi(points: str) -> str:
        session.set_komi(number(points))
        return ""

    return {
        "boardsize": Verb("SIZE", boardsize),
        "clear_board": Verb("", clear_board),
        "komi": Verb("POINTS", komi),
        "get_komi": Verb("", lambda: f"{session.game.komi:g}"),
        "showboard": Verb("", lambda: drawing(session)),
    }


def _fixed_points(stones: int) -> list[int]:
    """Points of a fixed handicap, in the protocol's order. Raises GtpError beyond 2..9 stones."""
    if stones not in _PLACES:
        raise GtpError("invalid number of stones")
    return [point(name) for name in _PLACES[stones]]


def _handicap_commands(session: GtpSession) -> dict[str, Verb]:
    """The commands `fixed_handicap`, `place_free_handicap` and `set_free_handicap`."""

    def place(points: Sequence[int]) -> str:
        session.set_up({p: BLACK for p in points})
        return " ".join(point_name(p) for p in points)

    def fixed_handicap(stones: str) -> str:
        points = _fixed_points(whole(stones))
        session.require_empty()
        return place(points)

    def place_free_handicap(stones: str) -> str:
        asked = whole(stones)
        if asked < 2:
            raise GtpError("invalid number of stones")
        session.require_empty()
        return place(_fixed_points(min(asked, 9)))  # the protocol allows an engine to place fewer than asked for

    def set_free_handicap(*vertices: str) -> str:
        session.require_empty()
        try:
            points = [vertex(word) for word in vertices]
        except GtpError:
            raise GtpError("bad vertex list") from None
        if not 2 <= len(points) <= _MOST_STONES or len(set(points)) < len(points) or PASS in points:
            raise GtpError("bad vertex list")
        place(points)
        return ""

    return {
        "fixed_handicap": Verb("STONES", fixed_handicap),
        "place_free_handicap": Verb("STONES", place_free_handicap),
        "set_free_handicap": Verb("VERTEX…", set_free_handicap),
    }


def _play_commands(session: GtpSession) -> dict[str, Verb]:
    def play(color: str, where: str) -> str:
        session.play(vertex(where), colour(color))
        return ""

    def genmove(color: str) -> str:
        return move_name(session.move(colour(color)))

    def undo() -> str:
        session.undo()
        return ""

    return {
        "play": Verb("COLOR VERTEX", play),
        "genmove": Verb("COLOR", genmove),
        "reg_genmove": Verb("COLOR", lambda color: move_name(session.generate(colour(color)))),
        "undo": Verb("", undo),
    }


def _end_commands(session: GtpSession) -> dict[str, Verb]:
    def final_status_list(status: str) -> str:
        if status.lower() not in STATUSES:
            raise GtpError("syntax error")
        return _chains(session, session.status(status.lower()))

    return {"final_score": Verb("", session.score), "final_status_list": Verb("STATUS", final_status_list)}


def _chains(session: GtpSession, points: frozenset[int]) -> str:
    """Stones as the protocol lists them: a line for each chain."""
    lines, seen, board = [], set(), session.game.board
    for p in sorted(points):
        if p not in seen:
            chain = board.chain(p)
            seen.update(chain)
            lines.append(" ".join(point_name(stone) for stone in chain))
    return "\n".join(lines)


def _time_commands() -> dict[str, Verb]:
    """Clocks are read and forgotten: a net answers at once. `cputime` is GNU Go's."""

    def time_settings(main: str, byo_yomi: str, stones: str) -> str:
        for value in (main, byo_yomi, stones):
            number(value)
        return ""

    def time_left(color: str, seconds: str, stones: str) -> str:
        colour(color)
        number(seconds)
        number(stones)
        return ""

    return {
        "time_settings": Verb("MAIN BYO_YOMI STONES", time_settings),
        "time_left": Verb("COLOR SECONDS STONES", time_left),
        "cputime": Verb("", lambda: f"{process_time():.3f}"),
    }


def _kgs_commands(session: GtpSession) -> dict[str, Verb]:
    """The commands `kgs-rules`, `kgs-time_settings`, `kgs-genmove_cleanup` and `kgs-game_over`."""

    def rules(name: str) -> str:
        if name.lower() not in _RULES:
            raise GtpError(f"rules that are not counted here; valid: {', '.join(_RULES)}")
        return ""

    def time_settings(system: str, *numbers: str) -> str:
        if len(numbers) != _CLOCKS.get(system.lower()):
            raise GtpError("syntax error")
        for value in numbers:
            number(value)
        return ""

    def genmove_cleanup(color: str) -> str:
        return move_name(session.move(colour(color), cleanup=True))

    return {
        "kgs-rules": Verb("RULES", rules),
        "kgs-time_settings": Verb("SYSTEM [NUMBER] [NUMBER] [NUMBER]", time_settings),
        "kgs-genmove_cleanup": Verb("COLOR", genmove_cleanup),
        "kgs-game_over": Verb("", str),
    }


def drawing(session: GtpSession) -> str:
    """The board with coordinates, black X, white O, the last move in brackets, and whose turn it is."""
    game = session.game
    colours = game.board.colours()
    last = game.moves[-1][1] if game.moves else PASS
    letters = "   " + " ".join(COLUMNS)
    lines = ["", letters]
    for row in range(SIZE):
        line = f"{SIZE - row:2d}"
        for column in range(SIZE):
            p = row * SIZE + column
            before = "(" if p == last else ")" if column and p - 1 == last else " "
            line += before + {BLACK: "X", WHITE: "O"}.get(int(colours[p]), ".")
        line += ")" if last == row * SIZE + SIZE - 1 else " "
        lines.append(f"{line}{SIZE - row}")
    mover = "black" if game.to_move == BLACK else "white"
    return "\n".join([*lines, letters, f"move {len(game.moves) + 1}, {mover} to move, komi {game.komi:g}"])
