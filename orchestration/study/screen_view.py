"""What `gonn plan` shows of a screen: what is varied and what is not, and what it could show."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from rich import box
from rich.table import Table

from ablations.resolve import Screened
from ablations.study import Study
from gonn_core.trial.directory import TrialDirectory
from orchestration.study.plan import Plan
from reports.results.decisions import KnownNoise
from reports.stats.power import smallest_shown
from reports.workspace import Workspace

TRIALS_SHOWN = 2
"""So many trials of an arm are named, more are counted."""


def screen_parts(plan: Plan, known: KnownNoise | None, workspace: Workspace) -> Iterator[Table | str]:
    """Tables and lines in the order in which they are shown."""
    screen, study = plan.design.screen, plan.study
    assert screen is not None, "a plan of a screen"
    numbers = {card: number for number, card in enumerate(study.cards, 1)}
    yield _factors(screen, study, numbers)
    yield from _exclusive(screen)
    for verb, cards in (("held", study.held), ("left out", study.left_out)):
        if cards:
            yield _reasons(verb, cards)
    yield _runs(screen, study)
    yield from power(study, known)
    yield _arms(screen, study, numbers, workspace)


def _factors(screen: Screened, study: Study, numbers: Mapping[str, int]) -> Table:
    """A row per card that is varied."""
    table = Table("", "varied", "the base", "runs with", "without", box=box.SIMPLE_HEAD, pad_edge=False)
    runs = Counter(trial.arm for trial in study.trials)
    for contrast in study.contrasts:
        sides = (sum(runs[arm] for arm in side) for side in (contrast.with_it, contrast.without))
        has = "has it" if screen.choice.flips.states[contrast.card] == "on" else "lacks it"
        table.add_row(str(numbers[contrast.card]), contrast.card, has, *map(str, sides))
    return table


def _exclusive(screen: Screened) -> Iterator[str]:
    """A line per group of cards of which an arm has only one changed."""
    columns, by_id = screen.layout.screen.columns, {card.id: card for card in screen.choice.cards}
    for group in dict.fromkeys(column.group for column in columns.values() if len(column.group) > 1):
        pairs = [(one, other) for number, one in enumerate(group) for other in group[:number]]
        reasons = [screen.choice.flips.conflict(by_id[one], by_id[other]) for one, other in pairs]
        told = "; ".join(dict.fromkeys(filter(None, reasons)))
        yield f"each in a part of the arms of its own: {', '.join(group)} ({told})"


def _reasons(verb: str, cards: Mapping[str, str]) -> Table:
    """A row per card that is not varied."""
    table = Table(verb, "because", box=box.SIMPLE_HEAD, pad_edge=False)
    for card, reason in cards.items():
        table.add_row(card, reason)
    return table


def _runs(screen: Screened, study: Study) -> str:
    arms, each = len(study.arms), len(study.trials) // len(study.arms)
    seeds = ", ".join(map(str, study.seeds))
    how = f"each with seeds {seeds}" if each > 1 else f"each with one of the seeds {seeds}"
    folded = f", half of them with the sign of {screen.layout.folded} reversed" if screen.layout.folded else ""
    return f"{len(study.trials)} runs: {arms} arms{folded}, {how}; effects are means over the others on and off"


def power(study: Study, known: KnownNoise | None) -> list[str]:
    """Standard error and smallest effect of each card as a single one, beside that of as many runs of one card at a
    time. The runs that are known count for the noise of these."""
    if known is None:
        return ["standard error: unknown, no noise of runs measured yet on this base, budget and data"]
    thresholds, cards, runs = study.thresholds, len(study.contrasts), len(study.trials)
    spread, df = known.run.run, known.run.df + runs - cards - len(study.seeds)
    studies = f"{len(known.studies)} stud{'ies' if len(known.studies) > 1 else 'y'} on this base, budget and data"
    lines = [f"standard deviation of a run: {spread:.4f} nats, by {known.runs} runs of {studies}"]
    of_arm, sides = Counter(trial.arm for trial in study.trials), defaultdict[tuple[int, ...], list[str]](list)
    for contrast in study.contrasts:
        counts = [sum(of_arm[arm] for arm in side) for side in (contrast.with_it, contrast.without)]
        sides[tuple(counts)].append(contrast.card)
    shown = f"smallest effect shown with {100 * thresholds.power:.0f} % power"
    for pair, names in sides.items():
        se = math.sqrt(spread**2 * sum(1 / count for count in pair) + known.evaluation_variance)
        effect = smallest_shown(se, df, thresholds.alpha, thresholds)
        lines.append(f"{_whose(names, cards)}: standard error {se:.4f} nats; {shown}: {effect:.4f} nats")
    seeds = runs // (cards + 1)
    alone = known.smallest_effect(seeds, thresholds) if seeds >= thresholds.min_seeds else None
    can = "too few to judge" if alone is None else f"{shown}: {alone:.4f} nats"
    return [*lines, f"one at a time, {runs} runs are {seeds} seed{'s' * (seeds != 1)} an arm: {can}"]


def _whose(names: list[str], cards: int) -> str:
    if len(names) == cards:
        return "each effect"
    return ", ".join(names) if len(names) <= 4 else f"{len(names)} effects"


def changed_cards(screen: Screened, study: Study) -> dict[str, list[str]]:
    """Arm -> cards that are not in it as in the base. An arm in whose part a card is not varied has it as the base."""
    changed: dict[str, list[str]] = {arm.id: [] for arm in study.arms}
    for contrast in study.contrasts:
        has_it = screen.choice.flips.states[contrast.card] == "on"
        for arm in contrast.without if has_it else contrast.with_it:
            changed[arm].append(contrast.card)
    return changed


def _arms(screen: Screened, study: Study, numbers: Mapping[str, int], workspace: Workspace) -> Table:
    """A row per arm: what is changed in it, by the cards' numbers, and its trials."""
    changed = changed_cards(screen, study)
    table = Table("arm", "changed", "trials", box=box.SIMPLE_HEAD, pad_edge=False)
    for arm in study.arms:
        trials = study.trials_of(arm.id)
        states = {seed: TrialDirectory(workspace.runs / trial).state() for seed, trial in trials.items()}
        few = len(states) <= TRIALS_SHOWN
        told = ", ".join(f"{trials[seed]} {state}, seed {seed}" for seed, state in states.items())
        counted = ", ".join(f"{count} {state}" for state, count in Counter(states.values()).items())
        table.add_row(arm.id, " ".join(str(numbers[card]) for card in changed[arm.id]) or "–", told if few else counted)
    return table
