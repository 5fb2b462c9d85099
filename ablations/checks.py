"""What is wrong with a declaration beside the others: raised as a SettingError that names file and setting."""

import itertools
from collections.abc import Sequence

from ablations.claimed import conditions_of, opposed, within
from ablations.conditions import card_state, unmet
from ablations.data.declared import dataset_names
from ablations.declarations import SHOWN, Declarations, nearest
from ablations.designs import budget_config, why_equal
from ablations.published_results import Published
from ablations.schema import ANY_GAMES, PRECISION, RATE, Base, Budget, Condition, Enhancement, toggle_values
from gonn_core.config import TrialConfig, config_paths, get_path, nearest_paths, with_values
from gonn_core.effective.whole import effective
from gonn_core.errors import SettingError


def check_card(declared: Declarations, card: Enhancement) -> None:
    """That a card's bases, budgets and cards are there, that its values can be had, that no budget undoes it."""
    file = f"cards/{card.system}/{card.id}.yaml"
    named = {
        "base": card.base,
        **{f"claims.{claim.id}.base": claim.base for claim in card.claims},
        **{f"forms.{form}": form.partition(".")[0] for form in card.forms},
    }
    for where, name in named.items():
        if name is not None and name not in declared.bases:
            raise SettingError(f"{file}.{where}", name, "no such base", nearest(name, declared.bases))
    for form in card.forms:
        name = form.partition(".")[2]
        if name and name not in declared.budgets:
            raise SettingError(f"{file}.forms.{form}", name, "no such budget", list(declared.budgets))
    plain = declared.bases[card.base].config
    forms = {
        "toggles": (plain, card.toggles),
        **{f"forms.{form}": (_formed(declared, form), toggles) for form, toggles in card.forms.items()},
    }
    for where, (config, toggles) in forms.items():
        for state in ("off", "on"):
            with_values(config, toggle_values(toggles, state), f"{file}.{where}")
        for path in sorted(set(toggles) - set(card.toggles)):
            raise SettingError(f"{file}.{where}", path, "not among the card's toggles", list(card.toggles))
    for where, conditions in (("requires", card.requires), ("excludes", card.excludes)):
        for condition in conditions:
            _check_condition(declared, condition, plain, f"{file}.{where}")
    _check_rates(declared, card, file)
    _check_claims(declared, card, file)
    for name in card.idle:
        if name not in declared.budgets:
            raise SettingError(f"{file}.idle", name, "no such budget", list(declared.budgets))
    for budget in declared.budgets.values():
        for base in declared.bases.values():
            _check_not_undone(declared, card, base, budget)
        for name in dict.fromkeys([card.base, *(claim.base for claim in card.claims if claim.base is not None)]):
            _check_arms_differ(declared, card, declared.bases[name], budget)


def _check_claims(declared: Declarations, card: Enhancement, file: str) -> None:
    """That each claim's conditions can be, that its data sets and what it leaves open are there, that a net is called
    finished where its end is published, and that no two claims exclude each other."""
    for claim in card.claims:
        conditions = conditions_of(declared, card, claim)
        for name in claim.games if claim.games not in (ANY_GAMES, ("other",)) else ():
            if name not in dataset_names():
                valid = [*dataset_names(), "any", "other"]
                raise SettingError(f"{file}.claims.{claim.id}.games", name, "no such data set", valid)
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
            raise SettingError(
                f"{file}.claims",
                f"{one.id}, {other.id}",
                "opposite statements about one number of the same trials",
                "other samples, stages, bases or games",
            )


def _check_open(beginnings: Sequence[str], where: str) -> None:
    for beginning in beginnings:
        if not any(within(path, beginning) for path in config_paths()):
            raise SettingError(where, beginning, "no such setting", nearest_paths(beginning))


def _check_rates(declared: Declarations, card: Enhancement, file: str) -> None:
    """That each rate of an arm is for a base under a budget, and that the card does not set it itself."""
    for place in card.lr:
        base, _, budget = place.partition(".")
        if base not in declared.bases or budget not in declared.budgets:
            raise SettingError(f"{file}.lr", place, "not a base under a budget", "<base>.<budget> such as gonn-b5.cpu")
        if RATE in card.on_base(base, budget).toggles:
            raise SettingError(f"{file}.lr", place, "the card toggles the learning rate itself", "no lr")


def _formed(declared: Declarations, form: str) -> TrialConfig:
    """What a card's form `<base>` or `<base>.<budget>` is applied to."""
    base, _, budget = form.partition(".")
    if not budget:
        return declared.bases[base].config
    overrides = declared.bases[base].overrides(declared.budgets[budget])
    return with_values(declared.bases[base].config, {**overrides, **_samples(declared.budgets[budget])}, form)


def _samples(budget: Budget) -> dict[str, int]:
    return {} if budget.samples == "claim" else {"training.samples": budget.samples}


