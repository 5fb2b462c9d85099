"""Looks that a study took at its results as planned, and what each decided: beside study.json, never changed.

decisions.json    {"format": 1, "looks": [{"seeds": 4, "level": 0.0182, "cards": {"parametric_relu": {"decision":
                   "shown", "delta": -0.0311, "p_adjusted": 0.0021}, …}}, …]}

A card that is decided stands as it was decided: neither trials that other studies make of its arm nor a larger pool of
seed noise undo it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from ablations.study import Study, TrialRef
from gonn_core.errors import InputError
from gonn_core.files.json_files import read_record, write_json

DECISIONS_FILE: Final = "decisions.json"
FORMAT: Final = 1
Decision = Literal["shown", "futile", "goes on", "last look"]


@dataclass(frozen=True)
class CardLook:
    """A card at one look: its effect on the loss, its p adjusted over the cards that were not yet shown."""

    decision: Decision
    delta: float
    p_adjusted: float | None

    @property
    def ends(self) -> bool:
        """Whether its arm is trained no further."""
        return self.decision != "goes on"


@dataclass(frozen=True)
class Look:
    """One look that was taken; `cards`: those that were not decided before."""

    seeds: int
    level: float
    cards: Mapping[str, CardLook]


def read_decisions(study: Study, study_folder: Path) -> tuple[Look, ...]:
    """Looks taken so far, none of a study that plans none. Raises InputError for a file that is none of this study."""
    path = study_folder / DECISIONS_FILE
    tree = read_record(path, FORMAT, ("looks",)) if study.looks else None
    if not tree or not study.looks:
        return ()
    try:
        looks = tuple(_look(each) for each in tree["looks"])
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(path, "a look without its number of seeds, level or cards") from None
    planned = dict(zip(study.looks.seeds, study.looks.levels, strict=True))
    cards = {contrast.card for contrast in study.contrasts}
    if [look.seeds for look in looks] != list(study.looks.to_come[: len(looks)]) or any(
        look.level != planned[look.seeds] or not cards.issuperset(look.cards) for look in looks
    ):
        raise InputError(path, f"looks that are not those of study {study.id}")
    return looks


def _look(tree: Mapping) -> Look:
    cards = {}
    for card, entry in tree["cards"].items():
        decision, delta, p = entry["decision"], float(entry["delta"]), entry["p_adjusted"]
        if decision not in get_args(Decision) or not math.isfinite(delta):
            raise ValueError(decision)
        cards[str(card)] = CardLook(decision, delta, None if p is None else float(p))
    return Look(int(tree["seeds"]), float(tree["level"]), cards)


def write_decisions(study_folder: Path, looks: Sequence[Look]) -> None:
    """Write all looks taken so far."""
    write_json(study_folder / DECISIONS_FILE, {"format": FORMAT, "looks": [asdict(look) for look in looks]})


def last_looks(study: Study, looks: Sequence[Look]) -> dict[str, Look]:
    """Card -> the look at which it was decided, else the last one at it; in the order of the study."""
    at = {card: look for look in looks for card in look.cards}
    return {contrast.card: at[contrast.card] for contrast in study.contrasts if contrast.card in at}


def judged_level(study: Study, looks: Sequence[Look], card: str) -> float | None:
    """What p is compared with where a card is judged on what no look decides, such as its games; None: alpha."""
    if study.looks is None:
        return None
    at = last_looks(study, looks)
    return at[card].level if card in at else study.looks.levels[study.looks.spent]


def shown_before(looks: Sequence[Look]) -> frozenset[str]:
    """Cards that were shown at any of these looks."""
    return frozenset(card for look in looks for card, entry in look.cards.items() if entry.decision == "shown")


def undecided(study: Study, looks: Sequence[Look]) -> list[str]:
    """Cards whose arms are to be trained further, in the order of the study."""
    ended = {card for look in looks for card, entry in look.cards.items() if entry.ends}
    return [contrast.card for contrast in study.contrasts if contrast.card not in ended]


def next_look(study: Study, looks: Sequence[Look]) -> int | None:
    """The number of the study's next look among all that it plans, None when it has taken all that it needs."""
    if study.looks is None or len(looks) == len(study.looks.to_come) or not undecided(study, looks):
        return None
    return study.looks.spent + len(looks)


def is_sequential(study: Study) -> bool:
    """Whether the study has looks at which an arm may stop."""
    return study.looks is not None and len(study.looks.to_come) > 1


def due_trials(study: Study, looks: Sequence[Look]) -> tuple[TrialRef, ...]:
    """Trials that the study needs until its next look, or needed until its end: of arms that are decided those up to
    their look. All of them in a study whose arms cannot stop."""
    if not is_sequential(study) or study.looks is None:
        return study.trials
    number, at, going = next_look(study, looks), last_looks(study, looks), set(undecided(study, looks))
    now = len(study.seeds) if number is None else study.looks.seeds[number]
    most = dict.fromkeys((arm.id for arm in study.arms), 0)
    for contrast in study.contrasts:
        seeds = now if contrast.card in going else at[contrast.card].seeds
        for arm in (*contrast.with_it, *contrast.without):
            most[arm] = max(most[arm], seeds)
    index = {seed: place for place, seed in enumerate(study.seeds)}
    return tuple(trial for trial in study.trials if index[trial.seed] < most[trial.arm])
