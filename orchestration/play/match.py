"""`gonn match`: two players play games; `gonn matches`: what came of all matches."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from gonn_core.errors import SettingError, markdown_escape
from gonn_core.play.match.engine_match import MOST_ATTEMPTS
from gonn_core.play.match.record import player_id
from gonn_core.play.openings import Openings
from gonn_core.play.rules import RULES, RuleSet
from gonn_core.rating.matches import Match
from orchestration.console import output
from orchestration.play.playing import named_side, play_between
from orchestration.play.rate import chosen_matches, net_names
from reports.files import write_files
from reports.play.match_table import match_table
from reports.play.players import player_names
from reports.tables.markdown import markdown_table
from reports.tables.serial import csv_text
from reports.tables.terminal import print_table
from reports.workspace import Workspace


def run_match(
    a: str,
    b: str,
    games: int,
    seed: int,
    openings: Literal["empty", "stones"],
    level: int | None,
    workers: int | None,
    timeout: int,
    rules: RuleSet = "chinese",
) -> int:
    """Let two players have played so many games, and print the result. 1 when games were given up. Raises UserError."""
    workspace = Workspace.here()
    sides = {name: named_side(text, workspace, level, RULES[rules], name) for name, text in (("A", a), ("B", b))}
    if level is not None and "gnugo" not in (a, b):
        raise SettingError("level", level, "no player is plain gnugo", "gnugo as one of the players")
    match = play_between(workspace, sides, games, seed, Openings(kind=openings), workers, timeout, RULES[rules])
    print_table(match_table([match], names_of([match], workspace)), output())
    output().print(f"match {match.id} in {workspace.matches / match.id}")
    if missing := games - sum(line.game < games for line in match.games):
        output().print(
            f"{missing} games were given up: their engine failed {MOST_ATTEMPTS} times in each; games.jsonl says how"
        )
    return 1 if missing else 0


def names_of(matches: Sequence[Match], workspace: Workspace) -> dict[str, str]:
    """Player id -> name, of all players of some matches."""
    identities = {player_id(identity): identity for match in matches for identity in match.players.values()}
    return player_names(identities, net_names(workspace))


def show_matches(beginnings: Sequence[str], out: Path | None) -> None:
    """Print the table of the matches whose ids begin so, or of all; with `out` also write it there, as markdown and
    CSV."""
    workspace = Workspace.here()
    matches = [match for match in chosen_matches(workspace, beginnings) if match.games]
    if not matches:
        output().print(f"no games in {workspace.matches}; gonn match plays some")
        return
    table = match_table(matches, names_of(matches, workspace))
    print_table(table, output())
    if out is not None:
        text = "\n\n".join([f"# {table.title}", markdown_table(table), *map(markdown_escape, table.notes)]) + "\n"
        write_files(out, {"matches.md": text.encode(), "matches.csv": csv_text(table).encode()})
        output().print(f"{out / 'matches.md'}, {out / 'matches.csv'}")
