"""Matches on disk: identities, appended lines, torn lines, and what is no match."""

import json

import pytest

from gonn_core.errors import InputError
from gonn_core.play.match.record import GameLine, MatchRecord, describe_match, identity_digest, open_match
from gonn_core.play.rules import RULES, Rules

A, B = {"kind": "net", "trial": "a"}, {"kind": "net", "trial": "b"}


def line(number: int, end: str = "passes") -> tuple[GameLine, bytes]:
    void = end in ("crash", "timeout")
    return GameLine(
        game=number,
        black="AB"[number % 2],
        winner=None if void else "A",
        result="Void" if void else "B+0.5",
        end=end,
        moves=9,
    ), b"(;)"


def test_an_identity_is_what_decides_how_games_go():
    plain = describe_match(A, B, Rules(), {"kind": "empty"}, 1)
    assert plain["format"] == 1 and plain["id"] == identity_digest(
        {key: plain[key] for key in ("players", "rules", "openings", "seed")}
    )
    others = [
        describe_match(B, A, Rules(), {"kind": "empty"}, 1),
        describe_match(A, B, Rules(komi=6.5), {"kind": "empty"}, 1),
        describe_match(A, B, Rules(), {"kind": "stones"}, 1),
        describe_match(A, B, Rules(), {"kind": "empty"}, 2),
    ]
    assert len({match["id"] for match in [plain, *others]}) == 5
    assert plain["id"] == "7f25a0f91bb0efcb" == describe_match(A, B, RULES["chinese"], {"kind": "empty"}, 1)["id"]
    assert describe_match(A, B, RULES["japanese"], {"kind": "empty"}, 1)["id"] != plain["id"]


def test_lines_are_kept_and_a_torn_one_is_cut(tmp_path):
    match = describe_match(A, B, Rules(), {"kind": "empty"}, 1)
    record = open_match(tmp_path, match)
    record.append([line(0), line(1, "crash")])
    record.append([line(1)])
    with open(record.folder / "games.jsonl", "ab") as file:
        file.write(b'{"game":2,"black"')
    assert [line.game for line in MatchRecord(record.folder).lines()] == [0, 1, 1]
    again = open_match(tmp_path, match)
    again.append([line(2)])
    assert [line.game for line in again.lines()] == [0, 1, 1, 2] and sorted(again.games()) == [0, 1, 2]
    assert not again.games()[1].void and again.lines()[1].void
    assert sorted(path.name for path in (again.folder / "sgf").iterdir()) == ["0.sgf", "1.sgf", "2.sgf"]


def test_what_is_no_match_is_said(tmp_path):
    with pytest.raises(InputError, match="no match"):
        MatchRecord(tmp_path)
    match = describe_match(A, B, Rules(), {"kind": "empty"}, 1)
    record = open_match(tmp_path, match)
    (record.folder / "match.json").write_text(json.dumps({**match, "seed": 2}))
    with pytest.raises(InputError, match="not the match"):
        open_match(tmp_path, match)
    (record.folder / "match.json").write_text(json.dumps({**match, "format": 2}))
    with pytest.raises(InputError, match="format 2"):
        MatchRecord(record.folder)
