"""A match of two players: played to so many games, shown on the terminal, by one command at a time."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager

import torch

from gonn_core.errors import SettingError, UserError, printable
from gonn_core.play.engines.client import EngineError
from gonn_core.play.engines.commands import Engine, is_program, parse_engine
from gonn_core.play.match.batch import check_no_engine_is_needed
from gonn_core.play.match.engine_match import EngineEntrant, Entrant, NetEntrant, play_match
from gonn_core.play.match.net_match import play_nets
from gonn_core.play.match.record import GameLine, MatchRecord, describe_match, open_match, player_id
from gonn_core.play.match.spec import NetSpec, load_player
from gonn_core.play.openings import Openings
from gonn_core.play.rules import Rules
from gonn_core.rating.matches import Match, load_match
from gonn_core.trial.lease import Lease, LeaseHeld
from orchestration.console import notes
from orchestration.experiment.stopping import Command, Stopped, at_work
from orchestration.play.models import named_player, no_such_net
from orchestration.play.progress import GameCount
from orchestration.play.rate import net_names
from reports.play.players import player_names
from reports.workspace import Workspace

ENGINE_SECONDS = 120
"""Time-out of an engine's command unless another is given."""
EMPTY_BOARD = Openings(kind="empty")
CHINESE = Rules()
Side = NetSpec | Engine


def named_side(
    text: str, workspace: Workspace, level: int | None = None, rules: Rules = CHINESE, setting: str = "PLAYER"
) -> Side:
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
    sides: Mapping[str, Side],
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
    nets = _nets_alone(sides)
    if nets is not None and games > 2:
        _check_games_differ(nets, openings)
    with ExitStack() as stack:
        entrants: dict[str, Entrant] = {}
        if nets is not None:
            check_no_engine_is_needed(rules)
            identities = {name: load_player(net)[1] for name, net in nets.items()}
        else:
            for name, side in sides.items():
                entrants[name] = stack.enter_context(closing(_entrant(side, timeout, rules)))
            identities = {name: entrant.identity for name, entrant in entrants.items()}
            if not any(entrant.judges(rules) for entrant in entrants.values()):
                check_no_engine_is_needed(rules)
        content = describe_match(identities["A"], identities["B"], rules, openings.model_dump(), seed)
        names = _side_names(identities, workspace)
        record, lease = stack.enter_context(_held(workspace, content))
        command = stack.enter_context(at_work(workspace, f"match {record.id}"))

        def played(stopped: Callable[[], bool], on_moves: Callable[[int], object]) -> Iterator[GameLine]:
            if nets is not None:
                return play_nets(record, nets, names, games, workers, stopped, lease.guard, on_moves)
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


def _nets_alone(sides: Mapping[str, Side]) -> dict[str, NetSpec] | None:
    """The sides, where both are nets that need no engine beside them and thus play many games at a time; else None."""
    nets = {name: side for name, side in sides.items() if isinstance(side, NetSpec) and side.choice.passing != "guard"}
    return nets if len(nets) == len(sides) else None


def _check_games_differ(nets: Mapping[str, NetSpec], openings: Openings) -> None:
    if openings.kind == "empty" and all(net.choice.kind == "argmax" for net in nets.values()):
        raise SettingError(
            "openings", openings.kind, "two nets that always choose alike play one game again and again", ["stones"]
        )


def _side_names(identities: Mapping[str, dict], workspace: Workspace) -> dict[str, str]:
    """Side -> name of its player."""
    ids = {side: player_id(identity) for side, identity in identities.items()}
    names = player_names({ids[side]: identity for side, identity in identities.items()}, net_names(workspace))
    return {side: names[player] for side, player in ids.items()}


def _entrant(side: Side, timeout: int, rules: Rules) -> Entrant:
    if isinstance(side, NetSpec):
        return NetEntrant(side, timeout, rules)
    try:
        return EngineEntrant(side, timeout)
    except EngineError as error:
        raise SettingError("player", " ".join(side.command), str(error)) from None


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
