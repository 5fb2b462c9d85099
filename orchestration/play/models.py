"""`gonn models`: trained nets by their ids, with what helps to choose one: arm, study, accuracy, Elo."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from gonn_core.errors import InputError, SettingError
from gonn_core.play.match.players import PlayerSpec, parse_player
from gonn_core.play.match.record import load_matches
from gonn_core.trial.directory import TrialDirectory
from orchestration.console import notes, output
from orchestration.play.rate import net_names
from orchestration.study.folder import all_studies, find_trial
from reports.play.all_games import trial_names
from reports.play.nets_table import Elo, TrainedNet, nets_tables
from reports.play.players import is_net, player_names
from reports.play.rating import rate, tally
from reports.results.decisions import load_results
from reports.results.group import MAIN
from reports.tables.terminal import print_table
from reports.workspace import Workspace

_SHOWN = 6  # nets in an error
_HOW = "`gonn models` lists them"


def print_models(text: str, everything: bool) -> None:
    """A table of the trained nets whose id begins so or whose name, base or study has `text` in it, or of all;
    everything: those of searches too. Raises UserError."""
    workspace = Workspace.here()
    nets = trained_nets(workspace)
    loose = _of_no_study(workspace, {net.trial for net in nets})
    shown = [net for net in loose if everything or net.base or (text and net.trial.startswith(text))]
    chosen = [net for net in nets + shown if _fits(net, text)]
    if not chosen:
        if text and nets + loose:
            raise SettingError("MODEL", text, "no trained net is called so", _nearest(text, nets + loose))
        output().print(f"no trained nets in {workspace.runs}; make ablation NAME=… trains some")
        return
    elos, anchor = _ratings(workspace, {net.trial: net.samples for net in chosen})
    hidden = len(loose) - len(shown)
    rated = [replace(net, elo=elos.get(net.trial)) for net in chosen]
    tables = nets_tables(rated, anchor, hidden)
    for table in tables:
        print_table(table, output())


def trained_nets(workspace: Workspace) -> list[TrainedNet]:
    """The finished trials of all studies, the earliest first, each in the first that has it. A damaged trial
    or study is named on the terminal and passed over."""
    studies = all_studies(workspace)
    names = trial_names(studies)
    found: dict[str, TrainedNet] = {}
    for study in studies:
        try:
            results = load_results(study, workspace.runs, workspace.studies / study.id, workspace.report_cache)
        except InputError as error:
            notes().print(f"{study.id} is left out: {error}")
            continue
        for trial in results.trials:
            if trial.state == "damaged":
                notes().print(f"{trial.id} is left out: {trial.failure}")
            if trial.result is None or trial.id in found:
                continue
            main = trial.evaluations[MAIN] if trial.evaluations else None
            summary: Mapping = {} if main is None else main.summary
            found[trial.id] = TrainedNet(
                trial.id,
                names[trial.id],
                study.base,
                study.id,
                study.data,
                int(trial.result["samples"]),
                summary.get("nats"),
                summary.get("top1"),
            )
    return list(found.values())


def named_player(text: str, workspace: Workspace, setting: str) -> PlayerSpec:
    """The player that a text names, a net or what may be an engine. Raises SettingError under the name of the setting
    for what looks like a trial's id and is none, and for a base."""

    def directory(beginning: str) -> Path:
        try:
            return find_trial(workspace, beginning, setting)
        except SettingError as error:
            if error.problem.startswith("several"):
                raise
            raise no_such_net(workspace, beginning, setting, engine=False) from None

    return parse_player(text, directory)


def no_such_net(workspace: Workspace, text: str, setting: str, engine: bool) -> SettingError:
    """What to say of a name that no trial's id begins with; engine: where a program may be named too."""
    nets = trained_nets(workspace)
    nets += _of_no_study(workspace, {net.trial for net in nets})
    of_base = [net for net in nets if net.base == text]
    if of_base:
        return SettingError(
            setting, text, f"a base, of which these nets are trained; {_HOW}: gonn models {text}", _listed(of_base)
        )
    problem = f"no trial in {workspace.runs} begins so"
    if engine:
        problem += ", and no program on PATH or in /usr/games is called so"
    valid = _nearest(text, nets) if nets else ["none is trained yet: make ablation NAME=… trains some"]
    return SettingError(setting, text, f"{problem}; {_HOW}", [*valid, *["gnugo, gnugo:LEVEL, a GTP command"] * engine])


def _nearest(text: str, nets: Sequence[TrainedNet]) -> list[str]:
    """The nets whose ids begin most like `text`, or whose names are most like it."""

    def likeness(net: TrainedNet) -> float:
        words = [net.trial[: len(text)], net.base, *net.name.split()]
        return max(difflib.SequenceMatcher(None, text, word).ratio() for word in words)

    return _listed(sorted(nets, key=likeness, reverse=True)[:_SHOWN])


def _listed(nets: Sequence[TrainedNet]) -> list[str]:
    shown = [f"{net.trial[:8]} ({net.name})" for net in nets[:_SHOWN]]
    return shown + [f"{len(nets) - _SHOWN} more"] * (len(nets) > _SHOWN)


def _fits(net: TrainedNet, text: str) -> bool:
    wanted = text.lower()
    return net.trial.startswith(wanted) or any(wanted in word.lower() for word in (net.name, net.base, net.study))


def _of_no_study(workspace: Workspace, known: Iterable[str]) -> list[TrainedNet]:
    """Finished trials that no study has: of `gonn train --job`, which have the name of their base, and of searches."""
    found = []
    for path in sorted(workspace.runs.glob("*/result.json")):
        trial = path.parent.name
        directory = TrialDirectory(path.parent)
        result = None if trial in known else directory.result()
        if result is None:
            continue
        labels = (directory.config() or {}).get("labels", {})
        base = labels.get("base", "")
        name = f"{base} s{labels.get('seed', '')}" if base else f"search {labels.get('search', '?')}"
        found.append(TrainedNet(trial, name, base, "", "", int(result["samples"]), None, None))
    return found


def _ratings(workspace: Workspace, samples: Mapping[str, int]) -> tuple[dict[str, Elo], str]:
    """Trial -> the Elo of its final net, as the player with most games where several ways to choose were rated; and who
    is at 0."""
    matches = [match for match in load_matches(workspace.matches) if match.games]
    if not matches:
        return {}, ""
    table = tally(matches)
    games = table.met.sum(axis=1)
    number = int(np.argmax(games))
    ratings = rate(table.points, table.games, number)
    names = player_names(table.identities, net_names(workspace))
    most: dict[str, int] = {}
    for player, key in enumerate(table.ids):
        identity = table.identities[key]
        trial = str(identity.get("trial"))
        ours = is_net(identity) and samples.get(trial) == identity.get("samples")
        linked = games[player] > 0 and ratings.component[player] == ratings.component[number]
        if ours and linked and (trial not in most or games[player] > games[most[trial]]):
            most[trial] = player
    found = {
        trial: Elo(float(ratings.elo[player]), ratings.half_width(player), int(games[player]))
        for trial, player in most.items()
    }
    return found, names[table.ids[number]]
