"""A match of two players: played to so many games, shown on the terminal, by one command at a time."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from typing import TextIO

import torch

from gonn_core.errors import SettingError, UserError, printable
from gonn_core.play.engines.client import EngineError
from gonn_core.play.engines.commands import Engine, is_program, parse_engine
from gonn_core.play.match.players import EngineEntrant, Entrant, NetEntrant, NetSpec
from gonn_core.play.match.playing import play_match
from gonn_core.play.match.record import (
    GameLine,
    Match,
    MatchRecord,
    Side,
    describe_match,
    load_match,
    open_match,
    player_id,
)
from gonn_core.play.rules import Openings, Rules
from gonn_core.trial.lease import Lease, LeaseHeld
from orchestration.console import notes
from orchestration.experiment.stopping import Command, Stopped, at_work
from orchestration.play.models import named_player, no_such_net
from orchestration.play.rate import net_names
from orchestration.progress import PLAIN_SECONDS, Bar, display, duration
from reports.play.players import player_names
from reports.workspace import Workspace

ENGINE_SECONDS = 120
"""Time-out of an engine's command unless another is given."""
STILL_SECONDS = 60.0
"""Where no bar is drawn, the same count is said again only after so long: games with an engine take minutes."""
EMPTY_BOARD = Openings(kind="empty")
CHINESE = Rules()
Player = NetSpec | Engine


def named_side(
    text: str, workspace: Workspace, level: int | None = None, rules: Rules = CHINESE, setting: str = "PLAYER"
) -> Player:
    """The player that a text names. level: of a plain `gnugo`; rules: that GNU Go is started under. Raises SettingError
    under the name of the setting: one word that is no program was meant for a trial as likely."""
    if not text.strip():
        valid = "a trial's id (`gonn models` lists them), gnugo, gnugo:LEVEL or a GTP command"
        raise UserError(f"{setting}: no player is given; valid: {valid}")
    spec = named_player(text, workspace, setting)
    if isinstance(spec, NetSpec):
        return spec
    name = spec.text.partition(",")[0].partition("@")[0]
    if len(spec.text.split()) == 1 and name.partition(":")[0] != "gnugo" and not is_program(name):
        raise no_such_net(workspace, name, setting, engine=True)
    return parse_engine(spec.text, level if spec.text == "gnugo" else None, rules)


def play_between(
    workspace: Workspace,
    sides: Mapping[Side, Player],
    games: int,
    seed: int,
    openings: Openings = EMPTY_BOARD,
    workers: int | None = None,
    timeout: int = ENGINE_SECONDS,
    rules: Rules = CHINESE,
) -> Match:
    """The match of players A and B after its first `games` games, of which it plays those that are missing, showing how
    it gets on.

    Raises UserError: a player that is not there, another command that plays this match, Stopped when asked to stop.
    """
    torch.set_num_threads(1)
    workers = workers or os.cpu_count() or 1
    if games > 2:
        _check_games_differ(sides.values(), openings)
    with ExitStack() as stack:
        entrants: dict[Side, Entrant] = {}
        for name, player in sides.items():
            entrants[name] = stack.enter_context(closing(_entrant(player, timeout, rules)))
        identities = {name: entrant.identity for name, entrant in entrants.items()}
        if rules.scoring == "territory" and not any(entrant.judges(rules) for entrant in entrants.values()):
            raise SettingError(
                "rules",
                rules.name,
                "whose points are whose has to be told by a GNU Go that plays, or that guards a net",
                "chinese, gnugo as a player, or passing=guard",
            )
        content = describe_match(identities["A"], identities["B"], rules, openings.model_dump(), seed)
        names = _side_names(identities, workspace)
        record, lease = stack.enter_context(_held(workspace, content))
        command = stack.enter_context(at_work(workspace, f"match {record.id}"))

        def played(stopped: Callable[[], bool], on_moves: Callable[[int], object]) -> Iterator[GameLine]:
            return play_match(record, entrants, names, games, workers, stopped, lease.guard, on_moves)

        missing = games - sum(number < games for number in record.games())
        if missing:
            players = f"{printable(names['A'])} – {printable(names['B'])}"
            notes().print(f"match {record.id}: {players}; {rules.sentence()}")
            if identities["A"] == identities["B"]:
                notes().print("A and B are one player: its games tell of chance alone, and no rating counts them")
            _watch(played, record, missing, command)
        if command.stop_requested:
            raise Stopped
        return load_match(record.folder)


