"""What a factorial or a screen tells of interactions, on the loss on its main evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass

from ablations.study import Study
from reports.results.compare import OF_RUNS, StudyAnalysis, study_runs, study_thresholds
from reports.results.group import MAIN
from reports.results.study_results import StudyResults
from reports.stats.interactions import AliasString, Interactions, find_interactions
from reports.stats.pairs import PairTable, effects_alone, pair_table
from reports.stats.runs import Estimate
from reports.stats.verdicts import EffectVerdict, Thresholds

LIKELY = 3
"""So many pairs of a string that stands out are looked at."""


@dataclass(frozen=True)
class RunsFindings:
    """Beside the main effects of a study, `nats`.

    main: the same effects as coefficients; pairs: of a factorial all, of a screen the likely ones of strings that stand
    out, by falling size of their interaction; alone: in a factorial of three cards or more, effects with all others
    off, and with all others on.
    """

    results: StudyResults
    nats: StudyAnalysis
    main: Mapping[str, Estimate]
    interactions: Interactions
    pairs: tuple[PairTable, ...]
    alone: Mapping[str, tuple[Estimate | None, Estimate | None]]

    @property
    def study(self) -> Study:
        """The study."""
        return self.results.study

    @property
    def thresholds(self) -> Thresholds:
        """Those of the study."""
        return study_thresholds(self.study)

    @property
    def shown(self) -> tuple[AliasString, ...]:
        """Strings that stand out."""
        return self.interactions.shown(self.thresholds.alpha)

    def shown_cards(self) -> list[str]:
        """Cards whose main effect is shown, the largest first."""
        table = self.nats.table
        if table is None:
            return []
        settled = (EffectVerdict.HELPS, EffectVerdict.HURTS)
        cards = [card for card, verdict in table.verdicts.items() if verdict in settled]
        return sorted(cards, key=lambda card: -abs(table.effects[card].delta))


def find_in_runs(results: StudyResults, nats: StudyAnalysis) -> RunsFindings | None:
    """`nats`: the study's effects on the loss. None for other designs, and while no effect is known."""
    table = nats.table
    if results.study.design not in OF_RUNS or table is None:
        return None
    runs, thresholds = study_runs(results, "nats", MAIN), study_thresholds(results.study)
    if runs is None:
        return None
    effects = {card: effect.delta for card, effect in table.effects.items()}
    interactions = find_interactions(runs, thresholds, effects, table.pool)
    factorial = results.study.design == "factorial"
    looked_at = interactions.strings if factorial else interactions.shown(thresholds.alpha)
    wanted = [pair for string in looked_at for pair in list(string.pairs)[:LIKELY]]
    found = [pair_table(runs, one, other, thresholds, table.pool) for one, other in wanted]
    alone = effects_alone(runs, thresholds, table.pool) if factorial and len(runs.cards) > 2 else {}
    pairs = sorted((each for each in found if each is not None), key=lambda each: -abs(each.interaction.value))
    main = runs.main_estimates(thresholds, table.pool)
    return RunsFindings(results, nats, main, interactions, tuple(pairs), alone)
