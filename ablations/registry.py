"""The registry: all declarations of a folder, read, checked against the configuration schema and against each other.

    registry = load_registry()
    card = registry.card("parametric_relu")

Layout: `cards/<system>/<id>.yaml`, `bases/<id>.yaml`, `budgets/<id>.yaml`, `published/<id>.yaml`; a file's name is its
declaration's id. Loading fails on the first thing that is wrong, with one line naming the file and the setting. Needs
only pydantic and PyYAML.
"""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ablations.conditions import unmet
from ablations.schema import Base, Budget, Condition, Enhancement, Published
from ablations.search import RATE
from ablations.strict_yaml import read_yaml
from ablations.study import card_state
from gonn_core.config import TrialConfig, get_path, parse_model, with_values
from gonn_core.errors import InputError, SettingError, printable

FOLDER = Path(__file__).parent
SHOWN = 8
"""At most so many ids are listed when one is not known."""


@dataclass(frozen=True)
class Registry:
    """Declarations by id, each mapping in the order of the ids."""

    cards: Mapping[str, Enhancement]
    bases: Mapping[str, Base]
    budgets: Mapping[str, Budget]
    published: Mapping[str, Published]

    def card(self, name: str) -> Enhancement:
        """The enhancement of that id. Raises SettingError (NAME) listing the nearest ids."""
        return _find(self.cards, "NAME", name, "no such enhancement")

    def base(self, name: str) -> Base:
        """The base of that id or further name. Raises SettingError (BASE)."""
        named = next((base.id for base in self.bases.values() if name in base.also_called), name)
        return _find(self.bases, "BASE", named, "no such base")

    def budget(self, name: str) -> Budget:
        """The budget of that id. Raises SettingError (BUDGET)."""
        return _find(self.budgets, "BUDGET", name, "no such budget")

    def cards_of(self, system: str) -> list[Enhancement]:
        """All enhancements of one system. Raises SettingError (SYSTEM) for one that has none."""
        systems = sorted({card.system for card in self.cards.values()})
        if system not in systems:
            raise SettingError("SYSTEM", system, "no enhancements of such a system", systems)
        return [card for card in self.cards.values() if card.system == system]


def nearest(name: str, ids: Iterable[str]) -> list[str]:
    """All ids, the most like `name` first; equals in alphabetical order."""
    matcher = difflib.SequenceMatcher(b=name[:100])

    def unlikeness(candidate):
        matcher.set_seq1(candidate)
        return -matcher.ratio(), candidate

    return sorted(ids, key=unlikeness)


def _find(declared: Mapping, setting: str, name: str, problem: str):
    if name in declared:
        return declared[name]
    ids = nearest(name, declared)
    valid = ", ".join(ids[:SHOWN]) + (f", … ({len(ids)} in all)" if len(ids) > SHOWN else "")
    raise SettingError(setting, name, problem, valid or "none")


def load_registry(folder: Path | None = None) -> Registry:
    """All declarations of `folder` (those of this package unless given). Raises InputError or SettingError at the first
    bad one."""
    folder = FOLDER if folder is None else Path(folder)
    if not folder.is_dir():
        raise InputError(folder, "no such folder of declarations")
    registry = Registry(
        cards=_load(folder, "cards", "*/*.yaml", Enhancement),
        bases=_load(folder, "bases", "*.yaml", Base),
        budgets=_load(folder, "budgets", "*.yaml", Budget),
        published=_load(folder, "published", "*.yaml", Published),
    )
    for base in registry.bases.values():
        _check_base(registry, base)
    for budget in registry.budgets.values():
        _check_budget(registry, budget)
    for card in registry.cards.values():
        _check_card(registry, card)
    return registry


def _load(folder: Path, kind: str, pattern: str, model) -> Mapping:
    declared = {}
    paths = sorted((folder / kind).glob(pattern))
    for path in sorted({*(folder / kind).rglob("*.yaml"), *(folder / kind).rglob("*.yml")} - set(paths)):
        raise InputError(
            path, f"not where declarations lie: {kind}/{pattern.replace('*/', '<system>/').replace('*', '<id>')}"
        )
    for path in paths:
        name = printable(path.relative_to(folder).as_posix())
        made = parse_model(model, read_yaml(path), name)
        if made.id != path.stem:
            raise SettingError(f"{name}.id", made.id, "differs from the file's name", printable(path.stem))
        if made.id in declared:
            raise SettingError(f"{name}.id", made.id, "another card has this id")
        if model is Enhancement and made.system != path.parent.name:
            raise SettingError(
                f"{name}.system", made.system, "differs from the folder's name", printable(path.parent.name)
            )
        declared[made.id] = made
    return MappingProxyType(dict(sorted(declared.items())))