def _check_games_differ(players: Iterable[Player], openings: Openings) -> None:
    """Raises SettingError for nets that play one game again and again. A guard may pass at another time in each."""
    alike = (
        isinstance(player, NetSpec) and player.choice.kind == "argmax" and player.choice.passing != "guard"
        for player in players
    )
    if openings.kind == "empty" and all(alike):
        raise SettingError(
            "openings", openings.kind, "two nets that always choose alike play one game again and again", ["stones"]
        )


def _side_names(identities: Mapping[Side, dict], workspace: Workspace) -> dict[Side, str]:
    """Side -> name of its player."""
    ids = {side: player_id(identity) for side, identity in identities.items()}
    names = player_names({ids[side]: identity for side, identity in identities.items()}, net_names(workspace))
    return {side: names[player] for side, player in ids.items()}


def _entrant(player: Player, timeout: int, rules: Rules) -> Entrant:
    if isinstance(player, NetSpec):
        return NetEntrant(player, timeout, rules)
    try:
        return EngineEntrant(player, timeout)
    except EngineError as error:
        raise SettingError("player", " ".join(player.command), str(error)) from None


@contextmanager
def _held(workspace: Workspace, content: dict) -> Iterator[tuple[MatchRecord, Lease]]:
    """The match's record while no other command plays it. Raises UserError when one does."""
    folder = workspace.matches / content["id"]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        lease = Lease.take(folder)
    except LeaseHeld as held:
        process = held.holder.process
        where = f"process {process.pid} on {process.host}"
        raise UserError(f"another command plays match {content['id']} ({where})") from None
    with lease:
        yield open_match(workspace.matches, content), lease


def _watch(
    played: Callable[[Callable[[], bool], Callable[[int], object]], Iterator[GameLine]],
    record: MatchRecord,
    missing: int,
    command: Command,
) -> None:
    """Play, and show games as they end, what was voided and which moves were refused."""
    wins = {"A": 0.0, "B": 0.0}
    for line in record.games().values():
        _count(wins, line)
    voided = 0
    with GameCount("match", missing) as count:

        def stopped() -> bool:
            count.tick()
            return command.stop_requested

        for line in played(stopped, count.add_moves):
            if line.void:
                voided += 1
                count.note(f"game {line.game} voided ({line.end}): {printable(line.reason)}")
                continue
            if line.end == "illegal":
                count.note(f"game {line.game}: refused move: {printable(line.reason)}")
            _count(wins, line)
            count.step(f"A {wins['A']:g} : {wins['B']:g} B" + (f", {voided} voided" if voided else ""))


def _count(wins: dict[str, float], line: GameLine) -> None:
    for side in wins:
        wins[side] += 0.5 if line.winner is None else line.winner == side


class GameCount:
    """Counts finished games of this command: `with GameCount("match", 200) as count: count.step("A 12, B 8")`."""

    def __init__(
        self, title: str, total: int, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ):
        self._title, self._total, self._clock = title, total, clock
        self._done, self._done_when_shown, self._moves, self._text = 0, 0, 0, ""
        self._display = display(self, stream, clock=clock)

    def __enter__(self) -> "GameCount":
        self._begun = self._clock()
        self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._done and not self._display.live:
            self._display.note(self.line())
        self._display.__exit__(*error)

    def step(self, text: str = "", games: int = 1) -> None:
        """`games` more are done; `text`: what is to be said of them so far."""
        self._done, self._text = self._done + games, text
        self.tick()

    def add_moves(self, count: int) -> None:
        """So many more moves were played; shown at the next tick."""
        self._moves += count

    def tick(self) -> None:
        """Show how things stand when it is due, be there anything new or not."""
        if self._display.refresh(PLAIN_SECONDS if self._done > self._done_when_shown else STILL_SECONDS):
            self._done_when_shown = self._done

    def note(self, text: str) -> None:
        """A line of its own."""
        self._display.note(text)

    def line(self) -> str:
        """How things stand."""
        return f"{self._title}: {self._counts()}"

    def bars(self) -> list[Bar]:
        """One bar: the games."""
        return [Bar(self._title, self._done, self._total, self._counts())]

    def _counts(self) -> str:
        seconds = self._clock() - self._begun
        rate = self._done / seconds if seconds > 0 else 0.0
        left = duration((self._total - self._done) / rate if rate else None)
        results = f", {self._text}" if self._text else ""
        moves = f", {self._moves:,} moves" if self._moves else ""
        return f"{self._done:,}/{self._total:,} games{moves}, {60 * rate:.1f}/min, ETA {left}{results}"
