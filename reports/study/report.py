"""Everything that a study's report says, as plain data: sentences, tables, notes. `reports.study.render` writes it
down."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ablations.registry import Registry
from ablations.study import Study
from gonn_core.errors import SettingError
from gonn_core.metrics import METRICS, SUMMARISED
from reports.claims.findings import ClaimFinding, claimed_sizes, claims_table, find_claims
from reports.play.arms_table import play_table
from reports.probes.tables import study_table
from reports.results.compare import MAIN, StudyAnalysis, analyse_study
from reports.results.seed_pool import EarlierNoise
from reports.results.study_results import StudyResults
from reports.stats.verdicts import EffectVerdict
from reports.study.extra_metrics import further_tables
from reports.study.footnotes import table_notes
from reports.study.tables import (
    arms_table,
    describe,
    effects_table,
    rates_table,
    scores_table,
    short_effects_table,
)
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell

_TRIAL_COLUMNS = (
    Column("arm", "arm", "left"),
    Column("seed", "seed"),
    Column("trial", "trial", "left"),
    Column("state", "state", "left"),
    Column("weights", "final weights", "left"),
    Column("samples", "samples"),
    Column("samples_per_s", "samples/s in training"),
    Column("cpu_seconds", "CPU seconds"),
    Column("device", "device", "left"),
    Column("torch", "torch", "left"),
)


@dataclass(frozen=True)
class Report:
    """A study's report. `analyses`: (evaluation, metric) -> statistics. Tables are made when somebody asks for them."""

    results: StudyResults
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    analyses: Mapping[tuple[int, str], StudyAnalysis]
    findings: tuple[ClaimFinding, ...]

    @cached_property
    def effects(self) -> Table:
        """The table of effects on the loss, one of `tables`."""
        return effects_table(self.results, self.analyses[MAIN, "nats"], MAIN)

    @cached_property
    def _made(self) -> tuple[tuple[Table, ...], tuple[Table, ...]]:
        return _tables(self)

    @property
    def tables(self) -> tuple[Table, ...]:
        """Those that are printed."""
        return self._made[0]

    @cached_property
    def folded(self) -> tuple[Table, ...]:
        """Printed too, out of sight at first."""
        return further_tables(self.results)

    @property
    def more_tables(self) -> tuple[Table, ...]:
        """Only written as CSV."""
        return self._made[1]

    def forget(self) -> None:
        """Let go of tables and sums, for a report of many studies holds the reports of all: they are made again when
        somebody asks."""
        for name in ("_made", "folded"):
            vars(self).pop(name, None)
        self.results.forget()

    @property
    def study(self) -> Study:
        """The study."""
        return self.results.study

    @property
    def verdicts(self) -> dict[str, EffectVerdict]:
        """Card -> verdict on its effect on the loss, of those that have results."""
        table = self.analyses[MAIN, "nats"].table
        return dict(table.verdicts) if table else {}

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """Every table."""
        return (*self.tables, *self.folded, *self.more_tables)

    def table(self, name: str) -> Table:
        """The table of that name."""
        return next(table for table in self.all_tables if table.name == name)


def make_report(results: StudyResults, registry: Registry, earlier: EarlierNoise | None = None) -> Report:
    """Analyse a study. `earlier`: noise of earlier studies for the pool. Raises SettingError for a study without
    evaluations."""
    study = results.study
    if not study.evaluations or not study.contrasts:
        raise SettingError("STUDY", study.id, "has no evaluation or no contrast: nothing to report")
    analyses = study_analyses(results, registry, earlier)
    main = {metric: analysis for (evaluation, metric), analysis in analyses.items() if evaluation == MAIN}
    return Report(
        results=results,
        sentences=tuple(_sentence(results, main["nats"], contrast.card) for contrast in study.contrasts),
        notes=table_notes(results, main["nats"], earlier),
        analyses=analyses,
        findings=find_claims(results, registry, main),
    )


