"""The standard commands of the Go Text Protocol 2 on a `GtpSession`, and the table of all commands of the engine."""

from time import process_time

from gonn_core.go.points import BLACK, COLUMNS, PASS, SIZE, WHITE, point_name
from gonn_core.play.gtp.analysis import analysis_commands
from gonn_core.play.gtp.analyze import analyze_commands
from gonn_core.play.gtp.files import file_commands
from gonn_core.play.gtp.handicap import handicap_commands
from gonn_core.play.gtp.kgs import kgs_commands
from gonn_core.play.gtp.parsing import GtpError, colour, number, vertex, whole
from gonn_core.play.gtp.server import Quit, Verb
from gonn_core.play.gtp.session import GtpSession, move_name

STATUSES = ("alive", "seki", "dead")


def command_table(session: GtpSession, name: str, version: str) -> dict[str, Verb]:
    """All commands of the engine, in the order of `list_commands`. `name` and `version` are what it calls itself."""
    table = {
        **_administrative_commands(name, version),
        **_board_commands(session),
        **handicap_commands(session),
        **_play_commands(session),
        **_end_commands(session),
        **_time_commands(),
        **kgs_commands(session),
        **analysis_commands(session),
        **analyze_commands(session),
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
