"""The ladders in results/play: their match files are whole. test_example makes their pages again."""

import pytest

from gonn_core.play.match.record import player_id
from reports.play.ladder import load_ladders
from tests.paths import ROOT

PLAY = ROOT / "results" / "play"


@pytest.fixture(scope="module", params=["elo", "elo-4x48"])
def kept(request):
    return PLAY / request.param


@pytest.fixture(scope="module")
def ladders(kept):
    return load_ladders(kept / "elo", kept / "matches")


def test_its_matches_are_whole(kept, ladders):
    assert ladders
    for ladder in ladders:
        assert {path.name for path in (kept / "matches").iterdir()} >= set(ladder.file.matches)
        for match in ladder.matches:
            assert [line.game for line in match.games] == list(range(len(match.games))) and len(match.games) >= 10
            assert {player_id(identity) for identity in match.players.values()} <= set(ladder.tally.ids)
