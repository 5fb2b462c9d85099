"""What a study's looks are and what they decided, in words."""

from ablations.study import Study
from reports.results.compare import study_thresholds
from reports.results.decisions import is_sequential
from reports.results.study_results import Look, StudyResults
from reports.stats.looks import planned_level
from reports.tables import formats


def looks_notes(results: StudyResults) -> list[str]:
    """Beside the tables, of a study with looks."""
    plan = looks_line(results.study)
    if plan is None:
        return []
    early = "; intervals are not widened for looks, and an effect that is shown early seems somewhat larger than it is"
    lines = [plan + early * is_sequential(results.study), *map(decided, results.looks)]
    return [f"{line[0].upper()}{line[1:]}." for line in lines]


def looks_line(study: Study) -> str | None:
    """`looks at 4, 8 and 12 seeds: …`, None of a study without."""
    looks = study.looks
    if looks is None:
        return None
    each = [f"{seeds}{' (taken before)' * (place < looks.spent)}" for place, seeds in enumerate(looks.seeds)]
    alpha, arm = study_thresholds(study).alpha, ", and its arm stops," * is_sequential(study)
    line = (
        f"looks at {', '.join(each[:-1])} and {each[-1]} seeds: an effect is shown{arm} where its q is at most "
        f"{alpha:g} (p below {formats.p_value(planned_level(looks.seeds, alpha))} at any look, for a single effect)"
    )
    if looks.futility:
        line += f"; its arm also stops where its 90 % interval lies within ±{looks.futility:g} nats"
    return line


def decided(look: Look) -> str:
    """`look at 4 seeds: ladder_input shown (q 0.01), …`."""
    cards = (f"{card} {each.decision} (q {formats.q_value(each.q)})" for card, each in look.cards.items())
    return f"look at {look.seeds} seeds: {', '.join(cards)}"


def look_words(results: StudyResults, card: str) -> str | None:
    """`decided at look 1 of 4`, of a card of a study whose arms may stop."""
    looks, taken = results.study.looks, [look for look in results.looks if card in look.cards]
    if looks is None or not taken:
        return None
    ended = "decided" if taken[-1].cards[card].ends else "so far"
    return f"{ended} at look {looks.seeds.index(taken[-1].seeds) + 1} of {len(looks.seeds)}"
