"""The tables of a study: arms, effects on the loss and the hit rates with their cost, further metrics, settings,
trials."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ablations.study import Contrast, EvaluationRef, Study
from ablations.wording import setting_text
from gonn_core.config import TrialConfig, config_paths, get_path
from gonn_core.metrics import METRICS, OF_POSITIONS, SUMMARISED
from gonn_core.training.compiling import device_label
from reports.claims.findings import claims_table
from reports.play.win_rates import play_table
from reports.probes.effects import study_table
from reports.results.compare import analyse_study, own_runs, used_trials
from reports.results.group import MAIN
from reports.results.nets import arm_cost, mean_cost
from reports.results.study_results import StudyResults, TrialResult
from reports.screen.interactions import folded_tables, printed_tables, study_command
from reports.stats.estimates import Effect, Interval
from reports.stats.verdicts import EffectVerdict
from reports.study.report import NAMED, Report, against, against_note
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, make_row, of_split, text_cell
from reports.tables.entities import ARMS, EFFECTS, TRIALS, pick
from reports.tables.formats import describe, verdict_text
from reports.worth.effects import WORTH, worth_values

EXTRA_METRICS = tuple(name for name in OF_POSITIONS if name != "nats")
"""The documents' further metrics: shown folded, without verdicts."""
_ARMS_NAMED = 4
_SEVERAL = ("leave-one-out", "cumulative", "factorial")
"""Designs in which an arm may have several enhancements."""
_COSTS = ("parameters", "flops", "speed")
_SCORES = tuple(column.key for column in ARMS if column.key not in (*_COSTS, "samples"))
_EFFECTS = ("card", "delta", "interval", "at_base", "verdict", "bound", "q", "parts", "runs", "own", *_COSTS)
_DELTAS = {
    "nats": Column("nats", "Δ {split} nats", parts=("delta_{split}_nats", *interval95("nats"))),
    "top1": Column("top1", "Δ {split} top-1 (points)", parts=("delta_{split}_top1", *interval95("top1"))),
    "top4": Column("top4", "Δ {split} top-4 (points)", under="top1", parts=("delta_{split}_top4", *interval95("top4"))),
}
_AGAINST = Column("against", "against", "left", brief=False, under="card")
_METRICS = (
    "Top-k: the share of positions in which k guesses are enough. p ≥ x %: the share in which the move played gets "
    "at least that probability. Mean rank: 1 is the likeliest move; among equal ones the lowest point comes first.",
    "Search loss: 1/(p + 0.003), about the visits after which a search tries the move, at most 333; trimmed: without "
    "the 5 % smallest and the 5 % largest. Squared error: the sum over points of (policy − one-hot)². Reply, and the "
    "move after it: what further output planes predict, where there is such a move.",
)
_NO_VERDICTS = "Intervals are made as those of nats. These metrics were not chosen in advance: no q and no verdict."


def arms_table(results: StudyResults, evaluation: int, name: str = "arms") -> Table:
    """Every arm with its means over the seeds that have this evaluation, and its cost on the main one."""
    about, rows = results.study.evaluations[evaluation], []
    columns = of_split(ARMS if evaluation == MAIN else pick(ARMS, *_SCORES), about.split)
    for arm in results.study.arms:
        trials, planned = results.evaluated(arm.id, evaluation), results.due_seeds(arm.id)
        seeds, ids, cost = sorted(trials), tuple(trial.id for trial in trials.values()), arm_cost(results, arm.id)
        values = {
            "arm": arm.label,
            "parameters": cost.parameters,
            "flops": cost.flops,
            "speed": cost.samples_per_s,
            "samples": arm.config.training.samples,
            "seeds": Cell(
                formats.seeds(seeds, planned), seeds, ids, evaluation, short=formats.seed_count(len(seeds), planned)
            ),
        }
        for metric in SUMMARISED:
            if (result := results.arm_result(arm.id, evaluation, metric)) is not None:
                values[metric] = float(result.means.mean())
                if metric == "nats" and len(result.seeds) > 1:
                    values["sd"] = float(result.means.std(ddof=1))
        rows.append(make_row(columns, arm.id, values, ids, evaluation))
    return Table(name, f"Arms: {describe(about)}", columns, tuple(rows))


def marks_table(study: Study) -> Table | None:
    """Which enhancements each arm has, of a design in which arms have several; None for another design."""
    if study.design not in _SEVERAL or len(study.contrasts) < 2:
        return None
    columns = [*pick(ARMS, "arm"), *(Column(contrast.card, contrast.card, "left") for contrast in study.contrasts)]
    rows = []
    for arm in study.arms:
        marks = {contrast.card: _mark(study, contrast, arm.config) for contrast in study.contrasts}
        rows.append(make_row(columns, arm.id, {"arm": arm.label, **marks}))
    return Table("marks", "Enhancements of each arm", tuple(columns), tuple(rows))


