"""SGF reading: what is kept, what is skipped and why, and the odd values of real collections."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core.go import layout
from gonn_core.go.points import BLACK, SYMMETRY, WHITE
from gonn_core.records.sgf import (
    MAX_NODES,
    REASONS,
    BadGame,
    GameRecord,
    parse_komi,
    parse_rank,
    parse_result,
    parse_year,
    read_game,
    read_games,
)
from tests.records.sgf_tools import LETTERS, ROOT, sgf


def point(name: str) -> int:
    return LETTERS.index(name[1]) * 19 + LETTERS.index(name[0])


def moves(game: GameRecord) -> str:
    names = ["pass" if p < 0 else LETTERS[p % 19] + LETTERS[p // 19] for p in game.moves]
    return " ".join(f"{'?BW'[colour]} {name}" for colour, name in zip(game.colours, names, strict=True))


def reason(data: bytes) -> str:
    with pytest.raises(BadGame) as caught:
        read_game(data, "kgs")
    assert caught.value.args[0] in REASONS
    return caught.value.args[0]


def test_moves_passes_and_root_values():
    game = read_game(
        b"(;SZ[19]PB[a]PW[b]BR[7d]WR[1p?]HA[0]KM[6.50]RE[W+3.5]DT[2015-01-02];B[cd];W[];B[tt];W[ss]C[good])", "kgs"
    )
    assert moves(game) == "B cd W pass B pass W ss"
    assert game.moves.dtype == np.int16 and game.moves[0] == 3 * 19 + 2  # "cd" is column 2, row 3
    assert (game.black_rank, game.white_rank, game.year, game.komi, game.handicap) == (
        6,
        layout.PROFESSIONAL,
        2015,
        6.5,
        0,
    )
    assert (game.winner, game.result, game.margin, game.flags) == (WHITE, layout.RESULT_COUNTED, 3.5, 0)


@pytest.mark.parametrize(
    "tree, expected",
    [
        (";B[aa](;W[bb])(;W[cc];B[dd])", "B aa W cc B dd"),  # the deepest child
        (";B[aa](;W[bb];B[ee])(;W[cc];B[dd])", "B aa W bb B ee"),  # the first on ties
        (";B[aa](;W[bb](;B[ee])(;B[ff];W[gg]))(;W[cc];B[dd];W[hh])", "B aa W bb B ff W gg"),
        ("(;B[aa])(;B[bb](;W[cc])(;W[dd]))", "B bb W cc"),
    ],
)
def test_main_line_is_the_deepest(tree, expected):
    assert moves(read_game(f"(;{ROOT}{tree})".encode(), "kgs")) == expected


def test_setup_in_file_order_with_rectangles():
    game = read_game(f"(;{ROOT}AW[aa]AB[ba:cb][dd]AE[cb];W[ee])".encode(), "kgs")
    drawn = [(code // 361, code % 361) for code in game.setup]
    assert drawn == [(2, point("aa")), *((1, point(p)) for p in ("ba", "ca", "bb", "cb", "dd")), (0, point("cb"))]


@pytest.mark.parametrize(
    "data, expected",
    [
        (b"", "broken syntax"),
        (b"no game here", "broken syntax"),
        (b"(;SZ[19]PB[a]PW[b];B[aa]", "broken syntax"),
        (b"(;SZ[19]PB[a]PW[b\\];B[aa\\])", "broken syntax"),
        (b"\xff\xfe(\x00;\x00", "broken syntax"),
        (b"(;PB[a]PW[b];B[aa])", "no board size"),
        (b"(;SZ[9]PB[a]PW[b];B[aa])", "not 19x19"),
        (b"(;SZ[19:13]PB[a]PW[b];B[aa])", "not 19x19"),
        (b"(;SZ[19]PW[b];B[aa])", "PB is missing"),
        (b"(;SZ[19]PB[a][c]PW[b];B[aa])", "PB is given twice"),
        (b"(;SZ[19]PB[a];B[aa])", "PW is missing"),
        (b"(;SZ[19]PB[a]PW[b]HA[two];B[aa])", "bad handicap"),
        (b"(;SZ[19]PB[a]PW[b]HA[];B[aa])", "bad handicap"),
        (b"(;SZ[19]PB[a]PW[b]AB[zz];B[aa])", "bad setup"),
        (b"(;SZ[19]PB[a]PW[b]AB[aa:bb:cc])", "bad setup"),
        (b"(;SZ[19]PB[a]PW[b]AB" + b"[aa:ss]" * 5 + b")", "bad setup"),
        (b"(;SZ[19]PB[a]PW[b];B[a])", "bad move"),
        (b"(;SZ[19]PB[a]PW[b];B[zz])", "bad move"),
        (b"(;SZ[19]PB[a]PW[b];B[aa];AW[bb])", "setup after the root"),
        (b"(;SZ[19]PB[a]PW[b]" + b";B[aa]" * (MAX_NODES + 1) + b")", "too many nodes"),
        (b"(;SZ[19]PB[a]PW[b];B" + b"[aa]" * (MAX_NODES + 1) + b")", "too many nodes"),
        (b"(;" * (MAX_NODES + 1) + b")" * (MAX_NODES + 1), "too many nodes"),
    ],
)
def test_games_that_are_skipped(data, expected):
    assert reason(data) == expected


@pytest.mark.parametrize(
    "data, expected",
    [
        (b"(;SZ[19];B[aa])", "B aa"),
        (b"(;SZ[19]PW[b][c];B[aa])", "B aa"),
        (b"(;SZ[19]AB[pp][dc]HA[2];W[dd];B[cc])", "W dd B cc"),
        (b"(;SZ[19];B[dd](;W[pp];B[dp])(;W[qq]))", "B dd W pp B dp"),
        (b"(;SZ[9];B[aa])", "not 19x19"),
        (b"(;SZ[19]HA[two];B[aa])", "bad handicap"),
        (b"(;SZ[19];B[zz])", "bad move"),
    ],
)
def test_games_of_ones_own_need_no_names(data, expected):
    (game,) = read_games(data, "kgs", lenient=True)
    assert (game.args[0] if isinstance(game, BadGame) else moves(game)) == expected
    if not isinstance(game, BadGame):
        assert reason(data) in ("PB is missing", "PW is given twice", "PW is missing")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([a + b for a in LETTERS for b in LETTERS]), unique=True, max_size=30), st.booleans())
def test_among_games_of_ones_own_the_default_size_is_19x19(points, with_setup):
    root = f"AB[{points[0]}]" if with_setup and points else ""
    played = "".join(f";{'BW'[number % 2]}[{name}]" for number, name in enumerate(points[len(root) > 0 :]))
    unsized, sized = (f"(;{size}PB[a]PW[b]{root}{played})".encode() for size in ("", "SZ[19]"))
    (game,), strict = read_games(unsized, "kgs", lenient=True), read_game(sized, "kgs")
    assert (moves(game), game.setup, game.canonical) == (moves(strict), strict.setup, strict.canonical)
    assert reason(unsized) == "no board size", "declared data sets keep GoNN's rule"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_read_among_games_of_ones_own(encoding):
    text = "\ufeff(;SZ[19]PB[\u6b66\u5bae]PW[b]C[a\\] b];B[aa];W[bb])"
    games = list(read_games(text.encode(encoding), "kgs", lenient=True))
    assert [moves(game) for game in games] == ["B aa W bb"]
    assert games[0].canonical == read_game(text.encode(), "kgs").canonical
    assert [game.args[0] for game in read_games(text.encode(encoding), "kgs")] == ["broken syntax"]
    odd = text.encode(encoding)[:-1]
    assert [game.args[0] for game in read_games(odd, "kgs", lenient=True)] == ["broken syntax"]


def test_semicolons_in_comments_are_no_nodes():
    comment = b";" * (MAX_NODES + 1)
    assert moves(read_game(b"(;SZ[19]PB[a]PW[b]C[" + comment + b"\\]];B[aa])", "kgs")) == "B aa"


@pytest.mark.parametrize("charset", [b"UTF-8", b"no-such-encoding", b"\x00\xff", b"../../x", b"utf-16"])
def test_strange_character_sets_do_not_matter(charset):
    game = read_game(b"(;CA[" + charset + b"]SZ[19]PB[\xe9\x1b[2J\\]]PW[\x80];B[aa])", "kgs")
    assert moves(game) == "B aa"


def test_corrupt_comment_is_flagged_only_in_the_root():
    assert read_game(sgf("B aa", ROOT + "GC[The record is CORRUPT]"), "kgs").flags == layout.GAME_CORRUPT_COMMENT
    assert read_game(sgf("B aa")[:-1] + b"C[corrupt])", "kgs").flags == 0


def test_collections_hold_several_games():
    games = list(read_games(sgf("B aa") + b"\njunk\n" + sgf("B bb", "SZ[9]") + sgf("B cc"), "kgs"))
    assert [g.args[0] if isinstance(g, BadGame) else moves(g) for g in games] == ["B aa", "not 19x19", "B cc"]
    games = list(read_games(f"(;{ROOT};B[aa](;W[bb])(;W[cc];B[dd]))".encode(), "kgs"))
    assert [moves(g) for g in games] == ["B aa W cc B dd"]
    games = list(read_games(sgf("B aa") + b"(;SZ[19](;B[aa])(;B[", "kgs"))
    assert len(games) == 2 and games[1].args[0] == "broken syntax"


@given(st.binary(max_size=300))
@settings(max_examples=300)
def test_no_bytes_break_the_reader(data):
    for wrapped in (data, b"(;SZ[19]PB[a]PW[b]" + data, b"(;SZ[19]PB[a]PW[b];B[" + data + b"])"):
        for game in read_games(wrapped, "kgs"):
            assert isinstance(game, GameRecord) or game.args[0] in REASONS


@given(
    st.lists(
        st.sampled_from(
            [b"(", b")", b";", b"B[aa]", b"W[]", b"AB[cd:ef]", b"SZ[19]", b"PB[x]", b"PW[y]", b"[", b"]", b"\\"]
        ),
        max_size=40,
    )
)
@settings(max_examples=300)
def test_no_tokens_break_the_reader(tokens):
    for game in read_games(b"(;SZ[19]PB[a]PW[b]" + b"".join(tokens), "gogod"):
        assert isinstance(game, GameRecord) or game.args[0] in REASONS


@pytest.mark.parametrize("symmetry", range(8))
def test_canonical_hash_is_the_same_for_all_symmetries(symmetry):
    rng = np.random.default_rng(symmetry)
    played, stones = rng.permutation(361)[:60], rng.permutation(361)[:3]

    def game(image, extra=""):
        names = [LETTERS[p % 19] + LETTERS[p // 19] for p in image[played]]
        setup = "".join(f"A{'BW'[i % 2]}[{LETTERS[p % 19]}{LETTERS[p // 19]}]" for i, p in enumerate(image[stones]))
        return read_game(
            sgf(" ".join(f"{'BW'[i % 2]} {name}" for i, name in enumerate(names)) + extra, ROOT + setup), "kgs"
        ).canonical

    identity = np.arange(361)
    assert game(SYMMETRY[symmetry]) == game(identity)
    assert game(identity, " B pass") != game(identity)
    assert read_game(sgf("B aa"), "kgs").canonical != read_game(sgf("W aa"), "kgs").canonical


@pytest.mark.parametrize(
    "text, kgs, gogod",
    [
        ("6d", 5, 105),
        ("6d?", 5, 105),
        ("9D", 8, 108),
        ("10d", 8, 109),
        ("1k", -1, -1),
        ("30k?", -30, -30),
        ("1p", 100, 100),
        ("9p", 108, 108),
        ("7 dan", 6, 106),
        ("6d ama", 5, 5),
        ("Ama 6d", 5, 5),
        ("Ama. 7d", 6, 6),
        ("9d pro", 108, 108),
        ("5 kyu", -5, -5),
        ("-", layout.RANK_MISSING, layout.RANK_MISSING),
        ("", layout.RANK_MISSING, layout.RANK_MISSING),
        ("?", layout.RANK_MISSING, layout.RANK_MISSING),
        ("Insei", layout.RANK_UNPARSABLE, layout.RANK_UNPARSABLE),
        ("0d", layout.RANK_UNPARSABLE, layout.RANK_UNPARSABLE),
        ("999999d", layout.RANK_UNPARSABLE, layout.RANK_UNPARSABLE),
        ("\x1b[31m", layout.RANK_UNPARSABLE, layout.RANK_UNPARSABLE),
    ],
)
def test_ranks(text, kgs, gogod):
    assert (parse_rank(text.encode(), "kgs"), parse_rank(text.encode(), "gogod")) == (kgs, gogod)
    assert parse_rank(None, "kgs") == layout.RANK_MISSING


@pytest.mark.parametrize(
    "text, year",
    [
        ("2015-01-02", 2015),
        ("1985-03-04,05", 1985),
        ("c.1700", 1700),
        ("Showa 10", 0),
        ("Published 1846-09", 1846),
        ("", 0),
        ("01/02/2003", 2003),
        ("20150102", 2015),
        ("123456", 0),
        ("99", 0),
        ("1926-09-27,10-08", 1926),
    ],
)
def test_years(text, year):
    assert parse_year(text.encode()) == year


@pytest.mark.parametrize(
    "text, expected",
    [
        ("B+1.5", (BLACK, layout.RESULT_COUNTED, 1.5)),
        ("W+0.50", (WHITE, layout.RESULT_COUNTED, 0.5)),
        ("W+Resign", (WHITE, layout.RESULT_RESIGN, None)),
        ("b+R", (BLACK, layout.RESULT_RESIGN, None)),
        ("W+Time", (WHITE, layout.RESULT_TIME, None)),
        ("B+Forfeit", (BLACK, layout.RESULT_FORFEIT, None)),
        ("0", (0, layout.RESULT_COUNTED, 0.0)),
        ("Jigo", (0, layout.RESULT_COUNTED, 0.0)),
        ("Draw", (0, layout.RESULT_COUNTED, 0.0)),
        ("Void", (0, layout.RESULT_VOID, None)),
        ("B+", (BLACK, layout.RESULT_UNKNOWN, None)),
        ("?", (0, layout.RESULT_UNKNOWN, None)),
        ("B+3 {moves beyond 200 unknown}", (BLACK, layout.RESULT_COUNTED, 3.0)),
        ("", (0, layout.RESULT_UNKNOWN, None)),
        ("B+9" + "9" * 400, (BLACK, layout.RESULT_UNKNOWN, None)),
    ],
)
def test_results(text, expected):
    winner, result, margin = parse_result(text.encode())
    assert (winner, result, None if math.isnan(margin) else margin) == expected


def test_komi():
    assert parse_komi(b"6.5") == 6.5 and parse_komi(b"-20.00") == -20 and parse_komi(b"3,75") == 3.75
    assert all(math.isnan(parse_komi(text)) for text in (None, b"", b"nan", b"1e400", b"six", b"5000"))
