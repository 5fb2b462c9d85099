"""What a study's report says, as plain data: sentences, notes, statistics, claims. `reports.study.tables` makes its
tables, `reports.study.render` writes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

from ablations.registry import Registry
from ablations.study import Arm, Contrast, Study
from gonn_core.errors import SettingError
from gonn_core.metrics import METRICS, SUMMARISED
from reports.claims.findings import ClaimFinding, find_claims
from reports.claims.measures import claim_evaluation
from reports.results.compare import StudyAnalysis, analyse_study
from reports.results.group import MAIN, Group, Pair, own_group
from reports.results.study_results import StudyResults
from reports.screen.interactions import Said, what_runs_say
from reports.stats.verdicts import EffectVerdict
from reports.study.footnotes import NAMED, against, look_words, table_notes
from reports.tables import formats
from reports.tables.formats import subset_text, verdict_text
from reports.worth.curve import ControlCurve
from reports.worth.effects import Worth, study_worths, worth_note


@dataclass(frozen=True)
class Report:
    """A study's report. `group`: the runs that its effects are estimated from; `analyses`: (evaluation, metric) ->
    statistics; `worths`: card -> worth of its effect on the loss, of those whose control has a curve over samples."""

    results: StudyResults
    group: Group
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    analyses: Mapping[tuple[int, str], StudyAnalysis]
    findings: tuple[ClaimFinding, ...]
    worths: Mapping[str, Worth] = field(default_factory=dict)
    pairs: tuple[Pair, ...] = ()
    """Interactions of every two cards of the group on the loss, the largest prediction first."""
    said: tuple[Said, ...] = ()
    """What is said of a design of many cards at once, and of what to do next."""

    @property
    def study(self) -> Study:
        """The study."""
        return self.results.study

    @property
    def nats(self) -> StudyAnalysis:
        """Effects on the loss on the main evaluation."""
        return self.analyses[MAIN, "nats"]

    @property
    def verdicts(self) -> Mapping[str, EffectVerdict]:
        """Card -> verdict on its effect on the loss, of those that have results."""
        return self.nats.verdicts


def make_report(
    results: StudyResults, registry: Registry, group: Group | None = None, curve: ControlCurve | None = None
) -> Report:
    """Analyse a study. `group`: all runs of its base, None: its own alone; `curve`: the control's
    loss over samples.

    Raises SettingError for a study without evaluations.
    """
    study = results.study
    if not study.evaluations:
        raise SettingError("STUDY", study.id, "has no evaluation: nothing to report")
    group = group or own_group(results)
    analyses = study_analyses(results, registry, group)
    nats = analyses[MAIN, "nats"]
    worths = study_worths(results, nats, curve)
    pairs = () if results.unjudged else group.pairs(study.evaluations[MAIN], study.thresholds)
    return Report(
        results=results,
        group=group,
        sentences=tuple(_sentence(results, nats, contrast) for contrast in study.contrasts)
        or tuple(_level_sentence(results, arm) for arm in study.arms),
        notes=(*table_notes(results, nats), *filter(None, [worth_note(results, curve, worths)])),
        analyses=analyses,
        findings=find_claims(results, registry, analyses),
        worths=worths,
        pairs=pairs,
        said=what_runs_say(results, nats, pairs, registry),
    )


def study_analyses(
    results: StudyResults, registry: Registry, group: Group | None = None
) -> dict[tuple[int, str], StudyAnalysis]:
    """(evaluation, metric) -> statistics: of the tables' metrics on every evaluation, of others where claims of the
    study's cards are about them."""
    study, group = results.study, group or own_group(results)
    claims = [claim for card in study.cards if card in registry.cards for claim in registry.card(card).claims]
    judged = [claim for claim in claims if METRICS[claim.metric].source in ("positions", "curve", "gap")]
    claimed = {(claim_evaluation(study, claim), claim.metric) for claim in judged}
    numbers = range(len(study.evaluations))
    wanted = [(number, metric) for number in numbers for metric in SUMMARISED]
    wanted += [each for each in product(numbers, METRICS) if each in claimed and each not in wanted]
    return {(number, metric): analyse_study(results, metric, number, group) for number, metric in wanted}


def _level_sentence(results: StudyResults, arm: Arm) -> str:
    """`gonn-b5: 2.5310 test nats (sd of seeds 0.0127) at 100k samples (4 seeds, …)`, where nothing is compared."""
    measured, evaluation = results.arm_result(arm.id, MAIN, "nats"), results.study.evaluations[MAIN]
    if measured is None:
        return f"{arm.label}: no result yet"
    means, planned = measured.means, results.due_seeds(arm.id)
    spread = f" (sd of seeds {means.std(ddof=1):.4f})" if len(means) > 1 else ""
    return (
        f"{arm.label}: {formats.level(float(means.mean()))} {evaluation.split} nats{spread} at "
        f"{formats.samples(arm.config.training.samples)} samples ({formats.seed_count(len(means), planned)} "
        f"seed{'s' * (planned != 1)}, {subset_text(evaluation)})"
    )


def _sentence(results: StudyResults, nats: StudyAnalysis, contrast: Contrast) -> str:
    """`last_move_input: Δ −0.4432 test nats [−0.4601, −0.4263], helps (q 0.0002) (4 seeds, 20,112 positions of 101
    games)`."""
    card = contrast.card
    effect, verdict = nats.effect(card), nats.verdict(card)
    if effect is None or verdict is None:
        return f"{card}: no result yet ({nats.left_out[card]})"
    evaluation, text = results.study.evaluations[MAIN], verdict_text(verdict, effect)
    ends = f" {formats.interval(effect.interval95)}" if effect.interval95 else ", no interval"
    in_arms = results.study.design in NAMED and not effect.is_mean
    named = f" (against {against(results.study, contrast)})" if in_arms else ""
    return (
        f"{card}{named}: Δ {formats.signed(effect.delta)} {evaluation.split} nats{ends}, {text} "
        f"({_runs_words(results, nats, contrast)}, {subset_text(evaluation)})"
    )


def _runs_words(results: StudyResults, nats: StudyAnalysis, contrast: Contrast) -> str:
    """`4 seeds`; `4 seeds, decided at look 1 of 4`; `27 runs with it and 44 without, 32 of them of this study`."""
    effect, look = nats.effects[contrast.card], look_words(results, contrast.card)
    own = sum(len(results.evaluated(arm, MAIN)) for arm in (*contrast.with_it, *contrast.without))
    words = f"{effect.runs[0]} runs with it and {effect.runs[1]} without"
    if own != sum(effect.runs):
        words += f", {own} of them of this study"
    elif effect.runs[0] == effect.runs[1] and not effect.is_mean:
        planned = results.due_seeds(*contrast.with_it, *contrast.without)
        words = f"{formats.seed_count(effect.n, planned)} seed{'s' * (planned != 1)}"
    return f"{words}, {look}" if look else words
