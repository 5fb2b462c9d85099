"""What a study's report says, as plain data: sentences, notes, statistics, claims. Its tables are those of
`reports.study.report_tables`; `reports.study.render` writes it down."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ablations.registry import Registry
from ablations.study import Arm, Contrast, Study
from gonn_core.errors import SettingError
from gonn_core.metrics import METRICS, SUMMARISED
from reports.claims.findings import ClaimFinding, claimed_sizes, find_claims
from reports.results.compare import MAIN, OF_RUNS, StudyAnalysis, analyse_study, run_counts, study_thresholds
from reports.results.seed_pool import PriorNoise
from reports.results.study_results import StudyResults
from reports.screen.findings import RunsFindings, find_in_runs
from reports.screen.sentences import Said, what_runs_say
from reports.stats.estimates import Effect
from reports.stats.verdicts import EffectVerdict
from reports.study.against import NAMED, against
from reports.study.footnotes import table_notes
from reports.study.looks import look_words
from reports.tables import formats
from reports.tables.verdicts import leaves_out_zero, unshown, verdict_text
from reports.worth.effects import study_worths, worth_note
from reports.worth.elsewhere import OverSamples, trends_here, with_trends
from reports.worth.worth import Worth


@dataclass(frozen=True)
class Report:
    """A study's report. `analyses`: (evaluation, metric) -> statistics; `worths`: card -> worth of its effect on the
    loss, of those whose control has a curve over samples."""

    results: StudyResults
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    analyses: Mapping[tuple[int, str], StudyAnalysis]
    findings: tuple[ClaimFinding, ...]
    worths: Mapping[str, Worth] = field(default_factory=dict)
    of_runs: RunsFindings | None = None
    """Interactions, of a factorial or a screen that is judged."""
    said: tuple[Said, ...] = ()
    """What is said of them, and of what to do next."""

    @property
    def study(self) -> Study:
        """The study."""
        return self.results.study

    @property
    def verdicts(self) -> dict[str, EffectVerdict]:
        """Card -> verdict on its effect on the loss, of those that have results."""
        table = self.analyses[MAIN, "nats"].table
        return dict(table.verdicts) if table else {}


def make_report(
    results: StudyResults, registry: Registry, prior: PriorNoise | None = None, scaled: OverSamples | None = None
) -> Report:
    """Analyse a study. `prior`: noise of other studies for the pool; `scaled`: what they tell over numbers of
    samples.

    Raises SettingError for a study without evaluations.
    """
    study = results.study
    if not study.evaluations:
        raise SettingError("STUDY", study.id, "has no evaluation: nothing to report")
    analyses = study_analyses(results, registry, prior)
    curve = scaled.curve if scaled else None
    worths = study_worths(results, analyses[MAIN, "nats"], curve)
    trends = {} if results.unjudged else trends_here(study, analyses[MAIN, "nats"], scaled.effects if scaled else {})
    main = {metric: analysis for (evaluation, metric), analysis in analyses.items() if evaluation == MAIN}
    of_runs = None if results.unjudged else find_in_runs(results, main["nats"])
    return Report(
        results=results,
        sentences=tuple(_sentence(results, main["nats"], contrast) for contrast in study.contrasts)
        or tuple(_level_sentence(results, arm) for arm in study.arms),
        notes=(*table_notes(results, main["nats"], prior), *filter(None, [worth_note(results, curve, worths)])),
        analyses=analyses,
        findings=with_trends(find_claims(results, registry, main), trends),
        worths=worths,
        of_runs=of_runs,
        said=what_runs_say(of_runs, registry) if of_runs else (),
    )


def study_analyses(
    results: StudyResults, registry: Registry, prior: PriorNoise | None = None
) -> dict[tuple[int, str], StudyAnalysis]:
    """(evaluation, metric) -> statistics: of the tables' metrics on every evaluation, of the metrics that the study's
    cards make claims about on the main one."""
    study = results.study
    claimed = {claim.metric for card in study.cards if card in registry.cards for claim in registry.card(card).claims}
    judged = {metric for metric in claimed if METRICS[metric].source in ("positions", "curve", "gap")}
    wanted = [(number, metric) for number in range(len(study.evaluations)) for metric in SUMMARISED]
    wanted += [(MAIN, metric) for metric in METRICS if metric in judged and metric not in SUMMARISED]
    analyses = {}
    for number, metric in wanted:
        pool = prior.differences if prior and (number, metric) == (MAIN, "nats") else None
        analyses[number, metric] = analyse_study(
            results, metric, number, claimed_sizes(registry, study.cards, metric), pool
        )
    return analyses


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
        f"seed{'s' * (planned != 1)}, {evaluation.positions:,} positions of {evaluation.games:,} games)"
    )


def _sentence(results: StudyResults, nats: StudyAnalysis, contrast: Contrast) -> str:
    """`last_move_input: Δ −0.4432 test nats [−0.4601, −0.4263], helps (4 seeds, 20,112 positions of 101 games)`.

    With p where the interval leaves 0 out and the effect is not shown all the same.
    """
    card = contrast.card
    effect, verdict = nats.effect(card), nats.verdict(card)
    if effect is None or verdict is None:
        return f"{card}: no result yet ({nats.left_out[card]})"
    evaluation = results.study.evaluations[MAIN]
    change = (
        formats.signed(effect.delta)
        + f" {evaluation.split} nats"
        + (f" {formats.interval(effect.interval95)}" if effect.interval95 else ", no interval")
    )
    text = verdict_text(verdict, effect, level=study_thresholds(results.study).equivalence_level)
    if unshown(verdict) and leaves_out_zero(effect):
        text += f", p {formats.p_value(effect.p_adjusted)} among {len(nats.table.effects) if nats.table else 1}"
    seeds = _seeds_words(results, contrast, effect)
    named = f" (against {against(results.study, contrast)})" if results.study.design in NAMED else ""
    return (
        f"{card}{named}: Δ {change}, {text} ({seeds}, {evaluation.positions:,} positions of {evaluation.games:,} games)"
    )


def _seeds_words(results: StudyResults, contrast: Contrast, effect: Effect) -> str:
    """`4 seeds, 12 of the control`; `4 seeds, decided at look 1 of 4`; `16 and 16 runs`."""
    if results.study.design in OF_RUNS:
        return f"{formats.run_count(*run_counts(results, contrast, MAIN), ' and ')} runs"
    planned = results.due_seeds(*contrast.with_it, *contrast.without)
    words = f"{formats.seed_count(effect.n, planned)} seed{'s' * (planned != 1)}"
    if effect.paired and effect.control_seeds > effect.n:
        words += f", {effect.control_seeds} of the control"
    look = look_words(results, contrast.card)
    return f"{words}, {look}" if look else words
