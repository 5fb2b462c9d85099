"""The kept matches against GNU Go are what their files say."""

import csv
import json

import pytest

from gonn_core.play.match.record import identity_digest, load_match
from gonn_core.records.sgf import read_game
from tests.paths import ROOT

KEPT = ROOT / "results" / "play" / "gnugo"
ROWS = {row["match"]: row for row in csv.DictReader((KEPT / "matches.csv").open())}


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_row_of_the_table_is_its_games(name):
    tree, match, row = (
        json.loads((KEPT / "matches" / name / "match.json").read_text()),
        load_match(KEPT / "matches" / name),
        ROWS[name],
    )
    assert identity_digest({key: tree[key] for key in ("players", "rules", "openings", "seed")}) == name
    assert (len(match.games), match.points("A"), match.voided) == (
        int(row["games"]),
        float(row["points"]),
        int(row["voided"]),
    )
    for path in (KEPT / "matches" / name / "sgf").glob("*.sgf"):
        line = next(game for game in match.games if game.game == int(path.stem))
        assert len(read_game(path.read_bytes(), "kgs").moves) == line.moves


def test_every_match_is_in_the_table():
    assert sorted(ROWS) == sorted(path.name for path in (KEPT / "matches").iterdir())
