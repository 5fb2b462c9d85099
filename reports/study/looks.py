"""What a study's looks were, what they decided and what those cost that were not planned, in words."""

from ablations.study import Looks, Study
from reports.results.compare import study_thresholds
from reports.results.decisions import last_looks
from reports.results.study_results import StudyResults
from reports.stats.looks import planned_levels
from reports.tables import formats


def looks_notes(results: StudyResults) -> list[str]:
    """Beside the tables, of a study with looks."""
    looks = results.study.looks
    if looks is None:
        return []
    notes = [cost] if (cost := cost_of_looks(results.study)) else []
    if len(looks.to_come) > 1:
        notes.append(_plan(looks))
    for look in results.looks:
        cards = ", ".join(
            f"{card} {each.decision} (p {formats.p_value(each.p_adjusted)})" for card, each in look.cards.items()
        )
        notes.append(f"Look at {look.seeds} seeds, level {look.level:g}: {cards}.")
    return notes


def _plan(looks: Looks) -> str:
    counts, levels = looks.to_come, looks.levels[looks.spent :]
    at = ", ".join(map(str, counts[:-1])) + f" and {counts[-1]} seeds"
    same = f"{levels[0]:g} at each" if len(set(levels)) == 1 else ", ".join(f"{level:g}" for level in levels)
    text = f"Looks were planned at {at}: a card is shown, and its arm stops, where its adjusted p is below {same}"
    if looks.futility:
        text += f"; its arm also stops where its 90 % interval lies within ±{looks.futility:g} nats"
    return (
        f"{text}. Its numbers are those of the look that decided it; intervals are not widened for the looks, and an "
        "effect that stopped for being shown is somewhat smaller than it looks."
    )


def look_words(results: StudyResults, card: str) -> str | None:
    """`decided at look 1 of 4`, of a card of a study whose arms may stop."""
    looks, at = results.study.looks, last_looks(results.study, results.looks)
    if looks is None or card not in at:
        return None
    ended = "decided" if at[card].cards[card].ends else "so far"
    return f"{ended} at look {looks.seeds.index(at[card].seeds) + 1} of {len(looks.seeds)}"


def cost_of_looks(study: Study) -> str | None:
    """What a study pays for looks that it had not planned, in one line; None where it had."""
    looks = study.looks
    if looks is None or looks.planned:
        return None
    thresholds, cards = study_thresholds(study), max(1, len(study.contrasts))
    before = " and ".join(map(str, looks.seeds[: looks.spent]))
    own = zip(looks.levels[looks.spent :], looks.to_come, strict=True)
    needed = ", ".join(f"{level:g} at {seeds} seeds" for level, seeds in own)
    planned = planned_levels(looks.seeds, thresholds.alpha, cards)[0]
    return (
        f"Results were looked at before with {before} seeds, without a plan: an adjusted p below {needed} is needed; "
        f"it would have been {planned:g} with all of these looks planned."
    )
