"""Players and rules of matches in words that are short and tell them apart."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from pydantic import ValidationError

from ablations.study import Study
from gonn_core.play.match.record import Match, player_id
from gonn_core.play.rules import Rules, RuleSet
from reports.tables import formats

_USUAL = {"kind": "biased", "history": "full", "symmetries": 1, "passing": "pass_alive"}
"""What a net's name does not say: the published choice of moves (spec: GoNN 5), the usual passing."""


def player_names(identities: Iterable[Mapping], nets: Mapping[str, str]) -> dict[str, str]:
    """Id -> name of players; who shares a name with another has the beginning of its id behind it. nets: trial -> what
    it is, such as `gonn-b5 s1`."""
    plain = {player_id(identity): _name(identity, nets) for identity in identities}
    count = Counter(plain.values())
    return {player: f"{name} #{player[:4]}" if count[name] > 1 else name for player, name in plain.items()}


def names_in(matches: Iterable[Match], nets: Mapping[str, str]) -> dict[str, str]:
    """Id -> name of all players of some matches."""
    return player_names((identity for match in matches for identity in match.players.values()), nets)


def trial_names(studies: Sequence[Study]) -> dict[str, str]:
    """Trial -> `gonn-b5 s1` or `gonn-b5 without last_move_input s1`, as the first study that has it calls it."""
    names: dict[str, str] = {}
    for study in studies:
        for trial in study.trials:
            arm = study.arm(trial.arm)
            net = f"{study.base} {arm.label}" if arm.values else study.base
            names.setdefault(trial.trial, f"{net} s{trial.seed}")
    return names


def is_net(identity: Mapping) -> bool:
    """Whether a player is a trained net of ours."""
    return identity.get("kind") == "net"


def choice_text(identity: Mapping) -> str:
    """How a net chooses where that is not the published way: `argmax, history none`; empty for the published one."""
    choice = {**_USUAL, **identity.get("choice", {})}
    parts = [f"{key} {choice[key]}" for key in ("history", "symmetries") if choice[key] != _USUAL[key]]
    return ", ".join(([] if choice["kind"] == _USUAL["kind"] else [str(choice["kind"])]) + parts)


def engine_text(identity: Mapping) -> str:
    """Name and version of an engine, and its level where its command names one: `GNU Go 3.8 level 10`."""
    parts = [str(identity.get(key)) for key in ("name", "version") if identity.get(key)]
    parts = parts or [str(argument) for argument in identity.get("command", ())][:1] or ["engine"]
    level = engine_level(identity)
    return " ".join(parts + ([f"level {level}"] if level else []))


def engine_level(identity: Mapping) -> str | None:
    """The argument of `--level` in an engine's command."""
    level = re.search(r"(?:^| )--level[ =](\S+)", " ".join(map(str, identity.get("command", ()))))
    return level and level[1]


def rules_text(rules: Mapping) -> str:
    """A match's rules in words."""
    try:
        return Rules(**rules).sentence()
    except ValidationError:  # of another version: as they stand
        return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in rules.items())


def rules_name(rules: Mapping) -> RuleSet:
    """Name of the rules of a match, by how games are counted."""
    return "japanese" if rules.get("scoring") == "territory" else "chinese"


def _name(identity: Mapping, nets: Mapping[str, str]) -> str:
    if not is_net(identity):
        return engine_text(identity)
    trial, samples = str(identity.get("trial", "?")), identity.get("samples")
    name = nets.get(trial, trial[:8])
    if isinstance(samples, int):
        thousands = round(samples / 1000) * 1000  # snapshots are taken after whole batches: 10,016 is 10k too
        near = samples >= 10_000 and abs(samples - thousands) < 0.005 * samples
        name += f" @{formats.samples(thousands if near else samples)}"
    passing = identity.get("choice", {}).get("passing", _USUAL["passing"])
    parts = (name, choice_text(identity), "" if passing == _USUAL["passing"] else f"passing {passing}")
    return ", ".join(filter(None, parts))
