"""What has to be said of a factorial or a screen beside its tables, and what to do next."""

import math
from dataclasses import dataclass

from ablations.arms import misfit
from ablations.registry import Registry
from gonn_core.errors import printable
from reports.screen.commands import confirm_command, fold_command
from reports.screen.findings import RunsFindings
from reports.screen.tables import pairs_text
from reports.stats.interactions import AliasString, MeanSquareTest
from reports.stats.seed_noise import RunNoise
from reports.tables import formats

PAIRS_TOLD = 4


@dataclass(frozen=True)
class Said:
    """A sentence, and perhaps the command that it ends with."""

    text: str
    command: str | None = None

    @property
    def plain(self) -> str:
        """Both in one line."""
        return f"{self.text}: {self.command}" if self.command else self.text


def what_runs_say(found: RunsFindings, registry: Registry) -> tuple[Said, ...]:
    """The question first, then the noise, then interactions, then what to confirm."""
    table = found.nats.table
    noise = table.noise if table else None
    said = [_question(found), *([noise_sentence(noise)] if noise else [])]
    return tuple([Said(text) for text in said] + _interactions(found) + _next(found, registry))


def _question(found: RunsFindings) -> str:
    study = found.study
    others, base = len(study.cards) - 1, printable(study.base, 60)
    if study.design == "factorial":
        return (
            f"A factorial: each Δ is the mean over the other enhancement{'s' * (others != 1)} on and off; what an "
            "enhancement does alone stands with the interactions."
        )
    held = f", {len(study.held)} held" if study.held else ""
    left = f", {len(study.left_out)} left out" if study.left_out else ""
    return (
        f"A screen of {len(study.cards)} enhancements in {len(study.trials)} runs{held}{left}. It answers another "
        f"question than add-one: each Δ is the mean over the other {others} on and off, not the effect at the base. "
        f"The effect at {base} as it is cannot be estimated from these runs: it takes the interactions one by one, of "
        "which a screen only tells sums."
    )


def noise_sentence(noise: RunNoise) -> str:
    """From what the noise of a run was told."""
    source = (
        "from repeated runs of the same arm"
        if noise.replicated
        else "from what main effects, seeds and fractions leave over (what interactions there are stand in it and make "
        "intervals wider)"
    )
    deviation = f"{math.sqrt(noise.variance):.4f} test nats"
    text = f"Noise of a run: standard deviation {deviation} on {noise.df:.1f} degrees of freedom"
    if noise.own is None or noise.borrowed is None:
        return f"{text}, {source if noise.own else 'from other studies'}."
    own, borrowed = (f"{math.sqrt(variance):.4f} ({df:.1f})" for variance, df in (noise.own, noise.borrowed))
    return f"{text}: {own} {source}, drawn towards {borrowed} of other studies of this base, budget and test games."


def _interactions(found: RunsFindings) -> list[Said]:
    test, told = found.interactions.two_card, []
    if test is not None:
        told.append(Said(_test_sentence(test, found)))
    elif found.interactions.strings:
        told.append(
            Said(
                "Whether there are interactions at all cannot be tested: no arm has two runs, and no other study tells "
                "the noise of a run."
            )
        )
    if found.interactions.higher is not None:
        higher = found.interactions.higher
        told.append(Said(f"Interactions of three and more, all at once: {_f(higher)}."))
    return told + [_shown_string(found, string) for string in found.shown]


def _f(test: MeanSquareTest) -> str:
    return f"F({test.df[0]:g}, {test.df[1]:.3g}) = {test.f:.2f}, p {formats.p_value(test.p)}"


def _test_sentence(test: MeanSquareTest, found: RunsFindings) -> str:
    against = "repeated runs" if test.replicated else "the noise of other studies"
    base = printable(found.study.base, 60)
    if test.p < found.thresholds.alpha:
        meaning = (
            "there are some, so an effect at the base may be another than its mean over the others on and off"
            if found.study.design == "screen"
            else "there are some: look at what each does without and with the other"
        )
    else:
        meaning = (
            f"none is found, which does not say that there are none: what add-one finds at {base} may differ from "
            "these means by sums of interactions too small to be seen here"
            if found.study.design == "screen"
            else "none is found, which does not say that there are none"
        )
    return f"Interactions of two enhancements against {against}, all at once: {_f(test)}; {meaning}."


def _shown_string(found: RunsFindings, string: AliasString) -> Said:
    estimate = string.estimate
    assert estimate is not None, "a string that stands out was estimated"
    size = f"{formats.with_interval(estimate.value, estimate.interval95)} test nats"
    change = f"{size}, p {formats.p_value(string.p_adjusted)}"
    if len(string.pairs) == 1:
        return Said(f"Stands out: {pairs_text(string)} {change}.")
    likely = ", ".join(f"{one}×{other}" for one, other in list(string.pairs)[:PAIRS_TOLD])
    more = len(string.pairs) - PAIRS_TOLD
    text = (
        f"Stands out: a sum of {len(string.pairs)} interactions, {change}. Behind it may be {likely}"
        + (f" and {more} more" if more > 0 else "")
        + " (by the size of their main effects)"
    )
    card = _to_fold(found, string)
    if card is None:
        return Said(f"{text}.")
    one, other = next(pair for pair in string.pairs if card in pair)
    return Said(f"{text}. As many runs again tell {one}×{other} from the rest", fold_command(found.study, card))


def _to_fold(found: RunsFindings, string: AliasString) -> str | None:
    """A card of the likeliest pair that is varied in all arms; None of a factorial, and of a screen to which the runs
    with a sign reversed were added already."""
    study = found.study
    if study.design != "screen" or _folded(found):
        return None
    in_all = {each.card for each in study.contrasts if len(each.with_it) + len(each.without) == len(study.arms)}
    cards = [card for pair in string.pairs for card in pair if card in in_all]
    return cards[0] if cards else None


def _folded(found: RunsFindings) -> bool:
    """Whether the second half of the arms is the first with one card's sign reversed; else it is its opposite."""
    arms = [arm.id for arm in found.study.arms]
    first, middle = arms[0], arms[len(arms) // 2]
    between = [{first, middle} & set(each.with_it) for each in found.study.contrasts]
    return sum(len(side) == 1 for side in between) == 1


def _next(found: RunsFindings, registry: Registry) -> list[Said]:
    study, cards = found.study, found.shown_cards()
    if study.design != "screen":
        return []
    if not cards:
        text = "No effect is shown, so none is to be confirmed at the base"
        table = found.nats.table
        if found.shown and table is not None and table.noise is not None and not table.noise.replicated:
            text += "; what stands out of the interactions is noise to the effects until each arm is run twice"
        return [Said(f"{text}.")]
    reasons = {card: _unfit(registry, card, study.base) for card in cards}
    fit = [card for card in cards if reasons[card] is None]
    told = [Said(f"{card} cannot be confirmed at {study.base}: {reasons[card]}.") for card in cards if reasons[card]]
    if not fit:
        return told
    return [*told, Said("To confirm at the base what is shown, the largest first", confirm_command(study, fit))]


def _unfit(registry: Registry, card: str, base: str) -> str | None:
    if card not in registry.cards or base not in registry.bases:
        return "it is not declared here"
    return misfit(registry, registry.cards[card], registry.base(base))