def _check_card(registry: Registry, card: Enhancement) -> None:
    file = f"cards/{card.system}/{card.id}.yaml"
    named = {
        "base": card.base,
        **{f"claims.{claim.id}.base": claim.base for claim in card.claims},
        **{f"forms.{form}": form.partition(".")[0] for form in card.forms},
    }
    for where, base in named.items():
        if base is not None and base not in registry.bases:
            raise SettingError(f"{file}.{where}", base, "no such base", nearest(base, registry.bases))
    for form in card.forms:
        budget = form.partition(".")[2]
        if budget and budget not in registry.budgets:
            raise SettingError(f"{file}.forms.{form}", budget, "no such budget", list(registry.budgets))
    plain = registry.base(card.base).config
    forms = {
        "toggles": (plain, card.toggles),
        **{f"forms.{form}": (_formed(registry, form), toggles) for form, toggles in card.forms.items()},
    }
    for where, (config, toggles) in forms.items():
        for state in ("off", "on"):
            with_values(config, {path: getattr(toggle, state) for path, toggle in toggles.items()}, f"{file}.{where}")
        for path in sorted(set(toggles) - set(card.toggles)):
            raise SettingError(f"{file}.{where}", path, "not among the card's toggles", list(card.toggles))
    for where, conditions in (("requires", card.requires), ("excludes", card.excludes)):
        for condition in conditions:
            _check_condition(registry, condition, plain, f"{file}.{where}")
    _check_rates(registry, card, file)
    for budget in registry.budgets.values():
        for base in registry.bases.values():
            _check_not_undone(registry, card, base, budget)


def _check_rates(registry: Registry, card: Enhancement, file: str) -> None:
    """That each rate of an arm is for a base under a budget, and that the card does not set it itself."""
    for place in card.lr:
        base, _, budget = place.partition(".")
        if base not in registry.bases or budget not in registry.budgets:
            raise SettingError(f"{file}.lr", place, "not a base under a budget", "<base>.<budget> such as gonn-b5.cpu")
        if RATE in card.on_base(base, budget).toggles:
            raise SettingError(f"{file}.lr", place, "the card toggles the learning rate itself", "no lr")


def _formed(registry: Registry, form: str) -> TrialConfig:
    """What a card's form `<base>` or `<base>.<budget>` is applied to."""
    base, _, budget = form.partition(".")
    if not budget:
        return registry.bases[base].config
    plan = registry.budgets[budget]
    samples = {} if plan.samples == "claim" else {"training.samples": plan.samples}
    return with_values(registry.bases[base].config, {**registry.bases[base].overrides(plan), **samples}, form)


def _check_not_undone(registry: Registry, card: Enhancement, base: Base, budget: Budget) -> None:
    """A budget must not fix what a card toggles on a base where it can be, unless the card has a form for it."""
    toggles = card.on_base(base.id).toggles
    fixed = sorted(set(toggles) & set(base.overrides(budget)))
    if not fixed or f"{base.id}.{budget.id}" in card.forms or unmet(registry, card, base) is not None:
        return
    if card_state(base.config, toggles) != "neither":
        where = (
            f"bases/{base.id}.yaml.scaled.{budget.id}"
            if budget.id in base.scaled
            else f"budgets/{budget.id}.yaml.overrides"
        )
        raise SettingError(
            where,
            fixed[0],
            f"toggled by {card.id}: a budget would undo it",
            f"a form {base.id}.{budget.id} of that card",
        )


def _check_condition(registry: Registry, condition: Condition, plain: TrialConfig, where: str) -> None:
    if condition.card is not None:
        if condition.card not in registry.cards:
            raise SettingError(
                f"{where}.card", condition.card, "no such enhancement", nearest(condition.card, registry.cards)[:SHOWN]
            )
    else:
        with_values(plain, {condition.path: condition.value}, where)


def _check_base(registry: Registry, base: Base) -> None:
    for name in base.also_called:
        if sum(name == other.id or name in other.also_called for other in registry.bases.values()) > 1:
            raise SettingError(f"bases/{base.id}.yaml.also_called", name, "another base has this name")
    for path in ("data.view", "training.init_seed", "training.data_seed"):
        if get_path(base.config, path) != get_path(TrialConfig(), path):
            raise SettingError(
                f"bases/{base.id}.yaml.config.{path}", get_path(base.config, path), "set by a study, not by a base"
            )
    for name in base.scaled:
        if name not in registry.budgets:
            raise SettingError(f"bases/{base.id}.yaml.scaled", name, "no such budget", list(registry.budgets))
    for setting in ("rates", "lr"):
        for name in getattr(base, setting):
            if name not in registry.budgets:
                raise SettingError(f"bases/{base.id}.yaml.{setting}", name, "no such budget", list(registry.budgets))


def _check_budget(registry: Registry, budget: Budget) -> None:
    file = f"budgets/{budget.id}.yaml"
    if "training.samples" in budget.overrides:
        raise SettingError(f"{file}.overrides", "training.samples", "belongs to the budget's own field", "samples")
    schedule = [
        path for path in budget.overrides if path in ("training.schedule.kind", "training.schedule.compression")
    ]
    if budget.compress and schedule:
        raise SettingError(
            f"{file}.overrides", schedule[0], "compress: true keeps the base's schedule; leave one of them out"
        )
    samples = {} if budget.samples == "claim" else {"training.samples": budget.samples}
    for base in registry.bases.values():
        overrides = base.overrides(budget)
        if samples or overrides:
            where = f"bases/{base.id}.yaml.scaled.{budget.id}" if budget.id in base.scaled else f"{file}.overrides"
            with_values(base.config, {**overrides, **samples}, where)