def _mark(study: Study, contrast: Contrast, config: TrialConfig) -> str | None:
    """✓ for an arm with the enhancement, ✗ for one without; None where neither is so."""
    states = set()
    for path in config_paths():
        on, off = (
            {str(get_path(study.arm(arm).config, path)) for arm in arms}
            for arms in (contrast.with_it, contrast.without)
        )
        if len(on) == len(off) == 1 and on != off:
            value = {str(get_path(config, path))}
            states.add("✓" if value == on else "✗" if value == off else None)
    return states.pop() if len(states) == 1 else None


def effects_table(report: Report) -> Table:
    """Effects on the loss with their intervals, the two parts of the standard error, q, verdict and runs; their cost,
    and their worth where a curve of the control is known."""
    results, analysis, study, rows = report.results, report.nats, report.study, []
    named = study.design in NAMED and not analysis.is_mean
    keys = [key for key in _EFFECTS if analysis.at_base or key != "at_base"] + [*WORTH] * bool(report.worths)
    about = study.evaluations[MAIN]
    columns = (*of_split(pick(EFFECTS, *keys), about.split), *([_AGAINST] if named else []))
    for contrast in study.contrasts:
        effect, verdict = analysis.effect(contrast.card), analysis.verdict(contrast.card)
        values: dict[str, Any] = {"card": contrast.card, **cost_values(results, contrast)}
        if effect is None or verdict is None:
            reason = f"{EffectVerdict.NO_RESULT}: {analysis.left_out[contrast.card]}"
            values["verdict"] = Cell(reason, EffectVerdict.NO_RESULT, escape=True, short=str(EffectVerdict.NO_RESULT))
        else:
            values |= effect_values(effect, analysis.at_base.get(contrast.card), verdict)
        trials = used_trials(results, contrast, MAIN) if effect is not None else ()
        values |= {"own": own_runs(study, trials, effect), **worth_values(report.worths.get(contrast.card))}
        values |= {"against": f"against {against(study, contrast)}"}
        rows.append(make_row(columns, contrast.card, values, trials, MAIN, effect_details(results, trials)))
    note = against_note(study, analysis)
    return Table("effects", f"Effects on the loss: {describe(about)}", columns, tuple(rows), (note,) if note else ())


def effect_values(
    effect: Effect, at_base: Effect | None, verdict: EffectVerdict, metric: str = "nats"
) -> dict[str, Any]:
    """Values of the columns of an effect (`reports.tables.entities.EFFECTS`) that need no study."""
    return {
        "estimand": "mean" if effect.is_mean else "base",
        "delta": effect.delta,
        "interval": _ends(effect.interval95),
        "interval90": _ends(effect.interval90),
        "at_base": None if at_base is None else [at_base.delta, *(_ends(at_base.interval95) or (None, None))],
        "p": effect.p,
        "q": effect.q,
        "verdict": Cell(verdict_text(verdict, effect, metric), verdict),
        "bound": effect.bound,
        "parts": [effect.se_seed, effect.se_eval],
        "se": effect.se,
        "df": effect.df,
        "runs": list(effect.runs),
    }


