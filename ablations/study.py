"""A study: which arms are compared, on what, with which seeds and thresholds. Written down before its first trial.

`Study` is the file `studies/<id>/study.json`; `design_arms` turns a design over cards into arms and contrasts. An effect is always
that of having the enhancement: Δ = arms with it minus arms without it, whichever of the two the base is.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from gonn_core.config import Digest, Strict, TrialConfig, get_path, parse_model, trial_id, with_values
from gonn_core.errors import InputError, SettingError, printable, printable_tree
from gonn_core.json_files import read_json

FORMAT = 1
DESIGNS = ("add-one", "leave-one-out", "cumulative", "factorial")
CONTROL = "control"


FolderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_+-][A-Za-z0-9_+.-]*$")]
"""What names a folder of a study or of a trial: nothing that leads out of the folder they are in."""


class Arm(Strict):
    """One configuration; trained once per seed."""

    id: str
    label: str
    config: TrialConfig
    """With the training view; the seeds in it are placeholders."""
    values: dict[str, str]
    """Where it differs from the base: dotted path -> value as JSON text."""


class Contrast(Strict):
    """The effect of one card: mean of the arms that have it minus mean of those that have not."""

    card: str
    with_it: tuple[str, ...]
    without: tuple[str, ...]


class TrialRef(Strict):
    """One trial of the study."""

    trial: FolderName
    arm: str
    seed: int


class EvaluationRef(Strict):
    """One evaluation that every finished trial of the study has."""

    split: Literal["validation", "test"]
    history: Literal["full", "as_published"]
    view: Digest
    subset: Digest
    positions: int
    games: int


class Study(Strict):
    """Everything that was decided before the first trial."""

    format: Literal[1] = FORMAT
    id: FolderName
    title: str
    cards: tuple[str, ...]
    base: str
    budget: str
    design: Literal["add-one", "leave-one-out", "cumulative", "factorial"]
    data: str
    coverage: str
    pairing: Literal["by_position", "none"]
    seeds: tuple[int, ...]
    arms: tuple[Arm, ...]
    contrasts: tuple[Contrast, ...]
    trials: tuple[TrialRef, ...]
    evaluations: tuple[EvaluationRef, ...]
    thresholds: dict[str, float]
    created: str
    commit: str
    dirty: bool

    @model_validator(mode="after")
    def _arms_are_there(self):
        arms = {arm.id for arm in self.arms}
        for contrast in self.contrasts:
            used = [*contrast.with_it, *contrast.without]
            if not contrast.with_it or not contrast.without or len(set(used)) < len(used) or not arms.issuperset(used):
                raise ValueError(f"the contrast of {printable(contrast.card, 60)} needs arms with and without it, each once")
        if not arms.issuperset(trial.arm for trial in self.trials):
            raise ValueError("a trial is of an arm that is not there")
        if len({(trial.arm, trial.seed) for trial in self.trials}) < len(self.trials):
            raise ValueError("two trials have the same arm and seed")
        return self

    def arm(self, arm_id: str) -> Arm:
        """The arm of that id. Raises KeyError."""
        for arm in self.arms:
            if arm.id == arm_id:
                return arm
        raise KeyError(arm_id)

    def trials_of(self, arm_id: str) -> dict[int, str]:
        """Seed -> trial id of one arm."""
        return {t.seed: t.trial for t in self.trials if t.arm == arm_id}


def read_study(path: Path) -> Study:
    """The study in a file. Raises InputError for a file of another version or none."""
    tree = read_json(path)
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        found = tree.get("format") if isinstance(tree, dict) else None
        raise InputError(path, f"study file of format {found}; this version reads format {FORMAT}")
    if printable_tree(tree) != tree:
        raise InputError(path, "a study file with control characters, which none of ours has")
    return parse_model(Study, tree, str(path))


def card_state(config: TrialConfig, toggles: Mapping) -> Literal["on", "off", "neither"]:
    """Whether a configuration stands at a card's on values, at its off values, or at neither; neither, too, where it cannot have one of them."""
    try:
        made = {state: with_values(config, {path: getattr(toggle, state) for path, toggle in toggles.items()}) for state in ("on", "off")}
    except SettingError:  # of another family of nets, or set of planes
        return "neither"
    return next((state for state in made if made[state] == config), "neither")


def _set(config: TrialConfig, card, state: str) -> TrialConfig:
    return with_values(config, {path: getattr(toggle, state) for path, toggle in card.toggles.items()}, card.id)


def _differences(config: TrialConfig, base: TrialConfig, cards) -> dict[str, str]:
    paths = sorted({path for card in cards for path in card.toggles})
    return {path: json.dumps(get_path(config, path)) for path in paths if get_path(config, path) != get_path(base, path)}


