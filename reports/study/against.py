"""What each Δ of a study is against, by its design."""

from ablations.study import Contrast, Study
from gonn_core.errors import printable
from reports.results.compare import StudyAnalysis
from reports.tables.cells import Column

AGAINST = Column("against", "against", "left", brief=False, under="card")
NAMED = ("leave-one-out", "cumulative")
"""Designs in which every row is against a net of its own, which a column names."""


def against(study: Study, contrast: Contrast) -> str:
    """The net that lacks this enhancement alone: `gonn-b5 with none`, `+ chain_pooling`, `without chain_pooling`."""
    return ", ".join(study.arm(arm).label for arm in contrast.without)


def against_note(study: Study, analysis: StudyAnalysis) -> str:
    """The same of all rows in a sentence; none of a study that compares nothing."""
    if not study.contrasts:
        return ""
    base = printable(study.base, 60)
    if analysis.is_mean:
        alone = [printable(card, 60) for card, effect in analysis.effects.items() if not effect.is_mean]
        but = f"; of {', '.join(alone)} that at the base, as no runs combine it with others" if alone else ""
        at_base = f" At the base: the effect with all else as in {base}; it has no verdict." if analysis.at_base else ""
        return f"Each Δ is the mean effect over the other enhancements on and off{but}.{at_base}"
    if study.design == "leave-one-out":
        return (
            f"Each Δ is {base} with all {len(study.contrasts)} enhancements minus the same net without that one: what "
            "it does beside all the others."
        )
    if study.design == "cumulative":
        steps = "; ".join(
            f"{printable(each.card, 60)} against {printable(against(study, each), 200)}" for each in study.contrasts
        )
        return f"Each Δ is one step: a net with one enhancement more minus the net before it ({steps})."
    return f"Each Δ is {base} with the enhancement minus {base} without it, all else as in {base}."
