"""`gonn rate`: ratings of all players that met in matches."""

from collections.abc import Mapping, Sequence

import numpy as np

from gonn_core.errors import SettingError
from gonn_core.files.json_files import expected
from gonn_core.play.match.record import Match, load_matches
from orchestration.console import output
from orchestration.study.folder import all_studies
from reports.play.all_games import trial_names
from reports.play.players import player_names
from reports.play.rating import Tally, rate, tally
from reports.play.ratings import rating_tables
from reports.tables.terminal import print_table
from reports.workspace import Workspace


def print_ratings(matches: Sequence[str], anchor: str | None, colour: bool) -> None:
    """Rate the players of the matches whose ids begin so, or of all. Raises UserError."""
    workspace = Workspace.here()
    chosen = [match for match in chosen_matches(workspace, matches) if match.games]
    if not chosen:
        output().print(f"no games in {workspace.matches}; gonn match plays some")
        return
    table = tally(chosen)
    names = player_names(table.identities, net_names(workspace))
    number = int(np.argmax(table.met.sum(axis=1))) if anchor is None else find_player(table, names, anchor)
    try:
        ratings = rate(table.points, table.games, number, colour=colour)
    except ValueError as error:
        raise SettingError("--colour", colour, str(error)) from None
    for rating_table in rating_tables(table, ratings, names, chosen):
        print_table(rating_table, output())


def chosen_matches(workspace: Workspace, beginnings: Sequence[str]) -> list[Match]:
    """Matches whose ids begin as asked for, or all. Raises SettingError (MATCH) for one that is not there."""
    ids = [path.parent.name for path in expected(workspace.matches, "match.json")]
    for beginning in beginnings:
        if not any(name.startswith(beginning) for name in ids):
            raise SettingError("MATCH", beginning, "no such match", ids[-8:] or "none yet: gonn match plays one")
    chosen = [name for name in ids if name.startswith(tuple(beginnings))]
    return load_matches(workspace.matches, chosen if beginnings else None)


def find_player(table: Tally, names: Mapping[str, str], text: str) -> int:
    """Number of the player whose id or trial begins so, or whose name has it in it. Raises SettingError (--anchor)."""

    def fits(player: str) -> bool:
        return (
            player.startswith(text)
            or str(table.identities[player].get("trial", "")).startswith(text)
            or text.lower() in names[player].lower()
        )

    exact = [player for player in table.ids if text in (player, names[player])]
    candidates = exact or [player for player in table.ids if fits(player)]
    if len(candidates) != 1:
        problem = f"{len(candidates)} players fit" if candidates else "no such player"
        raise SettingError("--anchor", text, problem, [names[player] for player in table.ids])
    return table.number(candidates[0])


def net_names(workspace: Workspace) -> dict[str, str]:
    """Trial -> what it is, of all studies."""
    return trial_names(all_studies(workspace))
