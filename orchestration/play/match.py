"""`gonn match`: two players play games; `gonn play`: the arms of a study play each other; `gonn matches`: all
results."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ablations.study import Study
from gonn_core.errors import SettingError, UserError, markdown_escape
from gonn_core.play.match.players import NetSpec, parse_choice
from gonn_core.play.match.playing import MOST_ATTEMPTS
from gonn_core.play.match.record import Match, Side, player_id
from gonn_core.play.rules import RULES, Openings, RuleSet
from gonn_core.trial.directory import TrialDirectory
from orchestration.console import notes, output
from orchestration.play.playing import Player, named_side, play_between
from orchestration.play.rate import chosen_matches, net_names
from orchestration.study.folder import find_study
from orchestration.study.report import report_study
from reports.files import write_files
from reports.play.match_table import match_table
from reports.play.players import player_names
from reports.study.report_tables import report_tables
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
    sides: dict[Side, Player] = {
        "A": named_side(a, workspace, level, RULES[rules], "A"),
        "B": named_side(b, workspace, level, RULES[rules], "B"),
    }
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


def play_study(study: str, games: int, seed: int, choice: Sequence[str], workers: int | None) -> int:
    """Let every pair of finished trials with and without a card play so many games; prints the study's table of play.
    Raises UserError.

    choice: of both sides, such as `choice=argmax`; none: the published one, by which claims are judged.
    """
    workspace = Workspace.here()
    chosen = find_study(workspace, study)
    how = parse_choice(list(choice), "--how")
    pairs = paired_trials(workspace, chosen)
    for number, (label, with_it, without) in enumerate(pairs, 1):
        sides: dict[Side, Player] = {
            "A": NetSpec(workspace.runs / with_it, None, how),
            "B": NetSpec(workspace.runs / without, None, how),
        }
        notes().print(f"{number} of {len(pairs)}: {label}, with (A) against without (B)")
        play_between(workspace, sides, games, seed, workers=workers)
    reported = report_study(workspace, chosen, "play")
    print_table(report_tables(reported.files.report).table("play"), output())
    output().print(f"report: {reported.files.markdown}")
    return 0


def paired_trials(workspace: Workspace, study: Study) -> list[tuple[str, str, str]]:
    """(card and seed, trial with it, trial without it) of all that are done, seed by seed. Raises UserError when there
    are none."""
    single = [contrast for contrast in study.contrasts if len(contrast.with_it) == len(contrast.without) == 1]
    if not single:
        raise SettingError(
            "STUDY",
            study.id,
            f"each of its effects is a mean over several arms ({study.design}); only one arm can play another"
            if study.contrasts
            else "it compares nothing",
            "a study of design add-one",
        )
    pairs = []
    for seed in study.seeds:
        for contrast in single:
            with_it = study.trials_of(contrast.with_it[0]).get(seed)
            without = study.trials_of(contrast.without[0]).get(seed)
            if with_it and without and _is_done(workspace, with_it) and _is_done(workspace, without):
                pairs.append((f"{contrast.card} s{seed}", with_it, without))
    if not pairs:
        raise UserError(
            f"study {study.id}: no seed is done both with and without an enhancement; gonn status shows its trials"
        )
    return pairs


def _is_done(workspace: Workspace, trial: str) -> bool:
    return TrialDirectory(workspace.runs / trial).state() == "done"