def effect_details(results: StudyResults, trials: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """What a row of effects shows on demand: the study's trials by arm (without labels where there are many), and the
    command."""
    chosen, arms = set(trials), dict[str, list[str]]()
    for trial in results.trials:
        if trial.id in chosen:
            arms.setdefault(results.study.arm(trial.arm).label, []).append(trial.id)
    named = len(arms) <= _ARMS_NAMED
    texts = [f"{label}: {' '.join(ids)}" if named else " ".join(ids) for label, ids in arms.items()]
    behind = [(f"{len(chosen)} trials of this study", ", ".join(texts))] if chosen else []
    return (*behind, ("study", results.study.id), ("command", study_command(results.study)))


def interval_cell(effect: Effect | None, trials: tuple[str, ...], evaluation: int, unit: str = "nats") -> Cell:
    """An effect with its interval."""
    if effect is None:
        return Cell(formats.NONE)
    text = formats.with_interval(effect.delta, effect.interval95, unit)
    return Cell(text, effect.with_ends, trials, evaluation)


def deltas_table(report: Report, metrics: Sequence[str], evaluation: int, name: str, title: str) -> Table:
    """Effects on several metrics with their intervals and q; on the main evaluation with their cost."""
    study, results, rows = report.study, report.results, []
    about, costs = study.evaluations[evaluation], pick(EFFECTS, *_COSTS, brief=True) if evaluation == MAIN else ()
    first = f"{metrics[0]}_q"
    columns = (
        *pick(EFFECTS, "card"),
        *(_DELTAS[metric] for metric in metrics),
        Column(first, f"q: {METRICS[metrics[0]].title}"),
        *(Column(f"{metric}_q", METRICS[metric].title, under=first) for metric in metrics[1:]),
        *costs,
    )
    for contrast in study.contrasts:
        values: dict[str, Any] = {"card": contrast.card}
        trials = used_trials(results, contrast, evaluation)
        values |= cost_values(results, contrast) if costs else {}
        for metric in metrics:
            effect = report.analyses[evaluation, metric].effect(contrast.card)
            values[metric] = interval_cell(effect, trials, evaluation, METRICS[metric].unit)
            q = None if effect is None else effect.q
            values[f"{metric}_q"] = Cell(formats.q_value(q), q, trials if effect else (), evaluation)
        rows.append(make_row(columns, contrast.card, values))
    return Table(name, f"{title}: {describe(about)}", of_split(columns, about.split), tuple(rows))


def cost_values(results: StudyResults, contrast: Contrast) -> dict[str, Any]:
    """Additional cost of the arms with an enhancement: parameters as a difference, operations and speed as ratios."""
    on, off = mean_cost(results, contrast.with_it), mean_cost(results, contrast.without)
    return {"parameters": on.parameters - off.parameters, "flops": on.flops / off.flops, "speed": off.time_to(on)}


def _ends(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def extra_tables(report: Report) -> tuple[Table, ...]:
    """Levels of the documents' further metrics by arm and effects on them, of the main evaluation; none while no trial
    has it. Of a screen's many arms the base alone is in them."""
    results, study = report.results, report.study
    named = study.arms[:1] if study.design == "screen" else study.arms
    trials = {arm.id: tuple(trial.id for trial in results.evaluated(arm.id, MAIN).values()) for arm in named}
    named = tuple(arm for arm in named if trials[arm.id])
    levels, effects, about = [], [], describe(study.evaluations[MAIN])
    for metric in EXTRA_METRICS:
        unit, cells, known = METRICS[metric].unit, {"metric": text_cell(METRICS[metric].title)}, dict[str, Cell]()
        for arm in named:
            if (result := results.arm_result(arm.id, MAIN, metric)) is not None:
                mean = float(result.means.mean())
                known[arm.id] = Cell(formats.level(mean, unit), mean, trials[arm.id], MAIN)
        if not known:
            continue
        levels.append(Row(metric, {**cells, **{arm.id: known.get(arm.id, Cell(formats.NONE)) for arm in named}}))
        of_cards = analyse_study(results, metric, MAIN, report.group).effects if study.contrasts else {}
        for contrast in study.contrasts:
            used = used_trials(results, contrast, MAIN)
            cells[contrast.card] = interval_cell(of_cards.get(contrast.card), used, MAIN, unit)
        effects.append(Row(metric, cells))
    if not levels:
        return ()
    columns = [Column("metric", "metric", "left")]
    columns += [Column(arm.id, arm.label, escape=True) for arm in named]
    tables = [Table("metrics", f"More metrics by arm: {about}", tuple(columns), tuple(levels), _METRICS)]
    if study.contrasts:
        cards = [Column(card, card, escape=True, parts=(card, *interval95(card))) for card in effects[0].cells][1:]
        columns = [Column("metric", "Δ (shares in points)", "left"), *cards]
        title = f"Effects on them: {about}"
        tables.append(Table("metric-effects", title, tuple(columns), tuple(effects), (_NO_VERDICTS,)))
    return tuple(tables)


def settings_table(study: Study) -> Table:
    """The settings of a study's first arm that are not the default, each under its dotted path."""
    config, default = study.arms[0].config, TrialConfig()
    columns = Column("setting", "setting", "left"), Column("value", "value", "left")
    rows = [
        make_row(columns, path, {"setting": path, "value": setting_text(value)})
        for path in config_paths()
        if (value := get_path(config, path)) != get_path(default, path)
    ]
    note = "config.json in the directory of a trial has all settings."
    return Table("settings", "Settings that are not the default", columns, tuple(rows), (note,))


def trials_table(results: StudyResults) -> Table:
    """Every trial: state, machine, cost, and its scores on each evaluation."""
    scores = [
        (number, metric, _score_column(evaluation, metric))
        for number, evaluation in enumerate(results.study.evaluations)
        for metric in SUMMARISED
    ]
    columns = (*pick(TRIALS, *_TRIAL), *(column for _, _, column in scores))
    rows = []
    for trial in results.trials:
        values = trial_values(trial)
        values["device"] = device_label(values["device"] or formats.NONE, str(trial.session.get("compile", "none")))
        for number, metric, column in scores:
            if (evaluation := trial.evaluations[number]) is not None:
                values[column.key] = column.cell(evaluation.summary[metric], (trial.id,), number)
        rows.append(make_row(columns, trial.id, values, (trial.id,)))
    return Table("trials", "Trials", columns, tuple(rows))


_TRIAL = (
    *("arm", "seed", "trial", "state", "weights", "samples"),
    *("samples_per_s", "cpu_seconds", "device", "machine", "torch"),
)


def _score_column(evaluation: EvaluationRef, metric: str) -> Column:
    """In CSV `test_nats`, `test_nats_as_published`."""
    key = f"{metric}-{evaluation.split}-{evaluation.history}".replace("_", "-")
    name = f"{evaluation.split}_{metric}" + (f"_{evaluation.history}" if evaluation.history != "full" else "")
    show = partial(formats.level, unit=METRICS[metric].unit)
    return Column(key, f"{metric}, {describe(evaluation)}", parts=(name,), show=show)


def trial_values(trial: TrialResult) -> dict[str, Any]:
    """Values of the columns of a trial (`reports.tables.entities.TRIALS`) that need no study."""
    result = trial.result or {}
    of_result = ("weights", "samples", "parameters", "samples_per_s", "training_seconds", "cpu_seconds", "wall_seconds")
    return {
        "arm": trial.arm,
        "seed": trial.seed,
        "trial": trial.id,
        "state": trial.state,
        **{name: result.get(name) for name in of_result},
        "device": trial.session.get("device"),
        "machine": " and ".join(trial.machines) or None,
        "torch": trial.session.get("versions", {}).get("torch"),
        "failure": trial.failure,
    }


MAIN_TABLES: Mapping[str, Callable[[Report], Table | None]] = {
    "arms": lambda report: arms_table(report.results, MAIN),
    "marks": lambda report: marks_table(report.study),
    "effects": effects_table,
    "rates": lambda report: deltas_table(report, ("top1", "top4"), MAIN, "rates", "Effects on the hit rates, and cost"),
    "play": lambda report: play_table([report.results]),
    "probe_effects": lambda report: study_table(report.results),
    "claims": lambda report: claims_table(report.results, report.findings),
}
"""Name of a table -> what makes it (None: there is nothing to show), in the order of the page."""
OF_EFFECTS = ("effects", "rates", "claims")
"""Tables that a study without comparisons lacks."""


def main_table(report: Report, name: str) -> Table | None:
    """The table of that name; None where there is nothing to show."""
    return None if name in OF_EFFECTS and not report.study.contrasts else MAIN_TABLES[name](report)


@dataclass(frozen=True)
class ReportTables:
    """`printed`: on the page; `folded`: on the page, closed at first; `files`: only written as CSV."""

    printed: tuple[Table, ...]
    folded: tuple[Table, ...]
    files: tuple[Table, ...]

    @property
    def all(self) -> tuple[Table, ...]:
        """Every table."""
        return (*self.printed, *self.folded, *self.files)

    def table(self, name: str) -> Table:
        """The table of that name."""
        return next(table for table in self.all if table.name == name)


def report_tables(report: Report) -> ReportTables:
    """The tables of a report; a report of many studies does not hold those of all."""
    results, study = report.results, report.study
    printed: list[Table] = []
    for name in MAIN_TABLES:
        printed += [table] if (table := main_table(report, name)) is not None else []
        printed += printed_tables(results, report.pairs) if name == "effects" else []
    files = [trials_table(results)]
    for number, evaluation in enumerate(study.evaluations):
        if number != MAIN:
            # A search may look at validation, so it stays out of the page that is read for results.
            tables = printed if evaluation.split == study.evaluations[MAIN].split else files
            suffix = f"{evaluation.split}-{evaluation.history}".replace("_", "-")
            tables.append(arms_table(results, number, f"arms-{suffix}"))
            if study.contrasts:
                tables.append(deltas_table(report, SUMMARISED, number, f"effects-{suffix}", "Effects"))
    if not study.contrasts:
        printed.append(settings_table(study))
    folded = [*folded_tables(results, report.pairs), *extra_tables(report)]
    if study.design == "screen":  # its arms are many, and no single one is looked at
        folded = [*(table for table in printed if table.name.startswith("arms")), *folded]
        printed = [table for table in printed if not table.name.startswith("arms")]
    return ReportTables(tuple(printed), tuple(folded), tuple(files))
