"""What is wrong with a declaration in view of the others: raised as a SettingError that names file and setting."""

import itertools
from collections.abc import Iterable
from typing import Any

from ablations.claimed import conditions_of, opposed, within
from ablations.data.schema import dataset_names
from ablations.declarations import SHOWN, Declarations, nearest
from ablations.designs import budget_config, card_state, unmet, why_equal
from ablations.published_results import Published
from ablations.schema import ANY_GAMES, PRECISION, RATE, Base, Budget, Enhancement, toggle_values
from ablations.study import OF_STUDIES
from gonn_core.config import TrialConfig, config_paths, get_path, nearest_paths, with_values
from gonn_core.effective.whole import effective
from gonn_core.errors import SettingError


def _known(where: str, names: Iterable[str], declared: Iterable[str], what: str) -> None:
    """Check that names are declared. Raises SettingError with the nearest ones."""
    declared = list(declared)
    for name in names:
        if name not in declared:
            raise SettingError(where, name, f"no such {what}", nearest(name, declared)[:SHOWN])


def check_card(declared: Declarations, card: Enhancement) -> None:
    """Check that a card's bases, budgets and cards exist, that its values are valid, that no budget undoes it."""
    file = f"cards/{card.system}/{card.id}.yaml"
    _known(f"{file}.base", [card.base], declared.bases, "base")
    for claim in card.claims:
        _known(f"{file}.claims.{claim.id}.base", [claim.base] if claim.base else [], declared.bases, "base")
    for form in card.forms.keys() - declared.budgets.keys():
        base, _, budget = form.partition(".")
        _known(f"{file}.forms.{form}", [base], declared.bases, "base")
        _known(f"{file}.forms.{form}", [budget] if budget else [], declared.budgets, "budget")
    _known(f"{file}.idle", card.idle, declared.budgets, "budget")
    plain = declared.bases[card.base].config
    forms = {
        "toggles": (plain, card.toggles),
        **{f"forms.{form}": (_formed(declared, card, form), toggles) for form, toggles in card.forms.items()},
    }
    for where, (config, toggles) in forms.items():
        for state in ("off", "on"):
            with_values(config, toggle_values(toggles, state), f"{file}.{where}")
        for path in sorted(set(toggles) - set(card.toggles)):
            raise SettingError(f"{file}.{where}", path, "not among the card's toggles", list(card.toggles))
    for where, conditions in (("requires", card.requires), ("excludes", card.excludes)):
        for condition in conditions:
            _known(f"{file}.{where}.card", [condition.card] if condition.card else [], declared.cards, "enhancement")
            if condition.path is not None:
                with_values(plain, {condition.path: condition.value}, f"{file}.{where}")
    for place in card.lr:
        base, _, budget = (place if "." in place else f"{card.base}.{place}").partition(".")
        if base not in declared.bases or budget not in declared.budgets:
            valid = "<base>.<budget> such as gonn-b5.cpu, or a budget"
            raise SettingError(f"{file}.lr", place, "not a base under a budget", valid)
        if RATE in card.on_base(base, budget).toggles:
            raise SettingError(f"{file}.lr", place, "the card toggles the learning rate itself", "no lr")
    _check_claims(declared, card, file)
    for under in declared.budgets.values():
        for other in declared.bases.values():
            _check_not_undone(declared, card, other, under)
        for name in dict.fromkeys([card.base, *(claim.base for claim in card.claims if claim.base is not None)]):
            _check_arms_differ(declared, card, declared.bases[name], under)


def _check_claims(declared: Declarations, card: Enhancement, file: str) -> None:
    """Check that each claim's conditions are valid, that its data sets and open settings exist, that a net is called
    finished only if its end is published, and that no two claims exclude each other."""
    for claim in card.claims:
        conditions = conditions_of(declared, card, claim)
        if claim.games not in (ANY_GAMES, ("other",)):
            _known(f"{file}.claims.{claim.id}.games", claim.games, [*dataset_names(), "any", "other"], "data set")
        if conditions and claim.stage == "finished" and "training.samples" in conditions.not_told:
            problem = f"where the run of {claim.base} ended is not published"
            raise SettingError(f"{file}.claims.{claim.id}.stage", "finished", problem, "unknown, any, early")
        if claim.probe and claim.probe.head == "ladders" and claim.quantity == "difference":
            nets = (conditions.off, conditions.on) if conditions else ()
            if not nets or any(not config.training.auxiliary.ladders for config in nets):
                problem = "a difference of ladder heads where an arm has none"
                raise SettingError(f"{file}.claims.{claim.id}.quantity", "difference", problem, "on, off")
        if shared := sorted(set(claim.conditions) & set(card.toggles)):
            raise SettingError(f"{file}.claims.{claim.id}.conditions", shared[0], "toggled by the card", "no condition")
        _check_open(claim.not_told, f"{file}.claims.{claim.id}.not_told")
    for one, other in itertools.combinations(card.claims, 2):
        if opposed(declared, card, one, other):
            problem = "opposite statements about one number of the same trials"
            valid = "other samples, stages, bases or games"
            raise SettingError(f"{file}.claims", f"{one.id}, {other.id}", problem, valid)


