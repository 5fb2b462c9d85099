"""Games in play: `GameTable` holds many side by side in arrays, `Game` is one with its rules, moves and positions.

Each position is a row laid out as the position store's (go/layout.py), so that a net sees a game in play as it sees a
recorded one: its planes come from the true earlier boards, by the same kernels.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gonn_core.errors import printable
from gonn_core.features.source import STRONGEST, PlaneSource, read_only
from gonn_core.go.board import Board
from gonn_core.go.layout import FLAGS, KO, MOVE, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, EMPTY, PASS, POINTS, SIZE, WHITE, WORDS, point_name
from gonn_core.go.rules import BOARD_LENGTH, PADDED_POINT, UNDO_PER_MOVE, keep_living
from gonn_core.play.kernels import find_moves, play_on, repeats, set_mover, start, take_back
from gonn_core.play.rules import KOMI, RuleSet

_FIRST_ROOM = 127  # moves
LETTERS = {BLACK: "B", WHITE: "W"}


class GameTable(NamedTuple):
    """G games with room for R - 1 moves each. Row r of a game is the position after r moves; rows after `played` mean
    nothing."""

    boards: np.ndarray  # (G, BOARD_LENGTH) uint16: the present boards, see go/rules.py
    undo: np.ndarray  # scratch of one move
    stones: np.ndarray  # (G, R, 12) uint64
    ladders: np.ndarray  # (G, R, 6) uint64: of rows that a net was asked about, if it wants them
    moves: np.ndarray  # (G, R, 4) int16
    hashes: np.ndarray  # (G, R) uint64: of the stones
    vacated: np.ndarray  # (G, 6) uint64: where stones were captured
    played: np.ndarray  # (G,) int64: moves so far
    game: np.ndarray  # (G * R,) int32
    setup_count: np.ndarray  # (G,) int32
    setup: np.ndarray  # (G, 361) int16: codes colour*361 + point


def make_table(games: int, moves: int) -> GameTable:
    """Room for `games` games of up to `moves` moves, 170 bytes a move; none is begun."""
    rows = moves + 1
    return GameTable(
        boards=np.zeros((games, BOARD_LENGTH), np.uint16),
        undo=np.zeros(UNDO_PER_MOVE, np.uint16),
        stones=np.zeros((games, rows, 2 * WORDS), np.uint64),
        ladders=np.zeros((games, rows, WORDS), np.uint64),
        moves=np.zeros((games, rows, 4), np.int16),
        hashes=np.zeros((games, rows), np.uint64),
        vacated=np.zeros((games, WORDS), np.uint64),
        played=np.zeros(games, np.int64),
        game=np.repeat(np.arange(games, dtype=np.int32), rows),
        setup_count=np.zeros(games, np.int32),
        setup=np.zeros((games, POINTS), np.int16),
    )


def _begin(table: GameTable, game: int, setup: Mapping[int, int], to_move: int) -> None:
    """Begins a game from setup stones (point -> colour), less chains without a liberty."""
    codes = [colour * POINTS + point for point, colour in setup.items()]
    table.setup_count[game] = len(codes)
    table.setup[game, : len(codes)] = codes
    stones = table.stones[game, 0]
    stones[:] = 0
    for point, colour in setup.items():
        stones[(colour - 1) * WORDS + (point >> 6)] |= np.uint64(1 << (point & 63))
    keep_living(stones)
    start(table, game, to_move)


def copy_game(source: GameTable, game: int, target: GameTable, place: int) -> None:
    """Copies a game with its rows to `place` of a table with enough room."""
    rows = int(source.played[game]) + 1
    for name in ("stones", "ladders", "moves", "hashes"):
        getattr(target, name)[place, :rows] = getattr(source, name)[game, :rows]
    for name in ("boards", "vacated", "played", "setup_count", "setup"):
        getattr(target, name)[place] = getattr(source, name)[game]


def present_rows(table: GameTable, games: np.ndarray) -> np.ndarray:
    """(B,) int64: the rows of the present positions of `games` (B,) in the source of `plane_rows`."""
    return games * table.moves.shape[1] + table.played[games]


def plane_rows(table: GameTable) -> PlaneSource:
    """All rows of all games, as kernels of planes take them; copies nothing, reads what comes later too."""
    games, rows = table.hashes.shape
    arrays = {
        "stones": table.stones.reshape(games * rows, 2 * WORDS),
        "ladders": table.ladders.reshape(games * rows, WORDS),
        "moves": table.moves.reshape(games * rows, 4),
        "game": table.game,
        "setup_first": np.arange(games, dtype=np.int64) * POINTS,
        "setup_count": table.setup_count,
        "setup": table.setup.reshape(games * POINTS),
        "ranks": np.repeat(STRONGEST, games, 0),
    }
    return PlaneSource(**{name: read_only(array) for name, array in arrays.items()})


class IllegalMove(ValueError):
    """A move that the rules forbid; `reason` is occupied, suicide, ko or superko."""

    def __init__(self, point: int, reason: str):
        self.reason = reason
        super().__init__(f"illegal move {point_name(point)}: {reason}")


class Game:
    """A game from setup stones on. Points 0..360 or PASS, colours BLACK and WHITE.

    Suicide and the simple ko are forbidden and, with `superko`, every move that repeats an earlier position of
    the board, whichever side is to move (positional superko). Setup chains without a liberty are taken off.
    """

    def __init__(
        self,
        komi: float = KOMI,
        setup: Mapping[int, int] | None = None,
        to_move: int = BLACK,
        superko: bool = True,
        table: GameTable | None = None,
        place: int = 0,
    ):
        """table, place: where its rows are kept, with room for all its moves; None: in a table of its own, which may be
        another one after a move. Raises ValueError for an invalid setup point or colour."""
        self.komi, self.superko = komi, superko
        self.setup = dict(setup or {})
        for point, colour in self.setup.items():
            _check(point, colour)
        _check(0, to_move)
        self.table, self.place = make_table(1, _FIRST_ROOM) if table is None else table, place
        _begin(self.table, place, self.setup, to_move)

    @property
    def moves(self) -> list[tuple[int, int]]:
        """The moves so far, (colour, point or PASS)."""
        rows = self.table.moves[self.place, : len(self)]
        return [(WHITE if flags & WHITE_TO_MOVE else BLACK, move) for move, flags in rows[:, [MOVE, FLAGS]].tolist()]

    def __len__(self) -> int:
        """Number of moves so far, passes among them."""
        return int(self.table.played[self.place])

    @property
    def to_move(self) -> int:
        """The side to move: after a move the other one, unless it is set."""
        return WHITE if self._row[FLAGS] & WHITE_TO_MOVE else BLACK

    @to_move.setter
    def to_move(self, colour: int) -> None:
        _check(0, colour)
        set_mover(self.table, self.place, colour)

    @property
    def board(self) -> Board:
        """A board of its own with the present position."""
        return Board(self.stones(), int(self._row[KO]))

    def stones(self) -> np.ndarray:
        """(12,) uint64: black bitboard, then white."""
        return self.table.stones[self.place, len(self)].copy()

    @property
    def _row(self) -> np.ndarray:
        return self.table.moves[self.place, len(self)]

    @property
    def captured(self) -> dict[int, int]:
        """Colour -> stones of that colour that moves have taken off the board. Nobody takes stones of their own, for
        suicide is forbidden."""
        placed = [colour for colour, point in self.moves if point != PASS]
        first, last = self.table.stones[self.place, 0], self.stones()
        return {
            colour: placed.count(colour) + _count(first, colour) - _count(last, colour) for colour in (BLACK, WHITE)
        }

    @property
    def passes(self) -> int:
        """Consecutive passes at the end."""
        count = 0
        for _, point in reversed(self.moves):
            if point != PASS:
                break
            count += 1
        return count

    @property
    def over(self) -> bool:
        """Whether the last two moves were passes."""
        return self.passes >= 2

    def why_illegal(self, point: int, colour: int) -> str | None:
        """`occupied`, `suicide`, `ko`, `superko`; None for a legal move. Raises ValueError off the board."""
        _check(max(point, 0) if point == PASS else point, colour)
        if point == PASS:
            return None
        board = self.board
        if board.colour(point) != EMPTY:
            return "occupied"
        if point == board.ko:
            return "ko"
        if not board.legal(point, colour):
            return "suicide"
        if self.superko and repeats(self.table, self.place, PADDED_POINT[point], colour):
            return "superko"
        return None

    def play(self, point: int, colour: int | None = None) -> None:
        """Plays a point or PASS. Raises IllegalMove; the game is then as before."""
        colour = self.to_move if colour is None else colour
        if reason := self.why_illegal(point, colour):
            raise IllegalMove(point, reason)
        if len(self) + 1 == self.table.moves.shape[1]:
            table = make_table(1, 2 * len(self) + 1)
            copy_game(self.table, self.place, table, 0)
            self.table, self.place = table, 0
        play_on(self.table, self.place, point, colour)

    def undo(self) -> None:
        """Takes back the last move; who made it is to move again. Raises ValueError when there is none."""
        if len(self) == 0:
            raise ValueError("no move to take back")
        take_back(self.table, self.place)

    def legal_points(self, colour: int | None = None) -> np.ndarray:
        """(361,) bool: the points that `colour`, by default the side to move, may play."""
        return self._points(colour)[0]

    def candidates(self, colour: int | None = None) -> np.ndarray:
        """(361,) bool: legal points that are not simple eyes of the mover (spec: GoNN 5.2)."""
        return self._points(colour)[1]

    def _points(self, colour: int | None) -> tuple[np.ndarray, np.ndarray]:
        legal, candidates = np.empty(POINTS, np.bool_), np.empty(POINTS, np.bool_)
        find_moves(self.table, self.place, self.to_move if colour is None else colour, self.superko, legal, candidates)
        return legal, candidates


def _count(stones: np.ndarray, colour: int) -> int:
    """Stones of a colour in a row (12,) uint64."""
    words = stones[(colour - 1) * WORDS : colour * WORDS]
    return sum(int(word).bit_count() for word in words)


def _check(point: int, colour: int) -> None:
    if not 0 <= point < POINTS:
        raise ValueError(f"point {point}: valid are 0..{POINTS - 1}, {PASS} for a pass")
    if colour not in (BLACK, WHITE):
        raise ValueError(f"colour {colour}: valid are {BLACK} (black) and {WHITE} (white)")


_MOVES_A_LINE = 12


def game_sgf(
    game: Game, result: str, black: str, white: str, name: str, comment: str = "", rules: RuleSet = "chinese"
) -> bytes:
    """A game as an SGF file: its result as in `B+3.5`, players, the game's name, a comment, the rules."""
    first = game.moves[0][0] if len(game) else game.to_move
    root = f"GM[1]FF[4]CA[UTF-8]SZ[{SIZE}]KM[{game.komi:g}]RU[{rules.capitalize()}]"
    root += f"PB[{_text(black)}]PW[{_text(white)}]RE[{result}]GN[{_text(name)}]"
    for tag, colour in (("AB", BLACK), ("AW", WHITE)):
        stones = sorted(stone for stone, of in game.setup.items() if of == colour)
        root += tag * bool(stones) + "".join(f"[{_vertex(stone)}]" for stone in stones)
    root += f"PL[{LETTERS[first]}]" if game.setup else ""
    root += f"C[{_text(comment)}]" if comment else ""
    nodes = [f";{LETTERS[colour]}[{_vertex(move)}]" for colour, move in game.moves]
    lines = ["".join(nodes[at : at + _MOVES_A_LINE]) for at in range(0, len(nodes), _MOVES_A_LINE)]
    return ("(;" + "\n".join([root, *lines]) + ")\n").encode()


def _text(text: str) -> str:
    return printable(text, 1000).replace("\\", "\\\\").replace("]", "\\]")


def _vertex(move: int) -> str:
    return "" if move == PASS else chr(97 + move % SIZE) + chr(97 + move // SIZE)