def design_arms(design: str, base_name: str, base: TrialConfig, cards: Sequence) -> tuple[tuple[Arm, ...], tuple[Contrast, ...]]:
    """Arms (the shared control first) and contrasts of a design over `cards` (objects with id and toggles).

    add-one: the control is the base; every card flips once, added where the base lacks it, taken out where the base has it.
    leave-one-out: the control is the base with all cards on; each is taken out once. cumulative: from the base with all cards off,
    one more is added at a time. factorial: all combinations, main effects. Raises SettingError for a design that cannot be.
    """
    if design not in DESIGNS:
        raise SettingError("DESIGN", design, "not a known design", DESIGNS)
    if design == "factorial" and len(cards) > 4:
        raise SettingError("DESIGN", design, f"{len(cards)} enhancements make {2 ** len(cards)} arms", "at most 4 enhancements")

    def all_set(state, among=cards):
        config = base
        for card in among:
            config = _set(config, card, state)
        return config

    made: dict[str, tuple[str, TrialConfig]] = {}
    contrasts = []
    if design == "add-one":
        made[CONTROL] = (base_name, base)
        for card in cards:
            state = card_state(base, card.toggles)
            if state == "neither":
                at = ", ".join(f"{path} = {get_path(base, path)}" for path in card.toggles)
                raise SettingError("BASE", base_name, f"has neither the off nor the on values of {card.id} ({at})", "another base, or another design")
            arm = f"without-{card.id}" if state == "on" else f"with-{card.id}"
            made[arm] = (arm.replace("-", " ", 1), _set(base, card, "off" if state == "on" else "on"))
            contrasts.append(Contrast(card=card.id, with_it=(CONTROL if state == "on" else arm,), without=(arm if state == "on" else CONTROL,)))
    elif design == "leave-one-out":
        made[CONTROL] = (f"{base_name} with all", all_set("on"))
        for card in cards:
            arm = f"without-{card.id}"
            made[arm] = (arm.replace("-", " ", 1), _set(made[CONTROL][1], card, "off"))
            contrasts.append(Contrast(card=card.id, with_it=(CONTROL,), without=(arm,)))
    elif design == "cumulative":
        made[CONTROL] = (f"{base_name} with none", all_set("off"))
        before = CONTROL
        for card in cards:
            arm = f"plus-{card.id}"
            made[arm] = (f"+ {card.id}", _set(made[before][1], card, "on"))
            contrasts.append(Contrast(card=card.id, with_it=(arm,), without=(before,)))
            before = arm
    else:
        having: dict[str, set[str]] = {}
        for states in itertools.product(("off", "on"), repeat=len(cards)):
            on = [card.id for card, state in zip(cards, states) if state == "on"]
            config = base
            for card, state in zip(cards, states):
                config = _set(config, card, state)
            arm = "with-" + "+".join(on) if on else CONTROL
            made[arm] = (arm.replace("-", " ", 1) if on else f"{base_name} with none", config)
            having[arm] = set(on)
        for card in cards:
            split = {True: [], False: []}
            for arm, on in having.items():
                split[card.id in on].append(arm)
            contrasts.append(Contrast(card=card.id, with_it=tuple(split[True]), without=tuple(split[False])))
    arms = tuple(Arm(id=arm, label=label, config=config, values=_differences(config, base, cards)) for arm, (label, config) in made.items())
    seen: dict[str, str] = {}
    for arm in arms:
        twin = seen.setdefault(trial_id(arm.config), arm.id)
        if twin != arm.id:
            raise SettingError("NAME", "+".join(card.id for card in cards), f"arms {twin} and {arm.id} are the same configuration", "enhancements that change different settings")
    return arms, tuple(contrasts)


def seeded(config: TrialConfig, seed: int) -> TrialConfig:
    """`config` with both seeds set: what an arm trains for that seed."""
    return with_values(config, {"training.init_seed": seed, "training.data_seed": seed})


def study_id(cards: Sequence[str], base: str, budget: str, data: str, design: str, trials: Sequence[str], thresholds: Mapping, evaluations: Sequence) -> str:
    """Readable name plus six hex digits over everything that decides the study's outcome: the same question has the same id.

    It names a folder and is typed in shells: whatever is no letter, digit or one of `_+.-` in the data's name becomes `_`.
    """
    outcome = json.dumps([list(trials), dict(thresholds), [e.model_dump() for e in evaluations], design], sort_keys=True)
    names = "+".join(cards) if len(cards) <= 3 else f"{cards[0]}+{len(cards) - 1}-more"
    parts = [names, base, budget, data] + ([design] if design != "add-one" else [])
    return re.sub(r"[^A-Za-z0-9_+.-]", "_", "-".join(parts)) + "-" + hashlib.sha256(outcome.encode()).hexdigest()[:6]