def _check_open(beginnings: Iterable[str], where: str) -> None:
    for beginning in beginnings:
        if not any(within(path, beginning) for path in config_paths()):
            raise SettingError(where, beginning, "no such setting", nearest_paths(beginning))


def _formed(declared: Declarations, card: Enhancement, form: str) -> TrialConfig:
    """What a card's form `<base>`, `<base>.<budget>` or `<budget>` is applied to."""
    name, _, budget = (f"{card.base}.{form}" if form in declared.budgets else form).partition(".")
    base = declared.bases[name]
    return with_values(base.config, _overrides(base, declared.budgets[budget]), form) if budget else base.config


def _overrides(base: Base, budget: Budget) -> dict[str, Any]:
    samples = {} if budget.samples == "claim" else {"training.samples": budget.samples}
    return {**base.overrides(budget), **samples}


def _check_not_undone(declared: Declarations, card: Enhancement, base: Base, budget: Budget) -> None:
    """A budget must not fix what a card toggles on a base where it can be, unless the card has a form for it."""
    toggles = card.on_base(base.id).toggles
    fixed = sorted(set(toggles) & set(base.overrides(budget)))
    if not fixed or {f"{base.id}.{budget.id}", budget.id} & set(card.forms) or unmet(declared, card, base) is not None:
        return
    if card_state(base.config, toggles) != "neither":
        problem, valid = f"toggled by {card.id}: a budget would undo it", f"a form {base.id}.{budget.id} of that card"
        raise SettingError(_where(base, budget), fixed[0], problem, valid)


def _where(base: Base, budget: Budget) -> str:
    """Which declaration says what a budget overrides in a base."""
    own = budget.id in base.scaled
    return f"bases/{base.id}.yaml.scaled.{budget.id}" if own else f"budgets/{budget.id}.yaml.overrides"


def _check_arms_differ(declared: Declarations, card: Enhancement, base: Base, budget: Budget) -> None:
    """Under a budget on a base that it may choose, the arms must not compute the same, unless the card says that they
    do."""
    formed = card.on_base(base.id, budget.id)
    # A study is trained to the end of the base's run, or of a claim's.
    most = max([base.schedule_end, *(claim.samples or 0 for claim in card.claims if claim.base == base.id)])
    config = budget_config(base, budget, most)
    if unmet(declared, card, base) is not None or card_state(config, formed.toggles) == "neither":
        return
    off, on = (with_values(config, formed.values(state), formed.id) for state in ("off", "on"))
    same = effective(off) == effective(on)
    if same != (budget.id in card.idle):
        problem, valid = f"on {base.id} the arms do not compute the same", "no such entry"
        if same:
            problem = f"on {base.id} both arms {why_equal(off, on)}"
            valid = f"a form {base.id}.{budget.id}, or the reason under idle"
        raise SettingError(f"cards/{card.system}/{card.id}.yaml.idle", budget.id, problem, valid)


def check_base(declared: Declarations, base: Base) -> None:
    """Check that a base's names are unique, that its budgets exist and that it sets nothing that studies set."""
    for name in base.also_called:
        if sum(name == other.id or name in other.also_called for other in declared.bases.values()) > 1:
            raise SettingError(f"{base.file}.also_called", name, "another base has this name")
    for path in OF_STUDIES:
        if (value := get_path(base.config, path)) != get_path(TrialConfig(), path):
            raise SettingError(f"{base.file}.config.{path}", value, "set by a study, not by a base")
    _check_open(base.not_told, f"{base.file}.not_told")
    for setting in ("scaled", "lr"):
        _known(f"{base.file}.{setting}", getattr(base, setting), declared.budgets, "budget")


def check_budget(declared: Declarations, budget: Budget) -> None:
    """Check that what a budget overrides is valid on every base."""
    file = f"budgets/{budget.id}.yaml"
    if budget.precision is not None:
        problem = "asked for by commands alone"
        raise SettingError(f"{file}.precision", budget.precision, problem, f"overrides: {PRECISION}")
    if "training.samples" in budget.overrides:
        raise SettingError(f"{file}.overrides", "training.samples", "belongs to the budget's own field", "samples")
    for path in budget.overrides if budget.compress else ():
        if path.startswith("training.schedule.") and not path.endswith(".warmup"):
            problem = "compress: true keeps the base's schedule; leave one of them out"
            raise SettingError(f"{file}.overrides", path, problem)
    for base in declared.bases.values():
        with_values(base.config, _overrides(base, budget), _where(base, budget))


def check_published(declared: Declarations, published: Published) -> None:
    """Check that the bases and cards named next to published results exist."""
    file = f"published/{published.id}.yaml"
    ours = [row.ours for row in published.rows if row.ours is not None] + [curve.ours for curve in published.curves]
    bases = [net.base for net in ours] + [games.base for games in published.games if games.base is not None]
    cards = [net.card for net in ours if net.card is not None]
    cards += [card for gain in published.gains for card in gain.cards]
    _known(f"{file}: base", bases, declared.bases, "base")
    _known(f"{file}: card", cards, declared.cards, "card")
