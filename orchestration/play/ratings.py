"""Trained nets as players: `gonn models` lists them, `gonn rate` rates all that met in matches; nets by their names."""

import difflib
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gonn_core.errors import InputError, SettingError
from gonn_core.files.json_files import expected
from gonn_core.play.match.players import NetSpec, parse_player
from gonn_core.play.match.record import Match, load_matches
from gonn_core.trial.directory import TrialDirectory
from orchestration.console import notes, output
from orchestration.study.folder import all_studies, find_trial
from reports.play.ladder import elo_text
from reports.play.matches import elo_of_nets, rating_table
from reports.play.players import player_names, trial_names
from reports.play.rating import Tally, rate, tally
from reports.results.decisions import load_results
from reports.results.group import MAIN
from reports.tables import formats
from reports.tables.cells import Column, Row, Table, make_row
from reports.tables.writers import print_table
from reports.workspace import Workspace

_SHOWN = 6  # nets in an error
_IDS = 8
"""Characters of a trial's id that are shown, more where two begin alike."""
_COLUMNS = (
    Column("trial", "trial", "left"),
    Column("net", "net", "left"),
    Column("samples", "samples", show=formats.samples),
    Column("top1", "test top-1", show=lambda share: formats.level(share, "share")),
    Column("nats", "test nats", show=formats.level),
    Column("elo", "Elo", show=lambda ends: f"{elo_text(ends[0])} ± {ends[1]:.0f}"),
)


@dataclass(frozen=True)
class NamedNet:
    """A finished trial; nats and top1 on the test games of its study's main evaluation. base, study and data are empty
    where they are not known."""

    trial: str
    name: str
    samples: int
    base: str = ""
    study: str = ""
    data: str = ""
    nats: float | None = None
    top1: float | None = None


def print_models(text: str, everything: bool) -> None:
    """A table per study of the trained nets whose id begins so or whose name, base or study has `text` in it, or of
    all; everything: those of searches too. Raises UserError."""
    workspace = Workspace.here()
    nets, lower = trained_nets(workspace), text.lower()
    shown = [net for net in nets if everything or net.base or (text and net.trial.startswith(text))]
    chosen = [
        net
        for net in shown
        if net.trial.startswith(lower) or any(lower in word.lower() for word in (net.name, net.base, net.study))
    ]
    if not chosen:
        if text and nets:
            raise SettingError("MODEL", text, "no trained net is called so", _nearest(text, nets))
        output().print(f"no trained nets in {workspace.runs}; make ablation NAME=… trains some")
        return
    matches = [match for match in load_matches(workspace.matches) if match.games]
    elos, anchor = elo_of_nets(matches, {net.trial: net.samples for net in chosen}, net_names(workspace))
    columns = _COLUMNS if elos else _COLUMNS[:-1]
    length = _IDS
    while len({net.trial[:length] for net in chosen}) < len(chosen):
        length += 1
    notes = ["Play with one: gonn gtp --model TRIAL, or make match A=TRIAL B=gnugo. Its id's beginning is enough."]
    if len({net.data for net in chosen if net.data}) > 1:
        notes.append("Test nats and top-1 compare nets of one data set: these are of several.")
    if elos:
        notes.append(f"Elo relative to {anchor}, with half of the 95 % interval; make rate shows all players.")
    if hidden := len(nets) - len(shown):
        notes.append(f"{formats.count(hidden)} trials of learning-rate searches are left out: gonn models --all.")
    studies = list(dict.fromkeys((net.study, net.data) for net in chosen))
    for study, data in studies:
        rows = tuple(_row(columns, net, length, elos) for net in chosen if net.study == study)
        title = f"{study} on {data}" if study else "Of no study"
        print_table(Table("models", title, columns, rows, tuple(notes) if study == studies[-1][0] else ()), output())


def _row(columns: Sequence[Column], net: NamedNet, length: int, elos: Mapping[str, tuple[float, float]]) -> Row:
    values = {
        "trial": net.trial[:length],
        "net": net.name,
        "samples": net.samples,
        "top1": net.top1,
        "nats": net.nats,
        "elo": elos.get(net.trial),
    }
    return make_row(columns, net.trial, values)


