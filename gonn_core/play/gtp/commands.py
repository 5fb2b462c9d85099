"""The engine's commands on a `GtpSession`, in one table: the Go Text Protocol 2, GNU Go's, analysis, GoGui's, and those
of the bridge to the KGS server."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import process_time

from gonn_core.errors import UserError
from gonn_core.files.whole import write_bytes
from gonn_core.go.points import BLACK, COLUMNS, EMPTY, PASS, POINTS, SIZE, WHITE, point, point_name
from gonn_core.play.game import Game, IllegalMove, game_sgf
from gonn_core.play.gtp import analysis
from gonn_core.play.gtp.protocol import Command, GtpError, Quit, colour, number, whole
from gonn_core.play.gtp.protocol import vertex as read_vertex
from gonn_core.play.gtp.session import GtpSession, move_name
from gonn_core.play.rules import KOMI

_CORNERS, _SIDES = ("D4", "Q16", "D16", "Q4"), ("D10", "Q10", "K4", "K16")
_CLOCKS = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
"""Systems of time and how many numbers each has."""
_RULES = ("chinese", "aga", "new_zealand")
"""Sets of rules of the server that count area, as this engine does."""
GOGUI = ("gfx/Policy/gonn-policy %m", "gfx/Policy of a color/gonn-policy %c")
"""What `gogui-analyze_commands` lists: type/label/command."""


def command_table(session: GtpSession) -> Mapping[str, Command]:
    """All commands of the engine on a session, in the order of `list_commands`."""
    return {name: partial(command, session) for name, command in COMMANDS.items()}


def _quit(session: GtpSession) -> None:
    raise Quit


def _boardsize(session: GtpSession, size: str) -> None:
    if whole(size) != SIZE:
        raise GtpError("unacceptable size")
    session.new_game()


def _komi(session: GtpSession, points: str) -> None:
    session.game.komi = number(points)


def _handicap(session: GtpSession, stones: int) -> str:
    """Places of a fixed handicap (Go Text Protocol 2, section 4.1)."""
    if not 2 <= stones <= 9:
        raise GtpError("invalid number of stones")
    sides = _SIDES[: (stones - 4) // 2 * 2] if stones > 5 else ()
    names = (*_CORNERS[:stones], *sides, *["K10"] * (stones in (5, 7, 9)))
    session.set_up({point(name): BLACK for name in names})
    return " ".join(names)


def _set_free_handicap(session: GtpSession, *vertex: str) -> None:
    try:
        points = [read_vertex(word) for word in vertex]
    except GtpError:
        points = []
    if not 2 <= len(points) < POINTS or len(set(points)) < len(points) or PASS in points:
        raise GtpError("bad vertex list")
    session.set_up({p: BLACK for p in points})


def _play(session: GtpSession, color: str, vertex: str) -> None:
    session.play(read_vertex(vertex), colour(color))


def _undo(session: GtpSession) -> None:
    if not len(session.game):
        raise GtpError("cannot undo")
    session.game.undo()


def _final_status_list(session: GtpSession, status: str) -> str:
    """The protocol wants a line for each chain."""
    if status.lower() not in ("alive", "seki", "dead"):
        raise GtpError("syntax error")
    board, points = session.game.board, session.status(status.lower())
    chains = dict.fromkeys(tuple(board.chain(p)) for p in sorted(points))
    return "\n".join(" ".join(map(point_name, chain)) for chain in chains)


def _time_settings(session: GtpSession, main: str, byo_yomi: str, stones: str) -> None:
    """Clocks are read and forgotten: a net answers at once."""
    for value in (main, byo_yomi, stones):
        number(value)


def _time_left(session: GtpSession, color: str, seconds: str, stones: str) -> None:
    colour(color)
    number(seconds)
    number(stones)


def _kgs_rules(session: GtpSession, rules: str) -> None:
    if rules.lower() not in _RULES:
        raise GtpError(f"rules that are not counted here; valid: {', '.join(_RULES)}")


def _kgs_time_settings(session: GtpSession, system: str, *seconds: str) -> None:
    if len(seconds) != _CLOCKS.get(system.lower()):
        raise GtpError("syntax error")
    for value in seconds:
        number(value)


def _policy(session: GtpSession, color: str = "") -> str:
    mover = colour(color) if color else session.game.to_move
    return analysis.heat_map(session.policy(mover), mover)


def _showboard(session: GtpSession) -> str:
    """The board with coordinates, black X, white O, the last move in brackets, and whose turn it is."""
    game = session.game
    last = game.moves[-1][1] if game.moves else PASS
    letters = "   " + " ".join(COLUMNS)
    lines = ["", letters]
    for row, colours in enumerate(game.board.colours().reshape(SIZE, SIZE)):
        line = "".join(f" {'.XO'[stone]}" for stone in colours) + " "
        if last != PASS and row == last // SIZE:
            at = 2 * (last % SIZE)
            line = f"{line[:at]}({line[at + 1]}){line[at + 3 :]}"
        lines.append(f"{SIZE - row:2d}{line}{SIZE - row}")
    mover = "black" if game.to_move == BLACK else "white"
    return "\n".join([*lines, letters, f"move {len(game.moves) + 1}, {mover} to move, komi {game.komi:g}"])


def _loadsgf(session: GtpSession, *file: str) -> None:
    """A name may hold spaces, which the protocol knows nothing of: the last word is a move where the rest is a file."""
    if not file:
        raise GtpError("syntax error: loadsgf FILE [MOVE]")
    if len(file) > 1 and file[-1].isdecimal() and not Path(" ".join(file)).is_file():
        session.game = load_game(" ".join(file[:-1]), whole(file[-1]))
    else:
        session.game = load_game(" ".join(file), None)


def load_game(file: str, before: int | None) -> Game:
    """The first game of an SGF file up to the move of that number, which is not played; None: to its end.

    Raises GtpError for a file that is none, another board than 19x19, or an illegal move.
    """
    # With sgfmill behind it, which other commands do without.
    from gonn_core.records.archives import ArchiveReading
    from gonn_core.records.archives.members import read_members
    from gonn_core.records.sgf import BadGame, read_games

    if Path(file).suffix.lower() != ".sgf":
        raise GtpError("cannot load file")
    try:
        members = list(read_members(Path(file), ArchiveReading()))
    except UserError:
        raise GtpError("cannot load file") from None
    read = next((game for member in members for game in read_games(member.data, "kgs", lenient=True)), None)
    if read is None or isinstance(read, BadGame):
        raise GtpError(f"cannot load file ({read.args[0]})" if read else "cannot load file")
    stones = {code % POINTS: code // POINTS for code in read.setup if code // POINTS != EMPTY}
    moves = list(zip(read.colours.tolist(), read.moves.tolist(), strict=True))
    first = moves[0][0] if moves else WHITE if set(stones.values()) == {BLACK} else BLACK
    game = Game(read.komi if read.komi == read.komi else KOMI, stones, first)
    for ply, (mover, move) in enumerate(moves, 1):
        if ply == before:
            game.to_move = mover
            break
        try:
            game.play(move, mover)
        except IllegalMove as error:
            raise GtpError(f"cannot load file (illegal move {ply}, {error.reason})") from None
    return game


def _printsgf(session: GtpSession, *file: str) -> str | None:
    data, name = game_sgf(session.game, "?", "", "", session.name), " ".join(file)
    if name in ("", "-"):
        return data.decode().strip()
    if Path(name).suffix.lower() != ".sgf":
        raise GtpError("the file's name must end in .sgf")
    try:
        write_bytes(Path(name), data)
    except (OSError, UserError):
        raise GtpError("cannot write file") from None
    return None


COMMANDS: Mapping[str, Command] = {
    "protocol_version": lambda session: "2",
    "name": lambda session: session.name,
    "version": lambda session: session.version,
    "list_commands": lambda session: "\n".join(COMMANDS),
    "known_command": lambda session, command: str(command in COMMANDS).lower(),
    "quit": _quit,
    "boardsize": _boardsize,
    "clear_board": GtpSession.new_game,
    "komi": _komi,
    "get_komi": lambda session: f"{session.game.komi:g}",
    "showboard": _showboard,
    "fixed_handicap": lambda session, stones: _handicap(session, whole(stones)),
    # the protocol allows an engine to place fewer than asked for
    "place_free_handicap": lambda session, stones: _handicap(session, min(whole(stones), 9)),
    "set_free_handicap": _set_free_handicap,
    "play": _play,
    "genmove": lambda session, color: move_name(session.move(colour(color))),
    "reg_genmove": lambda session, color: move_name(session.generate(colour(color))),
    "undo": _undo,
    "final_score": GtpSession.score,
    "final_status_list": _final_status_list,
    "time_settings": _time_settings,
    "time_left": _time_left,
    "cputime": lambda session: f"{process_time():.3f}",
    "kgs-rules": _kgs_rules,
    "kgs-time_settings": _kgs_time_settings,
    "kgs-genmove_cleanup": lambda session, color: move_name(session.move(colour(color), cleanup=True)),
    "kgs-game_over": lambda session: None,
    **{f"{prefix}analyze": partial(analysis.analyze, form) for prefix, form in analysis.FORMS.items()},
    **{f"{prefix}genmove_analyze": partial(analysis.genmove_analyze, form) for prefix, form in analysis.FORMS.items()},
    "gogui-analyze_commands": lambda session: "\n".join(GOGUI),
    "gonn-policy": _policy,
    "loadsgf": _loadsgf,
    "printsgf": _printsgf,
}
