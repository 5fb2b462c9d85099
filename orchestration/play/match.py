"""Matches as a user runs them: `gonn match`, two players; `gonn play`, the arms of a study against each other;
`gonn matches`, all results."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Literal, TextIO

import torch

from ablations.study import Study
from gonn_core.errors import SettingError, UserError, markdown_escape, printable
from gonn_core.play.engines.players import find_program, parse_engine
from gonn_core.play.match.players import Entrant, NetSpec, Player, parse_choice
from gonn_core.play.match.playing import MOST_ATTEMPTS, play_match
from gonn_core.play.match.record import (
    SIDES,
    GameLine,
    Match,
    Side,
    describe_match,
    game_points,
    load_match,
    open_match,
    player_id,
)
from gonn_core.play.rules import RULES, Openings, Rules, RuleSet
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.lease import Lease, LeaseHeld
from orchestration.console import PLAIN_SECONDS, Bar, Display, duration, notes, output
from orchestration.experiment.stopping import Stopped, at_work
from orchestration.play.ratings import chosen_matches, named_player, net_names, no_such_net
from orchestration.study.folder import find_study
from orchestration.study.report import report_study
from reports.play.matches import match_table
from reports.play.players import names_in, player_names
from reports.study.tables import report_tables
from reports.tables.writers import csv_text, markdown_table, print_table
from reports.workspace import Workspace, write_files

ENGINE_SECONDS = 120
"""Time-out of an engine's command unless another is given."""
STILL_SECONDS = 60.0
"""Where no bar is drawn, an unchanged count is repeated only after so long: games with an engine take minutes."""
EMPTY_BOARD = Openings(kind="empty")


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
        side: named_side(text, workspace, level, RULES[rules], side) for side, text in zip(SIDES, (a, b), strict=True)
    }
    if level is not None and "gnugo" not in (a, b):
        raise SettingError("level", level, "no player is plain gnugo", "gnugo as one of the players")
    match = play_between(workspace, sides, games, seed, Openings(kind=openings), workers, timeout, RULES[rules])
    print_table(match_table([match], names_in([match], net_names(workspace))), output())
    output().print(f"match {match.id} in {workspace.matches / match.id}")
    if missing := games - sum(line.game < games for line in match.games):
        output().print(
            f"{missing} games were given up: their engine failed {MOST_ATTEMPTS} times in each; games.jsonl says how"
        )
    return 1 if missing else 0


def show_matches(beginnings: Sequence[str], out: Path | None) -> None:
    """Print the table of the matches whose ids begin so, or of all; with `out` also write it there, as markdown and
    CSV."""
    workspace = Workspace.here()
    matches = [match for match in chosen_matches(workspace, beginnings) if match.games]
    if not matches:
        output().print(f"no games in {workspace.matches}; gonn match plays some")
        return
    table = match_table(matches, names_in(matches, net_names(workspace)))
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
    done = {trial.trial for trial in study.trials if TrialDirectory(workspace.runs / trial.trial).state() == "done"}
    pairs = []
    for seed in study.seeds:
        for contrast in single:
            with_it = study.trials_of(contrast.with_it[0]).get(seed)
            without = study.trials_of(contrast.without[0]).get(seed)
            if with_it and without and {with_it, without} <= done:
                pairs.append((f"{contrast.card} s{seed}", with_it, without))
    if not pairs:
        raise UserError(
            f"study {study.id}: no seed is done both with and without an enhancement; gonn status shows its trials"
        )
    return pairs


def named_side(
    text: str, workspace: Workspace, level: int | None = None, rules: Rules = RULES["chinese"], setting: str = "PLAYER"
) -> Player:
    """The player that a text names. level: of a plain `gnugo`; rules: that GNU Go is started under. Raises SettingError
    under the name of the setting: one word that is no program was meant for a trial as likely."""
    if not text.strip():
        valid = "a trial's id (`gonn models` lists them), gnugo, gnugo:LEVEL or a GTP command"
        raise UserError(f"{setting}: no player is given; valid: {valid}")
    player = named_player(text, workspace, setting)
    if isinstance(player, NetSpec):
        return player
    name = player.partition(",")[0].partition("@")[0]
    if len(player.split()) == 1 and name.partition(":")[0] != "gnugo":
        try:
            find_program(name)
        except SettingError:
            raise no_such_net(workspace, name, setting, engine=True) from None
    return parse_engine(player, level if player == "gnugo" else None, rules)


