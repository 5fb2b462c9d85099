"""Games as SGF files on a controller's word: `loadsgf` and `printsgf`."""

from pathlib import Path

from gonn_core.errors import UserError
from gonn_core.files.whole import write_bytes
from gonn_core.go.points import BLACK, EMPTY, POINTS, WHITE
from gonn_core.play.game import Game, IllegalMove
from gonn_core.play.gtp.protocol import GtpError, Verb, whole
from gonn_core.play.gtp.session import GtpSession
from gonn_core.play.rules import KOMI
from gonn_core.play.sgf import game_sgf

_ON_SCREEN = "-"


def file_commands(session: GtpSession, name: str) -> dict[str, Verb]:
    """The commands `loadsgf` and `printsgf`; `name` is what the engine calls itself."""

    def loadsgf(*words: str) -> str:
        session.game = load(*_file_and_move(words))
        return ""

    def printsgf(*words: str) -> str:
        game = session.game
        text = game_sgf(game.moves, game.komi, "?", "", "", name, game.setup, _first(game)).decode()
        file = " ".join(words)
        if file in ("", _ON_SCREEN):
            return text.strip()
        if Path(file).suffix.lower() != ".sgf":
            raise GtpError("the file's name must end in .sgf")
        try:
            write_bytes(Path(file), text.encode())
        except (OSError, UserError):
            raise GtpError("cannot write file") from None
        return ""

    return {"loadsgf": Verb("FILE [MOVE]…", loadsgf), "printsgf": Verb("[FILE]…", printsgf)}


def load(file: str, before: int | None) -> Game:
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
    stones: dict[int, int] = {code % POINTS: code // POINTS for code in read.setup}
    stones = {point: colour for point, colour in stones.items() if colour != EMPTY}
    moves = list(zip(read.colours.tolist(), read.moves.tolist(), strict=True))
    first = moves[0][0] if moves else WHITE if set(stones.values()) == {BLACK} else BLACK
    game = Game(read.komi if read.komi == read.komi else KOMI, stones, first)
    for number, (colour, point) in enumerate(moves, 1):
        if number == before:
            game.to_move = colour
            break
        try:
            game.play(point, colour)
        except IllegalMove as error:
            raise GtpError(f"cannot load file (illegal move {number}, {error.reason})") from None
    return game


def _file_and_move(words: tuple[str, ...]) -> tuple[str, int | None]:
    """A name may hold spaces, which the protocol knows nothing of: the last word is a move where the rest is a file."""
    if not words:
        raise GtpError("syntax error: loadsgf FILE [MOVE]")
    if len(words) > 1 and words[-1].isdecimal() and not Path(" ".join(words)).is_file():
        return " ".join(words[:-1]), whole(words[-1])
    return " ".join(words), None


def _first(game: Game) -> int:
    """Who moved first, or is to."""
    return game.moves[0][0] if len(game) else game.to_move