def _tables(report: Report) -> tuple[tuple[Table, ...], tuple[Table, ...]]:
    """Those that are printed, and the others."""
    results, study, analyses = report.results, report.study, report.analyses
    tables = [
        arms_table(results, MAIN),
        report.effects,
        rates_table(results, analyses[MAIN, "top1"], analyses[MAIN, "top4"], MAIN),
        claims_table(results, report.findings),
    ]
    if (probes := study_table(results)) is not None:
        tables.insert(3, probes)
    if (play := play_table(results)) is not None:
        tables.insert(3, play)
    more = [_trials_table(results)]
    for number, evaluation in enumerate(study.evaluations):
        if number == MAIN:
            continue
        suffix = f"{evaluation.split}-{evaluation.history}".replace("_", "-")
        found = {metric: analyses[number, metric] for metric in SUMMARISED}
        added = [
            scores_table(results, number, f"arms-{suffix}"),
            short_effects_table(results, found, number, f"effects-{suffix}"),
        ]
        # Validation chose nothing here, but it is what a search may look at: it stays out of the page that is read for
        # results.
        (tables if evaluation.split == study.evaluations[MAIN].split else more).extend(added)
    return tuple(tables), tuple(more)


def study_analyses(
    results: StudyResults, registry: Registry, earlier: EarlierNoise | None = None
) -> dict[tuple[int, str], StudyAnalysis]:
    """(evaluation, metric) -> statistics: of the tables' metrics on every evaluation, of the metrics that the study's
    cards make claims about on the main one."""
    study = results.study
    claimed = {claim.metric for card in study.cards if card in registry.cards for claim in registry.card(card).claims}
    judged = {metric for metric in claimed if METRICS[metric].source in ("positions", "curve")}
    wanted = [(number, metric) for number in range(len(study.evaluations)) for metric in SUMMARISED]
    wanted += [(MAIN, metric) for metric in METRICS if metric in judged and metric not in SUMMARISED]
    found = {}
    for number, metric in wanted:
        pool = earlier.differences if earlier and (number, metric) == (MAIN, "nats") else None
        found[number, metric] = analyse_study(
            results, metric, number, claimed_sizes(registry, study.cards, metric), pool
        )
    return found


def _sentence(results: StudyResults, nats: StudyAnalysis, card: str) -> str:
    """`last_move_input: Δ −0.4432 nats [−0.4601, −0.4263], helps (4 seeds, 20,112 positions of 101 games)`."""
    effect = nats.effect(card)
    if effect is None:
        return f"{card}: no result yet ({nats.left_out[card]})"
    evaluation = results.study.evaluations[MAIN]
    found = (
        formats.signed(effect.delta)
        + " nats"
        + (f" {formats.interval(effect.interval95)}" if effect.interval95 else ", no interval")
    )
    planned = len(results.study.seeds)
    seeds = f"{formats.seed_count(effect.n, planned)} seed{'s' * (planned != 1)}"
    return f"{card}: Δ {found}, {nats.verdict(card)} ({seeds}, {evaluation.positions:,} positions of {evaluation.games:,} games)"


def _trials_table(results: StudyResults) -> Table:
    """Every trial: state, what it ran on and took, and its scores on each evaluation."""
    evaluations = results.study.evaluations
    scores = [
        (number, metric, Column(f"{metric}-{e.split}-{e.history}".replace("_", "-"), f"{metric}, {describe(e)}"))
        for number, e in enumerate(evaluations)
        for metric in SUMMARISED
    ]
    columns = _TRIAL_COLUMNS + tuple(column for _, _, column in scores)
    rows = []
    for trial in results.trials:
        result = trial.result or {}
        numbers = {name: result.get(name) for name in ("samples", "samples_per_s", "cpu_seconds")}
        cells = {
            "arm": text_cell(trial.arm),
            "seed": Cell(str(trial.seed), trial.seed),
            "trial": text_cell(trial.id, [trial.id]),
            "state": text_cell(trial.state),
            "weights": text_cell(result.get("weights", formats.NONE)),
            **{
                name: Cell(formats.NONE if value is None else f"{value:,.0f}", value) for name, value in numbers.items()
            },
            "device": text_cell(trial.session.get("device", formats.NONE)),
            "torch": text_cell(trial.session.get("versions", {}).get("torch", formats.NONE)),
        }
        for number, metric, column in scores:
            evaluation = trial.evaluations[number]
            value = None if evaluation is None else evaluation.summary[metric]
            text = formats.NONE if value is None else formats.level(value, METRICS[metric].unit)
            cells[column.key] = Cell(text, value, (trial.id,) if evaluation else (), number)
        rows.append(Row(trial.id, cells))
    return Table("trials", "Trials", columns, tuple(rows))