def play_between(
    workspace: Workspace,
    sides: Mapping[Side, Player],
    games: int,
    seed: int,
    openings: Openings = EMPTY_BOARD,
    workers: int | None = None,
    timeout: int = ENGINE_SECONDS,
    rules: Rules = RULES["chinese"],
) -> Match:
    """The match of players A and B after its first `games` games, of which it plays those that are missing, with
    progress on the terminal.

    Raises UserError: a player that is not there, another command that plays this match, Stopped when asked to stop.
    """
    torch.set_num_threads(1)
    alike = (
        isinstance(player, NetSpec) and player.choice.kind == "argmax" and player.choice.passing != "guard"
        for player in sides.values()
    )
    if games > 2 and openings.kind == "empty" and all(alike):
        raise SettingError(
            "openings", openings.kind, "two nets that always choose alike play one game again and again", ["stones"]
        )
    with ExitStack() as stack:
        entrants = {side: stack.enter_context(closing(Entrant(sides[side], timeout, rules))) for side in SIDES}
        identities = {side: entrant.identity for side, entrant in entrants.items()}
        if rules.scoring == "territory" and not any(entrant.judges(rules) for entrant in entrants.values()):
            raise SettingError(
                "rules",
                rules.name,
                "only a GNU Go that plays, or that guards a net, knows whose points are whose",
                "chinese, gnugo as a player, or passing=guard",
            )
        content = describe_match(identities["A"], identities["B"], rules, openings.model_dump(), seed)
        players = player_names(identities.values(), net_names(workspace))
        names = {side: players[player_id(identity)] for side, identity in identities.items()}
        folder = workspace.matches / content["id"]
        folder.mkdir(parents=True, exist_ok=True)
        try:
            lease = stack.enter_context(Lease.take(folder))
        except LeaseHeld as held:
            process = held.holder.process
            where = f"process {process.pid} on {process.host}"
            raise UserError(f"another command plays match {content['id']} ({where})") from None
        record = open_match(workspace.matches, content)
        is_stopped = stack.enter_context(at_work(workspace, f"match {folder.name}"))
        done = record.games()
        missing = games - sum(number < games for number in done)
        if missing:
            notes().print(f"match {folder.name}: {printable(names['A'])} – {printable(names['B'])}; {rules.sentence()}")
            if identities["A"] == identities["B"]:
                notes().print("A and B are one player: its games show chance alone, and no rating counts them")
            with GameCount("match", missing) as count:

                def stopped() -> bool:
                    count.tick()
                    return is_stopped()

                played = play_match(
                    record, entrants, names, games, workers or os.cpu_count() or 1, stopped, lease.guard
                )
                _watch(played, list(done.values()), count)
        if is_stopped():
            raise Stopped
        return load_match(folder)


def _watch(played: Iterator[GameLine], counted: list[GameLine], count: "GameCount") -> None:
    """Play, and show games as they end, what was voided and which moves were refused."""
    voided = 0
    for line in played:
        if line.void:
            voided += 1
            count.note(f"game {line.game} voided ({line.end}): {printable(line.reason)}")
            continue
        if line.end == "illegal":
            count.note(f"game {line.game}: refused move: {printable(line.reason)}")
        counted.append(line)
        a, b = (sum(game_points(game, side) for game in counted) for side in SIDES)
        count.step(f"A {a:g} : {b:g} B" + (f", {voided} voided" if voided else ""))


class GameCount:
    """Counts finished games of this command: `with GameCount("match", 200) as count: count.step("A 12, B 8")`."""

    def __init__(
        self, title: str, total: int, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ):
        self._title, self._total, self._clock = title, total, clock
        self._done, self._done_when_shown, self._text = 0, 0, ""
        self._display = Display(self.bars, stream, clock=clock)

    def __enter__(self) -> "GameCount":
        self._begun = self._clock()
        self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._done and not self._display.live:
            self._display.refresh(0.0)
        self._display.__exit__(*error)

    def step(self, text: str = "", games: int = 1) -> None:
        """`games` more are done; `text`: results so far."""
        self._done, self._text = self._done + games, text
        self.tick()

    def tick(self) -> None:
        """Refresh the display when it is due, even if the count is unchanged."""
        if self._display.refresh(PLAIN_SECONDS if self._done > self._done_when_shown else STILL_SECONDS):
            self._done_when_shown = self._done

    def note(self, text: str) -> None:
        """A line of its own."""
        self._display.note(text)

    def bars(self) -> list[Bar]:
        """One bar: the games."""
        return [Bar(self._title, self._done, self._total, self._counts())]

    def _counts(self) -> str:
        seconds = self._clock() - self._begun
        rate = self._done / seconds if seconds > 0 else 0.0
        left = duration((self._total - self._done) / rate if rate else None)
        results = f", {self._text}" if self._text else ""
        return f"{self._done:,}/{self._total:,} games, {60 * rate:.1f}/min, ETA {left}{results}"
