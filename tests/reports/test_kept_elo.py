"""The ladders kept under results/: their pages are made anew from their match files alone, as `same_text` compares
them."""

import pytest

from gonn_core.play.match.record import player_id
from reports.book.elo import ladder_files
from reports.play.ladder import load_ladders
from tests.paths import ROOT
from tests.reports.made_studies import registry
from tests.reports.same_text import same_file

PLAY = ROOT / "results" / "play"


@pytest.fixture(scope="module", params=["elo", "elo-4x48"])
def kept(request):
    return PLAY / request.param


@pytest.fixture(scope="module")
def ladders(kept):
    return load_ladders(kept / "elo", kept / "matches")


def test_the_page_is_that_of_its_matches(kept, ladders):
    made = ladder_files(ladders, registry())
    assert {name for name in made if not name.endswith(".png")} == {
        path.name for path in kept.iterdir() if path.suffix in (".md", ".csv") and path.name != "README.md"
    }
    for name, data in made.items():
        assert same_file(name, data, (kept / name).read_bytes()), name


def test_its_matches_are_whole(kept, ladders):
    assert ladders
    for ladder in ladders:
        assert {path.name for path in (kept / "matches").iterdir()} >= set(ladder.file.matches)
        for match in ladder.matches:
            assert [line.game for line in match.games] == list(range(len(match.games))) and len(match.games) >= 10
            assert {player_id(identity) for identity in match.players.values()} <= set(ladder.tally.ids)
