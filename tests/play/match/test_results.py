"""The kept matches are what their files say."""

import csv
import json

import pytest

from gonn_core.play.match.record import identity_digest, load_match
from gonn_core.records.sgf import read_game
from scripts.pack import members
from scripts.results import PACKS, RESULTS

with (RESULTS / "report" / "matches.csv").open() as file:
    ROWS = {row["match"]: row for row in csv.DictReader(file)}
GAMES = sorted((RESULTS / "play" / "gnugo" / "games").glob("*/*.sgf"))


@pytest.fixture(scope="module")
def matches(tmp_path_factory):
    """Match -> its folder, from the packs."""
    root = tmp_path_factory.mktemp("packs")
    for name, data in members(PACKS).items():
        if name.startswith("matches/"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
    return {folder.name: folder for folder in (root / "matches").iterdir()}


def test_a_match_is_named_by_who_plays_and_a_row_of_the_table_is_its_games(matches):
    assert set(ROWS) < set(matches)
    for name, folder in matches.items():
        tree, match = json.loads((folder / "match.json").read_text()), load_match(folder)
        assert identity_digest({key: tree[key] for key in ("players", "rules", "openings", "seed")}) == name
        if row := ROWS.get(name):
            assert (len(match.games), match.points("A")) == (int(row["games"]), float(row["points"]))
            assert match.voided == int(row["voided"])


@pytest.mark.parametrize("path", GAMES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_game_has_the_moves_of_its_line(path, matches):
    line = next(game for game in load_match(matches[path.parent.name]).games if game.game == int(path.stem))
    assert len(read_game(path.read_bytes(), "kgs").moves) == line.moves