def _check_not_undone(declared: Declarations, card: Enhancement, base: Base, budget: Budget) -> None:
    """A budget must not fix what a card toggles on a base where it can be, unless the card has a form for it."""
    toggles = card.on_base(base.id).toggles
    fixed = sorted(set(toggles) & set(base.overrides(budget)))
    if not fixed or f"{base.id}.{budget.id}" in card.forms or unmet(declared, card, base) is not None:
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


def _check_arms_differ(declared: Declarations, card: Enhancement, base: Base, budget: Budget) -> None:
    """Under a budget on a base that it may choose, the arms must not compute the same, unless the card says that they
    do."""
    formed = card.on_base(base.id, budget.id)
    config = budget_config(base, budget, _most_samples(card, base, budget))
    if unmet(declared, card, base) is not None or card_state(config, formed.toggles) == "neither":
        return
    off, on = (with_values(config, formed.values(state), formed.id) for state in ("off", "on"))
    same = effective(off) == effective(on)
    if same != (budget.id in card.idle):
        raise SettingError(
            f"cards/{card.system}/{card.id}.yaml.idle",
            budget.id,
            f"on {base.id} both arms {why_equal(off, on)}"
            if same
            else f"on {base.id} the arms do not compute the same",
            f"a form {base.id}.{budget.id}, or the reason under idle" if same else "no such entry",
        )


def _most_samples(card: Enhancement, base: Base, budget: Budget) -> int:
    """As long as a study of the card is trained on a base: a claim may tell fewer samples than its base's whole run."""
    if budget.samples != "claim":
        return budget.samples
    return max([base.schedule_end, *(claim.samples or 0 for claim in card.claims if claim.base == base.id)])


def _check_condition(declared: Declarations, condition: Condition, plain: TrialConfig, where: str) -> None:
    if condition.card is not None:
        if condition.card not in declared.cards:
            raise SettingError(
                f"{where}.card", condition.card, "no such enhancement", nearest(condition.card, declared.cards)[:SHOWN]
            )
    elif condition.path is not None:
        with_values(plain, {condition.path: condition.value}, where)


def check_base(declared: Declarations, base: Base) -> None:
    """That a base's names are its own, that its budgets are there and that it leaves to studies what is theirs."""
    for name in base.also_called:
        if sum(name == other.id or name in other.also_called for other in declared.bases.values()) > 1:
            raise SettingError(f"{base.file}.also_called", name, "another base has this name")
    for path in ("data.view", "training.init_seed", "training.data_seed"):
        if get_path(base.config, path) != get_path(TrialConfig(), path):
            raise SettingError(
                f"{base.file}.config.{path}", get_path(base.config, path), "set by a study, not by a base"
            )
    _check_open(base.not_told, f"{base.file}.not_told")
    for name in base.scaled:
        if name not in declared.budgets:
            raise SettingError(f"{base.file}.scaled", name, "no such budget", list(declared.budgets))
    for setting in ("rates", "lr"):
        for name in getattr(base, setting):
            if name not in declared.budgets:
                raise SettingError(f"{base.file}.{setting}", name, "no such budget", list(declared.budgets))


def check_budget(declared: Declarations, budget: Budget) -> None:
    """That what a budget overrides can be had on every base."""
    file = f"budgets/{budget.id}.yaml"
    if budget.precision is not None:
        raise SettingError(
            f"{file}.precision", budget.precision, "asked for by commands alone", f"overrides: {PRECISION}"
        )
    if "training.samples" in budget.overrides:
        raise SettingError(f"{file}.overrides", "training.samples", "belongs to the budget's own field", "samples")
    schedule = [
        path for path in budget.overrides if path.startswith("training.schedule.") and not path.endswith(".warmup")
    ]
    if budget.compress and schedule:
        raise SettingError(
            f"{file}.overrides", schedule[0], "compress: true keeps the base's schedule; leave one of them out"
        )
    samples = _samples(budget)
    for base in declared.bases.values():
        overrides = base.overrides(budget)
        if samples or overrides:
            where = f"bases/{base.id}.yaml.scaled.{budget.id}" if budget.id in base.scaled else f"{file}.overrides"
            with_values(base.config, {**overrides, **samples}, where)


def check_published(declared: Declarations, published: Published) -> None:
    """That the bases and cards named beside published results are there."""
    file = f"published/{published.id}.yaml"
    ours = [row.ours for row in published.rows if row.ours is not None] + [curve.ours for curve in published.curves]
    bases = [each.base for each in ours] + [games.base for games in published.games if games.base is not None]
    cards = [each.card for each in ours if each.card is not None]
    cards += [card for gain in published.gains for card in gain.cards]
    for kind, names, known in (("base", bases, declared.bases), ("card", cards, declared.cards)):
        for name in names:
            if name not in known:
                raise SettingError(f"{file}: {kind}", name, f"no such {kind}", nearest(name, known)[:SHOWN])
