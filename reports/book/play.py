"""The section on games with engines."""

from collections.abc import Sequence

from ablations.study import Study
from gonn_core.play.match.record import player_id
from reports.book.section import Section
from reports.play.all_games import Played, trial_names
from reports.play.match_table import match_table
from reports.play.players import player_names

TO_PLAY = "No net has played an engine yet: make match A=TRIAL B=gnugo GAMES=100 lets one."


def play_section(played: Played, studies: Sequence[Study]) -> Section:
    """Every match with an engine; matches between nets are in the studies' reports and in the ladders."""
    matches = played.with_engines
    if not matches:
        return Section("Games with engines", (TO_PLAY,))
    identities = {player_id(identity): identity for match in matches for identity in match.players.values()}
    names = player_names(identities, trial_names(studies))
    return Section(
        "Games with engines",
        ("Whole games through the Go Text Protocol, colours alternating.",),
        tables=(match_table(sorted(matches, key=lambda match: match.id), names),),
    )
