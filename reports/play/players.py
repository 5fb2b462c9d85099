"""Players of matches in words that are short and tell them apart."""

from collections.abc import Mapping

from reports.tables import formats

PUBLISHED_CHOICE = {"kind": "biased", "history": "full", "symmetries": 1}
"""What a net's name does not say of its choice of moves: the published way (spec: GoNN 5)."""
ORDINARY_PASSING = "pass_alive"
"""How nets pass in matches by default; a net's name shows another rule."""
_CHOICE_TEXTS = {"symmetries": "symmetries {}", "history": "history {}"}


def player_names(identities: Mapping[str, dict], nets: Mapping[str, str]) -> dict[str, str]:
    """Player id -> name; who shares a name with another has the beginning of its id behind it. nets: trial -> what it
    is, such as `gonn-b5 s1`."""
    plain = {player: _name(identity, nets) for player, identity in identities.items()}
    shared = {name for name in plain.values() if list(plain.values()).count(name) > 1}
    return {player: f"{name} #{player[:4]}" if name in shared else name for player, name in plain.items()}


def is_net(identity: Mapping) -> bool:
    """Whether a player is a trained net of ours."""
    return identity.get("kind") == "net"


def choice_text(identity: Mapping) -> str:
    """How a net chooses where that is not the published way: `argmax, history none`; empty for the published one."""
    choice = identity.get("choice", {})
    parts = [str(choice["kind"])] if choice.get("kind", "biased") != PUBLISHED_CHOICE["kind"] else []
    return ", ".join(
        parts
        + [
            form.format(choice[key])
            for key, form in sorted(_CHOICE_TEXTS.items())
            if choice.get(key, PUBLISHED_CHOICE[key]) != PUBLISHED_CHOICE[key]
        ]
    )


def engine_text(identity: Mapping) -> str:
    """Name and version of an engine, and its level where its command names one: `GNU Go 3.8 level 10`."""
    command = [str(argument) for argument in identity.get("command", ())]
    parts = [str(identity.get(key)) for key in ("name", "version") if identity.get(key)] or command[:1] or ["engine"]
    level = engine_level(identity)
    return " ".join(parts + ([f"level {level}"] if level else []))


def engine_level(identity: Mapping) -> str | None:
    """What follows `--level` in an engine's command."""
    command = [str(argument) for argument in identity.get("command", ())]
    for argument, following in zip(command, [*command[1:], ""], strict=False):
        if argument == "--level" and following:
            return following
        if argument.startswith("--level="):
            return argument.removeprefix("--level=")
    return None


def _name(identity: Mapping, nets: Mapping[str, str]) -> str:
    if not is_net(identity):
        return engine_text(identity)
    trial, samples = str(identity.get("trial", "?")), identity.get("samples")
    name = nets.get(trial, trial[:8])
    name += f" @{_about(samples)}" if isinstance(samples, int) else ""
    passing = identity.get("choice", {}).get("passing", ORDINARY_PASSING)
    return ", ".join(
        part
        for part in (name, choice_text(identity), "" if passing == ORDINARY_PASSING else f"passing {passing}")
        if part
    )


def _about(samples: int) -> str:
    """`10k` for 10,016 too: snapshots are taken after whole batches."""
    thousands = round(samples / 1000) * 1000
    return formats.samples(thousands if samples >= 10_000 and abs(samples - thousands) < 0.005 * samples else samples)