def trained_nets(workspace: Workspace) -> list[NamedNet]:
    """The finished trials of all studies, the earliest first, each in the first that has it; then those of no study. A
    damaged trial or study is named on the terminal and left out."""
    studies = all_studies(workspace)
    names = trial_names(studies)
    nets: dict[str, NamedNet] = {}
    for study in studies:
        try:
            results = load_results(study, workspace.runs, workspace.studies / study.id, workspace.report_cache)
        except InputError as error:
            notes().print(f"{study.id} is left out: {error}")
            continue
        for trial in results.trials:
            if trial.state == "damaged":
                notes().print(f"{trial.id} is left out: {trial.failure}")
            if trial.result is None or trial.id in nets:
                continue
            main = trial.evaluations[MAIN] if trial.evaluations else None
            summary: Mapping = {} if main is None else main.summary
            nets[trial.id] = NamedNet(
                trial.id,
                names[trial.id],
                int(trial.result["samples"]),
                study.base,
                study.id,
                study.data,
                summary.get("nats"),
                summary.get("top1"),
            )
    return [*nets.values(), *_of_no_study(workspace, nets)]


def _of_no_study(workspace: Workspace, known: Container[str]) -> list[NamedNet]:
    """Finished trials that no study has: of `gonn train --job`, which have the name of their base, and of searches."""
    nets = []
    for path in sorted(workspace.runs.glob("*/result.json")):
        trial = path.parent.name
        directory = TrialDirectory(path.parent)
        result = None if trial in known else directory.result()
        if result is None:
            continue
        labels = (directory.config() or {}).get("labels", {})
        base = labels.get("base", "")
        name = f"{base} s{labels.get('seed', '')}" if base else f"search {labels.get('search', '?')}"
        nets.append(NamedNet(trial, name, int(result["samples"]), base))
    return nets


def named_player(text: str, workspace: Workspace, setting: str) -> NetSpec | str:
    """The net that a text names, or what may be an engine. Raises SettingError under the name of the setting
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
    """The error for a name that no trial's id begins with; engine: where a program may be named too."""
    nets = trained_nets(workspace)
    problem = f"no trial in {workspace.runs} begins so"
    if engine:
        problem += ", and no program on PATH or in /usr/games is called so"
    valid = _nearest(text, nets) if nets else ["none is trained yet: make ablation NAME=… trains some"]
    valid += ["gnugo, gnugo:LEVEL, a GTP command"] * engine
    return SettingError(setting, text, f"{problem}; `gonn models` lists them", valid)


def _nearest(text: str, nets: Sequence[NamedNet]) -> list[str]:
    """The nets whose ids begin most like `text`, or whose names are most like it."""

    def likeness(net: NamedNet) -> float:
        words = [net.trial[: len(text)], net.base, *net.name.split()]
        return max(difflib.SequenceMatcher(None, text, word).ratio() for word in words)

    return [f"{net.trial[:8]} ({net.name})" for net in sorted(nets, key=likeness, reverse=True)[:_SHOWN]]


def print_ratings(matches: Sequence[str], anchor: str | None) -> None:
    """Rate the players of the matches whose ids begin so, or of all. Raises UserError."""
    workspace = Workspace.here()
    chosen = [match for match in chosen_matches(workspace, matches) if match.games]
    if not chosen:
        output().print(f"no games in {workspace.matches}; gonn match plays some")
        return
    table = tally(chosen)
    names = player_names(table.identities.values(), net_names(workspace))
    number = int(np.argmax(table.met.sum(axis=1))) if anchor is None else find_player(table, names, anchor)
    print_table(rating_table(table, rate(table.taken, table.met, number), names, chosen), output())


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
    exact = [player for player in table.ids if text in (player, names[player])]
    candidates = exact or [
        player
        for player in table.ids
        if player.startswith(text)
        or str(table.identities[player].get("trial", "")).startswith(text)
        or text.lower() in names[player].lower()
    ]
    if len(candidates) != 1:
        problem = f"{len(candidates)} players fit" if candidates else "no such player"
        raise SettingError("--anchor", text, problem, [names[player] for player in table.ids])
    return table.ids.index(candidates[0])


def net_names(workspace: Workspace) -> dict[str, str]:
    """Trial -> what it is, of all studies."""
    return trial_names(all_studies(workspace))
